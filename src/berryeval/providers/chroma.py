"""`chroma`: vectors in an embedded Chroma database.

Chroma searches with an HNSW index, which is approximate: in a large corpus it may miss some of the
nearest chunks. `ef_search`, `ef_construction` and `max_neighbors` trade time for accuracy. The
embedder makes the vectors; Chroma downloads no model and sends no telemetry.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval._internal.validate import require_whole
from berryeval.data import read_field, scope_values
from berryeval.errors import BerryEvalError, ProviderError
from berryeval.providers.base import first_line, searchable_text
from berryeval.providers.engine import EngineProvider
from berryeval.providers.ranking import fetch_hits

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit, Query
    from berryeval.providers.existing import ExistingIndex, IndexReader


_SIZES: Final = ("ef_search", "ef_construction", "max_neighbors")


@dataclass
class Chroma(EngineProvider):
    """Vectors in an embedded Chroma database, in a temporary collection.

    Attributes:
        path: Folder of the database; in memory by default.
        ef_search: Number of candidates kept during a search.
        ef_construction: Number of candidates kept when a chunk is added.
        max_neighbors: Number of neighbours per chunk in the index.
    """

    path: str = ""
    ef_search: int = 100
    ef_construction: int = 100
    max_neighbors: int = 16
    extra: ClassVar[str] = "chroma"
    modules: ClassVar[Sequence[str]] = ("chromadb", "wordllama")
    in_process: ClassVar[bool] = True
    index_word: ClassVar[str] = "collection"
    temporary_options: ClassVar[Collection[str]] = _SIZES
    _collection: Any = field(default=None, init=False, repr=False)
    _plural: set[str] = field(default_factory=set, init=False, repr=False)  # fields with lists

    def __post_init__(self) -> None:
        for name in _SIZES:
            require_whole(f"{name} of chroma", getattr(self, name))
        super().__post_init__()

    def _build_reader(self, existing: ExistingIndex) -> IndexReader:
        from berryeval.providers.readers.chroma_collection import ChromaCollection

        return ChromaCollection(existing, self.path)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Create the collection and add a vector for every chunk with content."""
        if self.existing:
            self.open_existing(chunks)
            return
        self._drop()
        vectors = self.embed([searchable_text(chunk) for chunk in chunks])
        places = np.flatnonzero(vectors.any(axis=1)).tolist()
        if not places:
            return
        fields = self._describe(chunks) if self.label(chunks) else None
        with self._convert_errors():
            self._collection = self._client.create_collection(
                f"berryeval-{secrets.token_hex(6)}",
                embedding_function=None,  # otherwise Chroma downloads its default model
                configuration={
                    "hnsw": {"space": "cosine", **{name: getattr(self, name) for name in _SIZES}}
                },
            )
            step = self._client.get_max_batch_size()
            for start in range(0, len(places), step):
                batch = places[start : start + step]
                about = [fields[place] for place in batch] if fields else None
                self._collection.add(
                    ids=list(map(str, batch)), embeddings=vectors[batch], metadatas=about
                )
        self._chunks = chunks

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the nearest chunks that the index finds."""
        if self.existing:
            return self.search_existing(query, k)
        vector = self.embed_query(query.text)
        if self._collection is None or not vector.any():
            return []
        inside = self._build_filter(query)

        def fetch(count: int) -> list[tuple[int, float]]:
            found = self._collection.query(
                query_embeddings=[vector], n_results=count, include=["distances"], where=inside
            )
            pairs = zip(found["ids"][0], found["distances"][0], strict=True)
            return [(int(name), 1.0 - distance) for name, distance in pairs]

        with self._convert_errors():
            return fetch_hits(self._chunks, k, fetch)

    def _build_filter(self, query: Query) -> dict[str, Any] | None:
        """Return the scope of a query as Chroma's `where`; None without a scope."""
        self.filters(query)  # rejects an unknown field
        parts: list[dict[str, Any]] = []
        for name in query.scope:
            values = scope_values(query.scope, name)
            if name in self._plural:
                key = f"scope.{name}"
                parts.append(combine("$or", [{key: {"$contains": one}} for one in values]))
            else:
                parts.append({f"scope.{name}": {"$in": list(values)}})
        return combine("$and", parts) if parts else None

    def _describe(self, chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
        """Return the metadata of each chunk: a text for each field, or a list if some have several.

        Chroma searches lists slowly for many values, so only fields that need them have lists.
        """
        names = sorted(self._labels.fields)
        rows = [{name: read_field(chunk, name) for name in names} for chunk in chunks]
        self._plural = {name for row in rows for name in names if len(row[name]) > 1}
        return [
            {"scoped": True}
            | {
                f"scope.{name}": list(values) if name in self._plural else values[0]
                for name, values in row.items()
                if values
            }
            for row in rows
        ]

    @cached_property
    def _client(self) -> Any:
        return open_chroma(self.path)

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        with convert_errors(self.path or "memory"):
            yield

    def _drop(self) -> None:
        if self._collection is not None:
            collection, self._collection = self._collection, None
            with self._convert_errors():
                self._client.delete_collection(collection.name)


def open_chroma(path: str) -> Any:
    """Open a folder, or a database in memory; no telemetry is sent."""
    package = import_optional("chromadb", "the provider chroma", extra="chroma")
    settings = package.config.Settings(anonymized_telemetry=False)
    if path:
        return package.PersistentClient(path, settings=settings)
    return package.EphemeralClient(settings=settings)


@contextmanager
def convert_errors(where: str) -> Iterator[None]:
    """Convert Chroma's errors."""
    package = import_optional("chromadb", "the provider chroma", extra="chroma")
    try:
        yield
    except BerryEvalError:
        raise
    except (package.errors.ChromaError, RuntimeError, ValueError, OSError) as error:
        raise ProviderError(f"Chroma at {where}: {first_line(error)}") from None


def combine(word: str, parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Join conditions by `$and` or `$or`, which need at least two."""
    return {word: parts} if len(parts) > 1 else parts[0]
