"""`sqlite`: full text (FTS5), vectors (sqlite-vec), or both fused, in a file or in memory.

Full text is ranked by FTS5's `bm25()`, with k1 = 1.2 and b = 0.75; any word of the query may match.
Vectors are searched exactly. SQLite comes from the package `apsw`, because the one in Python
differs between machines and often cannot load sqlite-vec.
"""

from __future__ import annotations

import ctypes
import json
import secrets
import threading
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.aio import time_left
from berryeval._internal.optional import import_optional
from berryeval.errors import ProviderError
from berryeval.providers.base import SearchableTexts, clean_text, encode_id, list_hits
from berryeval.providers.bm25 import STOPWORDS
from berryeval.providers.engine import FusingProvider

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit, Query
    from berryeval.providers.existing import ExistingIndex, IndexReader


_LARGEST: Final = 2**46  # bytes; the default limit in memory is 2**30
_BUSY_TIMEOUT: Final = 10_000  # milliseconds to wait for other writers
_STEPS: Final = 10_000  # instructions of SQLite between two looks at the time


class SqliteDatabase:
    """A SQLite file, or with the path "" a database in memory, with one connection per thread.

    A missing file is created, and removed by `close` if it has no tables left. With `read_only`, an
    existing file is opened so that SQLite itself refuses to write.
    """

    def __init__(self, path: str, *, with_vectors: bool, read_only: bool = False) -> None:
        self._path = Path(path).expanduser() if path else None
        self._with_vectors = with_vectors
        self._read_only = read_only
        self._made_file = False
        self._open: list[Any] = []
        self._own = threading.local()
        # An in-memory database is shared by the connections of this process.
        self._memory = f"file:/berryeval-{secrets.token_hex(8)}?vfs=memdb"

    @cached_property
    def package(self) -> Any:
        """The package `apsw`."""
        return import_optional("apsw", "the provider sqlite", extra="sqlite")

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """The connection of this thread, with SQLite's errors converted."""
        apsw = self.package
        try:
            if getattr(self._own, "connection", None) is None:
                self._own.connection = self._connect()
            yield self._own.connection
        except apsw.Error as error:
            passing = isinstance(error, apsw.BusyError | apsw.LockedError)
            raise ProviderError(
                f"SQLite at {self._path or 'memory'}: {error}", passing=passing
            ) from None

    def _connect(self) -> Any:
        connection = self._open_database()
        self._open.append(connection)
        connection.set_busy_timeout(_BUSY_TIMEOUT)
        connection.set_progress_handler(lambda: time_left() <= 0, _STEPS)  # stops a late search
        if self._with_vectors:
            extension = import_optional("sqlite_vec", "the provider sqlite", extra="sqlite")
            connection.enable_load_extension(True)
            connection.load_extension(extension.loadable_path())
            connection.enable_load_extension(False)
        return connection

    def _open_database(self) -> Any:
        apsw = self.package
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        if self._read_only and self._path is not None:
            address = f"{self._path.resolve().as_uri()}?mode=ro"
            flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
            connection = apsw.Connection(address, flags=flags)
            connection.execute("PRAGMA query_only = ON")
            return connection
        if self._path is not None:
            self._made_file = self._made_file or not self._path.exists()
            return apsw.Connection(str(self._path), flags=flags)
        connection = apsw.Connection(self._memory, flags=flags | apsw.SQLITE_OPEN_URI)
        limit = ctypes.c_int64(_LARGEST)
        connection.file_control("main", apsw.SQLITE_FCNTL_SIZE_LIMIT, ctypes.addressof(limit))
        return connection

    def match_any(self, text: str, *, stopwords: bool) -> str:
        """Return the query of FTS5 for any word of a text, except stop words if they are dropped.

        Words are quoted, so that FTS5 reads none as an operator.
        """
        with self.connection() as connection:
            words = connection.fts5_tokenizer("unicode61")(
                clean_text(text).encode(), self.package.FTS5_TOKENIZE_QUERY, None,
                include_offsets=False, include_colocated=False,
            )  # fmt: skip
        kept = [word for word in words if not stopwords or word not in STOPWORDS]
        return " OR ".join(f'"{word}"' for word in kept)

    def close(self) -> None:
        """Close all connections, and remove a file that was created here and is empty."""
        empty = False
        if self._made_file:
            with suppress(ProviderError), self.connection() as connection:
                empty = not connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
        for connection in self._open:
            connection.close()
        self._open.clear()
        self._own = threading.local()
        if empty and self._path is not None:  # other processes may have added tables
            self._path.unlink(missing_ok=True)
        self._made_file = False


# Ids are stored as bytes, which SQLite compares as rankings do.
_BY_TEXT: Final = """
    SELECT place, -bm25({name}_words) AS score
    FROM {name}_words JOIN {name} ON place = {name}_words.rowid
    WHERE {name}_words MATCH ? {inside} ORDER BY score DESC, id DESC LIMIT ?"""
