"""Fixtures for several providers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from berryeval.providers.postgres_server import LocalPostgres

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def dsn() -> Iterator[str]:
    """Address of a PostgreSQL server with pgvector."""
    server = LocalPostgres()
    try:
        yield server.dsn
    finally:
        server.stop()
