"""`compare_runs`: do the systems of these runs differ, where, and why?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from berryeval._internal.text import counted, to_score_again
from berryeval._internal.validate import nearest
from berryeval.errors import (
    BerryEvalError,
    ConfigurationError,
    DataError,
    MetricError,
    NotScoredError,
)
from berryeval.metrics import parse_metric
from berryeval.reports import ComparedBenchmark, Report, finding
from berryeval.runner import FAILED, NO_ANSWER
from berryeval.runs import RunRecord, group_of
from berryeval.stats import compare, describe_unanswered
from berryeval.workflows.moves import Side, moved_queries
from berryeval.workflows.run_result import BenchmarkResult
from berryeval.workflows.systems import Source, tables_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from berryeval.runs import ProviderRecord
    from berryeval.scoring import Scores
    from berryeval.stats import Comparison, IntervalMethod, PairedDifference
    from berryeval.workflows.systems import Candidate, Table


# Whether systems may be compared: the same data, the same number of hits, answers to judge.


def check_comparable(candidates: Sequence[Candidate], *, anyway: bool = False) -> list[str]:
    """Refuse systems that were measured on different data; warn of all else that is not alike."""
    first, *others = (one.part.asked for one in candidates)
    apart = {what for one in others for what in one.different(first)}
    return [
        *(_data(candidates, anyway=anyway) if "data" in apart else ()),
        *(_queries(candidates) if "queries" in apart else ()),
        *(_depth(candidates) if "hits" in apart else ()),
        *_chunkers(candidates),
        *_failed(candidates),
        *_unanswered(candidates),
    ]


def _told(candidates: Sequence[Candidate], value: Callable[[Candidate], object]) -> str:
    return ", ".join(f"{one.label}: {value(one)}" for one in candidates)


def _data(candidates: Sequence[Candidate], *, anyway: bool) -> list[str]:
    told = _told(candidates, lambda one: one.part.content_hash)
    name = candidates[0].part.name
    if not anyway:
        msg = (
            f"{name} is not the same in these runs ({told}): a difference may come from its data, "
            "not from the systems. Run both on the same data, or compare the queries that they "
            "share with --anyway"
        )
        raise DataError(msg)
    texts: dict[str, set[str]] = {}
    for one in candidates:
        for query in one.part.queries:
            texts.setdefault(query.id, set()).add(query.text)
    changed = sum(len(found) > 1 for found in texts.values())
    words = f"; {changed} queries have another text in some of them" if changed else ""
    text = f"{name} is not the same in these runs ({told}): a difference may come from its data, "
    return [f"{text}not from the systems{words}"]


def _queries(candidates: Sequence[Candidate]) -> list[str]:
    told = _told(candidates, lambda one: counted(len(one.part.queries), "query", "queries"))
    return [f"not all were asked the same queries ({told}): only those that both have count"]


def _depth(candidates: Sequence[Candidate]) -> list[str]:
    depths = {one.part.k for one in candidates}
    told = _told(candidates, lambda one: f"{one.part.k} hits")
    deeper = f"metrics that look deeper than {min(depths)} favour those that were asked for more"
    return [f"not all were asked for as many hits ({told}): {deeper}"]


def _chunkers(candidates: Sequence[Candidate]) -> list[str]:
    if not any(one.record.chunker for one in candidates):
        return []  # there was nothing to cut, or all followed the benchmark
    names = [one.record.chunker or _of_folder(one) for one in candidates]
    used = {_spelled(name) for name in names}
    if len(used) == 1:
        return []
    labels = (one.label for one in candidates)
    told = ", ".join(
        f"{label}: {name or 'as the benchmark suggested'}"
        for label, name in zip(labels, names, strict=True)
    )
    what = "were not" if all(used) else "may not have been"
    return [f"the documents {what} cut alike ({told}): a hit of one may be half a hit of another"]


def _of_folder(one: Candidate) -> str:
    """The chunker of a run whose record does not say it; runs of today need nothing of this."""
    from berryeval.workflows.run_answers import recorded_chunker

    return recorded_chunker(one.source.found, one.part, one.record)


def _spelled(name: str) -> str:
    """The name of a chunker, however it was spelled; empty where nothing says which it was."""
    from berryeval.chunkers import parse_chunker

    try:
        return str(parse_chunker(name)) if name else ""
    except BerryEvalError:
        return name  # of another version, or registered by who made the run


def _failed(candidates: Sequence[Candidate]) -> list[str]:
    """A query without an answer scores 0: that is no quality of a ranking."""
    warnings = []
    for one in candidates:
        outcomes = Counter(answer.outcome for answer in one.record.answers)
        failed = {name: outcomes[name] for name in FAILED if outcomes[name]}
        if failed:
            told = ", ".join(f"{count} {name}" for name, count in failed.items())
            count = sum(failed.values())
            noun = "query has" if count == 1 else "queries have"
            warnings.append(
                f"{count} {noun} no answer of {one.label} ({told}) and count as 0: a difference "
                "may be the failure's, not the ranking's"
            )
    return warnings


def _unanswered(candidates: Sequence[Candidate]) -> list[str]:
    """Queries that a run does not have; those that failed were told of."""
    found = []
    for one in candidates:
        if one.record.scores is not None:
            failed = [a.query_id for a in one.record.answers if a.outcome in FAILED]
            found.append(describe_unanswered(one.label, one.record.scores, failed))
    return [text for text in found if text]


def with_failures(
    found: Comparison, candidates: Sequence[Candidate], groups: Mapping[str, str] | None
) -> Comparison:
    """The comparison, in which every finding that rests on answers which are not there says so."""
    failed = {one.label: _failing(one) for one in candidates}
    if not any(failed.values()):
        return found
    scored = {
        one.label: set() if one.record.scores is None else set(one.record.scores.queries)
        for one in candidates
    }
    parts = {}
    for label, group in found.groups.items():
        members = {query for query, name in (groups or {}).items() if name == label}
        parts[label] = _noted(group, failed, {name: one & members for name, one in scored.items()})
    return replace(_noted(found, failed, scored), groups=parts)


def _failing(one: Candidate) -> set[str]:
    """The queries of a value that is no ranking's."""
    return {answer.query_id for answer in one.record.answers if answer.outcome in NO_ANSWER}


