"""The array metrics: integer ids in NumPy arrays in, one float32 per query out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np

from berryeval._internal import backend as _backend
from berryeval.metrics import _python
from berryeval.metrics.validation import (
    check_cutoff,
    check_denominator,
    check_grades,
    check_id_arrays,
    check_threshold,
    raise_grade_conflict,
)

if TYPE_CHECKING:
    from berryeval.metrics.validation import (
        Denominator,
        GradeArray,
        MetricResult,
        QueryDocArray,
        RelevanceArray,
    )


METRICS = ("recall", "precision", "mrr", "ndcg", "hit_rate")

_SPELLING = re.compile(r"(?P<name>[a-z_]+?)(?:(?:@|_at_)(?P<k>[0-9]{1,18}))?")


def recall_at_k(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    k: SupportsIndex,
    *,
    grades: GradeArray | None = None,
    threshold: float = 1,
) -> MetricResult:
    """The share of each query's relevant ids that its top `k` holds; 0.0 where there are none.

    Args:
        retrieved: int32, one row per query, best first; -1 is padding, anywhere.
        relevant: int32, one row per query, in any order; -1 is padding, anywhere.
        k: how many columns of `retrieved` to read.
        grades: the grade of each id in `relevant`, of the same shape (int32, float32 or float64).
        threshold: with `grades`, the grade from which an id counts as relevant.

    Example:
        >>> import numpy as np
        >>> retrieved = np.array([[1, 2, 3, 4, 5]], dtype=np.int32)
        >>> relevant = np.array([[1, 3, 9, -1]], dtype=np.int32)
        >>> recall_at_k(retrieved, relevant, 5).tolist()
        [0.6666666865348816]
    """
    return _score_one("recall", retrieved, relevant, k, grades, threshold)


def precision_at_k(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    k: SupportsIndex,
    *,
    grades: GradeArray | None = None,
    threshold: float = 1,
    denominator: Denominator = "retrieved",
) -> MetricResult:
    """The share of relevant ids among the top `k`.

    By default it divides by the number of ids that are there (padding does not count, repeated ids
    do: they took a place); `denominator="k"` divides by `k`, as the textbook does. The other
    arguments are those of `recall_at_k`.
    """
    metric = _precision_of(denominator)
    return _score_one(metric, retrieved, relevant, k, grades, threshold)


def mrr(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    k: SupportsIndex,
    *,
    grades: GradeArray | None = None,
    threshold: float = 1,
) -> MetricResult:
    """One over the rank of each query's first relevant id in the top `k`, 0.0 if there is none.

    The mean over the queries is the mean reciprocal rank. The arguments are those of `recall_at_k`.
    """
    return _score_one("mrr", retrieved, relevant, k, grades, threshold)


def ndcg(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    k: SupportsIndex,
    *,
    grades: GradeArray | None = None,
) -> MetricResult:
    """Normalised discounted cumulative gain of each query's top `k`.

    The gain of an id is 1, or its grade where there are `grades` (a grade below zero gains
    nothing; pass `2**grades - 1` for exponential gains); the discount is log2(rank + 1); the ideal
    is over all relevant ids, cut at `k`. 0.0 where nothing can be gained.
    """
    return _score_one("ndcg", retrieved, relevant, k, grades, 1)


def hit_rate(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    k: SupportsIndex,
    *,
    grades: GradeArray | None = None,
    threshold: float = 1,
) -> MetricResult:
    """1.0 for each query whose top `k` holds a relevant id, else 0.0.

    The arguments are those of `recall_at_k`.
    """
    return _score_one("hit_rate", retrieved, relevant, k, grades, threshold)


def evaluate_arrays(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    metrics: Iterable[str] = METRICS,
    *,
    k: SupportsIndex | None = None,
    grades: GradeArray | None = None,
    threshold: float = 1,
    denominator: Denominator = "retrieved",
) -> dict[str, MetricResult]:
    """Several metrics at several cutoffs, with every id looked up once.

    Args:
        retrieved: as for `recall_at_k`.
        relevant: as for `recall_at_k`.
        metrics: names from recall, precision, mrr, ndcg and hit_rate, with a cutoff as in
            `"recall@10"` or `"recall_at_10"`, or without one.
        k: the cutoff of the metrics named without one; by default all columns of `retrieved`.
        grades: as for `recall_at_k`.
        threshold: as for `recall_at_k`; ndcg reads the grades themselves.
        denominator: as for `precision_at_k`.

    Returns:
        The scores of each metric under its name as it was given.

    Example:
        >>> import numpy as np
        >>> retrieved = np.array([[7, 2, 9]], dtype=np.int32)
        >>> relevant = np.array([[2, 5]], dtype=np.int32)
        >>> scores = evaluate_arrays(retrieved, relevant, ["recall@3", "mrr"])
        >>> {name: values.tolist() for name, values in scores.items()}
        {'recall@3': [0.5], 'mrr': [0.5]}
    """
    check_id_arrays(retrieved, relevant)
    columns = retrieved.shape[1]
    default_k = None if k is None else check_cutoff(k, columns)
    precision = _precision_of(denominator)
    requests: dict[str, tuple[str, int]] = {}
    for text in _as_names(metrics):
        name, cutoff = _parse(text)
        if cutoff is not None:
            cutoff = check_cutoff(cutoff, columns, f"k in {text!r}")
        requests[text] = (
            precision if name == "precision" else name,
            cutoff or default_k or check_cutoff(columns, columns),
        )
    out = _score(retrieved, relevant, list(requests.values()), grades, threshold)
    return dict(zip(requests, out, strict=True))


def _score_one(
    metric: str,
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    k: SupportsIndex,
    grades: GradeArray | None,
    threshold: float,
) -> MetricResult:
    check_id_arrays(retrieved, relevant)
    cutoff = check_cutoff(k, retrieved.shape[1])
    scores: MetricResult = _score(retrieved, relevant, [(metric, cutoff)], grades, threshold)[0]
    return scores


def _score(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    requests: list[tuple[str, int]],
    grades: GradeArray | None,
    threshold: float,
) -> MetricResult:
    """One row of scores per request. The arrays of ids and the cutoffs have been checked."""
    if grades is not None:
        check_grades(relevant, grades)
    level = check_threshold(threshold, grades)
    threads = _backend.thread_count()
    out = np.empty((len(requests), len(retrieved)), dtype=np.float32)
    if not requests:
        return out
    if _backend.native is None:
        conflict = _python.score_rows(retrieved, relevant, grades, level, requests, out)
    else:
        conflict = _backend.native.score_rows(
            retrieved, relevant, grades, level, requests, out, threads
        )
    if conflict is not None and grades is not None:
        raise_grade_conflict(relevant, grades, *conflict)
    return out


def _precision_of(denominator: Denominator) -> str:
    return f"precision_of_{check_denominator(denominator)}"


def _as_names(metrics: Iterable[str]) -> list[str]:
    several = isinstance(metrics, Iterable) and not isinstance(metrics, str)
    names = list(metrics) if several else []
    if not several or not all(isinstance(name, str) for name in names):
        msg = f'metrics must be a list of names such as ["recall@10", "mrr"], found {metrics!r}'
        raise TypeError(msg)
    return names


def _parse(text: str) -> tuple[str, int | None]:
    match = _SPELLING.fullmatch(text)
    if match is None or match["name"] not in METRICS:
        import difflib

        near = difflib.get_close_matches(text.partition("@")[0].lower(), METRICS, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        msg = (
            f"metrics holds the unknown name {text!r}; {hint}"
            f"known are {', '.join(METRICS)}, each also with a cutoff as in 'recall@10'"
        )
        raise ValueError(msg)
    return match["name"], None if match["k"] is None else int(match["k"])
