"""Stores for tests: a SQLite file and a real PostgreSQL server."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg
import pytest

from berryeval.providers.postgres_server import LocalPostgres

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """Start a PostgreSQL server for all store tests."""
    own = LocalPostgres()
    try:
        yield own.dsn
    finally:
        own.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the place of a new store."""
    if request.param == "sqlite":
        return str(tmp_path / "results.db")
    dsn: str = request.getfixturevalue("server")
    name = f"store_{uuid.uuid4().hex}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[call-overload,unused-ignore]
    head, _, tail = dsn.partition("?")
    return f"{head.rpartition('/')[0]}/{name}?{tail}"
