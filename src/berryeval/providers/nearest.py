"""The nearest of many vectors, by their cosine: the same for a query alone and among others.

One product of matrices finds who may be near; its last digits depend on how much was multiplied at
once. So each of these few is computed again by itself, in double precision: equal vectors tie, and
a batch changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

__all__ = ["Nearest"]


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
