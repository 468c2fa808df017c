"""Tests of the number of values that an interval needs."""

from __future__ import annotations

import numpy as np
import pytest

from berryeval._internal.aggregates import FEWEST_ALIKE, is_spread_known
from berryeval.stats.intervals import difference_interval, mean_interval
from berryeval.stats.paired import spread_of
from berryeval.stats.pairwise import compare
from tests.stats.worlds import table


def test_two_varying_or_ten_equal_values_have_an_interval() -> None:
    assert is_spread_known(2, 0.1)
    assert not is_spread_known(1, 0.1)
    assert not is_spread_known(FEWEST_ALIKE - 1, 0.0)
    assert is_spread_known(FEWEST_ALIKE, 0.0)


def test_rounding_differences_are_not_variance() -> None:
    assert spread_of(np.array([0.3, 0.1 + 0.2, 0.3])) == 0.0
    assert spread_of(np.array([0.3])) == spread_of(np.array([])) == 0.0
    assert spread_of(np.array([0.0, 1.0])) == pytest.approx(0.5**0.5)


def test_equal_values_and_differences_have_no_interval() -> None:
    noise = np.array([0.3, 0.1 + 0.2] * 5)
    assert mean_interval(noise[:9]) is None
    assert mean_interval(noise) is None
    assert difference_interval(np.zeros(9), noise[:9]) is None
    assert difference_interval(np.zeros(10), noise) is None


@pytest.mark.parametrize("how", ["mean", "sum", "geometric mean"])
@pytest.mark.parametrize("size", [2, 3, 9, 10])
def test_equal_differences_have_no_interval_for_any_aggregate(how: str, size: int) -> None:
    tables = [table("a", [0.2] * size, "RR", how), table("b", [0.4] * size, "RR", how)]
    row = compare(tables).row("RR")
    assert row.interval is None
    unit = "factor" if how == "geometric mean" else "amount"
    assert f"no interval: all {size} queries differ by the same {unit}" in row.notes
    ends = (row.baseline_interval, row.system_interval)
    if size < FEWEST_ALIKE:
        assert ends == (None, None)
    else:
        assert all(one is not None and one.low == pytest.approx(one.high) for one in ends)


@pytest.mark.parametrize("size", [2, 9, 10, 200])
def test_equal_systems_have_no_interval_but_the_reason(size: int) -> None:
    """An interval of no width would claim certainty about queries that were not asked."""
    tables = [table(name, [0.1, 0.9] * (size // 2), "RR", "mean") for name in "ab"]
    row = compare(tables).row("RR")
    assert row.to_dict()["interval"] is None
    assert "no query differs" in row.notes
    assert "+0.000, no query differs, p = 1.000" in row.sentence
