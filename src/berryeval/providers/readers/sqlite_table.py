"""Search a table of SQLite that exists, without writing.

The file is opened with `mode=ro`, and the connections with `query_only`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ProviderError
from berryeval.providers.base import clean_text
from berryeval.providers.existing import (
    COUNTED,
    ExistingIndex,
    IndexFacts,
    IndexReader,
    require_path,
    suggest_some,
)
from berryeval.providers.readers.sql_template import SqlTemplate, require_condition
from berryeval.providers.sqlite import SqliteDatabase, as_blob

if TYPE_CHECKING:
    from berryeval.data import Hit, Query
    from berryeval.providers.existing import Vector


_SCORE: Final = "berryeval_score"
_FULL_TEXT: Final = re.compile(r"\busing\s+fts5\b", re.IGNORECASE)
_DISTANCES: Final = {"cosine": "1 - vec_distance_cosine", "l2": "-vec_distance_l2"}
# Ids are compared as bytes, whatever the collation of their column. A vector of zeros has no
# cosine, and its score is NULL.
_BEST: Final = """
    SELECT * FROM (SELECT {columns}, {score} AS berryeval_score FROM {source} WHERE {condition})
    WHERE berryeval_score IS NOT NULL
    ORDER BY berryeval_score DESC, CAST(berryeval_id AS TEXT) DESC LIMIT :k"""


class SqliteTable(IndexReader):
    """A table of SQLite, its FTS5 table and its vectors."""

    def __init__(self, existing: ExistingIndex, path: str, mode: str, *, stopwords: bool) -> None:
        super().__init__(existing)
        self._stopwords = stopwords
        self._template: SqlTemplate | None = None
        if existing.query is not None:
            self._template = SqlTemplate.parse(existing.query, "query in existing of sqlite")
        if existing.where is not None:
            require_condition(existing.where, "where in existing of sqlite")
        if existing.distance not in _DISTANCES:
            raise existing.error(f"sqlite-vec has the distances {', '.join(_DISTANCES)}")
        self._path = str(require_path("sqlite", path, folder=False))
        vectors = mode != "text" if self._template is None else "vector" in self._template.names
        self._database = SqliteDatabase(self._path, with_vectors=vectors, read_only=True)
        self._words = ""  # the FTS5 table
        self._vector = ("", "")  # table and column of the vectors

    @property
    def asks_vectors(self) -> bool | None:
        """Whether the user's own query has the vector; None if the mode decides."""
        return None if self._template is None else "vector" in self._template.names

    def open(self, mode: str) -> IndexFacts:
        """Check the tables and their columns, count the rows, and measure a vector."""
        existing = self.existing
        tables = self._list_tables()
        if existing.name:
            existing.require_known("table", existing.name, tables)
        if self._template is not None:
            return IndexFacts(self._count() if existing.name else None)
        existing.require_columns(self._list_columns(existing.name))
        if mode != "vector":
            self._words = self._find_words(tables)
        if mode == "text":
            return IndexFacts(self._count())
        existing.require_mode(mode, vector=bool(existing.vector))
        table, _, column = existing.vector.rpartition(".")
        self._vector = table or existing.name, column
        if table:
            existing.require_known("table", table, tables)
        known = self._list_columns(self._vector[0])
        if column not in known:
            raise existing.error(
                f"the table {self._vector[0]!r} has no column {column!r} for vectors; "
                f"{suggest_some(column, known, listed='it has')}"
            )
        return IndexFacts(self._count(), self._measure())

    def _list_tables(self) -> dict[str, str]:
        """Return the statement that made each table and view."""
        asked = "SELECT name, sql FROM sqlite_schema WHERE type IN ('table', 'view')"
        return {name: sql or "" for name, sql in self._run(asked)}

    def _list_columns(self, table: str) -> list[str]:
        found = self._run("SELECT name FROM pragma_table_xinfo(:table)", {"table": table})
        return ["rowid", *(name for (name,) in found)]

    def _find_words(self, tables: Mapping[str, str]) -> str:
        existing = self.existing
        full_text = [name for name, sql in tables.items() if _FULL_TEXT.search(sql)]
        if existing.words:
            existing.require_known("FTS5 table", existing.words, full_text)
            return existing.words
        if existing.name in full_text:
            return existing.name
        others = f" (there are {', '.join(full_text)})" if full_text else ""
        raise existing.error(
            f"the table {existing.name!r} is no FTS5 table; name the one with its words as "
            f"words{others}, or set mode: vector"
        )

    def _count(self) -> int | None:
        """Return the number of rows to search; None if there are very many."""
        condition = f"({self.existing.where})" if self.existing.where else "true"
        asked = (
            f"SELECT count(*) FROM (SELECT 1 FROM {_quote(self.existing.name)} "  # noqa: S608 - quoted
            f"WHERE {condition} LIMIT {COUNTED + 1})"
        )
        ((rows,),) = self._run(asked)
        return rows if rows <= COUNTED else None

    def _measure(self) -> int:
        table, column = map(_quote, self._vector)
        asked = f"SELECT {column} FROM {table} WHERE {column} IS NOT NULL LIMIT 1"  # noqa: S608 - quoted
        found = self._run(asked)
        if not found:
            raise self.existing.error(f"the column {self._vector[1]!r} holds no vector")
        try:
            ((length,),) = self._run("SELECT vec_length(:vector)", {"vector": found[0][0]})
        except ProviderError as error:
            raise self.existing.error(
                f"the column {self._vector[1]!r} holds no vectors that sqlite-vec reads "
                f"(float32 bytes or JSON): {error}"
            ) from None
        return int(length)

    def search_text(self, query: Query, k: int) -> list[Hit]:
        """Rank by the `bm25()` of FTS5; any word of the query may match."""
        asked = self._database.match_any(query.text, stopwords=self._stopwords)
        if not asked:
            return []
        words = _quote(self._words)
        return self._search(
            f"-bm25({words})", self._words, f"{words} MATCH :query", query, {"query": asked, "k": k}
        )

    def search_vector(self, query: Query, vector: Vector, k: int) -> list[Hit]:
        """Rank every vector."""
        table, column = map(_quote, self._vector)
        score = f"{_DISTANCES[self.existing.distance]}({table}.{column}, :vector)"
        present = f"{table}.{column} IS NOT NULL"
        values = {"vector": as_blob(vector), "k": k}
        return self._search(score, self._vector[0], present, query, values)

    def _search(
        self, score: str, beside: str, condition: str, query: Query, values: dict[str, Any]
    ) -> list[Hit]:
        """Search the table, joined by rowid with the one `beside` it that has words or vectors."""
        existing = self.existing
        table, other = _quote(existing.name), _quote(beside)
        source = table if other == table else f"{other} JOIN {table} ON {table}.rowid={other}.rowid"
        names = existing.read_columns()
        columns = [f"{table}.{_quote(name)}" for name in names]
        columns.append(f"{table}.{_quote(existing.columns['id'])} AS berryeval_id")
        conditions = [condition]
        if existing.where and other == table:
            conditions.append(f"({existing.where})")
        elif existing.where:  # its columns are those of the table, whatever is joined
            inner = f"SELECT rowid FROM {table} WHERE ({existing.where})"  # noqa: S608 - the user's own
            conditions.append(f"{table}.rowid IN ({inner})")
        for number, (column, wanted) in enumerate(existing.filters(query)):
            marks = [f":scope_{number}_{place}" for place in range(len(wanted))]
            conditions.append(f"CAST({table}.{_quote(column)} AS TEXT) IN ({', '.join(marks)})")
            values |= {mark[1:]: clean_text(one) for mark, one in zip(marks, wanted, strict=True)}
        statement = _BEST.format(
            columns=", ".join(columns), score=score, source=source,
            condition=" AND ".join(conditions),
        )  # fmt: skip
        rows = self._run(statement, values)
        return [existing.read_hit(dict(zip(names, row, strict=False)).get, row[-1]) for row in rows]

    def search_own(self, query: Query, vector: Vector | None, k: int) -> list[Hit]:
        """Run the user's own statement."""
        if self._template is None:
            return []
        values = {"query": clean_text(query.text), "k": k}
        if vector is not None:
            values["vector"] = as_blob(vector)
        used = {name: values[name] for name in self._template.names}
        names: list[str] = []

        def see(cursor: Any, *_: Any) -> bool:
            """Keep the names of the columns, which a cursor without rows does not have later."""
            names[:] = [name for name, _ in cursor.get_description()]
            return True

        with self._database.connection() as connection:
            cursor = connection.cursor()
            cursor.exec_trace = see
            try:
                rows = cursor.execute(self._template.text, used).fetchall()
            except KeyError as error:  # of a parameter, such as $name
                raise self.existing.error(
                    f"the statement has the parameter {error}, which has no value; there are "
                    ":query, :vector and :k"
                ) from None
        return self.existing.read_answer(names, rows)

    def _run(self, statement: str, values: Mapping[str, Any] | None = None) -> Sequence[Any]:
        with self._database.connection() as connection:
            return list(connection.execute(statement, dict(values or {})).fetchall())

    def close(self) -> None:
        """Close all connections."""
        self._database.close()


def _quote(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
