"""Rankings fused by their scores; by their ranks in `test_dense_and_hybrid`."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data.records import Hit
from berryeval.providers.bm25 import Bm25
from berryeval.providers.hybrid import Hybrid
from berryeval.providers.ranking import fuse_scores
from berryeval.runner.outcome import build_ranking
from tests.providers.corpus import CHUNKS, query


def ranking(*scored: tuple[str, float]) -> list[Hit]:
    """Hits in this order."""
    return [Hit(name, score) for name, score in scored]


def scores_of(hits: list[Hit]) -> dict[str, float]:
    """What each hit has."""
    return {hit.id: hit.score for hit in hits}


def test_scores_are_spread_from_0_to_1_and_added() -> None:
    """By hand: a ranking of 8, 6, 4 is worth 1, 0.5, 0; the weight of the other is 2."""
    lexical = ranking(("a", 8.0), ("b", 6.0), ("c", 4.0))
    dense = ranking(("c", 0.9), ("d", 0.7), ("b", 0.6), ("e", 0.5))
    hits = fuse_scores([lexical, dense], 10, weights=[1, 2])
    expected = {"a": 1.0, "b": 0.5 + 2 * 0.25, "c": 0.0 + 2 * 1.0, "d": 2 * 0.5, "e": 0.0}
    assert scores_of(hits) == pytest.approx(expected)
    assert hits[0].id == "c"
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]


def test_a_lead_counts() -> None:
    """What is far ahead in one ranking stays ahead of what is a little ahead in the other."""
    one = ranking(("far", 9.0), ("x", 2.0), ("near", 1.0))
    other = ranking(("near", 0.51), ("far", 0.50), ("y", 0.40))
    assert fuse_scores([one, other], 1)[0].id == "far"


def test_a_repeat_counts_once_at_its_first_place() -> None:
    """And does not stretch the ranking."""
    hits = fuse_scores([ranking(("a", 3.0), ("b", 2.0), ("a", 0.0), ("c", 1.0))], 10)
    assert scores_of(hits) == {"a": 1.0, "b": 0.5, "c": 0.0}


@pytest.mark.parametrize(
    "scores",
    [
        (0.0, 0.0, 0.0, 0.0),
        (0.1, 0.2, 0.3, 0.4),
        (3.0, 1.0, 2.0, 0.0),
        (1e308, 0.0, -1.0, -1e308),
        (math.nan, 2.0, 1.0, 0.0),
    ],
    ids=["none", "distances", "another order", "too far apart", "no number"],
)
def test_scores_that_say_nothing_leave_the_places(scores: tuple[float, ...]) -> None:
    """1, 3/4, 2/4, 1/4: the order that the provider gave is never lost or turned round."""
    hits = fuse_scores([ranking(*zip("abcd", scores, strict=True))], 10)
    assert scores_of(hits) == {"a": 1.0, "b": 0.75, "c": 0.5, "d": 0.25}


def test_what_rounding_swaps_does_not_throw_the_scores_away() -> None:
    """The harness calls this in order, and so does the fusion; the hits stay as they were given."""
    scores = [9.0, 2.0, 2.0 + 1e-7, 1.0]
    assert build_ranking("q", list(zip("abcd", scores, strict=True)), 4, 0.0, 1).disorder == ""
    hits = fuse_scores([ranking(*zip("abcd", scores, strict=True))], 10)
    assert [hit.id for hit in hits] == ["a", "b", "c", "d"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.125, 0.125, 0.0], abs=1e-6)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_anywhere_leaves_the_places(odd: float) -> None:
    """Not only at the first hit."""
    hits = fuse_scores([ranking(("a", 3.0), ("b", odd), ("c", 2.0), ("d", 1.0))], 10)
    assert scores_of(hits) == {"a": 1.0, "b": 0.75, "c": 0.5, "d": 0.25}


def test_one_hit_has_all_the_worth_and_none_has_none() -> None:
    """A ranking of one hit, beside one of nothing."""
    assert scores_of(fuse_scores([ranking(("a", 0.2)), []], 5)) == {"a": 1.0}


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=12, unique=True),
    st.sampled_from([0.25, 1.0, 8.0, 1024.0]),
    st.integers(-4096, 4096),
)
def test_the_unit_of_a_score_does_not_matter(
    numbers: list[int], factor: float, offset: int
) -> None:
    """Another scale, or another zero, gives the same hits with the same worth."""
    ordered = sorted(numbers, reverse=True)
    here = ranking(*((str(place), float(number)) for place, number in enumerate(ordered)))
    there = ranking(*((hit.id, factor * hit.score + offset) for hit in here))
    beside = ranking(("3", 2.0), ("1", 1.5), ("z", 1.0))
    assert scores_of(fuse_scores([here, beside], 9)) == scores_of(fuse_scores([there, beside], 9))


def test_hybrid_fuses_scores_where_asked() -> None:
    """The same as fusing what its providers find, batch or not."""
    children = [Bm25(), Bm25(b=0.0, stemmer="")]
    asked = [query("rate limits of the phrase"), query("how long are backups kept")]
    with Hybrid(children, weights=[1, 3], fusion="scores") as hybrid:
        hybrid.index(CHUNKS)
        expected = [
            fuse_scores([child.search(one, 100) for child in children], 3, weights=[1, 3])
            for one in asked
        ]
        assert hybrid.search_many(asked, 3) == expected
        assert [hybrid.search(one, 3) for one in asked] == expected
        assert any(expected)
