"""Datasets of libraries, named instead of given as files: parts that their loaders share.

The corpus of such a dataset may have millions of documents. `LazyDocuments` reads it when it is
first needed: queries and judgments load without it. A large one is kept in a temporary file.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, overload

from berryeval._internal.text import pluralize
from berryeval._internal.validate import require_choice
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder
from berryeval.data import (
    Anchor,
    Document,
    Judgment,
    Query,
    collect_records,
    find_repeated,
    index_records,
)
from berryeval.errors import DataError
from berryeval.relevance import explain_ids

if TYPE_CHECKING:
    from berryeval.benchmarks.loading import Source

log = logging.getLogger("berryeval")
_QUERY_SIDES: Final = ("judged", "the queries have", "are query and document swapped?")
_DOCUMENT_SIDES: Final = ("judged", "the documents have", "is it another version of the corpus?")


@dataclass(frozen=True)
class Grade:
    """A row of judgments; `group` is the subtopic, if there are several, `where` its place."""

    query: str
    document: str
    grade: float
    group: str = ""
    where: str = ""


class LazyDocuments(Sequence[Document]):
    """Documents that are read when they are first needed, and checked then.

    `len` and `bool` do not read them if their number is known.
    """

    def __init__(
        self,
        name: str,
        read: Callable[[], Iterable[Document]],
        judged: Iterable[str] = (),
        count: Callable[[], int | None] = lambda: None,
    ) -> None:
        self._name, self._read, self._judged, self._count = name, read, judged, count
        self._held: Sequence[Document] | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether the documents have been read."""
        return self._held is not None

    @property
    def held(self) -> Sequence[Document]:
        """The documents, read now if they were not: a large corpus is a `RecordFile`."""
        if self._held is None:
            found = collect_records(self._read_checked())
            if repeated := find_repeated(found):
                name = found[repeated[1]].id
                raise DataError(f"{self._name}: the document id {name!r} occurs twice")
            self._check_judged(index_records(found))
            self._held = tuple(found) if isinstance(found, list) else found
        return self._held

    def _read_checked(self) -> Iterator[Document]:
        for place, document in enumerate(self._read()):
            if not document.id:
                raise DataError(f"{self._name}: document {place} has an empty id")
            yield document

    def _check_judged(self, found: Mapping[str, Document]) -> None:
        """Reject a corpus without any judged document; warn if some are missing."""
        judged = list(dict.fromkeys(self._judged))
        missing = [name for name in judged if name not in found]
        if not missing:
            return
        count = f"{len(missing):,} of {pluralize(len(judged), 'judged document')}"
        if len(missing) == len(judged):
            raise DataError(
                f"{self._name}: none of {pluralize(len(judged), 'judged document')} is in the "
                f"corpus: {explain_ids(missing, found, sides=_DOCUMENT_SIDES)}"
            )
        log.warning(
            "%s: %s are not in the corpus, such as %r; they cannot be found", self._name, count,
            missing[0],
        )  # fmt: skip

    def __len__(self) -> int:
        known = self._count() if self._held is None else None
        return known or len(self.held)

    def __bool__(self) -> bool:
        return self._held is None or bool(self._held)

    @overload
    def __getitem__(self, index: int) -> Document: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Document]: ...
    def __getitem__(self, index: int | slice) -> Document | Sequence[Document]:
        return self.held[index]

    def __iter__(self) -> Iterator[Document]:
        return iter(self.held)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(other) != len(self):
            return False
        return all(one == two for one, two in zip(self, other, strict=True))

    __hash__ = None  # type: ignore[assignment]


ALL: Final = "all"
NONE: Final = "none"
JUDGED: Final = "judged"


def check_selection(queries: str, documents: str) -> None:
    """Check the options that all named datasets share."""
    require_choice("queries", queries, (JUDGED, ALL))
    require_choice("documents", documents, (ALL, NONE))


def build_named(
    source: Source,
    queries: Iterable[tuple[Query, str]],
    grades: Iterable[Grade],
    documents: Callable[[Sequence[str]], LazyDocuments] | None,
    *,
    wanted: str = JUDGED,
    **about: object,
) -> Benchmark:
    """Build the benchmark of a dataset; only the wanted queries are kept, as a remark counts.

    Each query comes with its place.
    `documents` gets the ids of all judged documents, and returns the corpus; None leaves it out.
    """
    builder = BenchmarkBuilder(source)
    judged = _add_grades(builder, grades)
    if not judged:
        raise DataError(f"{source.name}: has no judgments, so there is nothing to score")
    skipped: list[str] = []
    for query, where in queries:
        if wanted == ALL or query.id in judged:
            builder.add_query(query, where)
        else:
            skipped.append(query.id)
    if skipped and not builder.queries:
        raise DataError(
            f"{source.name}: none of {pluralize(len(skipped), 'query')} is judged: "
            f"{explain_ids(sorted(judged), skipped, sides=_QUERY_SIDES)}"
        )
    if skipped:
        count = f"{len(skipped):,} queries are" if len(skipped) > 1 else "a query is"
        builder.add_remark(f"{source.name}: {count} skipped, without judgments")
    missing = judged - {query.id for query in builder.queries}
    if missing and builder.queries:
        count = f"{len(missing):,} judged queries are" if len(missing) > 1 else "a judged query is"
        builder.add_remark(f"{source.name}: {count} not among the queries: {min(missing)!r:.80}")
    benchmark = builder.build(**about)
    if documents is None:
        return benchmark
    names = [judgment.target.document for judgment in benchmark.judgments if judgment.grade > 0]
    return replace(benchmark, documents=documents(names))


def _add_grades(builder: BenchmarkBuilder, grades: Iterable[Grade]) -> set[str]:
    """Add a judgment for each query and document, of the highest grade of its subtopics."""
    given: dict[tuple[str, str], dict[str, float]] = {}
    places: dict[tuple[str, str], str] = {}
    for row in grades:
        groups = given.setdefault((row.query, row.document), {})
        where = places.setdefault((row.query, row.document), row.where or builder.source.name)
        if groups.setdefault(row.group, row.grade) != row.grade:
            raise DataError(
                f"{row.where or where}: document {row.document!r:.80} is judged twice for query "
                f"{row.query!r:.80}, with the grades {groups[row.group]:g} and {row.grade:g}"
            )
    for (query, document), groups in given.items():
        extra = {} if groups.keys() == {""} else {"subtopics": groups}
        judgment = Judgment(query, Anchor(document=document), max(groups.values()), extra=extra)
        builder.add_judgment(judgment, places[query, document])
    return {query for query, _ in given}
