"""Benchmarks with the grades that judges decided on, from the ledger beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

from berryeval._internal.masking import MASK
from berryeval._internal.text import pluralize
from berryeval._internal.validate import require_choice
from berryeval.anchors import Corpus, locate, normalise
from berryeval.benchmarks import Benchmark, bundled_benchmarks, write_benchmark
from berryeval.data import content_hash
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import (
    ENDING,
    POOL,
    Decision,
    DecisionRule,
    JudgeKind,
    Ledger,
    Pool,
    apply_decisions,
    current_votes,
    decide,
    hash_query,
    key_of,
    name_place,
    open_ledger,
)
from berryeval.runs import Secrets
from berryeval.workflows.config import ConfigFile, check_model, config_path
from berryeval.workflows.plan import AUTO, NO_VOTES, BenchmarkSpec, name_source
from berryeval.workflows.selection import load_source
from berryeval.workflows.settings import move_benchmarks

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.anchors import Location
    from berryeval.judging import PairKey, Vote
    from berryeval.workflows.plan import Plan

_OWN_HASH: Final = "own_hash"


@dataclass(frozen=True, repr=False)
class JudgedBenchmark(Benchmark):
    """A benchmark with the grades of its judges.

    Attributes:
        judged: What a record says about them: place, number of judgments, judges, undecided pairs,
            and the hash of the benchmark without them.
    """

    judged: Mapping[str, Any] = field(default_factory=dict, compare=False)


def hash_without_votes(benchmark: Benchmark) -> str:
    """Return the hash of a benchmark without the votes on it: answers do not depend on them."""
    if isinstance(benchmark, JudgedBenchmark):
        return str(benchmark.judged[_OWN_HASH])
    return benchmark.content_hash


def describe_votes(benchmark: Benchmark) -> dict[str, Any]:
    """Return the facts about votes for the record of a run; empty without votes."""
    return {"judged": benchmark.judged} if isinstance(benchmark, JudgedBenchmark) else {}


@dataclass(frozen=True)
class JudgedData:
    """A benchmark with the decided grades.

    Attributes:
        benchmark: The benchmark; as it is in its files if there are no votes.
        ledger: Where the votes are; None if they do not count.
        decisions: The decisions on pairs of the benchmark, also those that are undecided.
        strays: Why the other pairs that were judged do not count.
    """

    benchmark: Benchmark
    ledger: Ledger | None = None
    decisions: Mapping[PairKey, Decision] = field(default_factory=dict)
    strays: Mapping[PairKey, str] = field(default_factory=dict)

    @property
    def facts(self) -> Mapping[str, Any]:
        """The facts about the votes for the record of a run."""
        return self.benchmark.judged if isinstance(self.benchmark, JudgedBenchmark) else {}

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks for the user: whose judgments count, and which ones do not."""
        return () if self.ledger is None else self.benchmark.remarks[: 1 + bool(self.strays)]


def load_judged(
    source: str | BenchmarkSpec, judged: str = AUTO, rule: DecisionRule | None = None
) -> JudgedData:
    """Load a benchmark with the decisions of its judges.

    Args:
        source: The benchmark.
        judged: "auto" for the ledger beside the benchmark, if there is one; "none"; or the place of
            a ledger: a folder, or a store.
        rule: Which votes decide.
    """
    return judge_benchmark(load_source(source), source, judged, rule)


def judge_benchmark(
    benchmark: Benchmark,
    source: str | BenchmarkSpec,
    judged: str = AUTO,
    rule: DecisionRule | None = None,
) -> JudgedData:
    """Give a benchmark from this source the decisions of its judges; see `load_judged`."""
    if judged == NO_VOTES:
        return JudgedData(benchmark)
    name = name_source(source)
    if MASK in judged:
        raise ConfigurationError(
            f"the ledger {judged}: the folder of the run does not hold its password; give --judged "
            "again, or write it as ${NAME}"
        )
    place = "" if judged == AUTO else str(Secrets().fill_in(judged))
    ledger = open_ledger(place, name)
    decisions = decide(ledger.votes(), rule) if ledger.exists else {}
    if not decisions and judged != AUTO:
        raise ConfigurationError(
            f"{ledger.shown}: there are no votes on {benchmark.name}; leave out --judged, or give "
            "the folder or store of its ledger"
        )
    return add_votes(benchmark, ledger, decisions) if decisions else JudgedData(benchmark)


