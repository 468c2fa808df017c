"""`measure_judges`: how far judges agree, and what their disagreement does to conclusions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from berryeval._internal.validate import require_choice
from berryeval.benchmarks import bundled_benchmarks, bundled_folder
from berryeval.errors import BerryEvalError, DataError
from berryeval.judging import (
    OWN,
    POOL,
    Pool,
    Question,
    Vote,
    agreement,
    apply_decisions,
    current_votes,
    decide,
    find_scale,
    grade_scale,
    key_of,
    open_ledger,
    read_votes,
)
from berryeval.metrics import parse_metric
from berryeval.stats import ap_correlation, compare, kendall_tau
from berryeval.workflows.judged_data import drop_strays, find_benchmark
from berryeval.workflows.plan import name_source
from berryeval.workflows.rescoring import find_part, judge_again
from berryeval.workflows.run_finder import FoundRun
from berryeval.workflows.selection import load_source
from berryeval.workflows.systems import Candidate, Source, label_candidates

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Anchor
    from berryeval.judging import Agreement, PairKey
    from berryeval.scoring import Scores

METRIC: Final = "nDCG@10"
_SECOND: Final = "second-judge.jsonl"  # votes that are recorded with a bundled benchmark
_TWO: Final = 2  # judges of a comparison


@dataclass(frozen=True)
class JudgedPairs:
    """A benchmark and the votes on it.

    Attributes:
        benchmark: The benchmark with its own judgments.
        votes: Votes of all judges; those of "benchmark" are its own judgments.
        folder: Folder of the ledger.
        what: What was judged: passages ("relevance") or answers.
        notes: Which votes do not count.
    """

    benchmark: Benchmark
    votes: tuple[Vote, ...]
    folder: Path
    what: Question = "relevance"
    notes: tuple[str, ...] = ()

    @property
    def judges(self) -> list[str]:
        """Names of the judges, without adjudicators, who saw the grades of others."""
        given = {
            one.judge
            for one in current_votes(self.votes)
            if one.grade is not None and not one.adjudicates
        }
        return [name for name in dict.fromkeys(one.judge for one in self.votes) if name in given]

    @property
    def grades(self) -> list[float]:
        """The grades of the benchmark's scale, and others that judges gave."""
        given = {vote.grade for vote in self.votes if vote.grade is not None}
        scale = grade_scale(self.benchmark) if self.what == "relevance" else find_scale(self.what)
        return sorted({*scale, *given})

    @cached_property
    def pool(self) -> Pool | None:
        """The pool beside the votes, if there is one."""
        return Pool.read(self.folder / POOL) if (self.folder / POOL).is_file() else None

    def choose_metric(self, metric: str) -> str:
        """Return the metric that was asked for, else that of the pool, else nDCG@10."""
        known = self.pool.metrics if self.pool else ()
        return str(parse_metric(metric or (known[0] if known else METRIC)))

    def apply(self, judge: str, keys: Iterable[PairKey] | None = None) -> Benchmark:
        """Return the benchmark with the grades of one judge, of these pairs only."""
        if judge == OWN:
            return self.benchmark
        return self.apply_votes([one for one in self.votes if one.judge == judge], keys)

    def apply_votes(
        self, votes: Sequence[Vote], keys: Iterable[PairKey] | None = None
    ) -> Benchmark:
        """Return the benchmark with the grades that votes decide, of these pairs only."""
        decisions = decide(votes)
        wanted = decisions.keys() if keys is None else set(keys)
        kept = {key: decisions[key] for key in decisions if key in wanted}
        return apply_decisions(self.benchmark, kept)


