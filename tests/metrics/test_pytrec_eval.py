"""Agreement with trec_eval 9, through pytrec_eval: all metrics at all default cutoffs."""

from __future__ import annotations

import math
from typing import Any

import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.scoring.engine import evaluate
from tests.metrics.rankings import WHOLE_GRADES, Rows, documents

# Their name to ours, where the grammar alone does not give the conventions of version 9.
OURS = {"11pt_avg": "AvgIPrec(rounding='ceil0.9')"}
NOT_A_NUMBER = {"runid", "relstring"}
# pytrec_eval says it of every query, and gives the logarithm.
LOGARITHMS = {"gm_map", "gm_bpref"}
KINDS_OF_METRICS = 34


def ours_for(name: str) -> str:
    """Return our spelling of pytrec_eval's `name`."""
    if name.startswith("iprec_at_recall_"):
        return f"IPrec(rounding='ceil0.9')@{name.removeprefix('iprec_at_recall_')}"
    return OURS.get(name, name)


@st.composite
def judged_queries(draw: st.DrawFn) -> tuple[dict[str, dict[str, int]], Rows]:
    """Draw queries with a judgment that is not negative; others hang pytrec_eval."""
    qrels: dict[str, dict[str, int]] = {}
    run: Rows = {}
    for query in [f"q{number}" for number in range(draw(st.integers(1, 3)))]:
        drawn = [*draw(documents(WHOLE_GRADES)), (draw(st.integers(0, 3)), 1.0)]
        qrels[query] = {f"d{i}": int(g) for i, (g, _) in enumerate(drawn) if g is not None}
        run[query] = {f"d{i}": s for i, (_, s) in enumerate(drawn) if s is not None}
    return qrels, run


def pytrec(qrels: dict[str, dict[str, int]], run: Rows, level: int = 1) -> dict[str, Any]:
    """Score with pytrec_eval."""
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, pytrec_eval.supported_measures, relevance_level=level
    )
    return dict(evaluator.evaluate(run))


@given(judged_queries())
def test_values_equal_trec_eval_9(tables: tuple[dict[str, dict[str, int]], Rows]) -> None:
    qrels, run = tables
    theirs = pytrec(qrels, run)
    names = [name for name in next(iter(theirs.values())) if name not in NOT_A_NUMBER]
    found = evaluate(qrels, run, [ours_for(name) for name in names], profile="trec_eval-9")
    for name in names:
        for query, value in found.per_query(ours_for(name)).items():
            expected = theirs[query][name]
            expected = math.exp(expected) if name in LOGARITHMS else expected
            assert value == pytest.approx(expected, abs=1e-9), (name, query)


@given(judged_queries())
@settings(max_examples=40)
def test_aggregates_equal_trec_eval_9(tables: tuple[dict[str, dict[str, int]], Rows]) -> None:
    qrels, run = tables
    theirs = pytrec(qrels, run)
    names = [name for name in next(iter(theirs.values())) if name not in NOT_A_NUMBER]
    means = evaluate(qrels, run, [ours_for(name) for name in names], profile="trec_eval-9").mean
    for name in names:
        values = [theirs[query][name] for query in sorted(theirs)]
        expected = pytrec_eval.compute_aggregated_measure(name, values)
        assert means[ours_for(name)] == pytest.approx(expected, abs=1e-9), name


BINARY = [
    "map", "Rprec", "bpref", "recip_rank", "P_5", "recall_5", "infAP", "binG", "set_P", "set_F",
    "set_recall", "set_map", "relative_P_10", "Rprec_mult_0.60", "11pt_avg", "success_1", "num_rel",
    "num_rel_ret", "utility", "map_cut_10", "num_nonrel_judged_ret", "iprec_at_recall_0.30",
]  # fmt: skip


@given(judged_queries(), st.sampled_from([2, 3]))
@settings(max_examples=40)
def test_rel_is_the_relevance_level_of_trec_eval(
    tables: tuple[dict[str, dict[str, int]], Rows], level: int
) -> None:
    qrels, run = tables
    theirs = pytrec(qrels, run, level)
    for name in BINARY:
        plain = ours_for(name)
        head, bracket, rest = plain.partition("(")
        spelled = f"{head}(rel={level},{rest}" if bracket else f"{plain}-l{level}"
        found = evaluate(qrels, run, [spelled], profile="trec_eval-9")
        for query, value in found.per_query(spelled).items():
            assert value == pytest.approx(theirs[query][name], abs=1e-9), (spelled, query)


@given(judged_queries())
@settings(max_examples=40)
def test_judged_only_is_the_flag_j_of_trec_eval(
    tables: tuple[dict[str, dict[str, int]], Rows],
) -> None:
    qrels, run = tables
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, pytrec_eval.supported_measures, judged_docs_only_flag=True
    )
    theirs = evaluator.evaluate(run)
    for theirs_name, ours in [("map", "AP"), ("P_5", "P@5"), ("ndcg_cut_10", "nDCG@10"),
                              ("infAP", "infAP"), ("G", "G"), ("Rndcg", "RnDCG"),
                              ("num_ret", "NumRet"), ("set_P", "SetP")]:  # fmt: skip
        name, at, cutoff = ours.partition("@")
        spelled = f"{name}(judged_only=True){at}{cutoff}"
        found = evaluate(qrels, run, [spelled], profile="trec_eval-9")
        for query, value in found.per_query(spelled).items():
            assert value == pytest.approx(theirs[query][theirs_name], abs=1e-9), (spelled, query)


def test_all_metrics_of_pytrec_eval_are_compared() -> None:
    """34 metrics give 93 numbers and two texts."""
    assert len(pytrec_eval.supported_measures) == KINDS_OF_METRICS
    names = set(pytrec({"q": {"d": 1}}, {"q": {"d": 1.0}})["q"])
    assert len(names - NOT_A_NUMBER) == 93
    assert names > NOT_A_NUMBER
