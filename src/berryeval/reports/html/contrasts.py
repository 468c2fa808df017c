"""Contrasts: the best system against every other, query by query, with significance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.aggregates import Interval
from berryeval._internal.text import pluralize
from berryeval.metrics import gain_sign
from berryeval.reports.html.standings import rank_systems
from berryeval.reports.html.svg import WIDTH, ZERO, Figure, hues, interval_layers
from berryeval.reports.html.typography import chance, join_names, shorten, signed, span, value

if TYPE_CHECKING:
    from berryeval.reports.sections import Outcomes, Section, System
    from berryeval.stats import PairedDifference


_ROUNDING: Final = 1e-12


@dataclass(frozen=True)
class Contrast:
    """The best system and another; `by_query` is positive where the best is better."""

    best: str
    other: str
    place: int
    by_query: dict[str, float]
    sign: int
    row: PairedDifference | None
    outcomes: Outcomes

    @property
    def _turn(self) -> int:
        """1 if a positive difference of the row favors the best, else -1."""
        return self.sign if self.row is not None and self.row.system == self.best else -self.sign

    @property
    def difference(self) -> float | None:
        """Advantage of the best."""
        return None if self.row is None else self._turn * self.row.difference

    @property
    def interval(self) -> Interval | None:
        """Confidence interval of the difference; None if unknown or a single point."""
        if self.row is None or self.row.interval is None:
            return None
        low, high = sorted(self._turn * end for end in self.row.interval)
        return Interval(low, high) if low < high else None

    @property
    def p(self) -> float | None:
        """Corrected p-value."""
        return None if self.row is None else self.row.p_corrected

    @property
    def raw(self) -> float | None:
        """p-value before the correction."""
        return None if self.row is None else self.row.p

    @property
    def certain(self) -> bool:
        """Whether the best is significantly better."""
        return self.row is not None and self.row.shown and (self.difference or 0) > 0

    @property
    def equal(self) -> bool:
        """Whether both have the same value, up to rounding."""
        return self.difference is not None and abs(self.difference) < _ROUNDING

    @property
    def significance(self) -> str:
        """Whether the lead is significant, in a word or two."""
        if self.outcomes.failed:
            return f"no: failed on {self.outcomes.failed:,}"
        if self.equal:
            return "no: tied"
        return "yes" if self.certain else "no"

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of queries on which the best is better, equal and worse."""
        if self.row is None:
            return 0, 0, 0
        counts = self.row.wins, self.row.ties, self.row.losses
        return counts if self._turn > 0 else counts[::-1]


def build_contrasts(section: Section, metric: str) -> tuple[Contrast, ...]:
    """Compare the best system with every other, the runner-up first.

    The rows are those of all pairs, as in every other format: the best system is known only from
    the data, so the correction must cover every system that could have been best.
    """
    order = rank_systems(section, metric)
    if not order:
        return ()
    best, *others = order
    rows = {frozenset((row.baseline, row.system)): row for row in section.differences(metric)}
    sign = gain_sign(metric)
    return tuple(
        Contrast(
            best.label,
            other.label,
            other.place,
            _subtract(best, other, metric, sign),
            sign,
            rows.get(frozenset((best.label, other.label))),
            other.outcomes,
        )
        for other in others
    )


def _subtract(best: System, other: System, metric: str, sign: int) -> dict[str, float]:
    ours, theirs = (
        {} if one.scores is None else one.scores.per_query(metric) for one in (best, other)
    )
    return {query: sign * (ours[query] - theirs[query]) for query in ours if query in theirs}


# Sentences.


def describe_ties(equals: Sequence[Contrast]) -> tuple[str, ...]:
    """Describe the systems that are tied with the best: on every query, or on average."""
    same: dict[int, list[str]] = {}
    found = []
    for one in equals:
        queries = 0 if one.row is None else one.row.n
        if one.counts[1] == queries:
            same.setdefault(queries, []).append(one.other)
        else:
            counts = describe_counts(one, queries)
            found.append(f"Its mean equals that of {shorten(one.other, 60)}: {counts}.")
    equal = []
    for queries, names in same.items():
        shared = "the only query" if queries == 1 else f"all {queries:,} queries"
        equal.append(f"It equals {join_names(names)} on {shared}.")
    return (*equal, *found)


def describe_counts(contrast: Contrast, queries: int) -> str:
    """Say on how many queries the best is better, equal and worse."""
    wins, ties, losses = contrast.counts
    count = pluralize(queries, "query")
    return f"better on {wins}, equal on {ties}, worse on {losses} of {count}"


