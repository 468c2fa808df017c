"""Diversity metrics: values by hand, and ndeval through ir_measures as the oracle."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.data.judged import SubtopicRanking
from berryeval.data.qrels import Qrels
from berryeval.metrics.catalogue import definitions
from berryeval.metrics.grammar import parse_metric
from berryeval.scoring.engine import evaluate
from tests.metrics.ir_measures_oracle import QUERY, ours, scored, theirs

if TYPE_CHECKING:
    from collections.abc import Mapping

CUT = ["ERR_IA", "nERR_IA", "alpha_DCG", "alpha_nDCG", "P_IA", "StRecall"]
NAMES = [*CUT, "NRBP", "nNRBP", "AP_IA"]
LOG3 = math.log2(3)


def qrels_of(records: Mapping[tuple[str, str], float]) -> Qrels:
    """Build judgments of one query from `{(document, subtopic): grade}`."""
    return Qrels.from_records(
        [(QUERY, document, grade, subtopic) for (document, subtopic), grade in records.items()]
    )


# "a" covers both subtopics, "b" the second, "c" none, so subtopic 3 does not count.
JUDGED = {("a", "1"): 1, ("a", "2"): 1, ("b", "2"): 1, ("c", "3"): 0, ("c", "1"): 0}

VECTORS = [
    ("StRecall@1", ["b", "a"], 1 / 2),
    ("StRecall@2", ["b", "a"], 1.0),
    ("StRecall", ["x", "c"], 0.0),
    ("P_IA@2", ["a", "b"], 3 / 4),
    ("P_IA@10", ["a", "b"], 3 / 20),
    ("P_IA", ["a", "b", "c"], 3 / 6),
    # subtopic 1: 1/1; subtopic 2: (1/1 + 2/3) / 2
    ("AP_IA", ["a", "x", "b"], (1 + 5 / 6) / 2),
    # gains 2 and 1/2
    ("ERR_IA@2", ["a", "b"], (2 + 1 / 4) / (2 + 1 / 2)),
    ("ERR_IA@1", ["a"], 1.0),
    ("ERR_IA", ["a", "b"], (2 + 1 / 4) / (2 + 1 / 2)),
    # gains 1 and 3/2, against 2 and 1/2
    ("nERR_IA@2", ["b", "a"], (1 + 3 / 4) / (2 + 1 / 4)),
    ("nERR_IA", ["b", "a", "x"], (1 + 3 / 4) / (2 + 1 / 4)),
    ("alpha_DCG@1", ["a"], 1.0),
    ("alpha_DCG@2", ["a", "b"], (2 + 0.5 / LOG3) / (2 + 1 / LOG3)),
    ("alpha_DCG(alpha=0)", ["a", "b"], (2 + 1 / LOG3) / (2 + 2 / LOG3)),
    ("alpha_nDCG@2", ["b", "a"], (1 + 1.5 / LOG3) / (2 + 0.5 / LOG3)),
    ("alpha_nDCG(alpha=1)", ["b", "a"], (1 + 1 / LOG3) / 2),
    ("alpha_nDCG", ["a", "b"], 1.0),
    ("NRBP", ["a", "x", "b"], (1 - 1 / 4) / 2 * (2 + 1 / 2 * 1 / 4)),
    ("NRBP(alpha=0,beta=0)", ["a", "b"], 1.0),
    ("nNRBP", ["b", "a"], (1 + 1.5 / 2) / (2 + 0.5 / 2)),
    ("nNRBP(beta=1)", ["b", "a"], 1.0),
    # documents without a judgment leave the ranking first
    ("StRecall(judged_only=True)@1", ["x", "a"], 1.0),
    ("alpha_nDCG(judged_only=True)@2", ["x", "a", "y", "b"], 1.0),
    ("AP_IA(judged_only=True)", ["x", "c", "a"], (1 / 2 + 1 / 4) / 2),
]


@pytest.mark.parametrize(("metric", "ranking", "expected"), VECTORS)
def test_values_by_hand(metric: str, ranking: list[str], expected: float) -> None:
    assert ours(metric, ranking, qrels_of(JUDGED)) == pytest.approx(expected, abs=1e-15)


def test_rel_may_be_any_number() -> None:
    qrels = qrels_of({("a", "1"): 0.5, ("b", "2"): 1.5})
    assert ours("StRecall(rel=0.5)@1", ["a", "b"], qrels) == 0.5
    assert ours("StRecall(rel=0.6)@1", ["a", "b"], qrels) == 0.0
    assert ours("StRecall(rel=0.6)@2", ["a", "b"], qrels) == 1.0


def test_a_negative_grade_is_not_a_judgment() -> None:
    qrels = qrels_of({("a", "1"): -1, ("b", "1"): 1, ("c", "1"): -1, ("c", "2"): 0})
    assert ours("P_IA(judged_only=True)@1", ["a", "b"], qrels) == 1.0
    assert ours("P_IA(judged_only=True)@1", ["c", "b"], qrels) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_find_scores_0(name: str) -> None:
    for at in ("", "@5") if name in CUT else ("",):
        assert ours(name + at, ["a"], qrels_of({("a", "1"): 0})) == 0.0
        assert ours(name + at, [], qrels_of(JUDGED)) == 0.0
        assert ours(name + at, ["x"], qrels_of(JUDGED)) == 0.0
        assert evaluate(qrels_of(JUDGED), {}, [name + at]).mean[name + at] == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_judgments_without_groups_have_one_subtopic(name: str) -> None:
    grades = {"a": 1, "b": 0, "c": 2}
    named = qrels_of({(document, "only"): grade for document, grade in grades.items()})
    found = ours(name, ["b", "a", "x", "c"], grades)
    assert found == ours(name, ["b", "a", "x", "c"], named)
    assert found > 0


_DOCUMENTS = [f"d{number}" for number in range(8)]
rankings = st.lists(st.sampled_from(_DOCUMENTS), min_size=1, max_size=8, unique=True)
records = st.dictionaries(
    st.tuples(st.sampled_from(_DOCUMENTS), st.sampled_from("123456")),
    st.integers(-1, 2),
    min_size=1,
    max_size=24,
)
shares = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0.0, 1.0))


def spelled(name: str, cutoff: int, **params: float) -> tuple[str, Any]:
    """Return a metric by its name here and in ir_measures."""
    known = getattr(ir_measures, name).SUPPORTED_PARAMS
    given = {key: value for key, value in params.items() if key in known}
    text = f"{name}({','.join(f'{key}={value!r}' for key, value in given.items())})"
    metric = getattr(ir_measures, name)(**given)
    return (f"{text}@{cutoff}", metric @ cutoff) if name in CUT else (text, metric)


@settings(max_examples=60)
@given(rankings, records, st.integers(1, 20), st.integers(1, 2), shares, shares)
def test_agreement_with_ndeval(
    ranking: list[str],
    judged: dict[tuple[str, str], int],
    cutoff: int,
    rel: int,
    alpha: float,
    beta: float,
) -> None:
    """Except where ndeval does not scale (k = 1) or divides 0 by 0."""
    peer_qrels = [
        ir_measures.Qrel(QUERY, document, grade, subtopic)
        for (document, subtopic), grade in judged.items()
    ]
    answered = {subtopic for (_, subtopic), grade in judged.items() if grade >= rel}
    for name in NAMES:
        text, metric = spelled(name, cutoff, rel=rel, alpha=alpha, beta=beta)
        expected = theirs(metric, ranking, peer_qrels)
        if cutoff == 1 and name in {"ERR_IA", "alpha_DCG"} and answered:
            expected /= len(answered)
        found = ours(text, ranking, qrels_of(judged))
        if math.isnan(expected):  # 0 / 0: nothing is relevant, or the constant of NRBP is 0
            assert name == "nNRBP"
            assert found == 0.0 if not answered else (1 - alpha) * beta == 1
            continue
        assert found == pytest.approx(expected, abs=1e-9), text


@given(rankings, records)
@settings(max_examples=40)
def test_judged_only_is_the_run_without_unjudged_documents(
    ranking: list[str], judged: dict[tuple[str, str], int]
) -> None:
    known = {document for (document, _), grade in judged.items() if grade >= 0}
    rest = [document for document in ranking if document in known]
    for name in NAMES:
        found = ours(f"{name}(judged_only=True)", ranking, qrels_of(judged))
        assert found == ours(name, rest, qrels_of(judged))


@given(rankings, records, shares, shares)
@settings(max_examples=40)
def test_scaled_metrics_stay_between_0_and_1(
    ranking: list[str], judged: dict[tuple[str, str], int], alpha: float, beta: float
) -> None:
    for name in ("ERR_IA", "alpha_DCG", "AP_IA", "P_IA", "StRecall"):
        text, _ = spelled(name, 3, rel=1, alpha=alpha, beta=beta)
        assert 0 <= ours(text, ranking, qrels_of(judged)) <= 1 + 1e-12


def test_several_alphas_in_one_call_are_independent() -> None:
    metrics = [f"alpha_nDCG(alpha={alpha})@5" for alpha in (0.0, 0.25, 0.5, 1.0)]
    together = evaluate(qrels_of(JUDGED), {QUERY: scored(["b", "x", "a"])}, metrics)
    for metric in metrics:
        assert together.mean[metric] == ours(metric, ["b", "x", "a"], qrels_of(JUDGED)) > 0


def test_names_of_ir_measures_and_ndeval_are_known() -> None:
    spellings = {
        "\N{GREEK SMALL LETTER ALPHA}_nDCG@10": "alpha_nDCG@10",
        "alpha-nDCG@10": "alpha_nDCG@10",
        "ERR-IA@20": "ERR_IA@20",
        "MAP_IA": "AP_IA",
        "strec@5": "StRecall@5",
    }
    for spelling, canonical in spellings.items():
        assert str(parse_metric(spelling)) == canonical


def test_diversity_metrics_declare_their_kind() -> None:
    found = {name for name, known in definitions().items() if known.kind == "subtopics"}
    assert found == set(NAMES)
    assert not any(definitions()[name].native for name in NAMES)


def test_a_subtopic_ranking_keeps_the_order_of_subtopics() -> None:
    from berryeval.data.judged import judge_subtopics
    from berryeval.data.run import RankingRule, Run

    run = Run.from_dict({QUERY: scored(["x", "b", "a"])}).table
    view = judge_subtopics(qrels_of(JUDGED).table, 0, run, 0, RankingRule())
    assert view == SubtopicRanking(
        hits=[(2, {"2": 1.0}), (3, {"1": 1.0, "2": 1.0})],  # type: ignore[list-item]
        retrieved=3,
        documents=[{"1": 0.0, "3": 0.0}, {"2": 1.0}, {"1": 1.0, "2": 1.0}],
        subtopics=["1", "2", "3"],
    )
