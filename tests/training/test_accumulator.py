"""Means of array metrics over batches."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
import pytest
import torch
import torch.distributed
from torch.multiprocessing.spawn import spawn

from berryeval.metrics import evaluate_arrays
from berryeval.training import MetricAccumulator

if TYPE_CHECKING:
    from pathlib import Path

METRICS = ["recall@3", "ndcg@5", "mrr", "precision@2"]


def draw(rows: int = 999) -> tuple[Any, Any, Any]:
    chance = np.random.default_rng(4)
    retrieved = chance.integers(-1, 12, size=(rows, 6), dtype=np.int32)
    relevant = np.argsort(chance.random((rows, 12)), axis=1)[:, :4].astype(np.int32)
    return retrieved, relevant, chance.integers(0, 4, size=relevant.shape, dtype=np.int32)


def expect(arrays: tuple[Any, Any, Any]) -> dict[str, float]:
    scores = evaluate_arrays(*arrays[:2], METRICS, grades=arrays[2], threshold=2)
    return {name: math.fsum(values.tolist()) / len(values) for name, values in scores.items()}


@pytest.mark.parametrize("convert", [np.asarray, torch.from_numpy, jax.numpy.asarray])
def test_means_are_exact_and_do_not_depend_on_the_batches(convert: Any) -> None:
    arrays = draw()
    expected = expect(arrays)
    for seed in range(3):
        chance = random.Random(seed)
        means = MetricAccumulator(METRICS, threshold=2)
        order, start = np.random.default_rng(seed).permutation(len(arrays[0])), 0
        while start < len(order):
            rows = order[start : start + chance.randint(1, 500)]
            batch = [convert(np.ascontiguousarray(array[rows])) for array in arrays]
            means.update(*batch[:2], grades=batch[2])
            start += len(rows)
        assert means.compute() == expected
        means.reset()
        with pytest.raises(ValueError, match="no query was scored since the last reset"):
            means.compute()


def test_accumulators_merge() -> None:
    arrays = draw()
    parts = [MetricAccumulator(METRICS, threshold=2) for _ in range(3)]
    for place, part in enumerate(parts[:2]):
        rows = slice(place * 400, 400 if place == 0 else None)
        part.update(*(torch.from_numpy(one[rows]) for one in arrays[:2]),
                    grades=torch.from_numpy(arrays[2][rows]))  # fmt: skip
    parts[2].merge(parts[0])
    parts[2].merge(parts[1])
    assert parts[2].compute() == expect(arrays)
    with pytest.raises(ValueError, match=r"cannot merge \['mrr'\] into"):
        parts[2].merge(MetricAccumulator(["mrr"]))
    with pytest.raises(ValueError, match=r"cannot merge scores with .* into .*'threshold': 2"):
        parts[2].merge(MetricAccumulator(METRICS, threshold=1))


def test_unusable_grades_in_a_compiled_loop_are_an_error_and_no_mean() -> None:
    """A compiled update cannot raise the error of a row, so `compute` does."""
    means = MetricAccumulator(["recall@2", "ndcg@2"])
    retrieved, relevant = torch.tensor([[1, 2], [3, 4], [5, 6]]), torch.tensor([[1], [3], [5]])
    grades = torch.tensor([[1.0], [math.nan], [1.0]])
    update = torch.compile(
        lambda *arrays: means.update(*arrays[:2], grades=arrays[2]), backend="eager"
    )
    update(retrieved, relevant, grades)
    with pytest.raises(ValueError, match="1 of 3 queries have two grades for one id, or one that"):
        means.compute()
    means.reset()
    update(retrieved[::2], relevant[::2], grades[::2])
    assert means.compute() == {"recall@2": 1.0, "ndcg@2": 1.0}


def test_a_metric_named_twice_counts_once_and_a_text_is_no_list_of_names() -> None:
    means = MetricAccumulator(["mrr", "recall@3", "mrr"])
    means.update(*draw()[:2])
    assert list(means.compute()) == ["mrr", "recall@3"]
    with pytest.raises(TypeError, match="must be a list of names, found 'mrr'"):
        MetricAccumulator("mrr")


def score_part(rank: int, folder: str) -> None:
    """Score a part of the queries in a process of its own."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2
    )
    rows = slice(0, 300) if rank == 0 else slice(300, None)
    arrays = [torch.from_numpy(one[rows]) for one in draw()]
    means = MetricAccumulator(METRICS, threshold=2)
    means.update(*arrays[:2], grades=arrays[2])
    torch.save(means.compute(), f"{folder}/{rank}")
    torch.distributed.destroy_process_group()


def test_processes_add_up_to_the_same_means(tmp_path: Path) -> None:
    spawn(score_part, (str(tmp_path),), nprocs=2)  # type: ignore[no-untyped-call]
    assert [torch.load(tmp_path / str(rank)) for rank in range(2)] == [expect(draw())] * 2
