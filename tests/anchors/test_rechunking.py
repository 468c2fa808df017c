"""Tests that one set of judgments serves many chunkings."""

from __future__ import annotations

import hashlib
import itertools
import math
import random
import re
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.coverage import make_anchor
from berryeval.anchors.markdown import parse_sections
from berryeval.anchors.targets import Targets, resolve
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment
from berryeval.metrics.grammar import parse_metric
from berryeval.scoring.engine import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

METRICS = ["R@5", "R@10", "nDCG@10", "RR", "AP", "P@5"]


def corpus() -> list[Document]:
    """Build six documents of four sections with two paragraphs of four sentences."""
    chance = random.Random(11)
    syllables = ["ba", "co", "di", "fu", "ga", "he", "li", "mo", "nu", "pa", "re", "so", "ti", "vu"]
    words = sorted({"".join(chance.choices(syllables, k=1 + k % 3)) for k in range(900)})
    documents = []
    for number in range(6):
        parts = [f"# Book {number}\n\n"]
        for section in range(4):
            parts.append(f"## Chapter {section}\n\n")
            for _ in range(2):
                sentences = (" ".join(chance.choices(words, k=10)) for _ in range(4))
                parts.append(" ".join(f"{one.capitalize()}." for one in sentences) + "\n\n")
        documents.append(Document(f"book-{number}", "".join(parts)))
    return documents


DOCUMENTS = corpus()


def fixed(text: str) -> Iterator[tuple[int, int]]:
    for start in range(0, len(text), 200):
        yield start, min(start + 200, len(text))


def overlapping(text: str) -> Iterator[tuple[int, int]]:
    for start in range(0, len(text), 250):
        yield start, min(start + 350, len(text))


def sentences(text: str) -> Iterator[tuple[int, int]]:
    return (one.span() for one in re.finditer(r"\S[^.]*\.?", text))


def paragraphs(text: str) -> Iterator[tuple[int, int]]:
    return (one.span() for one in re.finditer(r"\S(?:[^\n]|\n(?!\n))*", text))


def chapters(text: str) -> Iterator[tuple[int, int]]:
    return ((one.start, one.own_end) for one in parse_sections(text))


CHUNKERS = [fixed, overlapping, sentences, paragraphs, chapters]


def chunked(chunker: Callable[[str], Iterator[tuple[int, int]]]) -> list[Chunk]:
    """Chunk the corpus; ids depend on the content, as in many tools."""
    chunks = []
    for document in DOCUMENTS:
        for start, end in chunker(document.text):
            text = document.text[start:end]
            identity = hashlib.sha256(f"{document.id} {start} {text}".encode()).hexdigest()[:12]
            chunks.append(Chunk(identity, document.id, text, start, end))
    return chunks


def ranked(query: str, chunks: list[Chunk]) -> list[Hit]:
    """Search by shared rare words over length; hits have no offsets."""
    bags = [Counter(re.findall(r"\w+", chunk.text.lower())) for chunk in chunks]
    homes = Counter(word for bag in bags for word in bag)
    wanted = set(re.findall(r"\w+", query.lower()))
    scores = [
        sum(math.log(1 + len(chunks) / homes[word]) for word in wanted if word in bag)
        / math.sqrt(1 + bag.total())
        for bag in bags
    ]
    best = sorted(range(len(chunks)), key=lambda place: (-scores[place], chunks[place].text))[:10]
    return [
        Hit(chunks[place].id, scores[place], text=chunks[place].text, doc_id=chunks[place].doc_id)
        for place in best
    ]


def golden_set() -> tuple[dict[str, str], list[Judgment]]:
    """Create queries with words of two target passages, and anchors of several kinds."""
    chance = random.Random(3)
    queries, judgments = {}, []
    for number in range(24):
        asked = []
        for part in range(2):
            document = chance.choice(DOCUMENTS)
            start, end = chance.choice(list(sentences(document.text)))
            while end - start < 40:
                start, end = chance.choice(list(sentences(document.text)))
            text = document.text[start:end]
            asked += chance.sample(text.strip(".").split(), 6)
            kinds = [
                Anchor(document=document.id, start=start, end=end),
                Anchor(document=document.id, quote=text.upper()),
                Anchor(quote=text.replace(" ", "\n", 3)),
                Anchor(document=document.id, quote=text[:10] + "XX" + text[12:]),
            ]
            judgments.append(Judgment(f"q{number}", kinds[(number + part) % 4], 1 + part))
        queries[f"q{number}"] = " ".join(asked)
    return queries, judgments


QUERIES, JUDGMENTS = golden_set()


