"""Checks of the array contract. Nothing is converted: what does not fit is an error that says how.

A value of the wrong kind (not an array, not an integer) is a TypeError, a wrong property of the
right kind (dtype, shape, layout, range) a ValueError. Both backends are behind these same checks.
"""

from __future__ import annotations

import operator
from typing import Any, Literal, NoReturn, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

# The types of the array contract.

PADDING_ID = -1
"""Marks an unused place in a row of ids. It may stand anywhere in the row and is never a hit."""

QueryDocArray: TypeAlias = npt.NDArray[np.int32]
"""Retrieved ids, one row per query, best first: the rank is the column counted from 1."""

RelevanceArray: TypeAlias = npt.NDArray[np.int32]
"""Relevant (or, with grades, judged) ids, one row per query, in any order."""

GradeArray: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.float32] | npt.NDArray[np.float64]
"""The grade of each id of a `RelevanceArray`, in the same place."""

MetricResult: TypeAlias = npt.NDArray[np.float32]
"""One score per query."""

Denominator: TypeAlias = Literal["retrieved", "k"]
"""What precision divides by: the ids that are there in the top k, or k itself."""


_LARGEST_GRADE = float(np.finfo(np.float32).max)
_FLOATS = ("float32", "float64")


def validate_inputs(retrieved: QueryDocArray, relevant: RelevanceArray, k: SupportsIndex) -> None:
    """Check the arguments that every array metric takes.

    Args:
        retrieved: int32, 2-D, C-contiguous; one row per query, best first.
        relevant: the same, with as many rows.
        k: an integer from 1 to the number of columns of `retrieved`.

    Raises:
        TypeError: an argument is not a NumPy array, or `k` not an integer.
        ValueError: wrong dtype, shape or layout, or `k` out of range.
    """
    check_id_arrays(retrieved, relevant)
    check_cutoff(k, retrieved.shape[1])


def validate_score_inputs(ids: QueryDocArray, scores: npt.NDArray[Any]) -> None:
    """Check an array of ids with an array of scores beside it.

    Args:
        ids: int32, 2-D, C-contiguous.
        scores: float32 or float64, C-contiguous, of the shape of `ids`. NaN is refused wherever
            `ids` holds a document: it has no place in any order.

    Raises:
        TypeError: an argument is not a NumPy array.
        ValueError: wrong dtype, shape or layout, or a NaN score.
    """
    _check_array("ids", ids, ("int32",))
    _check_beside("scores", scores, _FLOATS, "ids", ids)
    misplaced = np.isnan(scores) & (ids != PADDING_ID)
    if misplaced.any():
        row, column = np.argwhere(misplaced)[0].tolist()
        msg = (
            f"scores must not be NaN, found NaN in row {row}, column {column} "
            f"(id {int(ids[row, column])})"
        )
        raise ValueError(msg)


def check_id_arrays(retrieved: QueryDocArray, relevant: RelevanceArray) -> None:
    """Check the two arrays of ids alone and against each other."""
    _check_array("retrieved", retrieved, ("int32",))
    _check_array("relevant", relevant, ("int32",))
    if relevant.shape[0] != retrieved.shape[0]:
        msg = (
            f"relevant must have as many rows as retrieved, one per query: "
            f"found {relevant.shape[0]} and {retrieved.shape[0]}"
        )
        raise ValueError(msg)


def check_integer(name: str, value: SupportsIndex) -> int:
    """`value` as a plain int; a bool, a float or anything else is a TypeError."""
    if not isinstance(value, bool | np.bool_):  # older NumPy takes its own bool for an integer
        try:
            return operator.index(value)
        except TypeError:
            pass
    msg = f"{name} must be an integer, found {type(value).__name__} {value!r:.80}"
    raise TypeError(msg)


def shown_integer(value: int) -> str:
    """`value` as text; Python refuses to write integers of thousands of digits."""
    return str(value) if abs(value) < 10**40 else f"{'-' if value < 0 else ''}10**40 or more"


def check_cutoff(k: SupportsIndex, columns: int, name: str = "k") -> int:
    """`k` as a plain int between 1 and `columns`."""
    cutoff = check_integer(name, k)
    if columns == 0:
        msg = f"{name} must be between 1 and the columns of retrieved, but retrieved has no columns"
        raise ValueError(msg)
    if not 1 <= cutoff <= columns:
        msg = (
            f"{name} must be between 1 and {columns}, the columns of retrieved; "
            f"found {shown_integer(cutoff)}"
        )
        raise ValueError(msg)
    return cutoff


