"""Hits of two answers on the same target are one hit, however documents were chunked."""

from __future__ import annotations

from dataclasses import replace

import pytest

import berryeval as be
from berryeval.data.records import Document, Query
from berryeval.reports.differences import MovedHit
from berryeval.runs.answers import AnswerRecord, FoundTarget, MissedTarget
from berryeval.workflows.query_moves import join_by_target

OLD = MovedHit("tea#details", "tea > Details", 3.0, before=1)
NEW = MovedHit("tea:0-99", "tea", 3.0, after=9)
NOISE = MovedHit("fog", "fog", None, before=2)


def answer(*missed: str, grade: float = 3.0) -> AnswerRecord:
    """Return an answer that misses these targets."""
    return AnswerRecord("q1", "ok", missed=tuple(MissedTarget(name, grade) for name in missed))


def test_hits_on_one_target_are_joined() -> None:
    """The hit has both ranks and the longer name."""
    joined = MovedHit("tea#details", "tea > Details", 3.0, before=1, after=9)
    assert join_by_target([OLD, NOISE, NEW], answer(), answer()) == [joined, NOISE]


def test_different_headings_leave_the_document() -> None:
    new = MovedHit("tea:0-99", "tea > Steeping", 3.0, after=9)
    (joined,) = join_by_target([OLD, new], answer(), answer())
    assert (joined.name, joined.before, joined.after) == ("tea", 1, 9)


@pytest.mark.parametrize(
    "other",
    [
        MovedHit("tea:0-99", "tea", 2.0, after=9),
        MovedHit("cup:0-99", "cup", 3.0, after=9),
        MovedHit("tea#details", "tea > Details", 3.0, before=4),
    ],
)
def test_other_grades_documents_and_sides_are_not_joined(other: MovedHit) -> None:
    assert join_by_target([OLD, other], answer(), answer()) == [OLD, other]


def test_two_equal_hits_are_not_joined() -> None:
    more = MovedHit("tea:99-120", "tea", 3.0, after=12)
    assert join_by_target([OLD, NEW, more], answer(), answer()) == [OLD, NEW, more]


def test_a_target_that_one_side_misses_is_not_joined() -> None:
    apart = [OLD, NEW]
    assert join_by_target(apart, answer(), answer("'tea', section 'Details'")) == apart
    assert join_by_target(apart, answer("quote 'hot'"), answer()) == apart
    assert join_by_target(apart, answer("'cup' or 'tea'"), answer()) == apart
    for missed in (answer("'cup', quote 'hot'"), answer("'tea'", grade=1.0)):
        assert len(join_by_target(apart, answer(), missed)) == 1
    assert len(join_by_target(apart, answer("'tea'"), answer("'tea'"))) == 1


def test_a_comparison_of_two_chunkers_is_about_targets() -> None:
    result = be.run_benchmark("rag-template", ["bm25:section", "bm25:sentence-3"], ["nDCG@10"])
    (one,) = be.compare_runs(result, moved=100).compared
    second = {
        (answer.query_id, hit.id)
        for answer in result.providers[1].record.answers
        for hit in answer.hits
    }
    both = [
        hit
        for query in one.moved
        for hit in (*query.moved, *query.left, *query.entered)
        if hit.before and hit.after and (query.query_id, hit.id) not in second
    ]
    assert both
    assert all(hit.grade for hit in both)


def found(*ranks: int, names: tuple[str, ...] = ("'tea'",)) -> AnswerRecord:
    """Return an answer that finds the targets at these ranks."""
    pairs = zip(names, ranks, strict=True)
    return AnswerRecord("q1", "ok", found=tuple(FoundTarget(name, 3.0, at) for name, at in pairs))


def test_a_target_cut_into_chunks_and_as_a_document_is_one_target() -> None:
    """The ids, names and number of hits differ; the recorded target is the same."""
    chunks = [MovedHit("tea#1", "tea#1", 3.0, before=2), MovedHit("tea#2", "tea#2", 0.0, before=3)]
    document = MovedHit("tea", "tea", 3.0, after=5)
    joined = join_by_target([*chunks, document], found(2), found(5))
    assert joined == [MovedHit("tea#1", "tea#1", 3.0, before=2, after=5), chunks[1]]


def test_other_targets_of_a_document_are_not_joined() -> None:
    apart = [OLD, NEW]
    assert join_by_target(apart, found(1), found(9, names=("'tea', quote 'hot'",))) == apart


def test_targets_are_joined_one_to_one() -> None:
    both = ("'tea'", "'tea', quote 'hot'")
    whole = MovedHit("tea", "tea", 3.0, before=1)
    parts = [MovedHit("tea#1", "tea#1", 3.0, after=1), MovedHit("tea#2", "tea#2", 3.0, after=4)]
    joined = join_by_target([whole, *parts], found(1, 1, names=both), found(1, 4, names=both))
    assert joined == [MovedHit("tea", "tea#1", 3.0, before=1, after=1), parts[1]]


@pytest.mark.parametrize("anyway", [False, True])
def test_a_target_found_by_words_stays_the_same_while_other_documents_change(anyway: bool) -> None:
    """Such answers record no targets; a query that did not change has the same ones."""
    texts = [f"# Tea {n}\n\nIt steeps tea{n} and warm{n}.\n\n## More\n\nNo." for n in range(4)]
    documents = tuple(Document(f"d{n}", text) for n, text in enumerate(texts))
    expected = {"expected_answer": "it steeps tea1 warm1"}
    asked = (Query("q1", "where is tea1 tea9", metadata=expected),)
    before = be.Benchmark("teas", documents=documents, queries=asked)
    after = replace(before, documents=(*documents, Document("new", "where is tea1, tea9")))
    if anyway:  # the query itself is another one: nothing is known about its targets
        asked = (replace(asked[0], text="where is tea1 tea9?"),)
        after = replace(after, queries=asked)
    runs = [be.run_benchmark(before, "bm25", ["RR"]), be.run_benchmark(after, "bm25:whole", ["RR"])]
    (one,) = be.compare_runs(runs, moved=5, anyway=anyway).compared
    (query,) = one.moved
    ranks = [(hit.before, hit.after) for hit in (*query.moved, *query.entered) if hit.grade]
    assert ranks == ([(None, 2)] if anyway else [(1, 2)])
