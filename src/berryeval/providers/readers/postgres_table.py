"""Search a table or view of PostgreSQL that exists, without writing.

Every transaction is READ ONLY, and needs no more than the right to SELECT. That of the user's own
query or condition says so itself, because these could change the default of their session.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.providers.base import clean_text
from berryeval.providers.existing import (
    COUNTED,
    ExistingIndex,
    IndexFacts,
    IndexReader,
    suggest_some,
)
from berryeval.providers.postgres import (
    ANY_WORD,
    find_pgvector,
    format_vector,
    limit_words,
    widen_search,
)
from berryeval.providers.postgres_server import PostgresServer
from berryeval.providers.readers.sql_template import SqlTemplate, escape_percent, require_condition

if TYPE_CHECKING:
    from berryeval.data import Hit, Query
    from berryeval.providers.existing import Vector


_TABLES: Final = """
    SELECT nspname, relname, pg_table_is_visible(pg_class.oid), pg_class.oid::bigint FROM pg_class
    JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND nspname !~ '^(pg_|information_schema$)'"""
_COLUMNS: Final = """
    SELECT attname, typname, typcategory, atttypmod, format_type(atttypid, atttypmod)
    FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
    WHERE attrelid = %s AND attnum > 0 AND NOT attisdropped ORDER BY attnum"""
_TEXTS: Final = "S"  # the category of types that are strings
_VECTORS: Final = ("vector", "halfvec")
# Operators of pgvector, and the score that is higher for nearer vectors.
_DISTANCES: Final = {"cosine": ("<=>", "1 - ({})"), "l2": ("<->", "-({})"), "dot": ("<#>", "-({})")}
# A vector of zeros has no cosine: its score is NaN, which PostgreSQL sorts first.
_BEST: Final = """
    SELECT * FROM (
        SELECT {columns}, {id} AS berryeval_id, ({score})::float8 AS berryeval_score
        FROM {source} WHERE {condition} {nearest}
    ) AS berryeval_found WHERE berryeval_score <> 'NaN'::float8
    ORDER BY berryeval_score DESC, berryeval_id COLLATE "C" DESC LIMIT %(limit)s"""


@dataclass(frozen=True)
class _Column:
    type: str
    category: str
    modifier: int
    shown: str


class PostgresTable(IndexReader):
    """A table or view of PostgreSQL, its full text and its vectors."""

    def __init__(
        self,
        existing: ExistingIndex,
        dsn: str,
        *,
        language: str,
        normalisation: int,
        approximate: bool,
    ) -> None:
        super().__init__(existing)
        if not dsn:
            raise ConfigurationError(
                "existing of postgres needs a dsn: the address of the server that has the table"
            )
        self._template: SqlTemplate | None = None
        if existing.query is not None:
            self._template = SqlTemplate.parse(existing.query, "query in existing of postgres")
        if existing.where is not None:
            require_condition(existing.where, "where in existing of postgres", has_operator=True)
        self._server = PostgresServer(dsn, read_only=True)
        self._language, self._normalisation = language, normalisation
        self._approximate = approximate
        self._thread = threading.local()
        self._table = self._words = self._kind = self._schema = ""  # quoted
        self._iterative = False

    @property
    def asks_vectors(self) -> bool | None:
        """Whether the user's own query has the vector; None if the mode decides."""
        return None if self._template is None else "vector" in self._template.names

    def open(self, mode: str) -> IndexFacts:
        """Check the table, its columns and their types, and count the rows."""
        existing = self.existing
        number = self._find_table() if existing.name else 0
        if self._template is not None:
            return IndexFacts(self._count() if number else None)
        columns = {name: _Column(*rest) for name, *rest in self._run(_COLUMNS, [number])}
        existing.require_columns(columns)
        dimensions = 0
        if mode != "vector":
            self._words = self._find_words(mode, columns)
        if mode != "text":
            existing.require_mode(mode, vector=bool(existing.vector))
            dimensions = self._find_vector(columns)
        return IndexFacts(self._count(), dimensions)

    def _find_table(self) -> int:
        """Return the number of the table, named with its schema unless that is searched anyway."""
        there, wanted = self._run(_TABLES), self.existing.name
        known = {name: (schema, name, number) for schema, name, visible, number in there if visible}
        known |= {f"{schema}.{name}": (schema, name, number) for schema, name, _, number in there}
        if wanted not in known:
            names = {f"{schema}.{name}" for schema, name, _ in known.values()}
            raise self.existing.error(
                f"there is no table or view {wanted!r} on {self._server.where}; "
                f"{suggest_some(wanted, names)}"
            )
        schema, name, number = known[wanted]
        self._table = f"{self._quote(schema)}.{self._quote(name)}"
        return int(number)

    def _find_words(self, mode: str, columns: Mapping[str, _Column]) -> str:
        """Return the expression of full text: a column of type tsvector, or one made of the text.

        The language is a literal, so that an index on the same expression is used.
        """
        existing = self.existing
        name = existing.words or existing.columns.get("text", "")
        existing.require_mode(mode, text=bool(name))
        existing.require_column(name, columns)
        column = columns[name]
        if column.type == "tsvector":
            return self._quote(name)
        if column.category != _TEXTS or existing.words:
            wanted = "tsvector" if existing.words else "text or tsvector"
            raise existing.error(f"the column {name!r} must be {wanted}, found {column.shown}")
        literal = self._server.psycopg.sql.Literal(self._language).as_string(None)
        return f"to_tsvector({literal}::regconfig, {self._quote(name)})".replace("%", "%%")

    def _find_vector(self, columns: Mapping[str, _Column]) -> int:
        """Find pgvector and return the dimensions of the column."""
        existing = self.existing
        name = existing.vector
        existing.require_column(name, columns)
        column = columns[name]
        with self._server.connection() as connection:
            found = find_pgvector(connection)
        if column.type not in _VECTORS or found is None:
            raise existing.error(
                f"the column {name!r} must be of pgvector's type vector or halfvec, found "
                f"{column.shown}; a query can cast it"
            )
        self._schema, self._iterative = self._quote(found[0]), found[1]
        self._kind = f"{self._schema}.{column.type}"
        quoted = self._quote(name)
        rows = self._run(
            f"SELECT {self._schema}.vector_dims({quoted}) FROM {self._table} "  # noqa: S608 - quoted
            f"WHERE {quoted} IS NOT NULL LIMIT 1"
        )
        if not rows:
            raise existing.error(f"the column {name!r} holds no vector")
        return int(rows[0][0])

    def _count(self) -> int | None:
        """Return the number of rows to search; None if there are very many."""
        condition = f"({escape_percent(self.existing.where)})" if self.existing.where else "true"
        # PostgreSQL takes a single statement if values are bound, whatever the condition says.
        ((rows,),) = self._run(
            f"SELECT count(*) FROM (SELECT FROM {self._table} WHERE {condition} "  # noqa: S608 - quoted
            "LIMIT %(most)s) AS counted",
            {"most": COUNTED + 1},
        )
        return rows if rows <= COUNTED else None

    def search_text(self, query: Query, k: int) -> list[Hit]:
        """Rank by `ts_rank_cd`; any word of the query may match."""
        source = f"{self._table}, (SELECT {ANY_WORD} AS berryeval_asked) AS berryeval_question"
        return self._search(
            query, k, f"ts_rank_cd({self._words}, berryeval_asked, %(normalisation)s)", source,
            f"{self._words} @@ berryeval_asked",
            {"text": limit_words(query.text), "language": self._language,
             "normalisation": self._normalisation},
        )  # fmt: skip

    def search_vector(self, query: Query, vector: Vector, k: int) -> list[Hit]:
        """Rank every vector, or those that the index of the table examines."""
        operator, score = _DISTANCES[self.existing.distance]
        column = self._quote(self.existing.vector)
        distance = f"{column} OPERATOR({self._schema}.{operator}) %(vector)s::{self._kind}"
        # PostgreSQL uses the index only if the query orders by the distance alone.
        nearest = f"ORDER BY {distance} LIMIT %(limit)s" if self._approximate else ""
        return self._search(
            query, k, score.format(distance), self._table, f"{column} IS NOT NULL",
            {"vector": format_vector(vector)}, nearest,
        )  # fmt: skip

    def _search(
        self,
        query: Query,
        k: int,
        score: str,
        source: str,
        condition: str,
        values: dict[str, Any],
        nearest: str = "",
    ) -> list[Hit]:
        existing = self.existing
        names = existing.read_columns()
        conditions = [condition]
        if existing.where:
            conditions.append(f"({escape_percent(existing.where)})")
        for number, (column, wanted) in enumerate(existing.filters(query)):
            conditions.append(f"{self._quote(column)}::text = ANY(%(scope_{number})s::text[])")
            values[f"scope_{number}"] = list(map(clean_text, wanted))
        statement = _BEST.format(
            columns=", ".join(map(self._quote, names)),
            id=f"{self._quote(existing.columns['id'])}::text",
            score=score, source=source, condition=" AND ".join(conditions), nearest=nearest,
        )  # fmt: skip
        rows = self._run(statement, {**values, "limit": k}, depth=k if nearest else 0)
        return [existing.read_hit(dict(zip(names, row, strict=False)).get, row[-1]) for row in rows]

    def search_own(self, query: Query, vector: Vector | None, k: int) -> list[Hit]:
        """Run the user's own statement."""
        if self._template is None:
            return []
        values: dict[str, Any] = {"query": clean_text(query.text), "k": k}
        if vector is not None:
            values["vector"] = format_vector(vector)
        with self._server.connection() as connection, connection.transaction():
            cursor = connection.execute(self._template.for_psycopg(), values)
            names = [column.name for column in cursor.description]
            rows = cursor.fetchall()
        return self.existing.read_answer(names, rows)

    def _run(self, statement: str, values: Any = (), depth: int = 0) -> Sequence[Any]:
        """Run a statement of ours; its transaction is READ ONLY by default, in one round trip.

        A condition of the user could change the default, as a query of theirs could.
        """
        with self._server.connection() as connection:
            if depth and getattr(self._thread, "widened", None) != (connection, depth):
                widen_search(connection, depth, iterative=self._iterative)
                self._thread.widened = connection, depth
            with connection.transaction() if self.existing.where else nullcontext():
                return list(connection.execute(statement, values).fetchall())

    def _quote(self, name: str) -> str:
        quoted = self._server.psycopg.sql.Identifier(name).as_string(None)
        return str(quoted).replace("%", "%%")

    def close(self) -> None:
        """Close all connections."""
        self._server.close()
        self._thread = threading.local()
