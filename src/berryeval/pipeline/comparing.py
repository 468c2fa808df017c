"""`compare_runs`: do the systems of these runs differ, where, and why?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from berryeval.errors import ConfigurationError, MeasureError, NotScoredError
from berryeval.io.command_lines import to_score_again
from berryeval.measures import parse_measure
from berryeval.pipeline.comparable import check_comparable, with_failures
from berryeval.pipeline.moved import Side, moved_queries
from berryeval.pipeline.run_result import BenchmarkResult
from berryeval.pipeline.systems import Source, tables_of
from berryeval.registry import nearest
from berryeval.reports import Report
from berryeval.reports.compared import ComparedBenchmark
from berryeval.results import RunRecord
from berryeval.results.groups import group_of
from berryeval.stats import compare
from berryeval.stats.alignment import unanswered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.pipeline.systems import Candidate, Table
    from berryeval.results import ProviderRecord
    from berryeval.scores import Scores
    from berryeval.stats.interval import IntervalMethod

__all__ = ["ALL_PAIRS", "MOVED", "Compared", "Options", "compare_runs"]

Compared: TypeAlias = str | Path | RunRecord | BenchmarkResult
MOVED: Final = 3
ALL_PAIRS: Final = "all"  # in place of a baseline


@dataclass(frozen=True)
class Options:
    """How to compare.

    Attributes:
        baseline: the system that all others are compared with: a run as it was given, or the name
            of a system; the first if it is None, and "all" compares every pair.
        measures: which; without any, all that every system has.
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
    measures: Sequence[str] | None = None
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
        options: fields of `berryeval.pipeline.comparing.Options`: baseline, measures, test,
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
    asked = options.measures is not None
    measures = options.measures if asked else _asked(table.candidates)
    _check_scored(table.candidates, sides, options.measures or ())
    groups = _groups(table, options.by)
    found = compare(
        {label: side.scores for label, side in sides.items()},
        baseline=_baseline(table.candidates, options.baseline),
        measures=measures,
        test=options.test,
        correction=options.correction,
        interval=options.interval,
        level=options.level,
        seed=options.seed,
        samples=options.samples,
        groups=groups,
    )
    told = {unanswered(label, side.scores) for label, side in sides.items()}  # in the warnings
    found = replace(found, notes=tuple(note for note in found.notes if note not in told))
    found = with_failures(found, table.candidates, groups)
    pairs = list(dict.fromkeys((row.baseline, row.system) for row in found.rows))
    moved = [
        query
        for first, second in pairs
        for query in moved_queries(sides[first], sides[second], found.measures[0], options.moved)
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
    candidates: Sequence[Candidate], sides: Mapping[str, Side], measures: Sequence[str]
) -> None:
    """Refuse measures that runs have not, with the lines that compute all of them there."""
    first: NotScoredError | None = None
    missing: dict[str, list[str]] = {}  # by run
    for measure in measures:
        lacks = [(one.source.named_run, _lack(sides[one.label], measure)) for one in candidates]
        error = next((error for _, error in lacks if error is not None), None)
        if error is None:
            continue
        try:
            parse_measure(measure)
        except MeasureError:  # a slip; what there is was said
            raise error from None
        first = first or error
        for run in dict.fromkeys(run for run, error in lacks if error is not None):
            missing.setdefault(run, []).append(measure)
    if first is not None:
        lines = "; ".join(to_score_again(run, *names) for run, names in missing.items())
        end = "" if str(first).endswith("?") else "."
        several = len({name for names in missing.values() for name in names}) > 1
        msg = f"{first}{end} To compute {'them' if several else 'it'}: {lines}"
        raise NotScoredError(msg)


def _lack(side: Side, measure: str) -> NotScoredError | None:
    """Why a system has no such measure; None if it has."""
    try:
        side.scores.row_of(measure)
    except NotScoredError as error:
        return error
    return None


def all_scores(record: ProviderRecord) -> Scores:
    """The measures that were asked for, and those that every run has, in one table."""
    scores, standard = record.scores, record.standard
    if scores is None:
        msg = f"{record.name} has no scores: {record.failure}"
        raise ConfigurationError(msg)
    if standard is None or standard.queries != scores.queries:
        return scores
    return scores.with_those_of(standard)


def _asked(candidates: Sequence[Candidate]) -> list[str] | None:
    """The measures that all runs were asked for; None, if there are none, lets any do."""
    tables = [one.record.scores for one in candidates if one.record.scores is not None]
    names = [name for name in tables[0].measures if all(name in t.measures for t in tables)]
    return names or None


def _only_some(candidates: Sequence[Candidate]) -> list[str]:
    """The measures that only some runs were asked for."""
    tables = [one.record.scores.measures for one in candidates if one.record.scores is not None]
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
