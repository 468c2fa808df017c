"""What the providers that search vectors share: texts become vectors of length 1."""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING, Any

from berryeval.providers.base import Provider
from berryeval.providers.embedders import (
    make_embedder,
    query_vector,
    query_vectors,
    unit_vectors,
)
from berryeval.providers.fusion import fused

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from berryeval.providers.embedders import Embedder
    from berryeval.records import Hit, Query

__all__ = ["EmbeddingProvider", "TextAndVectorProvider"]


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
