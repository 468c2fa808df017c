"""Numbers, texts and intervals as outputs show them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal import numbers as fmt
from berryeval._internal.aggregates import Interval, is_spread_known, restore_scale
from berryeval._internal.text import (
    format_command,
    format_rescore_command,
    format_resume_command,
    make_file_name,
    truncate,
    truncate_with_count,
)
from berryeval.data import count_tokens


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (fmt.format_exact_interval(0.25, 1.0, 4), "0.2500 to 1.0000"),
        (fmt.format_exact_interval(0.25, 0.25, 4), "-"),
        (fmt.format_interval_around(0.5, 0.25, 0.75, 4), "0.25-0.75"),
        (fmt.format_interval_around(0.8555, 0.8551, 0.9, 9), "0.855-0.900"),
        (fmt.format_interval_around(0.5, 0.5, 0.5, 1), ""),
        (fmt.format_precise_delta(0.0414), "+0.041"),
        (fmt.format_precise_delta(-12.345), "-12.3"),
        (fmt.format_precise_delta(0.00004), "+4e-05"),
        (fmt.format_precise_delta(0.0), "+0.000"),
        (fmt.format_p_equation(0.0312), "p = 0.031"),
        (fmt.format_p_equation(0.0004), "p < 0.001"),
        (fmt.format_p_equation(None), "no p"),
        (fmt.format_amount(1234.5), "1234"),
        (fmt.format_amount(12.345), "12.3"),
        (fmt.format_amount(0.0004321), "0.000432"),
        (fmt.format_amount(5), "5"),
        (fmt.format_amount(1e300), "1e+300"),
        (fmt.format_amount(999_999_999_999_999), "999999999999999"),
        (fmt.format_metric(-1e300), "-1e+300"),
        (fmt.format_delta(1e300), "+1e+300"),
        (fmt.format_precise_delta(1e300), "+1e+300"),
        (fmt.format_milliseconds(1e300), "1e+303"),
        (fmt.format_value_beside(1e300, 0.5), "1e+300"),
        (fmt.format_value_beside(0.7512, 0.75), "0.751"),
        (fmt.format_value_beside(0.7496, 0.75), "0.7496"),
        (fmt.format_value_beside(0.75, 0.75), "0.750"),
        (fmt.format_change_beside(-0.0104, 0.01), "0.0104"),
        (fmt.format_change_beside(0.5, 0.01), "0.500"),
        (fmt.format_allowance(0.02), "0.020"),
        (fmt.format_allowance(0.0101), "0.0101"),
        (fmt.format_exact_share(0.05), "5.0%"),
        (fmt.format_exact_share(0.0999), "9.99%"),
    ],
)
def test_numbers_are_rounded_for_readers(found: str, expected: str) -> None:
    assert found == expected


def test_values_that_differ_by_rounding_are_close() -> None:
    assert fmt.is_close(0.22000000000000006, 0.22)
    assert not fmt.is_close(0.22, 0.220001)


def test_an_interval_needs_two_different_or_ten_equal_values() -> None:
    assert fmt.known_interval(0.5, 0.5, 9) is None
    assert fmt.known_interval(0.5, 0.5, 10) == Interval(0.5, 0.5)
    assert is_spread_known(2, 0.1)
    assert not is_spread_known(9, 0.0)
    assert is_spread_known(10, 0.0)


def test_intervals_return_to_the_scale_of_the_aggregate() -> None:
    assert restore_scale("geometric mean", Interval(-math.inf, 0.0), 8) == Interval(0.0, 1.0)
    assert restore_scale("sum", Interval(0, 2), 8) == Interval(0, 16)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (truncate("no answer from the server", 10), "no answer…"),
        (truncate_with_count("no answer from the server", 9), "no answer… (16 more characters)"),
        (make_file_name("our search: v2/beta"), "our-search--v2-beta"),
        (
            format_command("report", "run 2", "--format", "csv"),
            "berryeval report 'run 2' --format csv",
        ),
        (
            format_rescore_command("latest", "P(rel=2)@5"),
            "berryeval runs rescore latest -m 'P(rel=2)@5' --save",
        ),
        (
            format_rescore_command("-x", "RR", store="all.db"),
            "berryeval runs rescore -m RR --save --store all.db -- -x",
        ),
        (format_resume_command("runs/a"), "berryeval eval --resume runs/a"),
        (
            format_resume_command("-x", "--retry-errors"),
            "berryeval eval --resume=-x --retry-errors",
        ),
    ],
)
def test_texts_are_shortened_and_commands_quoted(found: str, expected: str) -> None:
    assert found == expected


def test_tokens_are_words_and_punctuation_marks() -> None:
    assert count_tokens("Don't panic!") == 5


@given(st.text())
def test_every_label_is_a_safe_file_name(label: str) -> None:
    name = make_file_name(label)
    assert name not in {"", ".", ".."}
    assert not set(name) & set('/\\:*?"<>|\0')
    assert not name.startswith(".")
    assert not name.endswith((".", " "))
    assert len(name.encode()) <= 220
    assert name.partition(".")[0].upper() not in {"CON", "NUL", "AUX", "COM1"}


@pytest.mark.parametrize("label", ["nul", "CON.json", "\ud800" * 300, "../" * 100 + "x", "a." * 99])
def test_names_that_a_system_reserves_are_changed(label: str) -> None:
    name = make_file_name(label)
    assert name != label
    assert len(name.encode()) <= 220
    assert name.partition(".")[0].upper() not in {"CON", "NUL"}
