"""The types of the array contract."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "PADDING_ID",
    "Denominator",
    "GradeArray",
    "MetricResult",
    "QueryDocArray",
    "RelevanceArray",
]

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
