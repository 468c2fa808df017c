"""Set metrics: the retrieved documents without their order."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from berryeval.metrics.base import metric

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Positive


@metric(
    "SetP",
    text="|relevant and retrieved| / |retrieved|",
    aliases=("set_P",),
    peers={"trec_eval": "set_P", "ir_measures": "SetP", "ranx": "precision"},
)
def set_precision(judged: JudgedRanking, *, rel: float = 1.0, relative: bool = False) -> float:
    """Set precision: the share of relevant documents among the retrieved ones.

    `relative=True`, the spelling of ir_measures, is `SetRelP`.
    """
    if relative:
        return set_relative_precision(judged, rel=rel)
    found = len(judged.relevant_ranks(rel))
    return found / judged.retrieved if judged.retrieved else 0.0


@metric(
    "SetRelP",
    text="|relevant and retrieved| / min(|retrieved|, |relevant|)",
    aliases=("set_relative_P",),
    peers={"trec_eval": "set_relative_P", "ir_measures": "SetRelP"},
)
def set_relative_precision(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Set relative precision: set precision divided by the best possible for its size."""
    best = min(judged.retrieved, judged.relevant_total(rel))
    return min(judged.relevant_found(rel), best) / best if best else 0.0


@metric(
    "SetR",
    text="|relevant and retrieved| / |relevant|",
    aliases=("set_recall",),
    peers={"trec_eval": "set_recall", "ir_measures": "SetR", "ranx": "recall"},
)
def set_recall(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Set recall: the share of the relevant documents that were retrieved."""
    relevant = judged.relevant_total(rel)
    return judged.relevant_found(rel) / relevant if relevant else 0.0


def parse_squared_beta(tail: str) -> list[Mapping[str, float]]:
    """Parse trec_eval's `set_F_0.5`, whose number is beta squared."""
    return [{"beta": math.sqrt(float(tail[1:]))}]


@metric(
    "SetF",
    text="(1 + beta^2) P R / (beta^2 P + R) with P = SetP and R = SetR",
    aliases=("set_F",),
    peers={"trec_eval": "set_F", "ir_measures": "SetF", "ranx": "f1"},
    suffix=parse_squared_beta,
)
def set_f(judged: JudgedRanking, *, beta: Positive = 1.0, rel: float = 1.0) -> float:
    """F-measure of the retrieved set (van Rijsbergen, 1979): recall counts beta times as much.

    In trec_eval's `set_F_x`, and in `SetF(beta=x)` of ir_measures, x is beta squared. Here
    `set_F_x` means the same as there, and `SetF(beta=...)` means beta.
    """
    hits = len(judged.relevant_ranks(rel))
    if not hits:
        return 0.0
    precision = hits / judged.retrieved
    recalled = judged.relevant_found(rel) / judged.relevant_total(rel)
    weight = beta * beta
    return min((weight + 1.0) * precision * recalled / (weight * precision + recalled), 1.0)


@metric(
    "SetAP",
    text="|relevant and retrieved|^2 / (|retrieved| |relevant|)",
    aliases=("set_map",),
    peers={"trec_eval": "set_map", "ir_measures": "SetAP"},
)
def set_average_precision(judged: JudgedRanking, *, rel: float = 1.0) -> float:
    """Set average precision: set precision times set recall."""
    hits = len(judged.relevant_ranks(rel))
    both = judged.retrieved * judged.relevant_total(rel)
    return hits * judged.relevant_found(rel) / both if both else 0.0
