"""`Report`: the input of every exporter, run records arranged in one section per benchmark."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Final, cast

from berryeval._internal.text import pluralize
from berryeval.errors import BerryEvalError
from berryeval.runs import describe_depth, group_queries

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.gates import Verdict
    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.runs import (
        AnswerColumns,
        AnswerRecord,
        Asked,
        BenchmarkRecord,
        HitRecord,
        ProviderRecord,
        RunRecord,
    )
    from berryeval.scoring import Scores
    from berryeval.stats import Comparison, PairedDifference


_CORRECTION: Final = "holm"
_HASH_CHARACTERS: Final = 15  # "sha256:" and eight digits


def _compare_pairs(tables: Mapping[str, Scores], metric: str) -> tuple[PairedDifference, ...]:
    """Compare every pair that shares the metric and a query, corrected for these pairs."""
    from berryeval.stats import compare, correct_p_values

    rows: list[PairedDifference] = []
    for (one, first), (other, second) in combinations(tables.items(), 2):
        if _is_comparable(first, second, metric):
            pair = {one: first, other: second}
            rows += compare(pair, metrics=[metric], correction=_CORRECTION).rows
    count = sum(row.p is not None for row in rows)
    found = correct_p_values([row.p for row in rows], _CORRECTION)
    return tuple(
        replace(row, p_corrected=p, comparisons=count) for row, p in zip(rows, found, strict=True)
    )


def _is_comparable(first: Scores, second: Scores, metric: str) -> bool:
    if metric not in first.metrics or metric not in second.metrics:
        return False
    aggregates = {scores.aggregates[scores.row_of(metric)] for scores in (first, second)}
    return len(aggregates) == 1 and not set(first.queries).isdisjoint(second.queries)


def _section_titles(parts: Sequence[BenchmarkRecord]) -> list[str]:
    """Return unique titles: "manual", or "manual (5 queries, 10 hits)" if a name repeats."""
    times = Counter(part.name for part in parts)
    titles = [
        f"{part.name} ({_describe_size(part)})" if times[part.name] > 1 else part.name
        for part in parts
    ]
    times = Counter(titles)
    for place, part in enumerate(parts):
        if times[titles[place]] > 1:
            brief = part.content_hash[:_HASH_CHARACTERS]
            titles[place] = f"{part.name} ({_describe_size(part)}, data {brief})"
    return _number_repeats(titles)  # equally many other queries of the same data


def _describe_size(part: BenchmarkRecord) -> str:
    return f"{pluralize(len(part.queries), 'query')}, {pluralize(part.k, 'hit', 'hits')}"


def _number_repeats(titles: Sequence[str]) -> list[str]:
    found: list[str] = []
    for title in titles:
        shown, number = title, 1
        while shown in found:
            number += 1
            shown = f"{title} #{number}"
        found.append(shown)
    return found


# Query outcomes.

_SHOWN_ERRORS: Final = 3


@dataclass(frozen=True)
class Outcomes:
    """Query outcomes of a system: `failed` ones have no answer, those of `kinds` no hits."""

    asked: int = 0
    failed: int = 0
    kinds: tuple[tuple[str, int], ...] = ()
    errors: tuple[tuple[str, int], ...] = ()
    more_errors: int = 0

    @property
    def answered(self) -> int:
        """Number of answered queries, empty answers included."""
        return self.asked - self.failed

    @property
    def silent(self) -> bool:
        """Whether no query was answered."""
        return self.asked > 0 and self.answered == 0

    @property
    def telling(self) -> bool:
        """Whether the scores are meaningful: more than half of the queries were answered."""
        return self.failed == 0 or self.answered > self.failed

    def sentence(self, name: str) -> str:
        """Describe the failures and their effect on the scores; empty without failures."""
        if not self.failed:
            return ""
        queries = pluralize(self.asked, "query")
        if self.silent:
            return f"{name} failed on all {queries}; its scores mean nothing."
        worth = "they count as unanswered" if self.telling else "its scores mean little"
        return f"{name} failed on {self.failed:,} of {queries}; {worth}."


@dataclass(frozen=True, eq=False)
class System:
    """A provider of a run: a row of tables.

    Attributes:
        label: Name, unique in its section: "bm25", or "bm25 (2026-11-15T…)" with several runs.
        run: Run of the provider.
        benchmark: Benchmark record within that run.
        record: Provider record within that benchmark.
        place: Number that sets the color and shape, the same on the whole page.
    """

    label: str
    run: RunRecord
    benchmark: BenchmarkRecord
    record: ProviderRecord
    place: int = 0

    @property
    def scores(self) -> Scores | None:
        """Scores by the requested metrics; None if the provider failed."""
        return self.record.scores

    @cached_property
    def outcomes(self) -> Outcomes:
        """Outcomes of the answers, or the stored counts of a record without answers."""
        from berryeval.runner import FAILED, NO_ANSWER  # late: it imports the providers

        found = self.summaries
        counts = Counter(one.outcome for one in found)
        if not found:
            counts = Counter({str(name): int(one) for name, one in self.record.outcomes.items()})
        errors = Counter(one.error for one in found if one.outcome in NO_ANSWER and one.error)
        wrong = (*FAILED, "empty", "missing")
        return Outcomes(
            asked=counts.total(),
            failed=sum(counts[name] for name in NO_ANSWER),
            kinds=tuple((name, counts[name]) for name in wrong if counts[name]),
            errors=tuple(errors.most_common(_SHOWN_ERRORS)),
            more_errors=max(0, len(errors) - _SHOWN_ERRORS),
        )

    @property
    def answers(self) -> AnswerColumns:
        """Answers; each access builds an answer with its hits anew."""
        return cast("AnswerColumns", self.record.answers)

    @cached_property
    def summaries(self) -> tuple[AnswerRecord, ...]:
        """Every answer without its hits and missed targets."""
        return tuple(self.answers.without_hits())

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """Error messages of the answers, each once."""
        return tuple(dict.fromkeys(one.error for one in self.summaries if one.error))

    @cached_property
    def _places(self) -> dict[str, int]:
        return {one.query_id: place for place, one in enumerate(self.summaries)}

    def find_answer(self, query: str) -> AnswerRecord | None:
        """Build the answer to a query with its hits; None if the query was not asked."""
        place = self._places.get(query)
        return None if place is None else self.answers[place]

    def __repr__(self) -> str:
        return f"System({self.label!r}, run {self.run.id!r})"

    def passage(self, hit: HitRecord) -> str:
        """Return the stored beginning of a hit's text."""
        return "" if hit.passage is None else self.benchmark.passages[hit.passage].text

    def name_of(self, hit: HitRecord) -> str:
        """Return a hit's document and headings if known, else its id."""
        named = "" if hit.passage is None else self.benchmark.passages[hit.passage].name
        return named or hit.id


