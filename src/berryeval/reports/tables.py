"""What reports have in common: values of systems, which of them is best, whose a verdict is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval._internal.text import shortened
from berryeval.metrics import direction_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval._internal.intervals import Interval
    from berryeval.gates import Verdict
    from berryeval.reports.report import Section, System
    from berryeval.runs import ProviderRecord
    from berryeval.scoring import Scores
    from berryeval.stats import Comparison, PairedDifference


_NOTES: Final = 3  # of how hits were judged, or of what the data has: there may be many


def value_of(scores: Scores | None, metric: str) -> float | None:
    """The value of a metric; None if it was not asked for, or there are no scores."""
    return scores.mean[metric] if scores is not None and metric in scores.metrics else None


def interval_of(scores: Scores, metric: str) -> Interval | None:
    """The 95 % interval of a value; None where it would say nothing."""
    return numbers.known_interval(*scores.ci(metric), scores.count)


def interval_text(scores: Scores, metric: str) -> str:
    """The same as text; empty where it would say nothing."""
    return numbers.interval_around(scores.mean[metric], *scores.ci(metric), scores.count)


def best_value(rows: Sequence[Scores | None], metric: str) -> float | None:
    """The best value of a metric, as `best_of` has it."""
    return best_of((value_of(scores, metric) for scores in rows), metric)


def best_of(values: Iterable[float | None], metric: str) -> float | None:
    """The best of the values, if they differ by more than rounding and there is a way to be better.

    Those that are the best, too, are told by `is_best`.
    """
    known = [value for value in values if value is not None]
    direction = direction_of(metric)
    if direction == "neither" or not known or numbers.alike(min(known), max(known)):
        return None
    return min(known) if direction == "down" else max(known)


def is_best(value: float | None, best: float | None) -> bool:
    """Whether a value is the best; one that only rounding makes worse is as good."""
    return value is not None and best is not None and numbers.alike(value, best)


def by_category(section: Section) -> dict[str, list[tuple[System, Scores]]]:
    """The scores of every system in every category; nothing where no query has one."""
    groups = section.groups("category")
    found: dict[str, list[tuple[System, Scores]]] = {}
    for system in section.scored if groups else ():
        if system.scores is not None:
            for name, scores in system.scores.by(groups).items():
                found.setdefault(name, []).append((system, scores))
    return dict(sorted(found.items()))


def outcomes(record: ProviderRecord) -> str:
    """What became of the queries, those that were answered first."""
    if record.scores is None:
        return "failed"
    ranked = sorted(record.outcomes.items(), key=lambda one: (one[0] != "ok", one[0]))
    return ", ".join(f"{count} {name}" for name, count in ranked)


def doubts_about(system: System) -> list[str]:
    """What makes the values of a system doubtful: its warnings, and how its hits were judged."""
    notes = system.scores.notes if system.scores is not None else ()
    return [shortened(one) for one in (*system.record.warnings, *_first_of(notes))]


def doubts_of(section: Section) -> list[tuple[str, str]]:
    """What makes its values doubtful, each once: about whom, empty for all of them, and what."""
    loaded = dict.fromkeys(note for one in section.systems for note in one.benchmark.notes)
    known = dict.fromkeys([*section.notes, *_first_of(tuple(loaded))])
    about: dict[str, list[str]] = {}
    for system in section.systems:
        for note in doubts_about(system):
            about.setdefault(note, []).append(system.label)
    return [("", note) for note in known] + [
        (", ".join(dict.fromkeys(labels)), note) for note, labels in about.items()
    ]


def _first_of(notes: Sequence[str]) -> list[str]:
    more = len(notes) - _NOTES
    return [*notes[:_NOTES], *([f"… and {more} more notes"] if more > 0 else [])]


def by_owner(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], list[Verdict]]:
    """The verdicts of every provider and benchmark, in the order in which they come first."""
    found: dict[tuple[str, str], list[Verdict]] = {}
    for one in verdicts:
        found.setdefault((one.provider, one.benchmark), []).append(one)
    return found


def verdict_line(verdict: Verdict) -> str:
    """Who, where, and what was found: "bm25 on docs [category=factual]: nDCG@10 is ..."."""
    owner = " on ".join(name for name in (verdict.provider, verdict.benchmark) if name)
    group = f" [{verdict.group}]" if verdict.group else ""
    return f"{owner}{group}: {verdict.sentence}".removeprefix(": ")


# How numbers came about, in words, the same in every format.

OF_A_VALUE: Final = "95 % bootstrap interval"  # what `Scores.ci` gives unless it is asked otherwise
_METHODS_INTERVALS: Final = {
    "t": "Student's t",
    "bca": "bootstrap, BCa",
    "percentile": "bootstrap, percentiles",
}
# Its p is no other p made larger: it has a test of its own, which is never exact.
_CORRECTIONS: Final = {"tukey": "tukey, by random shuffles of all systems"}


def interval_words(found: Comparison) -> str:
    """How the intervals of differences were made."""
    return _METHODS_INTERVALS.get(found.interval, found.interval)


def correction_words(name: str) -> str:
    """The correction, and how it comes to its p where that is not how the test does."""
    return _CORRECTIONS.get(name, name)


def shown_rows(found: Comparison) -> list[PairedDifference]:
    """The rows that tables have: all metrics, and the first of them by group."""
    groups = [row for group in found.groups.values() for row in group.rows]
    return [*found.rows, *(row for row in groups if row.metric == found.metrics[0])]


def method_words(found: Comparison) -> str:
    """How the rows that tables have were tested."""
    return tested_by(shown_rows(found))


def tested_by(rows: Sequence[PairedDifference]) -> str:
    """The test, and how it was carried out: not all rows need have been tested alike."""
    rows = [row for row in rows if row.p is not None] or rows
    sampled = list(dict.fromkeys(row.test for row in rows if not row.exact))
    exact = [row for row in rows if row.exact]
    if not sampled:
        return " or ".join(dict.fromkeys(row.test for row in exact))
    words = " or ".join(sampled)
    return f"{words}, and exact in {len(exact)} of {len(rows)} rows" if exact else words


def _family(rows: Sequence[PairedDifference]) -> str:
    """What p-values were corrected for; rows of other metrics or groups may be of other families.

    Empty where every row is alone in its family.
    """
    sizes = sorted({row.comparisons for row in rows if row.p is not None})
    if not sizes or sizes[-1] == 1:
        return ""
    if rows[0].correction == "none":
        return "not corrected for there being several"
    count = " to ".join(map(str, dict.fromkeys((sizes[0], sizes[-1]))))
    return f"corrected ({correction_words(rows[0].correction)}) for {count} comparisons"


def how_tested(rows: Sequence[PairedDifference]) -> str:
    """The test and the correction, as a part of a sentence."""
    return ", ".join(filter(None, (tested_by(rows), _family(rows))))


# What tables need words for: only what stands in them.

_INTERVALS: Final = f"with each value its {OF_A_VALUE}"
_HASH_CHARACTERS: Final = 15  # "sha256:" and eight digits


def legend_of(best: str, tables: Sequence[Scores | None], metrics: Sequence[str]) -> str:
    """What marks the best, if there is one, and what the intervals are, if there are any."""
    marked = any(best_value(tables, metric) is not None for metric in metrics)
    spans = any(
        interval_of(scores, metric) is not None
        for scores in tables
        if scores is not None
        for metric in metrics
        if metric in scores.metrics
    )
    return "; ".join([best] * marked + [_INTERVALS] * spans)


def namesakes(section: Section) -> list[str]:
    """Of providers in several runs of one name: which label is of which run."""
    systems = section.systems
    times = Counter((one.record.name, one.run.id) for one in systems)
    return [
        f"{one.label}: the run {one.run.id} of {one.run.created}, "
        f"plan {one.run.config_hash[:_HASH_CHARACTERS] or 'unknown'}"
        for one in systems
        if times[one.record.name, one.run.id] > 1
    ]
