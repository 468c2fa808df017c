"""Answers whose order contradicts their scores."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.runner.outcome import Ranking, build_ranking
from berryeval.workflows.recording import Tally

SCORES = st.lists(
    st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False), min_size=1, max_size=20
)


def rank_scores(scores: list[float], k: int = 50) -> Ranking:
    hits = [(f"d{99 - n}", score) for n, score in enumerate(scores)]
    return build_ranking("q", hits, k, 0.0, 1)


def warnings_about(rankings: list[Ranking], k: int) -> list[str]:
    tally = Tally()
    for ranking in rankings:
        tally.add(ranking)
    return tally.warnings(k)


@given(SCORES)
def test_falling_scores_are_in_order(scores: list[float]) -> None:
    best_first = sorted(scores, reverse=True)
    assert rank_scores(best_first).disorder == ""
    largest = max(map(abs, scores))
    noisy = [score + (-1) ** place * 1e-7 * largest for place, score in enumerate(best_first)]
    assert rank_scores(noisy).disorder == ""
    assert rank_scores([float(np.float32(score)) for score in best_first]).disorder == ""


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=20, unique=True))
def test_rising_scores_are_reversed(distances: list[int]) -> None:
    ranking = rank_scores(sorted(map(float, distances)))
    assert ranking.disorder == "reversed"
    assert [hit.score for hit in ranking.hits] == sorted(distances, reverse=True)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], ""),
        ([0.0, 0.0], ""),
        ([0.5], ""),
        ([0.3, 0.3, 0.3], ""),
        ([0.1, 0.3, 0.2], "mixed"),
        ([0.3, 0.1, 0.2], "mixed"),
        ([0.1, 0.1, 0.2], "reversed"),
        ([-0.2, -0.1], "reversed"),
    ],
)
def test_each_kind_of_disorder_is_found(scores: list[float], expected: str) -> None:
    assert rank_scores(scores).disorder == expected


def test_the_journal_records_disorder_only_if_there_is_some() -> None:
    assert "disorder" not in rank_scores([2.0, 1.0]).to_json()
    wrong = rank_scores([1.0, 2.0])
    assert Ranking.from_json(wrong.to_json()).disorder == "reversed"


def test_disorder_is_found_in_the_full_answer() -> None:
    assert rank_scores([1.0, 2.0, 3.0], k=1).disorder == "reversed"
    again = build_ranking("q", [("a", 2.0), ("b", 1.0), ("a", 3.0)], 5, 0.0, 1)
    assert again.disorder == ""


def test_one_warning_counts_the_answers_in_disorder() -> None:
    fine, far, mixed = (
        rank_scores([2.0, 1.0]),
        rank_scores([1.0, 2.0]),
        rank_scores([1.0, 3.0, 2.0]),
    )
    failed = Ranking("q", "error")
    assert warnings_about([fine, fine], 2) == []
    (warning,) = warnings_about([fine, far, far], 2)
    assert warning.startswith("the hits of 2 of 3 queries have scores that increase")
    assert "look like distances: give 1 - distance, or negate them" in warning
    first = warnings_about([fine, far, mixed, failed], 3)[0]
    assert first.startswith("the hits of 2 of 3 queries are not in the order of their scores")
