"""The verdict on one rule of a gate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, get_args

from berryeval.json_record import JsonRecord, Reader, one_of

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Status", "Verdict"]

Status: TypeAlias = Literal["pass", "fail", "inconclusive"]


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
    """

    readers: ClassVar[Mapping[str, Reader]] = {"Status": one_of(*get_args(Status))}

    status: Status
    rule: str
    sentence: str
    benchmark: str = ""
    provider: str = ""
    group: str = ""
    measure: str = ""
    value: float | None = None
    limit: float | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
