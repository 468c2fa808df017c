"""Values, edge cases and promises of the array metrics; `make test` runs both backends."""

from __future__ import annotations

import math
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval import metrics
from berryeval._internal.backend import BACKEND
from berryeval.metrics.array_checks import PADDING_ID
from berryeval.metrics.arrays import (
    evaluate_arrays,
    hit_rate,
    mrr,
    ndcg,
    precision_at_k,
    recall_at_k,
)
from tests.metrics.arrays import INT32_MAX, INT32_MIN, ids

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS: list[Any] = [recall_at_k, precision_at_k, mrr, ndcg, hit_rate]
PAD = PADDING_ID


def dcg(*ranks: int) -> float:
    """Return the DCG of binary hits at these ranks."""
    return sum(1 / math.log2(rank + 1) for rank in ranks)


# metric, retrieved, relevant, k, expected
VECTORS: list[tuple[Callable[..., Any], list[int], list[int], int, float]] = [
    # The contract's own example.
    (recall_at_k, [1, 2, 3, 4, 5], [1, 3, 5, PAD, PAD], 5, 1.0),
    (precision_at_k, [1, 2, 3, 4, 5], [1, 3, 5, PAD, PAD], 5, 0.6),
    (mrr, [1, 2, 3, 4, 5], [1, 3, 5, PAD, PAD], 5, 1.0),
    (ndcg, [1, 2, 3, 4, 5], [1, 3, 5, PAD, PAD], 5, dcg(1, 3, 5) / dcg(1, 2, 3)),
    (hit_rate, [1, 2, 3, 4, 5], [1, 3, 5, PAD, PAD], 5, 1.0),
    # A7: 1.8869 / 2.1309.
    (ndcg, [1, 4, 2, 5, 3], [1, 2, 3], 5, dcg(1, 3, 5) / dcg(1, 2, 3)),
    # k cuts the ranking and the ideal.
    (recall_at_k, [9, 1, 2], [1, 2], 1, 0.0),
    (recall_at_k, [9, 1, 2], [1, 2], 2, 0.5),
    (precision_at_k, [9, 1, 2], [1, 2], 1, 0.0),
    (precision_at_k, [9, 1, 2], [1, 2], 3, 2 / 3),
    (mrr, [9, 8, 1], [1], 2, 0.0),
    (mrr, [9, 8, 1], [1], 3, 1 / 3),
    (ndcg, [1, 9, 9], [1, 2, 3], 1, 1.0),
    (ndcg, [9, 1, 2], [1, 2], 3, dcg(2, 3) / dcg(1, 2)),
    (hit_rate, [9, 1], [1], 1, 0.0),
    (hit_rate, [9, 1], [1], 2, 1.0),
    # Nothing relevant is there to be found, or nothing was retrieved.
    (recall_at_k, [1, 2], [PAD, PAD], 2, 0.0),
    (precision_at_k, [1, 2], [PAD], 2, 0.0),
    (mrr, [1, 2], [PAD], 2, 0.0),
    (ndcg, [1, 2], [PAD], 2, 0.0),
    (hit_rate, [1, 2], [PAD], 2, 0.0),
    (recall_at_k, [PAD, PAD], [1], 2, 0.0),
    (precision_at_k, [PAD, PAD], [1], 2, 0.0),
    (ndcg, [PAD, PAD], [1], 2, 0.0),
    # Padding in both arrays is never a hit.
    (hit_rate, [PAD, 5], [PAD, 6], 2, 0.0),
    (recall_at_k, [PAD, 5], [PAD, 5], 2, 1.0),
    # Padding keeps its place: the rank is the column.
    (mrr, [PAD, PAD, 7], [7], 3, 1 / 3),
    (ndcg, [PAD, 7, 9], [PAD, 7], 3, dcg(2) / dcg(1)),
    # Precision divides by the ids that are there.
    (precision_at_k, [1, PAD, PAD, PAD], [1], 4, 1.0),
    (precision_at_k, [PAD, 1, PAD, 9], [1], 4, 0.5),
    # A repeated document counts once, at its first rank, and its copies keep their places.
    (recall_at_k, [1, 1, 1], [1, 2], 3, 0.5),
    (precision_at_k, [1, 1, 1, 1], [1], 4, 0.25),
    (ndcg, [1, 1, 2], [1, 2], 3, dcg(1, 3) / dcg(1, 2)),
    (mrr, [9, 9, 1], [1], 3, 1 / 3),
    (hit_rate, [1, 1], [1], 2, 1.0),
    # A repeated relevant id is one document.
    (recall_at_k, [1, 9], [1, 1, 2, 2], 2, 0.5),
    (ndcg, [1, 9], [1, 1], 2, 1.0),
    # Ids are any int32 but -1.
    (recall_at_k, [INT32_MIN, INT32_MAX, -2, 0], [INT32_MAX, -2, INT32_MIN, 0], 4, 1.0),
    (mrr, [-3, -2], [-2], 2, 0.5),
    (recall_at_k, [0], [0], 1, 1.0),
]