def load_all_judged(plan: Plan) -> list[Benchmark]:
    """Load the benchmarks of a plan; the folder of a ledger is that of one benchmark."""
    several = len(plan.benchmarks) > 1 and plan.judged not in {AUTO, NO_VOTES}
    if several and type(open_ledger(plan.judged, "")) is Ledger:
        raise ConfigurationError(
            f"--judged {plan.judged}: a folder has the votes on one benchmark, and there are "
            f"{len(plan.benchmarks)}; run them separately"
        )
    return [load_judged(source, plan.judged).benchmark for source in plan.benchmarks]


def add_votes(
    benchmark: Benchmark, ledger: Ledger, decisions: Mapping[PairKey, Decision]
) -> JudgedData:
    """Give a benchmark the decided grades of pairs that it has; the others are strays."""
    strays = find_strays(benchmark, decisions)
    known = {key: one for key, one in decisions.items() if key not in strays}
    if not known and strays:
        raise DataError(
            f"{ledger.shown}: none of {pluralize(len(strays), 'judged pair')} is in "
            f"{benchmark.name}, such as {_show_stray(strays, decisions)}; these are judgments for "
            "another benchmark or corpus: give its own, or leave them out with --judged none"
        )
    decided = [one for one in known.values() if one.grade is not None]
    judges = sorted({vote.judge for one in decided for vote in _find_deciding(one)})
    undecided = len(known) - len(decided)
    note = (
        f"with {pluralize(len(decided), 'judgment')} of {pluralize(len(judges), 'judge')} from "
        f"{ledger.shown}"
    )
    note += f"; {pluralize(undecided, 'pair')} undecided" if undecided else ""
    notes = [note]
    if strays:
        notes.append(
            f"{pluralize(len(strays), 'judged pair')} of {ledger.shown} left out, such as "
            f"{_show_stray(strays, decisions)}"
        )
    facts = {
        "from": ledger.shown,
        "judgments": len(decided),
        "judges": judges,
        "undecided": undecided,
        "left_out": len(strays),
        _OWN_HASH: benchmark.content_hash,
    }
    scored = apply_decisions(benchmark, known)
    parts = {one.name: getattr(scored, one.name) for one in fields(Benchmark)}
    parts["remarks"] = (*notes, *benchmark.remarks)
    return JudgedData(JudgedBenchmark(**parts, judged=facts), ledger, known, strays)


def _find_deciding(decision: Decision) -> list[Vote]:
    """Return the votes that the grade of a pair comes from."""
    graded = [one for one in decision.votes if one.grade is not None]
    if decision.how == "adjudicated":
        return [one for one in graded if one.adjudicates][-1:]
    counted = [one for one in graded if one.kind == "human"] or graded
    if decision.how == "judge":
        return [one for one in counted if one.grade == decision.grade]
    return counted


def find_strays(benchmark: Benchmark, decisions: Mapping[PairKey, Decision]) -> dict[PairKey, str]:
    """Return the judged pairs that the benchmark does not have, or not any more, with the reason.

    A target counts if it is in the documents with the text that the judge saw.
    """
    corpus = Corpus(benchmark.documents)
    found = {}
    for key, one in decisions.items():
        reason = _find_fault(benchmark, corpus, one)
        if reason:
            found[key] = reason
    return found


def drop_strays(benchmark: Benchmark, votes: Sequence[Vote]) -> tuple[list[Vote], str]:
    """Return the votes without those of strays, judge by judge, and a note that counts them."""
    own = {
        (one.judge, *key_of(one.query_id, one.target)): one
        for one in current_votes(votes)
        if one.question == "relevance"
    }
    strays = find_strays(
        benchmark,
        {
            key: Decision(one.query_id, one.target, one.grade, "judge", (one,))
            for key, one in own.items()
        },
    )
    if not strays:
        return list(votes), ""
    first, reason = next(iter(strays.items()))
    example = f"such as one of {own[first].judge} on query {own[first].query_id!r:.80}: {reason}"
    if len(strays) == len(own):
        raise DataError(
            f"none of {pluralize(len(own), 'vote')} is on a pair of {benchmark.name}, {example}; "
            "these are votes for another benchmark or corpus"
        )
    kept = [
        one
        for one in votes
        if one.question != "relevance"
        or (one.judge, *key_of(one.query_id, one.target)) not in strays
    ]
    return kept, f"{pluralize(len(strays), 'vote')} left out, {example}"


def _find_fault(benchmark: Benchmark, corpus: Corpus, decision: Decision) -> str:
    if decision.query_id not in benchmark.query_of:
        return "there is no such query"
    asked = {vote.asked for vote in decision.votes if vote.asked}
    if asked and hash_query(benchmark.query_of[decision.query_id].text) not in asked:
        return "the question has changed since it was judged"
    target = decision.target
    place = locate(target, corpus)
    if place.lost is not None:
        return place.lost.reason
    if not place.resolves:
        return f"{target.document!r:.80} has several such sections"
    if _is_same_text(benchmark, decision, place):
        return ""
    return f"the text of {target.document!r:.80} has changed since it was judged"