def check_denominator(denominator: Denominator) -> Denominator:
    """`denominator` if precision knows it."""
    if not isinstance(denominator, str) or denominator not in {"retrieved", "k"}:
        msg = f"denominator must be 'retrieved' or 'k', found {denominator!r}"
        raise ValueError(msg)
    return denominator


def check_grades(relevant: RelevanceArray, grades: GradeArray) -> None:
    """Check that `grades` grades every id of `relevant` with a number metrics can add up."""
    _check_beside("grades", grades, ("int32", *_FLOATS), "relevant", relevant)
    if grades.dtype == np.int32:
        return
    in_range = np.abs(grades) <= _LARGEST_GRADE  # False for NaN
    misplaced = ~in_range & (relevant != PADDING_ID)
    if misplaced.any():
        row, column = np.argwhere(misplaced)[0].tolist()
        msg = (
            "grades must be finite and within the range of float32, found "
            f"{float(grades[row, column])} in row {row}, column {column} "
            f"(id {int(relevant[row, column])})"
        )
        raise ValueError(msg)


def check_threshold(threshold: float, grades: GradeArray | None) -> float:
    """`threshold` as a float64 that compares with the grades as they would in their own type."""
    kinds = int | float | np.integer | np.floating
    if isinstance(threshold, bool) or not isinstance(threshold, kinds):
        msg = f"threshold must be a number, found {type(threshold).__name__} {threshold!r}"
        raise TypeError(msg)
    if not abs(float(threshold)) <= _LARGEST_GRADE:
        msg = f"threshold must be finite and within the range of float32, found {threshold!r}"
        raise ValueError(msg)
    if grades is None and threshold != 1:
        msg = (
            f"threshold needs grades: without them every id in relevant counts as relevant, "
            f"found threshold={threshold!r} and no grades"
        )
        raise ValueError(msg)
    if grades is not None and grades.dtype == np.float32:
        return float(np.float32(threshold))  # 0.7 means the float32 that the user wrote as 0.7
    return float(threshold)


def raise_grade_conflict(
    relevant: RelevanceArray, grades: GradeArray, row: int, first: int, second: int
) -> NoReturn:
    """Refuse a row that judges one id twice with different grades."""
    msg = (
        f"grades must give an id one grade per row, found {grades[row, first].item()} and "
        f"{grades[row, second].item()} for id {int(relevant[row, first])} in row {row}, "
        f"columns {first} and {second}"
    )
    raise ValueError(msg)


def _check_beside(
    name: str,
    array: npt.NDArray[Any],
    dtypes: tuple[str, ...],
    ids_name: str,
    ids: npt.NDArray[np.int32],
) -> None:
    _check_array(name, array, dtypes)
    if array.shape != ids.shape:
        msg = f"{name} must have the shape of {ids_name}, {ids.shape}; found {array.shape}"
        raise ValueError(msg)


def _check_array(name: str, array: npt.NDArray[Any], dtypes: tuple[str, ...]) -> None:
    if not isinstance(array, np.ndarray):
        msg = (
            f"{name} must be a numpy.ndarray, found {type(array).__name__}; "
            f"np.array({name}, dtype=np.{dtypes[0]}) makes one"
        )
        raise TypeError(msg)
    if isinstance(array, np.matrix):  # its rows are matrices again, and nobody expects that
        msg = f"{name} must be a plain numpy.ndarray, found a matrix; np.asarray({name}) makes one"
        raise TypeError(msg)
    if isinstance(array, np.ma.MaskedArray):
        msg = (
            f"{name} must be a plain numpy.ndarray, found a masked array, whose mask would be "
            f"ignored; {name}.filled({PADDING_ID}) turns masked ids into padding"
        )
        raise TypeError(msg)
    if array.dtype not in [np.dtype(dtype) for dtype in dtypes]:
        msg = (
            f"{name} must have dtype {' or '.join(dtypes)}, found {array.dtype}; "
            f"{name}.astype(np.{dtypes[0]}) converts it if its values fit"
        )
        raise ValueError(msg)
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        msg = f"{name} must be 2-D, one row per query; found {array.ndim}-D, shape {array.shape}"
        raise ValueError(msg)
    if not array.flags.c_contiguous or not array.flags.aligned:
        msg = (
            f"{name} must be C-contiguous and aligned in memory, found a view or another order; "
            f"np.require({name}, requirements='CA') makes a copy that is"
        )
        raise ValueError(msg)
