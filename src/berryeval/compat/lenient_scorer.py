"""Numbers of any type, for the tools that take them: bools, those of NumPy, and whole floats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval.scoring import DictScorer, TupleRows

if TYPE_CHECKING:
    from berryeval.scoring import DictPlan


class LenientScorer(DictScorer):
    """A `DictScorer` that takes numbers of any type; grades must be whole."""

    def __init__(
        self, judgments: Mapping[str, Mapping[str, Any]] | TupleRows, plan: DictPlan
    ) -> None:
        try:
            super().__init__(judgments, plan)
        except TypeError:
            rows = judgments.group() if isinstance(judgments, TupleRows) else judgments
            super().__init__(plain_rows(rows), plan)

    def score(
        self, run: Mapping[str, Mapping[str, Any]] | TupleRows
    ) -> dict[str, dict[str, float]]:
        """Return the values by name of each query that is judged, in the order of the run."""
        try:
            return super().score(run)
        except TypeError:
            return super().score(plain_rows(run))


def plain_rows(rows: Any) -> Any:
    """Return rows with plain numbers; what is no number stays, for the engine to reject.

    >>> plain_rows({"q1": {"d1": np.int64(1), "d2": True, "d3": 2.0, "d4": 0.5, "d5": "x"}})
    {'q1': {'d1': 1, 'd2': 1, 'd3': 2, 'd4': 0.5, 'd5': 'x'}}
    """
    if isinstance(rows, Mapping):
        return {key: plain_rows(value) for key, value in rows.items()}
    number = rows.item() if isinstance(rows, np.generic) else rows
    if isinstance(number, bool) or (isinstance(number, float) and number.is_integer()):
        return int(number)
    return number
