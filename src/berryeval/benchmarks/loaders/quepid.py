"""Quepid: exports of ratings as CSV or JSON, of cases, and of books.

- CSV `query,docid,rating`; a row with only a query is a query without ratings.
- CSV of a book: `query,docid` and a column per judge; the grade is the mean of the ratings.
- JSON with `queries`, each with `query` (or `query_text`) and `ratings`, an object of ratings by
  document or an array of `{"doc_id", "rating"}`; a case also has a name, and its queries notes and
  an information need.
- JSON of a book: `query_doc_pairs`, with the judgements of each and the fields of the document.

The text of a query is also its id. Missing ratings (unrateable, judge later, empty) are skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.json import Node, parse_json
from berryeval.benchmarks.benchmark import Benchmark, RatingsBuilder
from berryeval.benchmarks.build import mean, read_items, read_optional_text
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loading import TABLES, Loader, Source
from berryeval.data import Document, read_rows
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike


_START: Final = ["query", "docid"]
_TEXT: Final = ("query_text", "query")


def load(source: Source, *, corpus: PathLike | None = None, encoding: str = "utf-8") -> Benchmark:
    """Load the file; `corpus` has the documents, `encoding` is that of a CSV file."""
    builder = RatingsBuilder(source)
    read_corpus(builder, corpus)
    if source.suffix in TABLES:
        _add_rows(builder, source, encoding)
        return builder.build()
    if source.json.has("query_doc_pairs"):
        for pair in source.json["query_doc_pairs"].items():
            _add_pair(builder, pair)
    else:
        for query in source.json["queries"].items():
            _add_query(builder, query)
    name = source.json.get("case_name", "name")
    fields = {} if name is None else {"name": name.text()}
    about = source.json.besides("queries", "query_doc_pairs", "case_name", "name")
    return builder.build(**fields, metadata=about)


def _add_rows(builder: RatingsBuilder, source: Source, encoding: str) -> None:
    judges = source.columns[2:]
    if source.columns[:2] != _START or not judges:
        there = ", ".join(map(repr, source.columns))
        raise DataError(
            f"{source.name}:1: expected the columns query, docid and rating, found {there:.200}"
        )
    for row in read_rows(source.path, short_rows=True, encoding=encoding):
        text, document = row.id("query"), row.cells["docid"]
        builder.add_query_once(text, text, source.name, row.line)
        given = {judge: row.number(judge) for judge in judges if row.cells[judge].strip()}
        if given and not document:
            raise DataError(f"{row.where}: docid: is empty, but the row has a rating")
        if given:
            extra = {"ratings": given} if judges != ["rating"] else {}
            builder.add_rating(text, document, mean(given.values()), source.name, row.line, extra)


def _add_query(builder: RatingsBuilder, node: Node) -> None:
    text = node.one_of(*_TEXT).id()
    extra = node.besides(*_TEXT, "ratings", "information_need")
    described = read_optional_text(node, "information_need")
    builder.add_query_once(text, text, node.where, description=described, extra=extra)
    for document, rating in _read_ratings(node.get("ratings")):
        if rating.value is not None:
            builder.add_rating(text, document, rating.number(), rating.where)


def _read_ratings(node: Node | None) -> Iterator[tuple[str, Node]]:
    """Yield the documents with their ratings, from an object or an array."""
    if node is not None and isinstance(node.value, dict):
        yield from node.fields()
    elif node is not None:
        yield from ((item["doc_id"].id(), item["rating"]) for item in node.items())


def _add_pair(builder: RatingsBuilder, pair: Node) -> None:
    text, document = pair["query_text"].id(), pair["doc_id"].id()
    builder.add_query_once(text, text, pair.where)
    if (shown := pair.get("document_fields")) is not None:
        builder.add_document_once(Document(document, "\n".join(_read_fields(shown))), shown.where)
    given: dict[str, Any] = {}
    for place, judged in enumerate(read_items(pair, "judgements"), start=1):
        rating, judge = judged.get("rating"), judged.get("user_email")
        if rating is not None:
            given[str(place) if judge is None else judge.text()] = rating.number()
    if given:
        grade = mean(given.values())
        builder.add_rating(text, document, grade, pair.where, extra={"ratings": given})


def _read_fields(shown: Node) -> Iterator[str]:
    """Yield the fields of a document, from an object or a string with JSON."""
    if isinstance(shown.value, str):
        shown = Node(parse_json(shown.value, shown.where), shown.source, shown.path)
    for _, value in shown.fields():
        if isinstance(value.value, list):
            yield " ".join(item.plain() for item in value.items())
        elif value.value is not None:
            yield value.plain()


def _recognises(source: Source) -> bool:
    if source.suffix in TABLES:
        names = source.columns
        return names[:2] == _START and len(names) > len(_START) and not source.has_grade_columns
    return source.json_has("query_doc_pairs") or source.array_has("queries", "ratings")


LOADER = Loader(
    summary="Quepid ratings, case or book",
    signs="a .csv file with query,docid,rating; a .json file with queries and ratings",
    recognises=_recognises,
    load=load,
)