def scores_by_anchors(
    judgments: list[Judgment], chunks: list[Chunk], documents: list[Document] | None = DOCUMENTS
) -> dict[str, float]:
    """Return the mean of every metric over the queries."""
    targets = Targets.locate(judgments, documents, chunks=chunks)
    rankings = [targets.judge(query, ranked(text, chunks)) for query, text in QUERIES.items()]
    return {
        name: sum(parse_metric(name)(one) for one in rankings) / len(rankings) for name in METRICS
    }


def test_anchors_give_comparable_recall_for_five_chunkings_and_chunk_ids_do_not() -> None:
    by_anchors = {
        chunker.__name__: scores_by_anchors(JUDGMENTS, chunked(chunker))["R@10"]
        for chunker in CHUNKERS
    }
    assert min(by_anchors.values()) > 0.85, by_anchors
    assert max(by_anchors.values()) - min(by_anchors.values()) < 0.15, by_anchors
    made_for = resolve(JUDGMENTS, chunked(sentences), DOCUMENTS).qrels
    by_ids = {}
    for chunker in CHUNKERS:
        run = {
            query: {hit.id: hit.score for hit in ranked(text, chunked(chunker))}
            for query, text in QUERIES.items()
        }
        by_ids[chunker.__name__] = evaluate(made_for, run, ["R@10"]).mean["R@10"]
    assert by_ids.pop("sentences") == pytest.approx(by_anchors["sentences"])
    assert set(by_ids.values()) == {0.0}


def test_same_text_gives_the_same_recall_in_every_chunking() -> None:
    recalls = set()
    for chunker in CHUNKERS:
        chunks = [chunk for chunk in chunked(chunker) if chunk.doc_id in {"book-1", "book-4"}]
        targets = Targets.locate(JUDGMENTS, DOCUMENTS)
        rankings = [targets.judge(query, chunks) for query in QUERIES]
        recalls.add(tuple(parse_metric("SetR")(ranking) for ranking in rankings))
    (recall,) = recalls
    assert set(recall) == {0.0, 0.5, 1.0}


@pytest.mark.parametrize("chunker", CHUNKERS, ids=lambda chunker: chunker.__name__)
def test_chunk_ids_do_not_change_metrics(
    chunker: Callable[[str], Iterator[tuple[int, int]]],
) -> None:
    chunks = chunked(chunker)
    renamed = [
        Chunk(f"{number:04}-{chunk.id}", chunk.doc_id, chunk.text, chunk.start, chunk.end)
        for number, chunk in enumerate(sorted(chunks, key=lambda chunk: chunk.id))
    ]
    before = scores_by_anchors(JUDGMENTS, chunks)
    assert scores_by_anchors(JUDGMENTS, renamed) == before
    assert before["R@10"] > 0


def test_judgments_of_chunk_ids_can_be_converted_to_anchors() -> None:
    made_for = {chunk.id: chunk for chunk in chunked(sentences)}
    judged = resolve(JUDGMENTS, made_for.values(), DOCUMENTS).qrels.to_dict()
    moved = [
        Judgment(query, make_anchor(made_for[name]), grade)
        for query, grades in judged.items()
        for name, grade in grades.items()
    ]
    for chunker in CHUNKERS:
        resolution = resolve(moved, chunked(chunker), DOCUMENTS)
        assert not resolution.drift
        assert not resolution.uncovered
        assert scores_by_anchors(moved, chunked(chunker))["R@10"] > 0.85


@pytest.mark.parametrize("chunker", CHUNKERS, ids=lambda chunker: chunker.__name__)
def test_every_target_is_covered_in_every_chunking(
    chunker: Callable[[str], Iterator[tuple[int, int]]],
) -> None:
    with_documents = resolve(JUDGMENTS, chunked(chunker), DOCUMENTS)
    from_chunks = resolve(JUDGMENTS, chunked(chunker))
    for found in (with_documents, from_chunks):
        assert not found.drift
        assert not found.uncovered
    assert from_chunks.qrels.to_dict() == with_documents.qrels.to_dict()


@given(
    st.integers(2, 60).flatmap(
        lambda length: st.tuples(
            st.just(length),
            st.sets(st.integers(1, length - 1)),
            st.integers(0, length - 1),
            st.integers(1, length),
        )
    )
)
def test_chunks_without_gaps_always_cover_a_span(
    world: tuple[int, set[int], int, int],
) -> None:
    length, cuts, start, size = world
    end = min(start + size, length)
    text = "x" * length
    edges = [0, *sorted(cuts), length]
    chunks = [
        Chunk(str(first), "d", text[first:last], first, last)
        for first, last in itertools.pairwise(edges)
    ]
    judgment = Judgment("q", Anchor(document="d", start=start, end=end), 1)
    found = resolve([judgment], chunks)
    assert found.qrels.to_dict()["q"]
    assert not found.uncovered
    assert parse_metric("SetR")(found.targets.judge("q", chunks)) == 1.0
