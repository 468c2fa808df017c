"""Every exporter writes what its golden files hold, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from berryeval.reports.table import EXPORTERS
from tests.reports.world import hard_report

GOLDEN = Path(__file__).parents[1] / "data" / "reports"
TEXT_EXPORTERS = [name for name in EXPORTERS if name != "html"]


@pytest.mark.parametrize("name", TEXT_EXPORTERS)
def test_the_files_are_the_golden_ones(name: str) -> None:
    """The hard report gives the same files as ever, under the same names."""
    files = EXPORTERS.get(name).files(hard_report(), "")
    assert files
    for file in files:
        assert file.text == (GOLDEN / file.name).read_bytes().decode(), file.name


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
