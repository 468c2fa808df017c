"""The doors of the package: what is public, is listed, sorted and documented."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

import pytest

import berryeval
from berryeval import errors, metrics, stats
from berryeval.metrics import lists

if TYPE_CHECKING:
    from types import ModuleType


@pytest.mark.parametrize("module", [berryeval, metrics, lists, errors, stats])
def test_all_names_exist(module: ModuleType) -> None:
    """`__all__` names what is there, once."""
    names = module.__all__
    assert len(names) == len(set(names))
    for name in names:
        assert hasattr(module, name), name


@pytest.mark.parametrize("module", [metrics, lists, errors, stats])
def test_public_names_are_documented(module: ModuleType) -> None:
    """Every public function and class says what it is."""
    for name in module.__all__:
        member = getattr(module, name)
        if inspect.isfunction(member) or inspect.isclass(member):
            assert inspect.getdoc(member), name


def test_the_array_contract_is_complete() -> None:
    """The names that users of the array metrics rely on."""
    assert {
        "recall_at_k", "precision_at_k", "mrr", "ndcg", "hit_rate", "evaluate_arrays", "BACKEND",
        "PADDING_ID", "QueryDocArray", "RelevanceArray", "MetricResult", "validate_inputs",
        "validate_score_inputs",
    } <= set(metrics.__all__)  # fmt: skip
    assert metrics.PADDING_ID == -1