def find_highest_grade(systems: Iterable[System]) -> float:
    """Return the highest grade of a hit or missed target; 1 without grades."""
    grades = (system.answers.highest_grade for system in systems)
    return max((grade for grade in grades if grade is not None), default=1.0)


def collect_texts(systems: Iterable[System]) -> dict[str, str]:
    """Return the beginnings of the texts of hits and missed targets, by name."""
    parts = {id(system.benchmark): system.benchmark for system in systems}
    return {one.name: one.text for part in parts.values() for one in part.passages}


@dataclass(frozen=True, eq=False)
class Section:
    """One benchmark: systems that answered the same queries on the same data.

    Attributes:
        name: Benchmark name.
        title: Benchmark name, extended if several sections share it.
        asked: Data hash, queries and number of hits, the same for all systems.
        queries: Queries.
        systems: Systems, one per provider and run.
    """

    name: str
    title: str
    asked: Asked
    queries: tuple[Query, ...]
    systems: tuple[System, ...]

    @property
    def scored(self) -> tuple[System, ...]:
        """Systems with scores."""
        return tuple(system for system in self.systems if system.scores is not None)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics of all systems, in order of first appearance."""
        names = (name for system in self.systems if system.scores for name in system.scores.metrics)
        return tuple(dict.fromkeys(names))

    @cached_property
    def comparison(self) -> Comparison | None:
        """Comparison of every pair of systems by shared metrics; None if not possible."""
        tables = {system.label: system.scores for system in self.systems if system.scores}
        if len(tables) < 2:  # noqa: PLR2004 - a pair
            return None
        from berryeval.stats import compare

        try:
            return compare(tables)
        except BerryEvalError:  # no shared query or metric
            return None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on all values of the section."""
        return tuple(filter(None, [describe_depth(self.asked.k, self.metrics)]))

    def __repr__(self) -> str:
        labels = "".join(f", {system.label!r}" for system in self.systems)
        return f"Section({self.title!r}, {pluralize(len(self.queries), 'query')}{labels})"

    def differences(self, metric: str) -> tuple[PairedDifference, ...]:
        """Return the differences of every comparable pair by one metric."""
        found = self.comparison
        if found is not None and metric in found.metrics:
            return tuple(row for row in found.rows if row.metric == metric)
        return _compare_pairs({one.label: one.scores for one in self.scored if one.scores}, metric)

    def groups(self, by: str) -> dict[str, str]:
        """Return the category or difficulty of each query that has one."""
        return group_queries(self.queries, by)


