"""`TestResult`: what a test says, or why it says nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from berryeval.stats.paired import Pair

__all__ = ["PairedTest", "TestResult", "note_on_few"]


@dataclass(frozen=True)
class TestResult:
    """The two-sided p-value of a paired test, or why there is none.

    Attributes:
        p: how often a difference as large would be seen if the two did not differ; None if that
            cannot be said.
        statistic: what was compared with its distribution under that assumption.
        method: the test and how it was carried out, in words.
        exact: whether p is exact, not simulated nor approximated.
        cannot: why there is no p.
        note: what to know besides.
        sign: where the statistic points: 1 if `b` is higher by it, -1 if it is lower, 0 if neither;
            tests of signs and ranks may point elsewhere than the mean. None: as the mean does.
    """

    __test__: ClassVar[bool] = False  # pytest takes every Test... for one of its own

    p: float | None
    statistic: float | None
    method: str
    exact: bool = False
    cannot: str = ""
    note: str = ""
    sign: int | None = None


# Takes the values, the seed, and how many random samples to draw.
PairedTest: TypeAlias = Callable[[Pair, int, int], TestResult]


def note_on_few(differing: int) -> str:
    """What tests of signs cannot do with few queries: all of one sign is as likely as 2 in 2^n."""
    if not differing:
        return "no query differs"
    least = 2.0 ** (1 - differing)
    if least <= 0.05:  # noqa: PLR2004 - the usual level can be reached
        return ""
    noun = "query differs" if differing == 1 else "queries differ"
    return f"only {differing} {noun}: no p below {least:g} is possible"
