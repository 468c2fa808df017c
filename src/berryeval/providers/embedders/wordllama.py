"""Static embeddings that come with the package `wordllama`: no download, no GPU, fast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval._internal.optional import imported

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt


_MOST: Final = 64  # texts that are embedded together
_AT_ONCE: Final = 1 << 16  # bytes of them, each counted as the longest; a token takes 2 kB
_PIECE: Final = 1 << 13  # characters of a longer text that are looked at together


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
        coded = [text.encode(errors="replace") for text in texts]
        vectors = np.zeros((len(coded), self._loaded.embedding.shape[1]), dtype=np.float32)
        sizes = np.array([len(text) for text in coded], dtype=np.int64)
        for places in _batches(sizes):
            whole = [coded[place].decode() for place in places]
            if sizes[places[-1]] > _AT_ONCE:
                vectors[places[0]] = self._mean_of_pieces(whole[0])
                continue
            with np.errstate(invalid="ignore"):  # an empty text has no mean
                vectors[places] = self._loaded.embed(whole)
        return vectors

    def _mean_of_pieces(self, text: str) -> npt.NDArray[np.float32]:
        """The vector of a long text: the mean of all its tokens, counted piece by piece."""
        weights = self._loaded.embedding
        counts = np.zeros(len(weights), dtype=np.int64)
        for piece in _pieces(text):
            (found,) = self._loaded.tokenize([piece])
            numbers = np.clip(np.array(found.ids, dtype=np.int64), 0, len(weights) - 1)
            counts += np.bincount(numbers, minlength=len(weights))
        used = np.flatnonzero(counts)
        mean: npt.NDArray[np.float32] = (
            counts[used].astype(np.float64) @ weights[used] / max(int(counts.sum()), 1)
        ).astype(np.float32)
        return mean

    @cached_property
    def _loaded(self) -> Any:
        package = imported("wordllama", "the embedder wordllama", extra="dense")
        folder = Path(package.__file__).parent  # the weights lie in the package itself
        return package.WordLlama.load(self.model, cache_dir=folder, disable_download=True)


def _batches(sizes: npt.NDArray[np.int64]) -> Iterator[list[int]]:
    """The places of texts that are embedded together: as long as each other, and not too much.

    Each text of a batch takes as much memory as its longest.
    """
    batch: list[int] = []
    for place in np.argsort(sizes, kind="stable").tolist():
        if batch and (len(batch) == _MOST or sizes[place] * (len(batch) + 1) > _AT_ONCE):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _pieces(text: str) -> Iterator[str]:
    """A long text in pieces that end where words do, if they do."""
    start = 0
    while start < len(text):
        end = min(start + _PIECE, len(text))
        blank = text.rfind(" ", start + 1, end) if end < len(text) else -1
        yield text[start : blank if blank > 0 else end]
        start = blank + 1 if blank > 0 else end  # the tokenizer begins every text with a blank
