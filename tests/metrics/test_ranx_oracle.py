"""ranx itself against the profile `ranx`: random judgments and runs, ties and gaps included."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from berryeval.scoring.engine import evaluate
from tests.ranx_oracle import load_ranx

if TYPE_CHECKING:
    from berryeval.scoring.scores import Scores

pytestmark = [
    pytest.mark.filterwarnings("ignore:unsafe cast from uint64"),  # compiled: how it hashes ids
    pytest.mark.filterwarnings("ignore:invalid value encountered"),  # its bpref divides by 0
    pytest.mark.filterwarnings("ignore:divide by zero encountered"),
]
METRICS = (
    "hits", "hits@3", "hit_rate@3", "precision@3", "recall@3", "f1@3", "r-precision",
    "hit_rate", "precision", "recall", "f1",
    "mrr", "mrr@3", "map", "map@3", "dcg", "dcg@3", "dcg_burges", "dcg_burges@3",
    "ndcg", "ndcg@3", "ndcg_burges", "ndcg_burges@3", "rbp.95", "rbp.5",
)  # fmt: skip
LEVELS = tuple(f"{name}-l2" for name in METRICS)
Table: TypeAlias = dict[str, dict[str, Any]]

# Ids of one length, for which ranx compiles once.
queries = st.sampled_from(["q1", "q2", "q3"])
documents = st.sampled_from([f"d{place:02}" for place in range(30)])
grades = st.integers(-1, 4)
few_scores = st.sampled_from([0.0, 0.5, -2.0, 7.0])
any_scores = st.floats(-1e6, 1e6, allow_subnormal=False)
judgments = st.dictionaries(
    queries, st.dictionaries(documents, grades, min_size=1, max_size=12), min_size=1
)


def runs(scores: st.SearchStrategy[float]) -> st.SearchStrategy[Table]:
    """Draw runs of up to 25 documents per query."""
    ranking = st.lists(st.tuples(documents, scores), min_size=1, max_size=25).map(dict)
    return st.dictionaries(queries, ranking, min_size=1)


def theirs(qrels: Table, run: Table, names: tuple[str, ...]) -> tuple[dict[str, Any], Table]:
    """Score with ranx; return the values and the run in the order of ranx."""
    ranx = load_ranx()
    results = ranx.Run(run)
    ranx.evaluate(
        ranx.Qrels(qrels), results, [*names, "hits"], return_mean=False, make_comparable=True
    )
    ordered = {query: dict(found) for query, found in results.to_dict().items() if found}
    return results.scores, ordered


def compare(ours: Scores, values: dict[str, Any], names: tuple[str, ...]) -> None:
    """Require equal values for every query and metric."""
    for name in names:
        assert ours.per_query(name) == pytest.approx(values[name], rel=1e-9, abs=1e-9), name


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(judgments, runs(few_scores) | runs(any_scores))
def test_values_equal_ranx_in_its_order_of_ties(qrels: Table, run: Table) -> None:
    """The order of ties in ranx is arbitrary; given that order, the values are equal."""
    values, ordered = theirs(qrels, run, METRICS + LEVELS)
    for query, found in ordered.items():
        scores = list(found.values())
        assert scores == sorted(scores, reverse=True)
        assert found == run[query]
    compare(evaluate(qrels, ordered, METRICS + LEVELS, profile="ranx"), values, METRICS + LEVELS)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(
    judgments, st.dictionaries(queries, st.lists(documents, min_size=1, unique=True), min_size=1)
)
def test_values_equal_ranx_without_ties(qrels: Table, rankings: dict[str, list[str]]) -> None:
    run = {
        query: {document: -float(place) for place, document in enumerate(ranking)}
        for query, ranking in rankings.items()
    }
    values, _ = theirs(qrels, run, METRICS)
    compare(evaluate(qrels, run, METRICS, profile="ranx"), values, METRICS)


@settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(judgments, runs(few_scores))
def test_bpref_equals_ranx_where_it_is_defined(qrels: Table, run: Table) -> None:
    """Elsewhere ranx returns NaN or 0.

    Queries are compared separately: compiled, ranx returns 0 after a query without relevant ones.
    """
    for query, row in qrels.items():
        judged = {query: {name: max(grade, 0) for name, grade in row.items()}}
        values, ordered = theirs(judged, run, ("bpref",))
        ours = evaluate(judged, ordered, ["bpref"], profile="ranx").mean["bpref"]
        relevant = {name for name, grade in judged[query].items() if grade > 0}
        if relevant and len(relevant) < len(row):
            assert ours == pytest.approx(values["bpref"][query], rel=1e-9, abs=1e-9)
        else:
            assert math.isnan(values["bpref"][query]) or values["bpref"][query] == 0.0
            found = relevant & set(ordered.get(query, ()))
            assert ours == (len(found) / len(relevant) if relevant else 0.0)


def test_ranx_treats_a_negative_grade_as_judged() -> None:
    qrels, run = {"q1": {"d01": 1, "d02": -1, "d03": 0}}, {"q1": {"d02": 2.0, "d01": 1.0}}
    values, _ = theirs(qrels, run, ("bpref",))
    assert values["bpref"] == {"q1": 0.0}
    assert evaluate(qrels, run, ["bpref"], profile="ranx").per_query("bpref") == {"q1": 1.0}


def test_hits_are_summed_where_ranx_averages() -> None:
    qrels, run = {"q1": {"d01": 1}, "q2": {"d02": 1}}, {"q1": {"d01": 1.0}, "q2": {"d02": 1.0}}
    ranx = load_ranx()
    assert ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "hits") == 1.0
    assert evaluate(qrels, run, ["hits"], profile="ranx").mean["hits"] == 2.0
