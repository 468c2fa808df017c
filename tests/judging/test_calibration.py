"""Calibration of a model judge: bias, its significance, and the verdict."""

from __future__ import annotations

import pytest

from berryeval.data import Anchor
from berryeval.judging import TRUST, Vote, calibrate


def list_pairs(
    shift: float, queries: int = 30, pairs: int = 3, grades: tuple[int, ...] = (0, 1, 2)
) -> list[Vote]:
    """Votes of a person, and of a model that is higher by the same shift everywhere."""
    votes = []
    for place in range(queries * pairs):
        query, target = f"q{place // pairs}", Anchor(document=f"d{place}")
        grade = grades[place * 7 % len(grades)]
        votes.append(Vote(query, target, grade, "ann"))
        votes.append(Vote(query, target, grade + shift, "bot", "llm"))
    return votes


def test_a_constant_bias_is_significant() -> None:
    """A model that is always one grade higher does not vary, and its bias is certain."""
    found = calibrate(list_pairs(1), "bot", metric="nDCG@10")
    assert found.overall.value == 1
    assert found.overall.significant
    assert found.overall.interval is None
    assert found.advice == "use it with correction"
    assert [one.value for one in found.grades] == [1, 1, 1]


def test_no_bias_is_not_significant() -> None:
    """A model that gives the same grades has no bias, and may be used if no system is favoured."""
    same = {f"q{place}": (place % 5) / 4 for place in range(30)}
    scores = {"old": (same, same), "new": (same, same)}
    found = calibrate(list_pairs(0), "bot", scores=scores, metric="nDCG@10")
    assert found.overall.p == 1
    assert [one.significant for one in found.favours] == [False]
    assert found.advice == "use it"


def test_few_pairs_that_differ_alike_prove_nothing() -> None:
    """Two queries with the same difference have no p-value."""
    found = calibrate(list_pairs(1, queries=2), "bot")
    assert found.overall.p is None
    assert not found.overall.significant


def test_pairs_of_one_query_are_dependent() -> None:
    """The interval of three queries with many pairs is that of three, not of sixty."""
    votes = []
    for place in range(60):
        query, target = f"q{place // 20}", Anchor(document=f"d{place}")
        votes.append(Vote(query, target, place % 3, "ann"))
        votes.append(Vote(query, target, place % 3 + place // 20, "bot", "llm"))
    found = calibrate(votes, "bot").overall
    assert found.value == 1
    assert found.interval is not None
    # Means of the queries are 0, 1 and 2: a standard error of 1 / sqrt(3), and t with 2 degrees.
    assert found.interval.high == pytest.approx(1 + 4.302653 / 3**0.5, abs=1e-4)
    assert not found.significant


def test_the_thresholds_are_in_one_place() -> None:
    """The page that explains the verdict has the thresholds of the rule."""
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "judging.md").read_text(encoding="utf-8")
    assert f"fewer than {TRUST.pairs} pairs" in page
    assert f"reaches below {TRUST.fair:g}" in page
    assert f"stays above {TRUST.good:g}" in page
    assert f"less than {TRUST.bias:.0%}".replace("%", " %") in page
