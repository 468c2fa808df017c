"""Exact error messages of the array contract, on both backends."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.metrics.array_checks import PADDING_ID, validate_inputs, validate_score_inputs
from berryeval.metrics.arrays import (
    evaluate_arrays,
    hit_rate,
    mrr,
    ndcg,
    precision_at_k,
    recall_at_k,
)
from tests.metrics.arrays import ids

if TYPE_CHECKING:
    from collections.abc import Callable

GOOD = ids([[1, 2, 3]])
UNALIGNED = np.frombuffer(b"\0" * 13, dtype=np.uint8)[1:].view(np.int32).reshape(1, 3)
ENTRIES: list[Callable[..., Any]] = [
    recall_at_k,
    precision_at_k,
    mrr,
    ndcg,
    hit_rate,
    validate_inputs,
    lambda retrieved, relevant, k: evaluate_arrays(retrieved, relevant, ["recall"], k=k),
]
ENTRY_NAMES = ["recall", "precision", "mrr", "ndcg", "hit_rate", "validate_inputs", "evaluate"]

LAYOUT = (
    "must be C-contiguous and aligned in memory, found a view or another order; "
    "np.require({0}, requirements='CA') makes a copy that is"
)

# retrieved, relevant, k, error, message
REJECTED: dict[str, tuple[Any, Any, Any, type[Exception], str]] = {
    "a list": (
        [[1, 2]], GOOD, 1, TypeError,
        ("retrieved must be a numpy.ndarray, found list; "
        "np.array(retrieved, dtype=np.int32) makes one"),
    ),
    "None": (
        GOOD, None, 1, TypeError,
        ("relevant must be a numpy.ndarray, found NoneType; "
        "np.array(relevant, dtype=np.int32) makes one"),
    ),
    "a masked array": (
        GOOD.view(np.ma.MaskedArray), GOOD, 1, TypeError,
        ("retrieved must be a plain numpy.ndarray, found a masked array, whose mask would be "
        "ignored; retrieved.filled(-1) turns masked ids into padding"),
    ),
    "a matrix": (
        GOOD.view(np.matrix), GOOD, 1, TypeError,
        "retrieved must be a plain numpy.ndarray, found a matrix; np.asarray(retrieved) makes one",
    ),
    "int64": (
        GOOD.astype(np.int64), GOOD, 1, ValueError,
        ("retrieved must have dtype int32, found int64; "
        "retrieved.astype(np.int32) converts it if its values fit"),
    ),
    "float relevant": (
        GOOD, GOOD.astype(np.float64), 1, ValueError,
        ("relevant must have dtype int32, found float64; "
        "relevant.astype(np.int32) converts it if its values fit"),
    ),
    "uint32": (
        GOOD.astype(np.uint32), GOOD, 1, ValueError,
        ("retrieved must have dtype int32, found uint32; "
        "retrieved.astype(np.int32) converts it if its values fit"),
    ),
    "bool": (
        GOOD > 1, GOOD, 1, ValueError,
        ("retrieved must have dtype int32, found bool; "
        "retrieved.astype(np.int32) converts it if its values fit"),
    ),
    "strings": (
        np.array([["a"]]), GOOD, 1, ValueError,
        ("retrieved must have dtype int32, found <U1; "
        "retrieved.astype(np.int32) converts it if its values fit"),
    ),
    "objects": (
        np.array([[None]]), GOOD, 1, ValueError,
        ("retrieved must have dtype int32, found object; "
        "retrieved.astype(np.int32) converts it if its values fit"),
    ),
    "other byte order": (
        GOOD.astype(">i4"), GOOD, 1, ValueError,
        ("retrieved must have dtype int32, found >i4; "
        "retrieved.astype(np.int32) converts it if its values fit"),
    ),
    "1-D": (
        GOOD[0], GOOD, 1, ValueError,
        "retrieved must be 2-D, one row per query; found 1-D, shape (3,)",
    ),
    "3-D relevant": (
        GOOD, GOOD[None], 1, ValueError,
        "relevant must be 2-D, one row per query; found 3-D, shape (1, 1, 3)",
    ),
    "Fortran order": (
        np.asfortranarray(np.zeros((2, 3), np.int32)), ids([[1], [1]]), 1, ValueError,
        f"retrieved {LAYOUT.format('retrieved')}",
    ),
    "every second column": (
        GOOD, ids([[1, 2, 3, 4]])[:, ::2], 1, ValueError,
        f"relevant {LAYOUT.format('relevant')}",
    ),
    "unaligned": (UNALIGNED, GOOD, 1, ValueError, f"retrieved {LAYOUT.format('retrieved')}"),
    "fewer rows": (
        ids([[1], [2]]), GOOD, 1, ValueError,
        "relevant must have as many rows as retrieved, one per query: found 1 and 2",
    ),
    "k of 0": (
        GOOD, GOOD, 0, ValueError,
        "k must be between 1 and 3, the columns of retrieved; found 0",
    ),
    "negative k": (
        GOOD, GOOD, -1, ValueError,
        "k must be between 1 and 3, the columns of retrieved; found -1",
    ),
    "k too large": (
        GOOD, GOOD, 4, ValueError,
        "k must be between 1 and 3, the columns of retrieved; found 4",
    ),
    "k beyond any integer type": (
        GOOD, GOOD, 2**70, ValueError,
        f"k must be between 1 and 3, the columns of retrieved; found {2**70}",
    ),
    "k that Python would not print": (
        GOOD, GOOD, 10**5000, ValueError,
        "k must be between 1 and 3, the columns of retrieved; found 10**40 or more",
    ),
    "no columns": (
        np.empty((1, 0), np.int32), GOOD, 1, ValueError,
        "k must be between 1 and the columns of retrieved, but retrieved has no columns",
    ),
    "k a float": (GOOD, GOOD, 2.0, TypeError, "k must be an integer, found float 2.0"),
    "k a bool": (GOOD, GOOD, True, TypeError, "k must be an integer, found bool True"),
    "k a string": (GOOD, GOOD, "2", TypeError, "k must be an integer, found str '2'"),
}  # fmt: skip


@pytest.mark.parametrize("entry", ENTRIES, ids=ENTRY_NAMES)
@pytest.mark.parametrize("case", REJECTED, ids=list(REJECTED))
def test_invalid_arrays_are_rejected(case: str, entry: Callable[..., Any]) -> None:
    retrieved, relevant, k, error, message = REJECTED[case]
    with pytest.raises(error, match=f"^{re.escape(message)}$") as caught:
        entry(retrieved, relevant, k)
    assert type(caught.value) is error


def test_a_numpy_bool_is_not_an_integer() -> None:
    no_integer: Any = np.True_
    with pytest.raises(TypeError, match=r"^k must be an integer, found bool"):
        recall_at_k(GOOD, GOOD, no_integer)


def test_k_is_required() -> None:
    with pytest.raises(TypeError, match=r"^k must be an integer, found NoneType None$"):
        recall_at_k(GOOD, GOOD, None)  # type: ignore[call-overload]


def test_a_memory_mapped_array_is_accepted(tmp_path: Any) -> None:
    mapped = np.memmap(tmp_path / "ids", dtype=np.int32, mode="w+", shape=(1, 3))
    mapped[:] = [[1, 2, 3]]
    assert recall_at_k(mapped, GOOD, 3).tolist() == [1.0]


GRADES_REJECTED: dict[str, tuple[Any, type[Exception], str]] = {
    "a list": (
        [[1, 2, 3]], TypeError,
        "grades must be a numpy.ndarray, found list; np.array(grades, dtype=np.int32) makes one",
    ),
    "int64": (
        np.ones((1, 3), np.int64), ValueError,
        ("grades must have dtype int32 or float32 or float64, found int64; "
        "grades.astype(np.int32) converts it if its values fit"),
    ),
    "another shape": (
        ids([[1, 2]]), ValueError,
        "grades must have the shape of relevant, (1, 3); found (1, 2)",
    ),
    "1-D": (
        np.ones(3, np.float32), ValueError,
        "grades must be 2-D, one row per query; found 1-D, shape (3,)",
    ),
    "not contiguous": (
        np.ones((1, 6))[:, ::2], ValueError, f"grades {LAYOUT.format('grades')}",
    ),
    "NaN": (
        np.array([[1.0, np.nan, 2.0]]), ValueError,
        ("grades must be finite and within the range of float32, "
        "found nan in row 0, column 1 (id 2)"),
    ),
    "infinite": (
        np.array([[1.0, 1.0, -np.inf]], np.float32), ValueError,
        ("grades must be finite and within the range of float32, "
        "found -inf in row 0, column 2 (id 3)"),
    ),
    "so large that sums overflow": (
        np.array([[1e300, 1.0, 1.0]]), ValueError,
        ("grades must be finite and within the range of float32, "
        "found 1e+300 in row 0, column 0 (id 1)"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("metric", [recall_at_k, precision_at_k, mrr, ndcg, hit_rate])
@pytest.mark.parametrize("case", GRADES_REJECTED, ids=list(GRADES_REJECTED))
def test_invalid_grades_are_rejected(case: str, metric: Callable[..., Any]) -> None:
    grades, error, message = GRADES_REJECTED[case]
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        metric(GOOD, GOOD, 1, grades=grades)


@pytest.mark.parametrize(
    ("threshold", "grades", "error", "message"),
    [
        ("2", GOOD, TypeError, "threshold must be a number, found str '2'"),
        (True, GOOD, TypeError, "threshold must be a number, found bool True"),
        (
            float("nan"), GOOD, ValueError,
            "threshold must be finite and within the range of float32, found nan",
        ),
        (
            1e300, GOOD, ValueError,
            "threshold must be finite and within the range of float32, found 1e+300",
        ),
        (
            2, None, ValueError,
            ("threshold needs grades: without them every id in relevant counts as relevant, "
            "found threshold=2 and no grades"),
        ),
    ],
)  # fmt: skip
def test_invalid_thresholds_are_rejected(
    threshold: Any, grades: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        recall_at_k(GOOD, GOOD, 1, grades=grades, threshold=threshold)


@pytest.mark.parametrize("denominator", ["n", None, "K", []])
def test_invalid_denominators_are_rejected(denominator: Any) -> None:
    with pytest.raises(ValueError, match=r"^denominator must be 'retrieved' or 'k', found "):
        precision_at_k(GOOD, GOOD, 1, denominator=denominator)
    with pytest.raises(ValueError, match=r"^denominator must be 'retrieved' or 'k', found "):
        evaluate_arrays(GOOD, GOOD, ["recall"], denominator=denominator)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_valid_scores_are_accepted(dtype: type[np.floating[Any]]) -> None:
    validate_score_inputs(ids([[4, PADDING_ID]]), np.array([[0.5, np.nan]], dtype=dtype))


@pytest.mark.parametrize(
    ("scores", "error", "message"),
    [
        (
            [[1.0, 2.0]], TypeError,
            ("scores must be a numpy.ndarray, found list; "
            "np.array(scores, dtype=np.float32) makes one"),
        ),
        (
            ids([[1, 2]]), ValueError,
            ("scores must have dtype float32 or float64, found int32; "
            "scores.astype(np.float32) converts it if its values fit"),
        ),
        (
            np.zeros((1, 3)), ValueError,
            "scores must have the shape of ids, (1, 2); found (1, 3)",
        ),
        (
            np.zeros((1, 4))[:, ::2], ValueError, f"scores {LAYOUT.format('scores')}",
        ),
        (
            np.array([[0.0, np.nan]]), ValueError,
            "scores must not be NaN, found NaN in row 0, column 1 (id 9)",
        ),
    ],
)  # fmt: skip
def test_invalid_scores_are_rejected(scores: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        validate_score_inputs(ids([[8, 9]]), scores)


def test_the_ids_of_scores_are_checked() -> None:
    with pytest.raises(ValueError, match=r"^ids must have dtype int32, found int64"):
        validate_score_inputs(np.zeros((1, 2), np.int64), np.zeros((1, 2)))
