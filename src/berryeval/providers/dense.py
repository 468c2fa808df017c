"""`dense`: search by the cosine of embeddings, exact, in memory.

With feedback the query is searched twice: the second time from where it stands moved towards the
middle of the best chunks of the first. Rocchio (1971), "Relevance Feedback in Information
Retrieval".

Embedders: `wordllama` comes with its model and is fast; `model2vec` and `sentence-transformers`
load one from a folder or download it; `openai` asks a server of OpenAI's protocol (`base_url`,
`api_key`). Vectors of chunks made by `sentence-transformers` or `openai` are kept in a file under
`BERRYEVAL_CACHE`, or the user's folder for caches, and found again by the hash of model and text;
`cache: ""` among the `embedder_options` keeps nothing. Queries are embedded anew each time: that is
part of their latency.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from berryeval.providers.base import check_feedback, ranked_hits, searched_text
from berryeval.providers.embedders.base import EmbeddingProvider

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy.typing as npt

    from berryeval.data import Chunk, Hit, Query


# The nearest of many vectors, by their cosine: the same for a query alone and among others.


class Nearest:
    """Vectors of length 1 to compare with; one that is all zeros has no direction."""

    def __init__(self, vectors: npt.NDArray[np.float32]) -> None:
        self.vectors = vectors
        self._without_direction = ~vectors.any(axis=1)
        # The most by which a product of floats can be wrong, on either side.
        self._margin = 2 * vectors.shape[1] * float(np.finfo(np.float32).eps)

    def to(
        self, queries: npt.NDArray[np.float32], k: int
    ) -> Iterator[tuple[list[int], list[float]]]:
        """For each query the places of its `k` nearest, and perhaps a few more, with cosines.

        A query without a direction has none.
        """
        if not queries.any():  # nor need it have as many numbers as the others
            yield from [([], [])] * len(queries)
            return
        roughly = queries @ self.vectors.T
        roughly[:, self._without_direction] = -np.inf
        for query, about in zip(queries, roughly, strict=True):
            places = self._candidates(about, k) if query.any() else np.zeros(0, dtype=np.intp)
            rows = self.vectors[places].astype(np.float64)
            cosines = np.einsum("ij,j->i", rows, query.astype(np.float64))
            yield places.tolist(), cosines.tolist()

    def _candidates(self, about: npt.NDArray[np.float32], k: int) -> npt.NDArray[np.intp]:
        least = -np.inf
        if len(about) > k:
            least = float(np.partition(about, -k)[-k]) - self._margin
        return np.flatnonzero((about >= least) & (about > -np.inf))


_FEEDBACK_SHARE: Final = 0.5


@dataclass
class Dense(EmbeddingProvider):
    """Every chunk and every query a vector; the hits are the nearest by angle.

    Attributes:
        embedder: who makes vectors of texts.
        embedder_options: what the embedder is made with.
        feedback: how many of the best chunks the query is moved towards; 0 for none.
    """

    embedder: str = "wordllama"
    embedder_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    feedback: int = 0
    extra: ClassVar[str] = "dense"
    modules: ClassVar[Sequence[str]] = ("wordllama",)
    in_process: ClassVar[bool] = True
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _nearest: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a feedback that is none."""
        check_feedback("dense", self.feedback)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Embed every chunk."""
        vectors = self.embed([searched_text(chunk) for chunk in chunks])
        self._nearest = Nearest(vectors)
        self._chunks = chunks if vectors.any() else ()  # without a direction nothing is near

    def search(self, query: Query, k: int) -> list[Hit]:
        """The nearest chunks; one without a direction, such as an empty text, is no hit."""
        return self.search_many([query], k)[0]

    def search_many(self, queries: Sequence[Query], k: int) -> list[list[Hit]]:
        """The same for several queries, which are compared with all chunks in one product."""
        if not len(self._chunks):
            return [[] for _ in queries]
        vectors = self.embed_queries([query.text for query in queries])
        if self.feedback:
            vectors = self._moved(vectors)
        return [
            ranked_hits([self._chunks[place] for place in places], cosines, k)
            for places, cosines in self._nearest.to(vectors, k)
        ]

    def _moved(self, vectors: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """The vectors, towards the middle of the chunks that are nearest to each."""
        moved = vectors.copy()
        for row, (places, cosines) in enumerate(self._nearest.to(vectors, self.feedback)):
            if places:
                order = np.argsort(-np.array(cosines), kind="stable")[: self.feedback]
                best = self._nearest.vectors[np.array(places)[order]]
                moved[row] += _FEEDBACK_SHARE * best.mean(axis=0)
                moved[row] /= np.linalg.norm(moved[row])
        return moved