def describe_lead(contrast: Contrast) -> tuple[str, ...]:
    """Describe the lead over the runner-up, and the power of the test if it is not significant."""
    other = shorten(contrast.other, 60)
    if contrast.row is None:
        return (f"It shares no query with {other}, so the two cannot be compared.",)
    if contrast.interval is None and contrast.row.cannot:
        more = " Add more queries." if contrast.row.n == 1 else ""
        return (f"{_capitalize(contrast.row.cannot)}.{more}",)
    evidence = []
    if contrast.interval is not None:
        evidence.append(f"95 % confidence interval {span(contrast.interval, sign=True)}")
    if contrast.p is not None:
        evidence.append(chance(contrast.p))
    detail = f" ({', '.join(evidence)})" if evidence else ""
    first = (
        f"Its lead over {other} is {signed(contrast.difference)}{detail}: "
        f"{describe_counts(contrast, contrast.row.n)}."
    )
    notes = tuple(f"{_capitalize(note)}." for note in contrast.row.notes)
    if contrast.certain or contrast.row.detectable is None:
        return first, *notes
    queries = pluralize(contrast.row.n, "query")
    least = value(contrast.row.detectable)
    return first, f"With {queries} the test has 80 % power for a difference of {least}.", *notes


def _capitalize(sentence: str) -> str:
    """Capitalize the first letter; names in the sentence keep theirs."""
    return sentence[:1].upper() + sentence[1:]


# The chart of leads.

_WIDTH = 230  # beside the verdict


def draw_leads(
    contrasts: Sequence[Contrast], places: Mapping[str, int], metric: str
) -> Figure | None:
    """Draw the leads that have an interval, over systems that answered most of their queries."""
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
    leads = "; ".join(
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
        _build_spec(data, places),
        f"Lead of {best} in {metric}, with 95 % confidence intervals; the line marks no difference."
        f"{alone}",
        f"Lead of {best} in {metric} over each other provider, with 95 % confidence interval: "
        f"{leads}.",
    )


def draw_differences_of(
    rows: Sequence[tuple[str, PairedDifference]], places: Mapping[str, int], by: str = ""
) -> Figure | None:
    """Draw the differences of two systems that have an interval, each with its name.

    Fractions and counts do not share an axis: differences beyond 1 are drawn only if all are.
    """
    known = [(name, row, row.interval) for name, row in rows if row.interval is not None]
    small = [one for one in known if max(map(abs, one[2])) <= 1]
    shown = small or known
    if not shown:
        return None
    data = [
        {"name": name, "system": row.system, "difference": row.difference, "low": ends.low,
         "high": ends.high}
        for name, row, ends in shown
    ]  # fmt: skip
    row = shown[0][1]
    ends = f"{100 * row.level:g} % confidence interval"
    subject = f"{row.metric} by {by}: difference" if by else "Difference"
    pair = f"{subject} of {row.system} to {row.baseline}"
    others = [name for name, _ in rows if name not in {one[0] for one in shown}]
    left_out = (
        f" {join_names(others)} {'is' if len(others) == 1 else 'are'} not drawn." if others else ""
    )
    words = "; ".join(
        f"{name}: {signed(one.difference)} ({span(interval, sign=True)})"
        for name, one, interval in shown
    )
    return Figure(
        _build_spec(data, places, "name") | {"width": WIDTH if by else _WIDTH},
        f"{pair}, with {ends}s; the line marks no difference.{left_out}",
        f"{pair} with {ends}. {words}.",
    )


def _build_spec(
    data: list[dict[str, Any]], places: Mapping[str, int], name: str = "system"
) -> dict[str, Any]:
    x = {
        "type": "quantitative", "title": None,
        "axis": {"tickCount": 3, "format": "+.6~g",
                 "labelExpr": "datum.value == 0 ? '0' : datum.label"},
    }  # fmt: skip
    y = {
        "field": name, "type": "nominal", "sort": None, "title": None,
        "axis": {"ticks": False, "domain": False, "labelPadding": 8, "grid": False},
    }  # fmt: skip
    hue = {"field": "system", "scale": hues(places), "legend": None}
    return {
        "width": _WIDTH,
        "height": {"step": 30},
        "data": {"values": data},
        "layer": [
            {
                "mark": {"type": "rule", "color": ZERO.light, "strokeWidth": 1.5},
                "encoding": {"x": {"datum": 0}},
            },
            *interval_layers(
                "x", x, places, value="difference", size=70, shared={"y": y, "color": hue}
            ),
        ],
    }
