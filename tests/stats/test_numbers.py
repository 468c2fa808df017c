"""Tests of intervals, corrections, effect sizes, power and Student's t against SciPy."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from berryeval.errors import ConfigurationError, DataError
from berryeval.stats import student
from berryeval.stats.corrections import CORRECTIONS, correct_p_values, tukey_hsd
from berryeval.stats.effects import (
    effect_sizes,
    equivalence,
    magnitude,
    minimum_detectable_difference,
    power_of,
    queries_needed,
)
from berryeval.stats.intervals import METHODS, difference_interval, mean_interval
from berryeval.stats.paired import Pair
from berryeval.stats.tests import paired_test
from tests.stats.worlds import drawn, paired_values

if TYPE_CHECKING:
    from berryeval.stats.intervals import IntervalMethod


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 49, 99, 101, 1000, 100_000, 10_000_000])
def test_student_distribution_agrees_with_scipy(freedom: int) -> None:
    digits = 1e-10 if freedom < 10**6 else 1e-9
    for t in (0.01, 0.5, 1.0, 2.0, 5.0, 30.0):
        assert student.two_sided(t, freedom) == pytest.approx(
            2 * stats.t.sf(t, freedom), rel=digits
        )
        assert student.tail(-t, freedom) == pytest.approx(stats.t.sf(-t, freedom), rel=digits)
    for level in (0.5, 0.9, 0.95, 0.999):
        expected = stats.t.ppf((1 + level) / 2, freedom)
        assert student.quantile(level, freedom) == pytest.approx(expected, rel=digits)
    assert student.two_sided(0.0, freedom) == 1.0
    assert student.two_sided(math.inf, freedom) == 0.0


def test_t_interval_agrees_with_scipy() -> None:
    a, b = drawn(1, 40, shift=0.02)
    theirs = stats.ttest_rel(b, a).confidence_interval(0.9)
    assert difference_interval(a, b, 0.9) == pytest.approx((theirs.low, theirs.high), rel=1e-9)


@pytest.mark.parametrize(("method", "theirs"), [("bca", "BCa"), ("percentile", "percentile")])
def test_bootstrap_intervals_agree_with_scipy(method: IntervalMethod, theirs: str) -> None:
    values = np.random.default_rng(3).exponential(size=40)
    expected = stats.bootstrap(
        (values,), np.mean, n_resamples=50_000, method=theirs, rng=np.random.default_rng(0)
    ).confidence_interval
    ours = difference_interval(np.zeros(40), values, method=method, resamples=50_000)
    width = expected.high - expected.low
    assert ours == pytest.approx((expected.low, expected.high), abs=0.02 * width)


@given(paired_values, st.sampled_from(METHODS), st.floats(0.5, 0.99))
def test_intervals_mirror_and_grow_with_the_level(
    pairs: list[tuple[float, float]], method: IntervalMethod, level: float
) -> None:
    a, b = (20 * list(side) for side in zip(*pairs, strict=True))
    ours, swapped = (
        difference_interval(*sides, level, method, resamples=300) for sides in ((a, b), (b, a))
    )
    if Pair.of(a, b).deviation == 0:
        assert (ours, swapped) == (None, None)
        return
    assert ours is not None
    assert swapped is not None
    assert ours == pytest.approx((-swapped.high, -swapped.low), abs=1e-9)
    wider = difference_interval(a, b, 0.995, method, resamples=300)
    assert wider is not None
    assert wider.low <= ours.low + 1e-12
    assert wider.high >= ours.high - 1e-12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [0, 1, 9, 10, 40])
def test_equal_values_have_no_interval(method: IntervalMethod, size: int) -> None:
    """However many there are: a width of 0 would claim certainty."""
    assert mean_interval([0.5] * size, method=method) is None
    if size:
        before = [place / 10 for place in range(size)]
        after = [value + 0.1 for value in before]
        assert difference_interval(before, after, method=method) is None


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_fewer_than_20_values_have_no_bootstrap_interval(method: IntervalMethod) -> None:
    a, b = drawn(4, 20)
    assert difference_interval(a[1:], b[1:], method=method) is None
    assert mean_interval(b[1:], method=method) is None
    assert difference_interval(a, b, method=method) is not None
    assert mean_interval(b, method=method) is not None
    assert difference_interval(a[:2], b[:2]) is not None


def test_bad_levels_and_methods_are_errors() -> None:
    for level in (0, 1, 95, True, "0.95"):
        with pytest.raises(ValueError, match="level must be between 0 and 1, such as "):
            mean_interval([0.1, 0.2], level)  # type: ignore[arg-type]
    with pytest.raises(ConfigurationError, match="unknown interval 'percent'; did you mean 'perc"):
        mean_interval([0.1, 0.2], method="percent")  # type: ignore[arg-type]


P_VALUES = [0.01, 0.02, 0.03, 0.04, 0.05]


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("holm", [0.05, 0.08, 0.09, 0.09, 0.09]),
        ("bonferroni", [0.05, 0.10, 0.15, 0.20, 0.25]),
        ("benjamini-hochberg", [0.05, 0.05, 0.05, 0.05, 0.05]),
        ("none", P_VALUES),
    ],
)
def test_corrections_agree_with_r(method: str, expected: list[float]) -> None:
    """The values are those of p.adjust."""
    assert correct_p_values(P_VALUES, method) == pytest.approx(expected)


@given(st.lists(st.floats(0, 1), max_size=12))
def test_corrections_keep_order_and_bounds(p_values: list[float]) -> None:
    if p_values:
        expected = stats.false_discovery_control(p_values)
        assert correct_p_values(p_values, "bh") == pytest.approx(expected, abs=1e-12)
    bounds: list[Any] = correct_p_values(p_values, "bonferroni")
    for method in set(CORRECTIONS) - {"tukey"}:
        found: list[Any] = correct_p_values(p_values, method)
        for before, after, most in zip(p_values, found, bounds, strict=True):
            assert before <= after * (1 + 1e-12)
            assert after <= most * (1 + 1e-12)
        for one, other in itertools.combinations(range(len(p_values)), 2):
            if p_values[one] < p_values[other]:
                assert found[one] <= found[other]


def test_missing_p_values_are_not_counted() -> None:
    assert correct_p_values([0.02, None, 0.03]) == [0.04, None, 0.04]
    with pytest.raises(ValueError, match="p-values must be between 0 and 1, found"):
        correct_p_values([1.5])
    with pytest.raises(ConfigurationError, match="unknown correction 'holms'; did you mean 'holm'"):
        correct_p_values([0.5], "holms")
    with pytest.raises(ConfigurationError, match="Tukey's correction needs the values of all"):
        correct_p_values([0.5], "tukey")


def test_effect_sizes_agree_with_hand_calculation() -> None:
    """Differences 1, 2, 3 have mean 2 and deviation 1; Hedges' factor for 2 is 0.5642."""
    found = effect_sizes([0.0, 0.0, 0.0], [1.0, 2.0, 3.0])
    assert found is not None
    assert found.d_z == pytest.approx(2.0)
    assert found.g == pytest.approx(2 * 0.5641895835)
    assert (found.cliffs_delta, found.word, found.cliffs_word) == (1.0, "large", "large")


