"""The journal of a run: one line per query, written when it is answered and never rewritten.

Each line is a JSON object that ends with a checksum of its other fields. A killed process leaves at
most a torn last line, which the next process cuts off. Only one process writes at a time.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Final

from berryeval._internal.files import replace_file, try_lock
from berryeval._internal.plain import make_plain
from berryeval.data import Hit, index_records
from berryeval.errors import ConfigurationError, DataError, NotWrittenError
from berryeval.runner.outcome import Ranking

if TYPE_CHECKING:
    from typing_extensions import Self

    from berryeval._internal.files import PathLike
    from berryeval.data import Chunk, Query


def encode_entry(entry: Mapping[str, Any]) -> bytes:
    """Return an entry as JSON; values that JSON cannot express are replaced by their text."""
    try:
        text = json.dumps(entry, ensure_ascii=False, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        text = json.dumps(make_plain(entry), ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate is valid JSON once escaped
        return json.dumps(json.loads(text)).encode()


SCHEMA_VERSION: Final = 1
_HEADER_START: Final = b'{"schema_version": '
_ENDING: Final = ', "checksum": "{:08x}"}}\n'
_ENDING_LENGTH: Final = len(_ENDING.format(0))
# The start of every query line, enough to know its query without parsing the rest.
_ENTRY: Final = re.compile(rb'\{"query_id": ("(?:[^"\\]|\\.)*"), "outcome": "(\w+)"')


class Journal:
    """The journal of a run, open for writing.

    With `repair`, a damaged first line is written again if intact lines of answers follow: the
    caller knows that they belong to this run.
    """

    def __init__(self, path: PathLike, header: Mapping[str, Any], *, repair: bool = False) -> None:
        self.path = Path(path)
        self.done: dict[str, str] = {}  # outcome by query id, as answered by earlier processes
        self.damaged = 0  # unreadable lines; their queries are asked again
        start = json.loads(json.dumps({"schema_version": SCHEMA_VERSION, **header}))
        self.repaired = repair and _repair_header(self.path, start)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            binary = getattr(os, "O_BINARY", 0)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | binary, 0o666)
        except OSError as error:
            raise self._write_error(error) from None
        try:
            self._claim(start)
        except BaseException:
            os.close(self._file)
            raise

    def _claim(self, start: dict[str, Any]) -> None:
        if not try_lock(self._file):
            raise DataError(
                f"{self.path}: another process is writing to it; wait for it to end, or stop it"
            )
        try:
            with open(self._file, "rb", closefd=False) as stream:
                self._end = self._read_lines(stream, start)
            os.ftruncate(self._file, self._end)
            os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            raise self._write_error(error) from None
        if not self._end:
            self._write(start)

    def _read_lines(self, stream: BinaryIO, start: dict[str, Any]) -> int:
        """Read the lines of earlier processes; return the length up to the last complete line."""
        line = stream.readline()
        header = _parse_line(line)
        if header is None:
            torn = line.startswith(_HEADER_START) or _HEADER_START.startswith(line)
            if line.endswith(b"\n") or not torn:
                raise DataError(
                    f"{self.path}:1: not the first line of a journal; the file was left unchanged; "
                    "to ask its queries again, move it away"
                )
            return 0  # its process was killed while creating it
        if header != start:
            names = sorted({*header, *start})
            different = [name for name in names if header.get(name) != start.get(name)]
            raise ConfigurationError(
                f"{self.path}: belongs to another run ({', '.join(different)} differ); "
                "resume with the same configuration, or choose another folder"
            )
        end = len(line)
        for line in stream:
            if line.endswith(b"\n"):
                end += len(line)
                if entry := _parse_entry(line):
                    self.done[entry[0]] = entry[1]
                else:
                    self.damaged += 1
        return end

    def add(self, ranking: Ranking) -> None:
        """Write the line of a ranking; once this returns, it survives a killed process."""
        self._write(ranking.to_json())

    def _write(self, entry: Mapping[str, Any]) -> None:
        left = line = _encode_line(entry)
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as error:
            with suppress(OSError):  # a torn line would make the next line unreadable
                os.ftruncate(self._file, self._end)
                os.lseek(self._file, self._end, os.SEEK_SET)
            raise self._write_error(error) from None
        self._end += len(line)

    def _write_error(self, error: OSError) -> NotWrittenError:
        return NotWrittenError(f"{self.path}: cannot be written ({error.strerror or error})")

    def close(self) -> None:
        """Flush the journal to disk and close it."""
        try:
            os.fsync(self._file)
        except OSError as error:
            raise self._write_error(error) from None
        finally:
            os.close(self._file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _encode_line(entry: Mapping[str, Any]) -> bytes:
    body = encode_entry(entry)[:-1]
    return body + _ENDING.format(zlib.crc32(body)).encode()


def _repair_header(path: Path, start: Mapping[str, Any]) -> bool:
    """Replace a damaged first line; return whether there was one, with answers after it."""
    try:
        with path.open("rb") as stream:
            first = stream.readline()
            begun = _is_entry(first)  # there is no header at all
            if not first.endswith(b"\n") or (_is_intact(first) and not begun):
                return False
            if not begun and not any(map(_is_entry, stream)):
                return False
            stream.seek(0 if begun else len(first))
            with replace_file(path) as copy:
                copy.write(_encode_line(start))
                shutil.copyfileobj(stream, copy)
    except OSError:  # there is no journal yet, or opening it reports the cause
        return False
    return True


class JournalReader:
    """A journal open for reading: the last line of each query, without damaged lines.

    Only query ids and line offsets are held in memory.
    """

    def __init__(self, path: PathLike) -> None:
        self.path = os.fspath(path)
        self.outcomes: dict[str, str] = {}  # by query id, in the order of the first answers
        self._places: dict[str, int] = {}
        try:
            self._stream: BinaryIO = Path(path).open("rb")  # noqa: SIM115 - closed by `close`
        except OSError as error:
            raise self._read_error(error) from None
        try:
            place = len(self._stream.readline())
            for line in self._stream:
                if entry := _parse_entry(line):
                    self.outcomes[entry[0]] = sys.intern(entry[1])
                    self._places[entry[0]] = place
                place += len(line)
        except OSError as error:
            self.close()
            raise self._read_error(error) from None

    def ranking(self, query_id: str) -> Ranking:
        """Return the ranking of a query that has an outcome."""
        try:
            self._stream.seek(self._places[query_id])
            entry = _parse_line(self._stream.readline())
        except OSError as error:
            raise self._read_error(error) from None
        return Ranking.from_json(entry, self.path)

    def _read_error(self, error: OSError) -> DataError:
        return DataError(f"{self.path}: cannot be read ({error.strerror or error})")

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_journal(path: PathLike) -> Iterator[Ranking]:
    """Iterate over the rankings of a journal."""
    with JournalReader(path) as journal:
        yield from map(journal.ranking, journal.outcomes)


def _parse_entry(line: bytes) -> tuple[str, str] | None:
    """Return the query id and outcome of a line, or None if the line is damaged."""
    found = _ENTRY.match(line) if _is_intact(line) else None
    with suppress(ValueError):
        return (json.loads(found[1]), found[2].decode()) if found else None
    return None


def _is_entry(line: bytes) -> bool:
    return _parse_entry(line) is not None


def _parse_line(line: bytes) -> dict[str, Any] | None:
    """Return the object of a line without its checksum, or None if the line is damaged."""
    if not _is_intact(line):
        return None
    try:
        entry = json.loads(line[:-_ENDING_LENGTH] + b"}")
    except (ValueError, RecursionError):
        return None
    return entry if isinstance(entry, dict) else None


def _is_intact(line: bytes) -> bool:
    body, ending = line[:-_ENDING_LENGTH], line[-_ENDING_LENGTH:]
    return ending == _ENDING.format(zlib.crc32(body)).encode()


# Answers: written without the texts of chunks, read with them.


class Answers(Mapping[str, tuple[Hit, ...]]):
    """The hits of a provider by query, in the order of the queries, read from its journal.

    They are read on access and not kept; the journal stays open as long as this object is used.
    """

    def __init__(
        self, journal: JournalReader, queries: Sequence[Query], chunks: Sequence[Chunk]
    ) -> None:
        self._journal = journal
        known = (query.id for query in queries if query.id in journal.outcomes)
        self._queries = dict.fromkeys(known)
        self._chunk_of = index_records(chunks)
        self._last: Ranking | None = None

    @classmethod
    @contextmanager
    def open(
        cls, journal: Path, queries: Sequence[Query], chunks: Sequence[Chunk]
    ) -> Iterator[Answers]:
        """Open the answers of a journal to these queries; empty if there is no journal."""
        with JournalReader(journal if journal.exists() else os.devnull) as reader:
            yield cls(reader, queries, chunks)

    @property
    def outcomes(self) -> dict[str, int]:
        """Number of queries by outcome: answered, empty, failed, timed out."""
        return dict(Counter(self._journal.outcomes[query] for query in self._queries))

    def ranking(self, query_id: str) -> Ranking:
        """Return the outcome of a query; its hits have the texts of their chunks."""
        if self._last is None or self._last.query_id != query_id:
            self._last = restore_texts(self._journal.ranking(query_id), self._chunk_of)
        return self._last

    def __getitem__(self, query_id: str) -> tuple[Hit, ...]:
        return self.ranking(query_id).hits

    def __contains__(self, query_id: object) -> bool:
        return query_id in self._queries

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)


def remove_texts(ranking: Ranking, chunks: Mapping[str, Chunk]) -> Ranking:
    """Return the ranking without texts and metadata that equal those of the chunks."""
    return _change_hits(ranking, lambda hit: _remove_text(hit, chunks.get(hit.id)))


def _change_hits(ranking: Ranking, change: Callable[[Hit], Hit]) -> Ranking:
    """Return the ranking with every hit changed, also those of its stages."""
    stages = tuple(replace(one, hits=tuple(map(change, one.hits))) for one in ranking.stages)
    return replace(ranking, hits=tuple(map(change, ranking.hits)), stages=stages)


def _remove_text(hit: Hit, chunk: Chunk | None) -> Hit:
    if chunk is None or hit.text != chunk.text:
        return hit
    metadata = {} if hit.metadata == chunk.metadata else hit.metadata
    return Hit(
        hit.id, hit.score, hit.rank, "", hit.doc_id, hit.section, hit.start, hit.end, metadata,
        hit.extra,
    )  # fmt: skip


def restore_texts(ranking: Ranking, chunks: Mapping[str, Chunk]) -> Ranking:
    """Return the ranking with the texts and metadata of the chunks, shared rather than copied."""
    return _change_hits(ranking, lambda hit: _restore_text(hit, chunks.get(hit.id)))


def _restore_text(hit: Hit, chunk: Chunk | None) -> Hit:
    if chunk is None or hit.text:
        return hit
    doc_id = chunk.doc_id if hit.doc_id == chunk.doc_id else hit.doc_id
    section = chunk.section if hit.section == chunk.section else hit.section
    return Hit(
        chunk.id, hit.score, hit.rank, chunk.text, doc_id, section, hit.start, hit.end,
        hit.metadata or chunk.metadata, hit.extra,
    )  # fmt: skip
