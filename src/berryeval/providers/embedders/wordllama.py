"""Static embeddings that ship with the package `wordllama`: no download, no GPU, fast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from berryeval._internal.optional import import_optional

if TYPE_CHECKING:
    import numpy.typing as npt


_BATCH_TEXTS: Final = 64  # texts per batch
_BATCH_BYTES: Final = 1 << 16  # counting each text as the longest; a token takes 2 kB
_PIECE: Final = 1 << 13  # characters per piece of a longer text


@dataclass
class WordLlama:
    """Vectors of 256 numbers: the mean of the token vectors of a text.

    Attributes:
        model: Name of a model inside the package.
        lower_capitals: Whether to embed a text that is mostly in capitals in lower case. The model
            knows upper-case words badly: without this, queries in capitals find little.
        cache: Folder for computed vectors, None for the default folder; "" (the default) for none,
            because embedding takes a fraction of a millisecond.
    """

    modules: ClassVar[Sequence[str]] = ("wordllama",)
    extra: ClassVar[str] = "dense"
    model: str = "l2_supercat"
    lower_capitals: bool = True
    cache: str | None = ""

    @property
    def identity(self) -> str:
        """Everything that determines the vectors."""
        return f"wordllama:{self.model}{':lower' if self.lower_capitals else ''}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per text."""
        # The tokenizer rejects lone surrogates.
        cased = map(lower_capitals, texts) if self.lower_capitals else texts
        coded = [text.encode(errors="replace") for text in cased]
        vectors = np.zeros((len(coded), self._loaded.embedding.shape[1]), dtype=np.float32)
        sizes = np.array([len(text) for text in coded], dtype=np.int64)
        for places in _batches(sizes):
            whole = [coded[place].decode() for place in places]
            if sizes[places[-1]] > _BATCH_BYTES:
                vectors[places[0]] = self._embed_long(whole[0])
                continue
            with np.errstate(invalid="ignore"):  # the mean of an empty text is NaN
                vectors[places] = self._loaded.embed(whole)
        return vectors

    def _embed_long(self, text: str) -> npt.NDArray[np.float32]:
        """Return the mean of all token vectors of a long text, counted piece by piece."""
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
        return _load(self.model)


@lru_cache(maxsize=1)  # the providers of an evaluation share the model, which never changes
def _load(model: str) -> Any:
    package = import_optional("wordllama", "the embedder wordllama", extra="dense")
    folder = Path(package.__file__).parent  # the weights are inside the package
    return package.WordLlama.load(model, cache_dir=folder, disable_download=True)


def lower_capitals(text: str) -> str:
    """Return a text in lower case if most of its letters are capitals, else unchanged.

    >>> lower_capitals("HOW DO TOKENS expire?"), lower_capitals("What is the API?")
    ('how do tokens expire?', 'What is the API?')
    """
    capitals = sum(map(str.isupper, text))
    return text.lower() if capitals > sum(map(str.islower, text)) else text


def _batches(sizes: npt.NDArray[np.int64]) -> Iterator[list[int]]:
    """Yield positions of texts of similar length: each takes as much memory as the longest."""
    batch: list[int] = []
    for place in np.argsort(sizes, kind="stable").tolist():
        if batch and (len(batch) == _BATCH_TEXTS or sizes[place] * (len(batch) + 1) > _BATCH_BYTES):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _pieces(text: str) -> Iterator[str]:
    """Split a long text into pieces, at spaces where possible."""
    start = 0
    while start < len(text):
        end = min(start + _PIECE, len(text))
        blank = text.rfind(" ", start + 1, end) if end < len(text) else -1
        yield text[start : blank if blank > 0 else end]
        start = blank + 1 if blank > 0 else end  # the tokenizer starts every text with a space