@dataclass(frozen=True)
class Conclusions:
    """The effect of the choice of the judge on a comparison of systems.

    Attributes:
        metric: Metric.
        pairs: Number of pairs that all judges graded; only their grades differ.
        scores: Mean of each system by judge.
        correlations: For two judges: Kendall's tau-b and tau_AP of their rankings of the systems.
        findings: For every two systems the finding under each judge.
        notes: Remarks, one line each.
    """

    metric: str
    pairs: int
    scores: Mapping[str, Mapping[str, float]]
    correlations: Mapping[tuple[str, str], tuple[float | None, float | None]]
    findings: Mapping[tuple[str, str], Mapping[str, str]]
    notes: tuple[str, ...] = ()

    @property
    def changes(self) -> dict[tuple[str, str], Mapping[str, str]]:
        """Findings that depend on the judge."""
        return {pair: own for pair, own in self.findings.items() if len(set(own.values())) > 1}

    def to_json(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "metric": self.metric,
            "pairs": self.pairs,
            "scores": {judge: dict(own) for judge, own in self.scores.items()},
            "correlations": [
                {"judges": list(two), "tau_b": tau, "tau_ap": ap}
                for two, (tau, ap) in self.correlations.items()
            ],
            "findings": [
                {"systems": list(two), "by_judge": dict(own), "changes": two in self.changes}
                for two, own in self.findings.items()
            ],
            "notes": list(self.notes),
        }


@dataclass(frozen=True)
class JudgesCompared:
    """The result of `measure_judges`."""

    benchmark: Benchmark
    agreement: Agreement
    targets: Mapping[PairKey, tuple[str, Anchor]]
    conclusions: Conclusions | None = None
    notes: tuple[str, ...] = ()


def measure_judges(
    benchmark: str | None = None,
    ledger: str | None = None,
    *,
    judges: Sequence[str] = (),
    runs: Sequence[str] = (),
    metric: str = "",
    what: Question = "relevance",
    level: float = 0.95,
    seed: int = 0,
) -> JudgesCompared:
    """Measure how far the judges of a benchmark agree.

    Args:
        benchmark: The benchmark; by default that of the only ledger in the current folder.
        ledger: Folder or store with the votes; by default beside the benchmark.
        judges: Only these judges. "benchmark" is the benchmark's own judgments, which are also
            taken if there is only one other judge.
        runs: Runs whose systems are scored under each judge; by default those of the pool.
        metric: Metric of these scores; by default that of the pool, else nDCG@10.
        what: What was judged: "relevance" of passages, or "faithfulness" or "answer" for answers,
            which have no scores.
        level: Confidence level.
        seed: Random seed.
    """
    data = read_judges(benchmark, ledger, what)
    chosen = list(judges) or [name for name in data.judges if name != OWN]
    if not judges and len(chosen) < _TWO:
        chosen = data.judges
    found = agreement(data.votes, judges=chosen, scale=data.grades, level=level, seed=seed)
    targets = {
        key_of(vote.query_id, vote.target): (vote.query_id, vote.target) for vote in data.votes
    }
    conclusions = compare_conclusions(data, found.judges, runs, metric, level, seed)
    return JudgesCompared(data.benchmark, found, targets, conclusions, data.notes)


def read_judges(
    benchmark: str | None, ledger: str | None, what: Question = "relevance"
) -> JudgedPairs:
    """Read a benchmark and the votes on it, those that are bundled with it included.

    Votes on pairs that the benchmark does not have, or not any more, are left out.
    """
    require_choice("--what", what, get_args(Question))
    source = find_benchmark(benchmark, ledger)
    name = name_source(source)
    loaded = load_source(source)
    opened = open_ledger(ledger or "", name)
    votes = opened.votes() if opened.exists else []
    second: list[Vote] = []
    if name in bundled_benchmarks() and (bundled_folder(name) / _SECOND).is_file():
        second = read_votes(bundled_folder(name) / _SECOND)
    if not votes and not second:
        begin, one = "pool RUN, then berryeval judge next", "a pair"
        if what != "relevance":
            begin, one = f"llm RUN --what {what} --model NAME", "an answer"
        raise DataError(
            f"{opened.shown}: nobody has judged {one} of {loaded.name} yet; begin with: berryeval "
            f"judge {begin}"
        )
    if what != "relevance":  # from here on they count as votes on pairs
        votes = [replace(one, question="relevance") for one in votes if one.question == what]
        return JudgedPairs(loaded, tuple(votes), opened.folder, what)
    votes, note = drop_strays(loaded, [*second, *votes])
    if all(one.judge != OWN for one in votes):
        votes = [*_list_own(loaded, votes, second), *votes]
    return JudgedPairs(loaded, tuple(votes), opened.folder, notes=(note,) if note else ())


