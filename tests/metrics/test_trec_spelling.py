"""What trec_eval calls our metrics."""

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
        ("P@5", "P_5"), ("hit_rate@1", "success_1"), ("P(rel=2)@5", "P(rel=2)@5"),
        ("ndcg_burges@5", "nDCG(dcg='exp-log2')@5"),
    ],
)  # fmt: skip
def test_names(name: str, expected: str) -> None:
    """trec_eval's name where it has the metric, with these parameters; else ours."""
    assert trec_name(parse_metric(name)) == expected


def test_levels_of_recall_have_two_digits() -> None:
    """As in iprec_at_recall_0.10."""

    @metric("Levels", text="", within=UNBOUNDED, peers={"trec_eval": "iprec_at_recall"})
    def levels(judged: JudgedRanking, *, recall: float) -> float:
        return recall * judged.retrieved

    definition = levels.definition  # type: ignore[attr-defined]
    assert trec_name(definition(recall=0.1)) == "iprec_at_recall_0.10"


def test_a_cutoff_that_trec_eval_does_not_take() -> None:
    """A metric with one name there and an optional cutoff here keeps our name when cut."""

    @metric("First", text="", within=UNBOUNDED, peers={"trec_eval": "recip_rank"})
    def first(judged: JudgedRanking, *, cutoff: int | None = None) -> float:
        return float(judged.retrieved + (cutoff or 0))

    definition = first.definition  # type: ignore[attr-defined]
    assert trec_name(definition()) == "recip_rank"
    assert trec_name(definition(cutoff=10)) == "First@10"
