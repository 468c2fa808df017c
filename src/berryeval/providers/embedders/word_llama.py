"""Static embeddings that come with the package `wordllama`: no download, no GPU, fast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval.optional import imported

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["WordLlama"]


@dataclass
class WordLlama:
    """256 numbers per text: the mean of the vectors of its tokens.

    Attributes:
        model: which of the models that lie in the package.
        cache: a folder for vectors that were made once, None for the usual one; "" for none, as
            making them takes a fraction of a millisecond each.
    """

    model: str = "l2_supercat"
    cache: str | None = ""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per text."""
        # Half a surrogate pair is no text to the tokenizer.
        whole = [text.encode(errors="replace").decode() for text in texts]
        with np.errstate(invalid="ignore"):  # an empty text has no mean
            vectors: npt.NDArray[np.floating[Any]] = self._loaded.embed(whole)
        return vectors

    @cached_property
    def _loaded(self) -> Any:
        package = imported("wordllama", "the embedder wordllama", extra="dense")
        folder = Path(package.__file__).parent  # the weights lie in the package itself
        return package.WordLlama.load(self.model, cache_dir=folder, disable_download=True)
