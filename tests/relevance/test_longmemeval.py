"""Tests of the longmemeval pack."""

from __future__ import annotations

from typing import Any

import pytest

import berryeval as be
from berryeval.data.records import Document, Hit, Query
from berryeval.errors import DataError
from berryeval.relevance.strategies import Relevance

TEXT = "user: I bought a bike. assistant: Nice! user: It is red. assistant: Good choice."
SESSION = Document(
    "answer_4be1b6b4_2",
    TEXT,
    metadata={
        "turns": [
            {"id": "answer_4be1b6b4_2_1", "start": 0, "end": 22, "has_answer": False},
            {"id": "answer_4be1b6b4_2_2", "start": 23, "end": 39},
            {"id": "answer_4be1b6b4_2_3", "start": 40, "end": 56, "has_answer": True},
            {"id": "answer_4be1b6b4_2_4", "start": 57, "end": 80, "has_answer": False},
        ]
    },
)


def ask(*documents: Document, identity: str = "q", **metadata: Any) -> be.Benchmark:
    """Create a question about past sessions."""
    query = Query(identity, "What colour is my bike?", metadata=metadata)
    return be.Benchmark("longmemeval", documents, (query,), pack="longmemeval")


def found(benchmark: be.Benchmark, *hits: Hit | str) -> list[int]:
    """Return the ranks of relevant hits."""
    ranked = [Hit(hit) if isinstance(hit, str) else hit for hit in hits]
    judged = Relevance(benchmark).judge(benchmark.queries[0].id, ranked)
    assert judged.strategy == "pack"
    return judged.ranking.relevant_ranks(1)


SESSIONS: dict[str, Any] = {"answer_session_ids": ["answer_4be1b6b4_2", "answer_4be1b6b4_1"]}


@pytest.mark.parametrize(
    "hit",
    [
        Hit("answer_4be1b6b4_2"),
        Hit("q/answer_4be1b6b4_2"),
        Hit("answer_4be1b6b4_2_3"),
        Hit("x", doc_id="answer_4be1b6b4_2"),
        Hit("x", metadata={"session_id": "answer_4be1b6b4_2"}),
        Hit("x", metadata={"corpus_id": "answer_4be1b6b4_1_7"}),
    ],
)
def test_hit_matches_a_session_or_any_of_its_turns(hit: Hit) -> None:
    """Any turn counts if the turns with the answer are unknown."""
    assert found(ask(**SESSIONS), "other", hit) == [2]


@pytest.mark.parametrize(
    "hit",
    [
        Hit("answer_4be1b6b4_3"), Hit("answer_4be1b6b4"), Hit("noans_4be1b6b4_2"), Hit("answer"),
        Hit("x", text="answer_4be1b6b4_2"), Hit("answer_4be1b6b4_2_3_1"),
        Hit("answer_4be1b6b4_2_1", metadata={"has_answer": False}),
    ],
)  # fmt: skip
def test_word_answer_in_an_id_does_not_matter(hit: Hit) -> None:
    assert found(ask(**SESSIONS), hit) == []


def test_turn_must_have_the_answer_if_known() -> None:
    benchmark = ask(SESSION, **SESSIONS)
    by_number = [f"answer_4be1b6b4_2_{n}" for n in (1, 2, 3, 4)]
    assert found(benchmark, *by_number) == [3]
    start = Hit("a", doc_id=SESSION.id, start=0, end=39)
    answer = Hit("b", doc_id=SESSION.id, text="It is red.")
    assert found(benchmark, start, answer) == [2]
    assert found(benchmark, SESSION.id) == [1]
    assert found(benchmark, Hit(SESSION.id, text="2023/05/01: " + TEXT)) == [1]


def test_turn_documents_have_has_answer_metadata() -> None:
    turns = [
        Document(f"answer_4be1b6b4_2_{n}", f"turn {n}", metadata={"has_answer": n == 3})
        for n in (1, 2, 3)
    ]
    ids = [turn.id for turn in turns]
    assert found(ask(*turns, **SESSIONS), *ids) == [3]
    labels = {"answer_corpus_ids": ["answer_4be1b6b4_2_3"], **SESSIONS}
    scores = be.evaluate_hits(ask(*turns, **labels), {"q": ids}, ["NumRel", "RR", "TokenP"])
    assert dict(scores.mean) == {"NumRel": 1.0, "RR": pytest.approx(1 / 3), "TokenP": 2 / 6}


