"""The provider `postgres`, on a real PostgreSQL with pgvector."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.dense import Dense
from berryeval.providers.postgres import Postgres
from tests.providers.corpus import CHUNKS, query

MODES = ["text", "vector", "hybrid"]


def tables(dsn: str) -> list[str]:
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'berryeval'")
        return [name for (name,) in rows]


def search_ids(dsn: str, text: str, chunks: list[Chunk] = CHUNKS, **options: Any) -> list[str]:
    with build_provider("postgres", {"dsn": dsn, **options}) as provider:
        provider.index(chunks)
        hits = provider.search(query(text), 3)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        return [hit.id for hit in hits]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_finds_the_answer(dsn: str, mode: str) -> None:
    assert search_ids(dsn, "when do access tokens expire", mode=mode)[0] == "tokens"


def test_any_word_of_the_query_may_match(dsn: str) -> None:
    assert search_ids(dsn, "connecting to the moon", mode="text") == ["pool"]


def test_vectors_find_chunks_without_a_shared_word(dsn: str) -> None:
    asked = "restoring lost data from a copy"
    assert search_ids(dsn, asked, mode="text") == []
    assert search_ids(dsn, asked, mode="vector")[0] == "backup"


@pytest.mark.parametrize("approximate", [False, True])
def test_vector_scores_match_the_dense_provider(dsn: str, approximate: bool) -> None:
    dense = Dense()
    dense.index(CHUNKS)
    expected = dense.search(query("rate limit"), 6)
    options = {"dsn": dsn, "mode": "vector", "approximate": approximate}
    with build_provider("postgres", options) as provider:
        provider.index(CHUNKS)
        found = provider.search(query("rate limit"), 6)
    assert [hit.id for hit in found] == [hit.id for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=1e-6)


def test_hybrid_mode_fuses_by_rank(dsn: str) -> None:
    with Postgres(dsn) as provider:
        provider.index(CHUNKS)
        hits = provider.search(query("access tokens"), 2)
    assert hits[0].id == "tokens"
    assert hits[0].score == pytest.approx(2 / 61)
    assert hits[1].score == pytest.approx(1 / 62)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["", "the of", "o'neil & | ! : <-> (*", "a\x00b", "ünï\ud800"])
def test_unusual_queries_are_plain_text(dsn: str, mode: str, text: str) -> None:
    assert len(search_ids(dsn, text, mode=mode)) <= 3


@pytest.mark.parametrize("mode", MODES)
def test_unusual_chunks_are_indexed(dsn: str, mode: str) -> None:
    odd = [Chunk("a\tb", "d", "back\\slash\n\\N 'quoted'"), Chunk("z", "d", "\x00"), CHUNKS[0]]
    assert search_ids(dsn, "quoted slash", odd, mode=mode)[0] == "a\tb"
    assert search_ids(dsn, "anything", [], mode=mode) == []


def test_the_table_is_dropped(dsn: str) -> None:
    provider = Postgres(dsn)
    provider.index(CHUNKS)
    provider.index(CHUNKS[:2])
    assert len(tables(dsn)) == 1
    provider.close()
    assert tables(dsn) == []


def test_each_thread_has_its_own_connection(dsn: str) -> None:
    with Postgres(dsn) as provider, ThreadPoolExecutor(4) as threads:
        provider.index(CHUNKS)
        asked = {"tokens": "access tokens", "backup": "nightly backups", "pool": "connection pool"}
        jobs = {
            name: threads.submit(provider.search, query(text), 1) for name, text in asked.items()
        }
        assert {name: job.result()[0].id for name, job in jobs.items()} == {n: n for n in asked}


def test_a_lost_connection_is_a_temporary_error(dsn: str) -> None:
    with Postgres(dsn, mode="text") as provider:
        provider.index(CHUNKS)
        with psycopg.connect(dsn, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE backend_type = 'client backend' AND pid != pg_backend_pid()"
            )
        with pytest.raises(ProviderError, match="PostgreSQL at") as caught:
            provider.search(query("tokens"), 1)
        assert caught.value.passing
        assert provider.search(query("tokens"), 1)[0].id == "tokens"


def test_an_unreachable_server_is_named_without_its_password() -> None:
    provider = Postgres("postgresql://me:hunter2secret@127.0.0.1:1/db")
    with pytest.raises(ProviderError, match=r"PostgreSQL at 127\.0\.0\.1:1: connection") as caught:
        provider.index(CHUNKS)
    assert "hunter2secret" not in str(caught.value)
    assert "hunter2secret" not in repr(provider)


def test_an_unknown_language_is_reported(dsn: str) -> None:
    with Postgres(dsn, language="klingon") as provider:
        with pytest.raises(ProviderError, match='configuration "klingon" does not exist') as caught:
            provider.index(CHUNKS)
        assert not caught.value.passing


def test_a_local_server_is_started_without_a_dsn() -> None:
    with Postgres(mode="text") as provider:
        provider.index(CHUNKS)
        server = provider._server.local
        assert server is not None
        assert provider.search(query("tokens"), 1)[0].id == "tokens"
    assert not Path(server.folder).exists()


def test_an_unknown_mode_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match="one of text, vector, hybrid, found 'txt'"):
        build_provider("postgres", {"mode": "txt"})


@pytest.mark.parametrize("option", ["k", "depth"])
@pytest.mark.parametrize("value", [0, -60, "many"])
def test_invalid_numbers_are_rejected(option: str, value: object) -> None:
    with pytest.raises(ConfigurationError, match=f"{option} .*whole number"):
        build_provider("postgres", {option: value})


def test_vector_mode_does_not_use_full_text(dsn: str) -> None:
    chunks = [*CHUNKS, Chunk("long", "d", " ".join(map(str, range(300_000))))]
    found = search_ids(dsn, "access tokens", chunks, mode="vector", language="klingon")
    assert found[0] == "tokens"


def test_a_text_too_long_for_full_text_is_a_permanent_error(dsn: str) -> None:
    chunks = [Chunk("long", "d", " ".join(map(str, range(300_000))))]
    with Postgres(dsn, mode="text") as provider:
        with pytest.raises(ProviderError, match="too long for tsvector") as caught:
            provider.index(chunks)
        assert not caught.value.passing


def test_text_mode_needs_neither_pgvector_nor_an_embedder(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS plain")
        connection.execute("CREATE DATABASE plain")
    plain = psycopg.conninfo.make_conninfo(dsn, dbname="plain")
    assert search_ids(plain, "access tokens", mode="text", embedder="nobody")[0] == "tokens"
    with psycopg.connect(plain) as connection:
        assert not connection.execute(
            "SELECT FROM pg_extension WHERE extname = 'vector'"
        ).fetchall()
