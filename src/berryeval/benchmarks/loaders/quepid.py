"""Quepid: exports of ratings as CSV or JSON, of cases, and of books.

- CSV `query,docid,rating`; a row with the query alone is a query without ratings.
- CSV of a book: `query,docid` and a column per judge; the grade is the mean of the ratings.
- JSON with `queries`, each with `query` (or `query_text`) and `ratings`, an object of ratings by
  document or an array of `{"doc_id", "rating"}`; of a case also its name, and of its queries the
  notes and the information need.
- JSON of a book: `query_doc_pairs`, with the judgements of each and the fields of the document.

The text of a query is also its id. Ratings nobody gave (unrateable, judge later, empty) are left
out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.corpora import read_corpus
from berryeval.benchmarks.gather import Gather
from berryeval.benchmarks.loaders import Loader
from berryeval.benchmarks.source import TABLES
from berryeval.errors import DataError, RepeatedDocumentError
from berryeval.io.csv_rows import read_rows
from berryeval.io.json_node import Node
from berryeval.io.json_text import parse_json
from berryeval.io.names import choose_columns
from berryeval.records import Anchor, Document, Judgment, Query

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.source import Source
    from berryeval.io.files import PathLike

__all__ = ["LOADER", "load"]

_START: Final = ["query", "docid"]
_TEXT: Final = ("query_text", "query")


def load(source: Source, *, corpus: PathLike | None = None) -> Benchmark:
    """Read the file.

    Args:
        source: the file.
        corpus: a file or folder with the documents.
    """
    gather = _Ratings(source)
    read_corpus(gather, corpus)
    fields: dict[str, Any] = {}
    if source.suffix in TABLES:
        _add_rows(gather, source)
    elif source.json.has("query_doc_pairs"):
        for pair in source.json["query_doc_pairs"].items():
            _add_pair(gather, pair)
    else:
        for query in source.json["queries"].items():
            _add_query(gather, query)
    if source.suffix not in TABLES:
        name = source.json.get("case_name", "name")
        fields = {} if name is None else {"name": name.text()}
    return gather.benchmark(**fields)


class _Ratings(Gather):
    """Collects ratings, by the text of the query."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._asked: set[str] = set()
        self._rated: dict[tuple[str, str], str] = {}

    def ask(self, text: str, where: str, **fields: Any) -> None:
        """Add a query unless it is there."""
        if text not in self._asked:
            self._asked.add(text)
            self.query(Query(text, text, **fields), where)

    def rate(self, text: str, document: str, grade: float, where: str, **extra: Any) -> None:
        """Add a rating; a document can be rated once for a query."""
        before = self._rated.setdefault((text, document), where)
        if before != where:
            twice = f"document {document!r} stands twice in query {text!r:.80}"
            msg = f"{where}: {twice}; first in {before}"
            raise RepeatedDocumentError(msg)
        self.judgment(Judgment(text, Anchor(document=document), grade, extra=extra), where)


def _add_rows(gather: _Ratings, source: Source) -> None:
    judges = source.columns[2:]
    if source.columns[:2] != _START or not judges:
        there = ", ".join(map(repr, source.columns))
        msg = f"{source.name}:1: expected the columns query, docid and rating, found {there:.200}"
        raise DataError(msg)
    for row in read_rows(source.path, short_rows=True):
        text = row.id("query")
        gather.ask(text, row.where)
        ratings = {judge: row.number(judge) for judge in judges if row.cells[judge].strip()}
        if not row.cells["docid"]:
            if ratings:
                msg = f"{row.where}: docid: is empty, but the row has a rating"
                raise DataError(msg)
        elif ratings:
            extra = {"ratings": ratings} if judges != ["rating"] else {}
            gather.rate(text, row.cells["docid"], _mean(ratings.values()), row.where, **extra)


def _mean(ratings: Iterable[float]) -> float:
    numbers = list(ratings)
    return math.fsum(numbers) / len(numbers)


def _add_query(gather: _Ratings, node: Node) -> None:
    text = node.one_of(*_TEXT).id()
    need = node.get("information_need")
    extra = node.besides(*_TEXT, "ratings", "information_need")
    gather.ask(text, node.where, description="" if need is None else need.text(), extra=extra)
    ratings = node.get("ratings")
    if ratings is None:
        return
    if isinstance(ratings.value, dict):
        for document, rating in ratings.fields():
            _rate(gather, text, document, rating)
        return
    for item in ratings.items():
        _rate(gather, text, item["doc_id"].id(), item["rating"])


def _rate(gather: _Ratings, text: str, document: str, rating: Node) -> None:
    if rating.value is not None:
        gather.rate(text, document, rating.number(), rating.where)


def _add_pair(gather: _Ratings, pair: Node) -> None:
    text, document = pair["query_text"].id(), pair["doc_id"].id()
    gather.ask(text, pair.where)
    shown = pair.get("document_fields")
    if shown is not None:
        gather.document_once(Document(document, "\n".join(_values(shown))), shown.where)
    ratings = {}
    judgements = pair.get("judgements")
    for place, judged in enumerate([] if judgements is None else judgements.items()):
        rating, judge = judged.get("rating"), judged.get("user_email")
        if rating is not None:
            ratings[str(place + 1) if judge is None else judge.text()] = rating.number()
    if ratings:
        gather.rate(text, document, _mean(ratings.values()), pair.where, ratings=ratings)


def _values(shown: Node) -> Iterator[str]:
    """The fields of a document as lines; they are an object, or a string that holds one."""
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
        return names[:2] == _START and len(names) > len(_START) and not _has_grades(names)
    if source.json_has("query_doc_pairs"):
        return True
    if not source.json_has("queries") or not isinstance(source.json.value["queries"], list):
        return False
    return any(query.has("ratings") for query in source.json["queries"].items())


def _has_grades(names: list[str]) -> bool:
    try:
        choose_columns(names, "qrels", {})
    except DataError:
        return False
    return True


LOADER = Loader(
    summary="Quepid ratings, case or book",
    signs="a .csv file with query,docid,rating; a .json file with queries and ratings",
    recognises=_recognises,
    load=load,
)
