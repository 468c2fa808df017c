"""Embeddings of the package `sentence-transformers`."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval._internal.optional import imported
from berryeval.errors import ConfigurationError
from berryeval.providers.base import check_counts, first_line, writable
from berryeval.providers.embedders.cache import model_identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


@dataclass
class SentenceTransformers:
    """A model of `sentence-transformers`, on the CPU or a GPU.

    Attributes:
        model: a name of the Hugging Face hub, which is downloaded once, or a folder.
        device: "cpu", "cuda", "mps"; "" for the best there is.
        batch_size: how many texts go through the model at once.
        query_prefix: put before every query; some models want one, as "query: ".
        text_prefix: put before every text that is searched.
        cache: a folder for vectors that were made once, None for the usual one, "" for none.
    """

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    device: str = ""
    batch_size: int = 32
    query_prefix: str = ""
    text_prefix: str = ""
    cache: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a batch of nothing."""
        check_counts("the embedder sentence-transformers", batch_size=self.batch_size)

    @property
    def identity(self) -> str:
        """What decides the numbers."""
        return f"sentence-transformers:{model_identity(self.model)}:{self.text_prefix}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per text."""
        return self._rows([self.text_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per query."""
        return self._rows([self.query_prefix + text for text in texts])

    def _rows(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        whole = [writable(text) for text in texts]
        with self._lock:  # tokenizers and models are not made for several threads
            made = self._loaded.encode(
                whole, batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True
            )
        return np.asarray(made)

    @cached_property
    def _loaded(self) -> Any:
        package = imported(
            "sentence_transformers",
            "the embedder sentence-transformers",
            extra="sentence-transformers",
        )
        try:
            return package.SentenceTransformer(self.model, device=self.device or None)
        except (OSError, ValueError, RuntimeError) as error:
            name = "the embedder sentence-transformers"
            msg = f"model of {name}: {self.model!r} cannot be loaded ({first_line(error)})"
            raise ConfigurationError(msg) from None
