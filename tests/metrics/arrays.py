"""Array strategies, and naive metrics that share no code with the library."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def ids(rows: Sequence[Sequence[int]]) -> npt.NDArray[np.int32]:
    """Return an int32 array of ids."""
    return np.array(rows, dtype=np.int32)


def naive_recall(top: list[int], relevant: set[int]) -> float:
    """|top ∩ relevant| / |relevant|."""
    return len(set(top) & relevant) / len(relevant) if relevant else 0.0


def naive_precision(top: list[int], relevant: set[int]) -> float:
    """|top ∩ relevant| / |ids in the top k|."""
    places = sum(1 for document in top if document != -1)
    return len(set(top) & relevant) / places if places else 0.0


def naive_precision_of_k(top: list[int], relevant: set[int]) -> float:
    """|top ∩ relevant| / k."""
    return len(set(top) & relevant) / len(top)


def naive_mrr(top: list[int], relevant: set[int]) -> float:
    """1 / rank of the first relevant id."""
    return next((1 / rank for rank, doc in enumerate(top, 1) if doc in relevant), 0.0)


def naive_ndcg(top: list[int], relevant: set[int]) -> float:
    """Binary DCG / ideal DCG."""
    gain = ideal = 0.0  # added in order: sum() compensates rounding since Python 3.12
    for place, doc in enumerate(top):
        if doc in relevant and doc not in top[:place]:
            gain += 1 / math.log2(place + 2)
    for place in range(min(len(relevant), len(top))):
        ideal += 1 / math.log2(place + 2)
    return gain / ideal if ideal else 0.0


def naive_hit_rate(top: list[int], relevant: set[int]) -> float:
    """1 if the sets intersect."""
    return float(bool(set(top) & relevant))


NAIVE: dict[str, Callable[[list[int], set[int]], float]] = {
    "recall": naive_recall,
    "precision_of_retrieved": naive_precision,
    "precision_of_k": naive_precision_of_k,
    "mrr": naive_mrr,
    "ndcg": naive_ndcg,
    "hit_rate": naive_hit_rate,
}


def naive_scores(
    metric: str, retrieved: npt.NDArray[np.int32], relevant: npt.NDArray[np.int32], k: int
) -> npt.NDArray[np.float32]:
    """Score all rows with a naive metric."""
    scores = [
        NAIVE[metric](top[:k], set(row) - {-1})
        for top, row in zip(retrieved.tolist(), relevant.tolist(), strict=True)
    ]
    return np.array(scores, dtype=np.float32)


# Few different ids make duplicates and hits likely; the ends of int32 and -2 are ids like others.
_IDS = st.one_of(
    st.integers(-3, 12),
    st.sampled_from([INT32_MIN, INT32_MAX, -2]),
    st.integers(INT32_MIN, INT32_MAX),
)


@st.composite
def id_arrays(draw: st.DrawFn) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], int]:
    """Draw `(retrieved, relevant, k)` with padding, duplicates and any size."""
    rows = draw(st.integers(0, 6))
    columns = draw(st.integers(1, 12))
    relevant_columns = draw(st.one_of(st.integers(0, 8), st.integers(17, 40)))
    return (
        _matrix(draw, _IDS, rows, columns, np.int32),
        _matrix(draw, _IDS, rows, relevant_columns, np.int32),
        draw(st.integers(1, columns)),
    )


@st.composite
def grades_for(
    draw: st.DrawFn, relevant: npt.NDArray[np.int32]
) -> npt.NDArray[np.int32] | npt.NDArray[np.float32] | npt.NDArray[np.float64]:
    """Draw grades of any allowed type, with one grade per id and row."""
    dtype = draw(st.sampled_from([np.int32, np.float32, np.float64]))
    values: st.SearchStrategy[Any] = (
        st.integers(-2, 4)
        if dtype is np.int32
        else st.floats(-1e6, 1e6, width=32 if dtype is np.float32 else 64)
    )
    grades = _matrix(draw, values, relevant.shape[0], relevant.shape[1], dtype)
    for row in range(len(relevant)):
        first: dict[int, int] = {}
        for column, document in enumerate(relevant[row].tolist()):
            grades[row, column] = grades[row, first.setdefault(document, column)]
    return grades


def _matrix(
    draw: st.DrawFn, values: st.SearchStrategy[Any], rows: int, columns: int, dtype: Any
) -> npt.NDArray[Any]:
    size = rows * columns
    flat = draw(st.lists(values, min_size=size, max_size=size))
    return np.array(flat, dtype=dtype).reshape(rows, columns)
