"""The lease of a store: one server at a time, which others can name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from berryeval._internal.files import try_lock
from berryeval.errors import ConfigurationError
from berryeval.runs import Place

if TYPE_CHECKING:
    from pathlib import Path

_LOCK: Final = 0x62657273  # "bers"; PostgreSQL identifies locks by number
_LONGEST: Final = 63  # bytes of a name in PostgreSQL
_NAME: Final = "serve "


@contextmanager
def hold_store(place: str | None, address: str) -> Iterator[None]:
    """Hold the lease of a store during the block; an error names the server that has it.

    The lease ends with the process, however it ends.

    Args:
        place: Place of the store; None for no store.
        address: Address of this server.
    """
    if place is None:
        yield
        return
    found = Place.of(place)
    with _lock_file(found, address) if found.file else _lock_database(found, address):
        yield


@contextmanager
def _lock_file(place: Place, address: str) -> Iterator[None]:
    path: Path = place.file.with_name(f"{place.file.name}.serve")  # type: ignore[union-attr]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # a disk that cannot be written, so nobody judges there
        yield
        return
    try:
        if not try_lock(file):
            raise _describe(place, os.read(file, 1000).decode(errors="replace"))
        os.ftruncate(file, 0)
        os.write(file, address.encode())
        yield
    finally:
        os.close(file)


@contextmanager
def _lock_database(place: Place, address: str) -> Iterator[None]:
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.pool import NullPool

    name = f"{_NAME}{address}".encode()[:_LONGEST].decode(errors="ignore")
    options = {"connect_timeout": 10, "application_name": name}
    engine = create_engine(place.url, connect_args=options, poolclass=NullPool)
    try:
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    except SQLAlchemyError as error:
        problem = place.mask_text(str(getattr(error, "orig", None) or error))
        raise ConfigurationError(f"the store {place.shown} cannot be read ({problem})") from None
    with connection:
        if not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": _LOCK}):
            holder = (
                "SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid) "
                "WHERE locktype = 'advisory' AND objid = :key AND granted AND "
                "pg_locks.database = (SELECT oid FROM pg_database WHERE datname = "
                "current_database())"
            )
            other = connection.scalar(text(holder), {"key": _LOCK}) or ""
            raise _describe(place, str(other).removeprefix(_NAME))
        yield


def _describe(place: Place, other: str) -> ConfigurationError:
    where = f" at {other}" if other else ""
    return ConfigurationError(
        f"another server{where} has the store {place.shown} open; use that one, stop it, or serve "
        "another store with --store"
    )
