"""Python functions as providers of a run, and their faults."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be

if TYPE_CHECKING:
    from pathlib import Path


def finds_nothing(text: str, k: int) -> list[str]:
    """Return no hits."""
    assert text
    assert k
    return []


@pytest.mark.parametrize(
    "provider", [finds_nothing, {"type": "callable", "options": {"function": finds_nothing}}]
)
def test_a_function_is_a_provider(provider: Any, tmp_path: Path) -> None:
    result = be.run_benchmark("rag-template", [provider], ["RR"], folder=tmp_path / "run")
    (one,) = result.providers
    assert one.outcomes == {"empty": 10}
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    (spec,) = manifest["plan"]["providers"]
    assert spec["options"]["function"] == "<function finds_nothing>"


def test_an_invalid_id_fails_its_query_only(tmp_path: Path) -> None:
    def odd(text: str, k: int) -> list[str]:
        assert k
        return ["\ud800"] if text.startswith("How") else []

    for _ in range(2):
        result = be.run_benchmark("rag-template", [odd], ["RR"], folder=tmp_path / "run")
        outcomes = result.providers[0].outcomes
        assert outcomes["error"] >= 1
        assert sum(outcomes.values()) == 10