@pytest.mark.parametrize(("metric", "retrieved", "relevant", "k", "expected"), VECTORS)
def test_known_values(
    metric: Callable[..., Any], retrieved: list[int], relevant: list[int], k: int, expected: float
) -> None:
    """Each score is the float32 nearest to the value computed by hand."""
    scores = metric(ids([retrieved]), ids([relevant]), k)
    assert scores.dtype == np.float32
    assert scores.tobytes() == np.array([expected], dtype=np.float32).tobytes()


@pytest.mark.parametrize("metric", METRICS)
def test_rows_are_independent(metric: Callable[..., Any]) -> None:
    retrieved = ids([[1, 2, 3], [4, 5, 6], [1, 1, 2], [PAD, PAD, 3]])
    relevant = ids([[3, PAD], [4, 5], [2, 2], [3, 1]])
    together = metric(retrieved, relevant, 3)
    alone = [metric(retrieved[[row]], relevant[[row]], 3)[0] for row in range(4)]
    assert together.tolist() == alone


@pytest.mark.parametrize("metric", METRICS)
def test_no_queries_give_no_scores(metric: Callable[..., Any]) -> None:
    scores = metric(np.empty((0, 3), np.int32), np.empty((0, 2), np.int32), 3)
    assert scores.shape == (0,)
    assert scores.dtype == np.float32


@pytest.mark.parametrize("metric", METRICS)
def test_no_relevant_columns_score_0(metric: Callable[..., Any]) -> None:
    assert metric(ids([[1, 2], [3, 4]]), np.empty((2, 0), np.int32), 2).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("metric", METRICS)
def test_rows_may_have_thousands_of_relevant_ids(metric: Callable[..., Any]) -> None:
    relevant = np.arange(0, 20_000, 2, dtype=np.int32).reshape(1, -1)
    retrieved = np.arange(0, 3_000, dtype=np.int32).reshape(1, -1)
    found = 1_500
    discounted = dcg(*range(1, 3_000, 2)) / dcg(*range(1, 3_001))
    expected = {
        "recall_at_k": found / 10_000,
        "precision_at_k": 0.5,
        "mrr": 1.0,
        "ndcg": discounted,
        "hit_rate": 1.0,
    }[metric.__name__]
    assert metric(retrieved, relevant, 3_000).tolist() == [np.float32(expected)]


