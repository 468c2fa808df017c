"""Names of metrics in trec_eval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from berryeval.metrics.base import metric
from berryeval.metrics.grammar import parse_metric, trec_name
from berryeval.metrics.ranges import UNBOUNDED

if TYPE_CHECKING:
    from berryeval.data.judged import JudgedRanking


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AP", "map"), ("AP@10", "map_cut_10"), ("nDCG", "ndcg"), ("nDCG@5", "ndcg_cut_5"),
        ("P@5", "P_5"), ("hit_rate@1", "success_1"), ("hit_rate", "Success"),
        ("P(rel=2)@5", "P(rel=2)@5"),
        ("ndcg_burges@5", "nDCG(dcg='exp-log2')@5"),
    ],
)  # fmt: skip
def test_names_of_trec_eval(name: str, expected: str) -> None:
    assert trec_name(parse_metric(name)) == expected


def test_recall_levels_have_two_digits() -> None:
    @metric("Levels", text="", within=UNBOUNDED, peers={"trec_eval": "iprec_at_recall"})
    def levels(judged: JudgedRanking, *, recall: float) -> float:
        return recall * judged.retrieved

    definition = levels.definition  # type: ignore[attr-defined]
    assert trec_name(definition(recall=0.1)) == "iprec_at_recall_0.10"


def test_a_cutoff_unknown_to_trec_eval_keeps_our_name() -> None:
    @metric("First", text="", within=UNBOUNDED, peers={"trec_eval": "recip_rank"})
    def first(judged: JudgedRanking, *, cutoff: int | None = None) -> float:
        return float(judged.retrieved + (cutoff or 0))

    definition = first.definition  # type: ignore[attr-defined]
    assert trec_name(definition()) == "recip_rank"
    assert trec_name(definition(cutoff=10)) == "First@10"
