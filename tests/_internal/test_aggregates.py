"""Exact sums, whose parts can be added in any order."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.aggregates import add_exactly, aggregate, count_units, round_units

numbers = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=20)


def nearest_float(exact: Fraction) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


@given(numbers, st.integers(0, 20))
def test_sums_of_parts_give_the_exact_sum_rounded_once(values: list[float], cut: int) -> None:
    expected = nearest_float(sum(map(Fraction, values), Fraction(0)))
    parts = [np.array(part, dtype=np.float64) for part in (values[:cut], values[cut:])]
    assert round_units(sum(map(count_units, parts))) == expected
    assert add_exactly(values) == expected


@given(st.lists(st.floats(1e-9, 1), min_size=1), st.randoms(use_true_random=False))
def test_no_aggregate_depends_on_the_order_of_the_queries(
    values: list[float], chance: Random
) -> None:
    shuffled = sorted(values, key=lambda _: chance.random())
    for how in ("mean", "sum", "geometric mean"):
        assert aggregate(how, np.array(values)) == aggregate(how, np.array(shuffled))
