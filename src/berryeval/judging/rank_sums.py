"""Metrics that are sums over ranks: a weight of the rank times a gain of the grade.

P, DCG, RBP and NumRelRet are such sums. nDCG is one divided by the same sum of the ideal ranking.
Estimates from a sample of the pairs, and the search for decisive pairs, work with these metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval.data import JudgedHit, JudgedRanking
from berryeval.errors import ConfigurationError
from berryeval.metrics import parse_metric

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.metrics import Metric

Floats = np.ndarray[Any, np.dtype[np.float64]]
_SUMS: Final = ("P", "DCG", "RBP", "NumRelRet")
_RATIO: Final = "nDCG"
_INSTEAD: Final = {"nDCG": "DCG", "AP": "RBP", "RR": "RBP", "R": "P", "Success": "P"}


@dataclass(frozen=True, eq=False)
class RankSum:
    """A metric as weights of ranks and gains of grades.

    Attributes:
        name: Canonical name of the metric.
        weights: Weight of each rank, from rank 1.
        is_ratio: Whether the sum is divided by that of the ideal ranking.
    """

    name: str
    weights: Floats
    is_ratio: bool
    _sum: Metric

    def gains_of(self, grades: Sequence[float] | npt.NDArray[np.float64]) -> Floats:
        """Return the gain of each grade."""
        return np.array([_score_alone(self._sum, 1, float(grade)) for grade in grades])


def read_rank_sum(name: str, depth: int, *, ratios: bool = True) -> RankSum:
    """Read the name of a metric that is a sum over at most `depth` ranks.

    Others are rejected with a metric to use instead. `ratios` accepts nDCG too.
    """
    metric = parse_metric(name)
    kind, params = metric.definition.name, metric.params
    cutoff = params.get("cutoff")
    if cutoff is not None and cutoff > depth:
        raise ConfigurationError(
            f"{metric} looks at {cutoff} hits, and {depth} are pooled; add --depth {cutoff}"
        )
    plain = not any(params.get(one) for one in ("judged_only", "gains", "normalize"))
    plain = plain and params.get("gain") not in {"scaled", "minmax"}
    if not plain or kind not in (*_SUMS, *([_RATIO] if ratios else [])):
        known = [*_SUMS, *([_RATIO] if ratios else [])]
        instead = _INSTEAD.get(kind, "DCG")
        raise ConfigurationError(
            f"{metric} is not a sum over ranks, which this strategy needs; use "
            f"{instead}@{cutoff or depth} (or another of {', '.join(known)})"
        )
    total = parse_metric(str(metric).replace(_RATIO, "DCG", 1)) if kind == _RATIO else metric
    top = _find_top(total)
    values = [_score_alone(total, rank, top) for rank in range(1, (cutoff or depth) + 1)]
    return RankSum(str(metric), np.array(values) / values[0], kind == _RATIO, total)


def _find_top(metric: Metric) -> float:
    """Return a grade that gains something."""
    return max(1.0, float(metric.params.get("rel") or 0.0))


def _score_alone(metric: Metric, rank: int, grade: float) -> float:
    """Return the value of a ranking with one judged hit."""
    return metric(JudgedRanking((JudgedHit(rank, grade),), rank, (grade,)))
