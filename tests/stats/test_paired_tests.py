"""Tests of the t, Wilcoxon, sign and bootstrap tests against SciPy and hand calculations."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from scipy import stats

from berryeval.errors import ConfigurationError, DataError
from berryeval.stats.tests import TESTS, paired_test
from tests.stats.worlds import drawn, paired_values

A = [0.10, 0.20, 0.30, 0.40, 0.55]
B = [0.20, 0.40, 0.25, 0.90, 0.80]


@pytest.mark.parametrize("size", [2, 5, 20, 50, 400])
def test_t_test_agrees_with_scipy(size: int) -> None:
    a, b = drawn(size, size, shift=0.04)
    ours, theirs = paired_test("t", a, b), stats.ttest_rel(b, a)
    assert ours.statistic == pytest.approx(theirs.statistic, rel=1e-12)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-10)


@pytest.mark.parametrize("size", [3, 12, 30])
def test_wilcoxon_agrees_with_exact_scipy(size: int) -> None:
    a, b = drawn(size, size, shift=0.04)
    ours = paired_test("wilcoxon", a, b)
    theirs = stats.wilcoxon(b, a, method="exact")
    assert ours.exact
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-12)
    assert ours.statistic in {theirs.statistic, size * (size + 1) / 2 - theirs.statistic}


def test_wilcoxon_agrees_with_approximate_scipy_for_many_queries() -> None:
    random = np.random.default_rng(1)
    a, b = random.integers(0, 6, 200) / 5, random.integers(0, 6, 200) / 5
    ours = paired_test("wilcoxon", a, b)
    theirs = stats.wilcoxon(np.round(5 * (b - a)), zero_method="wilcox", method="approx")
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-12)
    assert not ours.exact


def test_wilcoxon_is_exact_with_ties() -> None:
    a = [0.0, 0.0, 0.0, 0.5, 0.0, 0.5, 0.2]
    b = [0.5, 0.5, 0.5, 0.0, 1.0, 0.5, 0.7]  # ranks 3 (five times) and 6; one query is tied
    ranks = [3, 3, 3, -3, 6, 3]
    observed = abs(sum(ranks))
    sums = [
        sum(sign * abs(rank) for sign, rank in zip(signs, ranks, strict=True))
        for signs in itertools.product((-1, 1), repeat=6)
    ]
    expected = sum(abs(one) >= observed for one in sums) / 64
    ours = paired_test("wilcoxon", a, b)
    assert (ours.p, ours.exact, ours.statistic) == (expected, True, 18.0)


def test_sign_test_agrees_with_hand_calculation() -> None:
    """Four wins of five: 2 (C(5,4) + C(5,5)) / 32."""
    assert paired_test("sign", A, B).p == pytest.approx(2 * 6 / 32)
    many = paired_test("sign", *drawn(1, 500, shift=0.01))
    assert many.statistic is not None
    assert many.p == pytest.approx(stats.binomtest(int(many.statistic), 500).pvalue)


def test_bootstrap_is_close_to_t_for_many_queries() -> None:
    a, b = drawn(6, 400, shift=0.008)
    t = paired_test("t", a, b).p
    assert paired_test("bootstrap", a, b).p == pytest.approx(t, abs=0.01)


@pytest.mark.parametrize("size", [2, 8, 19])
def test_bootstrap_has_no_p_for_few_queries(size: int) -> None:
    result = paired_test("bootstrap", np.zeros(size), np.linspace(0.1, 0.2, size))
    assert result.p is None
    assert result.cannot.startswith(f"{size} queries are too few for the bootstrap")


def test_bootstrap_false_positive_rate_is_close_to_the_level() -> None:
    random = np.random.default_rng(7)
    values = random.normal(size=(600, 20))
    found = [paired_test("bootstrap", np.zeros(20), row, samples=500) for row in values]
    assert sum(one.p is not None and one.p <= 0.05 for one in found) / 600 < 0.1
    assert found[0].note == "with 20 queries the p of the bootstrap is slightly too small"
    assert not paired_test("bootstrap", np.zeros(50), random.normal(size=50)).note


@given(paired_values)
def test_p_is_symmetric_and_positive_or_missing_with_a_reason(
    pairs: list[tuple[float, float]],
) -> None:
    a, b = (list(side) for side in zip(*pairs, strict=True))
    for name in TESTS:
        ours, swapped = paired_test(name, a, b, samples=99), paired_test(name, b, a, samples=99)
        assert (ours.p is None) == bool(ours.cannot)
        if ours.p is not None and swapped.p is not None:
            assert 0 < ours.p <= 1
            assert ours.p == pytest.approx(swapped.p, rel=1e-9)


@pytest.mark.parametrize("name", list(TESTS))
def test_one_query_has_no_p(name: str) -> None:
    result = paired_test(name, [0.1], [0.9])
    assert (result.p, result.cannot) == (None, "one query is not enough for a test")


@pytest.mark.parametrize(
    ("name", "p", "words"),
    [
        ("randomization", 1.0, ""),
        ("wilcoxon", 1.0, ""),
        ("sign", 1.0, ""),
        ("t", None, "no query differs: the t test needs differences that vary"),
        ("bootstrap", None, "no query differs: the bootstrap needs differences that vary"),
    ],
)
def test_equal_values_have_p_1_or_no_p(name: str, p: float | None, words: str) -> None:
    result = paired_test(name, [0.3, 0.5, 0.3], [0.1 + 0.2, 0.5, 0.3])
    assert (result.p, result.cannot) == (p, words)
    assert p is None or result.note == "no query differs"


@pytest.mark.parametrize("name", ["t", "bootstrap"])
def test_constant_differences_have_no_p_in_tests_of_variance(name: str) -> None:
    a = [0.1, 0.2, 0.3, 0.4]
    result = paired_test(name, a, [value + 0.1 for value in a])
    assert result.p is None
    assert result.cannot.startswith("every query differs by 0.1")


def test_note_tells_the_smallest_possible_p() -> None:
    result = paired_test("randomization", [0.0] * 5, [0.1, 0.2, 0.3, 0.4, 0.5])
    assert result.p == 0.0625
    assert result.note == "only 5 queries differ: the smallest possible p is 0.0625"
    assert paired_test("sign", [0.0] * 2, [0.1, 0.0]).note.startswith("only 1 query differs")


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ([0.1, float("nan")], [0.1, 0.2], r"a\[1\] is nan: every query needs a finite number"),
        ([0.1, 0.2], [float("inf"), float("nan")], r"b\[0\] is inf: .* \(2 of 2 have none\)"),
        ([0.1, 0.2], [0.1], "a has 2 values and b has 1"),
        ([], [], "needs at least one query"),
        ([[0.1], [0.2]], [0.1, 0.2], "a must be a list of numbers, found an array of 2 dimensions"),
        (["x"], [0.1], "a must be a list of numbers"),
        ([None, 0.1], [0.1, 0.1], r"a\[0\] is nan"),
        ([1e308, 0.0], [-1e308, 0.0], "too large for a float"),
    ],
)
def test_bad_values_are_errors_with_a_position(a: list[float], b: list[float], words: str) -> None:
    with pytest.raises(DataError, match=words):
        paired_test("randomization", a, b)


def test_unknown_tests_and_bad_sample_counts_are_errors() -> None:
    with pytest.raises(ConfigurationError, match="test 'wilcoxen'; did you mean 'wilcoxon'"):
        paired_test("wilcoxen", A, B)
    with pytest.raises(ValueError, match="samples must be at least 1, found 0"):
        paired_test("randomization", A, B, samples=0)
    with pytest.raises(TypeError, match="samples must be a whole number, found"):
        paired_test("randomization", A, B, samples=1.5)  # type: ignore[arg-type]


def test_values_near_the_limits_of_floats_give_the_same_p() -> None:
    plain = paired_test("randomization", A, B).p
    for scale in (1e-300, 1e300):
        a, b = [scale * x for x in A], [scale * x for x in B]
        assert paired_test("randomization", a, b).p == plain
