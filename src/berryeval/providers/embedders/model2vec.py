"""Static embeddings from the package `model2vec`: a table of token vectors, fast without a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval.errors import ConfigurationError
from berryeval.providers.base import clean_text, first_line
from berryeval.providers.embedders.cache import model_identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


@dataclass
class Model2Vec:
    """A static `model2vec` model: the vector of a text is the mean of its token vectors.

    Attributes:
        model: Hugging Face hub name, downloaded once, or a folder.
        query_prefix: Text put before every query.
        text_prefix: Text put before every indexed text.
        cache: Folder for computed vectors, None for the default folder; "" (the default) for none,
            because embedding is fast.
    """

    model: str = "minishlab/potion-base-8M"
    query_prefix: str = ""
    text_prefix: str = ""
    cache: str | None = ""

    @property
    def identity(self) -> str:
        """Everything that determines the vectors."""
        return f"model2vec:{model_identity(self.model)}:{self.text_prefix}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per text."""
        return self._encode([self.text_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per query."""
        return self._encode([self.query_prefix + text for text in texts])

    def _encode(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        # one process: the runner's threads and a process pool do not mix
        rows = self._loaded.encode([clean_text(text) for text in texts], use_multiprocessing=False)
        return np.asarray(rows)

    @cached_property
    def _loaded(self) -> Any:
        package = import_optional("model2vec", "the embedder model2vec", extra="model2vec")
        try:
            return package.StaticModel.from_pretrained(self.model)
        except (OSError, ValueError, KeyError) as error:
            words = f"{self.model!r} cannot be loaded ({first_line(error)})"
            msg = f"model of the embedder model2vec: {words}"
            raise ConfigurationError(msg) from None
