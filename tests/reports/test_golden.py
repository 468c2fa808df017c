"""Every exporter writes what its golden files hold, byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from berryeval.reports.exports import EXPORTERS
from tests.reports.world import hard_report

GOLDEN = Path(__file__).parents[1] / "golden" / "reports"
TEXT_EXPORTERS = [name for name in EXPORTERS if name != "html"]


@pytest.mark.parametrize("name", TEXT_EXPORTERS)
def test_the_files_are_the_golden_ones(name: str) -> None:
    """The hard report gives the same files as ever, under the same names."""
    files = EXPORTERS.get(name).files(hard_report(), "")
    assert files
    for file in files:
        golden = (GOLDEN / file.name).read_bytes().decode()
        if name == "json":  # in full precision: the last bit is the machine's
            assert nearly(json.loads(file.text)) == nearly(json.loads(golden))
        else:
            assert file.text == golden, file.name


def nearly(value: Any) -> Any:
    """The same with numbers of nine digits."""
    if isinstance(value, dict):
        return {name: nearly(one) for name, one in value.items()}
    if isinstance(value, list):
        return [nearly(one) for one in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


@pytest.mark.parametrize("name", TEXT_EXPORTERS)
def test_every_exporter_says_what_it_is(name: str) -> None:
    """A summary of one line, endings with a dot, files that have the first of them."""
    exporter = EXPORTERS.get(name)
    assert exporter.summary
    assert "\n" not in exporter.summary
    assert all(ending.startswith(".") for ending in exporter.endings)
    for file in exporter.files(hard_report(), "my label"):
        assert file.name.startswith(("my-label", "eval-")), file.name
        assert Path(file.name).suffix in (exporter.endings or (".md",))
