"""Types and argument checks of the array contract. Arguments are never converted.

A value of the wrong kind (not an array, not an integer) raises TypeError; a wrong dtype, shape,
memory layout or range raises ValueError. Both backends share these checks.
"""

from __future__ import annotations

import operator
from typing import Any, Literal, NoReturn, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

PADDING_ID = -1
"""The id of an empty place, anywhere in a row. It never matches."""

QueryDocArray: TypeAlias = npt.NDArray[np.int32]
"""Retrieved ids, one row per query, best first; the rank is the column counted from 1."""

RelevanceArray: TypeAlias = npt.NDArray[np.int32]
"""Relevant (or, with grades, judged) ids, one row per query, in any order."""

GradeArray: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.float32] | npt.NDArray[np.float64]
"""The grade of each id of a `RelevanceArray`, at the same position."""

MetricResult: TypeAlias = npt.NDArray[np.float32]
"""One score per query."""

Denominator: TypeAlias = Literal["retrieved", "k"]
"""The denominator of precision: the number of ids in the top k, or k itself."""


LARGEST_GRADE = float(np.finfo(np.float32).max)
_FLOATS = ("float32", "float64")


def validate_inputs(retrieved: QueryDocArray, relevant: RelevanceArray, k: SupportsIndex) -> None:
    """Check the arguments that every array metric takes.

    Args:
        retrieved: int32, 2-D, C-contiguous; one row per query, best first.
        relevant: int32, 2-D, C-contiguous; as many rows as `retrieved`.
        k: Integer from 1 to the number of columns of `retrieved`.

    Raises:
        TypeError: An argument is not a NumPy array, or `k` is not an integer.
        ValueError: Wrong dtype, shape or layout, or `k` out of range.
    """
    check_id_arrays(retrieved, relevant)
    check_cutoff(k, retrieved.shape[1])


def validate_score_inputs(ids: QueryDocArray, scores: npt.NDArray[Any]) -> None:
    """Check an array of ids and the array of their scores.

    Args:
        ids: int32, 2-D, C-contiguous.
        scores: float32 or float64, C-contiguous, same shape as `ids`. NaN is rejected unless the
            id is padding, because NaN cannot be ranked.

    Raises:
        TypeError: An argument is not a NumPy array.
        ValueError: Wrong dtype, shape or layout, or a NaN score.
    """
    _check_array("ids", ids, ("int32",))
    _check_beside("scores", scores, _FLOATS, "ids", ids)
    misplaced = np.isnan(scores) & (ids != PADDING_ID)
    if misplaced.any():
        row, column = np.argwhere(misplaced)[0].tolist()
        raise ValueError(
            f"scores must not be NaN, found NaN in row {row}, column {column} "
            f"(id {int(ids[row, column])})"
        )


def check_id_arrays(retrieved: QueryDocArray, relevant: RelevanceArray) -> None:
    """Check both arrays of ids, and that they have the same number of rows."""
    _check_array("retrieved", retrieved, ("int32",))
    _check_array("relevant", relevant, ("int32",))
    if relevant.shape[0] != retrieved.shape[0]:
        raise ValueError(
            f"relevant must have as many rows as retrieved, one per query: "
            f"found {relevant.shape[0]} and {retrieved.shape[0]}"
        )


def check_integer(name: str, value: SupportsIndex) -> int:
    """Return `value` as an int; a bool, a float or anything else raises TypeError."""
    if not isinstance(value, bool | np.bool_):  # older NumPy accepts its own bool as an index
        try:
            return operator.index(value)
        except TypeError:
            pass
    raise TypeError(f"{name} must be an integer, found {type(value).__name__} {value!r:.80}")


def shown_integer(value: int) -> str:
    """Format `value`; Python refuses to format integers of thousands of digits."""
    return str(value) if abs(value) < 10**40 else f"{'-' if value < 0 else ''}10**40 or more"


def as_cutoff(k: SupportsIndex | None) -> int | None:
    """Return the cutoff of a list as a positive int, or None for the whole list."""
    if k is None:
        return None
    cutoff = check_integer("k", k)
    if cutoff < 1:
        raise ValueError(f"k must be 1 or more, found {shown_integer(cutoff)}")
    return cutoff


def check_cutoff(k: SupportsIndex, columns: int, name: str = "k") -> int:
    """Return `k` as an int between 1 and `columns`."""
    cutoff = check_integer(name, k)
    if columns == 0:
        raise ValueError(
            f"{name} must be between 1 and the columns of retrieved, but retrieved has no columns"
        )
    if not 1 <= cutoff <= columns:
        raise ValueError(
            f"{name} must be between 1 and {columns}, the columns of retrieved; "
            f"found {shown_integer(cutoff)}"
        )
    return cutoff


