"""The functions of `ranx.metrics`, against ranx itself."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from berryeval.compat.ranx import metrics
from berryeval.errors import BerryEvalError
from tests.ranx_oracle import load_ranx

NAMES = (
    "hits", "hit_rate", "precision", "recall", "f1", "r_precision", "reciprocal_rank",
    "average_precision", "dcg", "dcg_burges", "ndcg", "ndcg_burges", "bpref",
)  # fmt: skip


def draw(seed: int) -> tuple[list[Any], list[Any]]:
    """Draw judgments, highest grade first, and rankings of 6 queries."""
    chance = np.random.default_rng(seed)
    qrels, run = [], []
    for _ in range(6):
        grades = np.sort([0, *chance.integers(0, 4, 7), 3])[::-1]
        qrels.append(np.column_stack([chance.permutation(30)[:9], grades]).astype(float))
        size = int(chance.integers(1, 25))
        run.append(np.column_stack([chance.permutation(30)[:size], -np.arange(size)]).astype(float))
    return qrels, run


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")
@pytest.mark.parametrize("name", NAMES)
def test_functions_equal_ranx(name: str) -> None:
    theirs, ours = getattr(load_ranx("ranx.metrics"), name), getattr(metrics, name)
    for seed in range(5):
        qrels, run = draw(seed)
        assert ours(qrels, run) == pytest.approx(theirs(qrels, run), abs=1e-12)
        for options in ({"k": 3}, {"k": 50}, {"k": 3, "rel_lvl": 2}):
            if name != "r_precision" or "k" not in options:
                expected = theirs(qrels, run, **options)
                assert ours(qrels, run, **options) == pytest.approx(expected, abs=1e-12)
    with pytest.raises(BerryEvalError, match="k must be 0"):
        ours(*draw(0), k=-1)


def test_other_functions_equal_ranx() -> None:
    theirs = load_ranx("ranx.metrics")
    qrels, run = draw(9)
    for level in (1, 2):
        assert metrics.rank_biased_precision(qrels, run, 0.9, level) == pytest.approx(
            theirs.rank_biased_precision(qrels, run, 0.9, level), abs=1e-12
        )
        for ours, expected in zip(
            metrics.get_hit_lists(qrels, run, 4, level),
            theirs.get_hit_lists(qrels, run, 4, level),
            strict=True,
        ):
            assert ours.tolist() == list(expected)
    found = metrics.interpolated_precision_at_recall(qrels, run)
    assert found.shape == (6, 11)
    assert found == pytest.approx(theirs.interpolated_precision_at_recall(qrels, run), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_functions_are_found_by_name_and_by_module(name: str) -> None:
    module = import_module(f"berryeval.compat.ranx.metrics.{name}")
    assert getattr(module, name) is getattr(metrics, name)
    assert getattr(metrics, name).__name__ == name


def test_the_switch_of_ranx() -> None:
    assert metrics.metric_switch("map") is metrics.average_precision
    assert metrics.metric_switch("rbp") is metrics.rank_biased_precision
    with pytest.raises(ValueError, match="ranx has no metric 'mpa'"):
        metrics.metric_switch("mpa")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("precision", "SetP"),
        ("precision@0", "SetP"),
        ("precision@5-l2", "P(rel=2)@5"),
        ("rbp.95", "RBP(p=0.95,gain='raw')"),
        ("rbp@5-l3", "RBP(p=0.5,rel=3,gain='raw')"),
        ("nDCG@10", "nDCG@10"),
        ("ERR@20", "ERR@20"),
    ],
)
def test_names_mean_the_same_as_in_ranx_and_then_as_in_berryeval(name: str, meant: str) -> None:
    assert str(metrics.read_name(name)) == meant
