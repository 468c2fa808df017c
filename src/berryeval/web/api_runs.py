"""The API of runs: the list, one run, comparisons and trends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from berryeval.reports import Report, finding
from berryeval.runner import count_failed
from berryeval.runs import NoStoreError
from berryeval.web.comparison_pages import ComparisonRequest, compare
from berryeval.web.query_table import Text  # noqa: TC001 - pydantic reads it
from berryeval.web.run_listing import RunQuery, list_page
from berryeval.web.site import site_of
from berryeval.web.trend_pages import Trend, TrendRequest
from berryeval.workflows import judge_report

if TYPE_CHECKING:
    from berryeval.runs import BenchmarkRecord, ProviderRecord
    from berryeval.stats import PairedDifference

router = APIRouter(prefix="/api/v1", tags=["runs"])


class Value(BaseModel):
    """A metric: its mean over `n` queries, and its 95 % confidence interval where it is known."""

    model_config = ConfigDict(from_attributes=True)

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int


class Latencies(BaseModel):
    """Seconds per answered query."""

    model_config = ConfigDict(from_attributes=True)

    p50: float
    p95: float
    p99: float
    max: float


class ListedResult(BaseModel):
    """The result of a provider on a benchmark."""

    model_config = ConfigDict(from_attributes=True)

    benchmark: Text
    content_hash: str = Field(description="hash of the data")
    k: int = Field(description="hits asked for per query")
    queries: int
    provider: Text
    failure: Text = Field(description="why there are no scores; empty if there are")
    failed: int = Field(description="queries without an answer")
    latency: Latencies | None
    values: list[Value]


class ListedRecord(BaseModel):
    """A run of the list."""

    model_config = ConfigDict(from_attributes=True)

    id: Text
    created: str
    tags: dict[Text, Text]
    results: list[ListedResult]


class RunList(BaseModel):
    """A page of the list of runs."""

    total: int = Field(description="runs that match")
    page: int
    pages: int
    runs: list[ListedRecord]


class JudgedRule(BaseModel):
    """The verdict of a rule of the gate that a run was made with."""

    model_config = ConfigDict(from_attributes=True)

    status: str = Field(description="pass, fail or inconclusive")
    rule: Text
    sentence: Text
    benchmark: Text
    provider: Text


class RunDetail(BaseModel):
    """One run."""

    id: Text
    created: str
    tags: dict[Text, Text]
    config_hash: str
    versions: dict[str, Any]
    results: list[ListedResult]
    verdicts: list[JudgedRule]


class Difference(BaseModel):
    """A system against the baseline of its comparison, by one metric."""

    model_config = ConfigDict(from_attributes=True)

    metric: str
    baseline: Text
    system: Text
    n: int = Field(description="queries")
    baseline_value: float
    system_value: float
    difference: float
    interval: tuple[float, float] | None
    p: float | None
    p_corrected: float | None
    wins: int
    ties: int
    losses: int
    finding: str
    sentence: Text


class Moved(BaseModel):
    """A query whose value changed much."""

    model_config = ConfigDict(from_attributes=True)

    query_id: Text
    text: Text
    metric: str
    baseline: Text
    system: Text
    before: float
    after: float


class Compared(BaseModel):
    """A comparison on one benchmark."""

    benchmark: Text
    baseline: Text | None
    differences: list[Difference]
    groups: dict[str, list[Difference]] = Field(description="by kind of query")
    moved: list[Moved]
    warnings: list[str]


class ComparedRuns(BaseModel):
    """Compared runs."""

    runs: list[str]
    comparisons: list[Compared]


class Limit(BaseModel):
    """The limit of a gate, or the value of a baseline."""

    model_config = ConfigDict(from_attributes=True)

    benchmark: Text
    provider: Text
    kind: str
    value: float
    words: Text


class Trends(BaseModel):
    """Values over time."""

    what: str
    lines: list[dict[str, Any]] = Field(description="a line per benchmark and provider")
    limits: list[Limit]
    failed: list[dict[str, str]] = Field(description="providers that failed and have no value")


@router.get("/runs")
def list_runs(request: Request, asked: Annotated[RunQuery, Query()]) -> RunList:
    """List runs: search, filter, sort by any metric, page."""
    try:
        with site_of(request).shelf.open_store() as store:
            page = list_page(store, asked).page
    except NoStoreError:
        return RunList(total=0, page=1, pages=1, runs=[])
    runs = [ListedRecord.model_validate(run) for run in page.runs]
    return RunList(total=page.total, page=page.number, pages=page.pages, runs=runs)


@router.get("/compare")
def compare_runs(request: Request, asked: Annotated[ComparisonRequest, Query()]) -> ComparedRuns:
    """Compare two or more runs, or the providers of one."""
    report = compare(site_of(request).shelf, asked)
    found = [
        Compared(
            benchmark=one.benchmark,
            baseline=one.comparison.baseline,
            differences=[_describe(row) for row in one.comparison.rows],
            groups={
                name: [_describe(row) for row in group.rows]
                for name, group in one.comparison.groups.items()
            },
            moved=[Moved.model_validate(query) for query in one.moved],
            warnings=[*one.warnings, *one.comparison.notes],
        )
        for one in report.compared
    ]
    return ComparedRuns(runs=[run.id for run in report.runs], comparisons=found)


@router.get("/trend")
def follow_trend(request: Request, asked: Annotated[TrendRequest, Query()]) -> Trends:
    """Return a metric, a latency or a cost over time."""
    found = Trend(site_of(request).shelf, asked)
    return Trends(
        what=found.what,
        lines=[line.to_dict() for line in found.lines],
        limits=[Limit.model_validate(one) for one in found.limits],
        failed=[
            {
                "run": one.run,
                "benchmark": one.benchmark,
                "provider": one.provider,
                "failure": one.failure,
            }
            for one in found.failures
        ],
    )


@router.get("/runs/{name:path}")
def show_run(request: Request, name: str) -> RunDetail:
    """Return one run: its results, and the verdicts of its gate."""
    record = site_of(request).shelf.get_judged(name)
    report = judge_report(Report.of([record]))
    return RunDetail(
        id=record.id,
        created=record.created,
        tags=record.tags,
        config_hash=record.config_hash,
        versions=dict(record.versions),
        results=[
            _describe_result(part, one) for part in record.benchmarks for one in part.providers
        ],
        verdicts=[JudgedRule.model_validate(one) for one in report.verdicts],
    )


def _describe(row: PairedDifference) -> Difference:
    values = {name: getattr(row, name) for name in Difference.model_fields if name != "finding"}
    return Difference(**values, finding=finding(row))


def _describe_result(part: BenchmarkRecord, provider: ProviderRecord) -> ListedResult:
    values: dict[str, Value] = {}
    for scores in (provider.scores, provider.standard):
        for name in scores.metrics if scores else ():
            if scores is not None and name not in values:
                low, high = scores.ci(name) if scores is provider.scores else (None, None)
                values[name] = Value(
                    metric=name, value=scores.mean[name], low=low, high=high, n=scores.count
                )
    return ListedResult(
        benchmark=part.name,
        content_hash=part.content_hash,
        k=part.k,
        queries=len(part.queries),
        provider=provider.name,
        failure=provider.failure,
        failed=count_failed(provider.outcomes),
        latency=Latencies.model_validate(provider.latency) if provider.latency else None,
        values=list(values.values()),
    )
