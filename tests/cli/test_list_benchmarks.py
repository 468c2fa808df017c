"""`berryeval list benchmarks` and `list formats`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from berryeval.benchmarks import LOADERS
from berryeval.benchmarks.loading import bundled_benchmarks, load_benchmark
from berryeval.cli.app import build_app, run

if TYPE_CHECKING:
    import pytest


def test_benchmarks_are_listed_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "benchmarks"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = bundled_benchmarks()
    if not names:
        assert lines == ["no benchmarks are bundled with this installation"]
    else:
        assert lines[0].split()[:3] == ["benchmark", "version", "documents"]
        assert [line.split()[0] for line in lines[1:]] == names


def test_benchmarks_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "benchmarks", "--json"]) == 0
    envelope = json.loads(capsys.readouterr().out)
    assert envelope["command"] == "list benchmarks"
    found = {facts["benchmark"]: facts["queries"] for facts in envelope["data"]["benchmarks"]}
    assert found == {name: len(load_benchmark(name).queries) for name in bundled_benchmarks()}


def test_formats_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "formats"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["format", "what", "signs", "options"]
    assert [line.split()[0] for line in lines[1:]] == list(LOADERS)
    assert run(build_app(), ["list", "formats", "--json"]) == 0
    formats = json.loads(capsys.readouterr().out)["data"]["formats"]
    assert {row["format"]: row["options"] for row in formats}["beir"] == "split, queries"


def test_every_bundled_benchmark_has_a_description(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "benchmarks", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["data"]["benchmarks"]
    assert {row["benchmark"] for row in rows} == set(bundled_benchmarks())
    assert all(row["description"] for row in rows)
