"""Votes on hits of several chunkings: one answer counts once, a judged hit keeps its grade."""

from __future__ import annotations

import pytest

import berryeval as be
from berryeval.anchors import Targets, resolve
from berryeval.benchmarks import Benchmark
from berryeval.data import Anchor, Chunk, Document, Judgment, Query
from berryeval.judging import Vote, apply_decisions, decide

INTRO = "# Apples\n\nApples are red or green.\n\n"
STORAGE = "## Storage\n\nKeep them for six months.\n\n"
BAKING = "## Baking\n\nBake them for an hour.\n"
PAGE = INTRO + STORAGE + BAKING
SMALL = [
    Chunk("intro", "alpha", INTRO, 0, len(INTRO)),
    Chunk("storage", "alpha", STORAGE, len(INTRO), len(INTRO + STORAGE)),
    Chunk("baking", "alpha", BAKING, len(INTRO + STORAGE), len(PAGE)),
]
LARGE = [Chunk("page", "alpha", PAGE, 0, len(PAGE))]


def anchor(chunk: Chunk) -> Anchor:
    return Anchor(document="alpha", start=chunk.start, end=chunk.end, quote=chunk.text)


def judged(grades: dict[str, float], *own: Judgment) -> Benchmark:
    chunks = {one.id: one for one in (*SMALL, *LARGE)}
    votes = [Vote("q", anchor(chunks[name]), grade, "Ann") for name, grade in grades.items()]
    benchmark = Benchmark("fruit", (Document("alpha", PAGE),), (Query("q", "how long?"),), own)
    return apply_decisions(benchmark, decide(votes))


def ndcg(benchmark: Benchmark, hits: list[Chunk]) -> float:
    ranking = Targets.locate(benchmark.judgments, benchmark.documents).judge("q", hits)
    return be.parse_metric("nDCG@10")(ranking)


EVERYTHING: dict[str, float] = {"intro": 0, "storage": 3, "baking": 0, "page": 3}


@pytest.mark.parametrize("hits", [LARGE, [SMALL[1], SMALL[0]]], ids=["page", "sections"])
def test_the_same_answer_in_two_chunkings_is_one_target(hits: list[Chunk]) -> None:
    assert ndcg(judged(EVERYTHING), hits) == 1.0


def test_a_hit_with_a_grade_of_its_own_has_that_grade() -> None:
    """The introduction is part of the page, which answers, and yet of no use."""
    found = judged(EVERYTHING)
    assert ndcg(found, [SMALL[0], SMALL[1]]) == pytest.approx(0.6309, abs=1e-4)
    chunks = resolve(found.judgments, SMALL, found.documents).qrels.to_dict()["q"]
    assert chunks == {"intro": 0, "storage": 3, "baking": 0}


def test_judging_one_chunking_does_not_change_the_scores_of_another() -> None:
    small = {name: grade for name, grade in EVERYTHING.items() if name != "page"}
    ranking = [SMALL[2], SMALL[1], SMALL[0]]
    assert ndcg(judged(EVERYTHING), ranking) == ndcg(judged(small), ranking)


def test_two_answers_of_one_document_stay_two() -> None:
    found = judged({"storage": 3, "baking": 3})
    assert ndcg(found, [SMALL[1]]) < 1.0
    assert ndcg(found, [SMALL[1], SMALL[2]]) == 1.0


def test_a_judged_document_gives_way_to_its_relevant_passages() -> None:
    document = Judgment("q", Anchor(document="alpha"), 1)
    assert ndcg(judged({"storage": 3}, document), [SMALL[1]]) == 1.0
    assert ndcg(judged({"intro": 0}, document), [SMALL[0]]) == 0.0
    assert ndcg(judged({"intro": 0}, document), [SMALL[1]]) == 1.0


def test_a_judged_section_and_a_passage_of_it_are_one_target() -> None:
    section = Judgment("q", Anchor(document="alpha", section=("Apples", "Storage")), 2)
    piece = Chunk("piece", "alpha", "six months", PAGE.index("six"), PAGE.index("six") + 10)
    vote = Vote("q", anchor(piece), 1, "Ann")
    benchmark = Benchmark("fruit", (Document("alpha", PAGE),), (Query("q", "?"),), (section,))
    found = apply_decisions(benchmark, decide([vote]))
    assert ndcg(found, [SMALL[1]]) == 1.0
    assert ndcg(found, [piece, SMALL[1]]) == 0.5


def test_nothing_changes_without_votes() -> None:
    own = (Judgment("q", Anchor(document="alpha"), 1), Judgment("q", anchor(SMALL[1]), 2))
    assert judged({}, *own).judgments == own


def test_white_space_around_a_hit_does_not_matter() -> None:
    found = judged(EVERYTHING)
    bare = Chunk("bare", "alpha", INTRO.rstrip(), 0, len(INTRO.rstrip()))
    assert ndcg(found, [bare, SMALL[1]]) == ndcg(found, [SMALL[0], SMALL[1]])


def test_ids_in_the_metadata_of_a_query_still_count() -> None:
    query = Query("q", "how long?", metadata={"relevant_ids": ["beta"]})
    documents = (Document("alpha", PAGE), Document("beta", "Six months."))
    vote = Vote("q", anchor(SMALL[0]), 0, "Ann")
    found = apply_decisions(Benchmark("fruit", documents, (query,)), decide([vote]))
    assert ndcg(found, [Chunk("b", "beta", "Six months.", 0, 11)]) == 1.0
