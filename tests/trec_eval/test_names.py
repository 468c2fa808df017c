"""The names and parameters of trec_eval's metrics."""

from __future__ import annotations

import pytest

from berryeval.errors import MetricError
from berryeval.metrics.catalogue import definitions
from berryeval.trec_eval.names import NICKNAMES, TREC_METRICS, build_columns, parse_choices
from berryeval.trec_eval.preferences import PREFERENCE_METRICS


def printed(*texts: str) -> list[str]:
    """Return the names of the lines."""
    return [column.name for column in build_columns(parse_choices(texts))]


def test_table_has_all_metrics_of_trec_eval_10() -> None:
    assert len(TREC_METRICS) == 57
    sizes = {name: len(members) for name, members in NICKNAMES.items()}
    assert sizes == {
        "official": 12, "set": 11, "all_trec": 37, "all_prefs": 16, "prefs": 8, "qrels_jg": 5,
    }  # fmt: skip


def test_every_metric_can_be_computed() -> None:
    for column in build_columns(dict.fromkeys(TREC_METRICS, "")):
        row = column.row
        if row.canonical:
            definitions()[row.canonical](**column.parameters)
        else:
            own = {"runid", "num_q", "relstring", *PREFERENCE_METRICS}
            assert row.name in own


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("P.10,5", ["P_5", "P_10"]),
        ("ndcg_cut.23.4", ["ndcg_cut_23"]),
        ("iprec_at_recall..5,.10", ["iprec_at_recall_0.10", "iprec_at_recall_0.50"]),
        ("set_F.0.5", ["set_F_0.5"]),
        ("rbp.p=0.8,2=1", ["rbp_p=0.8,2=1"]),
        ("utility", ["utility"]),
        ("success", ["success_1", "success_5", "success_10"]),
        ("relstring.20", ["relstring_20"]),
        ("map.5", ["map"]),
    ],
)
def test_parameters_appear_in_line_names(text: str, names: list[str]) -> None:
    assert printed(text) == names


def test_line_order_is_that_of_trec_eval() -> None:
    assert printed("unj.5", "P.5", "map", "num_q") == ["num_q", "map", "P_5", "unj_5"]


def test_gains_and_persistence_become_parameters() -> None:
    """The first of two gains of a grade counts, and the last of two values of p."""
    (ndcg,) = build_columns(parse_choices(["ndcg.1=3,2=9,x=4,1=5"]))
    assert ndcg.parameters == {"gains": {1.0: 3.0, 2.0: 9.0}}
    (rbp,) = build_columns(parse_choices(["rbp.p=0.8,p=0.7,-1=2"]))
    assert rbp.parameters == {"gain": "minmax", "rel": 0.0, "p": 0.7, "gains": {-1.0: 2.0}}


def test_unknown_metric_is_an_error() -> None:
    for text in ("MAP", "p.5", "", ".5", "P."):
        with pytest.raises(MetricError, match="unknown metric"):
            parse_choices([text])