def _noted(
    found: Comparison, failed: Mapping[str, set[str]], scored: Mapping[str, set[str]]
) -> Comparison:
    return replace(found, rows=tuple(_as_answered(row, failed, scored) for row in found.rows))


def _as_answered(
    row: PairedDifference, failed: Mapping[str, set[str]], scored: Mapping[str, set[str]]
) -> PairedDifference:
    """The row; where its lower value has zeros that are no ranking's, with a note on that."""
    lower = row.system if row.difference < 0 else row.baseline
    count = len(failed[lower] & scored[row.system] & scored[row.baseline])
    if not count or not row.shown:
        return row
    note = (
        f"{lower} has no answer to {count:,} of {counted(row.n, 'query', 'queries')}, which count "
        f"as 0: {row.system} is {finding(row)} as answered, not as ranked"
    )
    return replace(row, notes=(*row.notes, note))


Compared: TypeAlias = str | Path | RunRecord | BenchmarkResult
MOVED: Final = 3
ALL_PAIRS: Final = "all"  # in place of a baseline


@dataclass(frozen=True)
class Options:
    """How to compare.

    Attributes:
        baseline: the system that all others are compared with: a run as it was given, or the name
            of a system; the first if it is None, and "all" compares every pair.
        metrics: which; without any, all that every system has.
        test: see `berryeval.compare`, as for the next five.
        correction: of p-values.
        interval: of differences.
        level: of confidence.
        seed: of random samples.
        samples: how many the tests draw.
        by: compare groups of queries too: "category", "difficulty", or a name of their metadata.
        moved: how many of the queries that changed most are explained, for each pair.
        benchmark: only this one.
        anyway: compare runs on different data of a benchmark, by the queries they share.
    """

    baseline: str | None = None
    metrics: Sequence[str] | None = None
    test: str = "randomization"
    correction: str = "holm"
    interval: IntervalMethod = "t"
    level: float = 0.95
    seed: int = 0
    samples: int = 100_000
    by: str | None = None
    moved: int = MOVED
    benchmark: str | None = None
    anyway: bool = False


