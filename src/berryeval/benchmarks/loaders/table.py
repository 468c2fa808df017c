"""CSV and TSV: a row per judgment, with columns for the query, the document and the grade.

The simplest file has the columns `question` and `doc_id`; without a column of grades, each is 1. A
row with an empty question or query id continues the query above it. Cells are separated by commas,
semicolons or tabs, as in the header. Columns have the same names as those of frames. The text of a
query is in a column `query_text` or `question`, or the one named by `text`; otherwise the id is the
text, and without a column of ids the id is made of the words of the question. A further column
belongs to the query if all rows of each query agree, and to the judgments otherwise.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from berryeval.benchmarks.benchmark import Benchmark, RatingsBuilder
from berryeval.benchmarks.checks.finding import words_of
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import DOCUMENT, QUERY, QUESTION, VALUE, choose_column, find_column, read_rows
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.data import Judgment, Query


_FIELDS: Final = ("category", "difficulty", "description")
_LONGEST_ID: Final = 60


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


def load(
    source: Source,
    *,
    query: str | None = None,
    document: str | None = None,
    grade: str | None = None,
    text: str | None = None,
    corpus: PathLike | None = None,
    encoding: str = "utf-8",
) -> Benchmark:
    """Load the file.

    Args:
        source: The file.
        query: Column with the query id.
        document: Column with the document id.
        grade: Column with the grade.
        text: Column with the text of the query.
        corpus: File or folder with the documents.
        encoding: Text encoding of the file.
    """
    columns = _choose_columns(source, query=query, document=document, grade=grade, text=text)
    builder = RatingsBuilder(source)
    read_corpus(builder, corpus)
    about = QueryColumns()
    texts: dict[str, str] = {}
    names = _Names()
    identity = ""
    for row in read_rows(source.path, encoding=encoding):
        given = row.cells[columns.query]
        if given.strip():
            identity = names.of(given) if columns.unnamed else given
        if not identity:
            raise DataError(
                f"{row.where}: {columns.query}: is empty, and there is no question above it"
            )
        words = row.cells[columns.text]
        words = words if words.strip() else texts.get(identity, words)
        texts.setdefault(identity, words)
        builder.add_query_once(identity, words, source.name, row.line)
        rest = {name: cell for name, cell in row.cells.items() if name not in columns}
        about.add(identity, rest)
        number = row.number(columns.grade) if columns.grade else 1
        found = identity, row.id(columns.document), number
        builder.add_rating(*found, source.name, row.line, rest)
    builder.queries = [about.complete_query(one) for one in builder.queries]
    builder.judgments = [about.complete_judgment(one) for one in builder.judgments]
    return builder.build()


class _Names:
    """Ids of questions without one: their words, and a number for another of the same words."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def of(self, question: str) -> str:
        """Return the id of a question."""
        if question not in self._names:
            short = "-".join(words_of(question))[:_LONGEST_ID].strip("-") or "question"
            taken = set(self._names.values())
            numbered = (f"{short}-{number}" for number in itertools.count(2))
            self._names[question] = next(
                one for one in itertools.chain([short], numbered) if one not in taken
            )
        return self._names[question]


class _Columns(NamedTuple):
    query: str
    text: str
    document: str
    grade: str  # empty if all grades are 1
    unnamed: bool  # whether the queries have no ids


def _choose_columns(
    source: Source, *, query: str | None, document: str | None, grade: str | None, text: str | None
) -> _Columns:
    found = source.columns
    if text is not None and text not in found:
        there = ", ".join(map(repr, found))
        raise DataError(
            f"{source.name}: no column {text!r} with the text of the query; found {there}"
        )
    words = text or find_column(found, QUESTION)
    named = query or find_column(found, QUERY) or words
    identity = choose_column(found, "query", (*QUERY, *QUESTION), named, source.name)
    has_grades = grade is not None or find_column(found, VALUE["qrels"]) is not None
    return _Columns(
        identity,
        words or identity,
        choose_column(found, "document", DOCUMENT, document, source.name),
        choose_column(found, "grade", VALUE["qrels"], grade, source.name) if has_grades else "",
        unnamed=query is None and find_column(found, QUERY) is None,
    )


LOADER = Loader(
    summary="CSV or TSV with a judgment per row",
    signs="a .csv or .tsv file with columns for question or query, document and perhaps grade",
    recognises=lambda source: source.has_grade_columns or source.has_questions,
    load=load,
)