def test_hedges_factor_is_close_to_its_approximation() -> None:
    """The approximation is 1 - 3 / (4 df - 1)."""
    for size in (10, 50, 150, 1000):
        a, b = drawn(size, size, shift=0.05)
        found = effect_sizes(a, b)
        assert found is not None
        assert found.d_z is not None
        assert found.g == pytest.approx(found.d_z * (1 - 3 / (4 * (size - 1) - 1)), rel=1e-3)


def test_cliffs_delta_counts_all_pairs() -> None:
    random = np.random.default_rng(5)
    a, b = random.integers(0, 8, 30) / 7, random.integers(0, 9, 30) / 7
    counted = sum(np.sign(round(7 * (y - x))) for x in a for y in b) / 900
    found = effect_sizes(a, b)
    assert found is not None
    assert found.cliffs_delta == pytest.approx(counted)


def test_magnitudes_have_the_usual_bounds() -> None:
    cohen = [magnitude(value) for value in (0.0, 0.1, -0.2, 0.5, -0.8)]
    assert cohen == ["no", "negligible", "small", "medium", "large"]
    cliff = [magnitude(value, "cliff") for value in (0.146, 0.147, 0.33, -0.474)]
    assert cliff == ["negligible", "small", "medium", "large"]
    same = effect_sizes([0.1, 0.2, 0.3], [0.2, 0.3, 0.4])
    assert same is not None
    assert (same.d_z, same.g, same.word) == (None, None, same.cliffs_word)