def compare_runs(runs: Sequence[Compared] | Compared, title: str = "", **options: Any) -> Report:
    """Compare the systems of one or several runs, and say which queries moved and why.

        >>> import berryeval as be
        >>> result = be.run_benchmark("rag-template", ["bm25", "bm25:fixed-400"], ["nDCG@5"])
        >>> report = be.compare_runs(result, baseline="bm25")
        >>> report.compared[0].comparison.row("nDCG@5").significant
        False

    One run compares its providers; several runs compare what they have in common, old and new.

    Args:
        runs: folders, files or names of runs, `RUN#PROVIDER`, records, or what `run_benchmark`
            returned.
        title: of the report.
        options: fields of `berryeval.workflows.run_comparison.Options`: baseline, metrics, test,
            correction, interval, level, seed, samples, by, moved, benchmark, anyway.
    """
    given = [runs] if isinstance(runs, str | Path | RunRecord | BenchmarkResult) else list(runs)
    if not given:
        msg = "no run to compare; give two runs, or one with several providers"
        raise ConfigurationError(msg)
    return compared([_source(one) for one in given], Options(**options), title)


def compared(sources: Sequence[Source], options: Options, title: str = "") -> Report:
    """The report of a comparison of these."""
    _check(options)
    tables = tables_of(sources, options.benchmark)
    found = [_compared(table, options) for table in tables]
    records: list[RunRecord] = []
    for one in sources:
        records += [] if one.run in records else [one.run]
    names = ", ".join(dict.fromkeys(one.benchmark for one in found))
    return Report.of(records, title=title or f"Comparison on {names}", compared=found)


def _check(options: Options) -> None:
    """Refuse numbers that mean nothing, before anything is computed."""
    wrong = {
        "level": (options.level, 0 < options.level < 1, "a number between 0 and 1, as 0.95"),
        "seed": (options.seed, options.seed >= 0, "0 or more"),
        "samples": (options.samples, options.samples >= 1, "1 or more"),
        "moved": (options.moved, options.moved >= 0, "0 or more"),
    }
    for name, (value, fine, expected) in wrong.items():
        if not fine:
            msg = f"{name} must be {expected}, found {value!r}"
            raise ConfigurationError(msg)


def _source(one: Compared) -> Source:
    if isinstance(one, RunRecord):
        return Source(one.id, one)
    if isinstance(one, BenchmarkResult):
        return Source(one.whole_run.id, one.whole_run)
    return Source.named(str(one))


def _compared(table: Table, options: Options) -> ComparedBenchmark:
    warnings = check_comparable(table.candidates, anyway=options.anyway)
    sides = {one.label: Side.of(one, all_scores(one.record)) for one in table.candidates}
    asked = options.metrics is not None
    metrics = options.metrics if asked else _asked(table.candidates)
    _check_scored(table.candidates, sides, options.metrics or ())
    groups = _groups(table, options.by)
    found = compare(
        {label: side.scores for label, side in sides.items()},
        baseline=_baseline(table.candidates, options.baseline),
        metrics=metrics,
        test=options.test,
        correction=options.correction,
        interval=options.interval,
        level=options.level,
        seed=options.seed,
        samples=options.samples,
        groups=groups,
    )
    told = {
        describe_unanswered(label, side.scores) for label, side in sides.items()
    }  # in the warnings
    found = replace(found, notes=tuple(note for note in found.notes if note not in told))
    found = with_failures(found, table.candidates, groups)
    pairs = list(dict.fromkeys((row.baseline, row.system) for row in found.rows))
    moved = [
        query
        for first, second in pairs
        for query in moved_queries(sides[first], sides[second], found.metrics[0], options.moved)
    ]
    return ComparedBenchmark(
        table.benchmark,
        tuple(dict.fromkeys(one.part.content_hash for one in table.candidates)),
        found,
        options.by or "",
        tuple(moved),
        (*table.warnings, *warnings, *([] if asked else _only_some(table.candidates))),
    )


