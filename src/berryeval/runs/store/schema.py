"""The tables of a store, as they are now.

    store     the version of the schema
    runs      a row per run: what lists sort and filter by; plan and versions, packed
    parts     a row per benchmark of a run; its queries and passages, packed
    results   a row per provider on a benchmark; its answers and scores, packed
    measured  a row per metric of a result: what lists and trends show

Packed is the JSON of the record, compressed: a run is shown from the store as from its folder.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

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
    delete,
    insert,
    inspect,
    select,
)

from berryeval._internal.records import json_pieces
from berryeval._internal.text import moment_of
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from sqlalchemy import Connection

    from berryeval._internal.records import JsonRecord
    from berryeval.runs.record import BenchmarkRecord, Latency, ProviderRecord, RunRecord


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
    _text("metric"),
    Column("value", Double, nullable=False),
    Column("low", Double),
    Column("high", Double),
    Column("n", Integer, nullable=False),
    UniqueConstraint("result", "metric"),
)
Index("berryeval_measured_by_name", measured.c.metric, measured.c.result)


# From the schema of an older store to the one of today, a step per version.

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


# Records to rows, and back: what is packed is JSON, so that scores come back to the bit.

_Row: TypeAlias = dict[str, Any]
# The row of a benchmark; for each provider its row and the rows of its values.
PackedPart: TypeAlias = tuple[_Row, list[tuple[_Row, list[_Row]]]]

_LEVEL: Final = 6
_TIMES: Final = ("p50", "p95", "p99", "max")


def _pack(record: JsonRecord) -> bytes:
    """A record as JSON, small; its text is never held as a whole."""
    packer = zlib.compressobj(_LEVEL)
    pieces = json_pieces(record, ascii_only=True)
    packed = [packer.compress(piece.encode("ascii")) for piece in pieces]
    return b"".join([*packed, packer.flush()])


def unpack(data: bytes, owner: str) -> Any:
    """The JSON object again."""
    try:
        return json.loads(zlib.decompress(data))
    except (zlib.error, ValueError) as error:
        msg = f"{owner}: what is stored of it cannot be read ({error})"
        raise DataError(msg) from None


def column_text(text: str) -> str:
    """A text that every database takes: no zero bytes, no halves of characters."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\x00")


def digest_of(record: RunRecord) -> str:
    """A hash of the whole record."""
    found = hashlib.sha256()
    for piece in json_pieces(record, ascii_only=True):
        found.update(piece.encode("ascii"))
    found.update(b"\0")
    return found.hexdigest()


def identity_of(record: RunRecord) -> str:
    """A hash of what a run remains when it is resumed or scored again."""
    parts = [
        [part.name, part.content_hash, *(provider.name for provider in part.providers)]
        for part in record.benchmarks
    ]
    return _hash([record.created, json.dumps(parts)])


def _hash(texts: Iterable[str]) -> str:
    found = hashlib.sha256()
    for one in texts:
        found.update(one.encode(errors="backslashreplace") + b"\0")
    return found.hexdigest()


def run_row(record: RunRecord) -> dict[str, Any]:
    """The row of a run; what its benchmarks hold is left to their own rows."""
    return {
        "id": column_text(record.id),
        "moment": moment_of(record.created, f"run {record.id}"),
        "created": column_text(record.created),
        "config_hash": column_text(record.config_hash),
        "identity": identity_of(record),
        "digest": digest_of(record),
        "head": _pack(replace(record, benchmarks=())),
    }


def packed_parts(record: RunRecord) -> list[PackedPart]:
    """The rows below that of the run."""
    return [
        (_part_row(part), [(_result_row(one), _value_rows(one)) for one in part.providers])
        for part in record.benchmarks
    ]


def _part_row(part: BenchmarkRecord) -> dict[str, Any]:
    """The row of a benchmark; what providers did is left to their own rows."""
    return {
        "benchmark": column_text(part.name),
        "content_hash": column_text(part.content_hash),
        "sample": part.asked.sample,
        "k": part.k,
        "queries": len(part.queries),
        "body": _pack(replace(part, providers=())),
    }


def _result_row(provider: ProviderRecord) -> dict[str, Any]:
    """The row of a provider."""
    return {
        "provider": column_text(provider.name),
        "type": column_text(provider.type),
        "chunker": column_text(provider.chunker),
        "failure": column_text(provider.failure),
        "outcomes": json.dumps(dict(provider.outcomes)),
        **_times(provider.latency),
        "body": _pack(provider),
    }


def _times(latency: Latency | None) -> dict[str, float | None]:
    return {name: getattr(latency, name) if latency else None for name in _TIMES}


def _value_rows(provider: ProviderRecord) -> list[dict[str, Any]]:
    """A row per metric: those that were asked for with their intervals, then the standard ones."""
    rows: dict[str, dict[str, Any]] = {}
    for scores, asked in ((provider.scores, True), (provider.standard, False)):
        for metric in scores.metrics if scores else ():
            if scores is None or metric in rows:
                continue
            low, high = scores.ci(metric) if asked else (None, None)
            rows[metric] = {
                "metric": column_text(metric),
                "value": scores.mean[metric],
                "low": low,
                "high": high,
                "n": scores.count,
            }
    return [{**row, "place": place} for place, row in enumerate(rows.values())]
