"""`sqlite`: full text (FTS5), vectors (sqlite-vec), or both fused, in a file or in memory.

Full text is ranked by `bm25()` of FTS5, whose k1 is 1.2 and b is 0.75; any word of the query may
match. Vectors are searched exactly. SQLite comes from the package `apsw`: the one in Python differs
from machine to machine, and many cannot load sqlite-vec.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval.errors import ProviderError
from berryeval.providers.base import check_choice, check_counts, hit_of, searched_text, writable
from berryeval.providers.bm25 import STOPWORDS
from berryeval.providers.embedding import TextAndVectorProvider
from berryeval.providers.sqlite_database import SqliteDatabase

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.records import Chunk, Hit, Query

__all__ = ["Sqlite"]

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
