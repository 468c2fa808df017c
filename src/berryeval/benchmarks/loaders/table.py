"""CSV and TSV: a row per judgment, with columns for the query, the document and the grade.

The columns are known by their names, the same as those of frames ("query_id", "doc_id", "grade" and
many others), or by the options `query`, `document` and `grade`. The text of a query is in a column
`query_text` or `question`, or in the one that `text` names; without one the id is the text. Other
columns, as `category` and `difficulty`, are the query's, for groups and filters, where all rows of
a query agree; one in which they differ is kept with the judgments.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.build import Ratings
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.benchmarks.loading import TABLES
from berryeval.data import choose_columns, read_rows
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval._internal.files import PathLike
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source
    from berryeval.data import Judgment, Query


# Which columns of a table of judgments are about the query, and which about the judgment.

_FIELDS: Final = ("category", "difficulty", "description")


class QueryColumns:
    """A column is the queries' where all rows of a query agree; else it is one of judgments."""

    def __init__(self) -> None:
        self._cells: dict[str, dict[str, str]] = {}
        self._differ: set[str] = set()

    def add(self, query: str, cells: Mapping[str, str]) -> None:
        """Look at the further cells of a row; an empty one says nothing."""
        known = self._cells.setdefault(query, {})
        for name, cell in cells.items():
            if cell and known.setdefault(name, cell) != cell:
                self._differ.add(name)

    def query(self, query: Query) -> Query:
        """The query with its columns."""
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

    def judgment(self, judgment: Judgment) -> Judgment:
        """The judgment with the columns that are not of its query."""
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
    """Read the file.

    Args:
        source: the file.
        query: the column with the id of the query.
        document: the column with the id of the document.
        grade: the column with the grade.
        text: the column with the text of the query.
        corpus: a file or folder with the documents.
    """
    given = {"query": query, "document": document, "grade": grade}
    named = {role: name for role, name in given.items() if name is not None}
    columns = choose_columns(source.columns, "qrels", named, source.name)
    words = text or next((name for name in _TEXT if name in source.columns), columns[0])
    if words not in source.columns:
        there = ", ".join(map(repr, source.columns))
        msg = f"{source.name}: no column {words!r} with the text of the query; found {there}"
        raise DataError(msg)
    ratings = Ratings(source)
    read_corpus(ratings, corpus)
    about = QueryColumns()
    for row in read_rows(source.path):
        identity = row.id(columns[0])
        ratings.ask(identity, row.cells[words], source.name, row.line)
        rest = {name: cell for name, cell in row.cells.items() if name not in {*columns, words}}
        about.add(identity, rest)
        found = identity, row.id(columns[1]), row.number(columns[2])
        ratings.rate(*found, source.name, row.line, rest)
    ratings.queries = [about.query(one) for one in ratings.queries]
    ratings.judgments = [about.judgment(one) for one in ratings.judgments]
    return ratings.benchmark()


def _recognises(source: Source) -> bool:
    if source.suffix not in TABLES:
        return False
    try:
        choose_columns(source.columns, "qrels", {})
    except DataError:
        return False
    return True


LOADER = Loader(
    summary="CSV or TSV, a judgment per row",
    signs="a .csv or .tsv file with columns for query, document and grade",
    recognises=_recognises,
    load=load,
)
