"""The journal: a line per query, written when it is answered, never rewritten.

Each line is a JSON object whose last field is the checksum of the others. A process that is killed
leaves at most a torn last line; the next one cuts it off and goes on. One process writes at a time.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from berryeval._internal.files import lock
from berryeval.errors import ConfigurationError, DataError, NotWrittenError
from berryeval.runner.ranking import Ranking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Self

    from berryeval._internal.files import PathLike


# Whatever a provider returned as one line of JSON that every reader takes.

_DEEPEST: Final = 20


def json_text(entry: Mapping[str, Any]) -> bytes:
    """The entry as JSON in UTF-8.

    What JSON has no form for (dates, arrays, numbers that are none) becomes its text.
    """
    try:
        text = json.dumps(entry, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(_plain(entry), ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:  # half a surrogate pair; escaped, it is JSON all the same
        return json.dumps(json.loads(text)).encode()


def _plain(value: Any, depth: int = 0) -> Any:
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {str(key): _plain(item, depth + 1) for key, item in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [_plain(item, depth + 1) for item in value]
        if callable(getattr(value, "tolist", None)):  # arrays and their numbers
            return _plain(value.tolist(), depth + 1)
    return f"{value!s:.200}"


SCHEMA_VERSION: Final = 1
_BEGINNING: Final = b'{"schema_version": '
_ENDING: Final = ', "checksum": "{:08x}"}}\n'
_ENDING_LENGTH: Final = len(_ENDING.format(0))
# Every line of a query begins like this, so the rest need not be read to know whose it is.
_ENTRY: Final = re.compile(rb'\{"query_id": ("(?:[^"\\]|\\.)*"), "outcome": "(\w+)"')


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
        start = json.loads(json.dumps({"schema_version": SCHEMA_VERSION, **header}))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            binary = getattr(os, "O_BINARY", 0)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | binary, 0o666)
        except OSError as error:
            raise self._not_written(error) from None
        try:
            self._take(start)
        except BaseException:
            os.close(self._file)
            raise

    def _take(self, start: dict[str, Any]) -> None:
        if not lock(self._file):
            msg = f"{self.path}: another process is writing it; wait for its end, or stop it"
            raise DataError(msg)
        try:
            with open(self._file, "rb", closefd=False) as stream:
                self._end = self._read_what_is_there(stream, start)
            os.ftruncate(self._file, self._end)
            os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            raise self._not_written(error) from None
        if not self._end:
            self._write(start)

    def _read_what_is_there(self, stream: BinaryIO, start: dict[str, Any]) -> int:
        """How many bytes to keep: up to the end of the last whole line."""
        line = stream.readline()
        header = _checked(line)
        if header is None:
            torn = line.startswith(_BEGINNING) or _BEGINNING.startswith(line)
            if line.endswith(b"\n") or not torn:
                msg = f"{self.path}:1: is not the first line of a journal; nothing was changed"
                raise DataError(msg)
            return 0  # killed while it was made
        if header != start:
            different = sorted(
                name for name in {*header, *start} if header.get(name) != start.get(name)
            )
            msg = (
                f"{self.path}: belongs to another run ({', '.join(different)} differ); "
                "resume with the same configuration, or give another folder"
            )
            raise ConfigurationError(msg)
        end = len(line)
        for line in stream:
            if line.endswith(b"\n"):
                end += len(line)
                entry = _entry(line)
                if entry is None:
                    self.damaged += 1
                else:
                    self.done[entry[0]] = entry[1]
        return end

    def add(self, ranking: Ranking) -> None:
        """Write a line. When this returns, killing the process does not lose it."""
        self._write(ranking.to_json())

    def _write(self, entry: Mapping[str, Any]) -> None:
        body = json_text(entry)[:-1]
        line = body + _ENDING.format(zlib.crc32(body)).encode()
        left = line
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            self._cut_to(self._end)
            raise self._not_written(error) from None
        self._end += len(line)

    def _cut_to(self, end: int) -> None:
        """Take back half a line: what is written next would be lost with it."""
        from contextlib import suppress

        with suppress(OSError):
            os.ftruncate(self._file, end)
            os.lseek(self._file, end, os.SEEK_SET)

    def _not_written(self, error: OSError) -> NotWrittenError:
        return NotWrittenError(f"{self.path}: cannot be written ({error.strerror or error})")

    def close(self) -> None:
        """Make sure the disk has it all."""
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._not_written(error) from None
        finally:
            os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class JournalReader:
    """A journal that is read: of a query that was asked again, the last line. Damage is left out.

    Only the ids of the queries and the places of their lines are held.

    Attributes:
        outcomes: of each query, in the order in which they were first answered.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = os.fspath(path)
        self.outcomes: dict[str, str] = {}
        self._places: dict[str, int] = {}
        try:
            self._stream: BinaryIO = Path(path).open("rb")  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise self._not_read(error) from None
        try:
            self._find_lines()
        except OSError as error:
            self.close()
            raise self._not_read(error) from None

    def _find_lines(self) -> None:
        place = len(self._stream.readline())
        for line in self._stream:
            entry = _entry(line)
            if entry is not None:
                self.outcomes[entry[0]] = sys.intern(entry[1])
                self._places[entry[0]] = place
            place += len(line)

    def ranking(self, query_id: str) -> Ranking:
        """The ranking of a query that has an outcome."""
        try:
            self._stream.seek(self._places[query_id])
            entry = _checked(self._stream.readline())
        except OSError as error:
            raise self._not_read(error) from None
        return Ranking.from_json(entry, self.path)

    def _not_read(self, error: OSError) -> DataError:
        return DataError(f"{self.path}: cannot be read ({error.strerror or error})")

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journal(path: PathLike) -> Iterator[Ranking]:
    """The rankings of a journal, one by one."""
    with JournalReader(path) as journal:
        yield from map(journal.ranking, journal.outcomes)


def _entry(line: bytes) -> tuple[str, str] | None:
    """The query of a line and its outcome; None if the line is not as it was written."""
    found = _ENTRY.match(line) if _is_whole(line) else None
    return (json.loads(found[1]), found[2].decode()) if found else None


def _checked(line: bytes) -> dict[str, Any] | None:
    """The object of a line without its checksum; None if it is not as it was written."""
    if not _is_whole(line):
        return None
    entry = json.loads(line[:-_ENDING_LENGTH] + b"}")
    return entry if isinstance(entry, dict) else None


def _is_whole(line: bytes) -> bool:
    body, ending = line[:-_ENDING_LENGTH], line[-_ENDING_LENGTH:]
    return ending == _ENDING.format(zlib.crc32(body)).encode()
