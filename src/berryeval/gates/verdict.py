"""The verdict on one rule of a gate."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

from berryeval._internal.intervals import Interval
from berryeval._internal.numbers import precise_delta
from berryeval._internal.records import JsonRecord, Reader, is_finite, one_of, refused
from berryeval.gates.rules import ROUNDING
from berryeval.metrics import direction_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.gates.rules import Rule


About: TypeAlias = Literal["", "metric", "latency", "errors"]
Status: TypeAlias = Literal["pass", "fail", "inconclusive"]


def _interval(value: Any, where: str) -> Interval:
    if not isinstance(value, list | tuple) or len(value) != 2:  # noqa: PLR2004 - its two ends
        raise refused(where, "an array of two numbers", value)
    for place, end in enumerate(value):
        if isinstance(end, bool) or not isinstance(end, int | float) or not is_finite(end):
            at = f"{where}[{place}]"
            raise refused(at, "a number", end)
    return Interval(*value)


@dataclass(frozen=True)
class Verdict(JsonRecord):
    """Whether a provider satisfies a rule on a benchmark, in a sentence for people.

    Attributes:
        status: "pass", "fail", or "inconclusive" where the data cannot tell.
        rule: the rule in a few words, as "nDCG@10 >= 0.5".
        sentence: what was found, what the rule wants.
        benchmark: on which benchmark.
        provider: which provider.
        group: for which group of queries, as "category=factual"; empty for all.
        metric: by which metric; empty where the rule is about something else, as latency.
        value: what was found; None if there is nothing to judge.
        limit: what the rule wants.
        about: what kind of rule it is; empty where that is not known.
        n: how many queries it was judged by; None if by none.
        interval: of the value, or of the change in a rule about a drop; None if there is none.
        level: of confidence of the interval.
        p: of the change, corrected for the `family`; None if there is none.
        family: how many changes were corrected together; None without p.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Status": one_of(*get_args(Status)),
        "About": one_of(*get_args(About)),
        "Interval": _interval,
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
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """All fields, ready for JSON: those that have nothing to say too."""
        data = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "extra"}
        ends = None if self.interval is None else list(self.interval)
        return {**data, "interval": ends, **self.extra}


# What rules want, and what was found, in words whose numbers tell the two apart.


def told_apart(value: float, limit: float, digits: int = 3) -> str:
    """A value with so many digits, or as many as it takes to be on its side of the limit.

    >>> told_apart(0.7512, 0.75), told_apart(0.7496, 0.75), told_apart(0.75, 0.75)
    ('0.751', '0.7496', '0.750')
    """
    for more in range(digits, 16):
        text = f"{value:.{more}f}"
        if _on_its_side(float(text), value, limit):
            return text
    return repr(value)


def limit_of(rule: Rule) -> float:
    """The number that the rule wants something to keep to."""
    wanted = (rule.at_least, rule.at_most, rule.max_drop)
    return next((one for one in wanted if one is not None), 0.0)


def wants(rule: Rule, *, fell: bool = False) -> str:
    """What the rule wants, as "the gate wants at least 0.6"; after "fell by", how far it may."""
    limit = limit_of(rule)
    if rule.max_drop is not None:
        if not limit:
            return f"the gate allows no {fall_of(rule)}"
        return f"the gate allows {'' if fell else f'a {fall_of(rule)} of '}{_drop(limit)}"
    bound = "at least" if rule.at_least is not None else "at most"
    if rule.latency:
        return f"the gate wants {bound} {limit * 1000:.10g} ms"
    return f"the gate wants {bound} {percent(limit) if rule.errors else f'{limit:.10g}'}"


def fall_of(rule: Rule) -> str:
    """What is worse: a drop, or a rise where less is better."""
    return "rise" if direction_of(rule.metric) == "down" else "drop"


def change_of(change: float, limit: float) -> str:
    """How large a change is, without its sign."""
    size = abs(change)
    text = precise_delta(size).lstrip("+")
    return text if _on_its_side(float(text), size, limit) else told_apart(size, limit)


def _on_its_side(shown: float, value: float, limit: float) -> bool:
    """Whether a rounded value is where the value is: above the limit, below it, or at it."""
    if abs(value - limit) <= ROUNDING:
        return True
    return shown != limit and (shown > limit) == (value > limit)


def percent(share: float) -> str:
    """A share as percent, with one digit or with all it has."""
    text = f"{share * 100:.1f}"
    return f"{text if abs(float(text) - share * 100) <= ROUNDING else f'{share * 100:.10g}'}%"


def _drop(limit: float) -> str:
    """What may be lost, with three digits or with all it has."""
    text = precise_delta(limit).lstrip("+")
    return text if float(text) == limit else f"{limit:.10g}"
