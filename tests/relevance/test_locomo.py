"""Tests of the locomo pack."""

from __future__ import annotations

from typing import Any

import pytest

import berryeval as be
from berryeval.data.records import Document, Hit, Query
from berryeval.errors import DataError
from berryeval.relevance.packs.locomo import read_evidence
from berryeval.relevance.strategies import Relevance

SESSION = "Caroline: I went to the support group. Melanie: How was it? Caroline: Powerful!"
TURNS: list[dict[str, Any]] = [
    {"id": "D1:1", "start": 0, "end": 38},
    {"id": "D1:2", "start": 39, "end": 59},
    {"id": "D1:3", "start": 60, "end": 79},
]


def ask(*documents: Document, **metadata: Any) -> be.Benchmark:
    """Create a question about conversation 26."""
    query = Query("q", "When?", metadata={"conversation": "conv-26", **metadata})
    return be.Benchmark("locomo", documents, (query,), pack="locomo")


def found(benchmark: be.Benchmark, *hits: Hit | str) -> list[tuple[int, float]]:
    """Return ranks and grades of the judged hits."""
    ranked = [Hit(hit) if isinstance(hit, str) else hit for hit in hits]
    judged = Relevance(benchmark).judge("q", ranked)
    assert judged.strategy == "pack"
    return [(hit.rank, hit.grade) for hit in judged.ranking.hits]


def sessions() -> Document:
    """Create a session document with the places of its turns."""
    return Document(
        "conv-26/session_1", SESSION, metadata={"conversation": "conv-26", "turns": TURNS}
    )


def turns(conversation: str = "conv-26") -> list[Document]:
    """Create the same session with a document per turn."""
    return [
        Document(
            f"{conversation}/{turn['id']}",
            SESSION[turn["start"] : turn["end"]],
            metadata={"conversation": conversation, "dia_id": turn["id"]},
        )
        for turn in TURNS
    ]


@pytest.mark.parametrize(
    ("evidence", "read", "unread"),
    [
        (["D1:3"], ["D1:3"], []),
        ([], [], []),
        ("D1:3", ["D1:3"], []),
        (["D8:6; D9:17"], ["D8:6", "D9:17"], []),
        (["D9:1 D4:4 D4:6"], ["D9:1", "D4:4", "D4:6"], []),
        (["D21:18 D21:22 D11:15 D11:19"], ["D21:18", "D21:22", "D11:15", "D11:19"], []),
        (["D:11:26"], ["D11:26"], []),
        (["D30:05"], ["D30:5"], []),
        (["D", "D2:1"], ["D2:1"], ["D"]),
        (["D4:5", "D4:5"], ["D4:5"], []),
        (["D1:3,D1:4", "none"], ["D1:3", "D1:4"], ["none"]),
        ([f"D{'9' * 5000}:1"], [], [f"D{'9' * 5000}:1"]),
    ],
)
def test_irregular_evidence_is_read(evidence: Any, read: list[str], unread: list[str]) -> None:
    assert read_evidence(evidence, "evidence") == (read, unread)


def test_evidence_of_a_wrong_type_is_rejected() -> None:
    with pytest.raises(DataError, match=r"metadata.evidence of query 'q'\[1\]: expected a string"):
        Relevance(ask(evidence=["D1:1", 7])).judge("q", [])
    with pytest.raises(DataError, match=r"metadata.evidence of query 'q': expected a string or"):
        Relevance(ask(evidence={"D1:1": 1})).judge("q", [])


@pytest.mark.parametrize(
    "hit",
    [
        Hit("D1:3"),
        Hit("conv-26/D1:3"),
        Hit("conv-26/D1:3#0"),
        Hit("bm25:conv-26:D1:3"),
        Hit("x", doc_id="conv-26/D1:3"),
        Hit("x", metadata={"dia_id": "D1:3"}),
        Hit("x", metadata={"dia_ids": ["D1:2", "D1:3"], "sample_id": "conv-26"}),
        Hit("conv-26/session_1"),
    ],
)
def test_hit_matches_a_turn_by_id_document_or_metadata(hit: Hit) -> None:
    assert found(ask(evidence=["D1:3"]), hit) == [(1, 1.0)]


@pytest.mark.parametrize(
    "hit",
    [
        Hit("D1:33"),
        Hit("D11:3"),
        Hit("XD1:3"),
        Hit("D1:3:1"),
        Hit("conv-30/D1:3"),
        Hit("conv-30/session_1"),
        Hit("x", metadata={"dia_id": "D1:3", "conversation": "conv-30"}),
        Hit("conv-26/session_11"),
        Hit("x", metadata={"session": 1}),
    ],
)
def test_other_turns_and_conversations_do_not_match(hit: Hit) -> None:
    assert found(ask(evidence=["D1:3"]), hit) == []