def check_denominator(denominator: Denominator) -> Denominator:
    """Require a denominator that precision knows."""
    if not isinstance(denominator, str) or denominator not in {"retrieved", "k"}:
        raise ValueError(f"denominator must be 'retrieved' or 'k', found {denominator!r}")
    return denominator


def check_grades(relevant: RelevanceArray, grades: GradeArray) -> None:
    """Check that every id of `relevant` has a finite grade in the range of float32."""
    _check_beside("grades", grades, ("int32", *_FLOATS), "relevant", relevant)
    if grades.dtype == np.int32:
        return
    in_range = np.abs(grades) <= LARGEST_GRADE  # False for NaN
    misplaced = ~in_range & (relevant != PADDING_ID)
    if misplaced.any():
        row, column = np.argwhere(misplaced)[0].tolist()
        raise_unusable_grade(int(relevant[row, column]), float(grades[row, column]), row, column)


def check_threshold(threshold: float, grades: GradeArray | None) -> float:
    """Return `threshold` as a float that compares with the grades in their own precision."""
    kinds = int | float | np.integer | np.floating
    if isinstance(threshold, bool) or not isinstance(threshold, kinds):
        raise TypeError(
            f"threshold must be a number, found {type(threshold).__name__} {threshold!r}"
        )
    if not abs(float(threshold)) <= LARGEST_GRADE:
        raise ValueError(
            f"threshold must be finite and within the range of float32, found {threshold!r}"
        )
    if grades is None and threshold != 1:
        raise ValueError(
            f"threshold needs grades: without them every id in relevant counts as relevant, "
            f"found threshold={threshold!r} and no grades"
        )
    if grades is not None and str(grades.dtype).endswith("float32"):  # of any library
        return float(np.float32(threshold))  # 0.7 must match a float32 grade written as 0.7
    return float(threshold)


def raise_unusable_grade(document: int, grade: float, row: int, column: int) -> NoReturn:
    """Reject a grade that is not a number or too large."""
    raise ValueError(
        "grades must be finite and within the range of float32, found "
        f"{grade} in row {row}, column {column} (id {document})"
    )


def raise_grade_conflict(
    document: int, grade: float, other: float, row: int, first: int, second: int
) -> NoReturn:
    """Reject a row with two different grades for one id."""
    raise ValueError(
        f"grades must give an id one grade per row, found {grade} and {other} for id {document} "
        f"in row {row}, columns {first} and {second}"
    )


def _check_beside(
    name: str,
    array: npt.NDArray[Any],
    dtypes: tuple[str, ...],
    ids_name: str,
    ids: npt.NDArray[np.int32],
) -> None:
    _check_array(name, array, dtypes)
    if array.shape != ids.shape:
        raise ValueError(
            f"{name} must have the shape of {ids_name}, {ids.shape}; found {array.shape}"
        )


def _check_array(name: str, array: npt.NDArray[Any], dtypes: tuple[str, ...]) -> None:
    if not isinstance(array, np.ndarray):
        raise TypeError(
            f"{name} must be a numpy.ndarray, found {type(array).__name__}; "
            f"np.array({name}, dtype=np.{dtypes[0]}) makes one"
        )
    if isinstance(array, np.matrix):  # rows of a matrix are matrices again
        raise TypeError(
            f"{name} must be a plain numpy.ndarray, found a matrix; np.asarray({name}) makes one"
        )
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(
            f"{name} must be a plain numpy.ndarray, found a masked array, whose mask would be "
            f"ignored; {name}.filled({PADDING_ID}) turns masked ids into padding"
        )
    if array.dtype not in [np.dtype(dtype) for dtype in dtypes]:
        raise ValueError(
            f"{name} must have dtype {' or '.join(dtypes)}, found {array.dtype}; "
            f"{name}.astype(np.{dtypes[0]}) converts it if its values fit"
        )
    if array.ndim != 2:  # noqa: PLR2004 - rows and columns
        raise ValueError(
            f"{name} must be 2-D, one row per query; found {array.ndim}-D, shape {array.shape}"
        )
    if not array.flags.c_contiguous or not array.flags.aligned:
        raise ValueError(
            f"{name} must be C-contiguous and aligned in memory, found a view or another order; "
            f"np.require({name}, requirements='CA') makes a copy that is"
        )
