"""Values that trec_eval 10.0 printed for one query, for what pytrec_eval (version 9) lacks."""

from __future__ import annotations

import pytest

from berryeval.metrics.grammar import parse_metrics
from berryeval.scoring.engine import evaluate

QRELS = {
    "q": {
        "d03": 1, "d04": -1, "d05": 1, "d06": -1, "d09": 3, "d10": -1, "d11": 3, "d13": 2, "d15": 0,
        "d16": 0, "d17": 2, "d18": 0, "d19": 1, "d20": -1, "d21": 1, "d22": 1, "d23": 2,
    }
}  # fmt: skip
RUN = {
    "q": {
        "d06": 0.5, "d07": 1.5, "d09": 4.0, "d11": 1.5, "d12": 2.0, "d13": 1.5, "d14": 3.5,
        "d15": 1.5, "d16": 0.5, "d17": 2.5, "d18": 3.0, "d21": 3.5, "d23": 2.0,
    }
}  # fmt: skip
# By the name that trec_eval prints.
PRINTED = {
    "rbp_p=0.9": 0.2805,
    "rbp_p=0.8": 0.4009,
    "rbp_p=0.7,1=3,2=-2": 0.5755,
    "rbp_resid": 0.4514,
    "rbp_resid_p=0.5": 0.1335,
    "unj_5": 0.2,
    "unj_10": 0.2,
    "unj_20": 0.2,
    "yaap": -0.1932,
    "dcg": 6.5863,
    "ideal_dcg": 9.1229,
    "iprec_at_recall_0.00": 1.0,
    "iprec_at_recall_0.20": 1.0,
    "iprec_at_recall_0.30": 0.6667,
    "iprec_at_recall_0.40": 0.6667,
    "iprec_at_recall_0.50": 0.6,
    "iprec_at_recall_0.70": 0.0,
    "11pt_avg": 0.5030,
    "11pt_avg_0.25,0.5": 0.6333,
    "utility_2,-1,0.5,0.1": 5.3,
    "set_F_0.5": 0.5,
    "ndcg_1=3,2=9": 0.5738,
    "ndcg_0=1,-1=0.5,-2=2": 0.8741,
    "ndcg_rel_1=3,2=9": 0.4992,
    "Rndcg_1=3,2=9": 0.4676,
    "G_1=3,2=9": 0.1955,
    "dcg_1=2,2=7": 12.4377,
    "ideal_dcg_1=2,2=7": 20.5593,
    "Rprec_mult_0.30": 0.6667,
    "Rprec_mult_1.70": 0.3529,
    "bpref": 0.4,
    "infAP": 0.4422,
    "num_nonrel_judged_ret": 3.0,
}


@pytest.mark.parametrize("name", PRINTED)
def test_values_printed_by_trec_eval_10(name: str) -> None:
    value = evaluate(QRELS, RUN, [name], profile="trec_eval").per_query(name)["q"]
    assert value == pytest.approx(PRINTED[name], abs=0.00005 + 1e-9)


def test_the_bare_name_rbp_has_default_gains() -> None:
    assert [str(m) for m in parse_metrics(["rbp", "rbp_p=0.8", "rbp_p=0.9,2=1"])] == [
        "RBP",
        "RBP(rel=0,gain='minmax')",
        "RBP(p=0.9,rel=0,gain='minmax',gains={2:1})",
    ]
