"""Expected reciprocal rank."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from berryeval.metrics.base import metric

if TYPE_CHECKING:
    from berryeval.data import JudgedRanking
    from berryeval.metrics.base import Positive


@metric(
    "ERR",
    text="sum of R(i) * product over j < i of (1 - R(j)) / i, with R = (2^grade - 1) / 2^max_rel",
    aliases=("expected_reciprocal_rank",),
    peers={"ir_measures": "ERR", "gdeval": "err"},
)
def expected_reciprocal_rank(
    judged: JudgedRanking, *, cutoff: int | None = None, max_rel: Positive = 4.0
) -> float:
    """Expected reciprocal rank (Chapelle et al., CIKM 2009) at which the user stops reading.

    The user stops at a document with the probability R of its grade, and a stop at rank i is worth
    1 / i. `max_rel` is the highest grade of the scale (always 4 in gdeval). A higher grade counts
    as `max_rel`; a negative grade counts as 0, as an unjudged document does.
    """
    floor = math.pow(2.0, -max_rel)
    reached = 1.0
    total = 0.0
    for rank, grade in judged.hits:
        if cutoff is not None and rank > cutoff:
            break
        if grade <= 0:
            continue
        stop = math.pow(2.0, min(grade, max_rel) - max_rel) - floor
        total += reached * stop / rank
        reached *= 1.0 - stop
    return total