def _check_scored(
    candidates: Sequence[Candidate], sides: Mapping[str, Side], metrics: Sequence[str]
) -> None:
    """Refuse metrics that runs have not, with the lines that compute all of them there."""
    first: NotScoredError | None = None
    missing: dict[str, list[str]] = {}  # by run
    for metric in metrics:
        lacks = [(one.source.named_run, _lack(sides[one.label], metric)) for one in candidates]
        error = next((error for _, error in lacks if error is not None), None)
        if error is None:
            continue
        try:
            parse_metric(metric)
        except MetricError:  # a slip; what there is was said
            raise error from None
        first = first or error
        for run in dict.fromkeys(run for run, error in lacks if error is not None):
            missing.setdefault(run, []).append(metric)
    if first is not None:
        lines = "; ".join(to_score_again(run, *names) for run, names in missing.items())
        end = "" if str(first).endswith("?") else "."
        several = len({name for names in missing.values() for name in names}) > 1
        msg = f"{first}{end} To compute {'them' if several else 'it'}: {lines}"
        raise NotScoredError(msg)


def _lack(side: Side, metric: str) -> NotScoredError | None:
    """Why a system has no such metric; None if it has."""
    try:
        side.scores.row_of(metric)
    except NotScoredError as error:
        return error
    return None


def all_scores(record: ProviderRecord) -> Scores:
    """The metrics that were asked for, and those that every run has, in one table."""
    scores, standard = record.scores, record.standard
    if scores is None:
        msg = f"{record.name} has no scores: {record.failure}"
        raise ConfigurationError(msg)
    if standard is None or standard.queries != scores.queries:
        return scores
    return scores.with_metrics_of(standard)


def _asked(candidates: Sequence[Candidate]) -> list[str] | None:
    """The metrics that all runs were asked for; None, if there are none, lets any do."""
    tables = [one.record.scores for one in candidates if one.record.scores is not None]
    names = [name for name in tables[0].metrics if all(name in t.metrics for t in tables)]
    return names or None


def _only_some(candidates: Sequence[Candidate]) -> list[str]:
    """The metrics that only some runs were asked for."""
    tables = [one.record.scores.metrics for one in candidates if one.record.scores is not None]
    names = dict.fromkeys(name for table in tables for name in table)
    missing = [name for name in names if not all(name in table for table in tables)]
    return [f"not asked for in every run, and left out: {', '.join(missing)}"] if missing else []


def _groups(table: Table, by: str | None) -> dict[str, str] | None:
    if by is None:
        return None
    queries = [query for one in table.candidates for query in one.part.queries]
    groups = group_of(queries, by)
    if not groups:
        msg = f"no query of {table.benchmark} has a {by!r}; try --by category"
        raise ConfigurationError(msg)
    return groups


def _baseline(candidates: Sequence[Candidate], wanted: str | None) -> str | None:
    """The label of the baseline; None for all pairs."""
    if wanted is None:
        return candidates[0].label
    labels = [one.label for one in candidates]
    if wanted in labels:
        return wanted
    if wanted == ALL_PAIRS:
        return None
    known = {one.label: (one.source.text, one.source.run.id, one.record.name) for one in candidates}
    typed = [one.label for one in candidates if one.source.text == wanted]  # means that, above all
    found = typed or [label for label, names in known.items() if wanted in names]
    if len(found) == 1:
        return found[0]
    if found:
        msg = f"{wanted!r} may be {' or '.join(found)}; name one of them as the baseline"
        raise ConfigurationError(msg)
    near = nearest(wanted, [*labels, *(name for names in known.values() for name in names)], 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(labels)}"
    msg = f"no system is named {wanted!r}, which should be the baseline; {hint}"
    raise ConfigurationError(msg)
