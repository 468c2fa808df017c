"""The providers `dense` and `hybrid`, with wordllama embeddings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data.records import Chunk, Hit, Query
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.providers.base import Provider
from berryeval.providers.bm25 import Bm25
from berryeval.providers.catalogue import build_provider
from berryeval.providers.dense import Dense, Nearest
from berryeval.providers.hybrid import Hybrid
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


class Fixed(Provider):
    """A provider that returns fixed ids."""

    def __init__(self, *ids: str) -> None:
        self.ids = ids
        self.closed = False

    def search(self, query: Query, k: int) -> Sequence[Hit]:
        assert query.text
        return [Hit(name) for name in self.ids[:k]]

    def close(self) -> None:
        self.closed = True


def test_dense_finds_chunks_without_a_shared_word() -> None:
    provider = Dense()
    provider.index(CHUNKS)
    assert provider.search(query("restoring lost data from a copy"), 1)[0].id == "backup"


def test_dense_scores_are_cosines() -> None:
    provider = Dense()
    provider.index(CHUNKS)
    hits = provider.search(query("rate limit"), 10)
    assert {hit.id for hit in hits} == {chunk.id for chunk in CHUNKS}  # the heading counts as text
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert all(-1.000001 <= score <= 1.000001 for score in scores)
    assert np.allclose(np.linalg.norm(provider.embed(["one", "two words"]), axis=1), 1.0)


@pytest.mark.parametrize("fusion", ["scores", "ranks"])
def test_hybrid_searches_the_headings_above_a_text(fusion: str) -> None:
    late = Chunk("late", "d", "Look at the queue.", section=("Operations", "Postmortem"))
    with Hybrid(fusion=fusion) as provider:
        provider.index([*CHUNKS, late])
        assert provider.search(query("postmortem"), 1)[0].id == "late"


def test_dense_finds_nothing_without_text() -> None:
    provider = Dense()
    provider.index([])
    assert provider.search(query("anything"), 3) == []
    provider.index(CHUNKS)
    assert provider.search(query(""), 3) == []


@pytest.mark.parametrize("text", ["phrase", "rate limit of phrases", "x", "how long"])
def test_dense_orders_ties_by_descending_id(text: str) -> None:
    with Dense() as provider:
        provider.index([*CHUNKS, *(Chunk(f"{n:03}", "d", "equal phrase") for n in range(67))])
        hits = [hit for hit in provider.search(query(text), 80) if hit.id.isdigit()]
    assert len({hit.score for hit in hits}) == 1
    assert [hit.id for hit in hits] == [f"{n:03}" for n in reversed(range(67))]


def test_dense_feedback_moves_the_query_vector() -> None:
    provider = Dense(feedback=2)
    provider.index(CHUNKS)
    rows = provider._nearest.vectors
    vectors = {chunk.id: vector for chunk, vector in zip(CHUNKS, rows, strict=True)}
    asked = provider.embed(["rate limit"])[0]
    best = sorted(vectors, key=lambda name: -float(vectors[name] @ asked))[:2]
    moved = asked + 0.5 * (vectors[best[0]] + vectors[best[1]]) / 2
    moved /= np.linalg.norm(moved)
    for hit in provider.search(query("rate limit"), 10):
        assert hit.score == pytest.approx(float(vectors[hit.id] @ moved), abs=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 9))
def test_a_query_has_the_same_neighbours_alone_and_in_a_batch(
    seed: int, count: int, k: int
) -> None:
    chance = np.random.default_rng(seed)
    rows = chance.normal(size=(count, 24)).astype(np.float32)
    rows[chance.integers(count)] = 0
    rows[chance.integers(count)] = rows[0]
    asked = np.concatenate([chance.normal(size=(7, 24)), rows[:2]]).astype(np.float32)
    near, asked = Nearest(_of_length_1(rows)), _of_length_1(asked)
    together = [_best(places, cosines, k) for places, cosines in near.find(asked, k)]
    for query_row, found in zip(asked, together, strict=True):
        ((places, cosines),) = near.find(query_row[np.newaxis], k)
        assert _best(places, cosines, k) == found
        directed = [row for row in near.vectors if row.any()] if query_row.any() else []
        exact = sorted((float(row.astype(float) @ query_row) for row in directed), reverse=True)
        assert exact[:k] == pytest.approx([cosine for cosine, _ in found])


def _of_length_1(rows: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths, lengths, 1)).astype(np.float32)


def _best(places: list[int], cosines: list[float], k: int) -> list[tuple[float, int]]:
    return sorted(zip(cosines, places, strict=True), reverse=True)[:k]


def test_hybrid_accepts_mappings_with_options() -> None:
    mapping = {"type": "bm25", "options": {"b": 0.0, "stemmer": "", "feedback": 0}}
    asked = query("rate limits of the phrase")
    with (
        Hybrid(["bm25", mapping], options={"bm25": {"feedback": 0}}) as fused,
        Hybrid([Bm25(), Bm25(b=0.0, stemmer="")]) as expected,
    ):
        fused.index(CHUNKS)
        expected.index(CHUNKS)
        assert fused.search(asked, 5) == expected.search(asked, 5)
        assert [provider.b for provider in fused._children] == [0.75, 0.0]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("child", "said"),
    [
        ({"type": "bm25", "chunker": "fixed-400"}, "share its chunks; set the chunker of hybrid"),
        ({"type": "bm25", "option": {}}, "no option 'option'; did you mean 'options'?"),
        ({"options": {}}, r"needs a type and may have options, found \['options'\]"),
        ({"type": "bm25", "options": [1]}, "needs a type and may have options"),
        ({"type": "bm52"}, "unknown provider 'bm52'; did you mean 'bm25'"),
        ({"type": "bm25", "options": {"kk1": 1}}, "'bm25' has no option 'kk1'; did you mean 'k1'"),
    ],
)
def test_hybrid_rejects_invalid_mappings(child: dict[str, Any], said: str) -> None:
    with pytest.raises(BerryEvalError, match=said):
        Hybrid([child])


def test_hybrid_adds_reciprocal_ranks() -> None:
    """1/61 + 1/62 for the first and second rank, and so on; repeats count once."""
    fused = Hybrid([Fixed("a", "b", "a", "c"), Fixed("b", "d")], weights=[1, 2], fusion="ranks")
    hits = fused.search(query("x"), 10)
    expected = {
        "b": 1 / 62 + 2 / 61, "a": 1 / 61, "c": 1 / 63, "d": 2 / 62,
    }  # fmt: skip
    assert {hit.id: hit.score for hit in hits} == pytest.approx(expected)
    assert [hit.id for hit in hits] == ["b", "d", "a", "c"]
    assert [hit.rank for hit in hits] == [1, 2, 3, 4]


def test_hybrid_fuses_bm25_and_dense_by_default() -> None:
    with build_provider("hybrid", {"options": {"bm25": {"k1": 0.9}}}) as provider:
        provider.index(CHUNKS)
        assert provider.search(query("how long are backups kept"), 2)[0].id == "backup"


def test_hybrid_closes_its_providers() -> None:
    children = [Fixed("a"), Fixed("b")]
    with Hybrid(children):
        assert not any(child.closed for child in children)
    assert all(child.closed for child in children)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("bm52", {}, r"unknown provider 'bm52'; did you mean 'bm25'\?"),
        (
            "bm25",
            {"stemer": "english"},
            r"provider 'bm25' has no option 'stemer'; did you mean 'st",
        ),
        (
            "hybrid",
            {"weights": [1.0]},
            r"weights of hybrid must be 2 numbers of 0 or more, one per",
        ),
        ("hybrid", {"providers": ["bm25", "dens"]}, "provider 'dens'; did you mean 'dense'"),
    ],
)
def test_unknown_names_and_options_are_rejected(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build_provider(name, options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"providers": []}, r"hybrid needs a list of providers, found \[\]"),
        ({"providers": "bm25"}, "hybrid needs a list of providers, found 'bm25'"),
        ({"weights": [0, 0]}, "and not all 0; found"),
        ({"weights": [math.inf, 1]}, r"weights\[0\] must be a finite number, found inf"),
        ({"weights": [1, math.nan]}, r"weights\[1\] must be a finite number, found nan"),
        ({"weights": ["much", 1]}, "and not all 0; found"),
        ({"options": {"bm25": {"k1": math.inf}}}, r"options\.bm25\.k1 must be a finite number"),
        ({"options": {"bm52": {"k1": 1.0}}}, "hybrid has no option 'bm52'; did you mean 'bm25'"),
        ({"fusion": "score"}, "fusion of hybrid must be one of ranks, scores, found 'score'"),
        ({"depth": -1}, "depth of hybrid must be a whole number of at least 1, found -1"),
        ({"k": "many"}, "provider 'hybrid': k must be a whole number, found 'many'"),
    ],
)
def test_invalid_fusion_options_are_rejected(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build_provider("hybrid", options)


@pytest.mark.parametrize(
    ("option", "given", "expected"),
    [("k1", "1.5", 1.5), ("b", 1, 1.0), ("feedback", "3", 3), ("stopwords", "no", False)],
)
def test_numbers_and_flags_may_be_strings(option: str, given: object, expected: object) -> None:
    assert getattr(build_provider("bm25", {option: given}), option) == expected


@pytest.mark.parametrize(
    ("option", "given", "wanted"),
    [
        ("k1", "abc", "a number"), ("k1", True, "a number"), ("feedback", 1.5, "a whole number"),
        ("stopwords", "perhaps", "true or false"), ("feedback", None, "a whole number"),
    ],
)  # fmt: skip
def test_an_option_of_the_wrong_type_is_rejected(option: str, given: object, wanted: str) -> None:
    with pytest.raises(ConfigurationError, match=f"provider 'bm25': {option} must be {wanted}"):
        build_provider("bm25", {option: given})


def test_infinite_weights_are_rejected() -> None:
    with pytest.raises(ConfigurationError, match="and not all 0; found"):
        Hybrid(["bm25", "bm25"], weights=[math.inf, 1])
    with pytest.raises(ConfigurationError, match="k1 must be a number, found 'inf'"):
        build_provider("bm25", {"k1": "inf"})
