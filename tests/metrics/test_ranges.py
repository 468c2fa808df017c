"""Declared ranges hold exactly, for any ranking and both backends."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval._internal import backend
from berryeval._internal.aggregates import Interval
from berryeval.data import JudgedHit, JudgedRanking, SubtopicHit, SubtopicRanking, judge_documents
from berryeval.data.qrels import Qrels
from berryeval.data.run import RankingRule, Run
from berryeval.metrics.catalogue import definitions, register
from berryeval.metrics.grammar import parse_metric
from berryeval.metrics.ranges import cut_to_range, direction_of, range_of
from berryeval.scoring import evaluate
from tests.metrics.rankings import Rows, judged_runs, metrics_of

OF_RANKINGS = [name for name, one in definitions().items() if one.kind == "ranking"]
OF_SUBTOPICS = [name for name, one in definitions().items() if one.kind == "subtopics"]
TINY = 2.0**-53

subtopics_of_documents = st.lists(
    st.sets(st.sampled_from("abcdef"), min_size=1).map(sorted), min_size=1, max_size=8
)
# Sums of these grades depend on their order.
near_grades = st.lists(
    st.tuples(st.sampled_from([0.3, 0.1, 0.7, 1.1, 2.2, 3.3]), st.integers(0, 4)).map(
        lambda drawn: drawn[0] * (1 + drawn[1] * TINY)
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("name", OF_RANKINGS)
@settings(max_examples=20)
@given(data=st.data(), rows=judged_runs())
def test_values_stay_within_the_range(name: str, data: Any, rows: tuple[Rows, Rows]) -> None:
    qrels, run = rows
    metric = data.draw(metrics_of(definitions()[name]))
    low, high = metric.range
    judgments, results = Qrels.from_dict(qrels).table, Run.from_dict(run).table
    places = {query: place for place, query in enumerate(run)}
    for index, query in enumerate(qrels):
        judged = judge_documents(judgments, index, results, places.get(query), RankingRule())
        assert low <= metric(judged) <= high


@pytest.mark.parametrize("name", OF_RANKINGS)
@settings(max_examples=40)
@given(data=st.data(), grades=near_grades)
def test_rounding_does_not_leave_the_range(name: str, data: Any, grades: list[float]) -> None:
    metric = data.draw(metrics_of(definitions()[name]))
    hits = [JudgedHit(rank, grade) for rank, grade in enumerate(grades, start=1)]
    judged = JudgedRanking(hits, len(hits), sorted(grades, reverse=True))
    low, high = metric.range
    assert low <= metric(judged) <= high


@pytest.mark.parametrize("name", OF_SUBTOPICS)
@settings(max_examples=40)
@given(data=st.data(), documents=subtopics_of_documents)
def test_diversity_stays_within_the_range(name: str, data: Any, documents: list[list[str]]) -> None:
    metric = data.draw(metrics_of(definitions()[name]))
    grades = [dict.fromkeys(subtopics, 4.0) for subtopics in documents]
    hits = [SubtopicHit(rank, one) for rank, one in enumerate(grades, start=1)]
    low, high = metric.range
    assert low <= metric(SubtopicRanking(hits, len(hits), grades, list("abcdef"))) <= high


GRADES = {"d0": 0.3, "d1": 0.3000000000000001, "d2": 0.30000000000000004, "d3": 0.3}
SCORES = {"d3": 4, "d1": 3, "d0": 2, "d2": 1}


@pytest.mark.parametrize("name", ["nDCG", "nDCG@4", "RnDCG", "nDCGrel", "G"])
def test_a_perfect_score_is_1_on_both_backends(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Summed in another order than the ideal, these gains give 1.0000000000000002."""
    found = evaluate({"q": GRADES}, {"q": SCORES}, [name]).mean[name]
    monkeypatch.setattr(backend, "native", None)
    assert found == evaluate({"q": GRADES}, {"q": SCORES}, [name]).mean[name]
    assert found <= 1.0


def test_a_greedy_ideal_can_be_beaten() -> None:
    """The best set cover of two documents leaves out the largest one."""
    documents = [dict.fromkeys(subtopics, 1.0) for subtopics in ("abe", "cdf", "abcd")]
    hits = [SubtopicHit(rank, grades) for rank, grades in enumerate(documents[:2], start=1)]
    ranking = SubtopicRanking(hits, 2, documents, list("abcdef"))
    assert parse_metric("alpha_nDCG(alpha=1)@2")(ranking) > 1
    assert range_of("alpha_nDCG@2") == (0.0, math.inf)


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("ndcg_cut_10", (0, 1)),
        ("Unjudged@10", (0, 1)),
        ("RBP", (0, 1)),
        ("rbp.95", (-math.inf, math.inf)),
        ("RBP(gain='minmax',gains={-1:0.5},normalize=True)", (-math.inf, math.inf)),
        ("nDCG(gains={1:-1})", (-math.inf, math.inf)),
        ("TokensToHit(budget=500)", (0, 500)),
        ("NumRelRet", (0, math.inf)),
        ("GMAP", (1e-5, 1)),
        ("NobodyKnows", (-math.inf, math.inf)),
    ],
)
def test_the_range_depends_on_the_parameters(name: str, ends: tuple[float, float]) -> None:
    assert range_of(name) == ends


def test_a_registered_metric_declares_its_range() -> None:
    register("HalfAsGood", within=(0.0, 0.5))(lambda judged: 0.5 * bool(judged.hits))
    assert parse_metric("HalfAsGood").range == (0.0, 0.5)


def test_an_interval_of_a_sum_is_clipped_to_the_range_of_a_run() -> None:
    """Observed values extend the declared range."""
    register("SumToTen", aggregate="sum", within=(0.0, 10.0))(lambda judged: float(judged.hits))
    wide = Interval(-3.0, 14.0)
    assert cut_to_range(wide, "SumToTen", "sum", np.array([2.0, 4.0])) == (0.0, 10.0)
    assert cut_to_range(wide, "SumToTen", "sum", np.array([6.0, 6.0])) == (0.0, 12.0)


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("nDCG@10", "up"),
        ("TokensToHit(budget=500)", "down"),
        ("NumNonrelJudgedRet", "down"),
        ("RBPResidual(p=0.5)", "down"),
        ("Unjudged@5", "down"),
        ("IDCG", "neither"),
        ("Judged@10", "neither"),
        ("NumQ", "neither"),
        ("NumRel", "neither"),
        ("NumRet", "neither"),
        ("NobodyKnows", "up"),
    ],
)
def test_direction_of_improvement(name: str, direction: str) -> None:
    assert direction_of(name) == direction


def test_a_registered_metric_declares_its_direction() -> None:
    register("LatencyOfTest", better="lower")(lambda judged: float(judged.retrieved))
    assert direction_of("LatencyOfTest") == "down"
