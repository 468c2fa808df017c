"""Which system is best, and is that significant? It is compared with every other by query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.intervals import Interval
from berryeval._internal.text import counted
from berryeval.metrics import direction_of
from berryeval.reports.html.standings import outcomes_of, ranked
from berryeval.reports.html.svg import ZERO, Figure, hues, shapes
from berryeval.reports.html.words import chance, short, signed, span, value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.html.standings import Outcomes
    from berryeval.reports.report import Section, System
    from berryeval.stats import PairedDifference


_ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class Contrast:
    """The best system and another, on the queries that both answered.

    Attributes:
        best: the label of the best.
        other: the label of the other.
        place: of the other among the systems of the section.
        by_query: by how much the best is better, for every query that both have: positive,
            whichever way the metric counts.
        sign: 1 if more is better, -1 if less is.
        row: what the statistics say; None if the two cannot be compared at all.
        outcomes: what became of the queries of the other.
    """

    best: str
    other: str
    place: int
    by_query: dict[str, float]
    sign: int
    row: PairedDifference | None
    outcomes: Outcomes

    @property
    def _turn(self) -> int:
        """1 if the row says by how much the best is better, -1 if it says how much worse."""
        return self.sign if self.row is not None and self.row.system == self.best else -self.sign

    @property
    def difference(self) -> float | None:
        """By how much the best is better."""
        return None if self.row is None else self._turn * self.row.difference

    @property
    def interval(self) -> Interval | None:
        """Of the difference; None where it cannot be said, or nothing differs."""
        if self.row is None or self.row.interval is None:
            return None
        low, high = sorted(self._turn * end for end in self.row.interval)
        return Interval(low, high) if low < high else None

    @property
    def p(self) -> float | None:
        """How often chance alone would do as much, corrected for how many are compared."""
        return None if self.row is None else self.row.p_corrected

    @property
    def certain(self) -> bool:
        """Whether the best is shown to be better."""
        return self.row is not None and self.row.shown and (self.difference or 0) > 0

    @property
    def equal(self) -> bool:
        """Whether both reach the same value, but for what rounding leaves."""
        return self.difference is not None and abs(self.difference) < _ROUNDING

    @property
    def told_apart(self) -> str:
        """What can be said of the two, in a word or two."""
        if self.outcomes.failed:
            return f"no: failed on {self.outcomes.failed:,}"
        if self.equal:
            return "no: equal"
        return "yes" if self.certain else "no"

    @property
    def detectable(self) -> float | None:
        """Which difference these queries would show four times in five."""
        return None if self.row is None else self.row.detectable

    @property
    def wins(self) -> int:
        """In how many queries the best is better."""
        if self.row is None:
            return 0
        return self.row.wins if self._turn > 0 else self.row.losses

    @property
    def ties(self) -> int:
        """In how many queries both are equal."""
        return 0 if self.row is None else self.row.ties

    @property
    def losses(self) -> int:
        """In how many queries the other is better."""
        if self.row is None:
            return 0
        return self.row.losses if self._turn > 0 else self.row.wins


def contrasts_of(section: Section, metric: str) -> tuple[Contrast, ...]:
    """The best system against every other, the runner-up first.

    The rows are those of every two systems, as in all other formats: who is best is known only
    after looking, so the correction must be for all that might have been.
    """
    order = ranked(section, metric)
    if not order:
        return ()
    best, *others = order
    rows = {frozenset((row.baseline, row.system)): row for row in section.differences(metric)}
    sign = -1 if direction_of(metric) == "down" else 1
    return tuple(
        Contrast(
            best.label,
            other.label,
            section.systems.index(other),
            _by_query(best, other, metric, sign),
            sign,
            rows.get(frozenset((best.label, other.label))),
            outcomes_of(other),
        )
        for other in others
    )


def _by_query(best: System, other: System, metric: str, sign: int) -> dict[str, float]:
    ours, theirs = (
        {} if one.scores is None else one.scores.per_query(metric) for one in (best, other)
    )
    return {query: sign * (ours[query] - theirs[query]) for query in ours if query in theirs}


# How far the best is ahead of another, in sentences.


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


# The lead of the best over every other, with its interval and a line where there is none.

_WIDTH = 230  # it stands beside the verdict


def lead_chart(contrasts: Sequence[Contrast], labels: Sequence[str], metric: str) -> Figure | None:
    """The chart of all that have an interval, and answered most of their queries."""
    known = [
        (one, one.interval)
        for one in contrasts
        if one.interval is not None and one.outcomes.telling
    ]
    if all(one.equal for one, _ in known):
        return None
    data = [
        {"system": one.other, "difference": one.difference, "low": low, "high": high}
        for one, (low, high) in known
    ]
    words = "; ".join(
        f"{one.other} {signed(one.difference)} ({span(interval, sign=True)})"
        for one, interval in known
    )
    best = known[0][0].best
    compared = max(one.row.comparisons for one, _ in known if one.row is not None)
    alone = (
        f" Each interval is for its pair alone; p is corrected for {compared} comparisons."
        if compared > 1
        else ""
    )
    return Figure(
        _spec(data, labels),
        f"How far {best} is ahead in {metric}, with 95 % intervals; at the line there is no lead."
        f"{alone}",
        f"The lead of {best} in {metric} over each other provider, with 95 % interval: {words}.",
    )


def _spec(data: list[dict[str, Any]], labels: Sequence[str]) -> dict[str, Any]:
    x = {
        "type": "quantitative", "title": None,
        "axis": {"tickCount": 3, "format": "+.6~g",
                 "labelExpr": "datum.value == 0 ? '0' : datum.label"},
    }  # fmt: skip
    y = {
        "field": "system", "type": "nominal", "sort": None, "title": None,
        "axis": {"ticks": False, "domain": False, "labelPadding": 8, "grid": False},
    }  # fmt: skip
    hue = {"field": "system", "scale": hues(labels), "legend": None}
    return {
        "width": _WIDTH,
        "height": {"step": 30},
        "data": {"values": data},
        "layer": [
            {
                "mark": {"type": "rule", "color": ZERO.light, "strokeWidth": 1.5},
                "encoding": {"x": {"datum": 0}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.55},
                "encoding": {
                    "y": y, "color": hue, "x": {"field": "low", **x}, "x2": {"field": "high"},
                },
            },
            {
                "mark": {"type": "point", "filled": True, "size": 70, "opacity": 1},
                "encoding": {
                    "y": y, "color": hue, "x": {"field": "difference", **x},
                    "shape": {"field": "system", "scale": shapes(labels), "legend": None},
                },
            },
        ],
    }  # fmt: skip
