"""Comparisons on corrected estimates: a model judged many queries, people a few."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import pluralize
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import (
    FEWEST_HUMAN,
    HUMAN,
    OWN,
    correct_difference,
    correct_mean,
    read_both,
)
from berryeval.metrics import range_of
from berryeval.reports import ComparedBenchmark
from berryeval.stats import Comparison, Pair, PairedDifference, correct_p_values
from berryeval.workflows.judge_agreement import read_judges
from berryeval.workflows.judge_calibration import score_twice

if TYPE_CHECKING:
    from berryeval.judging import Corrected
    from berryeval.runs import BenchmarkRecord
    from berryeval.scoring import Scores
    from berryeval.workflows.run_comparison import Options
    from berryeval.workflows.systems import Candidate, Source, Table

TEST: Final = "corrected t test"
_LEVEL: Final = 0.95


@dataclass(frozen=True)
class TwiceScored:
    """Systems scored under the judgments of a model and of people.

    Attributes:
        scores: By system, the scores under human and under model judgments.
        human: Queries of which people graded every pair that the model graded.
        model: Queries of which the model graded a pair.
        categories: Category of each query.
        notes: Remarks, one line each.
    """

    scores: Mapping[str, tuple[Scores, Scores]]
    human: tuple[str, ...]
    model: tuple[str, ...]
    categories: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def values(
        self, system: str, metric: str, queries: Collection[str] | None = None
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return the values by query under human and model judgments."""
        human, model = (scores.per_query(metric) for scores in self.scores[system])
        return (
            {query: human[query] for query in self.human if queries is None or query in queries},
            {query: model[query] for query in self.model if queries is None or query in queries},
        )

    def estimate(
        self,
        system: str,
        metric: str,
        level: float = _LEVEL,
        queries: Collection[str] | None = None,
    ) -> Corrected:
        """Return the corrected mean of a system."""
        human, model = self.values(system, metric, queries)
        within = range_of(metric)
        return correct_mean(human, model, level=level, groups=self.categories, within=within)

    def compare(
        self,
        baseline: str,
        system: str,
        metric: str,
        level: float = _LEVEL,
        queries: Collection[str] | None = None,
    ) -> Corrected:
        """Return the corrected difference of two systems."""
        human, model = self.values(baseline, metric, queries)
        other_human, other_model = self.values(system, metric, queries)
        return correct_difference(
            (human, other_human),
            (model, other_model),
            level=level,
            groups=self.categories,
            within=range_of(metric),
        )

    def is_same(
        self, baseline: str, system: str, metric: str, queries: Collection[str] | None = None
    ) -> bool:
        """Whether no query differs under any judge."""
        return self.values(baseline, metric, queries) == self.values(system, metric, queries)


def score_for_correction(
    systems: Sequence[Candidate], metrics: Sequence[str], model: str, ledger: str | None
) -> TwiceScored:
    """Score systems of one benchmark under the votes of a model and of people."""
    first = systems[0]
    data = read_judges(_find_place(first.source, first.part), ledger)
    data = replace(data, votes=tuple(vote for vote in data.votes if vote.judge != OWN))
    human, graded = read_both(data.votes, model)
    asked = set.intersection(*({query.id for query in one.part.queries} for one in systems))
    pairs: dict[str, list[bool]] = {}
    for key in graded:
        pairs.setdefault(key[0], []).append(key in human)
    judged = tuple(query for query in pairs if query in asked)
    complete = tuple(query for query in judged if all(pairs[query]))
    partly = [query for query in judged if any(pairs[query]) and not all(pairs[query])]
    if len(complete) < FEWEST_HUMAN:
        raise DataError(_explain_few(len(complete), [pairs[query] for query in partly]))
    notes = [*data.notes]
    if partly:
        count = pluralize(len(partly), "query")
        notes.append(
            f"{count} that people judged in part or disagree on: judged by the model alone; to end "
            "disagreements: berryeval judge next --adjudicate"
        )
    if missing := len(asked) - len(judged):
        notes.append(f"{pluralize(missing, 'query')} that the model did not judge: left out")
    scores = score_twice(data, systems, metrics, model, HUMAN)
    _check_means(scores, metrics)
    categories = {query.id: query.category for query in data.benchmark.queries if query.category}
    return TwiceScored(scores, complete, judged, categories, tuple(notes))


