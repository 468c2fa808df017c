"""From the schema of an older store to the one of today, a step per version.

A step is a function of a connection, called inside one transaction with the change of the version:
it happens whole or not at all. A step must not use `schema`, which describes today's tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, insert, inspect, select

from berryeval.errors import DataError
from berryeval.store.schema import SCHEMA_VERSION, metadata, store

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

__all__ = ["STEPS", "check_version", "migrate", "version_of"]

# What makes version n + 1 of version n, by n.
STEPS: Final[Mapping[int, Callable[[Connection], None]]] = {}


def version_of(connection: Connection) -> int | None:
    """The version of the store's schema; None if there is no store in the database yet."""
    if not inspect(connection).has_table(store.name):
        return None
    return connection.scalar(select(store.c.version))


def check_version(version: int, place: str, known: int = SCHEMA_VERSION) -> None:
    """Refuse a store that a newer BerryEval has made."""
    if version > known:
        msg = (
            f"{place}: the store has schema version {version}, this BerryEval knows versions up to "
            f"{known}; a newer BerryEval made it: pip install --upgrade berryeval"
        )
        raise DataError(msg)


def migrate(
    connection: Connection,
    place: str,
    steps: Mapping[int, Callable[[Connection], None]] = STEPS,
    wanted: int = SCHEMA_VERSION,
) -> None:
    """Make the tables, or bring them to the wanted version; inside the caller's transaction."""
    version = version_of(connection)
    if version is None:
        metadata.create_all(connection)
    else:
        check_version(version, place, wanted)
        for number in range(version, wanted):
            steps[number](connection)
    if version != wanted:
        connection.execute(delete(store))
        connection.execute(insert(store).values(version=wanted))
