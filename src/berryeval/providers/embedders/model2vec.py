"""Static embeddings of the package `model2vec`: a table of tokens, fast without a GPU."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval._internal.optional import imported
from berryeval.errors import ConfigurationError
from berryeval.providers.base import first_line, writable
from berryeval.providers.embedders.cache import model_identity

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt


@dataclass
class Model2Vec:
    """A static model of `model2vec`: each token has its vector, a text the mean of them.

    Attributes:
        model: a name of the Hugging Face hub, which is downloaded once, or a folder.
        query_prefix: put before every query.
        text_prefix: put before every text that is searched.
        cache: a folder for vectors that were made once, None for the usual one; "" for none, as
            making them takes little time.
    """

    model: str = "minishlab/potion-base-8M"
    query_prefix: str = ""
    text_prefix: str = ""
    cache: str | None = ""

    @property
    def identity(self) -> str:
        """What decides the numbers."""
        return f"model2vec:{model_identity(self.model)}:{self.text_prefix}"

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per text."""
        return self._rows([self.text_prefix + text for text in texts])

    def embed_queries(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """A row per query."""
        return self._rows([self.query_prefix + text for text in texts])

    def _rows(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        # by one process: threads of the harness and processes of a pool do not mix
        made = self._loaded.encode([writable(text) for text in texts], use_multiprocessing=False)
        return np.asarray(made)

    @cached_property
    def _loaded(self) -> Any:
        package = imported("model2vec", "the embedder model2vec", extra="model2vec")
        try:
            return package.StaticModel.from_pretrained(self.model)
        except (OSError, ValueError, KeyError) as error:
            words = f"{self.model!r} cannot be loaded ({first_line(error)})"
            msg = f"model of the embedder model2vec: {words}"
            raise ConfigurationError(msg) from None
