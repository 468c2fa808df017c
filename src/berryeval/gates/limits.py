"""Rules with a limit: the least or the largest value of a measure, a latency, a share of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.gates.intervals import interval_of_value
from berryeval.gates.verdict import Status, Verdict
from berryeval.harness.ranking import FAILED

if TYPE_CHECKING:
    from berryeval.gates.rules import Rule
    from berryeval.results import ProviderRecord
    from berryeval.scores import Scores

__all__ = ["ROUNDING", "judge_errors", "judge_latency", "judge_limit", "told_apart"]

ROUNDING: Final = 1e-9  # a mean of floats may lie that much off what it is on paper


def judge_limit(scores: Scores, rule: Rule) -> Verdict:
    """Whether a measure keeps to its limit: by its value, or by its interval if that is asked."""
    if not scores.count:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was scored")
    value, limit = scores.mean[rule.measure], _limit(rule)
    level = rule.confidence or 0.95
    row = scores.row_of(rule.measure)
    interval = interval_of_value(scores.values[row], scores.aggregates[row], level)
    status = _status(value, value, rule)
    if rule.confidence:
        status = _status(*interval, rule) if interval else "inconclusive"
    shown = f", {level * 100:g} % CI [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
    sentence = (
        f"{rule.subject} is {told_apart(value, limit)}{shown}; the gate wants {_bound(rule)} "
        f"{limit:.10g}"
    )
    if status == "inconclusive":
        sentence += f", and {_cannot_tell(scores.count, spread=interval is not None)}"
    return Verdict(status, str(rule), sentence, value=value, limit=limit)


def _cannot_tell(count: int, *, spread: bool) -> str:
    if count == 1:
        return "one query says nothing about others"
    if not spread:
        return f"{count} queries of one value say nothing about its spread"
    return f"{count} queries cannot tell"


def judge_latency(provider: ProviderRecord, rule: Rule) -> Verdict:
    """Whether a percentile of the latency keeps to its limit."""
    if provider.latency is None:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was answered")
    value, limit = float(getattr(provider.latency, rule.latency)), _limit(rule)
    sentence = (
        f"{rule.subject} is {value * 1000:.1f} ms; the gate wants {_bound(rule)} "
        f"{limit * 1000:g} ms"
    )
    return Verdict(_status(value, value, rule), str(rule), sentence, value=value, limit=limit)


def judge_errors(provider: ProviderRecord, rule: Rule) -> Verdict:
    """Whether the share of queries that failed keeps to its limit."""
    total = sum(provider.outcomes.values())
    if not total:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was asked")
    failed = sum(provider.outcomes.get(outcome, 0) for outcome in FAILED)
    value, limit = failed / total, _limit(rule)
    sentence = (
        f"{failed} of {total} queries failed ({value:.1%}); the gate wants {_bound(rule)} "
        f"{limit:.1%}"
    )
    return Verdict(_status(value, value, rule), str(rule), sentence, value=value, limit=limit)


def told_apart(value: float, limit: float) -> str:
    """A value with three digits, or with as many as it takes to tell it from the limit."""
    for digits in range(3, 16):
        text = f"{value:.{digits}f}"
        if abs(value - limit) <= ROUNDING or float(text) != limit:
            return text
    return repr(value)


def _limit(rule: Rule) -> float:
    limit = rule.at_least if rule.at_least is not None else rule.at_most
    return 0.0 if limit is None else limit


def _bound(rule: Rule) -> str:
    return "at least" if rule.at_least is not None else "at most"


def _status(low: float, high: float, rule: Rule) -> Status:
    """Of a value that lies between these: all of it within the limit, all beyond, or neither."""
    limit = _limit(rule)
    if rule.at_most is not None:
        low, high, limit = -high, -low, -limit
    if low >= limit - ROUNDING:
        return "pass"
    return "fail" if high < limit - ROUNDING else "inconclusive"
