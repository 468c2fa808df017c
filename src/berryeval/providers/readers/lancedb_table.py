"""Search a table of LanceDB that exists, without writing.

A table is opened and queried, which writes nothing. A missing folder is an error, because LanceDB
would create it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from berryeval.providers.base import clean_text
from berryeval.providers.existing import (
    ExistingIndex,
    IndexFacts,
    IndexReader,
    fetch_ranked,
    require_path,
)
from berryeval.providers.lancedb import convert_errors, import_lance, quote_texts
from berryeval.providers.readers.sql_template import require_condition

if TYPE_CHECKING:
    from collections.abc import Callable

    from berryeval.data import Hit, Query
    from berryeval.providers.existing import Vector


class LanceTable(IndexReader):
    """A table of LanceDB, with its full-text index and its vectors."""

    def __init__(self, existing: ExistingIndex, path: str, *, approximate: bool) -> None:
        super().__init__(existing)
        if existing.where is not None:
            require_condition(existing.where, "where in existing of lancedb")
        # An address such as s3://... is left to LanceDB.
        self._path = path if "://" in path else str(require_path("lancedb", path))
        self._approximate = approximate
        self._table: Any = None
        self._columns: list[str] = []

    def open(self, mode: str) -> IndexFacts:
        """Check the table, its columns and its full-text index."""
        existing = self.existing
        with convert_errors(self._path):
            database = import_lance("lancedb").connect(self._path)
            existing.require_known("table", existing.name, list(database.list_tables().tables))
            self._table = database.open_table(existing.name)
            schema = self._table.schema
            existing.require_columns(schema.names)
            self._columns = existing.read_columns()
            rows = self._table.count_rows(existing.where or None)
            if mode != "vector":
                self._require_words(mode)
        dimensions = 0
        if mode != "text":
            existing.require_mode(mode, vector=bool(existing.vector))
            existing.require_column(existing.vector, schema.names)
            kind = schema.field(existing.vector).type
            dimensions = getattr(kind, "list_size", 0)
            if not dimensions:
                raise existing.error(
                    f"the column {existing.vector!r} must be a list of fixed size, found {kind}"
                )
            with convert_errors(self._path):
                filled = self._table.count_rows(f"{_quote(existing.vector)} IS NOT NULL")
            if rows and not filled:
                raise existing.error(f"the column {existing.vector!r} holds no vector")
        return IndexFacts(rows, dimensions)

    def _require_words(self, mode: str) -> None:
        name = self.existing.columns.get("text", "")
        self.existing.require_mode(mode, text=bool(name))
        found = [one.columns for one in self._table.list_indices() if one.index_type == "FTS"]
        there = [[column.strip("`") for column in columns] for columns in found]
        if [name] not in there:
            others = ", ".join(column for columns in there for column in columns) or "none"
            raise self.existing.error(
                f"the column {name!r} has no full-text index; those with one: {others}; name one "
                "as text, or set mode: vector"
            )

    def search_text(self, query: Query, k: int) -> list[Hit]:
        """Rank by LanceDB's BM25; any word of the query may match."""
        column = self.existing.columns["text"]
        # A MatchQuery takes the text literally; a string would be parsed for operators.
        asked = import_lance("lancedb.query").MatchQuery(clean_text(query.text), column)
        return self._fetch(
            query, k, lambda: self._table.search(asked, query_type="fts"), "_score", float
        )

    def search_vector(self, query: Query, vector: Vector, k: int) -> list[Hit]:
        """Rank every vector, or those that the index of the table examines."""
        distance = self.existing.distance

        def start() -> Any:
            found = self._table.search(
                vector, query_type="vector", vector_column_name=self.existing.vector
            ).distance_type(distance)
            return found if self._approximate else found.bypass_vector_index()

        # The distance of dot is 1 - dot, as that of cosine is 1 - cosine.
        score: Callable[[float], float] = (
            (lambda x: -x) if distance == "l2" else (lambda x: 1.0 - x)
        )
        return self._fetch(query, k, start, "_distance", score)

    def _fetch(
        self,
        query: Query,
        k: int,
        start: Callable[[], Any],
        column: str,
        score: Callable[[float], float],
    ) -> list[Hit]:
        existing = self.existing
        conditions = [f"({existing.where})"] if existing.where else []
        for name, wanted in existing.filters(query):
            conditions.append(f"CAST({_quote(name)} AS STRING) IN ({quote_texts(wanted)})")

        def fetch(count: int) -> list[Hit]:
            found = start().limit(count)
            if conditions:
                found = found.where(" AND ".join(conditions), prefilter=True)
            rows = found.select([*self._columns, column]).to_arrow().to_pylist()
            return [existing.read_hit(row.get, score(row[column])) for row in rows]

        with convert_errors(self._path):
            return fetch_ranked(k, fetch)


def _quote(name: str) -> str:
    return f"`{name}`"
