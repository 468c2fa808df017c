"""The tables of a store, and the conversion of records to rows.

    store     the version of the schema
    runs      a row per run; plan and versions, packed
    parts     a row per benchmark of a run; its queries and passages, packed
    results   a row per provider on a benchmark; its answers and scores, packed
    measured  a row per metric of a result, for lists and trends
    votes     a row per vote of a judge, by benchmark
    users     a row per person who may sign in to `berryeval serve`; a hash of the token

Packed columns hold the compressed JSON of the record, so scores are restored to the bit.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from itertools import chain
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
    text,
    update,
)

from berryeval._internal.compression import decompress_zlib
from berryeval._internal.json import parse_json
from berryeval._internal.serial import iter_json, type_mismatch
from berryeval._internal.text import parse_timestamp
from berryeval.errors import DataError
from berryeval.runs.data_changes import DataVersion
from berryeval.runs.record import read_plan_tags

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from berryeval._internal.serial import JsonRecord
    from berryeval.runs.record import BenchmarkRecord, ProviderRecord, RunRecord


SCHEMA_VERSION: Final = 5
TIMES: Final = ("p50", "p95", "p99", "max")  # seconds

metadata: Final = MetaData()

store: Final = Table("berryeval_store", metadata, Column("version", Integer, nullable=False))


def _parent_key(table: str) -> Column[int]:
    """Return a foreign key to a parent table, whose deletion deletes the row."""
    place = ForeignKey(f"berryeval_{table}.key", ondelete="CASCADE")
    return Column(table.removesuffix("s"), Integer, place, nullable=False, index=True)


def _text_column(name: str) -> Column[str]:
    return Column(name, Text, nullable=False)


runs: Final = Table(
    "berryeval_runs",
    metadata,
    Column("key", Integer, primary_key=True),
    Column("id", Text, nullable=False, unique=True),
    Column("moment", Double, nullable=False, index=True),  # seconds since 1970
    _text_column("created"),
    _text_column("config_hash"),
    _text_column("identity"),  # hash of the parts that rescoring keeps
    _text_column("digest"),  # hash of the whole record
    _text_column("tags"),  # JSON
    Column("head", LargeBinary, nullable=False),
)
parts: Final = Table(
    "berryeval_parts",
    metadata,
    Column("key", Integer, primary_key=True),
    _parent_key("runs"),
    Column("place", Integer, nullable=False),
    _text_column("benchmark"),
    _text_column("content_hash"),
    _text_column("sample"),  # hash of the query ids
    Column("k", Integer, nullable=False),
    Column("queries", Integer, nullable=False),
    Column("body", LargeBinary, nullable=False),
    UniqueConstraint("run", "place"),
)
results: Final = Table(
    "berryeval_results",
    metadata,
    Column("key", Integer, primary_key=True),
    _parent_key("parts"),
    Column("place", Integer, nullable=False),
    _text_column("provider"),
    _text_column("type"),
    _text_column("chunker"),
    _text_column("failure"),
    _text_column("outcomes"),  # JSON
    *(Column(name, Double) for name in TIMES),
    _text_column("cost"),  # JSON: means by unit
    Column("body", LargeBinary, nullable=False),
    Column("data", LargeBinary),  # fingerprints of the queries, packed
    UniqueConstraint("part", "place"),
)
measured: Final = Table(
    "berryeval_measured",
    metadata,
    Column("key", Integer, primary_key=True),
    _parent_key("results"),
    Column("place", Integer, nullable=False),
    _text_column("metric"),
    Column("value", Double, nullable=False),
    Column("low", Double),
    Column("high", Double),
    Column("n", Integer, nullable=False),
    UniqueConstraint("result", "metric"),
)
Index("berryeval_measured_by_name", measured.c.metric, measured.c.result)
vote_rows: Final = Table(
    "berryeval_votes",
    metadata,
    Column("key", Integer, primary_key=True),
    _text_column("benchmark"),
    _text_column("judge"),
    Column("moment", Double, nullable=False),  # seconds since 1970
    _text_column("checksum"),  # of the line
    _text_column("line"),  # JSON
    UniqueConstraint("benchmark", "checksum"),
)
Index("berryeval_votes_by_judge", vote_rows.c.benchmark, vote_rows.c.judge, vote_rows.c.moment)
user_rows: Final = Table(
    "berryeval_users",
    metadata,
    Column("key", Integer, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    _text_column("role"),
    Column("token_hash", Text, nullable=False, unique=True),  # SHA-256, as hex
    _text_column("created"),
)


def _add_fingerprints(connection: Connection) -> None:
    kind = results.c.data.type.compile(connection.dialect)
    connection.execute(text(f"ALTER TABLE {results.name} ADD COLUMN data {kind}"))


def _add_costs(connection: Connection) -> None:
    column = f"ALTER TABLE {results.name} ADD COLUMN cost TEXT NOT NULL DEFAULT '{{}}'"
    connection.execute(text(column))
    for key in connection.scalars(select(results.c.key)).all():
        body: Any = connection.scalar(select(results.c.body).where(results.c.key == key))
        if cost := unpack(body, f"result {key} of the store").get("cost"):
            changed = update(results).where(results.c.key == key).values(cost=json.dumps(cost))
            connection.execute(changed)


def _add_tags_and_users(connection: Connection) -> None:
    user_rows.create(connection)
    connection.execute(
        text(f"ALTER TABLE {runs.name} ADD COLUMN tags TEXT NOT NULL DEFAULT '{{}}'")
    )
    for key, head in connection.execute(select(runs.c.key, runs.c.head)).all():
        plan: Any = None
        with suppress(DataError):  # a damaged run, which cannot be shown anyway
            plan = unpack(head, f"run {key} of the store").get("plan")
        if tags := read_plan_tags(plan if isinstance(plan, Mapping) else {}):
            changed = update(runs).where(runs.c.key == key).values(tags=format_tags_column(tags))
            connection.execute(changed)


# Migrations from version n to n + 1, by n.
STEPS: Final[Mapping[int, Callable[[Connection], None]]] = {
    1: _add_fingerprints,
    2: _add_costs,
    3: vote_rows.create,
    4: _add_tags_and_users,
}


def read_version(connection: Connection) -> int | None:
    """Return the schema version of the store; None if the database has no store."""
    if not inspect(connection).has_table(store.name):
        return None
    return connection.scalar(select(store.c.version))


def check_version(version: int, place: str, known: int = SCHEMA_VERSION) -> None:
    """Reject a store of a newer BerryEval."""
    if version > known:
        raise DataError(
            f"{place}: the store has schema version {version}, this BerryEval supports versions up "
            f"to {known}; upgrade with pip install --upgrade berryeval"
        )


def migrate(
    connection: Connection,
    place: str,
    steps: Mapping[int, Callable[[Connection], None]] = STEPS,
    wanted: int = SCHEMA_VERSION,
) -> None:
    """Create or upgrade the tables, inside the caller's transaction."""
    version = read_version(connection)
    if version is None:
        metadata.create_all(connection)
    else:
        check_version(version, place, wanted)
        for number in range(version, wanted):
            steps[number](connection)
    if version != wanted:
        connection.execute(delete(store))
        connection.execute(insert(store).values(version=wanted))


