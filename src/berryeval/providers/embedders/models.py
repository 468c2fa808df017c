"""Embeddings from models that run in this process: `model2vec` and `sentence-transformers`."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval._internal.validate import require_whole
from berryeval.errors import ConfigurationError
from berryeval.providers.base import clean_text, first_line
from berryeval.providers.embedders.cache import model_identity
from berryeval.providers.embedders.wordllama import lower_capitals

if TYPE_CHECKING:
    import numpy.typing as npt


@dataclass(kw_only=True)
class LocalModel(ABC):
    """A model of a Python package.

    Attributes:
        model: Hugging Face hub name, downloaded once, or a folder.
        query_prefix: Text put before every query, such as "query: "; some models need one.
        text_prefix: Text put before every indexed text.
        lower_capitals: Whether to embed a text that is mostly in capitals in lower case, for a
            model that knows upper-case words badly; most models need it not.
        cache: Folder for computed vectors, None for the default folder, "" for none.
    """

    name: ClassVar[str]
    model: str
    query_prefix: str = ""
    text_prefix: str = ""
    lower_capitals: bool = False
    cache: str | None = None

    @property
    def identity(self) -> str:
        """Everything that determines the vectors."""
        case = ":lower" if self.lower_capitals else ""
        return f"{self.name}:{model_identity(self.model)}{case}:{self.text_prefix}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per text."""
        return self._embed(self.text_prefix, texts)

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per query."""
        return self._embed(self.query_prefix, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        cased = map(lower_capitals, texts) if self.lower_capitals else texts
        return np.asarray(self._encode([clean_text(prefix + text) for text in cased]))

    @cached_property
    def _loaded(self) -> Any:
        owner = f"the embedder {self.name}"
        package = import_optional(self.name.replace("-", "_"), owner, extra=self.name)
        try:
            return self._load(package)
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ConfigurationError(
                f"model of {owner}: {self.model!r} cannot be loaded ({first_line(error)})"
            ) from None

    @abstractmethod
    def _load(self, package: Any) -> Any: ...

    @abstractmethod
    def _encode(self, texts: list[str]) -> Any: ...


@dataclass(kw_only=True)
class Model2Vec(LocalModel):
    """A static model: the vector of a text is the mean of its token vectors, fast without a GPU.

    By default the vectors are not cached, because embedding is fast.
    """

    name: ClassVar[str] = "model2vec"
    modules: ClassVar[Sequence[str]] = ("model2vec",)
    extra: ClassVar[str] = "model2vec"
    model: str = "minishlab/potion-base-8M"
    cache: str | None = ""

    def _load(self, package: Any) -> Any:
        return package.StaticModel.from_pretrained(self.model)

    def _encode(self, texts: list[str]) -> Any:
        # one process: the runner's threads and a process pool do not mix
        return self._loaded.encode(texts, use_multiprocessing=False)


@dataclass(kw_only=True)
class SentenceTransformers(LocalModel):
    """A `sentence-transformers` model, on a CPU or GPU.

    Attributes:
        device: "cpu", "cuda" or "mps"; "" for the best available.
        batch_size: Texts per batch.
    """

    name: ClassVar[str] = "sentence-transformers"
    modules: ClassVar[Sequence[str]] = ("sentence_transformers",)
    extra: ClassVar[str] = "sentence-transformers"
    model: str = "sentence-transformers/all-MiniLM-L6-v2"
    device: str = ""
    batch_size: int = 32
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        require_whole("batch_size of the embedder sentence-transformers", self.batch_size)

    def _load(self, package: Any) -> Any:
        return package.SentenceTransformer(self.model, device=self.device or None)

    def _encode(self, texts: list[str]) -> Any:
        with self._lock:  # tokenizers and models are not thread-safe
            return self._loaded.encode(
                texts, batch_size=self.batch_size, show_progress_bar=False, convert_to_numpy=True
            )
