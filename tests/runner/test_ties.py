"""Answers with equal scores, and answers in which some hits have no score."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import berryeval as be
from berryeval.data.records import Hit
from berryeval.errors import ProviderError
from berryeval.providers.answers import as_hits
from berryeval.runner.outcome import Ranking, build_ranking
from berryeval.workflows.recording import Tally


def rank(answer: Any, k: int = 10) -> Ranking:
    return build_ranking("q", answer, k, 0.0, 1)


def warnings_about(rankings: list[Ranking]) -> list[str]:
    tally = Tally()
    for ranking in rankings:
        tally.add(ranking)
    return tally.warnings(10)


@pytest.mark.parametrize(
    ("answer", "k", "expected"),
    [
        ([("b", 1.0), ("a", 1.0)], 5, ""),
        ([("a", 1.0), ("b", 1.0)], 5, "tied"),
        ([("c", 2.0), ("a", 1.0), ("b", 1.0)], 5, "tied"),
        ([("a", 2.0), ("b", 1.0), ("c", 0.5)], 5, ""),
        ([("c", 2.0), ("a", 1.0), ("b", 1.0)], 1, ""),
        ([("c", 2.0), ("a", 1.0), ("b", 1.0)], 2, "tied"),
        ([("c", 1.0), ("b", 1.0), ("a", 1.0), ("z", 1.0)], 2, "tied"),
        ([("d", 1.0), ("c", 1.0), ("a", 1.0), ("b", 1.0)], 2, ""),
        ([("a", 1.0), ("b", 1.0), ("c", 2.0)], 5, "reversed"),
        ([("a", 0.0), ("b", 0.0)], 5, ""),
        (["a", "b"], 5, ""),
        ({"a": 1.0, "b": 1.0}, 5, ""),
        ([("z", 1.0), ("é", 1.0)], 5, "tied"),
    ],
)
def test_moved_ties_are_recorded(answer: Any, k: int, expected: str) -> None:
    assert rank(answer, k).disorder == expected


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from([1.0, 2.0, 3.0]))))
def test_no_hit_moves_without_a_record(answer: list[tuple[str, float]]) -> None:
    first = list(dict.fromkeys(name for name, _ in answer))
    ranking = rank(answer, 4)
    moved = [hit.id for hit in ranking.hits] != first[:4]
    assert moved <= bool(ranking.disorder)
    assert Ranking.from_json(ranking.to_json()) == ranking


def test_one_warning_counts_moved_ties_and_says_what_to_do() -> None:
    fine, tied = rank([("a", 2.0), ("b", 1.0)]), rank([("a", 1.0), ("b", 1.0)])
    assert warnings_about([fine]) == []
    (warning,) = warnings_about([fine, tied, tied])
    assert warning.startswith("hits of equal scores were moved in 2 of 3 queries: they are ordered")
    assert "as trec_eval does" in warning
    assert "give scores that differ, or none" in warning
    far = rank([("a", 1.0), ("b", 2.0)])
    first, second = warnings_about([far, tied])
    assert first.startswith("the hits of 1 of 2 queries have scores that increase")
    assert second.startswith("hits of equal scores were moved in 1 of 2 queries")


def test_bundled_providers_move_no_ties() -> None:
    names = ["bm25", "dense", "hybrid", "sqlite"]
    fused = {"type": "hybrid", "name": "by score", "options": {"fusion": "scores"}}
    logging.getLogger("bm25s").setLevel(logging.INFO)
    found = be.run_benchmark("rag-template", [*names, fused], ["RR"])
    assert len(found.providers) == 5
    for one in found.providers:
        assert one.scores is not None, one.failure
        assert [text for text in one.warnings if "equal scores" in text] == []


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ([{"id": "a", "score": 1.0}, {"id": "b"}], "hit 2 ('b')"),
        ([{"id": "a"}, {"id": "b", "score": 0.0}], "hit 1 ('a')"),
        ([("a", 1.0), "b"], "hit 2 ('b')"),
        ([Hit("a", 1.0), "b"], "hit 2 ('b')"),
    ],
)
def test_a_hit_without_a_score_among_scored_hits_is_rejected(answer: Any, named: str) -> None:
    with pytest.raises(ProviderError) as caught:
        as_hits(answer)
    told = f"{named} has no score but others have; give every hit a score, or none"
    assert told in str(caught.value)


@pytest.mark.parametrize(
    "answer",
    [
        [{"id": "a"}, {"id": "b"}, "c"],
        [{"id": "a", "score": 1.0}, ("b", 0.5), Hit("c")],
        [Hit("a", 1.0), Hit("b"), Hit("c", -1.0)],
        ["a", Hit("b"), {"id": "c"}],
    ],
)
def test_a_hit_object_with_score_0_may_have_a_score_or_none(answer: Any) -> None:
    assert [hit.id for hit in as_hits(answer)] == ["a", "b", "c"]
