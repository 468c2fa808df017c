"""Rankings of the provider `postgres`: ties, fusion, the vector index, and words of a query."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.benchmarks import load_benchmark
from berryeval.chunkers.catalogue import parse_chunker
from berryeval.data.records import Chunk
from berryeval.providers.postgres import Postgres, build_statement
from berryeval.providers.ranking import fuse_ranks
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from collections.abc import Iterator

MODES = ["text", "vector", "hybrid"]


def ids_found(dsn: str, text: str, chunks: list[Chunk], k: int = 5, **options: Any) -> list[str]:
    with Postgres(dsn, **options) as provider:
        provider.index(chunks)
        return [hit.id for hit in provider.search(query(text), k)]


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_ties_are_ordered_by_descending_id(dsn: str, mode: str, approximate: bool) -> None:
    same = [Chunk(name, "d", "same words here") for name in ["b", "D", "a", "é"]]
    found = ids_found(dsn, "words", same, mode=mode, approximate=approximate)
    assert found == ["é", "b", "a", "D"]


def test_hybrid_mode_matches_the_fusion_of_its_rankings(dsn: str) -> None:
    benchmark = load_benchmark("technical-docs")
    chunker = parse_chunker("section")
    chunks = [chunk for document in benchmark.documents for chunk in chunker.chunk(document)]
    with (
        Postgres(dsn, mode="text") as words,
        Postgres(dsn, mode="vector") as vectors,
        Postgres(dsn, mode="hybrid") as both,
    ):
        for provider in (words, vectors, both):
            provider.index(chunks)
        for asked in benchmark.queries:
            apart = [provider.search(asked, 100) for provider in (words, vectors)]
            expected = fuse_ranks(apart, 20, constant=60)
            found = both.search(asked, 20)
            assert [(hit.id, hit.score) for hit in found] == [
                (hit.id, hit.score) for hit in expected
            ]


@pytest.fixture(scope="module")
def large(dsn: str) -> Iterator[Postgres]:
    """A provider with enough chunks that the planner prefers the index."""
    rng = random.Random(7)
    words = [f"word{number}" for number in range(2000)]
    with Postgres(dsn, approximate=True) as provider:
        provider.index(
            [Chunk(f"c{place}", "d", " ".join(rng.choices(words, k=12))) for place in range(4000)]
        )
        yield provider


@pytest.mark.parametrize("approximate", [True, False])
@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_the_vector_index_is_used_only_if_approximate(
    large: Postgres, mode: str, approximate: bool
) -> None:
    table = large._table
    assert table is not None
    asked = build_statement(
        mode, table.name, vector_schema=table.vector_schema, approximate=approximate,
        depth=100, limit=20,
    )  # fmt: skip
    values = {
        "text": "word1", "language": "english", "k": 60, "normalisation": 1,
        "vector": str(large.embed_query("word1 word2").tolist()),
    }  # fmt: skip
    with large._server.connection() as connection:
        large._prepare(connection, table, 100)
        rows = connection.execute(f"EXPLAIN {asked}", values).fetchall()
    assert ("_embedding_idx" in str(rows)) is approximate


def test_the_vector_index_finds_as_many_as_requested(
    large: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(large, "mode", "vector")
    found = [hit.id for hit in large.search(query("word1 word2 word3"), 1200)]
    monkeypatch.setattr(large, "approximate", value=False)
    exact = [hit.id for hit in large.search(query("word1 word2 word3"), 1200)]
    assert len(found) == len(exact) == 1200
    assert len({*found[:100]} & {*exact[:100]}) >= 90


@pytest.mark.parametrize("sign", ["&", "|", "!", "'", "\\", "''", " & ", ":*"])
def test_operators_inside_a_word_are_text(dsn: str, sign: str) -> None:
    address = f"http://foo.com/a?x=1{sign}y=2"
    chunks = [*CHUNKS, Chunk("address", "d", f"see {address} there")]
    assert ids_found(dsn, f"{address} moon", chunks, mode="text")[0] == "address"


def test_a_url_is_found_by_all_its_parts(dsn: str) -> None:
    chunks = [Chunk(name, "d", f"see http://foo.com/a?x=1&y={name}") for name in ("2", "3")]
    assert ids_found(dsn, "http://foo.com/a?x=1&y=2", chunks, mode="text") == ["2", "3"]


@pytest.mark.parametrize(
    "text",
    [
        "tokens " * 300_000,
        " ".join(f"w{n}" for n in range(100_000)) + " tokens",
        "tokens " + " ".join(f"w{n}" for n in range(100_000)),
        "x" * 3_000_000,
    ],
    ids=["repeated", "different", "the-word-first", "one-word"],
)
def test_very_long_queries_are_shortened(dsn: str, text: str) -> None:
    found = ids_found(dsn, text, CHUNKS, mode="hybrid")
    assert found
    if text.startswith("tokens"):
        assert "tokens" in ids_found(dsn, text, CHUNKS, mode="text")
