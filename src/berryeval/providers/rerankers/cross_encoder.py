"""A cross-encoder of `sentence-transformers`, which reads a query and a text together."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from berryeval._internal.optional import import_optional
from berryeval._internal.validate import require_whole
from berryeval.errors import ConfigurationError
from berryeval.providers.base import clean_text, first_line
from berryeval.providers.rerankers.base import Reranking, read_scores, text_of

if TYPE_CHECKING:
    from berryeval.data import Hit, Query


@dataclass
class CrossEncoder:
    """A cross-encoder of `sentence-transformers`, on a CPU or GPU.

    The hits of one query are one call of the model, never those of several: what else is in a batch
    changes the last digits of a score.

    Attributes:
        model: Hugging Face hub name, downloaded once, or a folder.
        device: "cpu", "cuda" or "mps"; "" for the best available.
        batch_size: Pairs of query and text per batch.
        max_length: Most tokens of query and text together, the rest is cut off; 0 for the model's.
    """

    modules: ClassVar[Sequence[str]] = ("sentence_transformers",)
    extra: ClassVar[str] = "sentence-transformers"
    model: str = "cross-encoder/ms-marco-MiniLM-L6-v2"
    device: str = ""
    batch_size: int = 32
    max_length: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        require_whole("batch_size of the reranker cross-encoder", self.batch_size)
        require_whole("max_length of the reranker cross-encoder", self.max_length, least=0)

    def rerank(self, query: Query, hits: Sequence[Hit]) -> Reranking:
        """Score each hit by the model."""
        asked = clean_text(query.text)
        pairs = [(asked, text_of(hit)) for hit in hits]
        with self._lock:  # tokenizers and models are not thread-safe
            found = self._loaded.predict(
                pairs, batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True
            )
        if getattr(found, "ndim", 1) != 1:
            raise ConfigurationError(
                f"model of the reranker cross-encoder: {self.model!r} gives "
                f"{found.shape[-1]} numbers for a text; a reranker needs a model with one label"
            )
        return Reranking(read_scores(found, len(hits), "the reranker cross-encoder"))

    @cached_property
    def _loaded(self) -> Any:
        owner = "the reranker cross-encoder"
        package = import_optional("sentence_transformers", owner, extra=self.extra)
        length = {"max_length": self.max_length} if self.max_length else {}
        try:
            return package.CrossEncoder(self.model, device=self.device or None, **length)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ConfigurationError(
                f"model of {owner}: {self.model!r} cannot be loaded ({first_line(error)})"
            ) from None
