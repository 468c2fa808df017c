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
    """Load the example as a module."""
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
    """Run the example on spring-boot with 3 % of the relevant hits removed."""
    return example().regression("spring-boot")


def test_a_threshold_alone_passes_the_regression(found: Any) -> None:
    assert (found.best_hits, found.lost, found.queries) == (253, 8, 8)
    assert 0 < found.before - found.after < 0.03
    assert found.threshold.status == "pass"


def test_a_rule_about_drops_fails_the_regression(found: Any) -> None:
    """Eight queries dropped and none rose, which has a probability of 1/128."""
    assert found.drop.status == "fail"
    assert "p = 0.008" in found.drop.sentence


def test_the_page_of_gates_shows_this_output(found: Any) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert example().describe(found) in page
    keys = re.findall(r"^\| `([a-z_]+)` \|", page.split("| key | meaning |")[1], re.MULTILINE)
    assert keys == list(Rule.model_fields)
    data = yaml.safe_load(page.split("```yaml")[1].split("```")[0])
    assert len(Gate(**data["gate"]).rules) == 6


def test_four_changed_queries_are_inconclusive() -> None:
    found = example().regression("spring-boot", grade=2.0)
    assert (found.lost, found.threshold.status, found.drop.status) == (4, "pass", "inconclusive")
    assert "p = 0.125" in found.drop.sentence


def test_an_unchanged_system_passes() -> None:
    found = example().regression("technical-docs", share=0.0)
    assert found.before == found.after
    assert (found.threshold.status, found.drop.status) == ("pass", "pass")
