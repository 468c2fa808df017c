"""The tables of a store, as they are now.

    store     the version of the schema
    runs      a row per run: what lists sort and filter by; plan and versions, packed
    parts     a row per benchmark of a run; its queries and passages, packed
    results   a row per provider on a benchmark; its answers and scores, packed
    measured  a row per measure of a result: what lists and trends show

Packed is the JSON of the record, compressed: a run is shown from the store as from its folder.
"""

from __future__ import annotations

from typing import Final

from sqlalchemy import (
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
)

__all__ = ["SCHEMA_VERSION", "measured", "metadata", "parts", "results", "runs", "store"]

SCHEMA_VERSION: Final = 1

metadata: Final = MetaData()

store: Final = Table(
    "berryeval_store",
    metadata,
    Column("version", Integer, nullable=False),
)


def _below(table: str) -> Column[int]:
    """Which row of the table above it is of; what is above takes what is below with it."""
    place = ForeignKey(f"berryeval_{table}.key", ondelete="CASCADE")
    return Column(table.removesuffix("s"), Integer, place, nullable=False, index=True)


def _text(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


runs: Final = Table(
    "berryeval_runs",
    metadata,
    Column("key", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("moment", Double, nullable=False, index=True),  # seconds since 1970
    _text("created"),
    _text("config_hash"),
    _text("identity"),  # a hash of what stays the same when the run is scored again
    _text("digest"),  # a hash of the whole record
    Column("head", LargeBinary, nullable=False),
)
parts: Final = Table(
    "berryeval_parts",
    metadata,
    Column("key", Integer, primary_key=True),
    _below("runs"),
    Column("place", Integer, nullable=False),
    _text("benchmark"),
    _text("content_hash"),
    _text("sample"),  # a hash of the ids of the queries
    Column("k", Integer, nullable=False),
    Column("queries", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("run", "place"),
)
results: Final = Table(
    "berryeval_results",
    metadata,
    Column("key", Integer, primary_key=True),
    _below("parts"),
    Column("place", Integer, nullable=False),
    _text("provider"),
    _text("type"),
    _text("chunker"),
    _text("failure"),
    _text("outcomes"),  # JSON
    *(Column(name, Double) for name in ("p50", "p95", "p99", "max")),  # seconds
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("part", "place"),
)
measured: Final = Table(
    "berryeval_measured",
    metadata,
    Column("key", Integer, primary_key=True),
    _below("results"),
    Column("place", Integer, nullable=False),
    _text("measure"),
    Column("value", Double, nullable=False),
    Column("low", Double),
    Column("high", Double),
    Column("n", Integer, nullable=False),
    UniqueConstraint("result", "measure"),
)
Index("berryeval_measured_by_name", measured.c.measure, measured.c.result)
