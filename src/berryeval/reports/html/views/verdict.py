"""The first sentence of a section: which is best, and is that certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from berryeval.reports.html.numbers import chance, counted, signed, span, value
from berryeval.reports.html.text import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.html.views.certainty import Contrast
    from berryeval.reports.html.views.standings import Row, Standings

__all__ = ["Finding", "finding_of"]


@dataclass(frozen=True)
class Finding:
    """What the numbers say.

    Attributes:
        sure: how a reader should take it; "none" if there is nothing to be sure of.
        leader: the system that it speaks of first; empty if there is none.
        headline: the sentence, after the name of the leader.
        because: what it rests on.
    """

    sure: Literal["certain", "open", "none"]
    leader: str
    headline: str
    because: tuple[str, ...]


def finding_of(standings: Standings, contrasts: Sequence[Contrast]) -> Finding:
    """The verdict on a section."""
    if not standings.rows:
        return Finding("none", "", "No provider has scores.", ("The reasons are below.",))
    top, measure = standings.rows[0], standings.measures[0]
    reached = _reached(top, measure)
    if not contrasts and len(standings.rows) > 1:
        return Finding(
            "none", "", f"{measure} says not who is better.", ("Ask for a measure of quality.",)
        )
    if not contrasts:
        alone = "It stands alone: a second provider would show how good that is."
        return Finding("none", top.label, "is the only one with scores.", (reached, alone))
    same = [one for one in contrasts if one.row is not None and one.difference == 0]
    open_ = [one.other for one in contrasts if not one.certain]
    beaten = [one.other for one in contrasts if one.certain]
    also = (f"It is certainly better than {_listed(beaten)}.",) if beaten and open_ else ()
    lead = _lead(contrasts[0])
    if not open_:
        return Finding("certain", top.label, "is best, and that is certain.", (reached, *lead))
    turned = [one.other for one in contrasts if (one.difference or 0) < 0]
    if turned:
        shared = f"on the queries it shares with {_listed(turned)}"
        words = f"has the best {measure}, but not {shared}."
    elif len(same) == len(contrasts):
        words = f"and {_listed(open_)} score the same."
    else:
        words = f"is ahead, but cannot be told apart from {_listed(open_)}."
    return Finding("open", top.label, words, (reached, *lead, *also))


def _reached(row: Row, measure: str) -> str:
    cell = row.cells[0]
    if cell is None:
        return ""
    queries = counted(row.queries, "query", "queries")
    ends = "" if cell.interval is None else f", 95 % interval {span(cell.interval)}"
    return f"{measure} {value(cell.value)} over {queries}{ends}."


def _lead(contrast: Contrast) -> tuple[str, ...]:
    """How far the runner-up is behind, and what it would take to be sure."""
    other = short(contrast.other, 60)
    if contrast.row is None:
        return (f"It shares no query with {other}, so the two cannot be compared.",)
    if contrast.interval is None and contrast.row.cannot:
        more = " Ask more queries." if contrast.row.n == 1 else ""
        return (f"{_begun(contrast.row.cannot)}.{more}",)
    how_sure = []
    if contrast.interval is not None:
        how_sure.append(f"95 % interval {span(contrast.interval, sign=True)}")
    if contrast.p is not None:
        how_sure.append(chance(contrast.p))
    first = (
        f"Against {other} the difference is {signed(contrast.difference)} "
        f"({', '.join(how_sure)}): better on {contrast.wins}, equal on "
        f"{contrast.ties}, worse on {contrast.losses} of "
        f"{counted(contrast.row.n, 'query', 'queries')}."
    )
    notes = tuple(f"{_begun(note)}." for note in contrast.row.notes)
    if contrast.certain or contrast.detectable is None:
        return first, *notes
    least = value(contrast.detectable)
    second = f"With these queries, a difference of {least} would be shown four times in five."
    return first, second, *notes


def _begun(sentence: str) -> str:
    """The sentence with a capital letter; names in it stay as they are."""
    return sentence[:1].upper() + sentence[1:]


def _listed(names: Sequence[str]) -> str:
    brief = [short(name, 60) for name in names]
    return brief[0] if len(brief) == 1 else f"{', '.join(brief[:-1])} and {brief[-1]}"