@dataclass(frozen=True, eq=False)
class Report:
    """One or more runs, to be displayed or exported.

    Attributes:
        title: Title.
        runs: Run records.
        sections: One per benchmark; different data, queries or number of hits make another one.
        verdicts: Verdicts of a gate, if requested.
        compared: Comparisons, if requested.
        note: Note on all verdicts.
        strict: Whether inconclusive verdicts fail the gate.
        systems: Records of the compared systems, by benchmark and by the names of the comparison.
    """

    title: str
    runs: tuple[RunRecord, ...]
    sections: tuple[Section, ...]
    verdicts: tuple[Verdict, ...] = ()
    compared: tuple[ComparedBenchmark, ...] = ()
    note: str = ""
    strict: bool = False
    systems: Mapping[str, Mapping[str, ProviderRecord]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        runs: Sequence[RunRecord],
        *,
        title: str = "",
        verdicts: Iterable[Verdict] = (),
        compared: Iterable[ComparedBenchmark] = (),
        note: str = "",
        strict: bool = False,
        by_name: bool = False,
    ) -> Report:
        """Build the report of these runs.

        With `by_name`, a section has all runs of a benchmark, even if its data, its queries or the
        number of hits changed; its queries are those of any run, as the last one asked them.
        """
        parts: dict[tuple[str, Asked | None], list[tuple[RunRecord, BenchmarkRecord]]] = {}
        for run in runs:
            for part in run.benchmarks:
                key = (part.name, None if by_name else part.asked)
                parts.setdefault(key, []).append((run, part))
        titles = _section_titles([found[0][1] for found in parts.values()])
        sections = _place_systems(list(map(_build_section, titles, parts.values())))
        names = ", ".join(dict.fromkeys(section.name for section in sections))
        title = title or f"Retrieval quality: {names}"
        return cls(title, tuple(runs), sections, tuple(verdicts), tuple(compared), note, strict)

    def __repr__(self) -> str:
        found = [pluralize(len(self.runs), "run"), *map(repr, self.sections)]
        found += [pluralize(len(self.verdicts), "verdict")] * bool(self.verdicts)
        found += [pluralize(len(self.compared), "comparison")] * bool(self.compared)
        return f"Report({self.title!r}, {', '.join(found)})"

    def compares(self, section: Section) -> bool:
        """Whether a requested comparison covers this section.

        Then that comparison alone decides what is significant: a second decision, by another test,
        level or correction, might contradict it.
        """
        return any(
            one.benchmark == section.name and section.asked.content_hash in one.content_hashes
            for one in self.compared
        )


def _build_section(title: str, parts: list[tuple[RunRecord, BenchmarkRecord]]) -> Section:
    first = parts[0][1]
    found = [(run, part, provider) for run, part in parts for provider in part.providers]
    names = _name_runs([run for run, _ in parts])
    labels = _unique_labels([(provider.name, names[run.id]) for run, _, provider in found])
    systems = tuple(System(label, *one) for label, one in zip(labels, found, strict=True))
    queries = tuple({query.id: query for _, part in parts for query in part.queries}.values())
    return Section(first.name, title, first.asked, queries, systems)


def format_tags(tags: Mapping[str, str]) -> str:
    """Format the tags of a run: "model=small, prompt=v2"."""
    return ", ".join(f"{name}={value}" for name, value in tags.items())


def _name_runs(runs: Sequence[RunRecord]) -> dict[str, str]:
    """Name the runs by the tags in which they differ, or by their ids if tags do not tell."""
    shared = set.intersection(*(set(run.tags.items()) for run in runs))
    names = [
        format_tags({key: value for key, value in run.tags.items() if (key, value) not in shared})
        for run in runs
    ]
    telling = all(names) and len(set(names)) == len({run.id for run in runs})
    return {run.id: name if telling else run.id for run, name in zip(runs, names, strict=True)}


def _place_systems(sections: Sequence[Section]) -> tuple[Section, ...]:
    """Give every label one place in all sections, so that it has one color and shape."""
    places = assign_places(system.label for section in sections for system in section.systems)
    return tuple(
        replace(
            section,
            systems=tuple(replace(one, place=places[one.label]) for one in section.systems),
        )
        for section in sections
    )


COLORS: Final = 8
SHAPES: Final = 7


def assign_places(labels: Iterable[str]) -> dict[str, int]:
    """Return a place for each label: by its letters, and the next free one if that is taken.

    So a provider looks alike in the reports of most runs. Two of at most seven labels never share
    a color or a shape, and two of at most 56 never share both.

    >>> assign_places(["bm25", "dense"]) == assign_places(["dense", "bm25"])
    True
    """
    found: dict[str, int] = {}
    for label in dict.fromkeys(labels):
        first = zlib.crc32(label.encode(errors="backslashreplace"))
        taken = found.values()
        places = [(first + step) % (COLORS * SHAPES) for step in range(COLORS * SHAPES)]
        worth = [
            any(place % COLORS == one % COLORS for one in taken)
            + any(place % SHAPES == one % SHAPES for one in taken)
            + (place in taken)
            for place in places
        ]
        found[label] = places[worth.index(min(worth))]
    return found


def _unique_labels(names: list[tuple[str, str]]) -> list[str]:
    times = Counter(provider for provider, _ in names)
    return _number_repeats(
        [f"{provider} ({run})" if times[provider] > 1 else provider for provider, run in names]
    )
