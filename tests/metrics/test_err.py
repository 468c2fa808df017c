"""Expected reciprocal rank: values by hand, gdeval as the oracle, and native equality."""

from __future__ import annotations

import shutil

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.errors import MetricError
from berryeval.metrics.grammar import parse_metric
from berryeval.scoring.engine import evaluate
from tests.metrics.ir_measures_oracle import (
    any_grades,
    found_rankings,
    judgments,
    ours,
    rankings,
    reference,
    scored,
)

VECTORS = [
    # grade 4 of 4 stops 15 of 16 users, at rank 1
    ("ERR", ["a"], {"a": 4}, 15 / 16),
    ("ERR@10", ["x", "a"], {"a": 4}, 15 / 32),
    # 1/16 stop at rank 1; of the others 3/16 at rank 3
    ("ERR", ["a", "x", "b"], {"a": 1, "b": 2}, 1 / 16 + 15 / 16 * 3 / 16 / 3),
    ("ERR@2", ["a", "x", "b"], {"a": 1, "b": 2}, 1 / 16),
    # the top of the scale is a parameter
    ("ERR(max_rel=1)", ["a", "b"], {"a": 1, "b": 1}, 1 / 2 + 1 / 2 * 1 / 2 / 2),
    # a grade above the scale counts as its top
    ("ERR(max_rel=1)", ["a"], {"a": 7}, 1 / 2),
    ("ERR", ["a"], {"a": 2.5}, (2**2.5 - 1) / 16),
    # nothing relevant, nothing retrieved, nothing but unjudged or negative grades
    ("ERR", ["a"], {"a": 0}, 0.0),
    ("ERR", [], {"a": 1}, 0.0),
    ("ERR", ["x"], {"a": 1}, 0.0),
    ("ERR", ["a"], {"a": -1}, 0.0),
    ("ERR(judged_only=True)", ["x", "a"], {"a": 4}, 15 / 16),
]


@pytest.mark.parametrize(("metric", "ranking", "grades", "expected"), VECTORS)
def test_err_by_hand(
    metric: str, ranking: list[str], grades: dict[str, float], expected: float
) -> None:
    assert ours(metric, ranking, grades) == pytest.approx(expected, abs=1e-15)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script")
@settings(max_examples=15)
@given(
    st.lists(st.tuples(found_rankings, judgments(st.integers(0, 4))), min_size=1, max_size=12),
    st.integers(1, 16),
)
def test_err_agrees_with_gdeval(
    queries: list[tuple[list[str], dict[str, int]]], cutoff: int
) -> None:
    """To the five digits that gdeval prints."""
    named = {
        str(number): (scored(ranking), {**grades, "always": 1})
        for number, (ranking, grades) in enumerate(queries, start=1)
    }
    qrels = {query: dict(grades) for query, (_, grades) in named.items()}
    run = {query: scores for query, (scores, _) in named.items()}
    found = evaluate(qrels, run, [f"ERR@{cutoff}"]).per_query(f"ERR@{cutoff}")
    for metric in ir_measures.iter_calc([ir_measures.ERR @ cutoff], qrels, run):
        assert found[metric.query_id] == pytest.approx(metric.value, abs=5.1e-6)


@given(rankings, any_grades, st.integers(1, 16), st.floats(0.1, 1e4))
def test_err_twins_agree_and_stay_in_bounds(
    ranking: list[str], grades: dict[str, float], cutoff: int, max_rel: float
) -> None:
    for metric in ("ERR", f"ERR@{cutoff}", f"ERR(max_rel={max_rel!r},judged_only=True)@{cutoff}"):
        value = ours(metric, ranking, grades)
        assert value.hex() == reference(metric, ranking, grades).hex()
        assert 0 <= value < 1 + 1e-12


@pytest.mark.parametrize("text", ["ERR(max_rel=0)", "ERR(max_rel=-1)", "ERR(max_rel='4')"])
def test_err_rejects_an_invalid_scale(text: str) -> None:
    with pytest.raises(MetricError, match="max_rel of ERR must be a number above 0"):
        parse_metric(text)
