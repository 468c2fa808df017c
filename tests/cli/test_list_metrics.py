"""`berryeval list metrics`, as a table and as JSON."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from berryeval.cli.app import build_app, run
from berryeval.cli.list import print_rows
from berryeval.cli.output import safe_screen
from berryeval.metrics.catalogue import definitions
from berryeval.metrics.grammar import parse_metric

if TYPE_CHECKING:
    import pytest


def test_metrics_are_listed_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "metrics"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["metric", "other", "names", "parameters", "formula", "also", "in"]
    assert [line.split()[0] for line in lines[1:]] == list(definitions())
    (precision,) = [line for line in lines if line.startswith("P ")]
    assert " ".join(precision.split()) == (
        "P precision cutoff, rel=1.0, judged_only=False |relevant in the top k| / k "
        "trec_eval, ir_measures, ranx"
    )


def test_a_narrow_screen_breaks_no_word() -> None:
    """What does not fit in a table becomes a paragraph, whose names can be copied."""
    screen = safe_screen(width=40, file=io.StringIO())
    rows = [["P", "precision", "judged_only=False"], ["evidence_completeness", "", "cutoff"]]
    with screen.capture() as captured:
        print_rows(screen, ("metric", "other names", "parameters"), rows)
    lines = [line.rstrip() for line in captured.get().splitlines()]
    assert lines == [
        "P",
        "  other names: precision",
        "  parameters: judged_only=False",
        "evidence_completeness",
        "  parameters: cutoff",
    ]
    with screen.capture() as captured:
        print_rows(screen, ("metric", "other names", "parameters"), rows[:1])
    assert captured.get().splitlines()[1].split() == rows[0]


def test_metrics_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "metrics", "--json"]) == 0
    envelope = json.loads(capsys.readouterr().out)
    assert envelope["command"] == "list metrics"
    found = {facts["name"]: facts for facts in envelope["data"]["metrics"]}
    assert list(found) == list(definitions())
    assert found["P"] == {
        "name": "P",
        "aliases": ["precision"],
        "parameters": [
            {"name": "cutoff", "kind": "int", "required": True, "default": None},
            {"name": "rel", "kind": "float", "required": False, "default": 1.0},
            {"name": "judged_only", "kind": "bool", "required": False, "default": False},
        ],
        "formula": "|relevant in the top k| / k",
        "summary": "Precision: the share of relevant documents in the top k.",
        "aggregate": "mean",
        "peers": {"trec_eval": "P", "ir_measures": "P", "ranx": "precision"},
    }
    assert parse_metric(f"{found['AP']['aliases'][0]}").definition.name == "AP"


def test_bare_list_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list"]) == 0
    assert "metrics" in capsys.readouterr().out
