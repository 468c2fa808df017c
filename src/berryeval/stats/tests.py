"""Paired significance tests."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias, TypeVar

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval._internal.registry import Registry
from berryeval._internal.validate import is_whole
from berryeval.errors import ConfigurationError
from berryeval.stats import student
from berryeval.stats.paired import FEWEST_RESAMPLED, Pair, Whole, scale_to_integers, sign_of
from berryeval.stats.resampling import count_sign_flips, resample_sums

if TYPE_CHECKING:
    from berryeval.stats.paired import Floats


@dataclass(frozen=True)
class TestResult:
    """The result of a two-sided paired test.

    Attributes:
        p: p-value; None if the test is not possible.
        statistic: Test statistic.
        method: Name of the test and the method used.
        exact: Whether p is exact, neither simulated nor approximated.
        cannot: Reason why there is no p-value.
        note: Remark.
        sign: Direction of the statistic: 1 if `b` is higher, -1 if lower, 0 if neither. Tests of
            signs and ranks may disagree with the mean. None: same as the mean.
    """

    __test__: ClassVar[bool] = False  # pytest collects classes named Test...

    p: float | None
    statistic: float | None
    method: str
    exact: bool = False
    cannot: str = ""
    note: str = ""
    sign: int | None = None


# A function of the values, the random seed and the number of random samples.
PairedTest: TypeAlias = Callable[[Pair, int, int], TestResult]


def note_on_few(differing: int) -> str:
    """Return a note if few differing queries limit how small p can be: at least 2 / 2^n."""
    if not differing:
        return "no query differs"
    least = 2.0 ** (1 - differing)
    if least <= 0.05:  # noqa: PLR2004 - the usual level is possible
        return ""
    noun = "query differs" if differing == 1 else "queries differ"
    return f"only {differing} {noun}: the smallest possible p is {least:g}"


T = TypeVar("T")


class SpelledRegistry(Registry[T]):
    """A registry that ignores case, hyphens and a trailing "test" in names.

    >>> known = SpelledRegistry("test", {"t": "tests:t"}, {"student": "t", "students t": "t"})
    >>> known.canonical("T-test"), known.canonical("Student's t test"), known.canonical("ttest")
    ('t', 't', 't')
    """

    def get(self, name: str) -> T:
        """Return the entry with this name, in any spelling."""
        return super().get(self._find(name))

    def canonical(self, name: str) -> str:
        """Return the canonical name of this spelling."""
        return super().canonical(self._find(name))

    def _find(self, name: Any) -> str:
        if not isinstance(name, str):
            raise ConfigurationError(
                f"expected the name of a {self.kind}, found {type(name).__name__}; "
                f"there are {', '.join(self)}"
            )
        spelled = {_normalize(one): one for one in (*self._aliases, *self._homes)}
        return name if name in self._aliases else spelled.get(_normalize(name), name)


def _normalize(name: str) -> str:
    text = re.sub(r"[\s_'-]+", "", name.lower())
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
    """Test whether two systems differ, given their values for the same queries.

        >>> paired_test("randomization", [0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.5, 0.9]).p
        0.125

    Args:
        name: One of `TESTS`, in any spelling: "t", "t-test", "Student".
        a: Values of the baseline.
        b: Values of the other system.
        seed: Random seed; p does not depend on the number of threads.
        samples: Number of random samples, for tests that do not enumerate all cases.

    Returns:
        The result; without a p-value, `cannot` has the reason.
    """
    if not isinstance(name, str):
        raise ConfigurationError(
            f'expected the name of a test first, as in paired_test("t", a, b), found '
            f"{type(name).__name__}; there are {', '.join(TESTS)}"
        )
    test = TESTS.get(name)
    check_samples(samples)
    pair = Pair.of(a, b)
    if pair.size == 1:
        return TestResult(None, None, name, cannot="one query is not enough for a test")
    return test(pair, seed, samples)


def check_samples(samples: Any) -> None:
    """Require a whole number of at least 1."""
    if not is_whole(samples):
        raise TypeError(f"samples must be a whole number, found {samples!r:.80}")
    if samples < 1:
        raise ValueError(f"samples must be at least 1, found {samples}")


EXACT_UP_TO: Final = 32  # differing queries; the 2^16 sums of each half are quickly sorted


def randomization(pair: Pair, seed: int, samples: int) -> TestResult:
    """Run Fisher's two-sided randomization test (Smucker, Allan and Carterette 2007).

    Under the null hypothesis the sign of every difference may be flipped; p is the fraction of sign
    choices whose mean is at least as far from 0. Up to 32 differing queries all 2^n choices are
    counted. Beyond, p is (1 + count) / (1 + samples) over random choices, and never 0. Sums closer
    than the rounding of the scores count as equal.
    """
    name = "randomization test"
    if not len(pair.non_zero):
        return TestResult(1.0, 0.0, f"{name}, exact", exact=True, note=note_on_few(0), sign=0)
    flips, exponent = scale_to_integers(pair.non_zero)
    slack = int(np.ldexp(pair.equal_within * pair.size, exponent)) + len(flips)
    threshold, direction = abs(int(flips.sum())) - slack, sign_of(pair.mean)
    if len(flips) <= EXACT_UP_TO:
        p, note = exact_share(flips, threshold), note_on_few(len(flips))
        return TestResult(p, pair.mean, f"{name}, exact", exact=True, note=note, sign=direction)
    p = (1 + count_sign_flips(flips, threshold, seed, samples)) / (1 + samples)
    return TestResult(p, pair.mean, f"{name}, {samples:,} random samples", sign=direction)


def exact_share(values: Whole, threshold: int) -> float:
    """Return the fraction of the 2^n sign choices whose absolute sum reaches `threshold`.

    The values are split in two halves: for each sum of one half, a binary search in the sorted sums
    of the other half counts those that reach the threshold.
    """
    if threshold <= 0:
        return 1.0
    middle = len(values) // 2
    left, right = _all_sums(values[:middle]), np.sort(_all_sums(values[middle:]))
    above = len(right) * len(left) - int(np.searchsorted(right, threshold - left, "left").sum())
    below = int(np.searchsorted(right, -threshold - left, "right").sum())
    return float((above + below) / 2 ** len(values))


def _all_sums(values: Whole) -> Whole:
    sums = np.zeros(1, dtype=np.int64)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


_FEW: Final = 50  # below, p is slightly too small: docs/statistics.md


def bootstrap(pair: Pair, seed: int, samples: int) -> TestResult:
    """Run the two-sided paired bootstrap test (Noreen 1989).

    The centred differences are resampled with replacement, and p is (1 + count) / (1 + samples) as
    in the randomization test. Resamples of few queries vary too little: there is no p below 20
    queries, and a note below 50.
    """
    method = f"bootstrap test, {samples:,} resamples"
    if pair.deviation == 0:
        return TestResult(None, None, method, cannot=pair.describe_constant("the bootstrap"))
    if pair.size < FEWEST_RESAMPLED:
        cannot = (
            f"{pair.size} queries are too few for the bootstrap, whose false positive rate is too "
            f"high below {FEWEST_RESAMPLED}; use the randomization test"
        )
        return TestResult(None, None, method, cannot=cannot)
    values, exponent = scale_to_integers(pair.differences)
    slack = int(np.ldexp(pair.equal_within * pair.size, exponent)) + pair.size
    total = int(values.sum())
    deviations = np.abs(resample_sums(values, seed, samples) - total)
    count = int((deviations >= abs(total) - slack).sum())
    few = f"with {pair.size} queries the p of the bootstrap is slightly too small"
    note = few if pair.size < _FEW else ""
    p = (1 + count) / (1 + samples)
    return TestResult(p, pair.mean, method, note=note, sign=sign_of(pair.mean))


def t_test(pair: Pair, _seed: int, _samples: int) -> TestResult:
    """Run Student's two-sided paired t test."""
    method = "paired t test"
    if pair.deviation == 0:
        return TestResult(None, None, method, cannot=pair.describe_constant("the t test"))
    statistic = pair.mean / (pair.deviation / math.sqrt(pair.size))
    p = student.two_sided(statistic, pair.size - 1)
    return TestResult(p, statistic, method, sign=sign_of(statistic))


