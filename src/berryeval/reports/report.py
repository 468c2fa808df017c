"""`Report`: what every exporter reads. It holds records of runs, put together by benchmark."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import counted
from berryeval.errors import BerryEvalError
from berryeval.runs import depth_note, group_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.data import Query
    from berryeval.gates import Verdict
    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.runs import (
        AnswerRecord,
        Asked,
        BenchmarkRecord,
        HitRecord,
        Latency,
        ProviderRecord,
        RunRecord,
    )
    from berryeval.scoring import Scores
    from berryeval.stats import Comparison, PairedDifference


# Every two systems that can be compared, where not all of them can.

_CORRECTION: Final = "holm"


def compared_pairs(tables: Mapping[str, Scores], metric: str) -> tuple[PairedDifference, ...]:
    """A row per pair that shares queries and the metric, corrected for all these pairs."""
    from berryeval.stats import compare, corrected

    rows: list[PairedDifference] = []
    for (one, first), (other, second) in combinations(tables.items(), 2):
        if _comparable(first, second, metric):
            pair = {one: first, other: second}
            rows += compare(pair, metrics=[metric], correction=_CORRECTION).rows
    count = sum(row.p is not None for row in rows)
    found = corrected([row.p for row in rows], _CORRECTION)
    return tuple(
        replace(row, p_corrected=p, comparisons=count) for row, p in zip(rows, found, strict=True)
    )


def _comparable(first: Scores, second: Scores, metric: str) -> bool:
    """Whether both have the metric, put it together alike, and share a query."""
    if metric not in first.metrics or metric not in second.metrics:
        return False
    hows = {scores.aggregates[scores.row_of(metric)] for scores in (first, second)}
    return len(hows) == 1 and not set(first.queries).isdisjoint(second.queries)


# The titles of sections: names of benchmarks, with what tells those of one name apart.

_HASH_CHARACTERS: Final = 15  # "sha256:" and eight digits


def titles_of(parts: Sequence[BenchmarkRecord]) -> list[str]:
    """A title for each, no two the same: "manual", or "manual (5 queries, 10 hits)"."""
    titles = [part.name for part in parts]
    times = Counter(titles)
    titles = [
        f"{part.name} ({_asked(part)})" if times[part.name] > 1 else part.name for part in parts
    ]
    times = Counter(titles)
    for place, part in enumerate(parts):
        if times[titles[place]] > 1:
            brief = part.content_hash[:_HASH_CHARACTERS]
            titles[place] = f"{part.name} ({_asked(part)}, data {brief})"
    # What is still the same is of as many other queries of the same data.
    return numbered(titles)


def _asked(part: BenchmarkRecord) -> str:
    from berryeval._internal.text import counted

    return f"{counted(len(part.queries), 'query', 'queries')}, {counted(part.k, 'hit', 'hits')}"


def numbered(titles: Sequence[str]) -> list[str]:
    """Those that are the same, with a number from the second on."""
    found: list[str] = []
    for title in titles:
        shown, number = title, 1
        while shown in found:
            number += 1
            shown = f"{title} #{number}"
        found.append(shown)
    return found


@dataclass(frozen=True, eq=False)
class System:
    """A provider of a run, as a row of tables.

    Attributes:
        label: its name, unique in its section: "bm25", or "bm25 (2026-11-15T…)" of several runs.
        run: which run it is of.
        benchmark: the part of the run it is of.
        record: what it did.
    """

    label: str
    run: RunRecord
    benchmark: BenchmarkRecord
    record: ProviderRecord

    @property
    def scores(self) -> Scores | None:
        """By the metrics that were asked for; None if it failed."""
        return self.record.scores

    @property
    def standard(self) -> Scores | None:
        """By the metrics that every run has."""
        return self.record.standard

    @property
    def latency(self) -> Latency | None:
        """How long it took to answer."""
        return self.record.latency

    @cached_property
    def answers(self) -> dict[str, AnswerRecord]:
        """The answers by query."""
        return {answer.query_id: answer for answer in self.record.answers}

    def __repr__(self) -> str:
        return f"System({self.label!r}, run {self.run.id!r})"

    def passage(self, hit: HitRecord) -> str:
        """The beginning of a hit's text, as far as it was kept."""
        return "" if hit.passage is None else self.benchmark.passages[hit.passage].text

    def name_of(self, hit: HitRecord) -> str:
        """A hit for people: its document and headings where they are known, or else its id."""
        named = "" if hit.passage is None else self.benchmark.passages[hit.passage].name
        return named or hit.id


