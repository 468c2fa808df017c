"""The rankings of the provider `postgres`: ties, fusion, the index of vectors, words of a query."""

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
    """The ids of the hits."""
    with Postgres(dsn, **options) as provider:
        provider.index(chunks)
        return [hit.id for hit in provider.search(query(text), k)]


@pytest.mark.parametrize("approximate", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_ties_are_ordered_by_the_one_rule(dsn: str, mode: str, approximate: bool) -> None:
    """Higher id first, by bytes, in every mode."""
    same = [Chunk(name, "d", "same words here") for name in ["b", "D", "a", "é"]]
    found = ids_found(dsn, "words", same, mode=mode, approximate=approximate)
    assert found == ["é", "b", "a", "D"]


def test_fusion_is_that_of_its_own_rankings(dsn: str) -> None:
    """The same hits with the same scores as our own fusion makes of text and vectors."""
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
    """So many chunks that looking at all takes longer than an index, with one."""
    rng = random.Random(7)
    words = [f"word{number}" for number in range(2000)]
    with Postgres(dsn, approximate=True) as provider:
        provider.index(
            [Chunk(f"c{place}", "d", " ".join(rng.choices(words, k=12))) for place in range(4000)]
        )
        yield provider


@pytest.mark.parametrize("approximate", [True, False])
@pytest.mark.parametrize("mode", ["vector", "hybrid"])
def test_the_index_of_vectors_is_used(large: Postgres, mode: str, approximate: bool) -> None:
    """By the very statement that is asked; without `approximate` all are looked at all the same."""
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


def test_the_index_finds_as_many_as_are_asked_for(
    large: Postgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only the 40 that pgvector looks at unless told; nearly those that are nearest."""
    monkeypatch.setattr(large, "mode", "vector")
    found = [hit.id for hit in large.search(query("word1 word2 word3"), 1200)]
    monkeypatch.setattr(large, "approximate", value=False)
    exact = [hit.id for hit in large.search(query("word1 word2 word3"), 1200)]
    assert len(found) == len(exact) == 1200
    assert len({*found[:100]} & {*exact[:100]}) >= 90


@pytest.mark.parametrize("sign", ["&", "|", "!", "'", "\\", "''", " & ", ":*"])
def test_signs_inside_a_word_are_the_words_own(dsn: str, sign: str) -> None:
    """What is no operator between words does not become one."""
    address = f"http://foo.com/a?x=1{sign}y=2"
    chunks = [*CHUNKS, Chunk("address", "d", f"see {address} there")]
    assert ids_found(dsn, f"{address} moon", chunks, mode="text")[0] == "address"


def test_an_address_is_found_by_all_of_it(dsn: str) -> None:
    """The `&` in it is no operator: of two pages of one host the one that is meant comes first."""
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
def test_very_long_queries_are_no_errors(dsn: str, text: str) -> None:
    """Of very many words the first thousand that differ are looked for."""
    found = ids_found(dsn, text, CHUNKS, mode="hybrid")
    assert found
    if text.startswith("tokens"):
        assert "tokens" in ids_found(dsn, text, CHUNKS, mode="text")