@pytest.mark.parametrize("metric", METRICS)
def test_inputs_are_not_modified(metric: Callable[..., Any]) -> None:
    retrieved, relevant = ids([[3, 1, PAD]]), ids([[1, PAD]])
    before = retrieved.tobytes(), relevant.tobytes()
    retrieved.flags.writeable = relevant.flags.writeable = False
    metric(retrieved, relevant, 3)
    assert (retrieved.tobytes(), relevant.tobytes()) == before


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("threads", ["1", "2", "5", ""])
def test_repeated_calls_give_the_same_bytes(
    metric: Callable[..., Any], threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    rows = 3_000 if BACKEND == "native" else 30  # enough rows for the native code to share out
    retrieved = rng.integers(-1, 60, (rows, 50), dtype=np.int32)
    relevant = rng.integers(-1, 60, (rows, 8), dtype=np.int32)
    monkeypatch.setenv("BERRYEVAL_THREADS", "1")
    expected = metric(retrieved, relevant, 50).tobytes()
    monkeypatch.setenv("BERRYEVAL_THREADS", threads)
    assert {metric(retrieved, relevant, 50).tobytes() for _ in range(100)} == {expected}


def test_calls_from_many_threads_are_independent() -> None:
    rng = np.random.default_rng(4)
    retrieved = rng.integers(-1, 60, (400, 40), dtype=np.int32)
    relevant = rng.integers(-1, 60, (400, 8), dtype=np.int32)
    expected = ndcg(retrieved, relevant, 40).tobytes()
    results: list[bytes] = []

    def work() -> None:
        results.extend(ndcg(retrieved, relevant, 40).tobytes() for _ in range(5))

    workers = [threading.Thread(target=work) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert set(results) == {expected}
    assert len(results) == 20


@pytest.mark.parametrize("k", [np.int8(2), np.int64(2), np.uint16(2)])
def test_k_may_be_a_numpy_integer(k: np.integer[Any]) -> None:
    assert recall_at_k(ids([[1, 2, 3]]), ids([[3]]), k).tolist() == [0.0]


def test_denominator_k_divides_by_k() -> None:
    retrieved, relevant = ids([[1, PAD, PAD, PAD]]), ids([[1, 2]])
    assert precision_at_k(retrieved, relevant, 4, denominator="k").tolist() == [0.25]
    assert precision_at_k(retrieved, relevant, 4).tolist() == [1.0]


def test_graded_ndcg() -> None:
    grades = ids([[2, 1, 0]])
    scores = ndcg(ids([[10, 30, 20]]), ids([[10, 20, 30]]), 3, grades=grades)
    expected = (2 / math.log2(2) + 1 / math.log2(4)) / (2 / math.log2(2) + 1 / math.log2(3))
    assert scores.tolist() == [np.float32(expected)]


def test_graded_ndcg_cuts_the_ideal_at_k() -> None:
    scores = ndcg(ids([[20, 10]]), ids([[10, 20, 30]]), 1, grades=ids([[3, 1, 2]]))
    assert scores.tolist() == [np.float32(1 / 3)]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_grades_may_be_fractions(dtype: type[np.floating[Any]]) -> None:
    grades = np.array([[0.5, 0.25, -3.0]], dtype=dtype)
    scores = ndcg(ids([[2, 3, 1]]), ids([[1, 2, 3]]), 3, grades=grades)
    expected = (0.25 / math.log2(2) + 0.5 / math.log2(4)) / (0.5 + 0.25 / math.log2(3))
    assert scores.tolist() == [np.float32(expected)]


@pytest.mark.parametrize(
    ("threshold", "expected"),
    [(1, (2 / 2, 2 / 3, 1.0, 1.0)), (2, (1.0, 1 / 3, 0.5, 1.0)), (3, (0.0, 0.0, 0.0, 0.0))],
)
def test_the_threshold_decides_which_grades_are_relevant(
    threshold: int, expected: tuple[float, float, float, float]
) -> None:
    retrieved, relevant, grades = ids([[1, 2, 3]]), ids([[2, 1, 3]]), ids([[2, 1, 0]])
    metrics_with_threshold: list[Any] = [recall_at_k, precision_at_k, mrr, hit_rate]
    for metric, value in zip(metrics_with_threshold, expected, strict=True):
        scores = metric(retrieved, relevant, 3, grades=grades, threshold=threshold)
        assert scores.tolist() == [np.float32(value)], metric.__name__


def test_an_id_may_repeat_its_grade() -> None:
    relevant, grades = ids([[7, 7, 8]]), ids([[2, 2, 1]])
    assert ndcg(ids([[7, 8]]), relevant, 2, grades=grades).tolist() == [1.0]
    assert recall_at_k(ids([[7]]), relevant, 1, grades=grades).tolist() == [0.5]


def test_an_id_with_two_grades_is_rejected() -> None:
    retrieved = ids([[7, 8], [7, 8]])
    relevant, grades = ids([[7, 8, 9], [7, PAD, 7]]), ids([[2, 1, 0], [2, 5, 1]])
    message = (
        "grades must give an id one grade per row, found 2 and 1 for id 7 in row 1, columns 0 and 2"
    )
    for metric in METRICS:
        with pytest.raises(ValueError, match=f"^{message}$"):
            metric(retrieved, relevant, 2, grades=grades)


def test_the_grade_of_padding_is_ignored() -> None:
    grades = np.array([[1.0, np.nan]])
    assert ndcg(ids([[5]]), ids([[5, PAD]]), 1, grades=grades).tolist() == [1.0]


def test_evaluate_arrays_equals_the_single_functions() -> None:
    retrieved, relevant = ids([[9, 1, 2, PAD], [3, 3, 4, 5]]), ids([[1, 2, 8], [4, PAD, 3]])
    names = ["recall@2", "recall_at_4", "precision@3", "mrr", "mrr@1", "ndcg", "hit_rate@2"]
    scores = evaluate_arrays(retrieved, relevant, names)
    singles = {
        "recall@2": recall_at_k(retrieved, relevant, 2),
        "recall_at_4": recall_at_k(retrieved, relevant, 4),
        "precision@3": precision_at_k(retrieved, relevant, 3),
        "mrr": mrr(retrieved, relevant, 4),
        "mrr@1": mrr(retrieved, relevant, 1),
        "ndcg": ndcg(retrieved, relevant, 4),
        "hit_rate@2": hit_rate(retrieved, relevant, 2),
    }
    assert list(scores) == names
    assert {name: values.tobytes() for name, values in scores.items()} == {
        name: values.tobytes() for name, values in singles.items()
    }


def test_evaluate_arrays_applies_its_options() -> None:
    retrieved, relevant, grades = ids([[1, 2, PAD, 8, 2]]), ids([[2, 1]]), ids([[2, 1]])
    scores = evaluate_arrays(
        retrieved, relevant, ["recall", "precision", "ndcg"],
        k=3, grades=grades, threshold=2, denominator="k",
    )  # fmt: skip
    assert scores["recall"].tolist() == [1.0]
    assert scores["precision"].tolist() == [np.float32(1 / 3)]
    assert scores["ndcg"].tobytes() == ndcg(retrieved, relevant, 3, grades=grades).tobytes()


def test_tiny_grades_do_not_exceed_1() -> None:
    grades = np.array([[2, 2, 1]], dtype=np.int64).view(np.float64)  # subnormal numbers
    assert ndcg(ids([[1, 2, 0]]), ids([[0, 1, 2]]), 3, grades=grades).tolist() == [1.0]


def test_the_threshold_has_the_type_of_the_grades() -> None:
    """A float32 grade of 0.7 reaches a threshold of 0.7."""
    double = np.array([[0.7, 0.2]])
    for grades in (double, double.astype(np.float32)):
        scores = recall_at_k(ids([[1, 2]]), ids([[1, 2]]), 1, grades=grades, threshold=0.7)
        assert scores.tolist() == [1.0]


def test_default_metrics_are_all_five() -> None:
    scores = evaluate_arrays(ids([[1, 2, 3, 4, 5]]), ids([[1, 3, 5, PAD, PAD]]))
    assert list(scores) == ["recall", "precision", "mrr", "ndcg", "hit_rate"]
    assert scores["precision"].tolist() == [np.float32(0.6)]


def test_no_metrics_give_an_empty_result() -> None:
    assert evaluate_arrays(ids([[1]]), ids([[1]]), []) == {}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("recal@5", "did you mean 'recall'"),
        ("NDCG@5", "did you mean 'ndcg'"),
        ("map", "known names are recall, precision"),
        ("recall@", "unknown name"),
        ("recall@x", "unknown name"),
        ("recall@-1", "unknown name"),
        ("", "unknown name"),
    ],
)
def test_unknown_metrics_are_rejected_with_a_suggestion(name: str, said: str) -> None:
    with pytest.raises(ValueError, match="metrics contains the unknown name") as caught:
        evaluate_arrays(ids([[1]]), ids([[1]]), [name])
    assert said in str(caught.value)


@pytest.mark.parametrize("cutoff", [0, 3])
def test_cutoffs_in_names_are_checked(cutoff: int) -> None:
    with pytest.raises(ValueError, match=rf"k in 'mrr@{cutoff}' must be between 1 and 2"):
        evaluate_arrays(ids([[1, 2]]), ids([[1]]), [f"mrr@{cutoff}"])


@pytest.mark.parametrize("metrics", ["recall@5", ["recall", 5], 7, None])
def test_metrics_must_be_a_list_of_names(metrics: Any) -> None:
    with pytest.raises(TypeError, match=r"^metrics must be a list of names"):
        evaluate_arrays(ids([[1]]), ids([[1]]), metrics)


def test_the_requested_backend_is_active() -> None:
    assert metrics.BACKEND in {"native", "python"}
    wanted = os.environ.get("BERRYEVAL_BACKEND")
    assert wanted in {None, "", metrics.BACKEND}
