"""The seeded regression of the example: thresholds pass it, rules about drops do not."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from berryeval.gates import Gate, Rule

if TYPE_CHECKING:
    from types import ModuleType

PAGE = Path(__file__).parents[2] / "docs" / "gates.md"
EXAMPLE = Path(__file__).parents[2] / "examples" / "seeded_regression.py"


def example() -> ModuleType:
    """The example as a module."""
    import sys

    spec = importlib.util.spec_from_file_location("seeded_regression", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclass looks itself up there
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def found() -> Any:
    """What the example finds on spring-boot with 3 % of the relevant hits gone."""
    return example().regression("spring-boot")


def test_a_bare_threshold_passes_it(found: Any) -> None:
    """The mean falls by three parts in a hundred, and stays above what was asked for."""
    assert (found.best_hits, found.lost, found.queries) == (253, 8, 8)
    assert 0 < found.before - found.after < 0.03
    assert found.threshold.status == "pass"


def test_the_rule_about_drops_catches_it(found: Any) -> None:
    """Eight queries fell and none rose: chance does that once in 128 times."""
    assert found.drop.status == "fail"
    assert "p = 0.008" in found.drop.sentence


def test_the_page_of_gates_is_true(found: Any) -> None:
    """It shows this output; its table has every key of a rule, and its configuration is valid."""
    page = PAGE.read_text(encoding="utf-8")
    assert example().told(found) in page
    keys = re.findall(r"^\| `([a-z_]+)` \|", page.split("| key | what |")[1], re.MULTILINE)
    assert keys == list(Rule.model_fields)
    data = yaml.safe_load(page.split("```yaml")[1].split("```")[0])
    assert len(Gate(**data["gate"]).rules) == 5


def test_four_queries_are_too_few_to_tell() -> None:
    """Only hits of the highest grade: 3 % are four, and no test can call four falls no chance."""
    found = example().regression("spring-boot", grade=2.0)
    assert (found.lost, found.threshold.status, found.drop.status) == (4, "pass", "inconclusive")
    assert "p = 0.125" in found.drop.sentence


def test_nothing_lost_passes() -> None:
    """The wrapper itself changes nothing."""
    found = example().regression("technical-docs", share=0.0)
    assert found.before == found.after
    assert (found.threshold.status, found.drop.status) == ("pass", "pass")
