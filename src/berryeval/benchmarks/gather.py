"""`Gather`: the records of a benchmark while a loader reads them, each with its place."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, TypeVar, overload

from berryeval.benchmarks.benchmark import Benchmark
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import RecordKind
    from berryeval.benchmarks.source import Source
    from berryeval.records import Anchor, Document, Judgment, Query

__all__ = ["Gather", "Places"]

Record = TypeVar("Record", "Document", "Query", "Judgment")


class Places(Sequence[str]):
    """Where records stand: files, with the number of a line where there is one.

    A corpus has millions of them, so the strings are made when somebody asks.
    """

    def __init__(self) -> None:
        self._files: list[str] = []
        self._lines = array("q")

    def add(self, file: str, line: int = 0) -> None:
        """One more; line 0 is none."""
        self._files.append(file)
        self._lines.append(line)

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        file, line = self._files[index], self._lines[index]
        return f"{file}:{line}" if line else file


class Gather:
    """Collects records and remarks, and makes the benchmark of them.

    A field that came with a record and has the name of one of ours ("id", say, beside BEIR's
    "_id") is kept under this name with "_" behind it.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.documents: list[Document] = []
        self.queries: list[Query] = []
        self.judgments: list[Judgment] = []
        self.remarks: list[str] = []
        self.locations: dict[RecordKind, Places] = {
            "documents": Places(), "queries": Places(), "judgments": Places()
        }  # fmt: skip
        self._document_places: dict[str, int] = {}
        self._judged: dict[tuple[str, Anchor, str], int] = {}

    def document(self, document: Document, file: str, line: int = 0) -> None:
        """Add a document that stands there."""
        self.documents.append(_without_clash(document))
        self.locations["documents"].add(file, line)

    def document_once(self, document: Document, file: str, line: int = 0) -> None:
        """Add a document that may have been added before, then with the same text."""
        before = self._document_places.setdefault(document.id, len(self.documents))
        if before == len(self.documents):
            self.document(document, file, line)
        elif self.documents[before].text != document.text:
            where = f"{file}:{line}" if line else file
            first = self.locations["documents"][before]
            msg = f"{where}: the document {document.id!r} has another text than in {first}"
            raise DataError(msg)

    def query(self, query: Query, file: str, line: int = 0) -> None:
        """Add a query that stands there."""
        self.queries.append(_without_clash(query))
        self.locations["queries"].add(file, line)

    def judgment(self, judgment: Judgment, file: str, line: int = 0) -> None:
        """Add a judgment that stands there; two of one target must agree."""
        key = judgment.query_id, judgment.target, judgment.group
        before = self._judged.setdefault(key, len(self.judgments))
        if before < len(self.judgments) and self.judgments[before].grade != judgment.grade:
            where = f"{file}:{line}" if line else file
            first = self.locations["judgments"][before]
            msg = (
                f"{where}: the same target is judged twice for query {judgment.query_id!r:.80}, "
                f"with grade {judgment.grade} here and {self.judgments[before].grade} in {first}"
            )
            raise DataError(msg)
        self.judgments.append(_without_clash(judgment))
        self.locations["judgments"].add(file, line)

    def remark(self, text: str) -> None:
        """Note what is odd and kept."""
        self.remarks.append(text)

    def benchmark(self, **fields: Any) -> Benchmark:
        """The benchmark of all that was added; one without queries is none."""
        if not self.queries:
            msg = f"{self.source.name}: holds no queries"
            raise DataError(msg)
        return Benchmark(
            **{"name": self.source.stem, **fields},
            documents=tuple(self.documents),
            queries=tuple(self.queries),
            judgments=tuple(self.judgments),
            locations=dict(self.locations),
            remarks=tuple(self.remarks),
        )


def _without_clash(record: Record) -> Record:
    """The record with names in `extra` that are none of its own fields."""
    if not record.extra:
        return record
    own = {field.name for field in fields(record)}
    if own.isdisjoint(record.extra):
        return record
    extra: dict[str, Any] = {}
    for given, value in record.extra.items():
        name = given
        while name in own or name in extra or (name != given and name in record.extra):
            name += "_"
        extra[name] = value
    return replace(record, extra=extra)