def test_one_or_two_queries_have_no_effect_size() -> None:
    assert effect_sizes([0.5], [0.6]) is None
    assert effect_sizes([0.1, 0.2], [0.4, 0.3]) is None
    assert effect_sizes([0.1, 0.2, 0.2], [0.4, 0.3, 0.2]) is not None


def test_equivalence_agrees_with_two_one_sided_tests_of_scipy() -> None:
    a, b = drawn(2, 60, shift=0.01, noise=0.05)
    found = equivalence(a, b, margin=0.03)
    above = stats.ttest_1samp(b - a, -0.03, alternative="greater").pvalue
    below = stats.ttest_1samp(b - a, 0.03, alternative="less").pvalue
    assert found.p_not_worse == pytest.approx(above, rel=1e-9)
    assert found.p_not_better == pytest.approx(below, rel=1e-9)
    assert found.p == max(found.p_not_worse, found.p_not_better)  # type: ignore[type-var]
    assert found.interval is not None
    inside = found.interval.low > -0.03 and found.interval.high < 0.03
    assert found.equivalent == inside
    assert equivalence(a, b, margin=1.0).equivalent
    assert not equivalence(a, b, margin=0.0001).equivalent


def test_equivalence_needs_several_varying_differences() -> None:
    assert equivalence([0.1], [0.2], 0.5).cannot == "one query is not enough for a test"
    same = equivalence([0.1, 0.2], [0.1, 0.2], 0.5)
    assert (same.p, same.equivalent) == (None, False)
    assert same.cannot.startswith("no query differs")
    for margin in (0, -0.1, math.nan):
        with pytest.raises(ValueError, match="margin must be a number above 0"):
            equivalence([0.1, 0.2], [0.3, 0.2], margin)
    with pytest.raises(ValueError, match="level must be above"):
        equivalence([0.1, 0.2], [0.3, 0.2], 0.1, level=0.4)


def exact_power(size: int, effect: float) -> float:
    """Compute the power of the t test at 0.05 by the noncentral t distribution."""
    edge, shift = stats.t.ppf(0.975, size - 1), effect * math.sqrt(size)
    below, above = stats.nct.cdf(-edge, size - 1, shift), stats.nct.sf(edge, size - 1, shift)
    return float(below + above)


@pytest.mark.parametrize("size", [10, 20, 50, 200])
def test_power_is_that_of_the_t_test(size: int) -> None:
    differences = np.random.default_rng(size).normal(0, 0.2, size)
    deviation = differences.std(ddof=1)
    least = minimum_detectable_difference(differences)
    assert least is not None
    assert exact_power(size, least / deviation) == pytest.approx(0.8, abs=0.015)
    assert power_of(differences, least) == pytest.approx(0.8, abs=1e-3)
    needed = queries_needed(differences, least)
    assert needed in {size, size + 1}
    for effect in (0.05, 0.11):
        needed = queries_needed(differences, effect)
        assert needed is not None
        assert exact_power(needed + 1, effect / deviation) >= 0.8
        assert exact_power(needed - 2, effect / deviation) < 0.8


