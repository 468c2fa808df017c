"""CSV and TSV: a row per judgment, with columns for the query, the document and the grade.

Columns have the same names as those of frames. The text of a query is in a column `query_text` or
`question`, or the one named by `text`; otherwise the id is the text. A further column belongs to
the query if all rows of each query agree, and to the judgments otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.benchmark import Benchmark, RatingsBuilder
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import choose_columns, read_rows
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.data import Judgment, Query


_FIELDS: Final = ("category", "difficulty", "description")


class QueryColumns:
    """Assigns further columns to queries, if the rows of each query agree, or to judgments."""

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, str]] = {}
        self._differ: set[str] = set()

    def add(self, query: str, cells: Mapping[str, str]) -> None:
        """Record the further cells of a row; empty cells agree with any value."""
        known = self._cells.setdefault(query, {})
        for name, cell in cells.items():
            if cell and known.setdefault(name, cell) != cell:
                self._differ.add(name)

    def complete_query(self, query: Query) -> Query:
        """Return the query with its columns."""
        fields: dict[str, Any] = {}
        metadata: dict[str, str] = {}
        for name, cell in self._cells.get(query.id, {}).items():
            if name in self._differ:
                continue
            if name.lower() in _FIELDS:
                fields[name.lower()] = cell
            else:
                metadata[name] = cell
        return replace(query, **fields, metadata=metadata)

    def complete_judgment(self, judgment: Judgment) -> Judgment:
        """Return the judgment with the columns that belong to judgments."""
        extra = {name: cell for name, cell in judgment.extra.items() if name in self._differ}
        return replace(judgment, extra=extra)


_TEXT: Final = ("query_text", "question")


def load(
    source: Source,
    *,
    query: str | None = None,
    document: str | None = None,
    grade: str | None = None,
    text: str | None = None,
    corpus: PathLike | None = None,
) -> Benchmark:
    """Load the file.

    Args:
        source: The file.
        query: Column with the query id.
        document: Column with the document id.
        grade: Column with the grade.
        text: Column with the text of the query.
        corpus: File or folder with the documents.
    """
    given = {"query": query, "document": document, "grade": grade}
    named = {role: name for role, name in given.items() if name is not None}
    columns = choose_columns(source.columns, "qrels", named, source.name)
    words = text or next((name for name in _TEXT if name in source.columns), columns[0])
    if words not in source.columns:
        there = ", ".join(map(repr, source.columns))
        raise DataError(
            f"{source.name}: no column {words!r} with the text of the query; found {there}"
        )
    builder = RatingsBuilder(source)
    read_corpus(builder, corpus)
    about = QueryColumns()
    for row in read_rows(source.path):
        identity = row.id(columns[0])
        builder.add_query_once(identity, row.cells[words], source.name, row.line)
        rest = {name: cell for name, cell in row.cells.items() if name not in {*columns, words}}
        about.add(identity, rest)
        found = identity, row.id(columns[1]), row.number(columns[2])
        builder.add_rating(*found, source.name, row.line, rest)
    builder.queries = [about.complete_query(one) for one in builder.queries]
    builder.judgments = [about.complete_judgment(one) for one in builder.judgments]
    return builder.build()


LOADER = Loader(
    summary="CSV or TSV with a judgment per row",
    signs="a .csv or .tsv file with columns for query, document and grade",
    recognises=lambda source: source.has_grade_columns,
    load=load,
)
