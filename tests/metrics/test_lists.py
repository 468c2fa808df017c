"""Judged lists: vectors of the contract, edge cases, errors and the quality report."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
import uuid
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.metrics import lists
from berryeval.metrics.lists import (
    ListScores,
    QualitySlice,
    QueryResult,
    QueryType,
    RelevanceJudgment,
    average_precision,
    compute_all,
    f1,
    hit_rate,
    mean_reciprocal_rank,
    ndcg,
    precision,
    quality_report,
    recall,
    reciprocal_rank,
)

if TYPE_CHECKING:
    from collections.abc import Callable

TEN = list("abcdefghij")

# metric, retrieved, grades, k, expected
VECTORS: list[tuple[Callable[..., float], list[str], dict[str, int], int, float]] = [
    (recall, ["a", "b", "c"], {"a": 2, "b": 1, "d": 2}, 3, 2 / 3),
    (recall, ["x", "y"], {"a": 2}, 2, 0.0),
    (recall, [], {"a": 2}, 3, 0.0),
    (recall, ["a"], {}, 3, 0.0),
    (recall, ["a", "b", "x", "y"], {"a": 1, "b": 2, "c": 3, "d": 1}, 4, 0.5),
    (precision, ["a", "b", "c"], {"a": 2, "b": 1}, 3, 2 / 3),
    (precision, ["a", "b", "c"], {"a": 2, "b": 1}, 2, 1.0),
    (precision, [], {"a": 2}, 3, 0.0),
    (precision, TEN, {"c": 1}, 5, 0.2),
    (precision, TEN, {"a": 1, "c": 2, "e": 3}, 5, 0.6),
    (precision, TEN, {"b": 1, "j": 1}, 10, 0.2),
    (reciprocal_rank, ["x", "a", "b"], {"a": 2, "b": 1}, 3, 1 / 2),
    (reciprocal_rank, ["a", "b"], {"a": 2}, 2, 1.0),
    (reciprocal_rank, ["x", "y", "z"], {"a": 2}, 3, 0.0),
    (ndcg, ["a", "c", "b"], {"a": 2, "b": 1, "c": 0}, 3, 2.5 / (2 + 1 / math.log2(3))),
    (average_precision, ["a", "x", "b", "y"], {"a": 2, "b": 1}, 4, (1 + 2 / 3) / 2),
    (average_precision, ["x", "y"], {"a": 2}, 2, 0.0),
    (hit_rate, ["x", "a"], {"a": 2}, 2, 1.0),
    (hit_rate, ["x", "y"], {"a": 2}, 2, 0.0),
    (f1, ["a", "b", "c"], {"a": 2, "b": 1, "d": 2}, 3, 2 / 3),
    (f1, ["a", "x"], {"a": 1, "b": 1, "c": 1}, 2, 2 * 0.5 * (1 / 3) / (0.5 + 1 / 3)),
    (f1, ["x"], {"a": 1}, 1, 0.0),
    # A list shorter than k is not rewarded.
    (precision, ["a"], {"a": 1}, 5, 0.2),
    # The ideal is over all judged grades, found or not, and cut at k.
    (ndcg, ["b"], {"a": 3, "b": 1}, 1, 1 / 3),
    (ndcg, ["b", "x"], {"a": 3, "b": 1}, 2, 1 / (3 + 1 / math.log2(3))),
    # AP divides by all relevant documents, also those below the cut.
    (average_precision, ["a", "b"], {"a": 1, "b": 1}, 1, 1 / 2),
    # Grade 0 and negative grades are not relevant and gain nothing.
    (recall, ["a", "b"], {"a": 0, "b": -1}, 2, 0.0),
    (ndcg, ["b", "a"], {"a": 1, "b": -5}, 2, 1 / math.log2(3)),
    (ndcg, ["a"], {"a": 0}, 1, 0.0),
    # A repeated document counts once, at its first rank, and its copies keep their place.
    (recall, ["a", "a"], {"a": 1, "b": 1}, 2, 0.5),
    (precision, ["a", "a"], {"a": 1}, 2, 0.5),
    (average_precision, ["a", "a", "b"], {"a": 1, "b": 1}, 3, (1 + 2 / 3) / 2),
    (ndcg, ["a", "a"], {"a": 1}, 2, 1.0),
    (reciprocal_rank, ["x", "x", "a"], {"a": 1}, 3, 1 / 3),
]


@pytest.mark.parametrize(("metric", "retrieved", "grades", "k", "expected"), VECTORS)
def test_known_values(
    metric: Callable[..., float],
    retrieved: list[str],
    grades: dict[str, int],
    k: int,
    expected: float,
) -> None:
    """Each score is the float32 nearest to the value computed by hand."""
    judgments = [RelevanceJudgment(chunk, grade) for chunk, grade in grades.items()]
    assert metric(retrieved, judgments, k) == pytest.approx(expected, rel=1e-15)
    assert metric(retrieved, grades, k) == metric(retrieved, judgments, k)


def test_rounded_values_of_the_contract() -> None:
    assert round(ndcg(["a", "c", "b"], {"a": 2, "b": 1, "c": 0}, 3), 4) == 0.9502
    assert round(average_precision(["a", "x", "b", "y"], {"a": 2, "b": 1}, 4), 4) == 0.8333


def result(first_rank: int, query_id: str = "q", **labels: Any) -> QueryResult:
    """Return a query whose only relevant document is at `first_rank`."""
    retrieved = [f"x{rank}" for rank in range(1, first_rank)] + ["a"]
    return QueryResult(query_id, retrieved, [RelevanceJudgment("a", 1)], **labels)


def test_mean_reciprocal_rank() -> None:
    results = [result(1), result(2), result(5)]
    assert mean_reciprocal_rank(results) == pytest.approx(17 / 30)
    assert round(mean_reciprocal_rank(results), 4) == 0.5667
    assert mean_reciprocal_rank([]) == 0.0
    assert mean_reciprocal_rank(results, k=4) == 0.5


def test_compute_all_equals_the_single_metrics() -> None:
    retrieved, grades = ["a", "x", "b", "a", "y"], {"a": 2, "b": 1, "c": 3}
    for k in (1, 3, 5, 9, None):
        scores = compute_all(retrieved, grades, k)
        for field in dataclasses.fields(ListScores):
            single = getattr(lists, field.name)(retrieved, grades, k)
            assert getattr(scores, field.name) == single, field.name


def test_the_threshold_decides_what_is_relevant() -> None:
    retrieved, grades = ["b", "a"], {"a": 2, "b": 1}
    scores = compute_all(retrieved, grades, 2, threshold=2)
    assert (scores.recall, scores.precision, scores.reciprocal_rank) == (1.0, 0.5, 0.5)
    assert (scores.average_precision, scores.hit_rate) == (0.5, 1.0)
    assert scores.ndcg == ndcg(retrieved, grades, 2)
    assert recall(retrieved, grades, 1, threshold=2) == 0.0
    assert recall(["z"], {"z": 0}, 1, threshold=0) == 1.0


def test_denominator_retrieved_divides_by_the_results() -> None:
    assert precision(["a", "x"], {"a": 1}, 5, denominator="retrieved") == 0.5
    assert f1(["a"], {"a": 1}, 5, denominator="retrieved") == 1.0
    assert compute_all(["a"], {"a": 1}, 5, denominator="retrieved").precision == 1.0


def test_without_k_the_whole_list_counts() -> None:
    assert recall(["x", "y", "a"], {"a": 1}) == 1.0
    assert precision(["x", "a"], {"a": 1}) == 0.5
    assert compute_all([], {"a": 1}) == ListScores(0, 0, 0, 0, 0, 0, 0)


def test_a_list_may_be_shorter_than_k() -> None:
    assert recall(["a"], {"a": 1}, 1000) == 1.0


ALL_METRICS = [
    recall, precision, f1, reciprocal_rank, ndcg, average_precision, hit_rate, compute_all,
]  # fmt: skip


@pytest.mark.parametrize("metric", ALL_METRICS)
@pytest.mark.parametrize(
    ("k", "error", "message"),
    [
        (0, ValueError, "k must be 1 or more, found 0"),
        (-3, ValueError, "k must be 1 or more, found -3"),
        pytest.param(
            -(10**5000), ValueError, "k must be 1 or more, found -10**40 or more", id="huge"
        ),
        (2.0, TypeError, "k must be an integer, found float 2.0"),
        (True, TypeError, "k must be an integer, found bool True"),
    ],
)
def test_an_invalid_k_is_rejected(
    metric: Callable[..., Any], k: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        metric(["a"], {"a": 1}, k)


@pytest.mark.parametrize("metric", ALL_METRICS)
@pytest.mark.parametrize(
    ("retrieved", "judgments", "error", "message"),
    [
        ("abc", {}, TypeError, "retrieved must be a list of ids, found str 'abc'"),
        (None, {}, TypeError, "retrieved must be a list of ids, found NoneType None"),
        ({"a"}, {}, TypeError, "retrieved must be a list of ids, found set {'a'}"),
        ({"a": 1}, {}, TypeError, "retrieved must be a list of ids, found dict {'a': 1}"),
        (["a", 7], {}, TypeError, "retrieved must hold str ids, found int 7 at rank 2"),
        (
            ["a"], "abc", TypeError,
            ("judgments must be a list of RelevanceJudgment or a mapping of id to grade, "
            "found str 'abc'"),
        ),
        (
            ["a"], [("a", 1)], TypeError,
            "judgments must hold RelevanceJudgment(chunk_id, grade), found tuple ('a', 1)",
        ),
        (
            ["a"], [RelevanceJudgment("a", 1), RelevanceJudgment("a", 2)], ValueError,
            "judgments must give an id one grade, found 1 and 2 for 'a'",
        ),
        (["a"], {"a": 1.5}, TypeError, "grade of 'a' must be an integer, found float 1.5"),
    ],
)  # fmt: skip
def test_invalid_lists_are_rejected(
    metric: Callable[..., Any],
    retrieved: Any,
    judgments: Any,
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        metric(retrieved, judgments, 1)


@pytest.mark.parametrize("metric", [recall, precision, f1, compute_all, hit_rate])
def test_invalid_thresholds_are_rejected(metric: Callable[..., Any]) -> None:
    with pytest.raises(TypeError, match=r"^threshold must be an integer, found float 1.5$"):
        metric(["a"], {"a": 1}, 1, threshold=1.5)


@pytest.mark.parametrize("metric", [precision, f1, compute_all])
def test_invalid_denominators_are_rejected(metric: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match=r"^denominator must be 'retrieved' or 'k', found 'n'$"):
        metric(["a"], {"a": 1}, 1, denominator="n")


@pytest.mark.parametrize(
    ("chunk_id", "grade", "error", "message"),
    [
        (7, 1, TypeError, "chunk_id must be a str, found int 7"),
        ("a", "1", TypeError, "grade of 'a' must be an integer, found str '1'"),
        ("a", True, TypeError, "grade of 'a' must be an integer, found bool True"),
        ("a", 2**60, ValueError, f"grade of 'a' must be within 2**53 of zero, found {2**60}"),
    ],
)
def test_invalid_judgments_are_rejected(
    chunk_id: Any, grade: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        RelevanceJudgment(chunk_id, grade)


def test_judgments_are_immutable_values() -> None:
    assert RelevanceJudgment("a", 1) == RelevanceJudgment("a", 1)
    assert len({RelevanceJudgment("a", 1), RelevanceJudgment("a", 1)}) == 1
    assert type(RelevanceJudgment("a", np.int64(2)).grade) is int  # type: ignore[arg-type]
    with pytest.raises(dataclasses.FrozenInstanceError):
        RelevanceJudgment("a", 1).grade = 2  # type: ignore[misc]


def test_equal_judgments_may_repeat() -> None:
    assert recall(["a"], [RelevanceJudgment("a", 1)] * 2, 1) == 1.0


def test_query_types_are_found_in_any_spelling() -> None:
    assert [kind.value for kind in QueryType] == [
        "FACTUAL", "CONCEPTUAL", "CODE_LOOKUP", "TROUBLESHOOTING", "PROCEDURAL", "COMPARATIVE",
    ]  # fmt: skip
    assert QueryType("code-lookup") is QueryType.CODE_LOOKUP
    assert QueryType("Factual") is QueryType.FACTUAL
    assert str(QueryType.FACTUAL) == f"{QueryType.FACTUAL}" == "FACTUAL"
    with pytest.raises(ValueError, match="'nonsense' is not a valid QueryType"):
        QueryType("nonsense")
    with pytest.raises(ValueError, match="7 is not a valid QueryType"):
        QueryType(7)


def test_quality_report() -> None:
    results = [
        result(1, "q1", category=QueryType.FACTUAL, difficulty="easy"),
        result(2, "q2", category="FACTUAL", difficulty="hard"),
        result(7, "q3", category="PROCEDURAL", difficulty="hard"),
        QueryResult("q4", ["x"], {"a": 2, "b": 1}, "PROCEDURAL", None),
        QueryResult("q5", ["x"], {}, None, "easy"),
    ]
    report = quality_report(results)
    assert report.total_queries == 5
    assert report.precision_at_5 == pytest.approx((0.2 + 0.2) / 5)
    assert report.precision_at_10 == pytest.approx((0.1 + 0.1 + 0.1) / 5)
    assert report.recall_at_10 == pytest.approx(3 / 5)
    assert report.mrr == pytest.approx((1 + 1 / 2 + 1 / 7) / 5)
    assert report.queries_without_hit == 2
    assert report.by_category == {
        "FACTUAL": QualitySlice(2, 0.2, 1.0, 0.75),
        "PROCEDURAL": QualitySlice(2, 0.0, 0.5, 1 / 14),
        "unspecified": QualitySlice(1, 0.0, 0.0, 0.0),
    }
    assert {name: group.count for name, group in report.by_difficulty.items()} == {
        "easy": 2, "hard": 2, "unspecified": 1,
    }  # fmt: skip


def test_cutoffs_of_the_quality_report() -> None:
    at_eleven, at_six = result(11, "q1"), result(6, "q2")
    assert quality_report([at_eleven]).recall_at_10 == 0.0
    assert quality_report([at_eleven]).precision_at_10 == 0.0
    assert quality_report([at_eleven]).mrr == 1 / 11
    assert quality_report([at_eleven]).queries_without_hit == 0
    assert quality_report([at_six]).precision_at_5 == 0.0
    assert quality_report([at_six]).precision_at_10 == 0.1


@pytest.mark.parametrize("function", [quality_report, mean_reciprocal_rank])
@pytest.mark.parametrize(
    ("results", "found"),
    [([1], "int 1 at index 0"), (None, "NoneType None at index 0"), (["q"], "str 'q' at index 0")],
)
def test_invalid_query_results_are_rejected(
    function: Callable[..., Any], results: Any, found: str
) -> None:
    message = f"query_results must be a list of QueryResult, found {found}"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        function(results)


@pytest.mark.parametrize(("k", "error"), [(0, ValueError), ("x", TypeError)])
def test_an_invalid_k_is_rejected_without_queries(k: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^k must be"):
        mean_reciprocal_rank([], k=k)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((None, [], {}), "query_id must be a str, found NoneType None"),
        (("q", [], {}, 7), "category of query 'q' must be a str, found int 7"),
        (("q", [], {}, None, 7), "difficulty of query 'q' must be a str, found int 7"),
    ],
)
def test_invalid_labels_are_rejected(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        QueryResult(*arguments)


def test_large_grades_do_not_exceed_1() -> None:
    grades = {"a": 2**53, "b": 2**53 - 1, "c": 2**53 - 2, "d": 2**53 - 3}
    for retrieved in itertools.permutations("abcd"):
        assert ndcg(retrieved, grades, 4) <= 1.0


def test_quality_report_without_queries() -> None:
    report = quality_report([])
    assert (report.total_queries, report.mrr, report.queries_without_hit) == (0, 0.0, 0)
    assert report.by_category == {}


def test_quality_report_with_a_threshold() -> None:
    results = [QueryResult("q", ["a"], {"a": 1, "b": 2})]
    assert quality_report(results, threshold=2).queries_without_hit == 1
    assert quality_report(results).queries_without_hit == 0


def test_quality_report_converts_to_json() -> None:
    report = quality_report([result(1, category=QueryType.FACTUAL)])
    assert (
        json.loads(json.dumps(dataclasses.asdict(report)))["by_category"]["FACTUAL"]["count"] == 1
    )


def test_query_results_can_be_used_again() -> None:
    once = QueryResult("q", iter(["x", "a"]), (RelevanceJudgment(i, 1) for i in "ab"))
    assert [mean_reciprocal_rank([once]) for _ in range(3)] == [0.5, 0.5, 0.5]
    assert quality_report([once]).recall_at_10 == 0.5


def test_errors_name_the_query() -> None:
    with pytest.raises(TypeError, match=r"^retrieved of query 'q7' must hold str ids, found int 3"):
        QueryResult("q7", [3], {})  # type: ignore[list-item]
    with pytest.raises(ValueError, match=r"^judgments of query 'q7' must give an id one grade"):
        QueryResult("q7", [], [RelevanceJudgment("a", 1), RelevanceJudgment("a", 2)])


@given(
    st.lists(st.sampled_from("abcdef"), max_size=8),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 3), max_size=8),
    st.integers(1, 10),
)
def test_scores_stay_between_0_and_1(retrieved: list[str], grades: dict[str, int], k: int) -> None:
    for value in dataclasses.astuple(compute_all(retrieved, grades, k)):
        assert 0.0 <= value <= 1.0


@given(st.lists(st.tuples(st.integers(1, 12), st.sampled_from("xyz")), max_size=8), st.randoms())
def test_the_order_of_queries_does_not_change_the_report(
    ranks: list[tuple[int, str]], random: Any
) -> None:
    results = [result(rank, category=group) for rank, group in ranks]
    shuffled = random.sample(results, len(results))
    assert quality_report(results) == quality_report(shuffled)


def test_a_set_of_relevant_ids_has_grade_1() -> None:
    for relevant in ({"a", "b"}, frozenset({"a", "b"}), {"a": 1, "b": 1}.keys()):
        assert recall(["a", "x"], relevant, 2) == 0.5
        assert ndcg(["a", "b"], relevant, 2) == 1.0
    assert QueryResult("q", ["a"], {"a"}).judgments == (RelevanceJudgment("a", 1),)


def test_uuids_are_ids() -> None:
    first, second = uuid.UUID(int=1), uuid.UUID(int=2)
    assert recall([first, "x"], {first: 2, second: 1}, 2) == 0.5
    assert recall([str(first)], {first}, 1) == 1.0
    assert RelevanceJudgment(first, 1).chunk_id == str(first)
    assert QueryResult(first, [second], {second: 1}).query_id == str(first)


def test_a_query_result_has_text_first_relevant_rank_and_duration() -> None:
    result = QueryResult("q", ["x", "a", "a"], {"a": 1, "x": 0}, text="Why?", duration_ms=12.5)
    assert (result.text, result.first_relevant_rank, result.duration_ms) == ("Why?", 2, 12.5)
    assert QueryResult("q", ["x"], {"a": 1}).first_relevant_rank is None
    with pytest.raises(TypeError, match="text of query 'q' must be a str, found int 3"):
        QueryResult("q", [], {}, text=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="duration_ms of query 'q' must be a number, found str"):
        QueryResult("q", [], {}, duration_ms="3")  # type: ignore[arg-type]
