"""The array metrics by broadcasting, in the functions of the array API standard.

For arrays of torch, CuPy, JAX and others where they are, also inside `torch.compile` and `jax.jit`.
`_python.score_rows` is the specification; discounted gains are added from rank 1 down, as there.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from berryeval.metrics.array_checks import LARGEST_GRADE, PADDING_ID

_ADDED_IN_ORDER: Final = 128  # ranks; more would make programs that take long to compile


class Rows(NamedTuple):
    """Arrays of some queries, all of one library and on one device.

    Attributes:
        xp: Namespace of the array API standard.
        retrieved: Ids, best first, down to the deepest cutoff.
        relevant: Relevant or judged ids.
        grades: Grade of each of these, or None.
        real: Type of the arithmetic: float64 where the device has it.
    """

    xp: Any
    retrieved: Any
    relevant: Any
    grades: Any
    real: Any

    @property
    def device(self) -> Any:
        """Where the arrays are; None where a compiler of JAX reads the program."""
        return getattr(self.retrieved, "device", None)

    def numbers(self, values: Sequence[float]) -> Any:
        """Return constants on the device."""
        return self.xp.asarray(values, dtype=self.real, device=self.device)

    def ranks(self, count: int) -> Any:
        """Return the ranks 1 to `count` on the device."""
        return self.xp.arange(1, count + 1, dtype=self.xp.int32, device=self.device)


def score_rows(
    rows: Rows, threshold: float, requests: Sequence[tuple[str, int]]
) -> tuple[list[Any], Any]:
    """Return the float32 scores of each `(metric, k)`, and the rows with unusable grades.

    Those rows, None without grades, have two grades for one id or a grade that is not finite.
    """
    xp = rows.xp
    if rows.grades is not None:
        rows = rows._replace(grades=xp.astype(rows.grades, rows.real))
    distinct, faulty = _find_distinct(rows)
    depth = rows.retrieved.shape[1]
    same = rows.retrieved[:, :, None] == rows.relevant[:, None, :]
    ranks = rows.ranks(depth)
    nowhere = xp.asarray(depth + 1, dtype=xp.int32, device=rows.device)
    found = xp.where(same & distinct[:, None, :], ranks[None, :, None], nowhere)
    first = xp.min(found, axis=1) if rows.relevant.shape[1] else found[:, 0, :]
    counted = distinct if rows.grades is None else distinct & (rows.grades >= threshold)
    scores = [
        xp.astype(_score(rows, metric, k, first, counted, distinct), xp.float32)
        for metric, k in requests
    ]
    return scores, faulty


def _find_distinct(rows: Rows) -> tuple[Any, Any]:
    """Return the first place of each relevant id of a row, and the rows with unusable grades."""
    xp, relevant, grades = rows.xp, rows.relevant, rows.grades
    known = relevant != PADDING_ID
    places = rows.ranks(relevant.shape[1])
    earlier = places[None, :] < places[:, None]  # [place, earlier place]
    twice = (relevant[:, :, None] == relevant[:, None, :]) & earlier & known[:, :, None]
    distinct = known & ~xp.any(twice, axis=2)
    if grades is None:
        return distinct, None
    contradicting = xp.any(twice & (grades[:, :, None] != grades[:, None, :]), axis=2)
    unusable = known & ~(xp.abs(grades) <= LARGEST_GRADE)
    return distinct, xp.any(contradicting | unusable, axis=1)


def _score(rows: Rows, metric: str, k: int, first: Any, counted: Any, distinct: Any) -> Any:
    xp = rows.xp
    if metric == "ndcg":
        return _compute_ndcg(rows, k, first, distinct)
    if metric == "mrr":
        if not first.shape[1]:
            return xp.sum(xp.astype(first, rows.real), axis=1)  # zeros
        nowhere = xp.full_like(first, rows.retrieved.shape[1] + 1)
        rank = xp.min(xp.where(counted, first, nowhere), axis=1)
        real = xp.astype(rank, rows.real)
        return xp.where(rank <= k, 1 / real, xp.zeros_like(real))
    hits = xp.sum(xp.astype(counted & (first <= k), xp.int32), axis=1)
    if metric == "hit_rate":
        return hits > 0
    if metric == "recall":
        total = xp.sum(xp.astype(counted, xp.int32), axis=1)
    elif metric == "precision_of_retrieved":
        top = rows.retrieved[:, :k] != PADDING_ID
        total = xp.sum(xp.astype(top, xp.int32), axis=1)
    else:
        total = xp.full_like(hits, k)
    return _divide(xp, xp.astype(hits, rows.real), xp.astype(total, rows.real))


def _divide(xp: Any, part: Any, whole: Any) -> Any:
    """Return the quotients, 0 where there is nothing to divide by."""
    none = whole == 0
    return xp.where(none, xp.zeros_like(part), part / xp.where(none, xp.ones_like(whole), whole))


def _compute_ndcg(rows: Rows, k: int, first: Any, distinct: Any) -> Any:
    xp = rows.xp
    nothing = xp.zeros_like(xp.astype(first, rows.real))
    if rows.grades is None:
        gains = xp.astype(distinct, rows.real)
    else:
        gains = xp.where(distinct & (rows.grades > 0), rows.grades, nothing)
    at_rank = first[:, None, :] == rows.ranks(k)[None, :, None]  # at most one id per rank
    found = xp.sum(xp.where(at_rank, gains[:, None, :], nothing[:, None, :]), axis=2)
    best = xp.sort(gains, axis=1, descending=True)[:, : min(k, gains.shape[1])]
    return xp.clip(_divide(xp, _discount(rows, found), _discount(rows, best)), 0, 1)


def _discount(rows: Rows, gains: Any) -> Any:
    """Return the sum of gain / log2(rank + 1) over the ranks, from rank 1 down."""
    depth = gains.shape[1]
    if not depth:
        return rows.xp.sum(gains, axis=1)
    terms = gains / rows.numbers([math.log2(rank + 1) for rank in range(1, depth + 1)])
    if depth > _ADDED_IN_ORDER:
        return rows.xp.sum(terms, axis=1)
    total = terms[:, 0]
    for column in range(1, depth):
        total = total + terms[:, column]
    return total
