"""Names and values of ranx, and where BerryEval differs."""

from __future__ import annotations

import math

import pytest

from berryeval.scoring.engine import evaluate

# The example of ranx's own introduction.
QRELS = {"q_1": {"d_12": 5, "d_25": 3}, "q_2": {"d_11": 6, "d_22": 1}}
RUN = {
    "q_1": {"d_12": 0.9, "d_23": 0.8, "d_25": 0.7, "d_36": 0.6, "d_32": 0.5, "d_35": 0.4},
    "q_2": {"d_12": 0.9, "d_11": 0.8, "d_25": 0.7, "d_36": 0.6, "d_22": 0.5, "d_35": 0.4},
}


def gain(*gains_at_ranks: tuple[float, int]) -> float:
    """Return a sum of discounted gains."""
    return sum(number / math.log2(rank + 1) for number, rank in gains_at_ranks)


VALUES = {
    "hit_rate@1": (1.0, 0.0),
    "hits@2": (1.0, 1.0),
    "hits": (2.0, 2.0),
    "precision@3": (2 / 3, 1 / 3),
    "precision@5-l2": (2 / 5, 1 / 5),
    "recall@3": (1.0, 1 / 2),
    "recall@3-l2": (1.0, 1.0),
    "f1@3": (2 * (2 / 3) / (5 / 3), 2 * (1 / 6) / (5 / 6)),
    "r-precision": (1 / 2, 1 / 2),
    "mrr": (1.0, 1 / 2),
    "mrr@1": (1.0, 0.0),
    "mrr@10-l6": (0.0, 1 / 2),
    "map@5": ((1 + 2 / 3) / 2, (1 / 2 + 2 / 5) / 2),
    "map": ((1 + 2 / 3) / 2, (1 / 2 + 2 / 5) / 2),
    "dcg@5": (gain((5, 1), (3, 3)), gain((6, 2), (1, 5))),
    "dcg_burges@5": (gain((31, 1), (7, 3)), gain((63, 2), (1, 5))),
    "dcg@5-l2": (gain((5, 1), (3, 3)), gain((6, 2))),
    "ndcg@5": (
        gain((5, 1), (3, 3)) / gain((5, 1), (3, 2)),
        gain((6, 2), (1, 5)) / gain((6, 1), (1, 2)),
    ),
    "ndcg@5-l2": (gain((5, 1), (3, 3)) / gain((5, 1), (3, 2)), 1 / math.log2(3)),
    "ndcg_burges@5": (
        gain((31, 1), (7, 3)) / gain((31, 1), (7, 2)),
        gain((63, 2), (1, 5)) / gain((63, 1), (1, 2)),
    ),
    "rbp.50": (0.5 * (5 + 3 / 4), 0.5 * (6 / 2 + 1 / 16)),
    "rbp.95": (0.05 * (5 + 3 * 0.95**2), 0.05 * (6 * 0.95 + 0.95**4)),
    "rbp.5@2": (0.5 * 5, 0.5 * 6 / 2),
    "rbp.5-l2": (0.5 * (5 + 3 / 4), 0.5 * 6 / 2),
}


@pytest.mark.parametrize("name", VALUES)
def test_values_equal_the_definitions_of_ranx(name: str) -> None:
    found = evaluate(QRELS, RUN, [name]).per_query(name)
    assert (found["q_1"], found["q_2"]) == pytest.approx(VALUES[name], abs=1e-12)


def test_means_in_the_introduction_of_ranx() -> None:
    means = evaluate(QRELS, RUN, ["map@5", "mrr", "ndcg@5"]).mean
    assert means["map@5"] == pytest.approx(0.6416, abs=1e-4)
    assert means["mrr"] == 0.75
    assert means["ndcg@5"] == pytest.approx(0.7861, abs=1e-4)


def test_bpref_without_nonrelevant_judgments() -> None:
    assert evaluate(QRELS, RUN, ["bpref"]).per_query("bpref") == {"q_1": 1.0, "q_2": 1.0}


def test_hits_are_summed() -> None:
    assert evaluate(QRELS, RUN, ["hits@2"]).mean["hits@2"] == 2.0