def test_power_needs_varying_differences() -> None:
    assert minimum_detectable_difference([0.1, 0.1, 0.1]) is None
    assert minimum_detectable_difference([0.1]) is None
    assert queries_needed([0.0, 0.0], 0.1) is None
    assert power_of([0.2], 0.1) is None
    for effect in (0.0, math.inf):
        with pytest.raises(ValueError, match="effect must be a number other than 0"):
            queries_needed([0.1, 0.2], effect)
    for effect in (math.nan, math.inf):
        with pytest.raises(ValueError, match="effect must be a finite number, found"):
            power_of([0.1, 0.2], effect)
    with pytest.raises(ValueError, match="power must be between 0 and 1"):
        minimum_detectable_difference([0.1, 0.2, 0.4], power=80)


@pytest.mark.parametrize("zeros", [0, 30])
def test_fewer_than_ten_differing_queries_have_no_power(zeros: int) -> None:
    nine = [0.1, -0.05, 0.2, 0.08, -0.02, 0.04, 0.07, 0.03, 0.12] + [0.0] * zeros
    assert minimum_detectable_difference(nine) is None
    assert power_of(nine, 0.1) is None
    assert minimum_detectable_difference([*nine, 0.01]) is not None
    assert power_of([*nine, 0.01], 0.1) is not None
    assert minimum_detectable_difference([*nine, 0.01], level=0.999) is None  # 2 / 2^10 is larger
    assert queries_needed(nine, 10.0) == 10


def test_detectable_difference_does_not_exceed_the_largest_difference() -> None:
    assert minimum_detectable_difference([0.5, -0.5] * 5, level=0.99) is None
    least = minimum_detectable_difference([0.5, -0.5] * 20, level=0.99)
    assert least is not None
    assert least < 0.5


@pytest.mark.parametrize("size", [10, 14, 20])
def test_detectable_difference_is_detected_with_80_percent_power(size: int) -> None:
    """Simulated with the randomization test, down to the fewest queries."""
    random = np.random.default_rng(size)
    shape = random.normal(size=size)
    shape = (shape - shape.mean()) / shape.std(ddof=1)
    least = minimum_detectable_difference(shape)
    assert least is not None
    trials = [
        paired_test("randomization", np.zeros(size), random.normal(least, 1, size), samples=1000).p
        for _ in range(400)
    ]
    found = sum(p is not None and p <= 0.05 for p in trials) / 400
    assert found == pytest.approx(0.8, abs=0.08)  # four standard errors


def test_tiny_effects_need_very_many_queries() -> None:
    needed = queries_needed([0.1, 0.2], 1e-200)
    assert needed is not None
    assert 10**398 < needed < 10**402


def test_tukey_of_two_systems_is_the_randomization_test() -> None:
    a, b = drawn(5, 60, shift=0.025)
    p = paired_test("randomization", a, b).p
    assert p is not None
    assert tukey_hsd([a, b])[0, 1] == pytest.approx(p, abs=5 * math.sqrt(2 * p / 100_000))


def test_tukey_agrees_with_the_full_enumeration() -> None:
    table = np.random.default_rng(1).integers(0, 10, (4, 3)) / 10
    orders = [list(order) for order in itertools.permutations(range(3))]
    ranges = []
    for chosen in itertools.product(orders, repeat=4):
        sums = sum(table[row][order] for row, order in enumerate(chosen))
        ranges.append(np.ptp(sums))
    found = tukey_hsd(table.T, samples=20_000)
    for one, other in itertools.combinations(range(3), 2):
        observed = abs(table[:, one].sum() - table[:, other].sum())
        expected = np.mean(np.array(ranges) >= observed - 1e-9)
        assert found[one, other] == found[other, one] == pytest.approx(expected, abs=0.02)
    assert np.diag(found).tolist() == [1.0, 1.0, 1.0]


def test_tukey_needs_two_systems_and_two_shared_queries() -> None:
    assert tukey_hsd([[0.0, 0.0], [0.0, 0.0]]).tolist() == [[1.0, 1.0], [1.0, 1.0]]
    for systems in ([[0.1, 0.2]], [[0.1], [0.2]], [[0.1, 0.2], [0.3]], []):
        with pytest.raises(DataError, match="two or more systems with values for the same"):
            tukey_hsd(systems)