def _list_own(benchmark: Benchmark, votes: Sequence[Vote], second: Sequence[Vote]) -> list[Vote]:
    """Return the benchmark's own grades of judged pairs as votes.

    A pair without a judgment is 0 if the second judge of a bundled benchmark graded it: that sample
    is drawn from pairs that the first judge has seen.
    """
    own = {key_of(one.query_id, one.target): one.grade for one in benchmark.judgments}
    seen = {key_of(one.query_id, one.target) for one in second}
    pairs = {key_of(one.query_id, one.target): one for one in votes}
    return [
        Vote(one.query_id, one.target, float(own.get(key, 0)), OWN, time=one.time)
        for key, one in pairs.items()
        if key in own or key in seen
    ]


# What disagreement does to conclusions.


def compare_conclusions(
    data: JudgedPairs,
    judges: Sequence[str],
    runs: Sequence[str],
    metric: str,
    level: float = 0.95,
    seed: int = 0,
) -> Conclusions | None:
    """Score the systems of runs under each judge; None if there are no runs.

    Only pairs that all judges graded differ between the judges; the others have the benchmark's
    grades.
    """
    systems, notes = find_systems(data, runs)
    if not systems and not notes:
        return None
    name = data.choose_metric(metric)
    if not systems:
        return Conclusions(name, 0, {}, {}, {}, tuple(notes))
    graded = [
        {
            key_of(one.query_id, one.target)
            for one in current_votes(data.votes)
            if one.judge == judge and one.grade is not None and one.question == "relevance"
        }
        for judge in judges
    ]
    shared = set.intersection(*graded)
    if not shared:
        return Conclusions(name, 0, {}, {}, {}, (*notes, "no pair was graded by all judges"))
    tables = {judge: score_systems(systems, data.apply(judge, shared), [name]) for judge in judges}
    means = {
        judge: {label: scores.mean[name] for label, scores in own.items()}
        for judge, own in tables.items()
    }
    if len(systems) < _TWO:
        return Conclusions(name, len(shared), means, {}, {}, tuple(notes))
    findings: dict[tuple[str, str], dict[str, str]] = {}
    for judge, own in tables.items():
        for row in compare(own, metrics=[name], level=level, seed=seed).rows:
            findings.setdefault((row.baseline, row.system), {})[judge] = row.finding
    correlations = {
        (one, other): (
            kendall_tau(means[one], means[other]),
            ap_correlation(means[one], means[other]),
        )
        for one, other in combinations(judges, _TWO)
    }
    return Conclusions(name, len(shared), means, correlations, findings, tuple(notes))


def find_systems(data: JudgedPairs, runs: Sequence[str]) -> tuple[tuple[Candidate, ...], list[str]]:
    """Return the systems of runs, by default of those of the pool, and notes."""
    if data.what != "relevance":
        return (), []
    pool, notes = data.pool, []
    texts = list(runs)
    if not runs and pool is not None:
        texts = list(dict.fromkeys(str(one) for one in pool.systems.values()))
    found = []
    for text in texts:
        try:
            source = Source.find(text)
            part = find_part(source.run, data.benchmark)
        except BerryEvalError as error:
            if runs:
                raise
            notes.append(f"{text} is left out: {error}")
            continue
        found += [
            Candidate(one.name, source, part, one)
            for one in part.providers
            if source.provider in {"", one.name} and one.scores is not None
        ]
    return label_candidates(found), notes


def score_systems(
    systems: Sequence[Candidate], benchmark: Benchmark, metrics: Sequence[str]
) -> dict[str, Scores]:
    """Score systems by the judgments of a benchmark, without searching again."""
    scores = {}
    for one in systems:
        queries = [
            benchmark.query_of[query.id]
            for query in one.part.queries
            if query.id in benchmark.query_of
        ]
        run = FoundRun(one.source.run, one.source.folder)
        judged, _ = judge_again(run, one.part, one.record, benchmark, queries, metrics)
        scores[one.label] = replace(judged, run_name=one.label)
    return scores
