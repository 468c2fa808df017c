"""Spellings of metrics, canonical names and error messages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.errors import MetricError
from berryeval.metrics.catalogue import definitions
from berryeval.metrics.grammar import parse_metric, parse_metrics
from tests.metrics.rankings import metrics_of

SPELLINGS = {
    "nDCG@10": "ndcg_at_10 ndcg@10 NDCG@10 ndcg_10 ndcg_cut_10 ndcg_cut.10 nDCG(cutoff=10)",
    "nDCG(dcg='exp-log2')@10": "ndcg_burges@10 nDCG(dcg=exp-log2)@10",
    "nDCG(gains={1:3,2:9})": "ndcg.1=3,2=9 ndcg_1=3,2=9 nDCG(gains={2:9,1:3})",
    "DCG@5": "dcg@5 dcg_5",
    "DCG(dcg='exp-log2')@5": "dcg_burges@5",
    "IDCG": "ideal_dcg",
    "RR": "mrr MRR recip_rank reciprocal_rank",
    "RR@10": "mrr@10 mrr_at_10 recip_rank_10",
    "AP": "map MAP average_precision",
    "AP@100": "map_cut_100 map_cut.100 map@100 map_at_100",
    "Success@5": "hit_rate@5 success_5 success.5 success_at_5 hit-rate-at-5",
    "P@5": "P_5 P.5 precision@5 precision_at_5 precision_5 Precision@5 precision-at-5",
    "P(rel=2)@5": "precision@5-l2 P_5-l2 P(rel=2.0)@5",
    "R@10": "recall@10 recall_10 recall.10 recall_at_10 recall-at-10",
    "RelP@10": "relative_P_10 relative_P.10 R_cap@10",
    "SetP": "set_P precision",
    "SetP(rel=2)": "precision-l2 precision(rel=2)",
    "Success": "hit_rate",
    "SetRelP": "set_relative_P",
    "SetR": "set_recall",
    "SetF": "set_F set_F_1.0 SetF(beta=1) f1",
    "SetAP": "set_map",
    "F1@3": "f1@3 f1_3 f1_score@3",
    "Rprec": "r-precision RPrec r_precision",
    "RprecMult(mult=0.2)": "Rprec_mult_0.20 Rprec_mult.0.2",
    "Bpref": "bpref BPref",
    "GMAP": "gm_map",
    "GMBpref": "gm_bpref",
    "IPrec@0.1": "iprec_at_recall_0.10 iprec_at_recall.0.1 IPrec(recall=0.1)",
    "AvgIPrec": "11pt_avg 11pt_avg_0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1",
    "AvgIPrec(levels=[0.25,0.5])": "11pt_avg_0.25,0.5 AvgIPrec(levels=[0.5,0.25])",
    "infAP": "infap",
    "nDCGrel": "ndcg_rel",
    "RnDCG": "Rndcg",
    "RnDCG(rel=2)": "Rndcg-l2 Rndcg(rel=2)",
    "NumQ": "num_q",
    "NumRet": "num_ret",
    "NumRel": "num_rel",
    "NumRelRet": "num_rel_ret hits",
    "NumRelRet@5": "hits@5",
    "NumNonrelJudgedRet": "num_nonrel_judged_ret",
    "Unjudged@20": "unj_20 unj.20",
    "Utility(a=2,c=0.5,d=0.1)": "utility_2,-1,0.5,0.1 Utility(a=2,b=-1,c=0.5,d=0.1)",
    "Yaap": "yaap",
    "RBP@10": "rbp@10 rbp_at_10 rbp_10 rank_biased_precision@10",
    "RBP(p=0.95,gain='raw')": "rbp.95",
    "RBP(p=0.95,gain='raw')@10": "rbp.95@10",
    "RBP(p=0.9,rel=0,gain='minmax',gains={1:3})": "rbp_p=0.9,1=3 rbp_1=3",
    "RBPResidual(complete_is_zero=True)": "rbp_resid rbp_resid_p=0.9",
}


@pytest.mark.parametrize("canonical", SPELLINGS)
def test_all_spellings_parse_to_one_metric(canonical: str) -> None:
    expected = parse_metric(canonical)
    assert str(expected) == canonical
    for spelling in SPELLINGS[canonical].split():
        assert parse_metric(spelling) == expected, spelling
    assert parse_metric(f" {canonical} ") == expected


def test_spaces_are_ignored() -> None:
    assert str(parse_metric(" P ( rel = 2 , judged_only = true ) @5 ")) == (
        "P(rel=2,judged_only=True)@5"
    )


def test_one_text_may_name_several_metrics() -> None:
    assert [str(m) for m in parse_metrics(["P.5,10", "Rprec_mult.0.2,0.4"])] == [
        "P@5", "P@10", "RprecMult(mult=0.2)", "RprecMult(mult=0.4)",
    ]  # fmt: skip
    assert [str(m) for m in parse_metrics(["nDCG@5,10"])] == ["nDCG@5", "nDCG@10"]
    with pytest.raises(MetricError, match=r"'P\.5,10' names 2 metrics \(P@5, P@10\), expected one"):
        parse_metric("P.5,10")


@pytest.mark.parametrize("name", list(definitions()))
@given(data=st.data())
@settings(max_examples=15)
def test_a_printed_metric_parses_to_itself(name: str, data: st.DataObject) -> None:
    metric = data.draw(metrics_of(definitions()[name]))
    assert parse_metric(str(metric)) == metric
    assert str(parse_metric(str(metric))) == str(metric)


def test_metrics_with_equal_values_are_equal() -> None:
    plain, explicit = parse_metric("nDCG@10"), parse_metric("nDCG(dcg='log2')@10")
    assert plain == explicit
    assert hash(plain) == hash(explicit)
    assert str(explicit) == "nDCG@10"
    assert plain.given == {"cutoff"}
    assert explicit.given == {"cutoff", "dcg"}
    assert parse_metric("ndcg_burges@10").given == {"cutoff", "dcg"}
    assert parse_metric("AP").given == set()


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("rbp_p=0.8", "RBP(rel=0,gain='minmax')"),
        ("rbp_p=0.95", "RBP(p=0.95,rel=0,gain='minmax')"),
        ("rbp.p=0.5,1=0.5,2=1", "RBP(p=0.5,rel=0,gain='minmax',gains={1:0.5,2:1})"),
        ("rbp_1=0.5", "RBP(p=0.9,rel=0,gain='minmax',gains={1:0.5})"),
        ("rbp.95", "RBP(p=0.95,gain='raw')"),
        ("rbp.8", "RBP(gain='raw')"),
        ("rbp.95@10-l2", "RBP(p=0.95,rel=2,gain='raw')@10"),
        ("RBP(p=0.8)", "RBP"),
        ("RBP", "RBP"),
        ("rbp_10", "RBP@10"),
        ("rbp_resid_p=0.9", "RBPResidual(complete_is_zero=True)"),
        ("rbp_resid.p=0.5", "RBPResidual(p=0.5,complete_is_zero=True)"),
    ],
)
def test_dialects_of_rbp(text: str, canonical: str) -> None:
    metric = parse_metric(text)
    assert str(metric) == canonical
    again = parse_metric(canonical)
    assert (again, again.params) == (metric, metric.params)


@pytest.mark.parametrize("name", list(definitions()))
def test_every_alias_means_its_metric(name: str) -> None:
    definition = definitions()[name]
    given = {p.name: {"cutoff": 5, "recall": 0.5}.get(p.name, 1) for p in definition.parameters
             if p.required}  # fmt: skip
    written = f"({','.join(f'{key}={value}' for key, value in given.items())})" if given else ""
    for alias, implied in definition.aliases.items():
        cut = alias in {"ndcg_cut", "map_cut"}
        expected = definition(**({"cutoff": 5} if cut else {**implied, **given}))
        assert parse_metric(alias + ("_5" if cut else written)) == expected
        assert parse_metric(alias.upper() + ("_5" if cut else written)) == expected


def test_no_name_means_two_metrics() -> None:
    owners: dict[str, set[str]] = {}
    for definition in definitions().values():
        for name in (definition.name, *definition.aliases):
            owners.setdefault(name.lower(), set()).add(definition.name)
    assert {name: found for name, found in owners.items() if len(found) > 1} == {}


MISTAKES = {
    "ndgc@10": "unknown metric 'ndgc@10'; did you mean nDCG",
    "ndgc_cut_10": "unknown metric 'ndgc_cut_10'; did you mean ndcg_cut",
    "ndcg_cut.x": "unknown metric 'ndcg_cut.x'; did you mean ndcg_cut@10[?]",
    "iprec_at_recall.x": "did you mean iprec_at_recall@0.1 or ",
    "recall.x": "did you mean recall@10 or ",
    "presicion@5": "unknown metric 'presicion@5'; did you mean precision",
    "xyzzy": "unknown metric 'xyzzy'; run `berryeval list metrics` to list all metrics",
    "": "'' is not a metric; metrics look like nDCG@10",
    "P@5@6": "'P@5@6' is not a metric",
    "P": "P needs a cutoff, as in P@10; SetP covers the whole ranking, and the profile trec_eval "
    "reads 'P' as its nine cutoffs",
    "recall": "R needs a cutoff, as in R@10; SetR covers the whole ranking, and the profile "
    "trec_eval reads 'recall' as its nine cutoffs",
    "ndcg_cut": "'ndcg_cut' needs a cutoff, as in nDCG@10; nDCG covers the whole ranking, and",
    "map_cut-l2": "'map_cut-l2' needs a cutoff, as in AP@10; AP covers the whole ranking, and the",
    "recall@": "'recall@' has no number after the @; write one, as in recall@10",
    "IPrec@": "'IPrec@' has no number after the @; write one, as in IPrec@0.1",
    "recall-at-": "'recall-at-' has no number after the -at-; write one, as in recall-at-10",
    "ndcg_at_": "'ndcg_at_' has no number after the _at_; write one, as in ndcg_at_10",
    "IPrec": "IPrec needs the parameter 'recall', as in IPrec@0.1$",
    "iprec_at_recall": "IPrec needs the parameter 'recall', as in IPrec@0.1$",
    "RprecMult": r"RprecMult needs the parameter 'mult', as in RprecMult\(mult=...\)",
    "P@0": "cutoff of P must be an integer from 1 to 10000000, found 0",
    "P@-3": "cutoff of P must be an integer from 1 to 10000000, found -3",
    "P@ten": "'ten' in 'P@ten' must be an integer",
    "P@2.5": "'2.5' in 'P@2.5' must be an integer",
    "IPrec@1.5": "recall of IPrec must be a number from 0 to 1, found 1.5",
    "Rprec@5": "Rprec takes no cutoff, found 'Rprec@5'",
    "Rprec_5": "Rprec takes no cutoff, found 'Rprec_5'",
    "P(rel)@5": "'rel' in 'P\\(rel\\)@5' must be a parameter and its value, as in rel=2",
    "P(rel='high')@5": "rel of P must be a number, found 'high'",
    "P(level=2)@5": "P has no parameter 'level'; it has cutoff, judged_only, rel",
    "P(rel=2,rel=3)@5": "gives rel twice",
    "P(rel=2)@5-l3": "gives rel twice",
    "P(cutoff=5)@5": "gives cutoff twice",
    "nDCG(dcg='log10')@5": "dcg of nDCG must be 'log2' or 'exp-log2', found 'log10'",
    "nDCG(gains={-3:1})": "gains of nDCG must be a mapping of grade to gain",
    "nDCG(gains={1:'much'})": "gains of nDCG must be a mapping of grade to gain",
    "ndcg_1=much": "nDCG does not understand '_1=much' in 'ndcg_1=much'",
    "map_1=3": "AP has no parameter 'gains'",
    "utility_1,2": "Utility does not understand '_1,2' in 'utility_1,2'",
    "set_F_-1": "SetF does not understand '_-1' in 'set_F_-1'",
    "SetF(beta=0)": "beta of SetF must be a number above 0, found 0",
    "RBP(p=1.5)": "p of RBP must be a number from 0 to 1, found 1.5",
    "RBP(gain='linear')": "gain of RBP must be 'binary' or 'scaled' or 'minmax' or 'raw'",
    "rbp_resid_x=1": "RBPResidual does not understand '_x=1' in 'rbp_resid_x=1'",
    "Utility(docs=-1)": "docs of Utility must be an integer from 0 up, found -1",
    "AvgIPrec(levels=[])": "levels of AvgIPrec must be a list of numbers from 0 to 1",
    "AvgIPrec(levels=[2])": "levels of AvgIPrec must be a list of numbers from 0 to 1",
    "P(judged_only=1)@5": "judged_only of P must be True or False, found 1",
}


@pytest.mark.parametrize("text", MISTAKES)
def test_mistakes_are_explained(text: str) -> None:
    with pytest.raises(MetricError, match=MISTAKES[text]):
        parse_metric(text)


@pytest.mark.parametrize("text", ["ndcg_cut.x", "iprec_at_recall.x", "recall.x", "map_cut_x"])
def test_suggested_names_are_accepted(text: str) -> None:
    with pytest.raises(MetricError) as caught:
        parse_metric(text)
    for name in str(caught.value).partition("did you mean ")[2].partition("?")[0].split(" or "):
        parse_metric(name)


def test_a_metric_must_be_text() -> None:
    with pytest.raises(MetricError, match="a metric must be named by a str, found int 5"):
        parse_metrics([5])  # type: ignore[list-item]
