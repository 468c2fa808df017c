"""Records to rows, and back: what is packed is JSON, so that scores come back to the bit."""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from berryeval.errors import DataError
from berryeval.json_record import json_pieces
from berryeval.store.times import moment_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.json_record import JsonRecord
    from berryeval.results import BenchmarkRecord, Latency, ProviderRecord, RunRecord

__all__ = [
    "PackedPart",
    "column_text",
    "digest_of",
    "identity_of",
    "packed_parts",
    "run_row",
    "unpack",
]

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
    """A row per measure: those that were asked for with their intervals, then the standard ones."""
    rows: dict[str, dict[str, Any]] = {}
    for scores, asked in ((provider.scores, True), (provider.standard, False)):
        for measure in scores.measures if scores else ():
            if scores is None or measure in rows:
                continue
            low, high = scores.ci(measure) if asked else (None, None)
            rows[measure] = {
                "measure": column_text(measure),
                "value": scores.mean[measure],
                "low": low,
                "high": high,
                "n": scores.count,
            }
    return [{**row, "place": place} for place, row in enumerate(rows.values())]
