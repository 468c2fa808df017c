"""The doors of the package: what is public, is listed, sorted and documented."""

from __future__ import annotations

import ast
import inspect
import pkgutil
import re
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
FOR_USERS = {
    "berryeval", "berryeval.data", "berryeval.metrics", "berryeval.providers", "berryeval.stats",
}  # fmt: skip


@pytest.mark.parametrize("package", ["berryeval", *PACKAGES])
def test_every_name_of_a_door_can_be_loaded(package: str) -> None:
    door = import_module(package)
    modules = {path.stem for path in Path(str(door.__file__)).parent.glob("*.py")}
    assert door.__all__
    assert not modules & set(door.__all__)
    for name in door.__all__:
        assert getattr(door, name) is not None


@pytest.mark.parametrize("package", ["berryeval", *PACKAGES])
def test_type_checkers_see_the_names_of_a_door(package: str) -> None:
    """A door for users lists its names twice: a type checker takes only listed ones for public."""
    door = import_module(package)
    text = Path(str(door.__file__)).read_text(encoding="utf-8")
    listed = re.search(r"^    __all__ = (\[.*?\])", text, re.DOTALL | re.MULTILINE)
    if listed is not None:
        assert {*ast.literal_eval(listed[1])} - {"BACKEND"} == set(door.__all__)
    assert listed is not None or package not in FOR_USERS


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