_BY_VECTOR: Final = """
    SELECT place, 1 - vec_distance_cosine(embedding, ?) AS score
    FROM {name} WHERE embedding IS NOT NULL {inside} ORDER BY score DESC, id DESC LIMIT ?"""
_INSIDE: Final = """
    AND place IN (SELECT place FROM {name}_scope
                  WHERE label IN (SELECT value FROM json_each(?)))"""


@dataclass
class Sqlite(FusingProvider):
    """Full text (FTS5), vectors (sqlite-vec) or both in SQLite, in temporary tables.

    Attributes:
        path: Database file, created if missing and then removed at the end; in memory by default.
        stemming: Whether to stem English words, so that "tokens" matches "token".
        stopwords: Whether to drop common English words.
    """

    path: str = ""
    stemming: bool = True
    stopwords: bool = True
    extra: ClassVar[str] = "sqlite"
    modules: ClassVar[Sequence[str]] = ("apsw", "sqlite_vec", "wordllama")
    in_process: ClassVar[bool] = True
    existing_parts: ClassVar[Collection[str]] = ("words", "query", "score", "distance")
    temporary_options: ClassVar[Collection[str]] = ("stemming",)
    _name: str = field(default="", init=False, repr=False)
    _database: SqliteDatabase = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._database = SqliteDatabase(self.path, with_vectors=self.mode != "text")
        super().__post_init__()

    def _build_reader(self, existing: ExistingIndex) -> IndexReader:
        from berryeval.providers.readers.sqlite_table import SqliteTable

        return SqliteTable(existing, self.path, self.mode, stopwords=self.stopwords)

    def required(self) -> dict[str, str]:
        """Return the modules of the engine and the embedder; full text alone needs fewer."""
        needed = super().required()
        return needed if self.with_vectors else {"apsw": self.extra}

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Create and fill the tables in one transaction."""
        if self.existing:
            self.open_existing(chunks)
            return
        self._drop()
        texts = SearchableTexts(chunks)
        blobs = repeat(None) if self.mode == "text" else map(as_blob, self.embed(texts))
        labels = self.label(chunks) or ()
        name = f"berryeval_{secrets.token_hex(6)}"
        with self._database.connection() as connection, connection:
            tokenizer = "porter unicode61" if self.stemming else "unicode61"
            connection.execute(
                f"CREATE TABLE {name} (place INTEGER PRIMARY KEY, id BLOB, embedding BLOB);"
                f"CREATE TABLE {name}_scope "
                "(label TEXT, place INTEGER, PRIMARY KEY (label, place)) WITHOUT ROWID;"
                f"CREATE VIRTUAL TABLE {name}_words "
                f"USING fts5(body, content='', tokenize='{tokenizer}')"
            )
            connection.executemany(
                f"INSERT INTO {name} VALUES (?, ?, ?)",  # noqa: S608 - our own name
                zip(count(), (encode_id(chunk.id) for chunk in chunks), blobs, strict=False),
            )
            connection.executemany(
                f"INSERT OR IGNORE INTO {name}_scope VALUES (?, ?)",  # noqa: S608 - our own name
                ((clean_text(one), place) for place, row in enumerate(labels) for one in row),
            )
            if self.mode != "vector":
                connection.executemany(
                    f"INSERT INTO {name}_words (rowid, body) VALUES (?, ?)",  # noqa: S608 - our own name
                    enumerate(map(clean_text, texts)),
                )
        self._chunks, self._name = chunks, name

    def search(self, query: Query, k: int) -> list[Hit]:
        """Search full text, vectors, or both."""
        if self.existing:
            return self.search_existing(query, k)
        return self.search_by_mode(query, k) if self._name else []

    def _search_text(self, query: Query, k: int) -> list[Hit]:
        words = self._database.match_any(query.text, stopwords=self.stopwords)
        return self._hits(_BY_TEXT, words, query, k)

    def _search_vectors(self, query: Query, k: int) -> list[Hit]:
        return self._hits(_BY_VECTOR, as_blob(self.embed_query(query.text)), query, k)

    def _hits(self, statement: str, asked: str | bytes | None, query: Query, k: int) -> list[Hit]:
        filters = [json.dumps([clean_text(one) for one in few]) for few in self.filters(query)]
        if not asked:  # the query has no content
            return []
        inside = _INSIDE.format(name=self._name) * len(filters)
        statement = statement.format(name=self._name, inside=inside)
        with self._database.connection() as connection:
            rows = connection.execute(statement, (asked, *filters, k)).fetchall()
        return list_hits(self._chunks, rows)

    def _drop(self) -> None:
        if self._name:
            name, self._name = self._name, ""
            with self._database.connection() as connection:
                connection.execute(
                    f"DROP TABLE {name}_words; DROP TABLE {name}_scope; DROP TABLE {name}"
                )

    def close(self) -> None:
        """Drop the tables, close all connections, and remove a file that was created here."""
        super().close()
        self._database.close()


def as_blob(vector: Any) -> bytes | None:
    """Return a vector as sqlite-vec reads it; None for a text without content."""
    return vector.tobytes() if vector.any() else None
