"""Number formats: rounding, signs and precision."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal import numbers
from berryeval._internal.aggregates import Interval
from berryeval.reports.html import typography as page


def test_a_number_that_rounds_to_zero_has_no_sign() -> None:
    assert numbers.format_exact_metric(-1e-9) == "0.0000"
    assert numbers.format_metric(-0.0004) == "0.000"
    assert (
        numbers.format_delta(0.0004)
        == numbers.format_delta(-0.0004)
        == numbers.format_delta(0.0)
        == "0.000"
    )


def test_differences_have_their_sign() -> None:
    assert (numbers.format_delta(0.0126), numbers.format_delta(-0.5)) == ("+0.013", "-0.500")
    assert numbers.format_delta_interval(-0.1, 0.25) == "[-0.100, +0.250]"
    assert numbers.format_interval(-0.1, 0.25) == "[-0.10, 0.25]"


def test_an_interval_from_too_few_queries_is_not_shown() -> None:
    """One query, or fewer than ten with the same value."""
    assert numbers.format_interval_around(0.7, 0.6, 0.8, 1) == ""
    assert numbers.format_interval_around(0.805, 0.805, 0.805, 9) == ""
    assert numbers.format_interval_around(0.3, 0.3, 0.1 + 0.2, 9) == ""
    assert numbers.format_interval_around(0.805, 0.805, 0.805, 10) == "0.805-0.805"
    assert numbers.format_interval_around(0.805, None, None, 9) == ""
    assert (
        numbers.format_exact_interval(0.6, 0.8, 1)
        == numbers.format_exact_interval(0.5, 0.5, 9)
        == "-"
    )
    assert numbers.format_exact_interval(-1e-9, 0.8, 2) == "0.0000 to 0.8000"


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.integers(2, 9))
def test_an_interval_contains_the_value_beside_it(ends: list[float], queries: int) -> None:
    """Both as displayed, with as many decimals as that takes."""
    low, value, high = sorted(ends)
    text = numbers.format_interval_around(value, low, high, queries)
    if text:
        first, last = map(float, text.split("-"))
        assert first <= float(numbers.format_metric(value)) <= last
    else:
        assert high - low <= 1e-12


@pytest.mark.parametrize(("value", "text"), [(0, "<0.001"), (0.001, "0.001"), (1, "1.000")])
def test_a_p_value_is_never_zero(value: float, text: str) -> None:
    assert numbers.format_p_value(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_scores_and_grades_keep_full_precision(value: float) -> None:
    assert float(numbers.format_score(value)) == value
    assert float(numbers.format_grade(value)) == value


def test_the_page_has_no_minus_zero() -> None:
    assert page.signed(-0.0001) == page.signed(0.0001) == page.value(-0.0001) == "0.000"
    assert page.span(Interval(-0.0001, 0.0001), sign=True) == "0.000 to 0.000"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0037, "3.70 ms"), (0.00283, "2.83 ms"), (0.02, "20.0 ms"), (2.0, "2.00 s"),
     (0.09996, "100 ms"), (0.00084, "840 µs"), (1234.5, "1,234 s")],
)  # fmt: skip
def test_times_have_three_digits(seconds: float, text: str) -> None:
    assert page.duration(seconds) == text
