"""Measures that a function of two pandas frames defines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from berryeval.compat.ir_measures.measures.base import Measure, ParamInfo
from berryeval.compat.ir_measures.providers.base import Evaluator, Provider, register
from berryeval.compat.ir_measures.util import Metric, QrelsConverter, RunConverter

Pairs = Iterable[tuple[str, float]]


class RuntimeMeasure(Measure):
    """A measure with a function of its own; `define` makes subclasses."""

    RUN_INPUTS: tuple[str, ...] = ()
    QREL_INPUTS: tuple[str, ...] = ()
    impl: Callable[[Any, Any], Pairs]

    def runtime_impl(self, qrels: Any, run: Any) -> Iterator[Metric]:
        """Yield the values of the queries; `run` is sorted by query and score."""
        cutoff = self.params.get("cutoff")
        if cutoff is not None:
            run = run.groupby("query_id").head(cutoff).reset_index(drop=True)
        for query, value in type(self).impl(qrels, run):
            yield Metric(query, self, value)

    def __repr__(self) -> str:
        return super().__repr__() if self.NAME is not None else object.__repr__(self)


class RuntimeProvider(Provider):
    """Computes measures of `define` and `define_byquery`."""

    NAME = "runtime"

    def supports(self, measure: Measure) -> bool:
        """Whether a function defines the measure."""
        measure.validate_params()
        return isinstance(measure, RuntimeMeasure)

    def _evaluator(self, measures: list[Measure], qrels: Any) -> Evaluator:
        frame = _require_query(QrelsConverter(qrels, strict=False).as_pd_dataframe(), "qrels")
        columns = [name for name in ("query_id", "doc_id") if name in frame.columns]
        return RuntimeEvaluator(measures, frame.sort_values(by=columns))

    def run_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Return the columns of a run that the measures need."""
        return list(
            dict.fromkeys(name for one in measures for name in getattr(one, "RUN_INPUTS", ()))
        )

    def qrel_inputs(self, measures: Iterable[Measure]) -> list[str]:
        """Return the columns of judgments that the measures need."""
        return list(
            dict.fromkeys(name for one in measures for name in getattr(one, "QREL_INPUTS", ()))
        )


class RuntimeEvaluator(Evaluator):
    """Calls the functions of measures with frames."""

    def __init__(self, measures: list[Measure], qrels: Any) -> None:
        super().__init__(measures, set(qrels["query_id"].unique()))
        self.qrels = qrels

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        frame = _require_query(RunConverter(run, strict=False).as_pd_dataframe(), "run")
        columns = [name for name in ("query_id", "score") if name in frame.columns]
        frame = frame.sort_values(by=columns, ascending=[True, False][: len(columns)])
        for measure in self.measures:
            if isinstance(measure, RuntimeMeasure):
                yield from measure.runtime_impl(self.qrels, frame)


def _require_query(frame: Any, what: str) -> Any:
    if "query_id" not in frame.columns:
        raise ValueError(
            f"Required column query_id not found in {what}. Found columns {list(frame.columns)}"
        )
    return frame


def define(
    impl: Callable[[Any, Any], Pairs],
    name: str | None = None,
    support_cutoff: bool = True,
    *,
    run_inputs: list[str] | None = None,
    qrel_inputs: list[str] | None = None,
    pretty_name: str | None = None,
    short_desc: str | None = None,
) -> Measure:
    """Define a measure by a function of all judgments and the run, which yields (query, value)."""
    cutoff = ParamInfo(int, desc="number of documents that count")
    members = {
        "NAME": name,
        "SUPPORTED_PARAMS": {"cutoff": cutoff} if support_cutoff else {},
        "RUN_INPUTS": run_inputs or ["query_id", "doc_id", "score"],
        "QREL_INPUTS": qrel_inputs or ["query_id", "doc_id", "relevance"],
        "PRETTY_NAME": pretty_name,
        "SHORT_DESC": short_desc,
        "impl": staticmethod(impl),
    }
    measure: Measure = type("_RuntimeMeasure", (RuntimeMeasure,), members)()
    return measure


def define_byquery(
    impl: Callable[[Any, Any], float],
    name: str | None = None,
    support_cutoff: bool = True,
    *,
    run_inputs: list[str] | None = None,
    qrel_inputs: list[str] | None = None,
    pretty_name: str | None = None,
    short_desc: str | None = None,
) -> Measure:
    """Define a measure by a function of the judgments and the ranking of one query."""

    def score_all(qrels: Any, run: Any) -> Iterator[tuple[str, float]]:
        for query, rows in run.groupby("query_id"):
            yield query, impl(qrels[qrels["query_id"] == query], rows)

    name = name or getattr(impl, "__name__", repr(impl))
    return define(
        score_all, name, support_cutoff, run_inputs=run_inputs, qrel_inputs=qrel_inputs,
        pretty_name=pretty_name, short_desc=short_desc,
    )  # fmt: skip


runtime = register(RuntimeProvider())
