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
    """The tables of our schema."""
    with psycopg.connect(dsn) as connection:
        rows = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'berryeval'")
        return [name for (name,) in rows]


def searched(dsn: str, text: str, chunks: list[Chunk] = CHUNKS, **options: Any) -> list[str]:
    """The ids of the first three hits."""
    with build_provider("postgres", {"dsn": dsn, **options}) as provider:
        provider.index(chunks)
        hits = provider.search(query(text), 3)
        assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
        return [hit.id for hit in hits]


@pytest.mark.parametrize("mode", MODES)
def test_every_mode_finds_the_answer(dsn: str, mode: str) -> None:
    """By words, by meaning, by both."""
    assert searched(dsn, "when do access tokens expire", mode=mode)[0] == "tokens"


def test_any_word_may_match(dsn: str) -> None:
    """A question is not a list of words that must all be there; stems count."""
    assert searched(dsn, "connecting to the moon", mode="text") == ["pool"]


def test_meaning_is_found_without_a_shared_word(dsn: str) -> None:
    """What full text alone cannot do."""
    asked = "restoring lost data from a copy"
    assert searched(dsn, asked, mode="text") == []
    assert searched(dsn, asked, mode="vector")[0] == "backup"


@pytest.mark.parametrize("approximate", [False, True])
def test_vector_scores_are_those_of_the_dense_provider(dsn: str, approximate: bool) -> None:
    """The same cosines in the same order; so few are found exactly with an index too."""
    dense = Dense()
    dense.index(CHUNKS)
    expected = dense.search(query("rate limit"), 6)
    options = {"dsn": dsn, "mode": "vector", "approximate": approximate}
    with build_provider("postgres", options) as provider:
        provider.index(CHUNKS)
        found = provider.search(query("rate limit"), 6)
    assert [hit.id for hit in found] == [hit.id for hit in expected]
    assert [hit.score for hit in found] == pytest.approx([hit.score for hit in expected], abs=1e-6)


def test_both_are_fused_by_rank(dsn: str) -> None:
    """The first of both lists gets 1/61 from each."""
    with Postgres(dsn) as provider:
        provider.index(CHUNKS)
        hits = provider.search(query("access tokens"), 2)
    assert hits[0].id == "tokens"
    assert hits[0].score == pytest.approx(2 / 61)
    assert hits[1].score == pytest.approx(1 / 62)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("text", ["", "the of", "o'neil & | ! : <-> (*", "a\x00b", "ünï\ud800"])
def test_odd_queries_are_no_errors(dsn: str, mode: str, text: str) -> None:
    """Operators and characters that PostgreSQL does not take are text like any other."""
    assert len(searched(dsn, text, mode=mode)) <= 3


@pytest.mark.parametrize("mode", MODES)
def test_odd_chunks_are_no_errors(dsn: str, mode: str) -> None:
    """Tabs, backslashes, quotes, NUL and emptiness survive COPY; so does nothing at all."""
    odd = [Chunk("a\tb", "d", "back\\slash\n\\N 'quoted'"), Chunk("z", "d", "\x00"), CHUNKS[0]]
    assert searched(dsn, "quoted slash", odd, mode=mode)[0] == "a\tb"
    assert searched(dsn, "anything", [], mode=mode) == []


def test_nothing_is_left_behind(dsn: str) -> None:
    """The table is dropped when the provider is closed, and when it indexes anew."""
    provider = Postgres(dsn)
    provider.index(CHUNKS)
    provider.index(CHUNKS[:2])
    assert len(tables(dsn)) == 1
    provider.close()
    assert tables(dsn) == []


def test_threads_do_not_wait_for_each_other(dsn: str) -> None:
    """Each has a connection of its own, and all get the right answer."""
    with Postgres(dsn) as provider, ThreadPoolExecutor(4) as threads:
        provider.index(CHUNKS)
        asked = {"tokens": "access tokens", "backup": "nightly backups", "pool": "connection pool"}
        jobs = {
            name: threads.submit(provider.search, query(text), 1) for name, text in asked.items()
        }
        assert {name: job.result()[0].id for name, job in jobs.items()} == {n: n for n in asked}


def test_a_lost_connection_is_an_error_that_can_pass(dsn: str) -> None:
    """And the next attempt gets a new one."""
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
    """Which server, and why; the error can pass."""
    provider = Postgres("postgresql://me:hunter2secret@127.0.0.1:1/db")
    with pytest.raises(ProviderError, match=r"PostgreSQL at 127\.0\.0\.1:1: connection") as caught:
        provider.index(CHUNKS)
    assert "hunter2secret" not in str(caught.value)
    assert "hunter2secret" not in repr(provider)


def test_a_language_nobody_speaks_is_said(dsn: str) -> None:
    """In PostgreSQL's words; asking again would not help."""
    with Postgres(dsn, language="klingon") as provider:
        with pytest.raises(ProviderError, match='configuration "klingon" does not exist') as caught:
            provider.index(CHUNKS)
        assert not caught.value.passing


def test_without_a_dsn_a_server_is_started() -> None:
    """For the run, and stopped at its end."""
    with Postgres(mode="text") as provider:
        provider.index(CHUNKS)
        server = provider._server.local
        assert server is not None
        assert provider.search(query("tokens"), 1)[0].id == "tokens"
    assert not Path(server.folder).exists()


def test_an_unknown_mode_is_refused() -> None:
    """With those that exist."""
    with pytest.raises(ConfigurationError, match="one of text, vector, hybrid, found 'txt'"):
        build_provider("postgres", {"mode": "txt"})


@pytest.mark.parametrize("option", ["k", "depth"])
@pytest.mark.parametrize("value", [0, -60, "many"])
def test_numbers_that_are_none_are_refused(option: str, value: object) -> None:
    """As the other providers that fuse do: nothing is scored with them."""
    with pytest.raises(ConfigurationError, match=f"{option} .*whole number"):
        build_provider("postgres", {option: value})


def test_vectors_need_no_language_and_no_limit_of_words(dsn: str) -> None:
    """Full text is not even made where it is not searched."""
    chunks = [*CHUNKS, Chunk("long", "d", " ".join(map(str, range(300_000))))]
    found = searched(dsn, "access tokens", chunks, mode="vector", language="klingon")
    assert found[0] == "tokens"


def test_a_text_too_long_for_full_text_is_no_passing_error(dsn: str) -> None:
    """Asking again would not make it shorter."""
    chunks = [Chunk("long", "d", " ".join(map(str, range(300_000))))]
    with Postgres(dsn, mode="text") as provider:
        with pytest.raises(ProviderError, match="too long for tsvector") as caught:
            provider.index(chunks)
        assert not caught.value.passing


def test_text_needs_no_pgvector(dsn: str) -> None:
    """Nor an embedder."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS plain")
        connection.execute("CREATE DATABASE plain")
    plain = psycopg.conninfo.make_conninfo(dsn, dbname="plain")
    assert searched(plain, "access tokens", mode="text", embedder="nobody")[0] == "tokens"
    with psycopg.connect(plain) as connection:
        assert not connection.execute(
            "SELECT FROM pg_extension WHERE extname = 'vector'"
        ).fetchall()
