"""Values computed by hand, and edge cases."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from berryeval.data import judge_documents
from berryeval.data.judged import JudgedHit, JudgedRanking
from berryeval.data.qrels import Qrels
from berryeval.data.run import RankingRule, Run
from berryeval.metrics.catalogue import definitions
from berryeval.metrics.grammar import parse_metric
from berryeval.scoring.engine import evaluate
from tests.metrics.rankings import Rows, judged_runs

if TYPE_CHECKING:
    from berryeval.metrics.base import Metric

# Rank by rank: grade 2, no judgment, grade 0, grade 1, in the pool but not judged, no judgment.
# A document of grade 1 and one of grade 0 were not found.
RANKING = JudgedRanking(
    hits=[JudgedHit(1, 2.0), JudgedHit(3, 0.0), JudgedHit(4, 1.0), JudgedHit(5, -1.0)],
    retrieved=6,
    grades=[2.0, 1.0, 1.0, 0.0, 0.0, -1.0],
)
DCG = 2 + 1 / math.log2(5)
IDCG = 2 + 1 / math.log2(3) + 1 / 2

VALUES = {
    "P@4": 2 / 4,
    "P@10": 2 / 10,
    "P(rel=2)@4": 1 / 4,
    "P(judged_only=True)@3": 2 / 3,
    "Success@1": 1.0,
    "Success(rel=3)@6": 0.0,
    "R@1": 1 / 3,
    "R@4": 2 / 3,
    "R(rel=2)@4": 1.0,
    "RelP@1": 1.0,
    "RelP@2": 1 / 2,
    "RelP@10": 2 / 3,
    "F1@4": 4 / 7,
    "F1(rel=3)@4": 0.0,
    "Rprec": 1 / 3,
    "Rprec(judged_only=True)": 2 / 3,
    "RprecMult(mult=0.5)": 1 / 2,
    "RprecMult(mult=2)": 2 / 6,
    "RprecMult(mult=4)": 2 / 12,
    "RprecMult(mult=0.01)": 0.0,
    "SetP": 2 / 6,
    "SetP(relative=True)": 2 / 3,
    "SetP(judged_only=True)": 2 / 3,
    "SetRelP": 2 / 3,
    "SetR": 2 / 3,
    "SetF": 4 / 9,
    "SetF(beta=2)": 5 / 9,
    "SetF(rel=3)": 0.0,
    "SetAP": 4 / 18,
    "RR": 1.0,
    "RR(rel=3)": 0.0,
    "AP": (1 + 2 / 4) / 3,
    "AP@3": 1 / 3,
    "GMAP": (1 + 2 / 4) / 3,
    "GMAP(rel=3)": 0.00001,
    "Yaap": math.log((1 + 1.5) / (1 + 3 - 1.5)),
    "Yaap(rel=2)": math.log(2),
    "IPrec@0": 1.0,
    "IPrec@0.4": 1.0,
    "IPrec(rounding='ceil0.9')@0.4": 1 / 2,
    "IPrec@0.5": 1 / 2,
    "IPrec@1": 0.0,
    "AvgIPrec": (5 * 1 + 4 * 1 / 2) / 11,
    "AvgIPrec(levels=[0,0.5,1])": (1 + 1 / 2) / 3,
    "Bpref": (1 + (1 - 1 / 2)) / 3,
    "Bpref(rel=2)": 1.0,
    "GMBpref": 1 / 2,
    "GMBpref(rel=3)": 0.00001,
    "infAP": (1 + 1 / 4 + 3 / 4 * 2 / 3 * 1 / 2) / 3,
    "nDCG": DCG / IDCG,
    "nDCG@1": 1.0,
    "nDCG(gains={1:4})": (2 + 4 / math.log2(5)) / (4 + 4 / math.log2(3) + 2 / 2),
    "nDCG(gains={0:1})@3": (2 + 1 / 2) / (2 + 1 / math.log2(3) + 1 / 2),
    "nDCG(gains={-1:1,-2:3})@5": (DCG + 1 / math.log2(3) + 3 / math.log2(6)) / IDCG,
    "nDCG(gains={0:-1})": (DCG - 1 / 2) / IDCG,
    "nDCG(rel=2)": 1.0,
    "nDCG(dcg='exp-log2')@2": 3 / (3 + 1 / math.log2(3)),
    "DCG": DCG,
    "DCG@3": 2.0,
    "DCG(dcg='exp-log2')": 3 + 1 / math.log2(5),
    "DCG(rel=2)": 2.0,
    "IDCG": IDCG,
    "IDCG@2": 2 + 1 / math.log2(3),
    "nDCGrel": (1 + 2 * DCG / IDCG) / 3,
    "RnDCG": (1 + 2 / IDCG + DCG / IDCG) / 3,
    "binG": (1 + 1 / 2) / 3,
    "G": (2 + 1 / 2) / 4,
    "RBP(p=0.5)": 0.5 * (1 + 1 / 8),
    "RBP(p=0.5)@3": 0.5,
    "RBP(p=0.5,rel=2)": 0.5,
    "RBP(p=0.5,gain='raw')": 0.5 * (2 + 1 / 8),
    "RBP(p=0.5,gain='raw',gains={1:8})": 0.5 * (2 + 8 / 8),
    "RBP(p=0.5,gain='scaled')": 0.5 * (1 + 1 / 16),
    "RBP(p=0.5,gain='scaled',max_rel=4)": 0.5 * (1 / 2 + 1 / 4 * 1 / 8),
    "RBP(p=0.5,gain='scaled',max_rel=1)": 0.5 * (1 + 1 / 8),
    "RBP(p=0.5,gain='minmax')": 0.5 * (1 + 1 / 16),
    "RBP(p=0.5,gain='minmax',rel=0,gains={0:-2})": 0.5 * (1 + 3 / 4 * 1 / 8),
    "RBP(p=0.5,rel=0,gain='minmax',gains={-1:4})": 0.5 * (1 / 2 + 1 / 2 + 1 / 32 + 1 / 32),
    "RBP(p=0.5,rel=0,gain='minmax',gains={-2:4})": 0.5 * (1 / 2 + 1 / 32 + 1 / 16),
    "RBP(p=0.5,normalize=True)": (1 + 1 / 8) / (1 + 1 / 2 + 1 / 4),
    "RBP(p=0)": 1.0,
    "RBP(p=1)": 0.0,
    "RBPResidual(p=0.5)": 1 / 2**6 + 0.5 * (1 / 2 + 1 / 16 + 1 / 32),
    "NumQ": 1.0,
    "NumRet": 6.0,
    "NumRet(rel=1)": 2.0,
    "NumRet(judged_only=True)": 3.0,
    "NumRel": 3.0,
    "NumRel(rel=2)": 1.0,
    "NumRelRet": 2.0,
    "NumRelRet@1": 1.0,
    "NumNonrelJudgedRet": 1.0,
    "NumNonrelJudgedRet(rel=2)": 2.0,
    "Unjudged@2": 1 / 2,
    "Unjudged@6": 3 / 6,
    "Unjudged@10": 3 / 10,
    "Unjudged(judged_only=True)@2": 0.0,
    "Utility": 2.0 - 4.0,
    "Utility(a=1,b=-1,c=1,d=0.5,docs=10)": 2 - 4 + 1 + 0.5 * 3,
}


@pytest.mark.parametrize("text", VALUES)
def test_reference_values_by_hand(text: str) -> None:
    assert parse_metric(text)(RANKING) == pytest.approx(VALUES[text], abs=1e-12)


def test_values_of_evaluate_by_hand() -> None:
    qrels = {"q": {"a": 2, "c": 0, "d": 1, "e": -1, "x": 1, "y": 0}}
    run = {"q": {"a": 6, "b": 5, "c": 4, "d": 3, "e": 2, "f": 1}}
    scores = evaluate(qrels, run, VALUES)
    for text, value in VALUES.items():
        assert scores.per_query(text)["q"] == pytest.approx(value, abs=1e-12), text


EMPTY = JudgedRanking([], 0, [2.0, 1.0, 0.0, -1.0])
NOTHING_RELEVANT = JudgedRanking([JudgedHit(1, 0.0), JudgedHit(2, -1.0)], 3, [0.0, 0.0, -1.0])
NOTHING_JUDGED = JudgedRanking([], 3, [])
# What is not 0.0 there: for the empty ranking, without relevant documents, without judgments.
EDGES: dict[str, tuple[float, float, float]] = {
    "GMAP": (0.00001, 0.00001, 0.00001),
    "GMBpref": (0.00001, 0.00001, 0.00001),
    "Yaap": (math.log(1 / 3), 0.0, 0.0),
    "IDCG": (2 + 1 / math.log2(3), 0.0, 0.0),
    "RBPResidual": (1.0, 1 - 0.1, 1.0),
    "NumQ": (1.0, 1.0, 1.0),
    "NumRet": (0.0, 3.0, 3.0),
    "NumRel": (2.0, 0.0, 0.0),
    "NumNonrelJudgedRet": (0.0, 1.0, 0.0),
    "Unjudged": (0.0, 2 / 5, 3 / 5),
    "Utility": (0.0, -3.0, -3.0),
}
REQUIRED = {"cutoff": 5, "recall": 0.0, "mult": 1.0}
OURS = (
    "P", "Success", "R", "RelP", "F1", "Rprec", "RprecMult", "SetP", "SetRelP", "SetR", "SetF",
    "SetAP", "RR", "AP", "GMAP", "Yaap", "IPrec", "AvgIPrec", "Bpref", "GMBpref", "infAP", "nDCG",
    "DCG", "IDCG", "nDCGrel", "RnDCG", "binG", "G", "RBP", "RBPResidual", "NumQ", "NumRet",
    "NumRel", "NumRelRet", "NumNonrelJudgedRet", "Unjudged", "Utility",
)  # fmt: skip


def plain(name: str) -> Metric:
    definition = definitions()[name]
    return definition(**{p.name: REQUIRED[p.name] for p in definition.parameters if p.required})


@pytest.mark.parametrize("name", OURS)
def test_empty_rankings_and_judgments(name: str) -> None:
    metric = plain(name)
    for judged, expected in zip(
        (EMPTY, NOTHING_RELEVANT, NOTHING_JUDGED), EDGES.get(name, (0.0, 0.0, 0.0)), strict=True
    ):
        assert metric(judged) == pytest.approx(expected, abs=1e-12)


@given(judged_runs())
def test_values_are_finite(tables: tuple[Rows, Rows]) -> None:
    qrels, run = Qrels.from_dict(tables[0]).table, Run.from_dict(tables[1]).table
    places = {query: place for place, query in enumerate(tables[1])}
    for index, query in enumerate(tables[0]):
        judged = judge_documents(qrels, index, run, places.get(query), RankingRule())
        for name in OURS:
            value = plain(name)(judged)
            assert math.isfinite(value), name
            if not name.startswith("Num") and name not in {"DCG", "IDCG", "Yaap", "Utility"}:
                assert 0 <= value <= 1 + 1e-12, name


def test_interpolated_precision_looks_ahead() -> None:
    ranking = JudgedRanking([JudgedHit(2, 1.0), JudgedHit(3, 1.0)], 3, [1.0, 1.0])
    assert parse_metric("IPrec@0.5")(ranking) == 2 / 3


def test_halves_are_rounded_up() -> None:
    ranking = JudgedRanking([JudgedHit(1, 1.0), JudgedHit(4, 1.0)], 4, [1.0, 1.0])
    below = math.nextafter(0.75, 0)
    assert parse_metric(f"IPrec@{below!r}")(ranking) == 1.0
    assert parse_metric("IPrec@0.75")(ranking) == 1 / 2


def test_close_gains_are_sorted() -> None:
    """Unlike in trec_eval, gains that differ by less than 1 are sorted."""
    ranking = JudgedRanking([JudgedHit(1, 1.0), JudgedHit(2, 2.0)], 2, [2.0, 1.0])
    for name in ("nDCG", "nDCGrel", "RnDCG"):
        assert parse_metric(f"{name}(gains={{1:0.9,2:0.5}})")(ranking) == 1.0


def test_exponential_gains_stay_finite() -> None:
    scores = evaluate({"q": {"a": 5000, "b": 1}}, {"q": {"b": 2, "a": 1}}, ["ndcg_burges"])
    assert scores.mean["ndcg_burges"] == pytest.approx(1 / math.log2(3))


def test_rndcg_counts_the_end_of_a_long_ranking() -> None:
    hits = [JudgedHit(1, 1.0), JudgedHit(3, 2.0)]
    first = (1 / 1) / 2
    second = 1 / (2 + 1 / math.log2(3))
    end = (1 + 2 / 2) / (2 + 1 / math.log2(3))
    for retrieved, expected in ((3, [first, second]), (4, [first, second, end])):
        value = parse_metric("RnDCG")(JudgedRanking(hits, retrieved, [2.0, 1.0]))
        assert value == pytest.approx(sum(expected) / len(expected), abs=1e-12)


def test_residual_of_a_fully_judged_ranking() -> None:
    ranking = JudgedRanking([JudgedHit(1, 1.0), JudgedHit(2, 0.0)], 2, [1.0, 0.0])
    assert parse_metric("RBPResidual(p=0.5)")(ranking) == 1 / 4
    assert parse_metric("rbp_resid_p=0.5")(ranking) == 0.0


def test_aggregates_of_metrics() -> None:
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"x": 2.0, "b": 1.0}}
    means = evaluate(qrels, run, ["NumQ", "NumRet", "hits@1", "AP", "GMAP", "GMBpref"]).mean
    assert means["NumQ"] == 2
    assert means["NumRet"] == 3
    assert means["hits@1"] == 1
    assert means["AP"] == 0.75
    assert means["GMAP"] == pytest.approx(math.sqrt(0.5))
    assert means["GMBpref"] == 1
