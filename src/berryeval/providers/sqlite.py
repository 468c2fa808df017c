"""`sqlite`: full text (FTS5), vectors (sqlite-vec), or both fused, in a file or in memory.

Full text is ranked by `bm25()` of FTS5, whose k1 is 1.2 and b is 0.75; any word of the query may
match. Vectors are searched exactly. SQLite comes from the package `apsw`: the one in Python differs
from machine to machine, and many cannot load sqlite-vec.
"""

from __future__ import annotations

import ctypes
import secrets
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval._internal.optional import imported
from berryeval.errors import ProviderError
from berryeval.providers.base import check_choice, check_counts, hit_of, searched_text, writable
from berryeval.providers.bm25 import STOPWORDS
from berryeval.providers.embedders.base import TextAndVectorProvider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from berryeval.data import Chunk, Hit, Query


# A database of SQLite, in a file or in memory, with a connection for each thread.

_LARGEST: Final = 2**46  # bytes; a database in memory is refused more than 2**30 unless told
_PATIENCE: Final = 10_000  # milliseconds, for who else writes to the file


class SqliteDatabase:
    """All connections to one database.

    A file that is missing is made, and removed by `close` if there are no tables left in it.

    Args:
        path: the file; "" for a database in memory that nobody else sees.
        with_vectors: whether to load sqlite-vec.
    """

    def __init__(self, path: str, *, with_vectors: bool) -> None:
        self._path = Path(path).expanduser() if path else None
        self._with_vectors = with_vectors
        self._made_file = False
        self._open: list[Any] = []
        self._own = threading.local()

    @cached_property
    def package(self) -> Any:
        """The package `apsw`."""
        return imported("apsw", "the provider sqlite", extra="sqlite")

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """The connection of this thread; the errors of SQLite as ours."""
        apsw = self.package
        try:
            if getattr(self._own, "connection", None) is None:
                self._own.connection = self._connect()
            yield self._own.connection
        except apsw.Error as error:
            passing = isinstance(error, apsw.BusyError | apsw.LockedError)
            msg = f"SQLite at {self._path or 'memory'}: {error}"
            raise ProviderError(msg, passing=passing) from None

    def _connect(self) -> Any:
        connection = self._opened()
        self._open.append(connection)
        connection.set_busy_timeout(_PATIENCE)
        if self._with_vectors:
            extension = imported("sqlite_vec", "the provider sqlite", extra="sqlite")
            connection.enable_load_extension(True)
            connection.load_extension(extension.loadable_path())
            connection.enable_load_extension(False)
        return connection

    def _opened(self) -> Any:
        apsw = self.package
        flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        if self._path is not None:
            self._made_file = self._made_file or not self._path.exists()
            return apsw.Connection(str(self._path), flags=flags)
        connection = apsw.Connection(self._memory, flags=flags | apsw.SQLITE_OPEN_URI)
        limit = ctypes.c_int64(_LARGEST)
        connection.file_control("main", apsw.SQLITE_FCNTL_SIZE_LIMIT, ctypes.addressof(limit))
        return connection

    @cached_property
    def _memory(self) -> str:
        """The address of a database that the connections of one process share."""
        return f"file:/berryeval-{secrets.token_hex(8)}?vfs=memdb"

    def close(self) -> None:
        """Close every connection, and remove a file that was made here and is empty."""
        empty = False
        if self._made_file:
            with suppress(ProviderError), self.connection() as connection:
                empty = not connection.execute("SELECT 1 FROM sqlite_schema").fetchall()
        for connection in self._open:
            connection.close()
        self._open.clear()
        self._own = threading.local()
        if empty and self._path is not None:  # others may have put their tables into it
            self._path.unlink(missing_ok=True)
        self._made_file = False


Mode: TypeAlias = Literal["text", "vector", "hybrid"]

# The id is kept as bytes: SQLite compares them as THE order of rankings does.
_BY_TEXT: Final = """
    SELECT place, -bm25({name}_words) AS score
    FROM {name}_words JOIN {name} ON place = {name}_words.rowid
    WHERE {name}_words MATCH ? ORDER BY score DESC, id DESC LIMIT ?"""
_BY_VECTOR: Final = """
    SELECT place, 1 - vec_distance_cosine(embedding, ?) AS score
    FROM {name} WHERE embedding IS NOT NULL ORDER BY score DESC, id DESC LIMIT ?"""


