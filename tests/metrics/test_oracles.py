"""Agreement with trec_eval, through pytrec_eval."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

from berryeval.metrics.arrays import evaluate_arrays
from berryeval.metrics.lists import compute_all
from tests.metrics.arrays import ids

DEPTH = 6
OURS_TO_TREC = {
    "recall": f"recall_{DEPTH}",
    "precision": f"P_{DEPTH}",
    "reciprocal_rank": "recip_rank",
    "ndcg": f"ndcg_cut_{DEPTH}",
    "average_precision": f"map_cut_{DEPTH}",
    "hit_rate": f"success_{DEPTH}",
}


def trec_eval(ranking: list[int], grades: dict[int, int]) -> dict[str, float]:
    """Score one query with trec_eval."""
    qrels = {"q": {str(document): grade for document, grade in grades.items()}}
    run = {"q": {str(document): float(-rank) for rank, document in enumerate(ranking)}}
    cut_metrics = set(OURS_TO_TREC.values()) - {"recip_rank"}
    metrics = {"recip_rank"} | {name.replace(f"_{DEPTH}", f".{DEPTH}") for name in cut_metrics}
    result: dict[str, Any] = pytrec_eval.RelevanceEvaluator(qrels, metrics).evaluate(run)
    return dict(result["q"])


rankings = st.lists(st.integers(0, 14), min_size=DEPTH, max_size=DEPTH, unique=True)
judgments = st.dictionaries(st.integers(0, 14), st.integers(0, 3), min_size=1, max_size=10)


@given(rankings, judgments)
def test_lists_agree_with_trec_eval(ranking: list[int], grades: dict[int, int]) -> None:
    theirs = trec_eval(ranking, grades)
    ours = compute_all(map(str, ranking), {str(d): g for d, g in grades.items()}, DEPTH)
    for name, trec_name in OURS_TO_TREC.items():
        assert getattr(ours, name) == pytest.approx(theirs[trec_name], abs=1e-12), name


@given(rankings, judgments)
def test_arrays_agree_with_trec_eval(ranking: list[int], grades: dict[int, int]) -> None:
    theirs = trec_eval(ranking, grades)
    scores = evaluate_arrays(
        ids([ranking]), ids([list(grades)]), grades=ids([list(grades.values())]), denominator="k"
    )
    for name, trec_name in OURS_TO_TREC.items():
        ours = {"reciprocal_rank": "mrr"}.get(name, name)
        if ours in scores:
            np.testing.assert_allclose(scores[ours], [theirs[trec_name]], rtol=1e-6, err_msg=name)
