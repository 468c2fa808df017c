"""`berryeval list metrics`, as a table and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from berryeval.cli.app import build_app, run
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
