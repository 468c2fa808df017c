"""Scopes that nothing can be found in, and hits of a provider outside the scopes of its queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from berryeval._internal.numbers import format_share
from berryeval._internal.text import pluralize
from berryeval.data import ScopeIndex, format_scope, index_records, is_in_scope
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Chunk, Hit, Query

_SHOWN: Final = 3  # queries in a warning


def check_scopes(benchmark: Benchmark, queries: Sequence[Query]) -> None:
    """Reject queries of which every one has a scope without documents."""
    empty = _find_empty(benchmark, queries)
    if empty and len(empty) == len(queries):
        raise DataError(
            f"{benchmark.name}: no document is in the scope of any query, so nothing can be found: "
            f"{_show_scope(empty[0])}; correct the scopes, or the field of the documents"
        )


def warn_about_scopes(benchmark: Benchmark, queries: Sequence[Query]) -> list[str]:
    """Warn of scopes without documents, and of scopes without any target of their query."""
    empty = _find_empty(benchmark, queries)
    targets: dict[str, list[bool]] = {}
    scope_of = {query.id: query.scope for query in queries}
    for query in empty:
        del scope_of[query.id]
    for one in benchmark.judgments:
        document = benchmark.document_of.get(one.target.document)
        scope = scope_of.get(one.query_id)
        if document is not None and scope and one.grade > 0:
            targets.setdefault(one.query_id, []).append(is_in_scope(document, scope))
    astray = [query for query in queries if query.id in targets and not any(targets[query.id])]
    return [
        f"{pluralize(len(found), 'query')} cannot find anything relevant, because {why}"
        f": {', '.join(map(_show_scope, found[:_SHOWN]))}{', ...' if found[_SHOWN:] else ''}"
        for found, why in (
            (empty, "no document is in the scope"),
            (astray, "every target is outside the scope"),
        )
        if found
    ]


def _find_empty(benchmark: Benchmark, queries: Sequence[Query]) -> list[Query]:
    if not benchmark.documents:
        return []
    index = ScopeIndex(benchmark.documents)
    return [query for query in queries if query.scope and not index.count(query.scope)]


def _show_scope(query: Query) -> str:
    return f"{query.id!r:.80} ({format_scope(query.scope)})"


class ScopeTally:
    """Hits inside and outside the scope of their query; hits outside of the corpus are ignored.

    Attributes:
        hits: Number of hits of queries with a scope.
        outside: Number of those that are outside it.
    """

    def __init__(self, benchmark: Benchmark, chunks: Sequence[Chunk]) -> None:
        self.hits = self.outside = 0
        self._asked = self._leaking = 0
        self._example = ""
        self._document_of = benchmark.document_of
        self._index = ScopeIndex(chunks)
        self._chunk_of = index_records(chunks)

    def count_chunks(self, query: Query) -> int | None:
        """Count the chunks in the scope of a query; None without a scope."""
        return self._index.count(query.scope) if query.scope and self._chunk_of else None

    def add(self, query: Query, hits: Sequence[Hit]) -> None:
        """Add the hits of a query."""
        if not query.scope:
            return
        self._asked += 1
        before = self.outside
        for hit in hits:
            found = self._chunk_of.get(hit.id) or self._document_of.get(hit.doc_id or hit.id)
            if found is None:
                continue
            self.hits += 1
            if not is_in_scope(found, query.scope):
                self.outside += 1
                self._example = self._example or f"{hit.id!r:.80} for query {query.id!r:.80}"
        self._leaking += self.outside > before

    @property
    def share(self) -> float | None:
        """Share of hits outside the scope of their query; None without hits that have a scope."""
        return self.outside / self.hits if self.hits else None

    def warnings(self) -> list[str]:
        """Return a warning if the provider ignores the scopes."""
        if not self.outside:
            return []
        queries = pluralize(self._asked, "query")
        words = (
            f"{format_share(self.outside / self.hits)} of the hits are outside the scope of their "
            f"query, in {self._leaking} of {queries} with a scope, such as {self._example}: the "
            "provider does not limit its search to query.scope (see Scopes in docs/providers.md)"
        )
        return [words]
