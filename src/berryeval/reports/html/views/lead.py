"""How far the best is ahead of another, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.reports.html.numbers import chance, counted, signed, span, value
from berryeval.reports.html.text import short

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.html.views.certainty import Contrast

__all__ = ["equal_words", "lead_words", "listed"]


def equal_words(equals: Sequence[Contrast]) -> tuple[str, ...]:
    """How equal those are that share the first place."""
    same: dict[int, list[str]] = {}
    found = []
    for one in equals:
        queries = 0 if one.row is None else one.row.n
        if one.ties == queries:
            same.setdefault(queries, []).append(one.other)
        else:
            found.append(_balanced(one, queries))
    return (*(_same(names, queries) for queries, names in same.items()), *found)


def _same(names: Sequence[str], queries: int) -> str:
    shared = "the one query" if queries == 1 else f"all of {queries:,} queries"
    return f"Query by query it is equal to {listed(names)}, on {shared}."


def _balanced(contrast: Contrast, queries: int) -> str:
    return (
        f"Its mean is that of {short(contrast.other, 60)}: better on {contrast.wins}, "
        f"equal on {contrast.ties}, worse on {contrast.losses} of "
        f"{counted(queries, 'query', 'queries')}."
    )


def lead_words(contrast: Contrast) -> tuple[str, ...]:
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
    sure = f" ({', '.join(how_sure)})" if how_sure else ""
    first = (
        f"Against {other} the difference is {signed(contrast.difference)}{sure}: better on "
        f"{contrast.wins}, equal on {contrast.ties}, worse on {contrast.losses} of "
        f"{counted(contrast.row.n, 'query', 'queries')}."
    )
    notes = tuple(f"{_begun(note)}." for note in contrast.row.notes)
    if contrast.certain or contrast.detectable is None:
        return first, *notes
    least = value(contrast.detectable)
    second = f"With these queries, a difference of {least} would be shown four times in five."
    return first, second, *notes


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: "a, b and c"."""
    brief = [short(name, 60) for name in names]
    return brief[0] if len(brief) == 1 else f"{', '.join(brief[:-1])} and {brief[-1]}"


def _begun(sentence: str) -> str:
    """The sentence with a capital letter; names in it stay as they are."""
    return sentence[:1].upper() + sentence[1:]
