"""The table of tests, and `paired_test`, which carries one out."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

import numpy as np

from berryeval._internal.optional import imported
from berryeval._internal.registry import Registry
from berryeval.errors import ConfigurationError
from berryeval.stats import student
from berryeval.stats.paired import FEWEST_RESAMPLED, Pair, Whole, as_whole_numbers, sign_of
from berryeval.stats.resampling import count_sign_flips, resample_sums

if TYPE_CHECKING:
    from berryeval.stats.paired import Floats


# `TestResult`: what a test says, or why it says nothing.


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
    return f"only {differing} {noun}: the smallest possible p is {least:g}"


# Names of tests and corrections, in the spellings that people use.

T = TypeVar("T")
_BETWEEN = re.compile(r"[\s_'-]+")


class SpelledRegistry(Registry[T]):
    """A registry to which capitals, hyphens and the word "test" at the end are all one.

    >>> known = SpelledRegistry("test", {"t": "tests:t"}, {"student": "t", "students t": "t"})
    >>> known.canonical("T-test"), known.canonical("Student's t test"), known.canonical("ttest")
    ('t', 't', 't')
    """

    def get(self, name: str) -> T:
        """The thing of this name, in any spelling."""
        return super().get(self._known(name))

    def canonical(self, name: str) -> str:
        """The name of the thing that this spelling means."""
        return super().canonical(self._known(name))

    def _known(self, name: Any) -> str:
        if not isinstance(name, str):
            msg = (
                f"expected the name of a {self.kind}, found {type(name).__name__}; "
                f"there are {', '.join(self)}"
            )
            raise ConfigurationError(msg)
        spelled = {_folded(one): one for one in (*self._aliases, *self._homes)}
        return name if name in self._aliases else spelled.get(_folded(name), name)


def _folded(name: str) -> str:
    """Without what is written in many ways."""
    text = _BETWEEN.sub("", name.lower())
    return text.removesuffix("test") or text


SAMPLES: Final = 100_000

TESTS: Final = SpelledRegistry[PairedTest](
    "test",
    {
        "randomization": "berryeval.stats.tests:randomization",
        "t": "berryeval.stats.tests:t_test",
        "wilcoxon": "berryeval.stats.tests:wilcoxon",
        "sign": "berryeval.stats.tests:sign",
        "bootstrap": "berryeval.stats.tests:bootstrap",
    },
    {
        "randomisation": "randomization",
        "fisher": "randomization",
        "permutation": "randomization",
        "student": "t",
        "students-t": "t",
        "paired-t": "t",
        "wilcoxon-signed-rank": "wilcoxon",
    },
)


def paired_test(name: str, a: Any, b: Any, *, seed: int = 0, samples: int = SAMPLES) -> TestResult:
    """Whether two systems differ, by their values for the same queries in the same order.

        >>> paired_test("randomization", [0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.5, 0.9]).p
        0.125

    Args:
        name: one of `TESTS`, in any spelling: "t", "t-test", "Student".
        a: the values of the first system, the baseline.
        b: the values of the second.
        seed: of the random samples; the same seed gives the same p on any number of threads.
        samples: how many are drawn, where a test cannot count all there are.

    Returns:
        The result; its p is None, and `cannot` says why, where nothing can be said.
    """
    if not isinstance(name, str):
        msg = (
            f'the name of the test comes first, as in paired_test("t", a, b); found '
            f"{type(name).__name__}; there are {', '.join(TESTS)}"
        )
        raise ConfigurationError(msg)
    test = TESTS.get(name)
    check_count("samples", samples)
    pair = Pair.of(a, b)
    if pair.size == 1:
        return TestResult(None, None, name, cannot="one query is not enough for a test")
    return test(pair, seed, samples)


def check_count(name: str, count: Any, least: int = 1) -> None:
    """A number of samples must be a whole one."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        msg = f"{name} must be a whole number, found {count!r:.80}"
        raise TypeError(msg)
    if count < least:
        msg = f"{name} must be at least {least}, found {count}"
        raise ValueError(msg)


