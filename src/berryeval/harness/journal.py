"""The journal: a line per query, written when it is answered, never rewritten.

Each line is a JSON object whose last field is the checksum of the others. A process that is killed
leaves at most a torn last line; the next one cuts it off and goes on.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval.errors import ConfigurationError, DataError
from berryeval.harness.ranking import Ranking
from berryeval.io.files import PathLike, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from typing_extensions import Self

__all__ = ["Journal", "read_journal"]

SCHEMA_VERSION = 1
_ENDING = ', "checksum": "{:08x}"}}\n'
_ENDING_LENGTH = len(_ENDING.format(0))


class Journal:
    """The open journal of a run.

    Attributes:
        done: outcome by query of what earlier processes answered.
        damaged: how many lines could not be read; their queries are asked again.
    """

    def __init__(self, path: PathLike, header: Mapping[str, Any]) -> None:
        self.path = Path(path)
        self.done: dict[str, str] = {}
        self.damaged = 0
        start = {"schema_version": SCHEMA_VERSION, **header}
        keep = self._read_what_is_there(start) if self.path.exists() else 0
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            os.ftruncate(self._file, keep)
            os.lseek(self._file, 0, os.SEEK_END)
            if not keep:
                self._write(start)
        except OSError as error:
            msg = f"{self.path}: cannot be written ({error.strerror or error})"
            raise DataError(msg) from None

    def _read_what_is_there(self, start: Mapping[str, Any]) -> int:
        """How many bytes to keep: up to the end of the last whole line."""
        data = read_bytes(self.path).tobytes()
        keep = data.rfind(b"\n") + 1
        lines = data[:keep].splitlines(keepends=True)
        header = _checked(lines[0]) if lines else None
        if header is None:
            if len(lines) > 1:
                msg = f"{self.path}:1: is not the first line of a journal; nothing was changed"
                raise DataError(msg)
            return 0  # torn while it was made
        if header != json.loads(json.dumps(start)):
            different = sorted(
                name for name in {*header, *start} if header.get(name) != start.get(name)
            )
            msg = (
                f"{self.path}: belongs to another run ({', '.join(different)} differ); "
                "resume with the same configuration, or give another folder"
            )
            raise ConfigurationError(msg)
        for line in lines[1:]:
            entry = _checked(line)
            if entry is None:
                self.damaged += 1
            else:
                self.done[entry["query_id"]] = entry["outcome"]
        return keep

    def add(self, ranking: Ranking) -> None:
        """Write a line. When this returns, killing the process does not lose it."""
        self._write(ranking.to_json())
        self.done[ranking.query_id] = ranking.outcome

    def _write(self, entry: Mapping[str, Any]) -> None:
        body = json.dumps(entry, ensure_ascii=False)[:-1].encode(errors="surrogatepass")
        line = body + _ENDING.format(zlib.crc32(body)).encode()
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            msg = f"{self.path}: cannot be written ({error.strerror or error})"
            raise DataError(msg) from None

    def close(self) -> None:
        """Make sure the disk has it all."""
        os.fsync(self._file)
        os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journal(path: PathLike) -> Iterator[Ranking]:
    """The rankings of a journal; of a query that was asked again, the last. Damage is left out."""
    last: dict[str, int] = {}
    entries: list[tuple[int, int]] = []
    data = read_bytes(path).tobytes()
    start = data.find(b"\n") + 1
    while (end := data.find(b"\n", start) + 1) > 0:
        entry = _checked(data[start:end])
        if entry is not None:
            last[entry["query_id"]] = len(entries)
            entries.append((start, end))
        start = end
    for place in last.values():
        start, end = entries[place]
        entry = _checked(data[start:end]) or {}
        entry.pop("checksum", None)
        yield Ranking.from_json(entry, f"{os.fspath(path)}")


def _checked(line: bytes) -> dict[str, Any] | None:
    """The object of a line without its checksum; None if it is not as it was written."""
    body, ending = line[:-_ENDING_LENGTH], line[-_ENDING_LENGTH:]
    if ending != _ENDING.format(zlib.crc32(body)).encode():
        return None
    entry = json.loads(body + b"}")
    return entry if isinstance(entry, dict) else None
