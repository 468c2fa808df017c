"""Rules of a gate, as written in a configuration file."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from berryeval._internal import numbers
from berryeval.errors import BerryEvalError
from berryeval.metrics import UNBOUNDED, direction_of, range_of

# Strict: `at_least: yes` is a typing error, not the number 1.
Share = Annotated[float, Field(strict=True, gt=0, lt=1)]
Limit = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_DEFAULT_SIGNIFICANCE: Final = 0.05
LEAST_SIGNIFICANCE: Final = 0.001  # a p-value estimated from random samples can reach this
ROUNDING: Final = numbers.LIMIT_ROUNDING


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(_Part):
    """A requirement on a metric, a latency, a cost or the share of failed queries."""

    metric: str = Field(
        default="", description="metric name, such as nDCG@10 (see `berryeval list metrics`)"
    )
    latency: Literal["", "p50", "p95", "p99", "max"] = Field(
        default="", description="latency percentile, in seconds"
    )
    cost: str = Field(
        default="", description="mean cost of a query in a unit that the provider reports (usd)"
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
            raise ValueError(
                f"must be at least {LEAST_SIGNIFICANCE:g}, found {value:g}: the p-value is "
                "estimated from random samples, and a rule that no sample reaches would never fail"
            )
        return value

    @model_validator(mode="after")
    def _reject_problem(self) -> Rule:
        problems = itertools.chain(self._find_conflicts(), self._find_useless_limits())
        if problem := next(problems, ""):
            raise ValueError(problem)
        return self

    def _find_conflicts(self) -> Iterator[str]:
        """Yield fields that do not go together, and limits without a meaning."""
        if sum(map(bool, (self.metric, self.latency, self.cost, self.errors))) != 1:
            yield "a rule needs exactly one of: metric, latency, cost, errors"
        if [self.at_least, self.at_most, self.max_drop].count(None) != 2:  # noqa: PLR2004
            yield f"{self.subject}: a rule needs exactly one of: at_least, at_most, max_drop"
        if not self.metric and (self.max_drop is not None or self.confidence or self.where):
            yield f"{self.subject}: max_drop, confidence and where apply to metrics only"
        if self.max_drop is not None and self.confidence:
            yield f"{self.subject}: a drop is judged by `significance`; remove `confidence`"
        if self.max_drop is None and self.significance != _DEFAULT_SIGNIFICANCE:
            yield f"{self.subject}: `significance` applies to rules with max_drop only; remove it"
        if not self.metric and self.at_least is not None:
            yield f"{self.subject}: less is better, so use at_most"
        if self.errors and self.at_most is not None and not 0 <= self.at_most < 1:
            yield (
                f"{self.subject}: at_most must be a share from 0 to below 1, such as 0.05; found "
                f"{self.at_most:g}"
            )
        if (self.latency or self.cost) and self.at_most is not None and self.at_most < 0:
            least = "0 seconds" if self.latency else "0"
            yield f"{self.subject}: at_most must be {least} or more; found {self.at_most:g}"
        if self.max_drop is not None and direction_of(self.metric) == "neither":
            yield (
                f"{self.subject}: neither higher nor lower values are better, so max_drop does not "
                "apply"
            )

    def _find_useless_limits(self) -> Iterator[str]:
        """Yield limits that can never fail, or never pass, in the range of the metric."""
        low, high = range_of(self.metric) if self.metric else UNBOUNDED
        span = high - low
        known = f"lies between {low:.10g} and {high:.10g}"
        known = f"{self.subject} {f'is never below {low:.10g}' if high == math.inf else known}"
        if self.max_drop is not None and self.max_drop >= span - ROUNDING:
            yield (
                f"{known} and never {self.worsening}s by more than {span:.10g}; max_drop is a "
                f"difference such as {0.02 * span:.3g}, found {self.max_drop:.10g}"
            )
        if self.at_least is not None and self.at_least <= low + ROUNDING:
            yield f"{known}: at_least {self.at_least:.10g} would never fail"
        if self.at_most is not None and self.at_most >= high - ROUNDING:
            yield f"{known}: at_most {self.at_most:.10g} would never fail"
        if self.at_least is not None and self.at_least > high + ROUNDING:
            percent = high == 1 and 10 <= self.at_least <= 100  # noqa: PLR2004 - not 1.2
            hint = f"; did you mean {self.at_least / 100:.10g}?" if percent else ""
            yield f"{known}: nothing reaches at_least {self.at_least:.10g}{hint}"
        if self.at_most is not None and self.at_most < low - ROUNDING:
            yield f"{known}: nothing stays below at_most {self.at_most:.10g}"

    @property
    def subject(self) -> str:
        """What the rule looks at, such as "nDCG@10" or "latency p95"."""
        if self.metric:
            return self.metric
        if self.cost:
            return f"cost in {self.cost}"
        return f"latency {self.latency}" if self.latency else "share of failed queries"

    @property
    def about(self) -> Literal["metric", "latency", "cost", "errors"]:
        """Kind of subject."""
        if self.cost:
            return "cost"
        return "metric" if self.metric else "latency" if self.latency else "errors"

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
        return f"the gate {bound} {shown}{f' {self.cost} per query' * bool(self.cost)}"

    def covers(self, benchmark: str, provider: str) -> bool:
        """Whether the rule applies to this provider on this benchmark."""
        return (not self.benchmarks or benchmark in self.benchmarks) and (
            not self.providers or provider in self.providers
        )

    def __str__(self) -> str:
        about = f"{self.subject} ({self.group})" if self.group else self.subject
        if self.max_drop is not None:
            return f"{about} {self.worsening}s by at most {self.max_drop:.10g}"
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
    on_inconclusive: Literal["pass", "fail"] = Field(
        default="pass", description="what an inconclusive rule does; `--strict` means fail"
    )
    strict_data: bool = Field(
        default=False, description="refuse a baseline that was measured on other data"
    )

    @property
    def metrics(self) -> list[str]:
        """The metrics that the rules mention, each once."""
        return list(dict.fromkeys(rule.metric for rule in self.rules if rule.metric))
