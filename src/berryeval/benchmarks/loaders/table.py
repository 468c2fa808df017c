"""CSV and TSV: a row per judgment, with columns for the query, the document and the grade.

The columns are known by their names, the same as those of frames ("query_id", "doc_id", "grade" and
many others), or by the options `query`, `document` and `grade`. The text of a query is in a column
`query_text` or `question`, or in the one that `text` names; without one the id is the text. Other
columns, as `category` and `difficulty`, are the query's, for groups and filters, where all rows of
a query agree; one in which they differ is kept with the judgments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.corpora import read_corpus
from berryeval.benchmarks.loaders import Loader
from berryeval.benchmarks.query_columns import QueryColumns
from berryeval.benchmarks.ratings import Ratings
from berryeval.benchmarks.source import TABLES
from berryeval.errors import DataError
from berryeval.io.csv_rows import read_rows
from berryeval.io.names import choose_columns

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.source import Source
    from berryeval.io.files import PathLike

__all__ = ["LOADER", "load"]

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
