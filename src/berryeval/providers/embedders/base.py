"""The table of embedders, and the base class of providers that use one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from berryeval._internal.registry import Registry
from berryeval._internal.validate import reject_unknown
from berryeval.data import ScopeLabels, scope_fields
from berryeval.errors import ProviderError
from berryeval.providers.base import Provider
from berryeval.providers.embedders.cache import embed_with_cache

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.data import Chunk, Query


_BATCH: Final = 64  # texts, for embedders without a batch size of their own
_PART_BATCHES: Final = 8  # batches that are embedded, cached and reported together
_USUAL: Final = "wordllama"  # embedder, and the module it needs


class Embedder(Protocol):
    """Turns texts into vectors. `model` identifies the model, for caches and manifests.

    A slow embedder may have `cache`, a folder for computed vectors (None for the default folder, ""
    for no cache), and `identity`, which must change whenever the vectors do. An embedder that
    treats queries differently has `embed_queries`; one that holds connections has `close`. One that
    needs further packages has `modules` and `extra`, as a provider; one that asks a server has
    `is_remote`.
    """

    model: str

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.floating[Any]]:
        """Return one row per text."""


EMBEDDERS: Final[Registry[Callable[..., Embedder]]] = Registry(
    "embedder",
    {
        "wordllama": "berryeval.providers.embedders.wordllama:WordLlama",
        "model2vec": "berryeval.providers.embedders.models:Model2Vec",
        "openai": "berryeval.providers.embedders.openai:OpenAi",
        "sentence-transformers": "berryeval.providers.embedders.models:SentenceTransformers",
    },
)


def build_embedder(name: str, options: Mapping[str, Any] | None = None) -> Embedder:
    """Build an embedder from its name and options."""
    kind = EMBEDDERS.get(name)
    given = dict(options or {})
    if dataclasses.is_dataclass(kind):
        known = [option.name for option in dataclasses.fields(kind) if option.init]
        reject_unknown(f"embedder {name!r}", given, known)
    return kind(**given)


def embed_texts(
    embedder: Embedder,
    texts: Sequence[str],
    report: Callable[[int, int], None] | None = None,
) -> npt.NDArray[np.float32]:
    """Return unit vectors of texts to index, cached if possible; all zeros without content.

    Many texts are embedded in parts: each is cached when it is done, and `report` is told.
    """
    size = _PART_BATCHES * getattr(embedder, "batch_size", _BATCH)
    parts = []
    for start in range(0, len(texts), size):
        parts.append(_normalize(embed_with_cache(embedder, texts[start : start + size])))
        if report is not None:
            report(min(start + size, len(texts)), len(texts))
    widths = {part.shape[1] for part in parts if part.any()}
    widths = widths or {max((part.shape[1] for part in parts), default=1)}
    if len(widths) > 1:  # the model has changed since a part was cached
        return _normalize(np.asarray(embedder.embed(list(texts))))
    width = widths.pop()  # that of a part without any content may differ
    whole = [part if part.any() else np.zeros((len(part), width), np.float32) for part in parts]
    return np.concatenate([np.zeros((0, width), np.float32), *whole])


def embed_query(embedder: Embedder, text: str) -> npt.NDArray[np.float32]:
    """Return the unit vector of one query."""
    vector: npt.NDArray[np.float32] = embed_queries(embedder, [text])[0]
    return vector


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Return unit vectors of queries, never cached: embedding is part of a query's latency."""
    embed_queries = getattr(embedder, "embed_queries", None) or embedder.embed
    return _normalize(np.asarray(embed_queries(texts)))


def _normalize(made: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
    vectors = np.nan_to_num(np.array(made, dtype=np.float32))
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    lengths[lengths == 0] = 1.0
    vectors /= lengths
    return vectors


@dataclass(kw_only=True)
class EmbeddingProvider(Provider):
    """A provider that searches vectors.

    Attributes:
        embedder: Name of the embedder.
        embedder_options: Options of the embedder.
    """

    embedder: str = _USUAL
    embedder_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _labels: ScopeLabels = field(default=ScopeLabels(()), init=False, repr=False)
    # Fields of the scopes to expect; None if unknown, so that every field is indexed.
    _scope_fields: tuple[str, ...] | None = field(default=None, init=False, repr=False)

    def needs_documents(self) -> bool:
        """Return True: it searches only what it indexed."""
        return True

    def searches_in_process(self) -> bool:
        """Whether neither the engine nor the embedder is a server."""
        asks = self.with_vectors and getattr(EMBEDDERS.get(self.embedder), "is_remote", False)
        return super().searches_in_process() and not asks

    def expect(self, queries: Sequence[Query]) -> None:
        """Remember the fields that the scopes of the queries name: only these are indexed."""
        self._scope_fields = scope_fields(queries)

    def label(self, chunks: Sequence[Chunk]) -> Sequence[list[str]] | None:
        """Return the labels of each chunk that scopes are filtered by, or None."""
        self._labels = ScopeLabels(chunks, self._scope_fields)
        return self._labels.rows if self._labels.fields else None

    def filters(self, query: Query) -> list[list[str]]:
        """Return lists of labels; a chunk in the scope has at least one label of each list."""
        return self._labels.filters(query.scope)

    def required(self) -> dict[str, str]:
        """Return the modules that the provider and its embedder need, and their extras."""
        needed = super().required()
        needed.pop(_USUAL, None)  # listed in case nothing is set
        if self.with_vectors:
            kind = EMBEDDERS.get(self.embedder)
            for module in getattr(kind, "modules", ()):
                own = self.extra if module in self.modules else ""
                needed[module] = own or getattr(kind, "extra", "")
        return needed

    @property
    def with_vectors(self) -> bool:
        """Whether anything is embedded."""
        return True

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors of texts to index; all zeros for a text without content."""
        return embed_texts(self._embedder, texts, self.report_progress)

    def embed_query(self, text: str) -> npt.NDArray[np.float32]:
        """Return the unit vector of a query; all zeros if it has no content."""
        return embed_query(self._embedder, text)

    def _drop(self) -> None:
        """Remove what `index` created in the engine."""

    def close(self) -> None:
        """Close the embedder, remove what was indexed, and close the client of the engine."""
        if "_embedder" in vars(self) and hasattr(self._embedder, "close"):
            self._embedder.close()
        with suppress(ProviderError):  # the server or the folder may be gone
            self._drop()
        if (client := vars(self).pop("_client", None)) is not None:
            client.close()

    @cached_property
    def _embedder(self) -> Embedder:
        return build_embedder(self.embedder, self.embedder_options)
