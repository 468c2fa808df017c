"""Queries with the rankings of all systems side by side, and the targets each missed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.data import SECTION_SEPARATOR
from berryeval.reports.html.contrasts import describe_counts
from berryeval.reports.html.failures import (
    collect_failures,
    find_disagreements,
    sort_by_spread,
    sort_worst_first,
    values_by_query,
)
from berryeval.reports.html.standings import deciding_metric, find_answering, order_systems
from berryeval.reports.html.svg import SYSTEMS, WIDTH, ZERO, Figure, sample_evenly
from berryeval.reports.html.typography import Cut, cut, shorten, signed
from berryeval.reports.sections import collect_texts, find_highest_grade

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from berryeval.data import Query
    from berryeval.reports.html.contrasts import Contrast
    from berryeval.reports.sections import Section, System
    from berryeval.runs import AnswerRecord, HitRecord


# Choosing queries for a page of limited size.


def choose_queries(section: Section, limit: int) -> set[str]:
    """Choose queries to show: all that the page names, then the worst of each system in turn."""
    metric = deciding_metric(section)
    systems = find_answering(section, metric) if metric else []
    chosen = {query.id for one in collect_failures(section) for query, _ in one.worst}
    chosen |= {one.query.id for one in find_disagreements(section)}
    orders = [[query.id for query, _ in sort_worst_first(section, one, metric)] for one in systems]
    orders.append([query.id for query, _, _ in sort_by_spread(section, systems, metric)])
    orders.append([] if systems else [query.id for query in section.queries])
    for query in chain.from_iterable(zip_longest(*orders)):
        if len(chosen) >= limit:
            break
        if query is not None:
            chosen.add(query)
    return chosen


HITS: Final = 10  # shown in full; below them only relevant hits
QUERY_CHARACTERS: Final = 2_000
PASSAGE_CHARACTERS: Final = 130
NAME_CHARACTERS: Final = 90
ERROR_CHARACTERS: Final = 120  # the section on failures shows more
MISSED: Final = 8
MOST_WANTED: Final = 8
EXPANDED_CHARACTERS: Final = 300  # of a passage that is unfolded
SHADES: Final = 3
MOST_GRADES: Final = 5  # in the legend
MOST_QUERIES: Final = 200
MOST_HITS: Final = 8_000


@dataclass(frozen=True)
class HitView:
    """A line of a ranking; `shade` is 0 (not relevant) to 3 (highest grade).

    `rest` continues the `passage` where that is cut.
    """

    rank: int
    name: str
    id: str
    score: str
    grade: str
    shade: int
    again: bool
    passage: str
    rest: str


@dataclass(frozen=True)
class Ranking:
    """The answer of one system; `more` hits are not shown, `more_relevant` of them relevant."""

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
    answer: str


@dataclass(frozen=True)
class WantedView:
    """A relevant target: its text if known, and its rank for each system (None: not found)."""

    name: str
    grade: str
    shade: int
    text: str
    rest: str
    ranks: tuple[tuple[int, str, int | None], ...]


@dataclass(frozen=True)
class QueryView:
    """A query; `number` is its place in the section, used in links."""

    number: int
    id: str
    title: str
    text: Cut
    labels: tuple[str, ...]
    description: str
    expected: str
    wanted: tuple[WantedView, ...]
    wanted_more: int
    rankings: tuple[Ranking, ...]


@dataclass(frozen=True)
class QueryViews:
    """The queries shown, and the number of queries left out."""

    shown: tuple[QueryView, ...]
    left_out: int

    @property
    def grades(self) -> tuple[tuple[str, int], ...]:
        """Grades of the relevant hits shown, highest first, with their shades."""
        found = {(float(one.grade), one.shade): None for one in self._hits if one.shade}
        most = sorted(found, reverse=True)
        if len(most) > MOST_GRADES:  # highest, middle and lowest
            most = [most[0], most[len(most) // 2], most[-1]]
        return tuple((f"{grade:g}", shade) for grade, shade in most)

    @property
    def signs(self) -> frozenset[str]:
        """Other marks shown: "0", "?" and "repeat"."""
        grades = {one.grade for one in self._hits if not one.shade}
        return frozenset(grades | ({"repeat"} if any(one.again for one in self._hits) else set()))

    @cached_property
    def _hits(self) -> tuple[HitView, ...]:
        rankings = [one for query in self.shown for one in query.rankings]
        return tuple(hit for one in rankings for hit in (*one.hits, *one.deeper))

    @property
    def numbers(self) -> frozenset[int]:
        """Places of the queries shown."""
        return frozenset(one.number for one in self.shown)


def view_queries(section: Section) -> QueryViews:
    """Return the queries to show; with many queries, those that `choose_queries` selects."""
    if not any(system.record.answers for system in section.systems):
        return QueryViews((), 0)
    lines = len(section.queries) * sum(
        min(HITS, system.answers.most_hits) for system in section.systems
    )
    queries = list(enumerate(section.queries))
    if len(queries) > MOST_QUERIES or lines > MOST_HITS:
        per_query = max(1, lines // len(queries))
        chosen = choose_queries(section, min(MOST_QUERIES, max(10, MOST_HITS // per_query)))
        queries = [one for one in queries if one[1].id in chosen]
    metric = deciding_metric(section)
    columns = [
        _Column(system, system.place, values_by_query(system, metric))
        for system in order_systems(section)
    ]
    shown = _view_all(columns, queries)
    return QueryViews(shown, len(section.queries) - len(shown))


def view_pair(systems: Sequence[System], metric: str, queries: Sequence[str]) -> list[QueryView]:
    """Return those of these queries that a pair of systems answered, the first system left."""
    columns = [_Column(system, system.place, values_by_query(system, metric)) for system in systems]
    known = {query.id: query for system in systems for query in system.benchmark.queries}
    answered = [
        (number, known[query])
        for number, query in enumerate(queries)
        if query in known and any(system.find_answer(query) for system in systems)
    ]
    return list(_view_all(columns, answered))


class _Column(NamedTuple):
    """A system, its place in the section, and its values by query."""

    system: System
    place: int
    values: dict[str, float]


def _view_all(
    columns: Sequence[_Column], queries: Sequence[tuple[int, Query]]
) -> tuple[QueryView, ...]:
    systems = [column.system for column in columns]
    highest, texts = find_highest_grade(systems), collect_texts(systems)
    return tuple(_view_query(columns, texts, number, query, highest) for number, query in queries)


def _view_query(
    columns: Sequence[_Column],
    texts: Mapping[str, str],
    number: int,
    query: Query,
    highest: float,
) -> QueryView:
    answers = [(one, found) for one in columns if (found := one.system.find_answer(query.id))]
    expected = next((found.expected for _, found in answers if found.expected), "")
    wanted = _view_wanted(answers, texts, highest)
    return QueryView(
        number=number,
        id=shorten(query.id, NAME_CHARACTERS),
        title=shorten(query.text, 180),
        text=cut(query.text, QUERY_CHARACTERS),
        labels=tuple(shorten(one, 40) for one in (query.category, query.difficulty) if one),
        description=str(cut(query.description, QUERY_CHARACTERS)),
        expected=str(cut(expected, QUERY_CHARACTERS)),
        wanted=tuple(wanted[:MOST_WANTED]),
        wanted_more=max(0, len(wanted) - MOST_WANTED),
        rankings=tuple(_view_ranking(one, found, highest) for one, found in answers),
    )


@dataclass
class SharedTarget:
    """A relevant target, and the rank at which each system found it, by label (None: missed)."""

    name: str
    grade: float = 0.0
    text: str = ""
    ranks: dict[str, int | None] = field(default_factory=dict)


def collect_wanted(
    answers: Sequence[tuple[System, AnswerRecord]], texts: Mapping[str, str]
) -> list[SharedTarget]:
    """Return the targets that systems found or missed, highest grade first."""
    found: dict[str, SharedTarget] = {}
    for system, answer in answers:
        for one in answer.missed:
            target = found.setdefault(one.name, SharedTarget(one.name))
            target.grade = max(target.grade, one.grade)
            target.text = texts.get(one.name, "")
            target.ranks[system.label] = None
    for system, answer in answers:
        for name, grade, rank in _list_found(system, answer, found):
            target = found.setdefault(name, SharedTarget(name))
            target.grade = max(target.grade, grade)
            target.text = target.text or system.passage(answer.hits[rank - 1])
            if target.ranks.get(system.label) is None:
                target.ranks[system.label] = rank
    return sorted(found.values(), key=lambda one: -one.grade)


def _view_wanted(
    answers: Sequence[tuple[_Column, AnswerRecord]], texts: Mapping[str, str], highest: float
) -> list[WantedView]:
    systems = [(column.system, answer) for column, answer in answers]
    return [
        WantedView(
            shorten(one.name, NAME_CHARACTERS),
            f"{one.grade:g}",
            shade_grade(one.grade, highest),
            *_fold(drop_heading(one.text)),
            tuple(
                (system.place, system.label, one.ranks[system.label])
                for system, _ in systems
                if system.label in one.ranks
            ),
        )
        for one in collect_wanted(systems, texts)
    ]


def _list_found(
    system: System, answer: AnswerRecord, missed: Mapping[str, object]
) -> Iterator[tuple[str, float, int]]:
    """Yield the name, grade and rank of each target found, named as where it is missed.

    Without a list of targets, as with packs, the relevant hits stand for them.
    """
    for one in answer.found:
        if one.rank <= len(answer.hits):
            yield one.name, one.grade, one.rank
    for rank, hit in enumerate(() if answer.found else answer.hits, start=1):
        if (hit.grade or 0) > 0:
            name = system.name_of(hit)
            document = name.partition(SECTION_SEPARATOR)[0]
            names = (hit.id, hit.id.removesuffix("#"), name, document)
            yield next((one for one in names if one in missed), name), hit.grade or 0, rank


def _view_ranking(column: _Column, answer: AnswerRecord, highest: float) -> Ranking:
    system = column.system
    views = [_view_hit(system, rank, hit, highest) for rank, hit in enumerate(answer.hits, start=1)]
    below = [replace(one, passage="", rest="") for one in views[HITS:] if one.shade]
    missed = [(shorten(one.name, NAME_CHARACTERS), f"{one.grade:g}") for one in answer.missed]
    return Ranking(
        place=column.place,
        label=system.label,
        value=column.values.get(answer.query_id),
        outcome=answer.outcome,
        error=shorten(answer.error, ERROR_CHARACTERS),
        hits=tuple(views[:HITS]),
        deeper=tuple(below[:HITS]),
        more=max(0, len(views) - HITS - len(below[:HITS])),
        more_relevant=len(below[HITS:]),
        missed=tuple(missed[:MISSED]),
        missed_more=max(0, len(missed) - MISSED),
        found=sum(one.shade > 0 for one in views),
        answer=str(cut(answer.answer, QUERY_CHARACTERS)),
    )


def _view_hit(system: System, rank: int, hit: HitRecord, highest: float) -> HitView:
    name = _innermost_heading(system.name_of(hit), hit.id)
    passage, rest = _fold(_strip_heading(name, system.passage(hit)))
    return HitView(
        rank=rank,
        name=name,
        id=shorten(hit.id, NAME_CHARACTERS),
        score=f"{hit.score:.4g}",
        grade="?" if hit.grade is None else f"{hit.grade:g}",
        shade=shade_grade(hit.grade, highest),
        again=hit.again,
        passage=passage,
        rest=rest,
    )


def _fold(text: str) -> tuple[str, str]:
    """Return the beginning of a text and its continuation, which can be unfolded."""
    line = " ".join(text.split())
    shown = cut(line, PASSAGE_CHARACTERS).text
    return shown, str(cut(line[len(shown) :], EXPANDED_CHARACTERS - PASSAGE_CHARACTERS))


def _innermost_heading(name: str, identifier: str) -> str:
    """Return the innermost heading above the hit, unless the id contains it."""
    found = name.rpartition(SECTION_SEPARATOR)[2]
    return "" if found == identifier.removesuffix("#") else shorten(found, NAME_CHARACTERS)


def _strip_heading(heading: str, passage: str) -> str:
    rest = passage.lstrip("# ")
    return rest[len(heading) :] if heading and rest.startswith(f"{heading}\n") else passage


def drop_heading(passage: str) -> str:
    """Return a passage without the Markdown heading that it begins with, unless that is all."""
    first, _, rest = passage.lstrip().partition("\n")
    return rest if first.startswith("#") and rest.strip() else passage


def shade_grade(grade: float | None, highest: float) -> int:
    """Return the shade of a grade: 0 if not relevant, 3 for the highest."""
    if grade is None or grade <= 0:
        return 0
    return max(1, min(SHADES, round(SHADES * grade / highest)))


# The chart of differences by query, from the largest gain to the largest loss.

LEAST_BARS: Final = 2
MOST_BARS: Final = 400
MANY_BARS: Final = 150  # from here on without gaps


def draw_differences(contrast: Contrast, best_place: int, metric: str) -> Figure | None:
    """Draw the differences of a contrast; None with one query or without differences."""
    values = sorted(contrast.by_query.values(), reverse=True)
    if len(values) < LEAST_BARS or not any(values):
        return None
    shown = sample_evenly(values, MOST_BARS)
    sides = (name_side(contrast.best), name_side(contrast.other))
    data = [
        {"place": place, "difference": one, "side": sides[one < 0]}
        for place, one in enumerate(shown)
    ]  # fmt: skip
    count = len(SYSTEMS)
    other = contrast.place + ((best_place - contrast.place) % count == 0)  # never the same color
    colors = [SYSTEMS[place % count].light for place in (best_place, other)]
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
                        "scale": {"domain": list(sides), "range": colors},
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
    queries = len(values)
    sample = (
        "" if len(shown) == len(values) else f" {len(shown)} of them, evenly spaced, are drawn."
    )
    return Figure(
        spec,
        f"{contrast.best} against {contrast.other}, one bar per query ({len(values):,}), sorted."
        + sample,
        f"Sorted bars of the difference in {metric} between {contrast.best} and {contrast.other}: "
        f"from {signed(values[0])} to {signed(values[-1])}; {describe_counts(contrast, queries)}.",
    )


def name_side(label: str) -> str:
    """Return the legend of the bars on one side."""
    return f"{label} is better"
