"""Bounds of a score over all grades of unjudged documents."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval import Qrels, bounds, evaluate
from berryeval.metrics import catalogue
from berryeval.metrics.catalogue import definitions
from berryeval.scoring import unjudged

DOCUMENTS = "abcdef"
rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, min_size=1, max_size=5)
judgments = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-1, 2), min_size=2)


def as_run(ranking: list[str]) -> dict[str, dict[str, float]]:
    return {"q": {document: float(-place) for place, document in enumerate(ranking)}}


def all_values(ranking: list[str], grades: dict[str, int], metric: str) -> list[float]:
    """Compute the metric for all possible grades of the unjudged documents."""
    highest = max(1, *grades.values())
    holes = [document for document in ranking if grades.get(document, -1) < 0]
    values = []
    for filling in itertools.product(range(highest + 1), repeat=len(holes)):
        filled = {**grades, **dict(zip(holes, filling, strict=True))}
        values.append(evaluate({"q": filled}, as_run(ranking), [metric]).mean[metric])
    return values


@settings(max_examples=25)
@given(rankings, judgments)
def test_exact_bounds_are_the_true_range(ranking: list[str], grades: dict[str, int]) -> None:
    for metric in ("P@3", "P(rel=2)@3", "Success@2", "AP", "nDCG@3", "P(judged_only=True)@2"):
        found = bounds({"q": grades}, as_run(ranking), metric)
        values = all_values(ranking, grades, metric)
        assert found.exact
        assert found.mean == (min(values), max(values))
        assert found.value == evaluate({"q": grades}, as_run(ranking), [metric]).mean[metric]


@settings(max_examples=25)
@given(rankings, judgments)
def test_a_hull_is_inside_the_true_range(ranking: list[str], grades: dict[str, int]) -> None:
    limit = unjudged.EXACT_LIMIT
    unjudged.EXACT_LIMIT = 0  # type: ignore[misc]
    try:
        for metric in ("AP", "nDCG@3"):
            found = bounds({"q": grades}, as_run(ranking), metric)
            values = all_values(ranking, grades, metric)
            assert min(values) <= found.mean.low <= found.mean.high <= max(values)
            assert found.exact == (found.per_query["q"].unjudged == 0)
    finally:
        unjudged.EXACT_LIMIT = limit  # type: ignore[misc]


@settings(max_examples=25)
@given(rankings, judgments)
def test_monotone_metrics_are_monotone(ranking: list[str], grades: dict[str, int]) -> None:
    names = [name for name in unjudged.MONOTONE if name in definitions()]
    assert "P" in names
    for name in names:
        found = bounds({"q": grades}, as_run(ranking), f"{name}@3")
        values = all_values(ranking, grades, f"{name}@3")
        assert found.mean == (min(values), max(values))


def test_average_precision_drops_with_a_relevant_document_at_the_bottom() -> None:
    """The lowest value is below both extremes."""
    ranking = ["r", *(f"u{place}" for place in range(8))]
    found = bounds({"q": {"r": 1}}, as_run(ranking), "AP")
    assert found.value == 1.0
    assert found.mean.high == 1.0
    # u0 stays irrelevant, u1 ... u7 are relevant, found at ranks 3 to 9; or fewer of them
    assert found.mean.low < 0.8
    lowest = min(
        (1 + sum((place + 2) / (9 - size + place + 1) for place in range(size))) / (1 + size)
        for size in range(9)
    )
    assert found.mean.low == pytest.approx(lowest, abs=1e-12)
    assert found.exact == (unjudged.EXACT_LIMIT >= 2**8)


def test_the_profile_decides_which_queries_count() -> None:
    qrels, run = {"q1": {"a": 2}, "q2": {"x": 1}}, {"q1": {"a": 2.0, "b": 1.0}}
    both = bounds(qrels, run, "P@2")
    assert both.highest == 2.0
    assert both.mean == (0.25, 0.5)
    assert list(both.per_query) == ["q1", "q2"]
    assert bounds(qrels, run, "P@2", profile="trec_eval").mean == (0.5, 1.0)


def test_without_relevant_documents_the_highest_grade_is_1() -> None:
    found = bounds({"q": {"a": 0}}, {"q": {"a": 2.0, "b": 1.0}}, "P@2")
    assert (found.highest, found.mean) == (1.0, (0.0, 0.5))


def test_bounds_convert_to_json() -> None:
    found = bounds({"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0}}, "P@2")
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert data["mean"] == [0.5, 1.0]
    assert data["per_query"]["q"] == {
        "low": 0.5, "high": 1.0, "value": 0.5, "unjudged": 1, "exact": True,
    }  # fmt: skip


def test_bounds_of_a_registered_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_registered", {})
    catalogue.register("Noise")(lambda judged: sum(hit.grade < 1 for hit in judged.hits))
    found = bounds({"q": {"a": 1}}, {"q": {"a": 2.0, "b": 1.0, "c": 0.0}}, "Noise")
    assert (found.mean, found.exact) == ((0.0, 2.0), True)


def test_grouped_judgments_use_the_highest_grade() -> None:
    qrels = Qrels.from_records([("q", "a", 0, "x"), ("q", "a", 1, "y")])
    assert bounds(qrels, {"q": {"a": 2.0, "b": 1.0}}, "P@2").mean == (0.5, 1.0)
