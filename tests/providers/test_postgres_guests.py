"""The provider `postgres` with few rights, beside other users, and after a killed run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from berryeval.errors import ProviderError
from berryeval.providers.postgres import Postgres
from tests.providers.corpus import CHUNKS, query
from tests.providers.killed_run import killed_run

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def database(dsn: str) -> Iterator[str]:
    """Create a database, and a role that has all rights in one schema and no others."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute("CREATE DATABASE guests")
        connection.execute("CREATE ROLE guest LOGIN")
        connection.execute("REVOKE CREATE ON DATABASE guests FROM PUBLIC")
    own = psycopg.conninfo.make_conninfo(dsn, dbname="guests")
    try:
        yield own
    finally:
        with psycopg.connect(dsn, autocommit=True) as connection:
            connection.execute("DROP DATABASE guests WITH (FORCE)")
            connection.execute("DROP ROLE guest")


def prepared(database: str, *statements: str) -> str:
    """Run statements as the owner; return the address of the guest."""
    with psycopg.connect(database, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    return psycopg.conninfo.make_conninfo(database, user="guest")


def tables(database: str) -> list[str]:
    with psycopg.connect(database) as connection:
        rows = connection.execute(
            "SELECT format('\"%s\".%s', schemaname, tablename) FROM pg_tables "
            "WHERE tablename LIKE 'chunks%'"
        )
        return [name for (name,) in rows]


def test_a_role_without_rights_uses_prepared_objects(database: str) -> None:
    guest = prepared(
        database,
        "CREATE SCHEMA berryeval AUTHORIZATION guest",
        "CREATE EXTENSION vector",
    )
    with Postgres(guest) as provider:
        provider.index(CHUNKS)
        assert provider.search(query("access tokens"), 1)[0].id == "tokens"


def test_pgvector_may_be_in_any_schema(database: str) -> None:
    guest = prepared(
        database,
        'CREATE SCHEMA "My 100% tables" AUTHORIZATION guest',
        'CREATE SCHEMA "the 5% extensions"',
        'CREATE EXTENSION vector SCHEMA "the 5% extensions"',
        'GRANT USAGE ON SCHEMA "the 5% extensions" TO guest',
    )
    for approximate in (False, True):
        with Postgres(guest, schema="My 100% tables", approximate=approximate) as provider:
            provider.index(CHUNKS)
            assert provider.search(query("access tokens"), 1)[0].id == "tokens"


def test_missing_rights_are_a_permanent_error(database: str) -> None:
    guest = prepared(database)
    with Postgres(guest, mode="text") as provider:
        with pytest.raises(ProviderError, match="permission denied for database") as caught:
            provider.index(CHUNKS)
        assert not caught.value.passing


@pytest.mark.parametrize(
    ("change", "words"),
    [({"dbname": "nowhere"}, "does not exist"), ({"user": "nobody"}, "does not exist")],
)
def test_a_missing_database_or_role_is_a_permanent_error(
    dsn: str, change: dict[str, str], words: str
) -> None:
    provider = Postgres(psycopg.conninfo.make_conninfo(dsn, **change), mode="text")
    with pytest.raises(ProviderError, match=words) as caught:
        provider.index(CHUNKS)
    assert not caught.value.passing


@pytest.fixture
def with_passwords(dsn: str) -> Iterator[str]:
    """Return the address of a role that needs a password."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        (place,) = connection.execute("SHOW hba_file").fetchone() or ("",)
        rules = Path(place)
        before = rules.read_text(encoding="utf-8")
        rules.write_text(f"local all careful scram-sha-256\n{before}", encoding="utf-8")
        connection.execute("CREATE ROLE careful LOGIN PASSWORD 'right-one'")
        connection.execute("SELECT pg_reload_conf()")
        try:
            yield psycopg.conninfo.make_conninfo(dsn, user="careful")
        finally:
            rules.write_text(before, encoding="utf-8")
            connection.execute("SELECT pg_reload_conf()")
            connection.execute("DROP ROLE careful")


@pytest.mark.parametrize(
    ("password", "words"),
    [("wrong-one", "password authentication failed"), (None, "no password supplied")],
)
def test_a_wrong_password_is_a_permanent_error_and_not_shown(
    with_passwords: str, password: str | None, words: str
) -> None:
    given = psycopg.conninfo.make_conninfo(with_passwords, password=password)
    with pytest.raises(ProviderError, match=words) as caught:
        Postgres(given, mode="text").index(CHUNKS)
    assert not caught.value.passing
    assert "wrong-one" not in str(caught.value)


def test_the_table_of_a_killed_run_is_dropped_by_the_next_run(database: str) -> None:
    left, _ = killed_run(database)
    assert tables(database) == [left]
    with Postgres(database, mode="text") as alive, Postgres(database, mode="text") as later:
        alive.index(CHUNKS)
        prepared(database, "CREATE TABLE berryeval.chunks_0123456789ab (theirs int)")
        later.index(CHUNKS)
        there = tables(database)
        assert left not in there
        assert len(there) == 3
        assert alive.search(query("tokens"), 1)[0].id == "tokens"
    assert tables(database) == ['"berryeval".chunks_0123456789ab']


def test_a_run_whose_first_connection_is_lost_keeps_its_table(database: str) -> None:
    with Postgres(database, mode="text") as alive, Postgres(database, mode="text") as later:
        alive.index(CHUNKS)
        with psycopg.connect(database, autocommit=True) as other:
            other.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = 'guests' AND pid != pg_backend_pid()"
            )
        with pytest.raises(ProviderError, match="PostgreSQL at"):
            alive.search(query("tokens"), 1)
        assert alive.search(query("tokens"), 1)[0].id == "tokens"
        later.index(CHUNKS)
        assert alive.search(query("tokens"), 1)[0].id == "tokens"
