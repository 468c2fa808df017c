"""Embeddings from the package `sentence-transformers`."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval._internal.validate import require_whole
from berryeval.errors import ConfigurationError
from berryeval.providers.base import clean_text, first_line
from berryeval.providers.embedders.cache import model_identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


@dataclass
class SentenceTransformers:
    """A `sentence-transformers` model, on a CPU or GPU.

    Attributes:
        model: Hugging Face hub name, downloaded once, or a folder.
        device: "cpu", "cuda" or "mps"; "" for the best available.
        batch_size: Texts per batch.
        query_prefix: Text put before every query, such as "query: "; some models need one.
        text_prefix: Text put before every indexed text.
        cache: Folder for computed vectors, None for the default folder, "" for none.
    """

    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    device: str = ""
    batch_size: int = 32
    query_prefix: str = ""
    text_prefix: str = ""
    cache: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        require_whole("batch_size of the embedder sentence-transformers", self.batch_size)

    @property
    def identity(self) -> str:
        """Everything that determines the vectors."""
        return f"sentence-transformers:{model_identity(self.model)}:{self.text_prefix}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per text."""
        return self._encode([self.text_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per query."""
        return self._encode([self.query_prefix + text for text in texts])

    def _encode(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        whole = [clean_text(text) for text in texts]
        with self._lock:  # tokenizers and models are not thread-safe
            rows = self._loaded.encode(
                whole, batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True
            )
        return np.asarray(rows)

    @cached_property
    def _loaded(self) -> Any:
        package = import_optional(
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
