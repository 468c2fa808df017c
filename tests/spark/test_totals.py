"""Exact sums."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.aggregates import aggregate
from berryeval.spark.totals import Moments

numbers = st.lists(st.floats(-1e200, 1e200) | st.floats(0, 1), max_size=20)


@given(numbers, st.integers(0, 20), st.sampled_from(["mean", "sum", "geometric mean"]))
def test_any_division_gives_the_aggregate_of_the_whole(
    values: list[float], cut: int, how: str
) -> None:
    whole = np.array(values, dtype=np.float64)
    parts = [Moments.of(part, how) for part in (whole[:cut], whole[cut:])]
    found = Moments.from_list((parts[0] + parts[1]).to_list())
    assert found.aggregate(how) == aggregate(how, whole)
    assert found.count == len(values)


@given(st.lists(st.floats(-1e6, 1e6) | st.floats(0, 1), min_size=2, max_size=20))
def test_the_standard_deviation_is_exact(values: list[float]) -> None:
    found = Moments.of(np.array(values)).std
    assert found == pytest.approx(statistics.stdev(values), rel=1e-15, abs=1e-150)


def test_values_whose_squares_underflow_have_no_deviation() -> None:
    for size in (1e-155, 1e-160, 1e-170, 5e-324):
        assert 0 <= Moments.of(np.array([0.0, size])).std < 1e-150


def test_large_values_have_a_deviation() -> None:
    assert Moments.of(np.array([1e300, -1e300])).std == pytest.approx(math.sqrt(2) * 1e300)