def _is_same_text(benchmark: Benchmark, decision: Decision, place: Location) -> bool:
    """Whether a target has the text that a judge saw, as far as the votes say which."""
    target = decision.target
    document = benchmark.document_of.get(target.document)
    seen = {vote.content for vote in decision.votes if vote.content}
    if document is None or target.document_hash == document.content_hash or not seen:
        return True
    spans = [(one.start, one.end) for one in place.spans] or [(0, len(document.text))]
    now = [document.text[start:end] for start, end in spans]
    if content_hash(target.quote) in seen and normalise(target.quote) in map(normalise, now):
        return True
    return bool(seen & set(map(content_hash, now)))


def _show_stray(strays: Mapping[PairKey, str], decisions: Mapping[PairKey, Decision]) -> str:
    key, reason = next(iter(strays.items()))
    return f"one of query {decisions[key].query_id!r:.80}: {reason}"


# The ledger that a command is about.


def find_benchmark(benchmark: str | None, ledger: str | None = None) -> str | BenchmarkSpec:
    """Return the benchmark that a command is about, with its options in the configuration file.

    By default it is that of the given ledger, or of the only one in the current folder.
    """
    if benchmark is None:
        folder = Path(ledger) if ledger and Path(ledger).is_dir() else _find_folder()
        benchmark = _find_source(folder)
    path = config_path(None)
    listed = ConfigFile(path).data.get("benchmarks") if path else None
    moved = move_benchmarks(path.parent, listed) if path and isinstance(listed, list) else []
    for one in moved:
        source = one.get("source") if isinstance(one, dict) else None
        if isinstance(source, str) and name_place(source) == name_place(benchmark):
            spec: BenchmarkSpec = check_model(BenchmarkSpec, one, None)
            return spec
    return benchmark


def _find_folder() -> Path:
    found = sorted(path for path in Path().glob(f"*{ENDING}") if path.is_dir())
    if len(found) == 1:
        return found[0]
    if not found:
        raise ConfigurationError(
            "no benchmark here has been judged or pooled; name one with --benchmark SOURCE, or "
            "begin with: berryeval judge pool RUN"
        )
    names = ", ".join(path.stem for path in found)
    raise ConfigurationError(f"several benchmarks have a ledger here: {names}; give --benchmark")


def _find_source(folder: Path) -> str:
    """Return where the benchmark of a ledger is: what its pool says, or what is beside it."""
    if (folder / POOL).is_file():
        return Pool.read(folder / POOL).benchmark
    beside = sorted(
        path
        for path in folder.parent.glob(f"{folder.stem}*")
        if path != folder and name_place(path) == folder
    )
    if folder.stem in bundled_benchmarks() and not beside:
        return folder.stem
    if len(beside) == 1:
        return str(beside[0])
    raise ConfigurationError(
        f"{folder}: which benchmark it belongs to is not clear; give --benchmark SOURCE"
    )


def apply_votes(
    benchmark: str | None,
    output: PathLike,
    loading: Mapping[str, Any] | None = None,
    *,
    ledger: str | None = None,
    judge: str = "",
    judges: Sequence[str] = (),
    kinds: Sequence[str] = (),
) -> JudgedData:
    """Write a benchmark with the decided grades to a new place.

    `loading` has the `format` and `options` of the benchmark, if they are not those of the
    configuration file.
    """
    for kind in kinds:
        require_choice("--kinds", kind, get_args(JudgeKind))
    wanted: tuple[JudgeKind, ...] = tuple(one for one in get_args(JudgeKind) if one in kinds)
    rule = DecisionRule(judge, tuple(judges), wanted or DecisionRule.kinds)
    source = find_benchmark(benchmark, ledger)
    name = name_source(source)
    given = {key: value for key, value in (loading or {}).items() if value}
    if given:
        source = check_model(BenchmarkSpec, {"source": name, **given}, None)
    if Path(output).resolve() == Path(name).resolve():
        raise ConfigurationError(f"{output}: is the benchmark itself; give another --output")
    found = load_judged(source, ledger or AUTO, rule)
    if found.ledger is None:
        raise DataError(f"there are no votes in {name_place(name)}; nothing was written")
    metadata = {**found.benchmark.metadata, **describe_votes(found.benchmark)}
    write_benchmark(replace(found.benchmark, metadata=metadata), output)
    return found
