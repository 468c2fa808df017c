"""`berryeval report` and `eval --export`: formats, paths and errors."""

from __future__ import annotations

import csv
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from berryeval.reports.exports import EXPORTERS
from berryeval.workflows.run_folder import RunFolder
from tests.cli.eval_world import berryeval, write_drinks
from tests.reports.world import hard_run, plain_run

EVAL = ("eval", "--benchmarks", "drinks", "--providers", "bm25", "--output", "run")


@pytest.fixture(autouse=True)
def _in_a_folder_with_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERRYEVAL_EVAL_DIR", "evals")
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)
    for record in (plain_run(), hard_run()):
        name = "plain" if record == plain_run() else "hard"
        RunFolder(Path(".berryeval/runs") / name).write_record(record)


def out(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines that were printed."""
    return capsys.readouterr().out.splitlines()


def error(capsys: pytest.CaptureFixture[str]) -> str:
    """What was said on stderr."""
    return capsys.readouterr().err


@pytest.mark.parametrize("name", ["json", "markdown", "github", "latex", "junit", "trec"])
def test_texts_go_to_stdout(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("report", "plain", "--format", name) == 0
    text = capsys.readouterr().out
    ending = (EXPORTERS.get(name).endings or (".md",))[0]
    assert berryeval("report", "plain", "--format", name, "--output", f"to/file{ending}") == 0
    assert text == Path(f"to/file{ending}").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [name for name in EXPORTERS if EXPORTERS.get(name).endings])
def test_the_ending_selects_the_format(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    for ending in EXPORTERS.get(name).endings:
        assert berryeval("report", "plain", "-o", f"out/quality{ending}") == 0
        lines = out(capsys)
        assert lines
        for line in lines:
            kind, _, path = line.partition(": ")
            assert kind == name
            assert Path(path).stat().st_size
            assert path.startswith("out/quality")


def test_the_default_is_a_page_in_the_run_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("report", "plain") == 0
    assert out(capsys) == ["html: .berryeval/runs/plain/report.html"]
    assert berryeval("report", "plain", "hard", "--title", "Both of them") == 0
    assert out(capsys) == ["html: report.html"]
    assert "Both of them" in Path("report.html").read_text(encoding="utf-8")


def test_several_runs_share_one_report(capsys: pytest.CaptureFixture[str]) -> None:
    runs = ("plain", ".berryeval/runs/plain", ".berryeval/runs/plain/run.json", "hard")
    assert berryeval("report", *runs, "-f", "json") == 0
    data = json.loads(capsys.readouterr().out)
    assert len(data["runs"]) == 2


def test_several_formats_go_to_a_folder(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("report", "plain", "-f", "md,tex", "junit", "csv", "-o", "out") == 0
    assert [line.split(": ")[1] for line in out(capsys)] == [
        "out/report.md", "out/report.tex", "out/junit.xml",
        "out/eval-aggregate-2026-02-21T14-30-00-drinks-bm25.csv",
        "out/eval-detailed-2026-02-21T14-30-00-drinks-bm25.csv",
    ]  # fmt: skip
    assert berryeval("report", "plain", "-f", "csv", "--label", "monday") == 0
    assert out(capsys)[0].endswith("evals/eval-aggregate-2026-02-21T14-30-00-monday.csv")


def test_json_is_read_again(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("report", "hard", "-o", "one.json", "--title", "Of one") == 0
    assert berryeval("report", "one.json", "-o", "two.json") == 0
    assert Path("one.json").read_bytes() == Path("two.json").read_bytes()
    assert out(capsys) == ["json: one.json", "json: two.json"]


def test_json_names_the_paths(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("report", "plain", "-f", "md", "csv", "--json") == 0
    envelope = json.loads(capsys.readouterr().out)
    assert envelope["command"] == "report"
    text, *files = envelope["data"]["files"]
    assert text["format"] == "markdown"
    assert text["text"].startswith("## Retrieval quality: drinks")
    assert [Path(one["path"]).exists() for one in files] == [True, True]
    assert berryeval("report", "plain", "-f", "csv", "--quiet") == 0
    assert out(capsys) == []


def test_the_same_second_of_another_run_is_not_overwritten(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert berryeval("report", "plain", "-f", "csv") == 0
    before = {path: path.read_bytes() for path in Path("evals").iterdir()}
    assert berryeval("report", "hard", "-f", "csv", "--label", "x") == 0
    capsys.readouterr()
    target = Path("evals/eval-detailed-2026-02-21T14-30-00-drinks-bm25.csv")
    target.write_bytes(b"of somebody else")
    assert berryeval("report", "plain", "-f", "csv") == 0
    assert [line.rpartition("-")[2] for line in out(capsys)] == ["2.csv", "2.csv"]
    assert target.read_bytes() == b"of somebody else"
    target.write_bytes(before[target])
    count = len(list(Path("evals").iterdir()))
    assert berryeval("report", "plain", "-f", "csv") == 0
    assert len(list(Path("evals").iterdir())) == count


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("plain", "-f", "markdwn"), "unknown exporter 'markdwn'; did you mean 'markdown'?"),
        (("plian",), "no run 'plian'"),
        (("plian",), "did you mean plain?"),
        (("latets",), "did you mean latest?"),
        ((), "no run to report on"),
        (("plain", "-o", "x.pdf"), "x.pdf: unknown ending '.pdf', expected one of "),
        (("plain", "-f", "md", "tex"), "markdown and latex would both go to stdout"),
        (("plain", "-f", "md", "tex", "-o", "x.md"), "2 formats do not fit in one file"),
        (("plain", "-f", "csv", "-o", "-"), "csv makes 2 files"),
        (("hard", "-f", "trec"), "trec makes 2 files"),
        (("plain", "-o", "file/x.md"), "file: cannot create this folder (File exists)"),
        (("plain", "-f", "csv", "-o", "/dev/null"), "/dev/null: expected a folder for 2 files"),
        (("file",), "file:1: not valid JSON"),
        ((".",), "holds no finished run"),
    ],
)
def test_errors_are_one_line(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").write_text("text", encoding="utf-8")
    before = set(Path().rglob("*"))
    assert berryeval("report", *arguments) == 2
    said = error(capsys)
    assert message in said
    assert said.count("\n") == 1
    assert set(Path().rglob("*")) == before


def test_an_impossible_format_stops_all(capsys: pytest.CaptureFixture[str]) -> None:
    run = hard_run()
    (part,) = run.benchmarks
    spaced = replace(part.providers[0].answers[0].hits[0], id="two words")
    answers = tuple(replace(one, hits=(spaced,)) for one in part.providers[0].answers)
    odd = replace(part.providers[0], answers=answers)
    odd_run = replace(run, benchmarks=(replace(part, providers=(odd,)),))
    RunFolder(Path(".berryeval/runs/odd")).write_record(odd_run)
    assert berryeval("report", "odd", "-f", "md", "csv", "trec", "-o", "out") == 2
    assert "cannot hold the document id 'two words'" in error(capsys)
    assert not Path("out").exists()


def test_files_written_before_an_error_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out/report.tex").mkdir(parents=True)
    assert berryeval("report", "plain", "-f", "md", "tex", "-o", "out") == 2
    printed = capsys.readouterr()
    assert printed.out == "markdown: out/report.md\n"
    assert "out/report.tex: cannot be written (Is a directory)" in printed.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full to be full")
def test_a_full_disk_is_reported(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("report", "plain", "-f", "md", "-o", "/dev/full") == 2
    assert "error: /dev/full: cannot be written (No space left on device)" in error(capsys)


def test_an_export_folder_that_is_a_file_is_rejected(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").touch()
    monkeypatch.setenv("BERRYEVAL_EVAL_DIR", "file/evals")
    assert berryeval("report", "plain", "-f", "csv") == 2
    assert "file/evals: cannot create this folder (Not a directory); set BERRYEVAL_EVAL_DIR" in (
        error(capsys)
    )


def test_without_a_variable_the_files_are_beside_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BERRYEVAL_EVAL_DIR")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert exported(tmp_path, "--export", "csv", "--label", "nightly") == 0
    found = sorted(path.name for path in Path("run").glob("*.csv"))
    assert [re.sub(r"\d{4}-\d\d-\d\dT[\d-]{8}", "TIME", name) for name in found] == [
        "eval-aggregate-TIME-nightly.csv", "eval-detailed-TIME-nightly.csv",
    ]  # fmt: skip
    assert not (tmp_path / "home").exists()
    capsys.readouterr()
    assert berryeval("eval", "--resume", "run", "--label", "again", "--eval-dir", "all") == 0
    assert len(list(Path("all").glob("*-again.csv"))) == 2
    assert sorted(path.name for path in Path("run").glob("*.csv")) == found


def test_folder_and_label_come_from_flag_variable_or_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BERRYEVAL_EVAL_DIR")
    write_drinks(tmp_path)
    Path("settings").mkdir()
    text = "benchmarks: [../drinks]\nproviders: [bm25]\neval_dir: csv\nlabel: file\n"
    Path("settings/berryeval.yaml").write_text(text)
    command = ("eval", "--config", "settings/berryeval.yaml", "--export", "csv")
    assert berryeval(*command, "--output", "1") == 0
    assert len(list(Path("settings/csv").glob("*-file.csv"))) == 2
    monkeypatch.setenv("BERRYEVAL_EVAL_DIR", "variable")
    monkeypatch.setenv("BERRYEVAL_LABEL", "2024")
    assert berryeval(*command, "--output", "2") == 0
    assert len(list(Path("variable").glob("*-2024.csv"))) == 2
    assert berryeval(*command, "--output", "3", "--eval-dir", "flag", "--label", "flag") == 0
    assert len(list(Path("flag").glob("*-flag.csv"))) == 2


def exported(tmp_path: Path, *arguments: str) -> int:
    """An evaluation that exports."""
    write_drinks(tmp_path)
    return berryeval(*EVAL, *arguments)


def test_eval_exports_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exported(tmp_path, "--export", "csv,html", "junit", "--fail-below", "RR=0.1") == 0
    places = [line for line in out(capsys) if line.startswith(("csv: ", "html: ", "junit: "))]
    paths = [Path(line.partition(": ")[2]) for line in places]
    assert [path.parent.name for path in paths] == ["evals", "evals", "run", "run"]
    assert paths[2:] == [Path("run/report.html"), Path("run/junit.xml")]
    assert "RR &gt;= 0.1" in paths[3].read_text(encoding="utf-8")
    with paths[0].open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["query_type"] for row in rows] == ["conceptual", "factual", "GLOBAL"]
    record: dict[str, Any] = json.loads(Path("run/run.json").read_text(encoding="utf-8"))
    standard = record["benchmarks"][0]["providers"][0]["standard"]
    mean = sum(standard["values"]["RR"]) / len(standard["queries"])
    assert rows[-1]["mrr"] == f"{mean:.4f}"


def test_eval_in_json_names_the_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exported(tmp_path, "--export", "md", "--json") == 0
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["files"] == [{"format": "markdown", "path": "run/report.md"}]


def test_an_export_that_fails_fails_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("file").touch()
    monkeypatch.setenv("BERRYEVAL_EVAL_DIR", "file/evals")
    assert exported(tmp_path, "--export", "csv", "markdown", "--quiet", "--json") == 0
    printed, said = capsys.readouterr()
    failed, written = json.loads(printed)["data"]["files"]
    assert (failed["format"], failed["path"]) == ("csv", None)
    assert failed["problem"].startswith("file/evals: cannot create this folder")
    assert written == {"format": "markdown", "path": "run/report.md"}
    assert "error: csv was not written: file/evals: cannot create this folder" in said
    assert Path("run/report.md").exists()
    monkeypatch.setenv("BERRYEVAL_EVAL_DIR", "evals")
    again = said.partition("again: berryeval ")[2].splitlines()[0]
    assert berryeval(*again.split()) == 0
    assert len(list(Path("evals").iterdir())) == 2


def test_an_export_without_scores_suggests_no_command_that_fails_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    Path("astray.py").write_text("def search(text, k):\n    return ['elsewhere']\n", "utf-8")
    provider = "{name: astray, type: callable, options: {function: 'astray:search'}}"
    Path("berryeval.yaml").write_text(f"providers: [{provider}]\n", encoding="utf-8")
    write_drinks(tmp_path)
    assert berryeval("eval", "drinks", "-m", "RR", "--export", "csv", "--output", "run") == 3
    said = " ".join(capsys.readouterr().err.split())
    assert "csv was not written: " in said
    assert "no provider has scores, so there is nothing to write as CSV" in said
    assert "berryeval report" not in said


def test_a_resumed_run_may_export_other_formats(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(tmp_path, "--export", "none") == 0
    files = set(Path("run").iterdir())
    assert not {path for path in files if path.name.startswith("report")}
    assert not Path("evals").exists()
    assert berryeval("eval", "--resume", "run", "--export", "trec") == 0
    assert berryeval("eval", "--resume", "run", "--export", "markdown") == 0
    assert {path.name for path in set(Path("run").iterdir()) - files} == {
        "drinks-bm25.trec", "report.md",
    }  # fmt: skip
    capsys.readouterr()


def test_in_a_workflow_the_summary_is_published(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = tmp_path / "summary.md"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    assert exported(tmp_path, "--export", "github", "--fail-below", "RR=0.99") == 1
    note = "::error title=Retrieval quality%3A RR >= 0.99::"
    assert note in error(capsys)
    assert summary.read_text(encoding="utf-8").count("### drinks: 4 queries") == 1
    assert not Path("run/github.md").exists()
    assert berryeval("report", "run", "-f", "github") == 0
    assert out(capsys)[0].startswith(note)
    assert summary.read_text(encoding="utf-8").count("### drinks: 4 queries") == 2


def test_a_report_judges_by_the_rules_of_its_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = ("--fail-below", "RR=0.99", "--export", "junit")
    assert exported(tmp_path, *rules) == 1
    before = Path("run/junit.xml").read_bytes()
    assert berryeval("report", "run", "-o", "again.xml") == 0
    assert Path("again.xml").read_bytes() == before
    assert b"<failure " in before
    assert berryeval("baseline", "set", "run", "--output", "base.json") == 0
    drop = ("--baseline", "base.json", "--max-drop", "RR=0.1", "--export", "none")
    shutil.rmtree("run")
    assert berryeval(*EVAL, *drop) == 0
    Path("base.json").unlink()
    capsys.readouterr()
    assert berryeval("report", "run", "-f", "junit") == 0
    assert "are not judged again: " in error(capsys)


def test_an_unknown_export_is_rejected_before_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exported(tmp_path, "--export", "htlm") == 2
    assert "export: unknown exporter 'htlm'; did you mean 'html'?" in error(capsys)
    assert not Path("run").exists()


def test_a_page_is_not_written_through_a_link_that_leads_out() -> None:
    Path("mine").write_text("mine")
    page = Path(".berryeval/runs/plain/report.html")
    page.symlink_to(Path("mine").resolve())
    assert berryeval("report", "plain") == 0
    assert Path("mine").read_text() == "mine"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