def test_labelled_turns_are_found_in_pieces_of_the_session() -> None:
    benchmark = ask(SESSION, answer_corpus_ids=["answer_4be1b6b4_2_3"])
    assert found(benchmark, Hit("a", doc_id=SESSION.id, start=0, end=39), SESSION.id) == [2]
    assert found(benchmark, Hit("a", doc_id=SESSION.id, start=38, end=60)) == [1]


def test_total_is_the_number_of_labels() -> None:
    scores = be.evaluate_hits(ask(SESSION, **SESSIONS), {"q": [SESSION.id]}, ["R@5", "AllFound@5"])
    assert scores.mean == {"R@5": 0.5, "AllFound@5": 0.0}
    assert scores.notes == (
        "query 'q': the corpus has no 'answer_4be1b6b4_1', which is labelled relevant",
    )


def test_nothing_is_relevant_to_abstention_questions() -> None:
    benchmark = ask(identity="gpt4_abs", **SESSIONS)
    scores = be.evaluate_hits(benchmark, {"gpt4_abs": ["answer_4be1b6b4_2"]}, ["RR"])
    assert scores.outcomes == ("no relevant documents",)
    assert scores.strategies == ("pack",)


def test_question_without_labels_is_noted() -> None:
    scores = be.evaluate_hits(ask(answer="red"), {"q": [Hit("h", text="red")]}, ["RR"])
    assert scores.mean["RR"] == 0.0
    assert scores.notes == ("query 'q': it has neither answer_corpus_ids nor answer_session_ids",)
    with pytest.raises(DataError, match=r"answer_session_ids of query 'q': expected an array"):
        found(ask(answer_session_ids="answer_4be1b6b4_2"))


def test_session_id_with_two_texts_belongs_to_the_history_of_the_question() -> None:
    first, second = "user: My bike is red.", "user: Hello. user: My bike is blue."
    turn = {"start": 0, "end": len(first), "has_answer": True}
    late = {"start": 13, "end": len(second), "has_answer": True}
    documents = (
        Document("s_1", first, metadata={"turns": [{"id": "s_1_1", **turn}]}),
        Document("q2/s_1", second, metadata={"turns": [{"id": "s_1_2", **late}]}),
    )
    queries = tuple(
        Query(name, "?", metadata={"answer_session_ids": ["s_1"], "haystack": [own]})
        for name, own in (("q1", "s_1"), ("q2", "q2/s_1"))
    )
    benchmark = be.Benchmark("longmemeval", documents, queries, pack="longmemeval")
    piece = Hit("c", doc_id="s_1", start=0, end=len(first))
    scores = be.evaluate_hits(benchmark, {"q1": [piece], "q2": [piece]}, ["R@1", "CharIoU"])
    assert scores.per_query("R@1") == {"q1": 1.0, "q2": 0.0}
    assert scores.per_query("CharIoU") == {"q1": 1.0, "q2": 0.0}
    whole = be.evaluate_hits(benchmark, {"q1": ["s_1"], "q2": ["q2/s_1"]}, ["R@1", "CharIoU"])
    assert dict(whole.mean) == {"R@1": 1.0, "CharIoU": 1.0}


def test_empty_session_has_no_characters() -> None:
    empty = Document("answer_4be1b6b4_1", "")
    hits = {"q": [Hit("c", doc_id=SESSION.id, start=0, end=len(TEXT))]}
    scores = be.evaluate_hits(ask(SESSION, empty, **SESSIONS), hits, ["CharIoU", "TokenR", "R@5"])
    assert dict(scores.mean) == {"CharIoU": 1.0, "TokenR": 1.0, "R@5": 0.5}


def test_labels_may_be_in_camel_case() -> None:
    asked = be.Benchmark(
        "talk",
        documents=(Document("s1", "Tea."), Document("s2", "Coffee.")),
        queries=(Query("q", "tea?", metadata={"answerCorpusIds": ["s1"]}),),
        pack="longmemeval",
    )
    assert be.evaluate_hits(asked, {"q": ["s2", "s1"]}, ["RR"]).mean["RR"] == 0.5
