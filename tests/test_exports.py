"""The doors of the package: what is public, is listed, sorted and documented."""

from __future__ import annotations

import inspect
import pkgutil
from importlib import import_module
from pathlib import Path

import pytest

import berryeval
from berryeval import metrics

PACKAGES = sorted(
    f"berryeval.{found.name}"
    for found in pkgutil.iter_modules(berryeval.__path__)
    if found.ispkg and found.name not in {"_internal", "pytest_plugin"}
)


@pytest.mark.parametrize("package", ["berryeval", *PACKAGES])
def test_every_name_of_a_door_can_be_loaded(package: str) -> None:
    door = import_module(package)
    modules = {path.stem for path in Path(str(door.__file__)).parent.glob("*.py")}
    assert door.__all__
    assert not modules & set(door.__all__)
    for name in door.__all__:
        assert getattr(door, name) is not None


@pytest.mark.parametrize("module", ["metrics", "metrics.lists", "errors", "stats"])
def test_public_names_are_documented(module: str) -> None:
    door = import_module(f"berryeval.{module}")
    for name in dir(door):
        member = getattr(door, name)
        if name.startswith("_") or not getattr(member, "__module__", "").startswith("berryeval"):
            continue
        if inspect.isfunction(member) or inspect.isclass(member):
            assert inspect.getdoc(member), name


def test_the_array_contract_is_complete() -> None:
    assert {
        "recall_at_k", "precision_at_k", "mrr", "ndcg", "hit_rate", "evaluate_arrays", "BACKEND",
        "PADDING_ID", "QueryDocArray", "RelevanceArray", "MetricResult", "validate_inputs",
        "validate_score_inputs",
    } <= set(dir(metrics))  # fmt: skip
    assert metrics.PADDING_ID == -1
