"""The verdict on a drop, in a sentence with its numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.gates.rules import ROUNDING
from berryeval.gates.verdict import Status, Verdict
from berryeval.gates.wording import change_of, fall_of, limit_of, wants
from berryeval.io.words import counted
from berryeval.stats.wording import p_value

if TYPE_CHECKING:
    from berryeval.gates.regression import Drop
    from berryeval.gates.rules import Rule

__all__ = ["judge_drop"]


def judge_drop(drop: Drop, rule: Rule, *, wanted: bool = True) -> Verdict:
    """The verdict on a drop; the sentence says what the gate allows if that is `wanted`."""
    status, why = _decided(drop, rule)
    if status == "pass" and drop.missing:
        status = "inconclusive"
    allowed = f"; {wants(rule, fell=drop.gain < 0)}" if wanted and not drop.same else ""
    return Verdict(
        status, str(rule), f"{_found(drop, rule)}{allowed}{_more(drop, rule)}{why}",
        value=drop.change if drop.queries else None, limit=rule.max_drop, n=drop.queries,
        interval=drop.interval, level=round(1 - rule.significance, 12) if drop.interval else None,
        p=drop.p, family=None if drop.p is None else drop.family,
    )  # fmt: skip


def _decided(drop: Drop, rule: Rule) -> tuple[Status, str]:
    """The verdict by the queries that both have, and why it is not decided."""
    if drop.same:
        return "pass", ""
    if drop.p is None:
        why = drop.cannot or "the queries cannot tell"
        return "inconclusive", f", and whether that is chance cannot be said: {why}"
    least = -(rule.max_drop or 0.0) - ROUNDING
    real = drop.p <= rule.significance
    if drop.gain < least:
        return ("fail", "") if real else ("inconclusive", ", and it may be chance")
    rose = real and drop.gain >= 0  # all there is to go by where every query changed by the same
    if rose if drop.least_gain is None else drop.least_gain >= least:
        return "pass", ""
    if drop.no_room:
        end = "high" if drop.less_is_better else "low"
        return "inconclusive", f", and the baseline is too {end} for a larger {fall_of(rule)}"
    return "inconclusive", f", and a larger {fall_of(rule)} is not excluded"


def _found(drop: Drop, rule: Rule) -> str:
    """How the measure moved, with its interval."""
    if drop.same:
        whose = "" if not (drop.new or drop.missing) else " that both have"
        return (
            f"{rule.subject} did not change: all {drop.queries} queries{whose} score as in the "
            "baseline"
        )
    parts = [f"{rule.subject} {_moved(drop, rule)}"]
    if drop.interval is not None and drop.interval.low == drop.interval.high:
        parts.append(f"all {drop.queries} queries alike")
    elif drop.interval is not None:
        low, high = (_signed(end, rule) for end in drop.interval)
        parts.append(f"{(1 - rule.significance) * 100:g} % CI [{low}, {high}]")
    return ", ".join(parts)


def _more(drop: Drop, rule: Rule) -> str:
    """In parentheses: the p-value, and how many queries only one of the two has."""
    parts = []
    if drop.p is not None and not drop.same:
        family = f" after correction for {drop.family} rules" if drop.family > 1 else ""
        parts.append(f"{p_value(drop.p)}{family}")
    if drop.missing:
        maybe = ", and may be of this group" if rule.where else ""
        one = drop.missing == 1
        parts.append(
            f"{counted(drop.missing, 'query', 'queries')} of the baseline {'is' if one else 'are'} "
            f"not in the run{maybe}"
        )
    if drop.new:
        one = drop.new == 1
        parts.append(
            f"{counted(drop.new, 'query', 'queries')} {'is' if one else 'are'} new and not compared"
        )
    return f" ({'; '.join(parts)})" if parts else ""


def _moved(drop: Drop, rule: Rule) -> str:
    if drop.change == 0:
        return "kept its value"
    word = "fell" if drop.change < 0 else "rose"
    return f"{word} by {change_of(drop.change, limit_of(rule))}"


def _signed(end: float, rule: Rule) -> str:
    return f"{'-' if end < 0 else '+'}{change_of(end, limit_of(rule))}"
