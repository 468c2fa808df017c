"""Compatibility: values by hand, ir_measures as the oracle, and native equality."""

from __future__ import annotations

import ir_measures
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
    # the ideal in the best order, whatever the order of documents of one grade
    ("Compat", ["a", "b"], {"a": 2, "b": 1}, 1.0),
    ("Compat", ["b", "a"], {"a": 1, "b": 1}, 1.0),
    # overlaps 0/1 and 2/2, weighed 1 and 1/2; the ideal reaches 1 and 1
    ("Compat(p=0.5)", ["b", "a"], {"a": 2, "b": 1}, (1 / 2) / (3 / 2)),
    # overlaps 0/1 and 1/2; the ideal is one document: 1 and 1/2
    ("Compat(p=0.5)", ["x", "a"], {"a": 1}, (1 / 4) / (5 / 4)),
    ("Compat(p=0.5,normalize=False)", ["x", "a"], {"a": 1}, (1 / 4) / (3 / 2)),
    ("Compat(p=1)", ["x", "a"], {"a": 1}, (1 / 2) / (3 / 2)),
    ("Compat(p=0)", ["a", "x"], {"a": 1, "b": 1}, 1.0),
    # grades of any size between others
    ("Compat(p=0.5)", ["b", "a"], {"a": 0.75, "b": 0.5}, 1 / 3),
    # missing documents come last, and the sum is as deep as the ideal
    ("Compat(p=0.5)", ["a"], {"a": 1, "b": 1}, (1 + 1 / 4) / (1 + 1 / 2)),
    ("Compat", ["x"], {"a": 1}, 0.0),
    ("Compat", ["a"], {"a": 0, "b": -1}, 0.0),
    ("Compat", [], {"a": 1}, 0.0),
    ("Compat", [], {}, 0.0),
    ("Compat(judged_only=True)", ["x", "a"], {"a": 1}, 1.0),
]


@pytest.mark.parametrize(("metric", "ranking", "grades", "expected"), VECTORS)
def test_compat_by_hand(
    metric: str, ranking: list[str], grades: dict[str, float], expected: float
) -> None:
    assert ours(metric, ranking, grades) == pytest.approx(expected, abs=1e-15)


@given(ranking=found_rankings, grades=whole_grades, p=st.floats(0.0, 1.0), normalize=st.booleans())
def test_compat_agrees_with_ir_measures(
    ranking: list[str], grades: dict[str, int], p: float, *, normalize: bool
) -> None:
    """For positive scores, because ir_measures gives missing documents the score 0."""
    expected = theirs(ir_measures.Compat(p=p, normalize=normalize), ranking, grades)
    found = ours(f"Compat(p={p!r},normalize={normalize})", ranking, grades)
    assert found == pytest.approx(expected, abs=1e-12)


@given(ranking=rankings, grades=any_grades, p=st.floats(0.0, 1.0), normalize=st.booleans())
def test_compat_twins_agree(
    ranking: list[str], grades: dict[str, float], p: float, *, normalize: bool
) -> None:
    for judged_only in (False, True):
        metric = f"Compat(p={p!r},normalize={normalize},judged_only={judged_only})"
        value = ours(metric, ranking, grades)
        assert value.hex() == reference(metric, ranking, grades).hex()
        assert 0 <= value <= 1 + 1e-12
