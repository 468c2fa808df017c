"""Embedders: texts in, vectors out. A new one is one file and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from berryeval.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

__all__ = ["EMBEDDERS", "Embedder", "unit_vectors"]


class Embedder(Protocol):
    """Makes vectors of texts. `model` names what decides the numbers, for caches and manifests."""

    model: str

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per text."""


EMBEDDERS: Final[Registry[Callable[..., Embedder]]] = Registry(
    "embedder", {"wordllama": "berryeval.providers.embedders.word_llama:WordLlama"}
)


def unit_vectors(embedder: Embedder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """The vectors of texts, of length 1; all zeros for a text that says nothing."""
    if not texts:
        return np.zeros((0, 1), dtype=np.float32)
    vectors = np.nan_to_num(np.asarray(embedder.embed(texts), dtype=np.float32))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    vectors /= lengths
    return vectors
