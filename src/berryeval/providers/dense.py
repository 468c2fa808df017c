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

from berryeval.providers.base import best_hits, check_feedback, searched_text
from berryeval.providers.embedding import EmbeddingProvider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from berryeval.records import Chunk, Hit, Query

__all__ = ["Dense"]

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
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _vectors: Any = field(default=None, init=False, repr=False)
    _first_alike: Any = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse a feedback that is none."""
        check_feedback("dense", self.feedback)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Embed every chunk."""
        self._vectors = self.embed([searched_text(chunk) for chunk in chunks])
        first: dict[bytes, int] = {}
        self._first_alike = np.array(
            [first.setdefault(row.tobytes(), place) for place, row in enumerate(self._vectors)],
            dtype=np.intp,
        )
        self._chunks = chunks if self._vectors.any() else ()  # without a direction nothing is near

    def search(self, query: Query, k: int) -> list[Hit]:
        """The nearest chunks; one without a direction, such as an empty text, is no hit."""
        if not len(self._chunks):
            return []
        vector = self.embed_query(query.text)
        if not vector.any():
            return []
        cosines = self._cosines(vector)
        if self.feedback:
            best = np.argsort(-cosines, kind="stable")[: self.feedback]
            vector = vector + _FEEDBACK_SHARE * self._vectors[best].mean(axis=0)
            cosines = self._cosines(vector / np.linalg.norm(vector))
        return best_hits(self._chunks, cosines, k, least=-np.inf)

    def _cosines(self, vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        cosines: npt.NDArray[np.float32] = self._vectors @ vector
        # A product may differ in the last bit from row to row: equal vectors must tie.
        cosines = cosines[self._first_alike]
        cosines[~self._vectors.any(axis=1)] = -np.inf
        return cosines
