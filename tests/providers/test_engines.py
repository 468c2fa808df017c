"""What every provider with an engine promises, on the real engines in this process."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ConfigurationError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.dense import Dense
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.providers.base import Provider

TEXT: list[tuple[str, dict[str, Any]]] = [
    ("sqlite", {"mode": "text"}),
    ("lancedb", {"mode": "text"}),
]
VECTOR: list[tuple[str, dict[str, Any]]] = [
    ("sqlite", {"mode": "vector"}),
    ("lancedb", {"mode": "vector"}),
    ("lancedb", {"mode": "vector", "approximate": True}),
    ("chroma", {}),
    ("qdrant", {}),
]
HYBRID: list[tuple[str, dict[str, Any]]] = [("sqlite", {}), ("lancedb", {})]
ALL = [*TEXT, *VECTOR, *HYBRID]
ODD_TEXTS = [
    "", " ", "the of", "AND OR NOT NEAR", "o'neil \"quoted\" & | ! : <-> (*", "body:x^2 {a b}",
    "tokens*", "a\x00b", "ünï\ud800", "%s ? $1", "\\N", "😀", "w " * 3000,
]  # fmt: skip

engines = pytest.mark.parametrize(("name", "options"), ALL, ids=str)
vector_engines = pytest.mark.parametrize(("name", "options"), VECTOR, ids=str)
indexed_engines = pytest.mark.parametrize("indexed", ALL, ids=str, indirect=True)
indexed_text_engines = pytest.mark.parametrize("indexed", TEXT, ids=str, indirect=True)
indexed_hybrid_engines = pytest.mark.parametrize("indexed", HYBRID, ids=str, indirect=True)


@pytest.fixture(scope="module")
def indexed(request: pytest.FixtureRequest) -> Iterator[Provider]:
    """Index the chunks once for all tests that only search."""
    with build_provider(*request.param) as provider:
        provider.index(CHUNKS)
        yield provider


def ids(provider: Provider, text: str, k: int = 3) -> list[str]:
    """Return the ids of the first hits, and check that ranks rise from 1 and scores fall."""
    hits = provider.search(query(text), k)
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [hit.id for hit in hits]


@indexed_engines
def test_the_answer_is_found_with_its_chunk(indexed: Provider) -> None:
    (hit,) = indexed.search(query("when do access tokens expire"), 1)
    assert (hit.id, hit.doc_id, hit.section) == ("tokens", "handbook", ("Handbook", "Tokens"))
    assert hit.text == CHUNKS[0].text


@vector_engines
def test_vector_scores_match_the_dense_provider(name: str, options: dict[str, Any]) -> None:
    nothing = Chunk("nothing", "d", "")
    same = [Chunk(f"copy-{number}", "d", CHUNKS[1].text) for number in range(30)]
    with Dense() as dense, build_provider(name, options) as provider:
        for one in (dense, provider):
            one.index([*CHUNKS, nothing, *same])
        texts = ("rate limit", "restoring lost data", "thirty days")
        for text, k in product(texts, (1, 6, 20, 50)):
            expected = dense.search(query(text), k)
            found = provider.search(query(text), k)
            assert [hit.id for hit in found] == [hit.id for hit in expected]
            scores = [hit.score for hit in expected]
            assert [hit.score for hit in found] == pytest.approx(scores, abs=1e-5)


@indexed_text_engines
def test_any_word_of_the_query_may_match(indexed: Provider) -> None:
    assert ids(indexed, "connecting to the moon") == ["pool"]
    assert ids(indexed, "restoring lost data from a copy") == []


@indexed_hybrid_engines
def test_hybrid_mode_fuses_by_rank(indexed: Provider) -> None:
    hits = indexed.search(query("access tokens"), 2)
    assert hits[0].id == "tokens"
    assert hits[0].score == pytest.approx(2 / 61)
    assert hits[1].score == pytest.approx(1 / 62)


@engines
def test_ties_are_ordered_by_descending_id(name: str, options: dict[str, Any]) -> None:
    alike = [Chunk(f"{place:03}", "d", "equal phrase here") for place in range(60)]
    strange = [Chunk(name, "d", "equal phrase here") for name in ["b", "D", "a", "é", "\ud800"]]
    with build_provider(name, options) as provider:
        provider.index([*CHUNKS, *alike, *strange])
        assert ids(provider, "phrase", 7) == ["\ud800", "é", "b", "a", "D", "059", "058"]


@indexed_engines
def test_unusual_queries_are_plain_text(indexed: Provider) -> None:
    for text in ODD_TEXTS:
        assert len(ids(indexed, text)) <= 3
    assert ids(indexed, "") == []


@engines
def test_unusual_chunks_are_found_unchanged(name: str, options: dict[str, Any]) -> None:
    odd = [Chunk(f"id {text}"[:50], "d", text) for text in ODD_TEXTS]
    wanted = Chunk("a\tb", "d", "back\\slash\n\\N 'quoted' \x00 \ud800")
    with build_provider(name, options) as provider:
        provider.index([*odd, wanted, CHUNKS[0]])
        hits = provider.search(query("quoted slash"), 1)
    assert [(hit.id, hit.text) for hit in hits] == [(wanted.id, wanted.text)]


@engines
def test_an_empty_provider_finds_nothing(name: str, options: dict[str, Any]) -> None:
    with build_provider(name, options) as provider:
        assert ids(provider, "anything") == []
        for chunks in ([], [Chunk("a", "d", ""), Chunk("b", "d", "")]):
            provider.index(chunks)
            assert ids(provider, "anything") == []
        provider.index(CHUNKS)
    assert ids(provider, "tokens") == []
    provider.close()  # closing twice is harmless


@engines
def test_indexing_again_replaces_the_chunks(name: str, options: dict[str, Any]) -> None:
    with build_provider(name, options) as provider:
        provider.index(CHUNKS)
        provider.index(CHUNKS[1:3])
        assert set(ids(provider, "access tokens rate limit", 9)) <= {"limits", "backup"}
        assert ids(provider, "rate limit", 1) == ["limits"]


@engines
def test_threads_can_search_at_once(name: str, options: dict[str, Any]) -> None:
    """The first searches too."""
    asked = {"tokens": "access tokens", "backup": "nightly backups", "pool": "connection pool"}
    with build_provider(name, options) as provider, ThreadPoolExecutor(8) as threads:
        provider.index(CHUNKS)
        jobs = [
            (name, threads.submit(ids, provider, text, 1))
            for _ in range(10)
            for name, text in asked.items()
        ]
        assert all(job.result() == [name] for name, job in jobs)


@engines
def test_two_providers_of_a_kind_are_independent(name: str, options: dict[str, Any]) -> None:
    with build_provider(name, options) as first:
        first.index(CHUNKS[:1])
        with build_provider(name, options) as second:
            second.index(CHUNKS[1:2])
            assert ids(second, "rate limit tokens", 9) == ["limits"]
        assert ids(first, "rate limit tokens", 9) == ["tokens"]


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        (
            "sqlite",
            {"mode": "txt"},
            "mode of sqlite must be one of text, vector, hybrid, found 'tx",
        ),
        ("lancedb", {"mode": ""}, "mode of lancedb must be one of text, vector, hybrid, found ''"),
        ("sqlite", {"depth": 0}, "depth of sqlite must be a whole number of at least 1, found 0"),
        ("lancedb", {"k": "many"}, "provider 'lancedb': k must be a whole number, found 'many'"),
        ("chroma", {"ef_search": -1}, "ef_search of chroma must be a whole number of at least 1"),
        ("qdrant", {"batch_size": True}, "provider 'qdrant': batch_size must be a whole number"),
        ("qdrant", {"url": "http://x", "path": "y"}, "qdrant takes a url or a path, not both"),
        ("chroma", {"mode": "text"}, r"provider 'chroma' has no option 'mode'; .+"),
        ("sqlite", {"stemmming": True}, r"has no option 'stemmming'; did you mean 'stemming'\?"),
    ],
)
def test_invalid_options_are_rejected(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build_provider(name, options)
