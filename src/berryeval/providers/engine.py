"""Base classes of providers with an engine: a temporary index, or one that exists."""

from __future__ import annotations

import logging
from abc import abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from berryeval._internal.text import pluralize
from berryeval._internal.validate import require_choice, require_whole
from berryeval.data import Query
from berryeval.errors import ConfigurationError
from berryeval.providers.answers import KnownChunks
from berryeval.providers.embedders.base import EmbeddingProvider
from berryeval.providers.existing import ExistingIndex, IndexFacts
from berryeval.providers.ranking import fuse_ranks

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit
    from berryeval.providers.existing import IndexReader, Vector


log = logging.getLogger("berryeval")
_PROBE = "berryeval"  # a text to try the embedder and the search with, before any query is asked


@dataclass(kw_only=True)
class EngineProvider(EmbeddingProvider):
    """A provider that builds a temporary index in an engine, or searches one that exists.

    Attributes:
        existing: An index that exists, to be searched instead of a temporary one and never written:
            its name and columns; see [existing.md](existing.md).
    """

    existing: Mapping[str, Any] = field(default_factory=dict, repr=False)
    index_word: ClassVar[str] = "table"  # what the engine calls an index
    existing_parts: ClassVar[Collection[str]] = ()  # parts of `existing` that not every engine has
    temporary_options: ClassVar[Collection[str]] = ()  # options of the temporary index alone
    _known: KnownChunks = field(default_factory=KnownChunks, init=False, repr=False)
    _facts: IndexFacts = field(default_factory=IndexFacts, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.existing == {}:
            return
        _ = self._existing
        for option in fields(self):
            if option.name in self.temporary_options and (
                getattr(self, option.name) != option.default
            ):
                raise ConfigurationError(
                    f"{option.name} of {self._owner} is an option of the temporary index; leave it "
                    "out, because existing is searched as it is"
                )
        _ = self._reader

    @property
    def _owner(self) -> str:
        return type(self).__name__.lower()

    @cached_property
    def _existing(self) -> ExistingIndex:
        return ExistingIndex.read(
            self._owner, self.existing, kind=self.index_word, more=self.existing_parts
        )

    @cached_property
    def _reader(self) -> IndexReader:
        return self._build_reader(self._existing)

    @abstractmethod
    def _build_reader(self, existing: ExistingIndex) -> IndexReader:
        """Return the reader of an existing index; nothing is opened yet."""

    @property
    def _search_mode(self) -> str:
        return "vector"

    @property
    def with_vectors(self) -> bool:
        """Whether anything is embedded."""
        asked = self._reader.asks_vectors if self.existing else None
        return self._search_mode != "text" if asked is None else asked

    def needs_documents(self) -> bool:
        """Whether it searches only what it indexed."""
        return not self.existing

    def existing_indexes(self) -> dict[str, int | None]:
        """Return the existing index by name, and once it is open, its rows if counted."""
        if not self.existing:
            return {}
        return {f"{self._owner}:{self._existing.name or 'query'}": self._facts.rows}

    def open_existing(self, chunks: Sequence[Chunk]) -> None:
        """Check the existing index and try one search; the chunks complete hits by their id."""
        self._known = KnownChunks(chunks)
        found, reader = self._existing, self._reader
        what = f"{found.kind} {found.name!r}" if found.name else "query"
        self._facts = reader.open(self._search_mode)
        if self._facts.rows == 0:
            which = "passes the condition where" if found.where else "is there"
            raise found.error(f"no row of the {what} {which}, so every score would be 0")
        if self.with_vectors and self._facts.dimensions:
            length = len(self.embed_query(_PROBE))
            if length != self._facts.dimensions:
                raise found.error(
                    f"the vectors of the {what} have {self._facts.dimensions} dimensions, those of "
                    f"the embedder {self.embedder!r} have {length}; choose the embedder and model "
                    "that made them"
                )
        self.search_existing(Query(_PROBE, _PROBE), 1)
        rows = "" if self._facts.rows is None else f", {pluralize(self._facts.rows, 'row')}"
        log.info("%s: searching the existing %s%s", self._owner, what, rows)

    def search_existing(self, query: Query, k: int) -> list[Hit]:
        """Search the existing index: full text, vectors or both, or with the user's own query."""
        hits = map(self._known.complete, self._search_reader(query, k))
        return [replace(hit, rank=rank) for rank, hit in enumerate(hits, start=1)]

    def _search_reader(self, query: Query, k: int) -> list[Hit]:
        vector = self.embed_query(query.text) if self.with_vectors else None
        if self._reader.asks_vectors is not None:
            return self._reader.search_own(query, vector, k)
        return self._search_modes(query, vector, k)

    def _search_modes(self, query: Query, vector: Vector | None, k: int) -> list[Hit]:
        """Search vectors, the only mode of some engines; a query without content finds nothing."""
        if vector is None or not vector.any():
            return []
        return self._reader.search_vector(query, vector, k)

    def close(self) -> None:
        """Close the reader of an existing index, and what any embedding provider has."""
        try:
            if self.existing:
                self._reader.close()
        finally:
            super().close()


@dataclass(kw_only=True)
class TextAndVectorProvider(EngineProvider):
    """A provider that searches full text, vectors, or both.

    Attributes:
        mode: "text" ranks by full text, "vector" by cosine similarity of embeddings, "hybrid" fuses
            both by reciprocal rank.
        k: Rank constant of the fusion.
        depth: Number of hits of each kind to fuse, at least as many as requested.
    """

    mode: str = "hybrid"
    k: int = 60
    depth: int = 100

    def __post_init__(self) -> None:
        require_choice(f"mode of {self._owner}", self.mode, ("text", "vector", "hybrid"))
        require_whole(f"k of {self._owner}", self.k)
        require_whole(f"depth of {self._owner}", self.depth)
        super().__post_init__()

    @property
    def _search_mode(self) -> str:
        return self.mode

    def _search_modes(self, query: Query, vector: Vector | None, k: int) -> list[Hit]:
        """Search full text, vectors, or both, fused by reciprocal rank."""
        if self.mode == "text":
            return self._reader.search_text(query, k)
        if self.mode == "vector":
            return super()._search_modes(query, vector, k)
        deep = max(k, self.depth)
        by_text = self._reader.search_text(query, deep)
        by_vector = super()._search_modes(query, vector, deep)
        return fuse_ranks([by_text, by_vector], k, constant=self.k)


class FusingProvider(TextAndVectorProvider):
    """A provider that searches full text and vectors separately, and fuses the hits here."""

    def search_by_mode(self, query: Query, k: int) -> list[Hit]:
        """Search full text, vectors, or both, fused by reciprocal rank."""
        if self.mode == "text":
            return self._search_text(query, k)
        if self.mode == "vector":
            return self._search_vectors(query, k)
        deep = max(k, self.depth)
        rankings = [self._search_text(query, deep), self._search_vectors(query, deep)]
        return fuse_ranks(rankings, k, constant=self.k)

    @abstractmethod
    def _search_text(self, query: Query, k: int) -> list[Hit]: ...

    @abstractmethod
    def _search_vectors(self, query: Query, k: int) -> list[Hit]: ...
