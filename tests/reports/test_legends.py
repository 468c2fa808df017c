"""Descriptions of tests, corrections and intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import berryeval as be
from berryeval.reports.legends import describe_interval, describe_test
from berryeval.stats.intervals import METHODS

if TYPE_CHECKING:
    from berryeval.scoring.scores import Scores


def systems(*shifts: float, zero_queries: int = 0) -> dict[str, Scores]:
    """Draw the scores of systems over 40 queries; a higher shift is a better system."""
    found = {}
    for number, shift in enumerate(shifts):
        dice = np.random.default_rng(number)
        qrels = {f"q{place:02}": {"right": 1} for place in range(40)}
        run = {
            query: {"wrong": 1.0, "right": 2.0 if dice.random() < shift else 0.5} for query in qrels
        }
        table = be.evaluate(qrels, run, ["RR"])
        found[f"s{number}"] = table.select(sorted(table.queries)[zero_queries * number :])
    return found


def test_a_single_comparison_names_no_correction() -> None:
    assert describe_test(be.compare(systems(0.2, 0.9)).rows) == "randomization test, exact"


@pytest.mark.parametrize(
    ("correction", "words"),
    [
        ("holm", "corrected (holm) for 3 comparisons"),
        ("none", "not corrected for multiple comparisons"),
    ],
)
def test_the_correction_is_named(correction: str, words: str) -> None:
    found = be.compare(systems(0.2, 0.5, 0.9), test="t", correction=correction)
    assert describe_test(found.rows) == f"paired t test, {words}"


def test_families_of_different_sizes_are_given_as_a_range() -> None:
    """A pair without p makes its family smaller."""
    found = be.compare(systems(0.2, 0.5, 0.9), test="t")
    same = be.compare({**systems(0.2, 0.5), "again": systems(0.2)["s0"]}, test="t")
    assert [row.p is None for row in same.rows].count(True) == 1
    words = describe_test([*found.rows, *same.rows])
    assert words == "paired t test, corrected (holm) for 2 to 3 comparisons"


def test_rows_without_p_do_not_name_a_test() -> None:
    """Unless there are no other rows; then the requested test is named."""
    few = be.compare(systems(0.2, 0.9, zero_queries=39), test="t")
    assert few.rows[0].p is None
    assert describe_test(few.rows) == "t"
    many = be.compare(systems(0.2, 0.9))
    assert describe_test([*few.rows, *many.rows]) == "randomization test, exact"


@pytest.mark.parametrize(
    ("method", "words"),
    [
        ("t", "Student's t"),
        ("bca", "bootstrap, BCa"),
        ("percentile", "bootstrap, percentiles"),
    ],
)
def test_every_interval_method_has_a_name(method: Any, words: str) -> None:
    assert describe_interval(be.compare(systems(0.2, 0.9), interval=method)) == words
    assert method in METHODS
    assert len(METHODS) == 3


def test_tukey_is_never_called_exact() -> None:
    """The test of a pair may be exact; its corrected p comes from permutations of all systems."""
    found = be.compare(systems(0.2, 0.5, 0.9), correction="tukey")
    assert describe_test(found.rows) == (
        "randomization test, exact, "
        "corrected (tukey, by random permutations of all systems) for 3 comparisons"
    )
