"""`-o -` and formats without a file: one text on stdout, from every command."""

from __future__ import annotations

import csv
import io
import json
import os
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from berryeval.gates import Baseline
from berryeval.runs.store.store import open_store
from tests.cli.eval_world import berryeval, write_drinks
from tests.cli.gate_world import write_runs
from tests.runs.kept import run_of
from tests.workflows.compare_world import mixed
from tests.workflows.compare_world import run_of as compared_run


@pytest.fixture(autouse=True)
def _in_a_folder_with_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith(("BERRYEVAL_", "GITHUB_")) and name != "BERRYEVAL_BACKEND":
            monkeypatch.delenv(name)
    write_runs(tmp_path)
    for name, better in (("old", ()), ("new", (1, 2, 3))):
        run = compared_run(name, {"bm25": mixed(*better)})
        Path(f"{name}.json").write_text(run.dumps(), encoding="utf-8")
    with open_store(Path(".berryeval") / "results.db") as store:
        store.add(run_of(1))
        store.add(run_of(2))


def names() -> set[str]:
    """The files that are here."""
    return {path.name for path in Path().iterdir()}


def printed(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    """What a command prints on stdout; it makes no file."""
    before = names()
    capsys.readouterr()
    assert berryeval(*words) == code
    assert names() == before
    return capsys.readouterr().out


def test_compare_prints_a_text_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("compare", "old.json", "new.json", "-o", "c.md") == 0
    expected = Path("c.md").read_text(encoding="utf-8")
    asked = ("compare", "old.json", "new.json")
    for words in (("--format", "markdown"), ("-o", "-"), ("-o", "-", "--format", "md")):
        assert printed(capsys, *asked, *words) == expected
    shown = printed(capsys, *asked, "-o", "-", "--json")
    assert json.loads(shown)["data"]["text"] == expected


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("compare", "old.json", "new.json", "--format", "html"), "needs --output FILE"),
        (("compare", "old.json", "new.json", "-o", "--json"), "expected a path, or - for stdout"),
        (("gate", "same.json", "--fail-below", "RR=0.1", "--export", "junit", "md", "-o", "-"),
         "would both go to stdout"),
        (("runs", "export", "latest", "-o", "a.doc"), "unknown ending '.doc'"),
        (("runs", "export", "--all", "out", "--format", "csv"), "--format is for one RUN"),
    ],
)  # fmt: skip
def test_output_that_cannot_go_to_stdout_is_rejected(
    words: tuple[str, ...], problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = names()
    assert berryeval(*words) == 2
    shown = capsys.readouterr()
    assert problem in shown.err + shown.out
    assert names() == before


def test_gate_prints_one_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval(
        "gate", "worse.json", "--baseline", "before.json", "--export", "junit", "-o", "-"
    ) == 1  # fmt: skip
    shown = capsys.readouterr()
    assert ET.fromstring(shown.out).get("failures") == "1"  # noqa: S314 - our own text
    assert "FAIL  nDCG@10 dropped by 0.150" in shown.err
    asked = ("gate", "same.json", "--fail-below", "RR=0.1", "--export", "markdown", "-o", "-")
    (file,) = json.loads(printed(capsys, *asked, "--json"))["data"]["files"]
    assert file["text"].startswith("## ")


def test_a_baseline_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = printed(capsys, "baseline", "set", "same.json", "-o", "-")
    assert Baseline.read(json.loads(text), "stdout").run == "same"


def test_a_trend_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    rows = list(csv.DictReader(io.StringIO(printed(capsys, "runs", "trend", "RR", "-o", "-"))))
    assert {row["metric"] for row in rows} == {"RR"}
    assert printed(capsys, "runs", "trend", "RR", "--format", "svg").startswith("<svg")
    assert berryeval("runs", "trend", "RR", "-o", "numbers", "--format", "csv") == 0
    assert "run-0002" in Path("numbers").read_text(encoding="utf-8")


def test_the_ending_of_an_export_selects_the_format(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_drinks(tmp_path)
    assert berryeval(
        "eval", "--benchmarks", "drinks", "--providers", "bm25", "--output", "run", "--quiet"
    ) == 0  # fmt: skip
    export = ("runs", "export", "run")
    text = printed(capsys, *export, "-o", "-").strip()
    assert json.loads(text)["id"] == "run"
    for name in ("a.json", "plain"):
        assert berryeval(*export, "-o", name) == 0
        assert Path(name).read_text(encoding="utf-8").strip() == text
    assert berryeval(*export, "-o", "a.html") == 0
    assert Path("a.html").read_text(encoding="utf-8").lower().startswith("<!doctype html")
    assert berryeval(*export, "-o", "a.csv") == 0
    assert [path.suffix for path in Path().glob("a-*")] == [".csv", ".csv"]
    assert berryeval(*export, "--format", "csv") == 2
    assert "csv makes 2 files" in capsys.readouterr().err
    assert printed(capsys, *export, "--format", "markdown").startswith("## ")
    assert berryeval(*export, "-o", "b.txt", "--format", "latex") == 0
    assert "\\begin{tabular}" in Path("b.txt").read_text(encoding="utf-8")
