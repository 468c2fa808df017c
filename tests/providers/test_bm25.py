"""The provider `bm25`."""

from __future__ import annotations

import math
import random

import bm25s
import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ConfigurationError
from berryeval.providers.bm25 import Bm25
from tests.providers.corpus import CHUNKS, query


def score_by_hand(documents: list[list[str]], terms: list[str], k1: float, b: float) -> list[float]:
    """Compute the Lucene formula document by document."""
    mean_length = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        score = 0.0
        for term in terms:
            containing = sum(term in other for other in documents)
            idf = math.log(1 + (len(documents) - containing + 0.5) / (containing + 0.5))
            times = document.count(term)
            score += idf * times / (times + k1 * (1 - b + b * len(document) / mean_length))
        scores.append(score)
    return scores


@pytest.mark.parametrize("seed", range(20))
def test_scores_match_the_formula_and_bm25s(seed: int) -> None:
    draw = random.Random(seed)
    texts = [" ".join(draw.choices("abcdefgh", k=draw.randint(1, 30))) for _ in range(15)]
    k1, b = draw.uniform(0.1, 3), draw.random()
    provider = Bm25(k1=k1, b=b, stemmer="", stopwords=False)
    provider.index([Chunk(f"c{place:02}", "d", text) for place, text in enumerate(texts)])
    asked = draw.choices("abcdefghxyz", k=4)
    hits = provider.search(query(" ".join(asked)), k=20)

    expected = score_by_hand([text.split() for text in texts], asked, k1, b)
    found = {hit.id: hit.score for hit in hits}
    for place, score in enumerate(expected):
        assert found.get(f"c{place:02}", 0.0) == pytest.approx(score, rel=1e-5, abs=1e-6)

    peer = bm25s.BM25(k1=k1, b=b, method="lucene")
    peer.index([text.split() for text in texts], show_progress=False)
    known = [term for term in asked if any(term in text for text in texts)]
    if known:
        theirs = peer.get_scores(known)
        assert all(found.get(f"c{p:02}", 0.0) == float(theirs[p]) for p in range(len(texts)))


def test_hits_carry_their_chunk() -> None:
    provider = Bm25()
    provider.index(CHUNKS)
    hits = provider.search(query("when do access tokens expire"), 3)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert (hits[0].id, hits[0].doc_id, hits[0].section) == (
        "tokens",
        "handbook",
        CHUNKS[0].section,
    )
    assert hits[0].text == CHUNKS[0].text


def test_stemming_finds_other_forms_of_a_word() -> None:
    for stemmer, found in (("english", ["pool"]), ("", [])):
        provider = Bm25(stemmer=stemmer)
        provider.index(CHUNKS)
        assert [hit.id for hit in provider.search(query("connecting"), 3)] == found


def test_headings_are_searched() -> None:
    provider = Bm25()
    provider.index([*CHUNKS, Chunk("late", "d", "Look at the queue.", section=("Postmortem",))])
    assert [hit.id for hit in provider.search(query("postmortem"), 3)] == ["late"]


def test_feedback_finds_chunks_without_a_query_term() -> None:
    chunks = [*CHUNKS, Chunk("login", "d", "Sign in again when the refresh token is too old.")]
    for feedback, found in ((0, False), (1, True)):
        provider = Bm25(feedback=feedback)
        provider.index(chunks)
        hits = provider.search(query("access expiry"), 3)
        assert hits[0].id == "tokens"
        assert ("login" in {hit.id for hit in hits}) == found


def test_feedback_matches_the_formula() -> None:
    texts = ["a a b", "b c", "c d", "x y"]
    chunks = [Chunk(f"c{place}", "d", text) for place, text in enumerate(texts)]
    provider = Bm25(stemmer="", stopwords=False, feedback=1)
    provider.index(chunks)
    plain = Bm25(stemmer="", stopwords=False)
    plain.index(chunks)
    score_of = {
        term: {hit.id: hit.score for hit in plain.search(query(term), 9)} for term in "abcd"
    }
    hits = provider.search(query("a"), 9)
    weights = {"a": 0.5 + 0.5 * 2 / 3, "b": 0.5 / 3}
    for hit in hits:
        expected = sum(weight * score_of[term].get(hit.id, 0) for term, weight in weights.items())
        assert hit.score == pytest.approx(expected, rel=1e-5)
    assert [hit.id for hit in hits] == ["c0", "c1"]


def test_ties_are_ordered_by_descending_id() -> None:
    provider = Bm25()
    provider.index([Chunk(name, "d", "same words") for name in "bdac"])
    assert [hit.id for hit in provider.search(query("words"), 3)] == ["d", "c", "b"]


@pytest.mark.parametrize("texts", [[], [""], ["", " \n"], ["the of and"]])
def test_an_empty_corpus_finds_nothing(texts: list[str]) -> None:
    provider = Bm25()
    provider.index([Chunk(str(place), "d", text) for place, text in enumerate(texts)])
    assert provider.search(query("anything"), 5) == []


@pytest.mark.parametrize("text", ["", "the", "zzz", "?!"])
def test_a_query_without_known_terms_finds_nothing(text: str) -> None:
    provider = Bm25()
    provider.index(CHUNKS)
    assert provider.search(query(text), 5) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k1": -1.0}, "k1 of bm25 must be 0 or more, found -1.0"),
        ({"k1": float("nan")}, "k1 of bm25 must be 0 or more"),
        ({"b": 1.5}, "b of bm25 must be between 0 and 1, found 1.5"),
        ({"feedback": -1}, "feedback of bm25 must be a whole number of at least 0, found -1"),
        ({"stemmer": "klingon"}, "no stemmer for 'klingon'; there are"),
    ],
)
def test_invalid_options_are_rejected(options: dict[str, float], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Bm25(**options)  # type: ignore[arg-type]
