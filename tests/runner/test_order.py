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


def ranked(scores: list[float], k: int = 50) -> Ranking:
    """The ranking of hits with these scores, in this order; equal ones are in ours."""
    hits = [(f"d{99 - n}", score) for n, score in enumerate(scores)]
    return build_ranking("q", hits, k, 0.0, 1)


def warnings_about(rankings: list[Ranking], k: int) -> list[str]:
    """What is said of a provider that gave these answers."""
    tally = Tally()
    for ranking in rankings:
        tally.add(ranking)
    return tally.warnings(k)


@given(SCORES)
def test_best_first_is_in_order(scores: list[float]) -> None:
    """Ties too, and what float32 rounds."""
    best_first = sorted(scores, reverse=True)
    assert ranked(best_first).disorder == ""
    largest = max(map(abs, scores))
    noisy = [score + (-1) ** place * 1e-7 * largest for place, score in enumerate(best_first)]
    assert ranked(noisy).disorder == ""
    assert ranked([float(np.float32(score)) for score in best_first]).disorder == ""


@given(st.lists(st.integers(1, 1000), min_size=2, max_size=20, unique=True))
def test_best_last_is_reversed(distances: list[int]) -> None:
    """As distances are; the scores decide all the same."""
    ranking = ranked(sorted(map(float, distances)))
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
def test_kinds_of_order(scores: list[float], expected: str) -> None:
    """Nothing to say, here and there, from the first to the last."""
    assert ranked(scores).disorder == expected


def test_it_is_kept_and_only_where_there_is_something() -> None:
    """The journal of a run that goes on says it too."""
    assert "disorder" not in ranked([2.0, 1.0]).to_json()
    wrong = ranked([1.0, 2.0])
    assert Ranking.from_json(wrong.to_json()).disorder == "reversed"


def test_hits_beyond_the_depth_and_repeats_do_not_hide_it() -> None:
    """What was answered is looked at, not what is left of it."""
    assert ranked([1.0, 2.0, 3.0], k=1).disorder == "reversed"
    again = build_ranking("q", [("a", 2.0), ("b", 1.0), ("a", 3.0)], 5, 0.0, 1)
    assert again.disorder == ""


def test_it_is_said_once_with_how_many() -> None:
    """Distances are called by their name; a query that failed is none."""
    fine, far, mixed = ranked([2.0, 1.0]), ranked([1.0, 2.0]), ranked([1.0, 3.0, 2.0])
    failed = Ranking("q", "error")
    assert warnings_about([fine, fine], 2) == []
    (warning,) = warnings_about([fine, far, far], 2)
    assert warning.startswith("the hits of 2 of 3 queries came with scores that grow")
    assert "look like distances: give 1 - distance, or negate them" in warning
    first = warnings_about([fine, far, mixed, failed], 3)[0]
    assert first.startswith("the hits of 2 of 3 queries came in another order than their scores")