_Row: TypeAlias = dict[str, Any]
# The row of a benchmark, and for each provider its row and the rows of its values.
PackedPart: TypeAlias = tuple[_Row, list[tuple[_Row, list[_Row]]]]

_LEVEL: Final = 6


def _pack(record: JsonRecord) -> bytes:
    """Compress the JSON of a record piece by piece, to bound memory."""
    packer = zlib.compressobj(_LEVEL)
    pieces = iter_json(record, ascii_only=True)
    packed = [packer.compress(piece.encode("ascii")) for piece in pieces]
    return b"".join([*packed, packer.flush()])


def unpack(data: bytes, owner: str) -> dict[str, Any]:
    """Decompress a JSON object."""
    try:
        found = parse_json(decompress_zlib(data, owner).decode(), owner, repeats=True)
    except (zlib.error, ValueError, TypeError) as error:
        raise DataError(f"{owner}: the stored data cannot be read ({error})") from None
    if not isinstance(found, dict):
        raise type_mismatch(owner, "an object", found)
    return found


def to_column_text(text: str) -> str:
    """Escape null bytes and lone surrogates, which databases reject."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\x00")


def format_tags_column(tags: Mapping[str, str]) -> str:
    """Return the column with the tags of a run: JSON, with letters that can be searched."""
    return to_column_text(json.dumps(dict(tags), ensure_ascii=False))


def hash_record(record: RunRecord) -> str:
    """Return a hash of the whole record."""
    return _hash(chain(iter_json(record, ascii_only=True), "\0"))


def hash_identity(record: RunRecord) -> str:
    """Return a hash of the parts of a run that resuming and rescoring keep."""
    parts = [
        [part.name, part.hash_without_votes, *(provider.name for provider in part.providers)]
        for part in record.benchmarks
    ]
    return _hash([record.created, "\0", json.dumps(parts), "\0"])


def _hash(texts: Iterable[str]) -> str:
    found = hashlib.sha256()
    for one in texts:
        found.update(one.encode(errors="backslashreplace"))
    return found.hexdigest()


def pack_run(record: RunRecord) -> dict[str, Any]:
    """Return the row of a run, without its benchmarks."""
    return {
        "id": to_column_text(record.id),
        "moment": parse_timestamp(record.created, f"run {record.id}"),
        "created": to_column_text(record.created),
        "config_hash": to_column_text(record.config_hash),
        "identity": hash_identity(record),
        "digest": hash_record(record),
        "tags": format_tags_column(record.tags),
        "head": _pack(replace(record, benchmarks=())),
    }


def pack_parts(record: RunRecord) -> list[PackedPart]:
    """Return the rows of the benchmarks, providers and values of a run."""
    return [
        (_pack_part(part), [(_pack_result(part, one), _pack_values(one)) for one in part.providers])
        for part in record.benchmarks
    ]


def _pack_part(part: BenchmarkRecord) -> dict[str, Any]:
    return {
        "benchmark": to_column_text(part.name),
        "content_hash": to_column_text(part.content_hash),
        "sample": part.asked.sample,
        "k": part.k,
        "queries": len(part.queries),
        "body": _pack(replace(part, providers=())),
    }


def _pack_result(part: BenchmarkRecord, provider: ProviderRecord) -> dict[str, Any]:
    data = DataVersion.of(part, provider)
    known = {"fingerprints": dict(data.fingerprints), "unasked": sorted(data.unasked)}
    return {
        "provider": to_column_text(provider.name),
        "type": to_column_text(provider.type),
        "chunker": to_column_text(provider.chunker),
        "failure": to_column_text(provider.failure),
        "outcomes": json.dumps(dict(provider.outcomes)),
        **{name: getattr(provider.latency, name, None) for name in TIMES},
        "cost": json.dumps(dict(provider.cost)),
        "body": _pack(provider),
        "data": zlib.compress(json.dumps(known).encode("ascii"), _LEVEL)
        if provider.fingerprints
        else None,
    }


def _pack_values(provider: ProviderRecord) -> list[dict[str, Any]]:
    """Return a row per metric."""
    return [
        {**asdict(one), "metric": to_column_text(one.metric), "place": place}
        for place, one in enumerate(provider.list_values())
    ]
