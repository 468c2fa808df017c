"""Thresholds: the least value that a measure should have, and who is below it."""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval import gates
from berryeval.errors import ConfigurationError
from berryeval.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.pipeline.run import BenchmarkResult

__all__ = ["Verdict", "read_thresholds", "say_missed", "verdicts"]

_ROUNDING: Final = 1e-9  # a mean of floats may lie that much below what it is on paper
log = logging.getLogger("berryeval")


@dataclass(frozen=True)
class Verdict:
    """Whether a provider reaches a threshold on a benchmark; without scores it does not."""

    benchmark: str
    provider: str
    measure: str
    value: float | None
    least: float

    @property
    def met(self) -> bool:
        """Whether it does."""
        return self.value is not None and self.value >= self.least - _ROUNDING

    def for_report(self) -> gates.Verdict:
        """The same as reports show it."""
        rule = f"{self.measure} >= {self.least:g}"
        if self.value is None:
            sentence = f"{self.provider} has no {self.measure} on {self.benchmark}: its run failed"
        else:
            below = "is at least" if self.met else "is below"
            sentence = (
                f"{self.measure} of {self.provider} on {self.benchmark} is "
                f"{_shown(self.value, self.least)}, which {below} {self.least:g}"
            )
        return gates.Verdict(
            "pass" if self.met else "fail", rule, sentence, self.benchmark, self.provider,
            measure=self.measure, value=self.value, limit=self.least,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {**asdict(self), "met": self.met}


def read_thresholds(texts: Iterable[str], owner: str) -> dict[str, float]:
    """Thresholds that were written as `recall@10=0.80`."""
    found = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            name = ""
        if not name.strip():
            msg = f"{owner}: expected MEASURE=VALUE, as recall@10=0.80, found {text!r}"
            raise ConfigurationError(msg)
    return found


def verdicts(results: Iterable[BenchmarkResult], thresholds: Mapping[str, float]) -> list[Verdict]:
    """Every provider against every threshold, on every benchmark."""
    from berryeval.measures import parse_measure

    return [
        Verdict(
            result.benchmark.name,
            one.name,
            str(parse_measure(measure)),
            None if one.scores is None else one.scores.mean[measure],
            least,
        )
        for result in results
        for measure, least in thresholds.items()
        for one in result.providers
    ]


def say_missed(found: Iterable[Verdict]) -> bool:
    """Log what is below its threshold; whether all of it is met."""
    passed = True
    for one in found:
        if one.met or one.value is None:  # a run that failed is said elsewhere
            continue
        passed = False
        log.error(
            "Quality threshold not met: %s=%s < %g (%s on %s)",
            one.measure, _shown(one.value, one.least), one.least, one.provider, one.benchmark,
        )  # fmt: skip
    return passed


def _shown(value: float, least: float) -> str:
    """Three digits, unless they would hide on which side of the threshold the value is."""
    short = numbers.measure(value)
    below = value < least - _ROUNDING
    return short if (float(short) < least) == below else repr(value)
