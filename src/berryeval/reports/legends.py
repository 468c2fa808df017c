"""Legends, methods and warnings that stand beside tables, worded alike in every format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import truncate_with_count
from berryeval.reports.tables import rate

if TYPE_CHECKING:
    from berryeval.gates import Verdict
    from berryeval.reports.sections import Section, System
    from berryeval.scoring import Scores
    from berryeval.stats import Comparison, PairedDifference


INTERVAL_NAME: Final = "95 % bootstrap confidence interval"  # of `Scores.ci` by default
_INTERVAL_METHODS: Final = {
    "t": "Student's t",
    "bca": "bootstrap, BCa",
    "percentile": "bootstrap, percentiles",
}
# Tukey's p-values come from a permutation test of their own, which is never exact.
_CORRECTIONS: Final = {"tukey": "tukey, by random permutations of all systems"}
_MOST_NOTES: Final = 3  # per benchmark and per system
_HASH_CHARACTERS: Final = 15  # "sha256:" and eight digits


# Tables of scores.


def build_legend(best: str, scores: Iterable[Scores | None], metrics: Sequence[str]) -> str:
    """Explain the mark of the `best` and the intervals, as far as these scores have them."""
    tables = list(scores)
    rated = [one for metric in metrics for one in rate(tables, metric) if one is not None]
    parts = [best] * any(one.best for one in rated)
    parts += [f"each value with its {INTERVAL_NAME}"] * any(one.interval for one in rated)
    return "; ".join(parts)


def describe_namesakes(section: Section) -> list[str]:
    """Say which label belongs to which run, for runs that share a name."""
    systems = section.systems
    times = Counter((one.record.name, one.run.id) for one in systems)
    return [
        f"{one.label}: run {one.run.id} of {one.run.created}, "
        f"plan {one.run.config_hash[:_HASH_CHARACTERS] or 'unknown'}"
        for one in systems
        if times[one.record.name, one.run.id] > 1
    ]


# Statistical methods.


def describe_interval(found: Comparison) -> str:
    """Name the method behind the confidence intervals of differences."""
    return _INTERVAL_METHODS.get(found.interval, found.interval)


def describe_correction(name: str) -> str:
    """Name a correction for multiple comparisons."""
    return _CORRECTIONS.get(name, name)


def name_tests(rows: Sequence[PairedDifference]) -> str:
    """Name the tests of these rows; some rows may be exact while others are sampled."""
    rows = [row for row in rows if row.p is not None] or rows
    sampled = list(dict.fromkeys(row.test for row in rows if not row.exact))
    exact = [row for row in rows if row.exact]
    if not sampled:
        return " or ".join(dict.fromkeys(row.test for row in exact))
    words = " or ".join(sampled)
    return f"{words}, and exact in {len(exact)} of {len(rows)} rows" if exact else words


def describe_test(rows: Sequence[PairedDifference]) -> str:
    """Name the tests of these rows and the correction for multiple comparisons."""
    return ", ".join(filter(None, (name_tests(rows), _describe_family(rows))))


def _describe_family(rows: Sequence[PairedDifference]) -> str:
    """Say how many comparisons p-values were corrected for; families may differ in size."""
    sizes = sorted({row.comparisons for row in rows if row.p is not None})
    if not sizes or sizes[-1] == 1:
        return ""
    if rows[0].correction == "none":
        return "not corrected for multiple comparisons"
    count = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    return f"corrected ({describe_correction(rows[0].correction)}) for {count} comparisons"


# Warnings.


def system_warnings(system: System) -> list[str]:
    """Return the warnings about a system and the first notes on how its hits were judged."""
    notes = system.scores.notes if system.scores is not None else ()
    return [truncate_with_count(one) for one in (*system.record.warnings, *_first(notes))]


def section_warnings(section: Section) -> list[tuple[str, str]]:
    """Return every warning once, with the systems it is about; empty if about all of them."""
    loaded = dict.fromkeys(note for one in section.systems for note in one.benchmark.notes)
    known = dict.fromkeys([*section.notes, *_first(tuple(loaded))])
    about: dict[str, list[str]] = {}
    for system in section.systems:
        for note in system_warnings(system):
            about.setdefault(note, []).append(system.label)
    return [("", note) for note in known] + [
        (", ".join(dict.fromkeys(labels)), note) for note, labels in about.items()
    ]


def warning_lines(section: Section) -> list[str]:
    """Return every warning as a line that begins with the systems it is about."""
    return [f"{about}: {note}" if about else note for about, note in section_warnings(section)]


def _first(notes: Sequence[str]) -> list[str]:
    more = len(notes) - _MOST_NOTES
    return [*notes[:_MOST_NOTES], *([f"… and {more} more notes"] if more > 0 else [])]


# Verdicts.


def group_by_owner(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], list[Verdict]]:
    """Group verdicts by provider and benchmark, in order of first appearance."""
    found: dict[tuple[str, str], list[Verdict]] = {}
    for one in verdicts:
        found.setdefault((one.provider, one.benchmark), []).append(one)
    return found


def format_verdict(verdict: Verdict) -> str:
    """Format a verdict as one line: "bm25 on docs [category=factual]: nDCG@10 is ..."."""
    owner = " on ".join(name for name in (verdict.provider, verdict.benchmark) if name)
    group = f" [{verdict.group}]" if verdict.group else ""
    return f"{owner}{group}: {verdict.sentence}".removeprefix(": ")


def name_fallen(verdict: Verdict, *, strict: bool = False) -> tuple[str, ...]:
    """Return the lines on the queries that fell, if the rule fails the gate."""
    fails = verdict.status == "fail" or (strict and verdict.status == "inconclusive")
    return verdict.fallen if fails else ()


def format_with_queries(verdict: Verdict, *, strict: bool = False) -> str:
    """Format a verdict, and if it fails the queries that fell below it."""
    lines = name_fallen(verdict, strict=strict)
    return "\n".join([format_verdict(verdict), *lines])
