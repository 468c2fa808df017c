"""Intervals of the mean of values within a range: never a point, and wide enough if skewed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.stats import bounded_interval, mean_interval

UNIT = (0.0, 1.0)


@pytest.mark.parametrize(("hits", "count"), [(10, 10), (0, 10), (9, 10), (48, 50), (5, 20)])
def test_hits_and_misses_have_the_interval_of_clopper_and_pearson(hits: int, count: int) -> None:
    """The approximation is a little wider."""
    stats = pytest.importorskip("scipy.stats")
    found = bounded_interval([1.0] * hits + [0.0] * (count - hits), UNIT)
    low = stats.beta.ppf(0.025, hits, count - hits + 1) if hits else 0.0
    high = stats.beta.ppf(0.975, hits + 1, count - hits) if hits < count else 1.0
    assert found is not None
    assert low - 0.002 < found.low <= low + 1e-4
    assert high - 1e-4 <= found.high < high + 0.002


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from([0.5, 0.9, 0.99]))
def test_an_interval_contains_the_mean_and_stays_in_the_range(
    values: list[float], level: float
) -> None:
    found = bounded_interval(values, UNIT, level)
    assert found is not None
    assert 0 <= found.low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= found.high <= 1
    assert found.high > found.low
    mirrored = bounded_interval([1 - value for value in values], UNIT, level)
    assert mirrored == pytest.approx((1 - found.high, 1 - found.low), abs=1e-6)


def test_an_end_without_a_limit_is_that_of_student() -> None:
    values = [1.0, 2.0, 4.0, 7.0]
    found, student = bounded_interval(values, (0.0, np.inf)), mean_interval(values)
    assert found is not None
    assert student is not None
    assert found.high == student.high
    assert found.low != student.low
    assert bounded_interval([2.0] * 50, (0.0, np.inf)) is None


@pytest.mark.parametrize("count", [10, 20])
@pytest.mark.parametrize("mirrored", [False, True])
def test_skewed_values_are_covered(count: int, mirrored: bool) -> None:
    """Many values near 0 and few near 1: Student's interval covers 86 % for ten of them."""
    chance = np.random.default_rng(1)
    population = chance.beta(0.42, 1.6, 1000) ** 1.3
    population = 1 - population if mirrored else population
    true, trials = float(population.mean()), 300
    missed = np.zeros(2)
    for _ in range(trials):
        found = bounded_interval(chance.choice(population, count), UNIT)
        assert found is not None
        missed += [found.low > true, found.high < true]
    assert missed.sum() / trials <= 0.06
    assert missed.max() / trials <= 0.04