def _explain_few(complete: int, partly: Sequence[Sequence[bool]]) -> str:
    """Say how many queries people judged, also in part, and what to do."""
    few = f"a correction needs at least {FEWEST_HUMAN} human-judged queries, found {complete}"
    if not partly:
        return f"{few}; judge all pairs of more queries of a random sample"
    missing = pluralize(sum(one.count(False) for one in partly), "pair")
    return (
        f"{few}; people judged {len(partly):,} more in part: {missing} of these, which the model "
        "judged, have no grade that people agree on. To judge these: berryeval judge pool RUN "
        "--all --depth N with the depth of the model, then berryeval judge next. Or let the "
        "model judge the pool only, under another name: berryeval judge llm --judge NAME, "
        "without runs"
    )


def _find_place(source: Source, part: BenchmarkRecord) -> str:
    """Return where the benchmark of a run is, as its plan says."""
    sources: Any = source.run.plan.get("benchmarks")
    names = [one.name for one in source.run.benchmarks]
    if not isinstance(sources, list) or len(sources) != len(names):
        return part.name
    given = sources[names.index(part.name)]
    return given if isinstance(given, str) else str(given["source"])


def _check_means(scores: Mapping[str, tuple[Scores, Scores]], metrics: Sequence[str]) -> None:
    one, _ = next(iter(scores.values()))
    for metric in metrics:
        how = one.aggregates[one.row_of(metric)]
        if how != "mean":
            raise ConfigurationError(f"{metric} is a {how}; only means can be corrected")


# Comparisons.


def compare_corrected(table: Table, options: Options, baseline: str | None) -> ComparedBenchmark:
    """Compare systems by corrected differences."""
    _check_options(options)
    metrics = list(options.metrics or _find_shared(table.candidates))
    found = score_for_correction(table.candidates, metrics, options.judged_by, options.ledger)
    labels = [one.label for one in table.candidates]
    pairs = list(combinations(labels, 2))
    if baseline is not None:
        pairs = [(baseline, label) for label in labels if label != baseline]
    rows: list[PairedDifference] = []
    names = []
    for metric in metrics:
        scores = found.scores[labels[0]][0]
        names.append(scores.metrics[scores.row_of(metric)])
        family = [_build_row(found, *pair, names[-1], options) for pair in pairs]
        corrected = correct_p_values([row.p for row in family], options.correction)
        rows += [
            replace(row, p_corrected=p, comparisons=len(family))
            for row, p in zip(family, corrected, strict=True)
        ]
    comparison = Comparison(
        tuple(labels),
        baseline,
        tuple(names),
        tuple(rows),
        TEST,
        options.correction,
        "t",
        options.level,
        options.seed,
        options.samples,
        notes=(
            "W/T/L counts queries under the model's judgments",
            "differences are corrected by themselves: they need not be those of corrected values",
        ),
    )
    hashes = tuple(dict.fromkeys(one.part.content_hash for one in table.candidates))
    return ComparedBenchmark(table.benchmark, hashes, comparison, warnings=table.warnings)


def _check_options(options: Options) -> None:
    for name, given in (
        ("--by", options.by is not None),
        ("--test", options.test != "randomization"),
        ("--interval", options.interval != "t"),
        ("--correction tukey", options.correction == "tukey"),
    ):
        if given:
            raise ConfigurationError(f"--judged-by has its own test; leave out {name}")


def _find_shared(candidates: Sequence[Candidate]) -> list[str]:
    tables = [one.record.scores.metrics for one in candidates if one.record.scores is not None]
    return [name for name in tables[0] if all(name in own for own in tables)]


def _build_row(
    found: TwiceScored, baseline: str, system: str, metric: str, options: Options
) -> PairedDifference:
    change = found.compare(baseline, system, metric, options.level)
    before, after = (found.estimate(name, metric, options.level) for name in (baseline, system))
    sides = [list(found.values(name, metric)[1].values()) for name in (baseline, system)]
    wins, ties, losses = Pair.of(*sides).wins_ties_losses
    return PairedDifference(
        metric=metric,
        baseline=baseline,
        system=system,
        n=change.model_queries,
        baseline_value=before.value,
        system_value=after.value,
        difference=change.value,
        interval=change.interval,
        baseline_interval=before.interval,
        system_interval=after.interval,
        p=change.p,
        p_corrected=None,
        test=TEST,
        exact=False,
        statistic=None,
        effect=None,
        wins=wins,
        ties=ties,
        losses=losses,
        raised=(),
        lowered=(),
        detectable=None,
        aggregate="mean",
        level=options.level,
        correction=options.correction,
        comparisons=1,
        notes=(change.label, *change.notes, *found.notes),
    )
