"""The table of queries: what every system scored on each, filtered, sorted and paged."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from string import ascii_uppercase
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from berryeval._internal.validate import suggest
from berryeval.benchmarks import bundled_benchmarks, find_named
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.metrics import find_deciding
from berryeval.reports import (
    Report,
    Section,
    System,
    collect_texts,
    find_highest_grade,
    values_by_query,
)
from berryeval.runner import FAILED
from berryeval.runs import STANDARD, RunRecord
from berryeval.web.comparison_pages import ComparisonRequest, find_compared, select_providers
from berryeval.web.shelf import Kept, is_inside
from berryeval.web.site import SiteSettings, site_of
from berryeval.workflows import RunTexts, read_texts

if TYPE_CHECKING:
    from starlette.requests import Request

    from berryeval.data import Query
    from berryeval.runs import AnswerTally

log = logging.getLogger("berryeval")
Show: TypeAlias = Literal["all", "different", "missed", "nothing", "unjudged", "failed"]
_KEPT: Final = 8  # tables in memory


def _encodable(text: Any) -> Any:
    """Replace lone surrogates, which JSON and addresses cannot hold."""
    return text.encode(errors="replace").decode() if isinstance(text, str) else text


Text: TypeAlias = Annotated[str, BeforeValidator(_encodable)]


class TableRequest(BaseModel):
    """Which queries to show, in which order; empty fields ask for everything."""

    model_config = ConfigDict(extra="ignore")

    run: Annotated[
        list[str], Field(description="Runs, by name, or RUN#PROVIDER", min_length=1, max_length=20)
    ]
    provider: Annotated[list[str], Field(description="Only these providers")] = []
    benchmark: Annotated[str, Field(description="Benchmark; by default the first")] = ""
    metric: Annotated[str, Field(description="Metric; by default the first of the run")] = ""
    words: Annotated[str, Field(description="Words of the query, its id or properties")] = ""
    category: str = ""
    difficulty: str = ""
    show: Annotated[
        Show, Field(description="Queries that differ, miss targets, find nothing, and so on")
    ] = "all"
    sort: Annotated[
        str, Field(description="number, id, spread, unjudged or value:SYSTEM; - reverses it")
    ] = "number"
    page: Annotated[int, Field(ge=1)] = 1
    size: Annotated[int, Field(ge=1, le=500, description="Queries per page")] = 50

    @property
    def is_filtered(self) -> bool:
        """Whether some queries may be left out."""
        return bool(self.words or self.category or self.difficulty or self.show != "all")


class TableSystem(BaseModel):
    """A column of the table: a provider of a run."""

    label: Text
    short: Annotated[Text, Field(description="Provider, and the letter of its run")]
    run: Text
    provider: Text
    place: Annotated[int, Field(description="Number of its color and shape")]
    mean: float | None


class QueryRow(BaseModel):
    """A query, with a value and an outcome per system, in the order of the systems."""

    number: Annotated[int, Field(description="Place in the benchmark, from 1")]
    id: Text
    text: Text
    category: Text
    difficulty: Text
    values: list[float | None]
    outcomes: list[Text]
    found: Annotated[list[int], Field(description="Relevant targets that each system found")]
    wanted: Annotated[int, Field(description="Relevant targets")]
    unjudged: Annotated[int, Field(description="Different hits without a judgment")]
    spread: Annotated[
        float | None, Field(description="Second minus first of two systems; else the range")
    ]


class QueryPage(BaseModel):
    """A page of the table of queries."""

    benchmark: Text
    benchmarks: list[Text]
    metric: Text
    metrics: list[Text]
    systems: list[TableSystem]
    total: Annotated[int, Field(description="Queries of the benchmark")]
    matching: Annotated[int, Field(description="Queries that pass the filter")]
    page: int
    pages: int
    rows: list[QueryRow]


class QueryTable:
    """The queries of one benchmark of some runs, with everything that can be sorted by.

    Attributes:
        report: The runs, with a section per benchmark.
        section: The benchmark.
    """

    def __init__(self, runs: Sequence[RunRecord], benchmark: str, settings: SiteSettings) -> None:
        self.report = Report.of(runs, by_name=True)
        self.section = _find_section(self.report, benchmark)
        self._settings = settings
        self._rows: dict[str, list[QueryRow]] = {}
        self._texts_of: dict[str, RunTexts | None] = {}
        self._lock, self._reading = threading.Lock(), threading.Lock()

    @property
    def systems(self) -> tuple[System, ...]:
        """The columns."""
        return self.section.systems

    @cached_property
    def metrics(self) -> list[str]:
        """The metrics of the runs, then those that every run has."""
        tables = [one.record.standard for one in self.systems if one.record.standard is not None]
        known = {name for table in tables for name in table.metrics}
        more = [name for name in STANDARD if name in known]
        return list(dict.fromkeys([*self.section.metrics, *more]))

    @cached_property
    def passages(self) -> dict[str, str]:
        """Beginnings of the texts of hits and missed targets, by name."""
        return collect_texts(self.systems)

    @cached_property
    def highest(self) -> float:
        """The highest grade."""
        return find_highest_grade(self.systems)

    @cached_property
    def choices(self) -> dict[str, list[str]]:
        """The categories and difficulties of the queries."""
        return {
            name: list(dict.fromkeys(filter(None, (getattr(one, name) for one in self._queries))))
            for name in ("category", "difficulty")
        }

    @property
    def _queries(self) -> tuple[Query, ...]:
        return self.section.queries

    def find_query(self, name: str) -> Query:
        """Return a query by its id."""
        found = self._by_id.get(name)
        if found is None:
            raise DataError(f"no query {name!r:.80} in {self.section.name}")
        return found

    @cached_property
    def _by_id(self) -> dict[str, Query]:
        return {_encodable(query.id): query for query in self._queries}

    def find_system(self, label: str) -> System:
        """Return a system by its label."""
        found = {_encodable(one.label): one for one in self.systems}
        if label not in found:
            raise ConfigurationError(f"no system {label!r:.80}; {suggest(label, list(found))}")
        return found[label]

    def has_texts(self) -> bool:
        """Whether the texts of all runs were read, as far as they can be."""
        return all(one.run.id in self._texts_of for one in self.systems)

    def read_texts(self, system: System) -> RunTexts | None:
        """Return the whole texts of a system's run; None if its benchmark cannot be read here."""
        run = system.run
        with self._reading:
            if run.id not in self._texts_of:
                try:
                    check_place(run, system.benchmark.name, self._settings)
                    found = read_texts(run.id, system.benchmark.name, self._settings.store)
                except BerryEvalError as error:
                    log.info("no whole texts of the run %s: %s", run.id, error)
                    found = None
                self._texts_of[run.id] = found
            return self._texts_of[run.id]

    def choose_metric(self, wanted: str) -> str:
        """Return the metric to show: the wanted one, else the first that can be better."""
        if wanted and wanted not in self.metrics:
            raise ConfigurationError(f"no run has the metric {wanted!r:.80}; "
                                     f"{suggest(wanted, self.metrics)}")  # fmt: skip
        return wanted or find_deciding(self.metrics)

    def list_rows(self, metric: str) -> list[QueryRow]:
        """Return a row per query by a metric, in the order of the benchmark."""
        with self._lock:
            if metric not in self._rows:
                values = [values_by_query(system, metric) for system in self.systems]
                self._rows[metric] = [
                    row.model_copy(update=_show_values([one.get(query.id) for one in values]))
                    for query, row in zip(self._queries, self._counted, strict=True)
                ]
            return self._rows[metric]

    @cached_property
    def _counted(self) -> list[QueryRow]:
        answers = [{one.query_id: one for one in system.answers.tally()} for system in self.systems]
        return [
            _count_row(number, query, [one.get(query.id) for one in answers])
            for number, query in enumerate(self._queries, start=1)
        ]

    def select(self, asked: TableRequest) -> list[QueryRow]:
        """Return the rows that pass the filter, in the order asked for."""
        rows = self.list_rows(self.choose_metric(asked.metric))
        words = asked.words.casefold().split()
        texts = self._texts if words else {}
        kept = [
            row
            for row in rows
            if asked.category in {"", row.category}
            and asked.difficulty in {"", row.difficulty}
            and _SHOWN[asked.show](row)
            and all(word in texts[row.id] for word in words)
        ]
        return self._sort(kept, asked.sort)

    @cached_property
    def _texts(self) -> dict[str, str]:
        return {
            row.id: f"{row.id}\n{row.text}\n{row.category}\n{row.difficulty}".casefold()
            for row in self._counted
        }

    def _sort(self, rows: list[QueryRow], by: str) -> list[QueryRow]:
        """Sort rows; those without a value come last in either direction."""
        name, down = by.removeprefix("-"), by.startswith("-")
        keys: dict[str, Callable[[QueryRow], Any]] = {
            "number": lambda row: row.number,
            "id": lambda row: row.id,
            "spread": lambda row: row.spread,
            "unjudged": lambda row: row.unjudged,
        }
        for place, system in enumerate(self.systems):
            keys[f"value:{system.label}"] = partial(_value_at, place)
        if name not in keys:
            raise ConfigurationError(f"cannot sort by {name!r:.80}; {suggest(name, list(keys))}")
        key = keys[name]
        known = [row for row in rows if key(row) is not None]
        return sorted(known, key=key, reverse=down) + [row for row in rows if key(row) is None]

    @cached_property
    def letters(self) -> dict[str, str]:
        """A letter for each run, in the order asked for; empty with one run."""
        runs = dict.fromkeys(run.id for run in self.report.runs)
        return {} if len(runs) == 1 else dict(zip(runs, ascii_uppercase, strict=False))

    def view_system(self, system: System, metric: str) -> TableSystem:
        """Return the column of a system."""
        scores = system.record.scores_with(metric) if metric else None
        return TableSystem(
            label=system.label,
            short=f"{system.record.name} {self.letters.get(system.run.id, '')}".rstrip(),
            run=system.run.id, provider=system.record.name, place=system.place,
            mean=scores.mean[metric] if scores is not None else None,
        )  # fmt: skip

    def view(self, asked: TableRequest) -> QueryPage:
        """Return one page of the table."""
        metric, rows = self.choose_metric(asked.metric), self.select(asked)
        pages = max(1, -(-len(rows) // asked.size))
        page = min(asked.page, pages)
        return QueryPage(
            benchmark=self.section.name,
            benchmarks=[one.name for one in self.report.sections],
            metric=metric,
            metrics=self.metrics,
            systems=[self.view_system(one, metric) for one in self.systems],
            total=len(self._queries),
            matching=len(rows),
            page=page,
            pages=pages,
            rows=rows[(page - 1) * asked.size : page * asked.size],
        )


def _find_section(report: Report, benchmark: str) -> Section:
    names = [one.name for one in report.sections]
    if not names:
        raise DataError(f"the run {report.runs[0].id} has no benchmark, so it has no queries")
    if benchmark and benchmark not in names:
        raise DataError(f"no run has the benchmark {benchmark!r:.80}; {suggest(benchmark, names)}")
    return report.sections[names.index(benchmark) if benchmark else 0]


def _value_at(place: int, row: QueryRow) -> float | None:
    return row.values[place]


def _show_values(values: list[float | None]) -> dict[str, Any]:
    known = [one for one in values if one is not None]
    if len(values) == 2:  # noqa: PLR2004 - a pair
        spread = known[1] - known[0] if len(known) == len(values) else None
    else:
        spread = max(known) - min(known) if len(known) > 1 else None
    return {"values": values, "spread": spread}


def _count_row(number: int, query: Query, answers: Sequence[AnswerTally | None]) -> QueryRow:
    there = [one for one in answers if one is not None]
    return QueryRow(
        number=number, id=query.id, text=query.text, category=query.category,
        difficulty=query.difficulty, values=[], spread=None,
        found=[one.found if one else 0 for one in answers],
        outcomes=[one.outcome if one else "missing" for one in answers],
        wanted=max((one.found + one.missed for one in there), default=0),
        unjudged=len(frozenset[str]().union(*(one.unjudged for one in there))),
    )  # fmt: skip


_SHOWN: Final[dict[str, Callable[[QueryRow], bool]]] = {
    "all": lambda _: True,
    "different": lambda row: bool(row.spread),
    "missed": lambda row: any(one < row.wanted for one in row.found),
    "nothing": lambda row: not any(row.found),
    "unjudged": lambda row: row.unjudged > 0,
    "failed": lambda row: any(one in FAILED for one in row.outcomes),
}


def check_place(run: RunRecord, benchmark: str, settings: SiteSettings) -> None:
    """Reject a run that names a place outside the folder of a site that several people use.

    The plan comes with the run, which someone else may have sent, and so do the names of the run
    and of the benchmark, which are also looked for as paths.
    """
    if not settings.users:
        return
    known = {*bundled_benchmarks(), *settings.benchmarks}
    places = {run.id, benchmark, *_list_texts(run.plan.get("benchmarks"))} - known
    if not all(map(is_inside, places)) or any(map(find_named, places)):  # no downloads
        raise DataError(f"the benchmark {benchmark} is not in the folder of this server")


def _list_texts(value: Any) -> Iterator[str]:
    """Yield every text in a value of JSON: options of a format can be paths, too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list):
        for one in value.values() if isinstance(value, Mapping) else value:
            yield from _list_texts(one)


_TABLES: Final[Kept[QueryTable]] = Kept(_KEPT)


def find_table(request: Request, asked: TableRequest) -> QueryTable:
    """Return the table that a request asks for."""
    site = site_of(request)
    wanted = ComparisonRequest(run=tuple(asked.run), provider=tuple(asked.provider))
    found = find_compared(site.shelf, wanted)

    def build() -> QueryTable:
        runs = [select_providers(site.shelf.get(one.name), names) for one, names in found.items()]
        return QueryTable(runs, asked.benchmark, site.settings)

    return _TABLES.get((site.settings, asked.benchmark, *found.items()), build)
