"""Verdicts: whether a rule holds, and the sentence that explains it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval._internal.aggregates import FEWEST_ALIKE, Interval, restore_scale
from berryeval._internal.numbers import (
    format_allowance,
    format_change_beside,
    format_p_equation,
    format_value_beside,
)
from berryeval._internal.serial import JsonRecord, Reader, choice_reader, type_mismatch
from berryeval._internal.text import format_rescore_command, pluralize
from berryeval._internal.validate import is_number
from berryeval.errors import BerryEvalError
from berryeval.gates.power import estimate_needed
from berryeval.gates.rules import ROUNDING
from berryeval.metrics import cut_to_range, parse_metric, range_of
from berryeval.runner import count_failed
from berryeval.stats import (
    bounded_interval,
    is_testable,
    mean_interval,
    spread_of,
    to_test_scale,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from berryeval.gates.baseline_scores import BaselinePart
    from berryeval.gates.regression import Drop
    from berryeval.gates.rules import Rule
    from berryeval.runs import DataChange, ProviderRecord
    from berryeval.scoring import Scores
    from berryeval.stats import Floats


About: TypeAlias = Literal["", "metric", "latency", "cost", "errors", "data"]
Status: TypeAlias = Literal["pass", "fail", "inconclusive"]
_DEFAULT_LEVEL: Final = 0.95


def _read_interval(value: Any, where: str) -> Interval:
    if not isinstance(value, list | tuple) or len(value) != 2:  # noqa: PLR2004 - low and high
        raise type_mismatch(where, "an array of two numbers", value)
    for place, end in enumerate(value):
        if not is_number(end):
            where += f"[{place}]"
            raise type_mismatch(where, "a number", end)
    return Interval(*value)


@dataclass(frozen=True)
class Verdict(JsonRecord):
    """Outcome of a rule for one provider on one benchmark.

    Attributes:
        status: "pass", "fail", or "inconclusive" if the data do not decide.
        rule: The rule in a few words, such as "nDCG@10 >= 0.5".
        sentence: What was found and what the rule requires.
        benchmark: Name of the benchmark.
        provider: Name of the provider.
        group: Group of queries, such as "category=factual"; empty for all queries.
        metric: Name of the metric; empty for rules about latency, cost and errors.
        value: The value found, or None.
        limit: The limit of the rule.
        about: Kind of rule; empty if unknown.
        n: Number of queries judged, or None.
        interval: Confidence interval of the value, or of the change in a rule about a drop.
        level: Confidence level of the interval.
        p: p-value of the change, corrected for the `family`.
        family: Number of changes corrected together; None without p.
        fallen: Lines about the queries that fell most, or are worst; for the first metric rule of a
            provider that does not pass.
        needed: About how many queries like these would decide an inconclusive rule, or None.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Status": choice_reader(*get_args(Status)),
        "About": choice_reader(*get_args(About)),
        "Interval": _read_interval,
    }

    status: Status
    rule: str
    sentence: str
    benchmark: str = ""
    provider: str = ""
    group: str = ""
    metric: str = ""
    value: float | None = None
    limit: float | None = None
    about: About = ""
    n: int | None = None
    interval: Interval | None = None
    level: float | None = None
    p: float | None = None
    family: int | None = None
    fallen: tuple[str, ...] = ()
    needed: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields for JSON, including empty ones."""
        data = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "extra"}
        ends = None if self.interval is None else list(self.interval)
        return {**data, "interval": ends, "fallen": list(self.fallen), **self.extra}


def within_budget(verdicts: Iterable[Verdict]) -> set[tuple[str, str]]:
    """Return (benchmark, provider) pairs whose failed queries every rule about errors allows."""
    judged = [one for one in verdicts if one.about == "errors"]
    owners = {(one.benchmark, one.provider) for one in judged}
    return owners - {(one.benchmark, one.provider) for one in judged if one.status != "pass"}


# Data that differ from those of the baseline


def describe_data(change: DataChange, touched: int | None) -> Verdict:
    """Say which queries are compared, and what else changed in the data; this never fails."""
    documents = change.documents
    where = " in this run" if documents and (documents.changed or documents.removed) else ""
    return Verdict(
        "pass",
        "queries that compare with the baseline",
        f"the data changed since the baseline: {change.describe(touched, where=where)}",
        about="data",
        n=len(change.compared),
        extra=change.to_dict(touched),
    )


# Rules with a limit


def judge_limit(scores: Scores, rule: Rule) -> Verdict:
    """Compare a metric with its limit: its value, or its interval if the rule has a confidence."""
    if not scores.count:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was scored")
    value, limit = scores.mean[rule.metric], rule.limit
    level = rule.confidence or _DEFAULT_LEVEL
    row = scores.row_of(rule.metric)
    interval = interval_of_value(rule.metric, scores.values[row], scores.aggregates[row], level)
    status = _compare_with_limit(value, value, rule)
    if rule.confidence:
        alike = status == "fail" and scores.count >= FEWEST_ALIKE
        unknown: Status = "fail" if alike else "inconclusive"
        status = _compare_with_limit(*interval, rule) if interval else unknown
    shown = format_value_beside(value, limit)
    shown += _describe_interval(interval, rule, level, scores.count)
    sentence = f"{rule.subject} is {shown}; {rule.requirement}"
    needed = None
    if status == "inconclusive":
        verb = "is" if scores.count == 1 else "are"
        why = f"{pluralize(scores.count, 'query')} {verb} too few to decide"
        if interval is None and scores.count > 1:
            why = f"{scores.count} identical values do not show how much values vary"
        elif interval is not None and scores.aggregates[row] == "mean":
            needed = _needed_for_limit(scores.values[row], rule, level)
        sentence += f", but {why}{_suggest(needed)}"
    return Verdict(
        status, str(rule), sentence,
        value=value, limit=limit, n=scores.count,
        interval=interval, level=level if interval else None, needed=needed,
    )  # fmt: skip


def judge_estimate(
    value: float, interval: Interval, level: float, count: int, rule: Rule
) -> Verdict:
    """Compare an estimate with a limit: its value, or its interval if the rule has a confidence."""
    status = _compare_with_limit(*(interval if rule.confidence else (value, value)), rule)
    shown = format_value_beside(value, rule.limit)
    shown += _describe_interval(interval, rule, level, count)
    sentence = f"{rule.subject} is {shown}; {rule.requirement}"
    if status == "inconclusive":
        sentence += f", but {pluralize(count, 'query')} are too few to decide"
    return Verdict(
        status, str(rule), sentence,
        value=value, limit=rule.limit, n=count, interval=interval, level=level,
    )  # fmt: skip


def _needed_for_limit(values: Floats, rule: Rule, level: float) -> int | None:
    def decides(places: npt.NDArray[np.intp], margin: float) -> bool:
        found = interval_of_value(rule.metric, values[places], "mean", level)
        if found is None:
            return False
        return _compare_with_limit(found.low - margin, found.high + margin, rule) != "inconclusive"

    return estimate_needed(values, float(values.mean()) - rule.limit, level, decides)


def _suggest(needed: int | None) -> str:
    return "" if needed is None else f"; about {needed:,} like these would suffice"


def interval_of_value(metric: str, values: Floats, how: str, level: float) -> Interval | None:
    """Return the interval of an aggregate, cut to the range of the metric; None if unknown.

    That of a mean allows for an unseen query at the end of the range; that of a sum or a geometric
    mean is Student's, and identical values have none.
    """
    if how == "mean":
        return bounded_interval(values, range_of(metric), level)
    if not is_testable(values, how) or spread_of(values) == 0:
        return None
    of_mean = mean_interval(to_test_scale(values, how), level)
    if of_mean is None:
        return None
    return cut_to_range(restore_scale(how, of_mean, len(values)), metric, how, values)


def _describe_interval(interval: Interval | None, rule: Rule, level: float, count: int) -> str:
    """Describe the interval, or that a rule which is judged by it has none."""
    if interval is None:
        alike = rule.confidence and count >= FEWEST_ALIKE
        return f", identical in all {count} queries" if alike else ""
    low, high = (format_value_beside(end, rule.limit) for end in interval)
    return f", {level * 100:g} % CI [{low}, {high}]"


def judge_latency(provider: ProviderRecord, rule: Rule) -> Verdict:
    """Compare a percentile of the latency with its limit."""
    if provider.latency is None:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was answered")
    value, limit = float(getattr(provider.latency, rule.latency)), rule.limit
    shown = format_value_beside(value * 1000, limit * 1000, 1)
    sentence = f"{rule.subject} is {shown} ms; {rule.requirement}"
    status = _compare_with_limit(value, value, rule)
    return Verdict(status, str(rule), sentence, value=value, limit=limit)


def judge_cost(provider: ProviderRecord, rule: Rule) -> Verdict:
    """Compare the mean cost of an answered query with its limit."""
    value, limit = provider.cost.get(rule.cost), rule.limit
    if value is None:
        reported = ", ".join(provider.cost) or "no cost"
        sentence = f"{rule.subject} is unknown: {provider.name} reports {reported}"
        return Verdict("inconclusive", str(rule), sentence, limit=limit)
    sentence = f"{rule.subject} is {value:.6g} per query; {rule.requirement}"
    return Verdict(
        _compare_with_limit(value, value, rule), str(rule), sentence, value=value, limit=limit
    )


def judge_errors(provider: ProviderRecord, rule: Rule) -> Verdict:
    """Compare the share of failed queries with its limit."""
    total = sum(provider.outcomes.values())
    if not total:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was asked")
    failed = count_failed(provider.outcomes)
    value, limit = failed / total, rule.limit
    share = format_value_beside(value * 100, limit * 100, 1)
    queries = pluralize(total, "query")
    sentence = f"{failed} of {queries} failed ({share}%); {rule.requirement}"
    status = _compare_with_limit(value, value, rule)
    return Verdict(status, str(rule), sentence, value=value, limit=limit, n=total)


def _compare_with_limit(low: float, high: float, rule: Rule) -> Status:
    """Pass if all of low to high meets the limit, fail if none does, else inconclusive."""
    limit = rule.limit
    if rule.at_most is not None:
        low, high, limit = -high, -low, -limit
    if low >= limit - ROUNDING:
        return "pass"
    return "fail" if high < limit - ROUNDING else "inconclusive"


# Rules about a drop


def judge_drop(drop: Drop, rule: Rule, *, wanted: bool = True) -> Verdict:
    """Judge a drop; the sentence mentions the allowed drop if `wanted`."""
    status, why = _decide(drop, rule)
    if status == "pass" and drop.missing:
        status = "inconclusive"
    allowed = _compare_with_allowed(drop, rule) if wanted and not drop.same else ""
    return Verdict(
        status, str(rule), f"{_describe(drop, rule)}{allowed}{_add_details(drop, rule)}{why}",
        value=drop.change if drop.queries else None, limit=rule.max_drop, n=drop.queries,
        interval=drop.interval, level=round(1 - rule.significance, 12) if drop.interval else None,
        p=drop.p, family=None if drop.p is None else drop.family, needed=drop.needed,
    )  # fmt: skip


def _decide(drop: Drop, rule: Rule) -> tuple[Status, str]:
    """Return the status by the shared queries, and the reason if it is inconclusive."""
    if drop.same:
        return "pass", ""
    if drop.p is None:
        why = drop.cannot or "too few queries"
        return "inconclusive", f"; significance cannot be tested: {why}"
    least = -(rule.max_drop or 0.0) - ROUNDING
    significant = drop.p <= rule.significance
    more = _suggest(drop.needed).replace(" like these", " queries like these")
    if drop.gain < least:
        chance = f", but the {rule.worsening} is not significant{more}"
        return ("fail", "") if significant else ("inconclusive", chance)
    gained = significant and drop.gain >= 0 and drop.worst_gain >= least
    if gained or (drop.least_gain is not None and drop.least_gain >= least):
        return "pass", ""
    if drop.no_room:
        end = "high" if drop.less_is_better else "low"
        return "inconclusive", f", but the baseline is too {end} for a larger {rule.worsening}"
    return "inconclusive", f", but a larger {rule.worsening} cannot be ruled out{more}"


def _describe(drop: Drop, rule: Rule) -> str:
    """Describe how the metric changed, with its interval."""
    if drop.same:
        shared = "shared " if drop.new or drop.missing else ""
        score = f"all {drop.queries} {shared}queries score"
        if drop.queries == 1:
            score = f"the only {shared}query scores"
        return f"{rule.subject} is unchanged: {score} as in the baseline"
    moved = "is unchanged overall"
    if drop.change:
        word = "dropped" if drop.change < 0 else "rose"
        moved = f"{word} by {format_change_beside(drop.change, rule.limit)}"
    moved = f"{rule.subject} {moved}"
    if drop.interval is None:
        return moved
    low, high = (
        f"{'-' if end < 0 else '+'}{format_change_beside(end, rule.limit)}" for end in drop.interval
    )
    return f"{moved}, {(1 - rule.significance) * 100:g} % CI [{low}, {high}]"


def _compare_with_allowed(drop: Drop, rule: Rule) -> str:
    """Compare a change for the worse with the allowed one; otherwise state the requirement."""
    if drop.gain >= 0 or not rule.limit:
        return f"; {rule.requirement}"
    word = "more than" if drop.gain < -rule.limit - ROUNDING else "within"
    return f", {word} the allowed {format_allowance(rule.limit)}"


def _add_details(drop: Drop, rule: Rule) -> str:
    """Return the p-value and the number of queries without a counterpart, in parentheses."""
    parts = []
    if drop.p is not None and not drop.same:
        family = f" after correction for {drop.family} rules" if drop.family > 1 else ""
        parts.append(f"{format_p_equation(drop.p)}{family}")
    if drop.missing:
        maybe = " and may belong to this group" if rule.where else ""
        verb = "is" if drop.missing == 1 else "are"
        queries = pluralize(drop.missing, "query")
        parts.append(f"{queries} of the baseline {verb} missing from the run{maybe}")
    if drop.new:
        verb = "is new and was" if drop.new == 1 else "are new and were"
        parts.append(f"{pluralize(drop.new, 'query')} {verb} not compared")
    parts += filter(None, [drop.note])
    return f" ({'; '.join(parts)})" if parts else ""


# Items present on only one side


def missing_verdict(rule: Rule, part: BaselinePart, sentence: str) -> Verdict:
    """Return the verdict for an item of the baseline that the run lacks."""
    return Verdict(
        "inconclusive", str(rule), sentence,
        benchmark=part.benchmark, provider=part.provider, group=rule.group,
        metric=rule.metric, limit=rule.max_drop, about=rule.about,
    )  # fmt: skip


def missing_sentence(item: str) -> str:
    """Return the sentence for an item of the baseline that the run lacks."""
    return f"the baseline has {item}, the run does not; nothing was compared"


def unmeasured_sentence(metric: str, part: BaselinePart, run: str) -> str:
    """Return the sentence for a metric of the baseline that the run lacks, with what to type."""
    found = (
        f"the baseline has {metric} of {part.provider} on {part.benchmark}, the run does not "
        "measure it; nothing was compared"
    )
    try:
        parse_metric(metric)
    except BerryEvalError:  # a custom metric that is not registered here
        return found
    again = format_rescore_command(run, metric)
    return (
        f"{found}. To compute it from the answers of the run: {again}; for every run: add it to "
        "metrics"
    )


def new_sentence(provider: str, benchmark: str) -> str:
    """Return the sentence for a provider that the baseline lacks."""
    return f"{provider} on {benchmark} is new and not in the baseline; nothing was compared"
