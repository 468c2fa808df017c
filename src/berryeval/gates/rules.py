"""Rules of a gate, as written in a configuration file."""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from berryeval._internal import numbers
from berryeval.errors import BerryEvalError
from berryeval.metrics import UNBOUNDED, Range, direction_of, range_of

# Strict: `at_least: yes` is a typing error, not the number 1.
Share = Annotated[float, Field(strict=True, gt=0, lt=1)]
Limit = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_DEFAULT_SIGNIFICANCE: Final = 0.05
LEAST_SIGNIFICANCE: Final = 0.001  # a p-value estimated from random samples can reach this
ROUNDING: Final = numbers.LIMIT_ROUNDING


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(_Part):
    """A requirement on a metric, a latency or the share of failed queries."""

    metric: str = Field(
        default="", description="metric name, such as nDCG@10 (see `berryeval list metrics`)"
    )
    latency: Literal["", "p50", "p95", "p99", "max"] = Field(
        default="", description="latency percentile, in seconds"
    )
    errors: bool = Field(default=False, description="share of queries without an answer")
    at_least: Limit | None = Field(default=None, description="smallest allowed value")
    at_most: Limit | None = Field(default=None, description="largest allowed value")
    max_drop: Annotated[Limit, Field(ge=0)] | None = Field(
        default=None, description="largest allowed drop below the baseline"
    )
    significance: Annotated[float, Field(strict=True, lt=1)] = Field(
        default=_DEFAULT_SIGNIFICANCE,
        json_schema_extra={"minimum": LEAST_SIGNIFICANCE},
        description="significance level: a drop fails the rule if its p-value is at most this",
    )
    confidence: Share | None = Field(
        default=None,
        description="judge a limit by the confidence interval of this level, not by the value",
    )
    where: dict[str, str] = Field(
        default={}, description="only queries with these properties, such as category: factual"
    )
    benchmarks: list[str] = Field(default=[], description="only these benchmarks")
    providers: list[str] = Field(default=[], description="only these providers")

    @field_validator("metric")
    @classmethod
    def _parse_metric(cls, name: str) -> str:
        from berryeval.metrics import parse_metric

        if not name:
            return name
        try:
            return str(parse_metric(name))
        except BerryEvalError as error:
            raise ValueError(str(error)) from None

    @field_validator("significance")
    @classmethod
    def _require_reachable_significance(cls, value: float) -> float:
        if value < LEAST_SIGNIFICANCE:
            msg = (
                f"must be at least {LEAST_SIGNIFICANCE:g}, found {value:g}: the p-value is "
                "estimated from random samples, and a rule that no sample reaches would never fail"
            )
            raise ValueError(msg)
        return value

    @model_validator(mode="after")
    def _require_one_subject_and_one_limit(self) -> Rule:
        if sum([bool(self.metric), bool(self.latency), self.errors]) != 1:
            msg = "a rule needs exactly one of: metric, latency, errors"
            raise ValueError(msg)
        limits = [self.at_least, self.at_most, self.max_drop]
        if sum(one is not None for one in limits) != 1:
            msg = f"{self.subject}: a rule needs exactly one of: at_least, at_most, max_drop"
            raise ValueError(msg)
        if not self.metric and (self.max_drop is not None or self.confidence or self.where):
            msg = f"{self.subject}: max_drop, confidence and where apply to metrics only"
            raise ValueError(msg)
        if self.max_drop is not None and self.confidence:
            msg = f"{self.subject}: a drop is judged by `significance`; remove `confidence`"
            raise ValueError(msg)
        if self.max_drop is None and self.significance != _DEFAULT_SIGNIFICANCE:
            msg = f"{self.subject}: `significance` applies to rules with max_drop only; remove it"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _require_meaningful_limit(self) -> Rule:
        """Reject impossible latencies and shares, and drops of metrics without a direction."""
        if not self.metric and self.at_least is not None:
            msg = f"{self.subject}: less is better, so use at_most"
            raise ValueError(msg)
        if self.errors and self.at_most is not None and not 0 <= self.at_most < 1:
            msg = (
                f"{self.subject}: at_most must be a share from 0 to below 1, such as 0.05; found "
                f"{self.at_most:g}"
            )
            raise ValueError(msg)
        if self.latency and self.at_most is not None and self.at_most < 0:
            msg = f"{self.subject}: at_most must be 0 seconds or more; found {self.at_most:g}"
            raise ValueError(msg)
        if self.max_drop is not None and direction_of(self.metric) == "neither":
            msg = (
                f"{self.subject}: neither higher nor lower values are better, so max_drop does not "
                "apply"
            )
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _require_limit_that_can_fail(self) -> Rule:
        """Reject limits at or beyond the ends of the metric's range."""
        low, high = self._range
        span = high - low
        if self.max_drop is not None and self.max_drop >= span - ROUNDING:
            msg = (
                f"{self._stated_range} and never {self._worsens} by more than {span:.10g}; "
                f"max_drop is a difference such as {0.02 * span:.3g}, found {self.max_drop:.10g}"
            )
            raise ValueError(msg)
        if self.at_least is not None and self.at_least <= low + ROUNDING:
            msg = f"{self._stated_range}: at_least {self.at_least:.10g} would never fail"
            raise ValueError(msg)
        if self.at_most is not None and self.at_most >= high - ROUNDING:
            msg = f"{self._stated_range}: at_most {self.at_most:.10g} would never fail"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _require_limit_that_can_pass(self) -> Rule:
        """Reject limits beyond the opposite end; a limit exactly at that end can be met."""
        low, high = self._range
        if self.at_least is not None and self.at_least > high + ROUNDING:
            percent = high == 1 and 10 <= self.at_least <= 100  # noqa: PLR2004 - not 1.2
            hint = f"; did you mean {self.at_least / 100:.10g}?" if percent else ""
            msg = f"{self._stated_range}: nothing reaches at_least {self.at_least:.10g}{hint}"
            raise ValueError(msg)
        if self.at_most is not None and self.at_most < low - ROUNDING:
            msg = f"{self._stated_range}: nothing stays below at_most {self.at_most:.10g}"
            raise ValueError(msg)
        return self

    @property
    def _range(self) -> Range:
        return range_of(self.metric) if self.metric else UNBOUNDED

    @property
    def _stated_range(self) -> str:
        low, high = self._range
        if high == math.inf:
            return f"{self.subject} is never below {low:.10g}"
        return f"{self.subject} lies between {low:.10g} and {high:.10g}"

    @property
    def subject(self) -> str:
        """What the rule looks at, such as "nDCG@10" or "latency p95"."""
        if self.metric:
            return self.metric
        return f"latency {self.latency}" if self.latency else "share of failed queries"

    @property
    def about(self) -> Literal["metric", "latency", "errors"]:
        """Kind of subject."""
        if self.metric:
            return "metric"
        return "latency" if self.latency else "errors"

    @property
    def group(self) -> str:
        """Group of queries, such as "category=factual"; empty for all queries."""
        return ", ".join(f"{name}={value}" for name, value in self.where.items())

    @property
    def limit(self) -> float:
        """The number that the rule compares with."""
        limits = (self.at_least, self.at_most, self.max_drop)
        return next((one for one in limits if one is not None), 0.0)

    @property
    def less_is_better(self) -> bool:
        """Whether a rise of the metric makes it worse."""
        return direction_of(self.metric) == "down"

    @property
    def worsening(self) -> str:
        """Name of a change for the worse: "drop", or "rise" if less is better."""
        return "rise" if self.less_is_better else "drop"

    @property
    def _worsens(self) -> str:
        return f"{self.worsening}s"

    @property
    def requirement(self) -> str:
        """What the gate requires, such as "the gate requires at least 0.6"."""
        limit = self.limit
        if self.max_drop is not None:
            if not limit:
                return f"the gate allows no {self.worsening}"
            return f"the gate allows a {self.worsening} of {numbers.format_allowance(limit)}"
        bound = "requires at least" if self.at_least is not None else "allows at most"
        if self.latency:
            return f"the gate {bound} {limit * 1000:.10g} ms"
        shown = numbers.format_exact_share(limit) if self.errors else f"{limit:.10g}"
        return f"the gate {bound} {shown}"

    def covers(self, benchmark: str, provider: str) -> bool:
        """Whether the rule applies to this provider on this benchmark."""
        return (not self.benchmarks or benchmark in self.benchmarks) and (
            not self.providers or provider in self.providers
        )

    def __str__(self) -> str:
        about = f"{self.subject} ({self.group})" if self.group else self.subject
        if self.max_drop is not None:
            return f"{about} {self._worsens} by at most {self.max_drop:.10g}"
        if self.at_least is not None:
            return f"{about} >= {self.at_least:.10g}"
        limit = self.at_most or 0.0
        if self.latency:
            return f"{about} <= {limit * 1000:.10g} ms"
        return f"{about} <= {f'{limit * 100:.10g}%' if self.errors else f'{limit:.10g}'}"


class Gate(_Part):
    """Rules that a run must satisfy."""

    baseline: str = Field(
        default="", description="file written by `berryeval baseline set`, a run, or its name"
    )
    rules: list[Rule] = Field(default=[], description="rules; the worst verdict decides")

    @property
    def metrics(self) -> list[str]:
        """The metrics that the rules mention, each once."""
        return list(dict.fromkeys(rule.metric for rule in self.rules if rule.metric))
