"""`chroma`: vectors in an embedded Chroma.

Chroma searches with an HNSW index, which is approximate: of a large corpus it may miss some of the
nearest chunks. `ef_search`, `ef_construction` and `max_neighbors` trade time for exactness.
The vectors are made here; nothing is downloaded, and nothing is reported to anyone.
"""

from __future__ import annotations

import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from berryeval._internal.optional import imported
from berryeval.errors import ProviderError
from berryeval.providers.base import check_counts, first_line, searched_text
from berryeval.providers.embedders.base import EmbeddingProvider
from berryeval.providers.ranking import hits_with_ties

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from berryeval.data import Chunk, Hit, Query


@dataclass
class Chroma(EmbeddingProvider):
    """Vectors in an embedded Chroma, in a collection that is deleted at the end.

    Attributes:
        path: the folder of the database; without, it is in memory.
        embedder: who makes vectors of texts.
        embedder_options: what the embedder is made with.
        ef_search: how many candidates a search keeps in sight.
        ef_construction: how many candidates are kept in sight when a chunk is added.
        max_neighbors: how many neighbours a chunk has in the index.
    """

    path: str = ""
    embedder: str = "wordllama"
    embedder_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    ef_search: int = 100
    ef_construction: int = 100
    max_neighbors: int = 16
    extra: ClassVar[str] = "chroma"
    modules: ClassVar[Sequence[str]] = ("chromadb", "wordllama")
    in_process: ClassVar[bool] = True
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _collection: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what cannot be."""
        check_counts(
            "chroma", ef_search=self.ef_search, ef_construction=self.ef_construction,
            max_neighbors=self.max_neighbors,
        )  # fmt: skip

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Make the collection and add a vector per chunk that says something."""
        self._drop()
        vectors = self.embed([searched_text(chunk) for chunk in chunks])
        places = np.flatnonzero(vectors.any(axis=1)).tolist()
        if not places:
            return
        with self._errors():
            self._collection = self._client.create_collection(
                f"berryeval-{secrets.token_hex(6)}",
                embedding_function=None,  # or Chroma would download a model of its own
                configuration={
                    "hnsw": {
                        "space": "cosine",
                        "ef_search": self.ef_search,
                        "ef_construction": self.ef_construction,
                        "max_neighbors": self.max_neighbors,
                    }
                },
            )
            step = self._client.get_max_batch_size()
            for start in range(0, len(places), step):
                batch = places[start : start + step]
                self._collection.add(ids=list(map(str, batch)), embeddings=vectors[batch])
        self._chunks = chunks

    def search(self, query: Query, k: int) -> list[Hit]:
        """The nearest chunks, as far as the index finds them."""
        vector = self.embed_query(query.text)
        if self._collection is None or not vector.any():
            return []

        def fetch(count: int) -> list[tuple[int, float]]:
            found = self._collection.query(
                query_embeddings=[vector], n_results=count, include=["distances"]
            )
            pairs = zip(found["ids"][0], found["distances"][0], strict=True)
            return [(int(name), 1.0 - distance) for name, distance in pairs]

        with self._errors():
            return hits_with_ties(self._chunks, k, fetch)

    @cached_property
    def _chroma(self) -> Any:
        return imported("chromadb", "the provider chroma", extra="chroma")

    @cached_property
    def _client(self) -> Any:
        settings = self._chroma.config.Settings(anonymized_telemetry=False)
        if self.path:
            return self._chroma.PersistentClient(self.path, settings=settings)
        return self._chroma.EphemeralClient(settings=settings)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """The errors of Chroma as ours; those of its database come as `ValueError` and others."""
        try:
            yield
        except (self._chroma.errors.ChromaError, RuntimeError, ValueError, OSError) as error:
            msg = f"Chroma at {self.path or 'memory'}: {first_line(error)}"
            raise ProviderError(msg) from None

    def _drop(self) -> None:
        if self._collection is not None:
            collection, self._collection = self._collection, None
            with self._errors():
                self._client.delete_collection(collection.name)

    def close(self) -> None:
        """Delete the collection and let go of the database."""
        super().close()
        with suppress(ProviderError):  # a folder that is gone needs no tidying
            self._drop()
        client = self.__dict__.pop("_client", None)
        if client is not None:
            client.close()