def sign(pair: Pair, _seed: int, _samples: int) -> TestResult:
    """Run the exact two-sided sign test; queries that do not differ are excluded."""
    method = "sign test, exact"
    wins, _, losses = pair.wins_ties_losses
    if not wins + losses:
        return TestResult(1.0, 0.0, method, exact=True, note=note_on_few(0), sign=0)
    stats = import_optional("scipy.stats", "the sign test", extra="stats")
    p = float(stats.binomtest(wins, wins + losses).pvalue)
    note = note_on_few(wins + losses)
    direction = sign_of(wins - losses)
    return TestResult(min(1.0, p), float(wins), method, exact=True, note=note, sign=direction)


def wilcoxon(pair: Pair, _seed: int, _samples: int) -> TestResult:
    """Run Wilcoxon's two-sided signed rank test; queries that do not differ are excluded.

    Up to 32 differing queries all sign choices of the ranks are counted, so p is exact even with
    ties. Beyond, p is SciPy's normal approximation with its correction for ties. The statistic is
    the rank sum of the queries that `b` wins.
    """
    name = "Wilcoxon signed rank test"
    if not len(pair.non_zero):
        return TestResult(1.0, 0.0, f"{name}, exact", exact=True, note=note_on_few(0), sign=0)
    ranks = _rank_sizes(np.abs(pair.non_zero), pair.equal_within)
    won, lost = (float(ranks[side].sum()) for side in (pair.non_zero > 0, pair.non_zero < 0))
    direction = sign_of(won - lost)
    if len(ranks) <= EXACT_UP_TO:
        doubled = np.rint(2 * ranks).astype(np.int64)
        p, note = exact_share(doubled, round(2 * abs(won - lost))), note_on_few(len(ranks))
        return TestResult(p, won, f"{name}, exact", exact=True, note=note, sign=direction)
    stats = import_optional("scipy.stats", "the Wilcoxon test", extra="stats")
    signed = np.copysign(ranks, pair.non_zero)
    found = stats.wilcoxon(signed, zero_method="wilcox", correction=False, method="approx")
    return TestResult(float(found.pvalue), won, f"{name}, normal approximation", sign=direction)


def _rank_sizes(sizes: Floats, equal_within: float) -> Floats:
    """Rank sizes from 1; sizes equal up to rounding share their mean rank."""
    order = np.argsort(sizes, kind="stable")
    starts = np.flatnonzero(np.diff(sizes[order], prepend=-np.inf) > equal_within)
    ends = np.append(starts[1:], len(sizes))
    ranks = np.empty(len(sizes))
    ranks[order] = np.repeat((starts + 1 + ends) / 2, ends - starts)
    return ranks