# Fisher's randomisation test: which mean differences would exchanged labels have given?

EXACT_UP_TO: Final = 32  # queries that differ; 2^16 sums on either side are sorted in no time


def randomization(pair: Pair, seed: int, samples: int) -> TestResult:
    """Two-sided: the share of all exchanges whose mean difference is as far from 0, or farther.

    If the two systems do not differ, the values of a query could as well have been those of the
    other system: the sign of every difference may be flipped. Up to 32 queries that differ all
    2^n choices of signs are counted. Beyond, `samples` random ones are, and the one that was
    observed is one more of them: p is (1 + count) / (1 + samples), and never 0. Sums that are
    closer than the rounding of the scores count as equal. Smucker, Allan and Carterette (2007).
    """
    name = "randomisation test"
    if not len(pair.non_zero):
        return TestResult(1.0, 0.0, f"{name}, exact", exact=True, note=note_on_few(0), sign=0)
    flips, exponent = as_whole_numbers(pair.non_zero)
    slack = int(np.ldexp(pair.equal_within * pair.size, exponent)) + len(flips)
    threshold = abs(int(flips.sum())) - slack
    if len(flips) <= EXACT_UP_TO:
        share = exact_share(flips, threshold)
        note = note_on_few(len(flips))
        towards = sign_of(pair.mean)
        return TestResult(share, pair.mean, f"{name}, exact", exact=True, note=note, sign=towards)
    count = count_sign_flips(flips, threshold, seed, samples)
    method = f"{name}, {samples:,} random samples"
    p = (1 + count) / (1 + samples)
    return TestResult(p, pair.mean, method, sign=sign_of(pair.mean))


def exact_share(values: Whole, threshold: int) -> float:
    """The share of all 2^n choices of signs whose sum is `threshold` from 0, or farther.

    The values are split in two: for each of the sums of one half it is looked up in the sorted
    sums of the other how many of these lead far enough.
    """
    if threshold <= 0:
        return 1.0
    middle = len(values) // 2
    left, right = _all_sums(values[:middle]), np.sort(_all_sums(values[middle:]))
    above = len(right) * len(left) - int(np.searchsorted(right, threshold - left, "left").sum())
    below = int(np.searchsorted(right, -threshold - left, "right").sum())
    return float((above + below) / 2 ** len(values))


def _all_sums(values: Whole) -> Whole:
    """The sums of all choices of signs."""
    sums = np.zeros(1, dtype=np.int64)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


# The paired bootstrap test: how far do means of resamples stray from the observed one?

_FEW: Final = 50  # below, p is still a little too small: docs/statistics.md


def bootstrap(pair: Pair, seed: int, samples: int) -> TestResult:
    """Two-sided: the share of resamples that stray from the mean as far as the mean is from 0.

    The differences are moved so that their mean is 0 and resampled with replacement; as in the
    randomisation test p is (1 + count) / (1 + samples). Noreen (1989). Resamples of few queries
    vary too little, so that there is no p below 20 queries, and a note below 50.
    """
    method = f"bootstrap test, {samples:,} resamples"
    if pair.deviation == 0:
        found = f"every query differs by {pair.mean:g}" if pair.mean else "no query differs"
        cannot = f"{found}: the bootstrap needs differences that vary"
        return TestResult(None, None, method, cannot=cannot)
    if pair.size < FEWEST_RESAMPLED:
        cannot = (
            f"{pair.size} queries are too few for the bootstrap, whose false positive rate is too "
            f"high below {FEWEST_RESAMPLED}; use the randomisation test"
        )
        return TestResult(None, None, method, cannot=cannot)
    values, exponent = as_whole_numbers(pair.differences)
    slack = int(np.ldexp(pair.equal_within * pair.size, exponent)) + pair.size
    total = int(values.sum())
    strayed = np.abs(resample_sums(values, seed, samples) - total)
    count = int((strayed >= abs(total) - slack).sum())
    note = ""
    if pair.size < _FEW:
        note = f"with {pair.size} queries the p of the bootstrap is slightly too small"
    p = (1 + count) / (1 + samples)
    return TestResult(p, pair.mean, method, note=note, sign=sign_of(pair.mean))


