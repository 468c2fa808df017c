"""Stores to test on: a SQLite file, and a real PostgreSQL."""

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
    """A PostgreSQL for all tests of stores."""
    own = LocalPostgres()
    try:
        yield own.dsn
    finally:
        own.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store may be made: each test has its own."""
    if request.param == "sqlite":
        return str(tmp_path / "results.db")
    dsn: str = request.getfixturevalue("server")
    name = f"store_{uuid.uuid4().hex}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')  # type: ignore[call-overload,unused-ignore]
    head, _, tail = dsn.partition("?")
    return f"{head.rpartition('/')[0]}/{name}?{tail}"
