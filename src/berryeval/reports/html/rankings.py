"""A query with the rankings of all systems side by side, and what each of them missed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import counted
from berryeval.data import SECTION_SEPARATOR
from berryeval.reports.html.failures import (
    by_spread,
    disagreements_of,
    failing_of,
    values_by_query,
    worst_first,
)
from berryeval.reports.html.standings import answering, deciding_metric, ordered
from berryeval.reports.html.svg import SYSTEMS, WIDTH, ZERO, Figure
from berryeval.reports.html.words import Cut, cut, short, signed

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.reports.html.certainty import Contrast
    from berryeval.reports.report import Section, System
    from berryeval.runs import AnswerRecord, HitRecord


# Which queries are shown where there are too many for a page.


def most_telling(section: Section, limit: int) -> set[str]:
    """Every query that the page speaks of, then in turns the next worst of every system.

    Those on which systems differ most take their turn too. There are more than the limit only if
    the page speaks of more.
    """
    metric = deciding_metric(section)
    systems = answering(section, metric) if metric else []
    chosen = {query.id for one in failing_of(section) for query, _ in one.worst}
    chosen |= {one.query.id for one in disagreements_of(section)}
    orders = [[query.id for query, _ in worst_first(section, one, metric)] for one in systems]
    orders.append([query.id for query, _, _ in by_spread(section, systems, metric)])
    orders.append([] if systems else [query.id for query in section.queries])
    for query in chain.from_iterable(zip_longest(*orders)):
        if len(chosen) >= limit:
            break
        if query is not None:
            chosen.add(query)
    return chosen


HITS: Final = 10  # shown in full; below them only what is relevant
QUERY_CHARACTERS: Final = 2_000
PASSAGE_CHARACTERS: Final = 130
NAME_CHARACTERS: Final = 90
ERROR_CHARACTERS: Final = 120  # the whole stands where the page says how each fails
MISSED: Final = 8
SHADES: Final = 3
MOST_GRADES: Final = 5  # in the legend
MOST_QUERIES: Final = 200
MOST_HITS: Final = 8_000


@dataclass(frozen=True)
class HitView:
    """A line of a ranking. `shade` is 0 for not relevant up to 3 for the best there is."""

    rank: int
    name: str
    id: str
    score: str
    grade: str
    shade: int
    again: bool
    passage: str


@dataclass(frozen=True)
class Ranking:
    """What one system answered. `more` hits are not shown, `more_relevant` of them relevant."""

    place: int
    label: str
    value: float | None
    outcome: str
    error: str
    hits: tuple[HitView, ...]
    deeper: tuple[HitView, ...]
    more: int
    more_relevant: int
    missed: tuple[tuple[str, str], ...]
    missed_more: int
    found: int


@dataclass(frozen=True)
class QueryView:
    """A query: `number` is its place in the section, by which others link to it."""

    number: int
    id: str
    title: str
    text: Cut
    labels: tuple[str, ...]
    description: str
    expected: str
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True)
class QueryViews:
    """The queries that are shown, and how many are not."""

    shown: tuple[QueryView, ...]
    left_out: int

    @property
    def grades(self) -> tuple[tuple[str, int], ...]:
        """The grades of relevant hits that are there to be seen, the highest first, with shades."""
        found = {(float(one.grade), one.shade): None for one in self._hits if one.shade}
        most = sorted(found, reverse=True)
        if len(most) > MOST_GRADES:  # those at the ends, and one between
            most = [most[0], most[len(most) // 2], most[-1]]
        return tuple((f"{grade:g}", shade) for grade, shade in most)

    @property
    def signs(self) -> frozenset[str]:
        """What else there is to be seen: "0", "?" and "repeat"."""
        grades = {one.grade for one in self._hits if not one.shade}
        return frozenset(grades | ({"repeat"} if any(one.again for one in self._hits) else set()))

    @cached_property
    def _hits(self) -> tuple[HitView, ...]:
        rankings = [one for query in self.shown for one in query.rankings]
        return tuple(hit for one in rankings for hit in (*one.hits, *one.deeper))

    @property
    def numbers(self) -> frozenset[int]:
        """The places of the shown ones."""
        return frozenset(one.number for one in self.shown)


def queries_of(section: Section) -> QueryViews:
    """All queries; of very many those that are worst for a system or on which systems differ."""
    if not any(system.record.answers for system in section.systems):
        return QueryViews((), 0)
    lines = len(section.queries) * sum(
        min(HITS, max((len(one.hits) for one in system.record.answers), default=0))
        for system in section.systems
    )
    queries = list(enumerate(section.queries))
    if len(queries) > MOST_QUERIES or lines > MOST_HITS:
        per_query = max(1, lines // len(queries))
        chosen = most_telling(section, min(MOST_QUERIES, max(10, MOST_HITS // per_query)))
        queries = [one for one in queries if one[1].id in chosen]
    highest = _highest_grade(section)
    shown = tuple(_query(section, number, query, highest) for number, query in queries)
    return QueryViews(shown, len(section.queries) - len(shown))


def _highest_grade(section: Section) -> float:
    """The highest grade of the section: what the deepest shade means."""
    grades = (
        grade
        for system in section.systems
        for answer in system.record.answers
        for grade in (
            *(hit.grade for hit in answer.hits if hit.grade is not None),
            *(target.grade for target in answer.missed),
        )
    )
    return max(grades, default=1.0)


def _query(section: Section, number: int, query: Query, highest: float) -> QueryView:
    metric = deciding_metric(section)
    place = {system.label: place for place, system in enumerate(section.systems)}
    rankings = tuple(
        _ranking(system, place[system.label], query.id, values_by_query(system, metric), highest)
        for system in ordered(section)
        if query.id in system.answers
    )
    answers = [system.answers[query.id] for system in section.systems if query.id in system.answers]
    expected = next((one.expected for one in answers if one.expected), "")
    return QueryView(
        number=number,
        id=short(query.id, NAME_CHARACTERS),
        title=short(query.text, 180),
        text=cut(query.text, QUERY_CHARACTERS),
        labels=tuple(short(one, 40) for one in (query.category, query.difficulty) if one),
        description=str(cut(query.description, QUERY_CHARACTERS)),
        expected=str(cut(expected, QUERY_CHARACTERS)),
        rankings=rankings,
    )


def _ranking(
    system: System, place: int, query: str, values: dict[str, float], highest: float
) -> Ranking:
    answer: AnswerRecord = system.answers[query]
    views = [_hit(system, rank, hit, highest) for rank, hit in enumerate(answer.hits, start=1)]
    below = [replace(one, passage="") for one in views[HITS:] if one.shade]
    missed = [(short(one.name, NAME_CHARACTERS), f"{one.grade:g}") for one in answer.missed]
    return Ranking(
        place=place,
        label=system.label,
        value=values.get(query),
        outcome=answer.outcome,
        error=short(answer.error, ERROR_CHARACTERS),
        hits=tuple(views[:HITS]),
        deeper=tuple(below[:HITS]),
        more=max(0, len(views) - HITS - len(below[:HITS])),
        more_relevant=len(below[HITS:]),
        missed=tuple(missed[:MISSED]),
        missed_more=max(0, len(missed) - MISSED),
        found=sum(one.shade > 0 for one in views),
    )


def _hit(system: System, rank: int, hit: HitRecord, highest: float) -> HitView:
    name = _heading(system.name_of(hit), hit.id)
    return HitView(
        rank=rank,
        name=name,
        id=short(hit.id, NAME_CHARACTERS),
        score=f"{hit.score:.4g}",
        grade="?" if hit.grade is None else f"{hit.grade:g}",
        shade=_shade(hit.grade, highest),
        again=hit.again,
        passage=short(_without(name, system.passage(hit)), PASSAGE_CHARACTERS),
    )


def _heading(name: str, identifier: str) -> str:
    """The innermost heading above the hit, where one is known: the id says the rest."""
    found = name.rpartition(SECTION_SEPARATOR)[2]
    return "" if found == identifier.removesuffix("#") else short(found, NAME_CHARACTERS)


def _without(heading: str, passage: str) -> str:
    """The passage without the heading that it begins with, which stands above it."""
    rest = passage.lstrip("# ")
    return rest[len(heading) :] if heading and rest.startswith(f"{heading}\n") else passage


def _shade(grade: float | None, highest: float) -> int:
    if grade is None or grade <= 0:
        return 0
    return max(1, min(SHADES, round(SHADES * grade / highest)))


# The difference of two systems, query by query, from the greatest gain to the greatest loss.

LEAST_BARS: Final = 2  # of one there is nothing to sort
MOST_BARS: Final = 400
MANY_BARS: Final = 150  # no gaps between so many


def difference_chart(contrast: Contrast, best_place: int, metric: str) -> Figure | None:
    """The chart of a comparison; None if there are not two queries, or if all are equal."""
    values = sorted(contrast.by_query.values(), reverse=True)
    if len(values) < LEAST_BARS or not any(values):
        return None
    shown = _spaced(values)
    sides = (side_of(contrast.best), side_of(contrast.other))
    data = [
        {"place": place, "difference": one, "side": sides[one < 0]}
        for place, one in enumerate(shown)
    ]  # fmt: skip
    colours = _colours(best_place, contrast.place)
    spec = {
        "width": WIDTH,
        "height": 190,
        "data": {"values": data},
        "layer": [
            {
                "mark": {"type": "bar"},
                "encoding": {
                    "x": {
                        "field": "place", "type": "ordinal", "axis": None,
                        "scale": {"paddingInner": 0.25 if len(shown) < MANY_BARS else 0.0},
                    },
                    "y": {
                        "field": "difference", "type": "quantitative",
                        "title": f"difference in {metric}",
                        "axis": {"format": "+.6~g", "tickCount": 5,
                                 "labelExpr": "datum.value == 0 ? '0' : datum.label"},
                    },
                    "color": {
                        "field": "side", "type": "nominal",
                        "scale": {"domain": list(sides), "range": colours},
                        "legend": {"orient": "top", "title": None, "columns": 2,
                                   "labelLimit": 190, "columnPadding": 30},
                    },
                },
            },
            {
                "mark": {"type": "rule", "color": ZERO.light, "strokeWidth": 1},
                "encoding": {"y": {"datum": 0}},
            },
        ],
    }  # fmt: skip
    queries = counted(len(values), "query", "queries")
    sample = (
        "" if len(shown) == len(values) else f" {len(shown)} of them, evenly spaced, are drawn."
    )
    return Figure(
        spec,
        f"{contrast.best} against {contrast.other}, one bar per query ({len(values):,}), sorted."
        + sample,
        f"Sorted bars of the difference in {metric} between {contrast.best} and {contrast.other}: "
        f"from {signed(values[0])} to {signed(values[-1])}; better on {contrast.wins}, equal on "
        f"{contrast.ties}, worse on {contrast.losses} of {queries}.",
    )


def _colours(best: int, other: int) -> list[str]:
    """Those of both systems; another for the second where they have the same."""
    count = len(SYSTEMS)
    second = other + 1 if (best - other) % count == 0 else other
    return [SYSTEMS[place % count].light for place in (best, second)]


def side_of(label: str) -> str:
    """What the bars of one side say."""
    return f"{label} is better"


def _spaced(values: list[float]) -> list[float]:
    if len(values) <= MOST_BARS:
        return values
    step = (len(values) - 1) / (MOST_BARS - 1)
    return [values[round(place * step)] for place in range(MOST_BARS)]
