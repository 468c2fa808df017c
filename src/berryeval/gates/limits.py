"""Rules with a limit: the least or the largest value of a measure, a latency, a share of errors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.gates.intervals import interval_of_value
from berryeval.gates.rules import ROUNDING
from berryeval.gates.verdict import Status, Verdict
from berryeval.gates.wording import limit_of, told_apart, wants
from berryeval.harness.outcomes import failed_of

if TYPE_CHECKING:
    from berryeval.gates.rules import Rule
    from berryeval.intervals import Interval
    from berryeval.results import ProviderRecord
    from berryeval.scores import Scores

__all__ = ["judge_errors", "judge_latency", "judge_limit"]

_USUAL_LEVEL = 0.95


def judge_limit(scores: Scores, rule: Rule) -> Verdict:
    """Whether a measure keeps to its limit: by its value, or by its interval if that is asked."""
    if not scores.count:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was scored")
    value, limit = scores.mean[rule.measure], limit_of(rule)
    level = rule.confidence or _USUAL_LEVEL
    row = scores.row_of(rule.measure)
    interval = interval_of_value(rule.measure, scores.values[row], scores.aggregates[row], level)
    status = _status(value, value, rule)
    if rule.confidence:
        status = _status(*interval, rule) if interval else "inconclusive"
    shown = f"{told_apart(value, limit)}{_interval(interval, rule, level, scores.count)}"
    sentence = f"{rule.subject} is {shown}; {wants(rule)}"
    if status == "inconclusive":
        sentence += f", and {_cannot_tell(scores.count, spread=interval is not None)}"
    return Verdict(
        status, str(rule), sentence,
        value=value, limit=limit, n=scores.count,
        interval=interval, level=level if interval else None,
    )  # fmt: skip


def _interval(interval: Interval | None, rule: Rule, level: float, count: int) -> str:
    """The interval in words; of alike values it is a point, and matters only if it decides."""
    if interval is None:
        return ""
    if interval.low == interval.high:
        return f", all {count} queries alike" if rule.confidence else ""
    low, high = (told_apart(end, limit_of(rule)) for end in interval)
    return f", {level * 100:g} % CI [{low}, {high}]"


def _cannot_tell(count: int, *, spread: bool) -> str:
    if count == 1:
        return "one query says nothing about others"
    if not spread:
        return f"{count} queries say nothing about its spread"
    return f"{count} queries cannot tell"


def judge_latency(provider: ProviderRecord, rule: Rule) -> Verdict:
    """Whether a percentile of the latency keeps to its limit."""
    if provider.latency is None:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was answered")
    value, limit = float(getattr(provider.latency, rule.latency)), limit_of(rule)
    sentence = f"{rule.subject} is {told_apart(value * 1000, limit * 1000, 1)} ms; {wants(rule)}"
    return Verdict(_status(value, value, rule), str(rule), sentence, value=value, limit=limit)


def judge_errors(provider: ProviderRecord, rule: Rule) -> Verdict:
    """Whether the share of queries that failed keeps to its limit."""
    total = sum(provider.outcomes.values())
    if not total:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was asked")
    failed = failed_of(provider.outcomes)
    value, limit = failed / total, limit_of(rule)
    share = told_apart(value * 100, limit * 100, 1)
    sentence = f"{failed} of {total} queries failed ({share}%); {wants(rule)}"
    status = _status(value, value, rule)
    return Verdict(status, str(rule), sentence, value=value, limit=limit, n=total)


def _status(low: float, high: float, rule: Rule) -> Status:
    """Of a value that lies between these: all of it within the limit, all beyond, or neither."""
    limit = limit_of(rule)
    if rule.at_most is not None:
        low, high, limit = -high, -low, -limit
    if low >= limit - ROUNDING:
        return "pass"
    return "fail" if high < limit - ROUNDING else "inconclusive"
