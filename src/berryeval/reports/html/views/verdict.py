"""The first sentence of a section: which is best, and is that certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.reports.html.numbers import counted, probability, signed, span, value

if TYPE_CHECKING:
    from berryeval.reports.html.views.certainty import Contrast
    from berryeval.reports.html.views.standings import Standings

__all__ = ["Finding", "finding_of"]


@dataclass(frozen=True)
class Finding:
    """What the numbers say.

    Attributes:
        sure: "certain", "open" or "none": how a reader should take it.
        leader: the system that it speaks of first; empty if there is none.
        headline: the sentence, after the name of the leader.
        because: what it rests on.
    """

    sure: str
    leader: str
    headline: str
    because: tuple[str, ...]


def finding_of(standings: Standings, contrasts: tuple[Contrast, ...]) -> Finding:
    """The verdict on a section."""
    if not standings.rows or standings.rows[0].cells[0] is None:
        return Finding(
            "none", "", "No provider has scores.", ("Below is why each of them failed.",)
        )
    top, measure = standings.rows[0], standings.measures[0]
    cell = standings.rows[0].cells[0]
    reached = f"{measure} {value(cell.value)}, 95 % interval {span(cell.interval)}"
    queries = counted(top.queries, "query", "queries")
    if not contrasts:
        return Finding(
            "none", top.label, f"reaches {measure} {value(cell.value)}.",
            (f"95 % interval {span(cell.interval)}, over {queries}.",
             "It stands alone: a second provider would show whether that is good."),
        )  # fmt: skip
    first = contrasts[0]
    if first.interval is None:
        return Finding(
            "open", top.label, "is ahead, but one query cannot tell.",
            (f"{reached}; ask more queries to see whether the lead holds.",),
        )  # fmt: skip
    if all(one.certain for one in contrasts):
        return Finding(
            "certain", top.label, "is best, and that is certain.",
            (f"{reached}.", _lead(first, measure), *_also(contrasts)),
        )  # fmt: skip
    level = [one.other for one in contrasts if not one.certain]
    return Finding(
        "open", top.label, f"is ahead, but cannot be told apart from {_listed(level)}.",
        (f"{reached}.", _lead(first, measure), *_told_apart(contrasts)),
    )  # fmt: skip


def _lead(contrast: Contrast, measure: str) -> str:
    if not contrast.wins and not contrast.losses:
        return f"{contrast.best} and {contrast.other} have the same {measure} on every query."
    parts = []
    if contrast.interval is not None:
        parts.append(f"95 % interval {span(contrast.interval, sign=True)}")
    if contrast.p is not None:
        parts.append(probability(contrast.p))
    behind = f" ({', '.join(parts)})" if parts else ""
    return (
        f"Against {contrast.other} the difference is {signed(contrast.difference)}{behind}: better "
        f"on {contrast.wins}, equal on {contrast.ties}, worse on {contrast.losses} of "
        f"{counted(len(contrast.by_query), 'query', 'queries')}."
    )


def _also(contrasts: tuple[Contrast, ...]) -> tuple[str, ...]:
    others = [one.other for one in contrasts[1:]]
    return (f"It is also certainly better than {_listed(others)}.",) if others else ()


def _told_apart(contrasts: tuple[Contrast, ...]) -> tuple[str, ...]:
    beaten = [one.other for one in contrasts if one.certain]
    return (f"It is certainly better than {_listed(beaten)}.",) if beaten else ()


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
