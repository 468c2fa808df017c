"""Profiles, each with a vector computed by hand."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import ir_measures
import pytest
import pytrec_eval
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval import audit, bounds, evaluate
from berryeval.data.run import RankingRule
from berryeval.errors import ConfigurationError
from berryeval.metrics.catalogue import definitions
from berryeval.metrics.profiles import PROFILES, Conventions
from berryeval.workflows import score_files

if TYPE_CHECKING:
    from pathlib import Path

# b is relevant, and q2 is missing from every run.
QRELS = {"q1": {"b": 1.0}, "q2": {"x": 1.0}}
TIED = {"q1": {"a": 1.0, "b": 1.0, "c": 1.0}}
NEARLY_TIED = {"q1": {"b": 1.00000002, "c": 1.00000001}}


def reciprocal(value: float) -> int:
    """Return the rank of b, from the average precision of q1."""
    return round(1 / value)


@pytest.mark.parametrize("from_file", [False, True])
@pytest.mark.parametrize(
    ("profile", "queries", "tied", "nearly"),
    [
        ("berryeval", 2, 2, 1),  # c b a; float64 tells the scores apart
        ("trec_eval", 1, 2, 1),
        ("trec_eval-9", 1, 2, 2),  # one float32, so c b
        ("ir_measures", 2, 2, 2),
        ("ranx", 2, 2, 1),  # a b c as given
        ("gdeval", 1, 2, 1),
        ("msmarco", 2, 2, 1),  # a b c by id
    ],
)
def test_ranks_and_query_counts_of_each_profile(
    profile: str, queries: int, tied: int, nearly: int, *, from_file: bool, tmp_path: Path
) -> None:
    for run, rank in ((TIED, tied), (NEARLY_TIED, nearly)):
        scores = evaluate(
            QRELS, as_file(run, tmp_path) if from_file else run, ["AP"], profile=profile
        )
        assert scores.count == queries
        assert scores.left_out == (() if queries == 2 else ("q2",))
        assert reciprocal(scores.per_query("AP")["q1"]) == rank
        assert scores.mean["AP"] == 1 / rank / queries


@pytest.mark.parametrize(
    ("profile", "first"),
    [
        ("berryeval", "c"), ("trec_eval", "c"), ("trec_eval-9", "c"), ("ir_measures", "c"),
        ("gdeval", "c"), ("msmarco", "a"), ("ranx", "b"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("from_file", [False, True])
def test_order_of_ties_in_each_profile(
    profile: str, first: str, *, from_file: bool, tmp_path: Path
) -> None:
    run = {"q": {"b": 1.0, "c": 1.0, "a": 1.0}}
    source = as_file(run, tmp_path) if from_file else run
    found = {
        document: evaluate({"q": {document: 1}}, source, ["P@1"], profile=profile).mean["P@1"]
        for document in "abc"
    }
    assert found == {document: float(document == first) for document in "abc"}


CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)


@pytest.mark.parametrize("profile", ["trec_eval", "trec_eval-9"])
def test_bare_names_mean_the_cutoffs_of_trec_eval(profile: str) -> None:
    names = {"ndcg_cut": "nDCG", "map_cut": "AP", "P": "P", "recall": "R", "relative_P": "RelP"}
    for name, canonical in names.items():
        scores = evaluate(QRELS, TIED, [name], profile=profile)
        assert scores.metrics == tuple(f"{canonical}@{cutoff}" for cutoff in CUTOFFS)
    some = {
        "success": "Success@1 Success@5 Success@10",
        "unj": "Unjudged@5 Unjudged@10 Unjudged@20",
    }
    for name, canonical in some.items():
        assert evaluate(QRELS, TIED, [name], profile=profile).metrics == tuple(canonical.split())
    assert (
        len(evaluate(QRELS, TIED, ["iprec_at_recall", "Rprec_mult"], profile=profile).metrics) == 21
    )


def test_bare_names_have_a_level_too() -> None:
    scores = evaluate(QRELS, TIED, ["P-l2"], profile="trec_eval")
    assert scores.metrics[0] == "P(rel=2)@5"
    assert evaluate(QRELS, TIED, ["recall-l2"], profile="ranx").metrics == ("SetR(rel=2)",)


def test_bare_names_work_on_files_and_in_audits(tmp_path: Path) -> None:
    run = as_file(TIED, tmp_path)
    qrels = tmp_path / "qrels"
    qrels.write_text("q1 0 b 1\n")
    found = score_files(str(qrels), str(run), ["ndcg_cut,rbp"], profile="trec_eval", audit=True)
    assert len(found.scores.metrics) == 10
    assert found.audit is not None
    assert len(found.audit.tie_ranges) == 10
    assert len(audit(QRELS, TIED, ["P"], profile="trec_eval").tie_ranges) == 9
    assert bounds(QRELS, TIED, "rbp", profile="trec_eval").metric == TREC_RBP


TREC_RBP = "RBP(p=0.9,rel=0,gain='minmax')"


def test_rbp_is_the_one_of_the_profile() -> None:
    assert evaluate(QRELS, TIED, ["rbp"]).metrics == ("RBP",)
    scores = evaluate(QRELS, TIED, ["rbp"], profile="trec_eval")
    assert scores.metrics == (TREC_RBP,)
    assert scores.mean["rbp"] == pytest.approx(0.1 * 0.9)
    assert evaluate(QRELS, TIED, ["RBP"], profile="trec_eval").metrics == ("RBP",)


def test_every_profile_has_a_vector() -> None:
    assert set(PROFILES) == {
        "berryeval", "trec_eval", "trec_eval-9", "ir_measures", "ranx", "gdeval", "msmarco",
    }  # fmt: skip


def test_gdeval_uses_exponential_gains() -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    scores = evaluate(qrels, run, ["nDCG@2", "AP"], profile="gdeval")
    assert scores.metrics == ("nDCG(dcg='exp-log2')@2", "AP")
    low = math.log2(3)
    assert scores.mean["nDCG@2"] == (1 + 3 / low) / (3 + 1 / low)


def test_a_given_parameter_overrides_the_profile() -> None:
    conventions = Conventions(defaults={"AP": {"cutoff": 1, "nothing": 3}})
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    scores = evaluate(qrels, run, ["AP", "AP@2"], profile=conventions)
    assert scores.metrics == ("AP@1", "AP@2")
    assert scores.values.tolist() == [[0.5], [1.0]]


def test_a_given_default_overrides_the_profile() -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    low = math.log2(3)
    scores = evaluate(qrels, run, ["ndcg@2", "nDCG(dcg='log2')@2"], profile="gdeval")
    assert scores.metrics == ("nDCG(dcg='exp-log2')@2", "nDCG@2")
    assert scores.mean["nDCG(dcg='log2')@2"] == (1 + 2 / low) / (2 + 1 / low)
    assert scores.mean["ndcg@2"] == (1 + 3 / low) / (3 + 1 / low)
    # Other spellings of the request, and canonical names:
    assert scores.mean["ndcg_cut_2"] == scores.mean["ndcg@2"]
    assert scores.mean["nDCG(dcg=log2)@2"] == scores.mean["nDCG@2"]
    far = {"q": {f"d{place:02}": 20.0 - place for place in range(20)}}
    names = ["RR", "RR(cutoff=None)", "mrr@20"]
    found = evaluate({"q": {"d14": 1}}, far, names, profile="msmarco")
    assert [found.mean[name] for name in names] == [0.0, 1 / 15, 1 / 15]
    assert found.mean["recip_rank"] == 0.0


def test_a_spelling_does_not_find_another_profiles_metric() -> None:
    qrels, run = {"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}
    scores = evaluate(qrels, run, ["nDCG@2"], profile="gdeval")
    assert "nDCG(dcg='log2')@2" not in scores.mean
    several = evaluate(qrels, run, ["ndcg_cut.1,2"], profile="gdeval")
    assert several.mean["nDCG@2"] == several.mean["ndcg_2"] == scores.mean["nDCG@2"]


def test_defaults_of_profiles_name_existing_parameters() -> None:
    for conventions in PROFILES.values():
        assert conventions.text
        for name, defaults in conventions.defaults.items():
            if name in definitions():
                known = {parameter.name for parameter in definitions()[name].parameters}
                assert set(defaults) <= known


def test_conventions_can_be_passed_directly() -> None:
    shallow = Conventions(RankingRule("document ascending", depth=1))
    assert evaluate(QRELS, TIED, ["AP"], profile=shallow).mean["AP"] == 0.0


def test_an_unknown_profile_suggests_the_closest() -> None:
    with pytest.raises(
        ConfigurationError, match="unknown profile 'trec'; did you mean 'trec_eval'"
    ):
        evaluate(QRELS, TIED, ["AP"], profile="trec")


scores_near_each_other = st.sampled_from([1.0, 1.00000001, 1.0000002, 2.0, -1.0])
documents = st.sampled_from(["a", "b", "c", "d", "é", "Z"])


queries = st.sampled_from(["q1", "q2", "q3"])
runs = st.dictionaries(
    queries, st.dictionaries(documents, scores_near_each_other, min_size=1), min_size=1
)
judgments = st.dictionaries(
    queries, st.dictionaries(documents, st.integers(0, 3), min_size=1), min_size=1
)


@given(runs, judgments)
def test_profile_trec_eval_9_equals_pytrec_eval(
    run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]
) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg_cut.5", "P.5"})
    theirs = evaluator.evaluate(run)
    ours = evaluate(qrels, run, ["map", "ndcg_cut_5", "P_5"], profile="trec_eval-9")
    assert set(ours.queries) == set(theirs)
    for name in ("map", "ndcg_cut_5", "P_5"):
        for query, value in ours.per_query(name).items():
            assert value == pytest.approx(theirs[query][name], abs=1e-12)


@settings(max_examples=50)
@given(runs, judgments)
def test_profile_ir_measures_equals_ir_measures(
    run: dict[str, dict[str, float]], qrels: dict[str, dict[str, int]]
) -> None:
    names = ["AP", "nDCG@5", "P@5", "Success@1"]
    theirs = ir_measures.calc_aggregate(map(ir_measures.parse_measure, names), qrels, run)
    ours = evaluate(qrels, run, names, profile="ir_measures")
    assert ours.count == len(qrels)
    for metric, value in theirs.items():
        assert ours.mean[str(metric)] == pytest.approx(value, abs=1e-12)


def as_file(run: dict[str, dict[str, float]], folder: Path) -> Path:
    path = folder / "run"
    lines = [
        f"{query} Q0 {document} 1 {score!r} t\n"
        for query, row in run.items()
        for document, score in row.items()
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path
