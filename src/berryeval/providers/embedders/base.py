"""Embedders: texts in, vectors out. A new one is one file and one line here."""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from berryeval._internal.registry import Registry
from berryeval.providers.base import Provider
from berryeval.providers.catalogue import check_options
from berryeval.providers.embedders.cache import embed_with_cache
from berryeval.providers.ranking import fused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import numpy.typing as npt

    from berryeval.data import Hit, Query


class Embedder(Protocol):
    """Makes vectors of texts. `model` names what decides the numbers, for caches and manifests.

    One that takes long may have an attribute `cache`: the folder where vectors of texts that were
    embedded once are kept, None for the usual one, "" for none; and `identity`, which tells apart
    what gives other numbers. One that treats queries in another way has `embed_queries`, one that
    holds connections open `close`.
    """

    model: str

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per text."""


EMBEDDERS: Final[Registry[Callable[..., Embedder]]] = Registry(
    "embedder",
    {
        "wordllama": "berryeval.providers.embedders.wordllama:WordLlama",
        "model2vec": "berryeval.providers.embedders.model2vec:Model2Vec",
        "openai": "berryeval.providers.embedders.openai:OpenAi",
        "sentence-transformers": (
            "berryeval.providers.embedders.sentence_transformers:SentenceTransformers"
        ),
    },
)


def make_embedder(name: str, options: Mapping[str, Any] | None = None) -> Embedder:
    """The embedder of this name with these options."""
    kind = EMBEDDERS.get(name)
    given = dict(options or {})
    if dataclasses.is_dataclass(kind):
        known = [field.name for field in dataclasses.fields(kind) if field.init]
        check_options(f"embedder {name!r}", known, given)
    return kind(**given)


def unit_vectors(embedder: Embedder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """The vectors of texts to search in, of length 1; all zeros for a text that says nothing.

    Those of slow embedders come from the cache, if they are there.
    """
    if not texts:
        return np.zeros((0, 1), dtype=np.float32)
    return _of_length_1(embed_with_cache(embedder, texts))


def query_vector(embedder: Embedder, text: str) -> npt.NDArray[np.float32]:
    """The vector of one query."""
    vector: npt.NDArray[np.float32] = query_vectors(embedder, [text])[0]
    return vector


def query_vectors(embedder: Embedder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """The vectors of queries, of length 1; all zeros for one that says nothing.

    Never from the cache: the time it takes is part of the time a search takes.
    """
    embed_queries = getattr(embedder, "embed_queries", None) or embedder.embed
    return _of_length_1(np.asarray(embed_queries(texts)))


def _of_length_1(made: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    vectors = np.nan_to_num(np.array(made, dtype=np.float32))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    vectors /= lengths
    return vectors


# What the providers that search vectors share: texts become vectors of length 1.


class EmbeddingProvider(Provider):
    """A provider with the options `embedder` and `embedder_options`.

    Attributes:
        embedder: who makes vectors of texts.
        embedder_options: what the embedder is made with.
    """

    embedder: str
    embedder_options: Mapping[str, Any]

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of texts to search in; all zeros for a text that says nothing."""
        return unit_vectors(self._embedder, texts)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """The vector of a query; all zeros if it says nothing."""
        return query_vector(self._embedder, text)

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The vectors of several queries."""
        return query_vectors(self._embedder, texts)

    def close(self) -> None:
        """Close the embedder, if it holds anything open."""
        if "_embedder" in vars(self) and hasattr(self._embedder, "close"):
            self._embedder.close()

    @cached_property
    def _embedder(self) -> Embedder:
        return make_embedder(self.embedder, self.embedder_options)


class TextAndVectorProvider(EmbeddingProvider):
    """A provider that searches for words, for vectors, or for both.

    Attributes:
        mode: "text", "vector" or "hybrid".
        k: how fast a rank loses worth in the fusion.
        depth: how many hits of each kind are fused, at least as many as are asked for.
    """

    mode: str
    k: int
    depth: int

    def by_mode(self, query: Query, k: int) -> list[Hit]:
        """By words, by meaning, or by both, fused by reciprocal rank."""
        if self.mode == "text":
            return self._by_text(query, k)
        if self.mode == "vector":
            return self._by_vector(query, k)
        deep = max(k, self.depth)
        rankings = [self._by_text(query, deep), self._by_vector(query, deep)]
        return fused(rankings, k, constant=self.k)

    @abstractmethod
    def _by_text(self, query: Query, k: int) -> list[Hit]: ...

    @abstractmethod
    def _by_vector(self, query: Query, k: int) -> list[Hit]: ...
