"""`Provider` and `Evaluator`: how measures are computed, and for which judgments."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from berryeval.compat.ir_measures.measures.base import NOT_PROVIDED
from berryeval.compat.ir_measures.util import CalcResults, Metric

if TYPE_CHECKING:
    from collections.abc import Callable

    from berryeval.compat.ir_measures.measures.base import Agg, Measure


class Evaluator:
    """Scores runs with some measures against some judgments."""

    def __init__(self, measures: Iterable[Measure], qrel_qids: Iterable[str]) -> None:
        self.measures = measures
        self.qrel_qids = qrel_qids

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the values of the queries of the run, then those of missing queries."""
        missing = set(itertools.product(self.measures, self.qrel_qids))
        for metric in self._iter_calc(run):
            missing.discard((metric.measure, metric.query_id))
            yield metric
        for measure, query in sorted(missing, key=lambda pair: (str(pair[0]), pair[1])):
            yield Metric(query, measure, measure.DEFAULT)

    def _iter_calc(self, run: Any) -> Iterator[Metric]:
        raise NotImplementedError

    def calc_aggregate(self, run: Any) -> dict[Measure, float]:
        """Return the aggregated value of each measure."""
        return self._aggregate(self.iter_calc(run))

    def calc(self, run: Any) -> CalcResults:
        """Return the aggregated values and those of the queries."""
        metrics = list(self.iter_calc(run))
        return CalcResults(self._aggregate(metrics), metrics)

    def _aggregate(self, metrics: Iterable[Metric]) -> dict[Measure, float]:
        aggregators: dict[Measure, Agg] = {one: one.aggregator() for one in self.measures}
        for metric in metrics:
            aggregators[metric.measure].add(metric.value)
        return {measure: aggregator.result() for measure, aggregator in aggregators.items()}


class Any_:  # noqa: N801 - the class `Any` of the peer
    """Accepts every value; `required`: but not the default of a parameter without one."""

    def __init__(self, required: bool = False) -> None:
        self.required = required

    def validate(self, value: Any) -> bool:
        """Whether the value is accepted."""
        return not self.required or value is not NOT_PROVIDED


class Choices:
    """Accepts some values."""

    def __init__(self, *args: Any) -> None:
        self.choices = args

    def validate(self, value: Any) -> bool:
        """Whether the value is accepted."""
        return value in self.choices


class Provider:
    """Computes some measures."""

    NAME: str = ""
    SUPPORTED_MEASURES: ClassVar[list[Measure]] = []
    _is_available: bool | None = None

    def evaluator(self, measures: Iterable[Measure], qrels: Any) -> Evaluator:
        """Return an evaluator that scores several runs."""
        if not self.is_available():
            how = self.install_instructions() or ""
            raise RuntimeError(f"Provider {self.NAME} is not available. {how}".rstrip())
        return self._evaluator(list(measures), qrels)

    def _evaluator(self, measures: list[Measure], qrels: Any) -> Evaluator:
        raise NotImplementedError

    @contextmanager
    def calc_ctxt(
        self, measures: Iterable[Measure], qrels: Any
    ) -> Iterator[Callable[[Any], Iterator[Metric]]]:
        """Give a function that scores a run; the old form of `evaluator`."""
        warnings.warn("calc_ctxt is deprecated; use evaluator", DeprecationWarning, stacklevel=3)
        yield self.evaluator(measures, qrels).iter_calc

    def iter_calc(self, measures: Iterable[Measure], qrels: Any, run: Any) -> Iterator[Metric]:
        """Yield the values of all queries."""
        return self.evaluator(measures, qrels).iter_calc(run)

    def calc_aggregate(
        self, measures: Iterable[Measure], qrels: Any, run: Any
    ) -> dict[Measure, float]:
        """Return the aggregated value of each measure."""
        return self.evaluator(measures, qrels).calc_aggregate(run)

    def calc(self, measures: Iterable[Measure], qrels: Any, run: Any) -> CalcResults:
        """Return the aggregated values and those of the queries."""
        return self.evaluator(measures, qrels).calc(run)

    def supports(self, measure: Measure) -> bool:
        """Whether the provider computes the measure with its parameters."""
        measure.validate_params()
        return any(
            one.NAME == measure.NAME
            and all(spec.validate(measure[name]) for name, spec in one.params.items())
            for one in self.SUPPORTED_MEASURES
        )

    def is_available(self) -> bool:
        """Whether the provider can be used; those of this package always can."""
        if self._is_available is None:
            try:
                self.initialize()
            except RuntimeError:
                self._is_available = False
            else:
                self._is_available = True
        return self._is_available

    def initialize(self) -> None:
        """Load what the provider needs; a RuntimeError makes it unavailable."""

    def install_instructions(self) -> str | None:
        """Return how to install the provider: nothing is needed."""
        return None

    def run_inputs(self, measures: Iterable[Measure]) -> list[str]:  # noqa: ARG002 - for subclasses
        """Return the columns of a run that the measures need."""
        return ["query_id", "doc_id", "score"]

    def qrel_inputs(self, measures: Iterable[Measure]) -> list[str]:  # noqa: ARG002 - likewise
        """Return the columns of judgments that the measures need."""
        return ["query_id", "doc_id", "relevance"]


registry: dict[str, Provider] = {}


def register(provider: Provider) -> Provider:
    """Add a provider to the registry."""
    registry[provider.NAME] = provider
    return provider
