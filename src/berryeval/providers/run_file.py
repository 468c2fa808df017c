"""`run-file`: rankings of another system, read from a run file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import pluralize
from berryeval.data import Hit, RankingRule, Run
from berryeval.errors import ConfigurationError, DataError, ProviderError
from berryeval.providers.answers import KnownChunks
from berryeval.providers.base import Provider, encode_id

if TYPE_CHECKING:
    from berryeval.data import Chunk, Query


_SHOWN: Final = 3  # ids in a message


@dataclass
class RunFile(Provider):
    """Rankings from a run file, by query id; a query that is not in the file finds nothing.

    Attributes:
        path: TREC, TSV, JSON or Parquet file, also compressed, as `Run.load` reads it; relative to
            the configuration file if set there.
        in_scope: Whether to leave out hits outside the scope of their query. By default the file is
            taken as it is, because leaving them out would hide that the other system found them.
        lenient: Whether to skip faulty and repeated lines rather than reject the file.
    """

    path: str = ""
    in_scope: bool = False
    lenient: bool = False
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.path:
            raise ConfigurationError("path of run-file is missing; set it to the run file")

    def expect(self, queries: Sequence[Query]) -> None:
        """Reject a file that has no query of the benchmark."""
        run, place_of = self._loaded
        if not queries or any(encode_id(query.id) in place_of for query in queries):
            return
        theirs = _list_ids(run.table.queries[place] for place in range(min(_SHOWN, len(place_of))))
        ours = _list_ids(query.id for query in queries[:_SHOWN])
        count = pluralize(len(queries), "query")
        raise ProviderError(
            f"{self.path}: has no ranking for any of {count}; "
            f"the file has {theirs}, the benchmark has {ours}"
        )

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Read the file; the chunks complete hits with the same id."""
        self._known = KnownChunks(chunks)
        _ = self._loaded

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the ranking of the query's id, in ranking order."""
        run, place_of = self._loaded
        place = place_of.get(encode_id(query.id))
        if place is None:
            return []
        start, end = run.table.offsets[place : place + 2].tolist()
        documents = run.table.documents.to_bytes_list(start, end)
        scores = run.table.values[start:end].tolist()
        if self.in_scope and query.scope:
            inside = [self._known.is_inside(name.decode(), query.scope) for name in documents]
            documents = [name for name, found in zip(documents, inside, strict=True) if found]
            scores = [score for score, found in zip(scores, inside, strict=True) if found]
        order = RankingRule(depth=k).order(documents, scores)
        return [
            self._known.complete(Hit(documents[row].decode(), scores[row], rank))
            for rank, row in enumerate(order, start=1)
        ]

    @cached_property
    def _loaded(self) -> tuple[Run, dict[bytes, int]]:
        """The run, and the position of each query in it."""
        try:
            run = Run.load(self.path, lenient=self.lenient)
        except DataError as error:
            raise ProviderError(str(error)) from None
        queries = run.table.queries
        return run, {
            name: place for place, name in enumerate(queries.to_bytes_list(0, len(queries)))
        }


def _list_ids(ids: Iterable[str]) -> str:
    return ", ".join(f"{name!r:.80}" for name in ids) or "no query"
