"""Golden files of all exporters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from berryeval.reports.exports import EXPORTERS
from tests.reports.world import hard_report

GOLDEN = Path(__file__).parents[1] / "golden" / "reports"
TEXT_EXPORTERS = [
    name for name in EXPORTERS if name != "html" and EXPORTERS.get(name).track is None
]


@pytest.mark.parametrize("name", TEXT_EXPORTERS)
def test_every_exporter_writes_its_golden_files(name: str) -> None:
    files = EXPORTERS.get(name).files(hard_report(), "")
    assert files
    for file in files:
        golden = (GOLDEN / file.name).read_bytes().decode()
        if name == "json":  # in full precision: the last bit depends on the machine
            assert nearly(json.loads(file.text)) == nearly(json.loads(golden))
        else:
            assert file.text == golden, file.name


def nearly(value: Any) -> Any:
    """Round all numbers to nine digits."""
    if isinstance(value, dict):
        return {name: nearly(one) for name, one in value.items()}
    if isinstance(value, list):
        return [nearly(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", TEXT_EXPORTERS)
def test_every_exporter_has_a_one_line_summary_and_its_endings(name: str) -> None:
    exporter = EXPORTERS.get(name)
    assert exporter.summary
    assert "\n" not in exporter.summary
    assert all(ending.startswith(".") for ending in exporter.endings)
    for file in exporter.files(hard_report(), "my label"):
        assert file.name.startswith(("my-label", "eval-")), file.name
        assert Path(file.name).suffix in (exporter.endings or (".md",))
