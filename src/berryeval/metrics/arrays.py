"""The array metrics: arrays of integer ids in, one float32 per query out.

Arrays are NumPy's, or those of torch, JAX, CuPy or another library of the array API standard: then
the result is of the same kind and on the same device (`device_arrays`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, TypeVar, overload

import numpy as np

from berryeval._internal import backend as _backend
from berryeval._internal.validate import nearest
from berryeval.metrics.array_checks import (
    check_cutoff,
    check_denominator,
    check_grades,
    check_id_arrays,
    check_threshold,
    raise_grade_conflict,
)
from berryeval.metrics.device_arrays import (
    check_foreign,
    check_foreign_grades,
    is_traced,
    score_foreign,
)

if TYPE_CHECKING:
    from berryeval.metrics.array_checks import (
        Denominator,
        GradeArray,
        MetricResult,
        QueryDocArray,
        RelevanceArray,
    )

    # Scores all rows into the last argument; `_python.score_rows` is the specification.
    Kernel: TypeAlias = Callable[..., tuple[int, int, int] | None]

# The kernel to use instead of that of the backend.
kernel: ContextVar[Kernel | None] = ContextVar("kernel", default=None)

DeviceArray = TypeVar("DeviceArray")  # of torch, JAX, CuPy or another library

METRICS = ("recall", "precision", "mrr", "ndcg", "hit_rate")

_DIGITS = 18  # of a cutoff, at most


@overload
def recall_at_k(
    retrieved: QueryDocArray, relevant: RelevanceArray, k: SupportsIndex, *,
    grades: GradeArray | None = None, threshold: float = 1,
) -> MetricResult: ...  # fmt: skip
@overload
def recall_at_k(
    retrieved: DeviceArray, relevant: DeviceArray, k: SupportsIndex, *,
    grades: DeviceArray | None = None, threshold: float = 1,
) -> DeviceArray: ...  # fmt: skip
def recall_at_k(
    retrieved: Any,
    relevant: Any,
    k: SupportsIndex,
    *,
    grades: Any = None,
    threshold: float = 1,
) -> Any:
    """Compute recall: the share of each query's relevant ids in its top `k`, 0.0 if it has none.

    Args:
        retrieved: int32 array, one row per query, best first; -1 anywhere is padding.
        relevant: int32 array, one row per query, in any order; -1 anywhere is padding.
        k: Number of columns of `retrieved` to read.
        grades: Grade of each id in `relevant`, same shape (int32, float32 or float64).
        threshold: Least grade of a relevant id; requires `grades`.

    Example:
        >>> import numpy as np
        >>> retrieved = np.array([[1, 2, 3, 4, 5]], dtype=np.int32)
        >>> relevant = np.array([[1, 3, 9, -1]], dtype=np.int32)
        >>> recall_at_k(retrieved, relevant, 5).tolist()
        [0.6666666865348816]
    """
    return _score_one("recall", retrieved, relevant, k, grades, threshold)


@overload
def precision_at_k(
    retrieved: QueryDocArray, relevant: RelevanceArray, k: SupportsIndex, *,
    grades: GradeArray | None = None, threshold: float = 1,
    denominator: Denominator = "retrieved",
) -> MetricResult: ...  # fmt: skip
@overload
def precision_at_k(
    retrieved: DeviceArray, relevant: DeviceArray, k: SupportsIndex, *,
    grades: DeviceArray | None = None, threshold: float = 1,
    denominator: Denominator = "retrieved",
) -> DeviceArray: ...  # fmt: skip
def precision_at_k(
    retrieved: Any,
    relevant: Any,
    k: SupportsIndex,
    *,
    grades: Any = None,
    threshold: float = 1,
    denominator: Denominator = "retrieved",
) -> Any:
    """Compute precision: the share of relevant ids in each query's top `k`.

    The default denominator is the number of ids in the top `k`: repeated ids count, padding does
    not. `denominator="k"` divides by `k`, the textbook definition. The other arguments are those of
    `recall_at_k`.
    """
    metric = _precision_of(denominator)
    return _score_one(metric, retrieved, relevant, k, grades, threshold)


@overload
def mrr(
    retrieved: QueryDocArray, relevant: RelevanceArray, k: SupportsIndex, *,
    grades: GradeArray | None = None, threshold: float = 1,
) -> MetricResult: ...  # fmt: skip
@overload
def mrr(
    retrieved: DeviceArray, relevant: DeviceArray, k: SupportsIndex, *,
    grades: DeviceArray | None = None, threshold: float = 1,
) -> DeviceArray: ...  # fmt: skip
def mrr(
    retrieved: Any,
    relevant: Any,
    k: SupportsIndex,
    *,
    grades: Any = None,
    threshold: float = 1,
) -> Any:
    """Compute the reciprocal rank of each query's first relevant id in the top `k`, 0.0 if none.

    The mean over the queries is the mean reciprocal rank. The arguments are those of `recall_at_k`.
    """
    return _score_one("mrr", retrieved, relevant, k, grades, threshold)


@overload
def ndcg(
    retrieved: QueryDocArray, relevant: RelevanceArray, k: SupportsIndex, *,
    grades: GradeArray | None = None,
) -> MetricResult: ...  # fmt: skip
@overload
def ndcg(
    retrieved: DeviceArray, relevant: DeviceArray, k: SupportsIndex, *,
    grades: DeviceArray | None = None,
) -> DeviceArray: ...  # fmt: skip
def ndcg(
    retrieved: Any,
    relevant: Any,
    k: SupportsIndex,
    *,
    grades: Any = None,
) -> Any:
    """Compute the normalized discounted cumulative gain (nDCG) of each query's top `k`.

    The gain of an id is 1, or its grade if `grades` are given (a negative grade gains nothing; pass
    `2**grades - 1` for exponential gains). The discount is log2(rank + 1). The ideal ranking holds
    all relevant ids, cut at `k`; if it gains nothing, nDCG is 0.0.
    """
    return _score_one("ndcg", retrieved, relevant, k, grades, 1)


@overload
def hit_rate(
    retrieved: QueryDocArray, relevant: RelevanceArray, k: SupportsIndex, *,
    grades: GradeArray | None = None, threshold: float = 1,
) -> MetricResult: ...  # fmt: skip
@overload
def hit_rate(
    retrieved: DeviceArray, relevant: DeviceArray, k: SupportsIndex, *,
    grades: DeviceArray | None = None, threshold: float = 1,
) -> DeviceArray: ...  # fmt: skip
def hit_rate(
    retrieved: Any,
    relevant: Any,
    k: SupportsIndex,
    *,
    grades: Any = None,
    threshold: float = 1,
) -> Any:
    """Compute the hit rate: 1.0 for each query with a relevant id in its top `k`, else 0.0.

    The arguments are those of `recall_at_k`.
    """
    return _score_one("hit_rate", retrieved, relevant, k, grades, threshold)


@overload
def evaluate_arrays(
    retrieved: QueryDocArray, relevant: RelevanceArray, metrics: Iterable[str] = METRICS, *,
    k: SupportsIndex | None = None, grades: GradeArray | None = None, threshold: float = 1,
    denominator: Denominator = "retrieved",
) -> dict[str, MetricResult]: ...  # fmt: skip
@overload
def evaluate_arrays(
    retrieved: DeviceArray, relevant: DeviceArray, metrics: Iterable[str] = METRICS, *,
    k: SupportsIndex | None = None, grades: DeviceArray | None = None, threshold: float = 1,
    denominator: Denominator = "retrieved",
) -> dict[str, DeviceArray]: ...  # fmt: skip
def evaluate_arrays(
    retrieved: Any,
    relevant: Any,
    metrics: Iterable[str] = METRICS,
    *,
    k: SupportsIndex | None = None,
    grades: Any = None,
    threshold: float = 1,
    denominator: Denominator = "retrieved",
) -> dict[str, Any]:
    """Compute several metrics at several cutoffs; every id is looked up once.

    Args:
        retrieved: As for `recall_at_k`.
        relevant: As for `recall_at_k`.
        metrics: Names among recall, precision, mrr, ndcg and hit_rate, each with or without a
            cutoff (`"recall@10"`, `"recall_at_10"`).
        k: Cutoff of the metrics named without one; all columns of `retrieved` by default.
        grades: As for `recall_at_k`.
        threshold: As for `recall_at_k`; nDCG reads the grades themselves.
        denominator: As for `precision_at_k`.

    Returns:
        The scores of each metric, keyed by the name as given.

    Example:
        >>> import numpy as np
        >>> retrieved = np.array([[7, 2, 9]], dtype=np.int32)
        >>> relevant = np.array([[2, 5]], dtype=np.int32)
        >>> scores = evaluate_arrays(retrieved, relevant, ["recall@3", "mrr"])
        >>> {name: values.tolist() for name, values in scores.items()}
        {'recall@3': [0.5], 'mrr': [0.5]}
    """
    columns = _check_ids(retrieved, relevant)
    default_k = None if k is None else check_cutoff(k, columns)
    names, precision = tuple(_as_names(metrics)), _precision_of(denominator)
    plan = _read_requests if is_traced(retrieved) else _remember_requests  # compilers reject caches
    requests = plan(names, default_k, columns, precision)
    out = _score(retrieved, relevant, list(requests.values()), grades, threshold)
    return dict(zip(requests, out, strict=True))


def _read_requests(
    names: tuple[str, ...], default_k: int | None, columns: int, precision: str
) -> dict[str, tuple[str, int]]:
    """Return the metric and the cutoff that each name asks for."""
    requests = {}
    for text in names:
        name, cutoff = _parse(text)
        if cutoff is not None and not 1 <= cutoff <= columns:
            check_cutoff(cutoff, columns, f"k in {text!r}")
        requests[text] = (
            precision if name == "precision" else name,
            cutoff or default_k or check_cutoff(columns, columns),
        )
    return requests


# A loop over batches asks for the same metrics each time.
_remember_requests = lru_cache(maxsize=256)(_read_requests)


def _score_one(
    metric: str,
    retrieved: Any,
    relevant: Any,
    k: SupportsIndex,
    grades: Any,
    threshold: float,
) -> Any:
    cutoff = check_cutoff(k, _check_ids(retrieved, relevant))
    return _score(retrieved, relevant, [(metric, cutoff)], grades, threshold)[0]


def _check_ids(retrieved: Any, relevant: Any) -> int:
    """Check both arrays of ids and return the columns of `retrieved`."""
    if _is_foreign(retrieved) or _is_foreign(relevant):
        check_foreign(retrieved, relevant)
    else:
        check_id_arrays(retrieved, relevant)
    columns: int = retrieved.shape[1]
    return columns


def _is_foreign(array: object) -> bool:
    """Whether an object is an array of another library than NumPy."""
    if isinstance(array, np.ndarray):
        return False
    return (
        hasattr(array, "__torch_function__")
        or hasattr(array, "__array_namespace__")
        or hasattr(array, "__cuda_array_interface__")
    )


def _score(
    retrieved: Any,
    relevant: Any,
    requests: list[tuple[str, int]],
    grades: Any,
    threshold: float,
) -> Any:
    """Return the scores of each request; ids and cutoffs are already checked."""
    if _is_foreign(retrieved):
        if grades is not None:
            check_foreign_grades(retrieved, relevant, grades)
        level = check_threshold(threshold, grades)

        def score_host(ids: QueryDocArray, known: RelevanceArray, values: GradeArray | None) -> Any:
            if values is not None:
                check_grades(known, values)
            return _score_host(ids, known, requests, values, level)

        if not requests:
            return []
        return score_foreign(retrieved, relevant, grades, level, requests, score_host)
    if grades is not None:
        check_grades(relevant, grades)
    return _score_host(retrieved, relevant, requests, grades, check_threshold(threshold, grades))


def _score_host(
    retrieved: QueryDocArray,
    relevant: RelevanceArray,
    requests: list[tuple[str, int]],
    grades: GradeArray | None,
    level: float,
) -> MetricResult:
    out = np.empty((len(requests), len(retrieved)), dtype=np.float32)
    if not requests:
        return out
    score_rows = kernel.get() or _active_kernel()
    conflict = score_rows(retrieved, relevant, grades, level, requests, out)
    if conflict is not None and grades is not None:
        row, first, second = conflict
        pair = grades[row, first].item(), grades[row, second].item()
        raise_grade_conflict(int(relevant[row, first]), *pair, row, first, second)
    return out


def _active_kernel() -> Kernel:
    threads = _backend.thread_count()
    if _backend.native is not None:
        return partial(_backend.native.score_rows, threads=threads)
    from berryeval.metrics import _python

    return _python.score_rows


def _precision_of(denominator: Denominator) -> str:
    return f"precision_of_{check_denominator(denominator)}"


def _as_names(metrics: Iterable[str]) -> list[str]:
    several = isinstance(metrics, Iterable) and not isinstance(metrics, str)
    names = list(metrics) if several else []
    if not several or not all(isinstance(name, str) for name in names):
        raise TypeError(
            f'metrics must be a list of names such as ["recall@10", "mrr"], found {metrics!r}'
        )
    return names


def _parse(text: str) -> tuple[str, int | None]:
    name, at, digits = text.replace("_at_", "@", 1).partition("@")
    is_number = digits.isascii() and digits.isdecimal() and len(digits) <= _DIGITS
    if name not in METRICS or (at and not is_number):
        near = nearest(text.partition("@")[0], METRICS, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(
            f"metrics contains the unknown name {text!r}; {hint}"
            f"known names are {', '.join(METRICS)}, each with an optional cutoff as in 'recall@10'"
        )
    return name, int(digits) if at else None
