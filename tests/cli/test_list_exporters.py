"""`berryeval list exporters`, as a table and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from berryeval.cli.app import build_app, run
from berryeval.reports.exports import EXPORTERS

if TYPE_CHECKING:
    import pytest


def test_exporters_are_listed_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "exporters"]) == 0
    title, *lines = capsys.readouterr().out.splitlines()
    assert title.split() == ["exporter", "writes", "endings", "goes", "to"]
    assert [line.split()[0].strip(",") for line in lines] == list(EXPORTERS)
    assert lines[0].split("  ")[0] == "html"
    assert ".html .htm" in lines[0]
    assert lines[0].rstrip().endswith("run folder")


def test_exporters_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "exporters", "--json"]) == 0
    envelope = json.loads(capsys.readouterr().out)
    assert envelope["command"] == "list exporters"
    found = {facts["name"]: facts for facts in envelope["data"]["exporters"]}
    assert list(found) == list(EXPORTERS)
    assert found["markdown"] == {
        "name": "markdown", "aliases": ["md"], "writes": "a Markdown table for a pull request",
        "endings": [".md", ".markdown"], "home": "stdout",
    }  # fmt: skip
