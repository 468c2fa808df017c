"""What reports have in common: values of systems, which of them is best, whose a verdict is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.io.words import shortened
from berryeval.measures.direction import direction_of
from berryeval.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval.gates import Verdict
    from berryeval.intervals import Interval
    from berryeval.reports.model import Section, System
    from berryeval.results import ProviderRecord
    from berryeval.scores import Scores

__all__ = [
    "best_of",
    "best_value",
    "by_category",
    "by_owner",
    "doubts_about",
    "doubts_of",
    "interval_of",
    "interval_text",
    "is_best",
    "outcomes",
    "value_of",
    "verdict_line",
]

_NOTES: Final = 3  # of how hits were judged, or of what the data has: there may be many


def value_of(scores: Scores | None, measure: str) -> float | None:
    """The value of a measure; None if it was not asked for, or there are no scores."""
    return scores.mean[measure] if scores is not None and measure in scores.measures else None


def interval_of(scores: Scores, measure: str) -> Interval | None:
    """The 95 % interval of a value; None where it would say nothing."""
    return numbers.known_interval(*scores.ci(measure), scores.count)


def interval_text(scores: Scores, measure: str) -> str:
    """The same as text; empty where it would say nothing."""
    return numbers.interval_around(scores.mean[measure], *scores.ci(measure), scores.count)


def best_value(rows: Sequence[Scores | None], measure: str) -> float | None:
    """The best value of a measure, as `best_of` has it."""
    return best_of((value_of(scores, measure) for scores in rows), measure)


def best_of(values: Iterable[float | None], measure: str) -> float | None:
    """The best of the values, if they differ by more than rounding and there is a way to be better.

    Those that are the best, too, are told by `is_best`.
    """
    known = [value for value in values if value is not None]
    direction = direction_of(measure)
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
