"""Embedders: texts in, vectors out. A new one is one file and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from berryeval.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = ["EMBEDDERS", "Embedder"]


class Embedder(Protocol):
    """Makes vectors of texts. `model` names what decides the numbers, for caches and manifests."""

    model: str

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per text."""


EMBEDDERS: Final[Registry[Callable[..., Embedder]]] = Registry(
    "embedder", {"wordllama": "berryeval.providers.embedders.word_llama:WordLlama"}
)
