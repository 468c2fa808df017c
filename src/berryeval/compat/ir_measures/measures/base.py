"""`Measure`: a name with parameters, in the spelling of ir_measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

if TYPE_CHECKING:
    from berryeval.compat.ir_measures.providers.base import Evaluator, Provider
    from berryeval.compat.ir_measures.util import CalcResults, Metric


class _Missing:
    def __repr__(self) -> str:
        return "NOT_PROVIDED"


NOT_PROVIDED: Final[Any] = _Missing()


class Agg(ABC):
    """Aggregation of the values of the queries."""

    @abstractmethod
    def add(self, value: float) -> None:
        """Add the value of one query."""

    @abstractmethod
    def result(self) -> float:
        """Return the aggregate."""


class MeanAgg(Agg):
    """Arithmetic mean; `default` without values."""

    def __init__(self, default: float = float("nan")) -> None:
        self.sum = 0.0
        self.count = 0
        self.default = default

    def add(self, value: float) -> None:
        """Add the value of one query."""
        self.sum += value
        self.count += 1

    def result(self) -> float:
        """Return the mean."""
        return self.sum / self.count if self.count else self.default


class SumAgg(Agg):
    """Sum."""

    def __init__(self) -> None:
        self.sum: float = 0

    def add(self, value: float) -> None:
        """Add the value of one query."""
        self.sum += value

    def result(self) -> float:
        """Return the sum."""
        return self.sum


class ParamInfo:
    """A parameter: its type, choices and default."""

    def __init__(
        self,
        dtype: type | None = None,
        required: bool = False,
        choices: Any = NOT_PROVIDED,
        default: Any = NOT_PROVIDED,
        desc: str | None = None,
    ) -> None:
        self.dtype = dtype
        self.required = required
        self.choices = choices
        self.default = default
        self.desc = desc

    def validate(self, value: Any) -> bool:
        """Whether the parameter accepts the value."""
        if value is NOT_PROVIDED:
            return not self.required
        if self.dtype is not None and not isinstance(value, self.dtype):
            return False
        return self.choices is NOT_PROVIDED or value in self.choices


class Measure:
    """A measure; call it for other parameters, and use `@` for a cutoff: `P(rel=2)@5`."""

    NAME: ClassVar[str | None] = None
    AT_PARAM: ClassVar[str] = "cutoff"
    SUPPORTED_PARAMS: ClassVar[dict[str, ParamInfo]] = {}
    DEFAULT: ClassVar[float] = 0.0  # of a judged query that is missing from the run
    PRETTY_NAME: ClassVar[str | None] = None
    SHORT_DESC: ClassVar[str | None] = None
    SUMMED: ClassVar[bool] = False

    def __init__(self, **params: Any) -> None:
        self.params = params
        self.validated = False

    def validate_params(self) -> None:
        """Raise an AssertionError for parameters that the measure does not accept."""
        if self.validated:
            return
        unknown = sorted(self.params.keys() - self.SUPPORTED_PARAMS.keys())
        if unknown:
            raise AssertionError(f"unsupported params found: {unknown}")
        for name, info in self.SUPPORTED_PARAMS.items():
            value = self.params.get(name, NOT_PROVIDED)
            if not info.validate(value):
                raise AssertionError(f"invalid param {name}={value!r}")
        self.validated = True

    def __call__(self, **kwargs: Any) -> Measure:
        """Return the measure with other parameters."""
        return type(self)(**{**self.params, **kwargs})

    def __matmul__(self, at_param: Any) -> Measure:
        return self(**{self.AT_PARAM: at_param})

    def __getitem__(self, key: str) -> Any:
        return self.params.get(key, self.SUPPORTED_PARAMS[key].default)

    def iter_calc(self, qrels: Any, run: Any) -> Iterator[Metric]:
        """Yield the value of every query."""
        self.validate_params()
        return _pipeline().iter_calc([self], qrels, run)

    def calc_aggregate(self, qrels: Any, run: Any) -> float:
        """Return the aggregated value."""
        return _pipeline().calc_aggregate([self], qrels, run)[self]

    def calc(self, qrels: Any, run: Any) -> CalcResults:
        """Return the aggregated value and those of the queries."""
        aggregated, per_query = _pipeline().calc([self], qrels, run)
        return _calc_results(aggregated[self], per_query)

    def evaluator(self, qrels: Any) -> Evaluator:
        """Return an evaluator that scores several runs."""
        return _pipeline().evaluator([self], qrels)

    def aggregator(self) -> Agg:
        """Return a new aggregation."""
        return SumAgg() if self.SUMMED else MeanAgg()

    @cached_property
    def _text(self) -> str:
        shown = ",".join(
            f"{name}={_show(value)}"
            for name, value in self.params.items()
            if name != self.AT_PARAM and value != self.SUPPORTED_PARAMS[name].default
        )
        text = f"{self.NAME}({shown})" if shown else str(self.NAME)
        at = self.params.get(self.AT_PARAM, NOT_PROVIDED)
        return text if at is NOT_PROVIDED else f"{text}@{at}"

    def __str__(self) -> str:
        return repr(self)

    def __repr__(self) -> str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Measure) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(repr(self))


BaseMeasure = Measure


def _show(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ",".join(f"{k}:{v}" for k, v in sorted(value.items()) if k != v) + "}"
    return repr(value)


def _pipeline() -> Provider:
    from berryeval.compat.ir_measures.providers.pipeline import DefaultPipeline

    return DefaultPipeline


def _calc_results(aggregated: float, per_query: list[Metric]) -> CalcResults:
    from berryeval.compat.ir_measures.util import CalcResults

    return CalcResults(aggregated, per_query)


registry: dict[str, Measure] = {}


def register(
    measure: Measure, aliases: list[str] | tuple[str, ...] = (), name: str | None = None
) -> dict[str, Measure]:
    """Add a measure to those that `parse_measure` knows."""
    for one in (name or str(measure.NAME), *aliases):
        if one in registry:
            raise AssertionError(f"the measure {one!r} is registered already")
        registry[one] = measure
    return registry
