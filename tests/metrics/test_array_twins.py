"""Native, Python and naive array metrics give the same bytes.

The tests call both kernels directly to compare them in one process.
"""

from __future__ import annotations

import os
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval import metrics
from berryeval.metrics import _python
from tests.metrics.arrays import NAIVE, grades_for, id_arrays, ids, naive_scores

if TYPE_CHECKING:
    import numpy.typing as npt

# `make test` forces the native backend in one of its runs, and fails there if it is missing.
native = pytest.importorskip(
    "berryeval._native", reason="this installation was built without a C++ compiler"
)

METRICS = list(NAIVE)


def score_both(
    retrieved: npt.NDArray[np.int32],
    relevant: npt.NDArray[np.int32],
    grades: Any,
    threshold: float,
    requests: list[tuple[str, int]],
    threads: int = 2,
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Run both kernels and require the same conflict."""
    shape = len(requests), len(retrieved)
    ours, theirs = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    arguments = (retrieved, relevant, grades, threshold, requests)
    assert native.score_rows(*arguments, ours, threads) == _python.score_rows(*arguments, theirs)
    return ours, theirs


@given(id_arrays(), st.integers(1, 4))
def test_native_equals_python_equals_naive(
    arrays: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], int], threads: int
) -> None:
    retrieved, relevant, k = arrays
    requests = [(metric, k) for metric in METRICS]
    ours, theirs = score_both(retrieved, relevant, None, 1.0, requests, threads)
    assert ours.tobytes() == theirs.tobytes()
    for metric, scores in zip(METRICS, ours, strict=True):
        expected = naive_scores(metric, retrieved, relevant, k)
        assert scores.tobytes() == expected.tobytes(), metric
        assert ((scores >= 0) & (scores <= 1)).all()


@given(st.data())
def test_native_equals_python_with_grades(data: st.DataObject) -> None:
    retrieved, relevant, k = data.draw(id_arrays())
    grades = data.draw(grades_for(relevant))
    threshold = data.draw(st.floats(-3.0, 5.0))
    cutoffs = [k, retrieved.shape[1], 1]
    requests = [(metric, cutoff) for metric in METRICS for cutoff in cutoffs]
    ours, theirs = score_both(retrieved, relevant, grades, threshold, requests)
    assert ours.tobytes() == theirs.tobytes()
    assert ((ours >= 0) & (ours <= 1)).all()


@given(id_arrays())
def test_grades_of_1_equal_binary_relevance(
    arrays: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], int],
) -> None:
    retrieved, relevant, k = arrays
    requests = [(metric, k) for metric in METRICS]
    ours, _ = score_both(retrieved, relevant, None, 1.0, requests)
    graded, _ = score_both(retrieved, relevant, np.ones_like(relevant), 1.0, requests)
    assert ours.tobytes() == graded.tobytes()


@given(id_arrays(), st.data())
def test_both_kernels_report_the_same_conflict(
    arrays: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], int], data: st.DataObject
) -> None:
    retrieved, relevant, k = arrays
    size = relevant.size
    flat = data.draw(st.lists(st.integers(0, 1), min_size=size, max_size=size))
    grades = np.array(flat, dtype=np.int32).reshape(relevant.shape)
    score_both(retrieved, relevant, grades, 1.0, [("ndcg", k)])  # compares the reports


def test_threads_do_not_change_the_scores() -> None:
    rng = np.random.default_rng(11)
    retrieved = rng.integers(-1, 400, (4_000, 100), dtype=np.int32)
    relevant = rng.integers(-1, 400, (4_000, 30), dtype=np.int32)
    requests = [(metric, k) for metric in METRICS for k in (1, 10, 100)]
    ours, theirs = score_both(retrieved, relevant, None, 1.0, requests, threads=3)
    assert ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("name", ["recall_at_k", "precision_at_k", "mrr", "ndcg", "hit_rate"])
def test_the_python_module_offers_the_public_functions(name: str) -> None:
    rng = np.random.default_rng(7)
    retrieved = rng.integers(-1, 20, (30, 8), dtype=np.int32)
    relevant = rng.integers(-1, 20, (30, 5), dtype=np.int32)
    grades = (relevant % 4).astype(np.float64)
    reference, public = getattr(_python, name), getattr(metrics, name)
    assert signature(reference) == signature(public)
    for keywords in ({}, {"grades": grades}):
        found, expected = (one(retrieved, relevant, 5, **keywords) for one in (reference, public))
        assert found.dtype == np.float32
        assert found.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="k must be between 1 and 8"):
        reference(retrieved, relevant, 9)


def out_for(requests: int = 1, queries: int = 1) -> npt.NDArray[np.float32]:
    return np.zeros((requests, queries), np.float32)


ONE = ids([[1, 2]])
UNALIGNED = np.frombuffer(b"\0" * 9, dtype=np.uint8)[1:].view(np.int32).reshape(1, 2)
GOOD: tuple[Any, ...] = (ONE, ONE, None, 1.0, [("recall", 2)], out_for(), 1)
MISUSES: dict[str, tuple[int, Any]] = {
    "retrieved None": (0, None),
    "retrieved a list": (0, [[1, 2]]),
    "retrieved int64": (0, ONE.astype(np.int64)),
    "retrieved 1-D": (0, ONE[0]),
    "retrieved Fortran": (0, np.asfortranarray(np.zeros((2, 2), np.int32))),
    "retrieved unaligned": (0, UNALIGNED),
    "retrieved bytes": (0, b"12345678"),
    "relevant strings": (1, np.array([["a", "b"]])),
    "relevant of other rows": (1, ids([[1, 2], [3, 4]])),
    "relevant unaligned": (1, UNALIGNED),
    "grades of another shape": (2, ids([[1]])),
    "grades int64": (2, np.ones((1, 2), np.int64)),
    "grades complex": (2, np.ones((1, 2), np.complex128)),
    "grades an object": (2, object()),
    "grades not contiguous": (2, np.ones((1, 4))[:, ::2]),
    "threshold a string": (3, "1"),
    "threshold None": (3, None),
    "requests None": (4, None),
    "requests a string": (4, "recall"),
    "an unknown metric": (4, [("nope", 1)]),
    "a number for a metric": (4, [(1, 1)]),
    "cutoff 0": (4, [("recall", 0)]),
    "cutoff -1": (4, [("recall", -1)]),
    "cutoff too large": (4, [("recall", 3)]),
    "cutoff beyond any type": (4, [("recall", 2**80)]),
    "cutoff a float": (4, [("recall", 1.0)]),
    "requests not pairs": (4, [("recall",)]),
    "out too small": (5, out_for(queries=0)),
    "out too large": (5, out_for(requests=2)),
    "out float64": (5, np.zeros((1, 1))),
    "out read-only": (5, np.frombuffer(b"\0" * 4, dtype=np.float32).reshape(1, 1)),
    "out None": (5, None),
    "threads negative": (6, -1),
    "threads a float": (6, 1.5),
    "threads None": (6, None),
}


@pytest.mark.parametrize("misuse", MISUSES, ids=list(MISUSES))
def test_the_native_module_rejects_misuse(misuse: str) -> None:
    """The interpreter survives arguments that bypass the public checks."""
    position, value = MISUSES[misuse]
    arguments = [*GOOD[:position], value, *GOOD[position + 1 :]]
    with pytest.raises((TypeError, ValueError)):
        native.score_rows(*arguments)


@pytest.mark.parametrize("position", [0, 1])
def test_the_native_module_does_not_convert_arrays(position: int) -> None:
    arguments = list(GOOD)
    arguments[position] = ONE.astype(np.int64)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        native.score_rows(*arguments)


def test_the_native_module_survives_nan_and_infinity() -> None:
    """The public functions reject such grades."""
    for value in (np.nan, np.inf, -np.inf):
        out = out_for(2)
        requests = [("ndcg", 2), ("recall", 2)]
        native.score_rows(ONE, ONE, np.full((1, 2), value), value, requests, out, 1)


def test_the_forced_backend_is_active() -> None:
    """`make test` runs the suite once per backend."""
    from berryeval._internal.backend import BACKEND

    assert os.environ.get("BERRYEVAL_BACKEND", BACKEND) == BACKEND
