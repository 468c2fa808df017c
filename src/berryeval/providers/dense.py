"""`dense`: exact search by cosine similarity of embeddings, in memory.

With feedback the query is searched twice: the second time with its vector moved towards the mean of
the best chunks of the first search. Rocchio (1971), "Relevance Feedback in Information Retrieval".

Embedders: `wordllama` ships with its model and is fast; `model2vec` and `sentence-transformers`
load a model from a folder or download it; `openai` calls any server with the OpenAI protocol
(`base_url`, `api_key`). `wordllama` embeds texts that are mostly in capitals in lower case, because
its model knows upper-case words badly; the option `lower_capitals` of the first three turns this on
or off. Chunk vectors from `sentence-transformers` and `openai` are cached in a file under
`BERRYEVAL_CACHE`, or the user's cache folder, by the hash of model and text; `cache: ""` in
`embedder_options` turns the cache off. Query vectors are never cached, because embedding is part of
a query's latency.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from berryeval._internal.validate import require_whole
from berryeval.data import ScopeIndex
from berryeval.providers.base import SearchableTexts, rank_hits
from berryeval.providers.embedders.base import EmbeddingProvider, embed_queries

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.data import Chunk, Hit, Query


class Nearest:
    """Exact nearest neighbours by cosine; a query gets the same result alone and in a batch.

    Vectors have length 1, or are all zeros for texts without content, which are never found.
    """

    def __init__(self, vectors: npt.NDArray[np.float32]) -> None:
        self.vectors = vectors
        self._empty = ~vectors.any(axis=1)
        # Bound on the rounding error of a float32 dot product, on either side.
        self._margin = 2 * vectors.shape[1] * float(np.finfo(np.float32).eps)

    def find(
        self,
        queries: npt.NDArray[np.float32],
        k: int,
        inside: Sequence[npt.NDArray[np.bool_] | None] = (),
    ) -> Iterator[tuple[list[int], list[float]]]:
        """Yield the positions and cosines of the `k` or more nearest vectors of each query.

        `inside` tells for each query which vectors it may find; None means all.
        """
        if not queries.any():  # its vectors may then have another length
            yield from [([], [])] * len(queries)
            return
        rough = queries @ self.vectors.T
        rough[:, self._empty] = -np.inf
        for query, about, allowed in zip(
            queries, rough, inside or [None] * len(queries), strict=True
        ):
            if allowed is not None:
                about[~allowed] = -np.inf
            places = self._candidates(about, k) if query.any() else np.zeros(0, dtype=np.intp)
            rows = self.vectors[places].astype(np.float64)
            cosines = np.einsum("ij,j->i", rows, query.astype(np.float64))
            yield places.tolist(), cosines.tolist()

    def _candidates(self, about: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.intp]:
        few = len(about) <= k
        least = -np.inf if few else float(np.partition(about, -k)[-k]) - self._margin
        return np.flatnonzero((about >= least) & (about > -np.inf))


_FEEDBACK_SHARE: Final = 0.5


@dataclass
class Dense(EmbeddingProvider):
    """Nearest chunks by cosine similarity of embeddings.

    Attributes:
        feedback: Number of top chunks towards which the query vector is moved; 0 for none.
    """

    embedder: str = "wordllama"
    embedder_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    feedback: int = 0
    extra: ClassVar[str] = "dense"
    modules: ClassVar[Sequence[str]] = ("wordllama",)
    in_process: ClassVar[bool] = True
    _nearest: Any = field(default=None, init=False, repr=False)
    _scopes: ScopeIndex = field(default=ScopeIndex(()), init=False, repr=False)

    def __post_init__(self) -> None:
        require_whole("feedback of dense", self.feedback, least=0)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Embed every chunk."""
        vectors = self.embed(SearchableTexts(chunks))
        self._nearest = Nearest(vectors)
        self._scopes = ScopeIndex(chunks)
        self._chunks = chunks if vectors.any() else ()  # all texts may be empty

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the nearest chunks; a chunk without content is never a hit."""
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """Search several queries with one matrix product."""
        if not len(self._chunks):
            return [[] for _ in queries]
        vectors = embed_queries(self._embedder, [query.text for query in queries])
        inside = [self._scopes.find(query.scope) for query in queries]
        if self.feedback:
            vectors = self._apply_feedback(vectors, inside)
        return [
            rank_hits([self._chunks[place] for place in places], cosines, k)
            for places, cosines in self._nearest.find(vectors, k, inside)
        ]

    def _apply_feedback(
        self, vectors: npt.NDArray[np.float32], inside: Sequence[npt.NDArray[np.bool_] | None]
    ) -> npt.NDArray[np.float32]:
        moved = vectors.copy()
        found = self._nearest.find(vectors, self.feedback, inside)
        for row, (places, cosines) in enumerate(found):
            if places:
                order = np.argsort(-np.array(cosines), kind="stable")[: self.feedback]
                best = self._nearest.vectors[np.array(places)[order]]
                moved[row] += _FEEDBACK_SHARE * best.mean(axis=0)
                moved[row] /= np.linalg.norm(moved[row])
        return moved
