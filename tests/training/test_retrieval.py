"""The classes of torchmetrics, computed for all queries at once."""

from __future__ import annotations

import pickle
from typing import Any

import pytest
import torch
import torchmetrics
import torchmetrics.retrieval as peer

from berryeval import training

NAMES = [
    "RetrievalAUROC", "RetrievalFallOut", "RetrievalHitRate", "RetrievalMAP", "RetrievalMRR",
    "RetrievalNormalizedDCG", "RetrievalPrecision", "RetrievalRecall",
]  # fmt: skip


def draw(seed: int, rows: int = 400, *, graded: bool = False, tied: bool = False) -> Any:
    """Draw scores, targets and queries; only nDCG defines the order of equal scores."""
    chance = torch.Generator().manual_seed(seed)
    target = torch.randint(0, 4 if graded else 2, (rows,), generator=chance)
    indexes = torch.randint(0, 40, (rows,), generator=chance) * 3
    target[indexes % 7 == 0] = 0  # queries without anything relevant
    scores = torch.randperm(rows, generator=chance) / rows - 0.2
    return (scores * 10).round() if tied else scores, target, indexes


def compare(ours: Any, theirs: Any, batches: list[Any]) -> None:
    for batch in batches:
        ours.update(*batch)
        theirs.update(*batch)
    torch.testing.assert_close(ours.compute(), theirs.compute(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("top_k", [None, 1, 3, 50])
@pytest.mark.parametrize("action", ["neg", "pos", "skip"])
def test_values_are_those_of_torchmetrics(name: str, top_k: int | None, action: str) -> None:
    options = {"top_k": top_k, "empty_target_action": action}
    ours, theirs = getattr(training, name)(**options), getattr(peer, name)(**options)
    compare(ours, theirs, [draw(1), draw(2, 30), draw(3, 1)])
    ours.reset()
    theirs.reset()
    compare(ours, theirs, [draw(4)])


@pytest.mark.parametrize("top_k", [None, 2, 10])
def test_equal_scores_and_grades_of_ndcg_are_those_of_torchmetrics(top_k: int | None) -> None:
    ours = training.RetrievalNormalizedDCG(top_k=top_k)
    compare(ours, peer.RetrievalNormalizedDCG(top_k=top_k), [draw(5, graded=True, tied=True)])


def test_equal_scores_of_auroc_and_parts_of_its_curve_are_those_of_torchmetrics() -> None:
    for part in (None, 0.5):
        compare(
            training.RetrievalAUROC(max_fpr=part),
            peer.RetrievalAUROC(max_fpr=part),
            [draw(6, tied=True)],
        )


@pytest.mark.parametrize("how", ["mean", "median", "min", "max", torch.sum])
def test_every_aggregation_and_r_precision_work(how: Any) -> None:
    compare(
        training.RetrievalRPrecision(aggregation=how),
        peer.RetrievalRPrecision(aggregation=how),
        [draw(7)],
    )
    adaptive = {"top_k": 20, "adaptive_k": True, "aggregation": how}
    compare(training.RetrievalPrecision(**adaptive), peer.RetrievalPrecision(**adaptive), [draw(8)])


def test_a_query_without_targets_can_be_an_error() -> None:
    metric = training.RetrievalMAP(empty_target_action="error")
    metric.update(torch.tensor([0.3]), torch.tensor([0]), torch.tensor([1]))
    with pytest.raises(ValueError, match="a query with no positive target"):
        metric.compute()


def test_a_query_with_only_targets_is_the_error_of_torchmetrics() -> None:
    for source in (training, peer):
        metric = source.RetrievalFallOut(empty_target_action="error")
        metric.update(torch.tensor([0.3]), torch.tensor([1]), torch.tensor([1]))
        with pytest.raises(ValueError, match="a query with no negative target"):
            metric.compute()


@pytest.mark.parametrize("name", ["RetrievalMAP", "RetrievalMRR"])
def test_a_cutoff_of_0_is_none_where_it_is_for_torchmetrics(name: str) -> None:
    compare(getattr(training, name)(top_k=0), getattr(peer, name)(top_k=0), [draw(10)])


def test_negative_grades_are_those_of_torchmetrics() -> None:
    scores, _, indexes = draw(11)
    batch = scores, torch.arange(len(scores)) % 7 - 5.0, indexes
    compare(training.RetrievalNormalizedDCG(top_k=3), peer.RetrievalNormalizedDCG(top_k=3), [batch])


def test_a_large_grade_does_not_change_other_queries() -> None:
    metric = training.RetrievalNormalizedDCG(aggregation="min")
    target = torch.tensor([1 << 50, 0, 0, 1, 1])
    metric.update(torch.arange(5.0, 0, -1), target, indexes=torch.tensor([0, 0, 1, 1, 1]))
    assert metric.compute().item() == pytest.approx(0.693426, abs=1e-6)


def test_they_work_in_collections_and_survive_pickling() -> None:
    batch = draw(9)
    both = torchmetrics.MetricCollection(
        [training.RetrievalMRR(), training.RetrievalRecall(top_k=5)]
    )
    both.update(*batch[:2], indexes=batch[2])
    found = pickle.loads(pickle.dumps(both)).compute()  # noqa: S301 - our own
    theirs = peer.RetrievalMRR()
    theirs.update(*batch)
    torch.testing.assert_close(found["RetrievalMRR"], theirs.compute())
    assert isinstance(training.RetrievalMRR(), peer.RetrievalMRR)


def test_all_names_of_the_peer_are_there() -> None:
    assert set(peer.__all__) <= set(dir(training))
