"""The API of runs: the list, one run, comparisons, trends, and runs sent by other machines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import quote

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response

from berryeval.reports import Report
from berryeval.runner import count_failed
from berryeval.runs import NoStoreError
from berryeval.web.comparison_pages import ComparisonRequest, compare
from berryeval.web.guard import require_role
from berryeval.web.query_table import Text  # noqa: TC001 - pydantic reads it
from berryeval.web.run_listing import RunQuery, list_page
from berryeval.web.run_pages import Trend, TrendRequest
from berryeval.web.site import site_of
from berryeval.workflows import add_pushed, judge_report

if TYPE_CHECKING:
    from berryeval.runs import BenchmarkRecord, ProviderRecord
    from berryeval.stats import PairedDifference

router = APIRouter(prefix="/api/v1", tags=["runs"])
_BODY: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "description": "The record of a run, as `berryeval runs export` writes it; may be gzip.",
        "content": {"application/json": {"schema": {"type": "object"}}},
    }
}
_ANSWERS: Final[dict[int | str, dict[str, Any]]] = {
    200: {"description": "The run was there already, or was replaced."},
    409: {"description": "The store has a run of this name with other content."},
    413: {"description": "The body is too large."},
    422: {"description": "The body is not the record of a run."},
}


class _Read(BaseModel):
    """A part of an answer that is read from an object with the same attributes."""

    model_config = ConfigDict(from_attributes=True)


class Value(_Read):
    """A metric: its mean over `n` queries, and its 95 % confidence interval where it is known."""

    metric: str
    value: float
    low: float | None
    high: float | None
    n: int


class Latencies(_Read):
    """Seconds per answered query."""

    p50: float
    p95: float
    p99: float
    max: float


class ListedResult(_Read):
    """The result of a provider on a benchmark."""

    benchmark: Text
    content_hash: str = Field(description="hash of the data")
    k: int = Field(description="hits asked for per query")
    queries: int
    provider: Text
    failure: Text = Field(description="why there are no scores; empty if there are")
    failed: int = Field(description="queries without an answer")
    latency: Latencies | None
    values: list[Value]


class ListedRecord(_Read):
    """A run of the list."""

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


class JudgedRule(_Read):
    """The verdict of a rule of the gate that a run was made with."""

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


class Difference(_Read):
    """A system against the baseline of its comparison, by one metric."""

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


class Moved(_Read):
    """A query whose value changed much."""

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


class Limit(_Read):
    """The limit of a gate, or the value of a baseline."""

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
    return Difference(**{name: getattr(row, name) for name in Difference.model_fields})


def _describe_result(part: BenchmarkRecord, provider: ProviderRecord) -> ListedResult:
    return ListedResult(
        benchmark=part.name,
        content_hash=part.content_hash,
        k=part.k,
        queries=len(part.queries),
        provider=provider.name,
        failure=provider.failure,
        failed=count_failed(provider.outcomes),
        latency=Latencies.model_validate(provider.latency) if provider.latency else None,
        values=[Value.model_validate(one) for one in provider.list_values()],
    )


class PushedRun(BaseModel):
    """A run that was sent."""

    run: str = Field(description="Name of the run in the store; longer if another run has its own.")
    how: str = Field(description="added, there already (identical), or replaced.")
    path: str = Field(description="Path of its page on this server.")


@router.post(
    "/runs", response_model=PushedRun, status_code=201, responses=_ANSWERS, openapi_extra=_BODY,
    dependencies=[Depends(require_role("judge"))],
)  # fmt: skip
async def push(
    request: Request,
    response: Response,
    *,
    replace: Annotated[bool, Query(description="Whether to overwrite one that differs.")] = False,
) -> PushedRun:
    """Add a run to the store; sending it again changes nothing."""
    site, body = site_of(request), await request.body()
    added = await run_in_threadpool(add_pushed, body, site.settings.store, replace=replace)
    if added.how == "differs":
        raise HTTPException(
            409, f"the server has a run {added.id} with other content; push it with --replace"
        )
    if added.how != "added":
        response.status_code = 200
    path = f"{site.settings.root}/runs/{quote(added.id)}"
    return PushedRun(run=added.id, how=added.how, path=path)
