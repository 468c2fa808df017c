"""Fusion by scores; fusion by ranks is in `test_dense_and_hybrid`."""

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
    return [Hit(name, score) for name, score in scored]


def scores_of(hits: list[Hit]) -> dict[str, float]:
    return {hit.id: hit.score for hit in hits}


def test_scores_are_normalized_and_added() -> None:
    lexical = ranking(("a", 8.0), ("b", 6.0), ("c", 4.0))
    dense = ranking(("c", 0.9), ("d", 0.7), ("b", 0.6), ("e", 0.5))
    hits = fuse_scores([lexical, dense], 10, weights=[1, 2])
    expected = {"a": 1.0, "b": 0.5 + 2 * 0.25, "c": 0.0 + 2 * 1.0, "d": 2 * 0.5, "e": 0.0}
    assert scores_of(hits) == pytest.approx(expected)
    assert hits[0].id == "c"
    assert [hit.rank for hit in hits] == [1, 2, 3, 4, 5]


def test_the_margin_of_a_lead_counts() -> None:
    one = ranking(("far", 9.0), ("x", 2.0), ("near", 1.0))
    other = ranking(("near", 0.51), ("far", 0.50), ("y", 0.40))
    assert fuse_scores([one, other], 1)[0].id == "far"


def test_a_repeat_counts_once_at_its_first_rank() -> None:
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
def test_scores_without_information_are_replaced_by_positions(scores: tuple[float, ...]) -> None:
    hits = fuse_scores([ranking(*zip("abcd", scores, strict=True))], 10)
    assert scores_of(hits) == {"a": 1.0, "b": 0.75, "c": 0.5, "d": 0.25}


def test_scores_swapped_by_rounding_are_still_used() -> None:
    scores = [9.0, 2.0, 2.0 + 1e-7, 1.0]
    assert build_ranking("q", list(zip("abcd", scores, strict=True)), 4, 0.0, 1).disorder == ""
    hits = fuse_scores([ranking(*zip("abcd", scores, strict=True))], 10)
    assert [hit.id for hit in hits] == ["a", "b", "c", "d"]
    assert [hit.score for hit in hits] == pytest.approx([1.0, 0.125, 0.125, 0.0], abs=1e-6)


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_a_nan_score_anywhere_is_replaced_by_positions(odd: float) -> None:
    hits = fuse_scores([ranking(("a", 3.0), ("b", odd), ("c", 2.0), ("d", 1.0))], 10)
    assert scores_of(hits) == {"a": 1.0, "b": 0.75, "c": 0.5, "d": 0.25}


def test_a_single_hit_scores_1() -> None:
    assert scores_of(fuse_scores([ranking(("a", 0.2)), []], 5)) == {"a": 1.0}


@given(
    st.lists(st.integers(-1000, 1000), min_size=1, max_size=12, unique=True),
    st.sampled_from([0.25, 1.0, 8.0, 1024.0]),
    st.integers(-4096, 4096),
)
def test_fusion_ignores_scale_and_offset_of_scores(
    numbers: list[int], factor: float, offset: int
) -> None:
    ordered = sorted(numbers, reverse=True)
    here = ranking(*((str(place), float(number)) for place, number in enumerate(ordered)))
    there = ranking(*((hit.id, factor * hit.score + offset) for hit in here))
    beside = ranking(("3", 2.0), ("1", 1.5), ("z", 1.0))
    assert scores_of(fuse_scores([here, beside], 9)) == scores_of(fuse_scores([there, beside], 9))


def test_hybrid_fuses_scores_by_default() -> None:
    children = [Bm25(), Bm25(b=0.0, stemmer="")]
    asked = [query("rate limits of the phrase"), query("how long are backups kept")]
    with Hybrid(children, weights=[1, 3]) as hybrid:
        hybrid.index(CHUNKS)
        expected = [
            fuse_scores([child.search(one, 100) for child in children], 3, weights=[1, 3])
            for one in asked
        ]
        assert hybrid.search_many(asked, 3) == expected
        assert [hybrid.search(one, 3) for one in asked] == expected
        assert any(expected)