@dataclass
class Sqlite(TextAndVectorProvider):
    """Full text (FTS5), vectors (sqlite-vec) or both in SQLite, in tables dropped at the end.

    Attributes:
        path: the database file; made if it is missing, and then removed at the end. Without, the
            database is in memory.
        mode: "text" ranks by `bm25()`, "vector" by the cosine of embeddings, "hybrid" by both,
            fused by reciprocal rank.
        stemming: whether English endings are cut off, so that "tokens" finds "token".
        stopwords: whether to leave out the words that English has everywhere.
        embedder: who makes vectors of texts.
        embedder_options: what the embedder is made with.
        k: how fast a rank loses worth in the fusion.
        depth: how many hits of each kind are fused, at least as many as are asked for.
    """

    path: str = ""
    mode: Mode = "hybrid"
    stemming: bool = True
    stopwords: bool = True
    embedder: str = "wordllama"
    embedder_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    k: int = 60
    depth: int = 100
    extra: ClassVar[str] = "sqlite"
    modules: ClassVar[Sequence[str]] = ("apsw", "sqlite_vec", "wordllama")
    in_process: ClassVar[bool] = True
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _name: str = field(default="", init=False, repr=False)
    _database: SqliteDatabase = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        check_choice("sqlite", "mode", self.mode, get_args(Mode))
        check_counts("sqlite", k=self.k, depth=self.depth)
        self._database = SqliteDatabase(self.path, with_vectors=self.mode != "text")

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Make the tables and fill them, all or nothing."""
        self._drop()
        texts = [searched_text(chunk) for chunk in chunks]
        with_vectors = self.mode != "text"
        blobs = list(map(_blob, self.embed(texts))) if with_vectors else [None] * len(texts)
        name = f"berryeval_{secrets.token_hex(6)}"
        with self._database.connection() as connection, connection:
            tokenizer = "porter unicode61" if self.stemming else "unicode61"
            connection.execute(
                f"CREATE TABLE {name} (place INTEGER PRIMARY KEY, id BLOB, embedding BLOB);"
                f"CREATE VIRTUAL TABLE {name}_words "
                f"USING fts5(body, content='', tokenize='{tokenizer}')"
            )
            connection.executemany(
                f"INSERT INTO {name} VALUES (?, ?, ?)",  # noqa: S608 - the name is ours
                (
                    (place, chunk.id.encode(errors="surrogatepass"), blobs[place])
                    for place, chunk in enumerate(chunks)
                ),
            )
            if self.mode != "vector":
                connection.executemany(
                    f"INSERT INTO {name}_words (rowid, body) VALUES (?, ?)",  # noqa: S608 - our own name
                    ((place, writable(text)) for place, text in enumerate(texts)),
                )
        self._chunks, self._name = chunks, name

    def search(self, query: Query, k: int) -> list[Hit]:
        """By words, by meaning, or by both."""
        return self.by_mode(query, k) if self._name else []

    def _by_text(self, query: Query, k: int) -> list[Hit]:
        with self._database.connection() as connection:
            words = connection.fts5_tokenizer("unicode61")(
                writable(query.text).encode(), self._database.package.FTS5_TOKENIZE_QUERY, None,
                include_offsets=False, include_colocated=False,
            )  # fmt: skip
        if self.stopwords:
            words = [word for word in words if word not in STOPWORDS]
        # Each in quotes, or FTS5 would take some words for operators.
        return self._hits(_BY_TEXT, " OR ".join(f'"{word}"' for word in words), k)

    def _by_vector(self, query: Query, k: int) -> list[Hit]:
        return self._hits(_BY_VECTOR, _blob(self.embed_query(query.text)), k)

    def _hits(self, statement: str, asked: str | bytes | None, k: int) -> list[Hit]:
        if not asked:  # no words, or no direction
            return []
        with self._database.connection() as connection:
            rows = connection.execute(statement.format(name=self._name), (asked, k)).fetchall()
        return [
            hit_of(self._chunks[place], score, rank)
            for rank, (place, score) in enumerate(rows, start=1)
        ]

    def _drop(self) -> None:
        if self._name:
            name, self._name = self._name, ""
            with self._database.connection() as connection:
                connection.execute(f"DROP TABLE {name}_words; DROP TABLE {name}")

    def close(self) -> None:
        """Drop the tables, close every connection, and remove a file that was made here."""
        super().close()
        with suppress(ProviderError):  # a file that is gone needs no tidying
            self._drop()
        self._database.close()


def _blob(vector: Any) -> bytes | None:
    """As sqlite-vec reads it; nothing for a text that says nothing."""
    return vector.tobytes() if vector.any() else None
