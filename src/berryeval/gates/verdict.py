"""The verdict on one rule of a gate."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

from berryeval.intervals import Interval
from berryeval.json_record import JsonRecord, Reader, is_finite, one_of, refused

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["About", "Status", "Verdict"]

About: TypeAlias = Literal["", "measure", "latency", "errors"]
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
        measure: by which measure; empty where the rule is about something else, as latency.
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
    measure: str = ""
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