@dataclass(frozen=True, eq=False)
class Section:
    """Everything about one benchmark, of one state of its data, all asked the same.

    Attributes:
        name: of the benchmark.
        title: its name; where several sections share it, with what tells them apart.
        asked: the data, the queries and the number of hits of all its systems.
        queries: those that were asked.
        systems: the rows of its tables.
    """

    name: str
    title: str
    asked: Asked
    queries: tuple[Query, ...]
    systems: tuple[System, ...]

    @property
    def content_hash(self) -> str:
        """Of the data."""
        return self.asked.content_hash

    @property
    def scored(self) -> tuple[System, ...]:
        """The systems that have scores."""
        return tuple(system for system in self.systems if system.scores is not None)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """The metrics that any system was asked for, in their order."""
        names = (name for system in self.systems if system.scores for name in system.scores.metrics)
        return tuple(dict.fromkeys(names))

    @cached_property
    def comparison(self) -> Comparison | None:
        """Every two systems compared by the metrics they share; None if that cannot be done."""
        tables = {system.label: system.scores for system in self.systems if system.scores}
        if len(tables) < 2:  # noqa: PLR2004 - it takes two
            return None
        from berryeval.stats import compare

        try:
            return compare(tables)
        except BerryEvalError:  # no query or metric that two of them share
            return None

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know about all of its values, whichever way they are shown."""
        return tuple(filter(None, [depth_note(self.asked.k, self.metrics)]))

    def __repr__(self) -> str:
        labels = "".join(f", {system.label!r}" for system in self.systems)
        return f"Section({self.title!r}, {counted(len(self.queries), 'query', 'queries')}{labels})"

    def differences(self, metric: str) -> tuple[PairedDifference, ...]:
        """Every two systems by one metric: of the comparison, where all systems have it.

        Where not all of them have it, or not all share queries, those pairs that can be compared.
        """
        found = self.comparison
        if found is not None and metric in found.metrics:
            return tuple(row for row in found.rows if row.metric == metric)
        return compared_pairs({one.label: one.scores for one in self.scored if one.scores}, metric)

    def groups(self, by: str) -> dict[str, str]:
        """The category or the difficulty of every query that has one."""
        return group_of(self.queries, by)


@dataclass(frozen=True, eq=False)
class Report:
    """One or several runs, to be shown or exported.

    Attributes:
        title: what it is about.
        runs: the runs.
        sections: one per benchmark; what was asked otherwise (another state of its data, other
            queries, another number of hits) is another section.
        verdicts: of gates, if any were asked for.
        compared: what was found by comparing systems, if that was asked for.
        note: what is to be known of all verdicts.
    """

    title: str
    runs: tuple[RunRecord, ...]
    sections: tuple[Section, ...]
    verdicts: tuple[Verdict, ...] = ()
    compared: tuple[ComparedBenchmark, ...] = ()
    note: str = ""

    @classmethod
    def of(
        cls,
        runs: Sequence[RunRecord],
        *,
        title: str = "",
        verdicts: Iterable[Verdict] = (),
        compared: Iterable[ComparedBenchmark] = (),
        note: str = "",
    ) -> Report:
        """The report of these runs."""
        parts: dict[tuple[str, Asked], list[tuple[RunRecord, BenchmarkRecord]]] = {}
        for run in runs:
            for part in run.benchmarks:
                parts.setdefault((part.name, part.asked), []).append((run, part))
        titles = titles_of([found[0][1] for found in parts.values()])
        sections = tuple(map(_section, titles, parts.values()))
        names = ", ".join(dict.fromkeys(section.name for section in sections))
        title = title or f"Retrieval quality: {names}"
        return cls(title, tuple(runs), sections, tuple(verdicts), tuple(compared), note)

    def __repr__(self) -> str:
        found = [counted(len(self.runs), "run"), *map(repr, self.sections)]
        found += [counted(len(self.verdicts), "verdict")] * bool(self.verdicts)
        found += [counted(len(self.compared), "comparison")] * bool(self.compared)
        return f"Report({self.title!r}, {', '.join(found)})"

    def compares(self, section: Section) -> bool:
        """Whether a comparison that was asked for is of this section's data.

        It alone then says what is shown, by its own test, level and correction: a second verdict,
        by others, might be another.
        """
        return any(
            one.benchmark == section.name and section.content_hash in one.content_hashes
            for one in self.compared
        )


def _section(title: str, parts: list[tuple[RunRecord, BenchmarkRecord]]) -> Section:
    first = parts[0][1]
    found = [(run, part, provider) for run, part in parts for provider in part.providers]
    labels = _labels([(provider.name, run.id) for run, _, provider in found])
    systems = tuple(System(label, *one) for label, one in zip(labels, found, strict=True))
    queries = tuple({query.id: query for query in first.queries}.values())
    return Section(first.name, title, first.asked, queries, systems)


def _labels(names: list[tuple[str, str]]) -> list[str]:
    """A label for every provider and run, no two the same: runs may share a name, too."""
    times = Counter(provider for provider, _ in names)
    return numbered(
        [f"{provider} ({run})" if times[provider] > 1 else provider for provider, run in names]
    )