# Student's paired t test.


def t_test(pair: Pair, _seed: int, _samples: int) -> TestResult:
    """Two-sided, of the differences against a mean of 0, with n - 1 degrees of freedom."""
    method = "paired t test"
    if pair.deviation == 0:
        found = f"every query differs by {pair.mean:g}" if pair.mean else "no query differs"
        cannot = f"{found}: the t test needs differences that vary"
        return TestResult(None, None, method, cannot=cannot)
    statistic = pair.mean / (pair.deviation / math.sqrt(pair.size))
    p = student.two_sided(statistic, pair.size - 1)
    return TestResult(p, statistic, method, sign=sign_of(statistic))


# The sign test: wins against losses, whatever their size.


def sign(pair: Pair, _seed: int, _samples: int) -> TestResult:
    """Two-sided and exact; queries that do not differ are left out."""
    method = "sign test, exact"
    wins, _, losses = pair.wins_ties_losses
    if not wins + losses:
        return TestResult(1.0, 0.0, method, exact=True, note=note_on_few(0), sign=0)
    stats = imported("scipy.stats", "the sign test", extra="stats")
    p = float(stats.binomtest(wins, wins + losses).pvalue)
    note = note_on_few(wins + losses)
    towards = sign_of(wins - losses)
    return TestResult(min(1.0, p), float(wins), method, exact=True, note=note, sign=towards)


# Wilcoxon's signed rank test, exact also where differences are tied.


def wilcoxon(pair: Pair, _seed: int, _samples: int) -> TestResult:
    """Two-sided; queries that do not differ are left out, as Wilcoxon (1945) did.

    Up to 32 queries that differ, all choices of signs of the ranks are counted, so that ties
    (which scores of few values have plenty of) are no matter. Beyond, it is SciPy's normal
    approximation, with its correction for ties. The statistic is the rank sum of what `b` wins.
    """
    name = "Wilcoxon signed rank test"
    if not len(pair.non_zero):
        return TestResult(1.0, 0.0, f"{name}, exact", exact=True, note=note_on_few(0), sign=0)
    ranks = _middle_ranks(np.abs(pair.non_zero), pair.equal_within)
    won, lost = (float(ranks[side].sum()) for side in (pair.non_zero > 0, pair.non_zero < 0))
    towards = sign_of(won - lost)
    if len(ranks) <= EXACT_UP_TO:
        doubled = np.rint(2 * ranks).astype(np.int64)
        p, note = exact_share(doubled, round(2 * abs(won - lost))), note_on_few(len(ranks))
        return TestResult(p, won, f"{name}, exact", exact=True, note=note, sign=towards)
    stats = imported("scipy.stats", "the Wilcoxon test", extra="stats")
    signed = np.copysign(ranks, pair.non_zero)
    found = stats.wilcoxon(signed, zero_method="wilcox", correction=False, method="approx")
    method = f"{name}, normal approximation"
    return TestResult(float(found.pvalue), won, method, sign=towards)


def _middle_ranks(sizes: Floats, equal_within: float) -> Floats:
    """Ranks from 1; sizes closer than the rounding of the scores share the middle of theirs."""
    order = np.argsort(sizes, kind="stable")
    starts = np.flatnonzero(np.diff(sizes[order], prepend=-np.inf) > equal_within)
    ends = np.append(starts[1:], len(sizes))
    ranks = np.empty(len(sizes))
    ranks[order] = np.repeat((starts + 1 + ends) / 2, ends - starts)
    return ranks
