"""The rules of a gate, as a configuration file has them."""

from __future__ import annotations

import math
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from berryeval.errors import BerryEvalError
from berryeval.metrics import UNBOUNDED, Range, direction_of, range_of

# A flag is no number, and a text is none: `at_least: yes` is a slip of the pen.
Share = Annotated[float, Field(strict=True, gt=0, lt=1)]
Limit = Annotated[float, Field(strict=True, allow_inf_nan=False)]
_USUAL: Final = 0.05
LEAST_SIGNIFICANCE: Final = 0.001  # p is a share of random samples, and must be able to reach it
ROUNDING: Final = 1e-9  # a mean of floats may lie that much off what it is on paper


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(_Part):
    """One rule: what is looked at, what is wanted of it, and where."""

    metric: str = Field(default="", description="a name of `berryeval list metrics`, as nDCG@10")
    latency: Literal["", "p50", "p95", "p99", "max"] = Field(default="", description="in seconds")
    errors: bool = Field(default=False, description="the share of queries without an answer")
    at_least: Limit | None = Field(default=None, description="the least value")
    at_most: Limit | None = Field(default=None, description="the largest value")
    max_drop: Annotated[Limit, Field(ge=0)] | None = Field(
        default=None, description="how much worse than the baseline the metric may be"
    )
    significance: Annotated[float, Field(strict=True, lt=1)] = Field(
        default=_USUAL,
        json_schema_extra={"minimum": LEAST_SIGNIFICANCE},
        description="a drop counts as real when chance alone makes such a one at most so often",
    )
    confidence: Share | None = Field(
        default=None,
        description="judge a limit by an interval of this level, not by the value alone",
    )
    where: dict[str, str] = Field(
        default={}, description="only queries with these, as category: factual"
    )
    benchmarks: list[str] = Field(default=[], description="only on these")
    providers: list[str] = Field(default=[], description="only for these")

    @field_validator("metric")
    @classmethod
    def _known_metric(cls, name: str) -> str:
        from berryeval.metrics import parse_metric

        if not name:
            return name
        try:
            return str(parse_metric(name))
        except BerryEvalError as error:
            raise ValueError(str(error)) from None

    @field_validator("significance")
    @classmethod
    def _can_be_reached(cls, value: float) -> float:
        if value < LEAST_SIGNIFICANCE:
            msg = (
                f"the smallest is {LEAST_SIGNIFICANCE:g}, found {value:g}: p is counted in random "
                "samples, and a rule whose p none of them reaches would never fail"
            )
            raise ValueError(msg)
        return value

    @model_validator(mode="after")
    def _one_thing(self) -> Rule:
        looked_at = [bool(self.metric), bool(self.latency), self.errors]
        if sum(looked_at) != 1:
            msg = "a rule is about one of: metric, latency, errors"
            raise ValueError(msg)
        wanted = [self.at_least, self.at_most, self.max_drop]
        if sum(one is not None for one in wanted) != 1:
            msg = f"{self.subject}: a rule wants one of: at_least, at_most, max_drop"
            raise ValueError(msg)
        if not self.metric and (self.max_drop is not None or self.confidence or self.where):
            msg = f"{self.subject}: max_drop, confidence and where are for metrics"
            raise ValueError(msg)
        if self.max_drop is not None and self.confidence:
            msg = f"{self.subject}: a drop is judged by `significance`; leave out `confidence`"
            raise ValueError(msg)
        if self.max_drop is None and self.significance != _USUAL:
            msg = f"{self.subject}: `significance` is for rules with max_drop; leave it out"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _may_fail(self) -> Rule:
        """Refuse limits of shares and times that cannot be meant, and drops of what has none."""
        if not self.metric and self.at_least is not None:
            msg = f"{self.subject}: less is better, so a rule wants at_most"
            raise ValueError(msg)
        if self.errors and self.at_most is not None and not 0 <= self.at_most < 1:
            msg = (
                f"{self.subject}: at_most is a share from 0 to below 1, as 0.05; found "
                f"{self.at_most:g}"
            )
            raise ValueError(msg)
        if self.latency and self.at_most is not None and self.at_most < 0:
            msg = f"{self.subject}: at_most is in seconds, 0 or more; found {self.at_most:g}"
            raise ValueError(msg)
        if self.max_drop is not None and direction_of(self.metric) == "neither":
            msg = f"{self.subject}: neither more nor less of it is better, so it has no drop"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _within_its_range(self) -> Rule:
        """Refuse limits at or beyond the ends of the metric: they never fail."""
        low, high = self._ends
        span, lies = high - low, self._lies
        if self.max_drop is not None and self.max_drop >= span - ROUNDING:
            moves = "rises" if direction_of(self.metric) == "down" else "falls"
            msg = (
                f"{lies} and never {moves} by more than {span:.10g}; max_drop is a difference, as "
                f"{0.02 * span:.3g}, found {self.max_drop:.10g}"
            )
            raise ValueError(msg)
        if self.at_least is not None and self.at_least <= low + ROUNDING:
            msg = f"{lies}: at_least {self.at_least:.10g} would never fail"
            raise ValueError(msg)
        if self.at_most is not None and self.at_most >= high - ROUNDING:
            msg = f"{lies}: at_most {self.at_most:.10g} would never fail"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _may_pass(self) -> Rule:
        """Refuse limits beyond the other end: nothing keeps to them. At it, something may."""
        low, high = self._ends
        if self.at_least is not None and self.at_least > high + ROUNDING:
            percent = high == 1 and 10 <= self.at_least <= 100  # noqa: PLR2004 - 1.2 is none
            hint = f"; did you mean {self.at_least / 100:.10g}?" if percent else ""
            msg = f"{self._lies}: nothing reaches at_least {self.at_least:.10g}{hint}"
            raise ValueError(msg)
        if self.at_most is not None and self.at_most < low - ROUNDING:
            msg = f"{self._lies}: nothing keeps to at_most {self.at_most:.10g}"
            raise ValueError(msg)
        return self

    @property
    def _ends(self) -> Range:
        return range_of(self.metric) if self.metric else UNBOUNDED

    @property
    def _lies(self) -> str:
        low, high = self._ends
        if high == math.inf:
            return f"{self.subject} is never below {low:.10g}"
        return f"{self.subject} lies between {low:.10g} and {high:.10g}"

    @property
    def subject(self) -> str:
        """What the rule is about, for people."""
        if self.metric:
            return self.metric
        return f"latency {self.latency}" if self.latency else "share of failed queries"

    @property
    def about(self) -> Literal["metric", "latency", "errors"]:
        """What kind of thing it looks at."""
        if self.metric:
            return "metric"
        return "latency" if self.latency else "errors"

    def covers(self, benchmark: str, provider: str) -> bool:
        """Whether the rule is about this provider on this benchmark."""
        return (not self.benchmarks or benchmark in self.benchmarks) and (
            not self.providers or provider in self.providers
        )

    @property
    def group(self) -> str:
        """Which queries it is about, for people; empty for all."""
        return ", ".join(f"{name}={value}" for name, value in self.where.items())

    def __str__(self) -> str:
        about = f"{self.subject} ({self.group})" if self.group else self.subject
        if self.max_drop is not None:
            moves = "rises" if direction_of(self.metric) == "down" else "falls"
            return f"{about} {moves} by at most {self.max_drop:.10g}"
        if self.at_least is not None:
            return f"{about} >= {self.at_least:.10g}"
        limit = self.at_most or 0.0
        if self.latency:
            return f"{about} <= {limit * 1000:.10g} ms"
        return f"{about} <= {f'{limit * 100:.10g}%' if self.errors else f'{limit:.10g}'}"


class Gate(_Part):
    """What a run must satisfy."""

    baseline: str = Field(
        default="", description="a file of `berryeval baseline set`, a run, or its name"
    )
    rules: list[Rule] = Field(
        default=[], description="every one is judged; the worst verdict counts"
    )

    @property
    def metrics(self) -> list[str]:
        """The metrics that rules are about, each once."""
        return list(dict.fromkeys(rule.metric for rule in self.rules if rule.metric))
