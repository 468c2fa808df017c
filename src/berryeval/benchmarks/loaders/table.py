"""CSV and TSV: a row per judgment, with columns for the query, the document and the grade.

The columns are known by their names, the same as those of frames ("query_id", "doc_id", "grade" and
many others), or by the options `query`, `document` and `grade`. The text of a query is in a column
`query_text` or `question`, or in the one that `text` names; without one the id is the text. Other
columns are kept with the judgment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.corpora import read_corpus
from berryeval.benchmarks.gather import Gather
from berryeval.benchmarks.loaders import Loader
from berryeval.benchmarks.source import TABLES
from berryeval.errors import DataError, RepeatedDocumentError
from berryeval.io.csv_rows import Row, read_rows
from berryeval.io.names import choose_columns
from berryeval.records import Anchor, Judgment, Query

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
    gather = Gather(source)
    read_corpus(gather, corpus)
    _add_rows(gather, source, columns, words)
    return gather.benchmark()


def _add_rows(gather: Gather, source: Source, columns: tuple[str, str, str], words: str) -> None:
    query, document, grade = columns
    texts: dict[str, str] = {}
    seen: dict[tuple[str, str], str] = {}
    for row in read_rows(source.path):
        pair = row.id(query), row.id(document)
        before = seen.setdefault(pair, row.where)
        if before != row.where:
            msg = (
                f"{row.where}: document {pair[1]!r} stands twice in query {pair[0]!r}; first in "
                f"{before}"
            )
            raise RepeatedDocumentError(msg)
        _add_query(gather, row, source.name, pair[0], row.cells[words], texts)
        rest = {name: cell for name, cell in row.cells.items() if name not in {*columns, words}}
        judgment = Judgment(pair[0], Anchor(document=pair[1]), row.number(grade), extra=rest)
        gather.judgment(judgment, source.name, row.line)


def _add_query(
    gather: Gather, row: Row, file: str, identity: str, text: str, texts: dict[str, str]
) -> None:
    if identity not in texts:
        texts[identity] = text
        gather.query(Query(identity, text), file, row.line)
    elif texts[identity] != text:
        msg = f"{row.where}: query {identity!r} has another text than before: {text!r:.80}"
        raise DataError(msg)


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
