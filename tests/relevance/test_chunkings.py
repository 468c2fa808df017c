"""Tests that one set of judgments serves systems with different chunkings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import berryeval as be
from berryeval.benchmarks import load_benchmark
from berryeval.chunkers.catalogue import parse_chunker
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment, Query

if TYPE_CHECKING:
    from collections.abc import Iterable

CHUNKERS = ["section", "fixed-300", "fixed-800", "sentence-3", "whole"]
PLACES = [("Install", 3), ("Use", 2), ("Remove", 1)]


def part(heading: str, word: str) -> str:
    """Build a section; no two are alike."""
    lines = [f"The {word} step number {number} is described here." for number in range(12)]
    return f"## {heading}\n\n{' '.join(lines)}\n\n"


MANUALS = [
    Document(
        name, f"# {name}\n\n" + "".join(part(one, f"{name} {one}".lower()) for one, _ in PLACES)
    )
    for name in ("Oven", "Fridge", "Kettle")
]
JUDGMENTS = [
    Judgment(f"{manual.id} {heading}", Anchor(document=manual.id, section=(heading,)), grade)
    for manual in MANUALS
    for heading, grade in PLACES
]
QUERIES = [Query(judgment.query_id, judgment.query_id) for judgment in JUDGMENTS]
GOLDEN = be.Benchmark("manuals", tuple(MANUALS), tuple(QUERIES), tuple(JUDGMENTS))


def cut(chunker: str, documents: Iterable[Document]) -> list[Chunk]:
    """Chunk the corpus."""
    return [chunk for document in documents for chunk in parse_chunker(chunker).chunk(document)]


def holding(chunks: list[Chunk], judgment: Judgment) -> list[Chunk]:
    """Return the chunks with a character of the judged section."""
    anchor = judgment.target
    text = next(manual.text for manual in MANUALS if manual.id == anchor.document)
    start = text.index(f"## {anchor.section[0]}")
    end = text.find("## ", start + 1)
    last = len(text) if end < 0 else end
    own = [chunk for chunk in chunks if chunk.doc_id == anchor.document]
    return [one for one in own if (one.start or 0) < last and start < (one.end or 0)]


def as_hits(chunks: list[Chunk], prefix: str = "") -> list[Hit]:
    """Convert chunks to hits."""
    return [
        Hit(prefix + one.id, 0.0, rank, one.text, one.doc_id, start=one.start, end=one.end)
        for rank, one in enumerate(chunks, start=1)
    ]


@pytest.mark.parametrize("chunker", CHUNKERS)
def test_same_text_has_the_same_score_in_every_chunking(chunker: str) -> None:
    chunks = cut(chunker, MANUALS)
    found = {one.query_id: holding(chunks, one) for one in JUDGMENTS}
    for prefix in ("", "another-index/"):
        hits = {query: as_hits(row, prefix) for query, row in found.items()}
        scores = be.evaluate_hits(GOLDEN, hits, ["R@20", "nDCG@20", "TokenR@20"], chunks=chunks)
        assert scores.mean["R@20"] == scores.mean["TokenR@20"] == 1.0
        assert 0.6 < scores.mean["nDCG@20"] <= 1.0
        assert scores.notes == ()
    other = dict(zip(found, [*list(found.values())[3:], *list(found.values())[:3]], strict=True))
    missed = {query: as_hits(row) for query, row in other.items()}
    assert be.evaluate_hits(GOLDEN, missed, ["R@20"], chunks=chunks).mean["R@20"] == 0.0


def test_judged_chunk_ids_fail_in_other_chunkings_and_targets_do_not() -> None:
    first = cut(CHUNKERS[0], MANUALS)
    judged = tuple(
        Judgment(one.query_id, Anchor(chunk=chunk.id), one.grade)
        for one in JUDGMENTS
        for chunk in holding(first, one)
    )
    by_id = be.Benchmark("manuals", tuple(MANUALS), tuple(QUERIES), judged)
    recall = {}
    for chunker in CHUNKERS:
        chunks = cut(chunker, MANUALS)
        hits = {one.query_id: as_hits(holding(chunks, one)) for one in JUDGMENTS}
        recall[chunker] = be.evaluate_hits(by_id, hits, ["R@20"], chunks=chunks).mean["R@20"]
    assert recall == {chunker: float(chunker == CHUNKERS[0]) for chunker in CHUNKERS}


def test_targets_of_a_bundled_benchmark_are_found_in_every_chunking() -> None:
    benchmark = load_benchmark("technical-docs")
    reached = {}
    for chunker in CHUNKERS:
        chunks = cut(chunker, benchmark.documents)
        row = {
            query.id: as_hits([c for c in chunks if c.doc_id in _documents(benchmark, query.id)])
            for query in benchmark.queries
        }
        scores = be.evaluate_hits(benchmark, row, ["SetR"], chunks=chunks)
        reached[chunker] = scores.mean["SetR"]
    assert set(reached.values()) == {1.0}


def _documents(benchmark: be.Benchmark, query: str) -> set[str]:
    return {one.target.document for one in benchmark.judgments if one.query_id == query}