def test_session_is_credited_once_for_all_its_evidence() -> None:
    benchmark = ask(evidence=["D1:1", "D1:3", "D2:1"])
    scores = be.evaluate_hits(
        benchmark, {"q": ["x", "conv-26/session_1", "D1:3"]}, ["R@3", "AllFound@3", "P@3", "NumRel"]
    )
    assert scores.mean["R@3"] == pytest.approx(2 / 3)
    assert scores.mean["AllFound@3"] == 0.0
    assert scores.mean["P@3"] == pytest.approx(1 / 3)
    assert scores.mean["NumRel"] == 3


def test_piece_of_a_session_covers_its_turns() -> None:
    benchmark = ask(sessions(), evidence=["D1:2", "D1:3"])
    piece = Hit("p", doc_id="conv-26/session_1", start=39, end=59)
    text = Hit("t", doc_id="conv-26/session_1", text="Caroline: Powerful!")
    first = Hit("f", doc_id="conv-26/session_1", start=0, end=38)
    assert found(benchmark, first, piece, text) == [(2, 1.0), (3, 1.0)]
    scores = be.evaluate_hits(
        benchmark, {"q": [Hit("w", doc_id="conv-26/session_1", start=0, end=79)]},
        ["R@1", "CharIoU", "TokenR", "FileR@1"],
    )  # fmt: skip
    assert scores.mean["R@1"] == scores.mean["TokenR"] == scores.mean["FileR@1"] == 1.0
    assert scores.mean["CharIoU"] == 39 / 79


def test_turns_may_be_documents() -> None:
    benchmark = ask(*turns(), *turns("conv-30"), evidence=["D1:3"])
    assert found(benchmark, "conv-30/D1:3", "conv-26/D1:3") == [(2, 1.0)]
    assert found(benchmark, Hit("c1", doc_id="conv-30/D1:3"), Hit("c2", doc_id="conv-26/D1:3")) == [
        (2, 1.0)
    ]
    scores = be.evaluate_hits(benchmark, {"q": ["conv-26/D1:2", "conv-26/D1:3"]}, ["TokenP"])
    assert scores.mean["TokenP"] == pytest.approx(4 / (6 + 4))


def test_unreadable_and_missing_evidence_is_noted() -> None:
    benchmark = ask(sessions(), evidence=["D", "D1:1", "D10:19"])
    scores = be.evaluate_hits(benchmark, {"q": ["D1:1"]}, ["R@1"])
    assert scores.mean["R@1"] == 0.5
    assert scores.notes == (
        "query 'q': 'D' in its evidence is not a turn",
        "query 'q': the corpus has no turn D10:19 of its evidence",
    )


@pytest.mark.parametrize("evidence", [[], None, ["D"]])
def test_nothing_is_relevant_without_evidence(evidence: Any) -> None:
    benchmark = ask(evidence=evidence, answer="support group")
    scores = be.evaluate_hits(benchmark, {"q": [Hit("h", text="support group")]}, ["RR"])
    assert scores.strategies == ("pack",)
    assert scores.outcomes == ("no relevant documents",)
    assert scores.mean["RR"] == 0.0


@pytest.mark.parametrize(
    "turn",
    [
        {"id": "D1:1", "start": 5, "end": 5}, {"id": "D1:1", "start": 0, "end": 999}, "D1:1",
        {"id": 1, "start": 0, "end": 5}, {"id": "D1:1", "start": True, "end": 5}, {"id": "D1:1"},
    ],
)  # fmt: skip
def test_malformed_turns_are_rejected(turn: Any) -> None:
    bad = Document("conv-26/session_1", SESSION, metadata={"turns": [TURNS[0], turn]})
    with pytest.raises(
        DataError, match=r"metadata.turns of document 'conv-26/session_1', place 1: expected"
    ):
        Relevance(ask(bad, evidence=["D1:1"]))


@pytest.mark.parametrize("hit", ["chunk-D1:2", "mem_D1:2", "x/session_1", "conv-26-D1:2"])
def test_prefix_is_a_conversation_only_if_the_corpus_has_it(hit: str) -> None:
    benchmark = ask(sessions(), *turns("conv-30"), evidence=["D1:2"])
    assert found(benchmark, hit) == [(1, 1.0)]
    assert found(benchmark, "conv-30-D1:2", "conv-30/session_1") == []
    scores = be.evaluate_hits(ask(evidence=["D1:2"]), {"q": ["mem_D1:2"]}, ["RR"])
    assert scores.mean["RR"] == 0.0
    (note,) = scores.notes
    assert "hit 'mem_D1:2': without a corpus, 'mem' is treated as another conversation" in note
