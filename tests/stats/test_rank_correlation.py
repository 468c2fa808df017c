"""Rank correlations: equal to SciPy and to their definitions, ties included."""

from __future__ import annotations

import math
from itertools import pairwise, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from berryeval.errors import DataError
from berryeval.stats import ap_correlation, kendall_tau

scores = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=6)


def name(values: list[tuple[int, int]]) -> tuple[dict[str, float], dict[str, float]]:
    one, other = ({str(at): row[side] / 4 for at, row in enumerate(values)} for side in (0, 1))
    return one, other


def naive_tau_ap(reference: dict[str, float], ranking: tuple[str, ...]) -> float:
    total = 0.0
    for place, system in enumerate(ranking[1:], start=1):
        for above in ranking[:place]:
            gap = reference[above] - reference[system]
            total += (0.5 if gap == 0 else float(gap > 0)) / place
    return 2 * total / (len(ranking) - 1) - 1


@settings(max_examples=100, deadline=None)
@given(scores)
def test_tau_b_equals_scipy(values: list[tuple[int, int]]) -> None:
    """Kendall's tau-b with ties equals SciPy; undefined there is None here."""
    one, other = name(values)
    wanted = float(kendalltau(list(one.values()), list(other.values())).statistic)
    found = kendall_tau(one, other)
    if math.isnan(wanted):
        assert found is None
    else:
        assert found == pytest.approx(wanted, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(scores)
def test_tau_ap_is_the_mean_over_the_orders_of_ties(values: list[tuple[int, int]]) -> None:
    """Ties of the other ranking are broken in every way, and the values averaged."""
    reference, other = name(values)
    orders = [
        order
        for order in permutations(other)
        if all(other[a] >= other[b] for a, b in pairwise(order))
    ]
    found = ap_correlation(reference, other)
    if len(set(reference.values())) == 1:
        assert found is None
        return
    wanted = sum(naive_tau_ap(reference, order) for order in orders) / len(orders)
    assert found == pytest.approx(wanted, abs=1e-12)


def test_errors_at_the_top_weigh_more() -> None:
    """The swap of the first two lowers tau_AP by more than that of the last two; tau is equal."""
    truth = {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}
    top, end = {**truth, "a": 3.0, "b": 4.0}, {**truth, "c": 1.0, "d": 2.0}
    assert kendall_tau(truth, top) == kendall_tau(truth, end)
    assert (ap_correlation(truth, top) or 0) < (ap_correlation(truth, end) or 0)


def test_rankings_of_other_systems_are_rejected() -> None:
    """Two rankings must have the same systems, and at least two."""
    with pytest.raises(DataError, match="same systems"):
        kendall_tau({"a": 1, "b": 2}, {"a": 1, "c": 2})
    with pytest.raises(DataError, match="found 1"):
        ap_correlation({"a": 1}, {"a": 1})
