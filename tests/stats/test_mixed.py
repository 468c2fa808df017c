"""Tests of rows in which a test of signs or ranks contradicts the mean."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.stats.comparison import Comparison, PairedDifference
from berryeval.stats.pairwise import compare
from berryeval.stats.tests import TESTS, paired_test
from tests.stats.worlds import paired_values, scores_of, table

A = np.full(50, 0.8)
# Slightly higher in 43 queries and much lower in 7: the mean decreases.
MANY_SMALL = np.where(np.arange(50) < 43, 0.81, 0.05)


def row_of(b: Any, metric: str = "RR", how: str = "mean", **options: Any) -> PairedDifference:
    """Compare two systems, a and b."""
    tables = [table("a", A, metric, how), table("b", b, metric, how)]
    return compare(tables, **options).row(metric)


def test_small_wins_and_large_losses_are_mixed() -> None:
    row = row_of(MANY_SMALL, test="sign")
    assert (row.wins, row.losses, row.test_sign) == (43, 7, 1)
    assert row.difference < 0
    assert (row.significant, row.mixed, row.shown) == (True, True, False)
    assert (row.better, row.worse, row.needed) == (False, False, None)
    assert row.sentence.startswith(
        "b wins more queries than a (43 of 50, sign test p < 0.001), but its mean is lower, so "
        f"neither is significantly better: RR {row.difference:+.3f}, 95 % CI ["
    )


def test_few_wins_and_a_higher_mean_are_mixed() -> None:
    few = 1.6 - MANY_SMALL
    assert row_of(few, test="sign").sentence.startswith(
        "b wins fewer queries than a (7 of 50, sign test p < 0.001), but its mean is higher, so "
    )
    down = row_of(MANY_SMALL, "TokensToHit(budget=500)", test="sign")
    assert (down.better, down.worse) == (False, False)
    assert down.sentence.startswith(
        "b is higher than a in 43 of 50 queries (sign test p < 0.001), but its mean is lower, so "
    )
    neither = row_of(MANY_SMALL, "NumRet", "sum", test="sign")
    assert "), but its sum is lower: NumRet " in neither.sentence


def test_wins_without_a_difference_of_means_are_mixed() -> None:
    even = np.where(np.arange(50) < 40, 0.85, 0.6)
    row = row_of(even, test="sign")
    assert row.difference == pytest.approx(0.0, abs=1e-15)
    assert (row.mixed, row.better, row.worse) == (True, False, False)
    assert "but its mean is the same" in row.sentence


def test_wilcoxon_has_the_sign_of_its_ranks() -> None:
    for size in (20, 200):
        change = np.where(np.arange(size) < 0.9 * size, 0.01 + np.arange(size) * 1e-5, -0.5)
        a, b = np.full(size, 0.6), 0.6 + change
        row = compare([table("a", a), table("b", b)], test="wilcoxon").row("AP")
        assert (row.test_sign, row.mixed, row.worse) == (1, True, False)
        assert row.sentence.startswith(
            "b is higher than a by the Wilcoxon signed rank test (p "
        )  # fmt: skip
        assert "), but its mean is lower, so neither is significantly better: AP -" in row.sentence


def test_mixed_sentence_names_the_correction() -> None:
    systems = [table("a", A, "RR"), table("b", MANY_SMALL, "RR"), table("c", A + 0.01, "RR")]
    found = compare(systems, baseline="a", test="sign")
    assert "sign test p < 0.001, Holm, 2 comparisons), but" in found.row("RR", "b").sentence
    assert [row.system for row in found.better] == ["c"]
    assert found.worse == ()


def test_agreement_of_test_and_mean_is_not_mixed() -> None:
    row = row_of(A + 0.01, test="sign")
    assert (row.mixed, row.shown, row.better) == (False, True, True)
    assert row.sentence.startswith("b is better than a: RR +0.010")


def test_test_sign_survives_json() -> None:
    """In a file without the sign, the test has the sign of the difference."""
    found = compare([table("a", A), table("b", MANY_SMALL)], test="sign")
    data = json.loads(json.dumps(found.to_dict()))
    assert Comparison.from_dict(data) == found
    row = data["rows"][0]
    assert [row[name] for name in ("significant", "mixed", "better", "worse")] == [
        True, True, False, False,
    ]  # fmt: skip
    del row["test_sign"]
    (older,) = Comparison.from_dict(data).rows
    assert (older.test_sign, older.worse) == (None, True)


@given(paired_values, st.sampled_from(["randomization", "t", "bootstrap"]))
def test_tests_of_the_mean_have_the_sign_of_the_mean(
    pairs: list[tuple[float, float]], name: str
) -> None:
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    found = paired_test(name, a, b, samples=50)
    if found.p is not None:
        assert found.sign == np.sign(round(float((b - a).sum()), 9))
    row = compare([table("a", a), table("b", b)], test=name, samples=50, level=0.5).row("AP")
    assert not row.mixed


@given(paired_values, st.sampled_from(list(TESTS)))
def test_exchanged_systems_have_opposite_findings(
    pairs: list[tuple[float, float]], name: str
) -> None:
    a, b = (
        table(side, values) for side, values in zip("ab", zip(*pairs, strict=True), strict=True)
    )
    one, other = (
        compare(order, test=name, samples=50, level=0.6).row("AP") for order in ([a, b], [b, a])
    )
    assert (one.better, one.worse, one.mixed) == (other.worse, other.better, other.mixed)


def test_tukey_has_the_sign_of_the_queries_that_all_systems_have() -> None:
    shared, more = [f"s{n}" for n in range(12)], [f"t{n}" for n in range(30)]
    high, low = dict.fromkeys(shared, 0.9), dict.fromkeys(shared, 0.1)
    a = scores_of("a", {"AP": {**low, **dict.fromkeys(more, 0.9)}})
    b = scores_of("b", {"AP": {**high, **dict.fromkeys(more, 0.1)}})
    found = compare([a, b, scores_of("c", {"AP": low})], correction="tukey").row("AP", "b", "a")
    assert (found.difference < 0, found.test_sign) == (True, 1)
    assert (found.mixed, found.worse, found.better) == (True, False, False)
    assert found.sentence.startswith("b is higher than a by Tukey's test (p < 0.001, Tukey, 3 ")


def test_sentence_does_not_ask_for_fewer_queries_than_there_are() -> None:
    ups, downs = np.full(26, 0.62), np.full(24, 0.02)
    a = np.concatenate([np.zeros(26), downs])
    b = np.concatenate([ups, np.zeros(24)])
    (row,) = compare({"a": table("a", a), "b": table("b", b)}, metrics=["AP"], test="sign").rows
    assert row.needed is not None
    assert row.needed <= row.n
    assert row.sentence.endswith("the t test has 80 % power for a difference of 0.131")
