"""The rules of a gate, as a configuration file has them."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from berryeval.errors import BerryEvalError
from berryeval.gates.ranges import lies_within_one
from berryeval.measures.direction import direction_of

__all__ = ["Gate", "Rule"]

Share = Annotated[float, Field(gt=0, lt=1)]
Limit = Annotated[float, Field(allow_inf_nan=False)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Rule(_Part):
    """One rule: what is looked at, what is wanted of it, and where."""

    measure: str = Field(default="", description="a name of `berryeval list measures`, as nDCG@10")
    latency: Literal["", "p50", "p95", "p99", "max"] = Field(default="", description="in seconds")
    errors: bool = Field(default=False, description="the share of queries without an answer")
    at_least: Limit | None = Field(default=None, description="the least value")
    at_most: Limit | None = Field(default=None, description="the largest value")
    max_drop: Annotated[Limit, Field(ge=0)] | None = Field(
        default=None, description="how much worse than the baseline the measure may be"
    )
    significance: Share = Field(
        default=0.05,
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

    @field_validator("measure")
    @classmethod
    def _known_measure(cls, name: str) -> str:
        from berryeval.measures import parse_measure

        if not name:
            return name
        try:
            return str(parse_measure(name))
        except BerryEvalError as error:
            raise ValueError(str(error)) from None

    @model_validator(mode="after")
    def _one_thing(self) -> Rule:
        looked_at = [bool(self.measure), bool(self.latency), self.errors]
        if sum(looked_at) != 1:
            msg = "a rule is about one of: measure, latency, errors"
            raise ValueError(msg)
        wanted = [self.at_least, self.at_most, self.max_drop]
        if sum(one is not None for one in wanted) != 1:
            msg = f"{self.subject}: a rule wants one of: at_least, at_most, max_drop"
            raise ValueError(msg)
        if not self.measure and (self.max_drop is not None or self.confidence or self.where):
            msg = f"{self.subject}: max_drop, confidence and where are for measures"
            raise ValueError(msg)
        if self.max_drop is not None and self.confidence:
            msg = f"{self.subject}: a drop is judged by `significance`; leave out `confidence`"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _may_fail(self) -> Rule:
        """Refuse limits that nothing can break."""
        if not self.measure and self.at_least is not None:
            msg = f"{self.subject}: less is better, so a rule wants at_most"
            raise ValueError(msg)
        if self.errors and self.at_most is not None and self.at_most >= 1:
            msg = f"{self.subject}: at_most is a share below 1, as 0.05; found {self.at_most:g}"
            raise ValueError(msg)
        if self.max_drop is not None and direction_of(self.measure) == "neither":
            msg = f"{self.subject}: neither more nor less of it is better, so it has no drop"
            raise ValueError(msg)
        if self.max_drop is not None and self.max_drop >= 1 and lies_within_one(self.measure):
            msg = (
                f"{self.subject} lies between 0 and 1 and never falls by more than 1; max_drop is "
                f"a difference, as 0.02, found {self.max_drop:g}"
            )
            raise ValueError(msg)
        return self

    @property
    def subject(self) -> str:
        """What the rule is about, for people."""
        if self.measure:
            return self.measure
        return f"latency {self.latency}" if self.latency else "share of failed queries"

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
            moves = "rises" if direction_of(self.measure) == "down" else "falls"
            return f"{about} {moves} by at most {self.max_drop:.10g}"
        if self.at_least is not None:
            return f"{about} >= {self.at_least:.10g}"
        return f"{about} <= {self.at_most:.10g}"


class Gate(_Part):
    """What a run must satisfy."""

    baseline: str = Field(
        default="", description="a file of `berryeval baseline set`, a run, or its name"
    )
    rules: list[Rule] = Field(
        default=[], description="every one is judged; the worst verdict counts"
    )

    @property
    def measures(self) -> list[str]:
        """The measures that rules are about, each once."""
        return list(dict.fromkeys(rule.measure for rule in self.rules if rule.measure))
