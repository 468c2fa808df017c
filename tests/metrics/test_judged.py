"""Judged and Accuracy: values by hand, ir_measures as the oracle, and native equality."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.errors import MetricError
from berryeval.metrics.grammar import parse_metric
from tests.metrics.ir_measures_oracle import (
    any_grades,
    found_rankings,
    ours,
    rankings,
    reference,
    theirs,
    whole_grades,
)

VECTORS = [
    ("Judged@2", ["a", "x", "b"], {"a": 0, "b": 1}, 1 / 2),
    ("Judged", ["a", "x", "b"], {"a": 0, "b": 1}, 2 / 3),
    # a short ranking is measured as it is
    ("Judged@10", ["a", "x"], {"a": 0}, 1 / 2),
    ("Judged@10", [], {"a": 0}, 0.0),
    ("Judged", [], {"a": 0}, 0.0),
    # in the pool, but not judged
    ("Judged", ["a", "b"], {"a": -1, "b": 0.5}, 1 / 2),
    # three of the four pairs (relevant, other) are in order
    ("Accuracy", ["a", "x", "b", "y"], {"a": 1, "b": 1}, 3 / 4),
    ("Accuracy@2", ["a", "x", "b", "y"], {"a": 1, "b": 1}, 1.0),
    ("Accuracy@3", ["x", "a", "b"], {"a": 1, "b": 0}, 1 / 2),
    ("Accuracy(rel=2)", ["a", "b"], {"a": 1, "b": 2}, 0.0),
    ("Accuracy(rel=0.5)", ["a", "b"], {"a": 0.5, "b": 0.4}, 1.0),
    ("Accuracy(judged_only=True)", ["x", "a", "b"], {"a": 1, "b": 0}, 1.0),
    # nothing but relevant documents, none of them, none at all
    ("Accuracy", ["a", "b"], {"a": 1, "b": 1}, 1.0),
    ("Accuracy@1", ["a", "x"], {"a": 1}, 1.0),
    ("Accuracy", ["x"], {"a": 1}, 0.0),
    ("Accuracy", [], {"a": 1}, 0.0),
]


@pytest.mark.parametrize(("metric", "ranking", "grades", "expected"), VECTORS)
def test_values_by_hand(
    metric: str, ranking: list[str], grades: dict[str, float], expected: float
) -> None:
    assert ours(metric, ranking, grades) == pytest.approx(expected, abs=1e-15)


@given(found_rankings, whole_grades, st.integers(1, 16))
def test_judged_agrees_with_ir_measures(
    ranking: list[str], grades: dict[str, int], cutoff: int
) -> None:
    assert ours("Judged", ranking, grades) == theirs(ir_measures.Judged, ranking, grades)
    at_k = theirs(ir_measures.Judged @ cutoff, ranking, grades)
    assert ours(f"Judged@{cutoff}", ranking, grades) == at_k


@given(found_rankings, whole_grades, st.integers(1, 16), st.integers(1, 3))
def test_accuracy_agrees_with_ir_measures(
    ranking: list[str], grades: dict[str, int], cutoff: int, rel: int
) -> None:
    """Where ir_measures returns a value: both kinds of documents must be retrieved."""
    top = [grades.get(document, 0) >= rel for document in ranking[:cutoff]]
    found = ours(f"Accuracy(rel={rel})@{cutoff}", ranking, grades)
    if all(top) or not any(top):
        assert found == (1.0 if any(top) else 0.0)
    else:
        expected = theirs(ir_measures.Accuracy(rel=rel) @ cutoff, ranking, grades)
        assert found == pytest.approx(expected, abs=1e-12)


@given(rankings, any_grades, st.integers(1, 16), st.floats(-1.0, 4.0))
def test_twins_agree(ranking: list[str], grades: dict[str, float], cutoff: int, rel: float) -> None:
    for metric in (
        "Judged", f"Judged@{cutoff}", f"Accuracy(rel={rel!r})",
        f"Accuracy(rel={rel!r},judged_only=True)@{cutoff}",
    ):  # fmt: skip
        value = ours(metric, ranking, grades)
        assert value.hex() == reference(metric, ranking, grades).hex()
        assert 0 <= value <= 1


def test_judged_rejects_judged_only() -> None:
    """The share would always be 1."""
    with pytest.raises(MetricError, match="Judged has no parameter 'judged_only'"):
        parse_metric("Judged(judged_only=True)@10")
