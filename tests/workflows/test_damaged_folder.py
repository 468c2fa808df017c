"""Run folders with a damaged manifest, journal header or record: no answer is asked for twice."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

import tests.workflows.scripted  # noqa: F401 - registers the provider
from berryeval.cli.app import build_app, run
from berryeval.errors import ConfigurationError, DataError, RunFailedError
from berryeval.workflows.evaluation import evaluate
from berryeval.workflows.resumption import resume_plan
from berryeval.workflows.run_folder import RunFolder, choose_folder
from tests.workflows.worlds import asked, benchmark, plan_of, results_of

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.workflows.plan import Plan


@pytest.fixture
def plan(tmp_path: Path) -> Plan:
    """Return the plan of a run that has finished in the folder `run`; six queries were asked."""
    options = {"log": str(tmp_path / "asked.txt")}
    found = plan_of(benchmark(tmp_path, 6), {"type": "scripted", "name": "s", "options": options})
    results_of(found, tmp_path / "run")
    return found


def journal(folder: Path) -> Path:
    (file,) = folder.rglob("results.jsonl")
    return file


def files(folder: Path) -> dict[str, bytes]:
    """Return the files that a resumed run writes again."""
    names = ("scores.json", "run.trec", "results.jsonl")
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.name in names}


@pytest.mark.parametrize("how", ["bit", "short", "long", "empty", "joined"])
def test_a_damaged_header_is_rebuilt(
    plan: Plan, tmp_path: Path, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = journal(tmp_path / "run")
    before = files(tmp_path / "run")
    header, *lines = file.read_bytes().splitlines(keepends=True)
    damaged = {
        "bit": header.replace(b"fruit", b"fruis", 1),
        "short": header[:-40] + b"\n",
        "long": header[:20] + b"xyz" + header[20:],
        "empty": b"\n",
        "joined": header[:-3],
    }[how]
    file.write_bytes(damaged + b"".join(lines))
    results_of(plan, tmp_path / "run")
    assert len(asked(tmp_path / "asked.txt")) == 6 + (how == "joined")
    assert "the first line of the journal was damaged and is written again" in caplog.text
    after = files(tmp_path / "run")
    if how != "joined":
        assert after == before
    assert after["scores.json"] == before["scores.json"]
    assert [path.name for path in file.parent.iterdir() if "tmp" in path.name] == []


def test_answers_on_other_data_are_not_trusted(plan: Plan, tmp_path: Path) -> None:
    """Without a header, the manifest tells which data the answers are for."""
    file = journal(tmp_path / "run")
    damaged = file.read_bytes().replace(b"fruit", b"fruis", 1)
    file.write_bytes(damaged)
    benchmark(tmp_path, 6, "lemon lime")
    for _ in range(2):
        with pytest.raises(RunFailedError, match=r"not the first line of a journal.*unchanged"):
            evaluate(plan, RunFolder(tmp_path / "run"))
        assert file.read_bytes() == damaged


GARBAGE = {
    "random": bytes(range(256)) * 8,
    "deep": b"[" * 5000 + b"]" * 5000,
    "damaged": b"".join(b'{"query_id": "q%d", "outcome": "ok"}\n' % n for n in range(6)),
}


@pytest.mark.usefixtures("plan")
@pytest.mark.parametrize("how", GARBAGE)
def test_a_journal_of_garbage_costs_no_scores(
    tmp_path: Path, how: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The run can be used as before; or its queries are asked again, as the message says."""
    folder = tmp_path / "run"
    assert run(build_app(), ["report", str(folder)]) == 0
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    file = journal(folder)
    before[file] = GARBAGE[how]
    file.write_bytes(GARBAGE[how])
    capsys.readouterr()
    assert run(build_app(), ["eval", "--resume", str(folder), "--store", "none"]) == 3
    said = " ".join(capsys.readouterr().err.split())
    assert said.count("not the first line of a journal") == 1
    assert "to ask its queries again, move it away" in said
    assert "nothing was asked, and the run keeps the scores it had" in said
    assert {path: path.read_bytes() for path in before} == before
    assert run(build_app(), ["gate", str(folder), "--fail-below", "RR=0.5"]) == 0
    assert len(asked(tmp_path / "asked.txt")) == 6
    file.unlink()
    assert run(build_app(), ["eval", "--resume", str(folder), "--store", "none"]) == 0
    assert len(asked(tmp_path / "asked.txt")) == 12


@pytest.mark.parametrize("retry", [False, True])
def test_a_provider_that_cannot_start_again_keeps_its_scores(tmp_path: Path, retry: bool) -> None:
    """Whatever is left to ask: all of a lost journal, or the failed queries."""
    down = tmp_path / "down"
    options = {"faults": {"q1": "raise"}, "index_fault": "raise", "index_fault_if": str(down)}
    plan = plan_of(benchmark(tmp_path, 3), {"type": "scripted", "name": "s", "options": options})
    results_of(plan, tmp_path / "run")
    before = files(tmp_path / "run")
    record = RunFolder(tmp_path / "run").record_file
    text = record.read_bytes()
    if not retry:
        journal(tmp_path / "run").unlink()
        del before["results.jsonl"]
    down.touch()
    with pytest.raises(RunFailedError, match=r"s on fruit: .*no such index.*keeps the scores"):
        evaluate(plan, RunFolder(tmp_path / "run"), retry_errors=retry)
    assert record.read_bytes() == text
    assert before.items() <= files(tmp_path / "run").items()
    down.unlink()
    assert not evaluate(plan, RunFolder(tmp_path / "run"), retry_errors=retry).failures


@pytest.mark.parametrize("text", ["", "{", "[]", "[" * 5000, '{"schema_version": 1}'])
def test_a_damaged_manifest_is_rebuilt_from_the_record(
    plan: Plan, tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    folder = RunFolder(tmp_path / "run")
    created = folder.created
    manifest = folder.read_manifest()
    folder.manifest_file.write_text(text, encoding="utf-8")
    found, same = resume_plan(folder.path)
    assert found == plan
    evaluate(found, same)
    assert len(asked(tmp_path / "asked.txt")) == 6
    assert folder.created == created
    assert folder.read_manifest() == manifest
    assert "taken from run.json" in caplog.text


def test_a_damaged_manifest_is_rebuilt_from_the_configuration(
    plan: Plan, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = RunFolder(tmp_path / "run")
    folder.manifest_file.write_text("{", encoding="utf-8")
    folder.record_file.unlink()
    with pytest.raises(DataError, match=r"keep the answers.*eval --config FILE --output .*run"):
        resume_plan(folder.path)
    evaluate(plan, choose_folder(plan, folder.path, finished=False))
    assert len(asked(tmp_path / "asked.txt")) == 6
    assert "manifest.json:1: not valid JSON" in caplog.text
    assert folder.read_manifest()["plan"]["k"] == 5


def test_a_damaged_record_is_written_again(plan: Plan, tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "run")
    before = folder.record_file.read_bytes()
    folder.record_file.write_text("[" * 5000, encoding="utf-8")
    evaluate(plan, choose_folder(plan, folder.path, finished=False))
    assert folder.record_file.read_bytes() == before
    assert len(asked(tmp_path / "asked.txt")) == 6


@pytest.mark.parametrize("name", ["latest", "latest~1"])
def test_no_run_is_called_latest(plan: Plan, tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match=f"{name}' always means a run by its age"):
        choose_folder(plan, tmp_path / "out" / name)


def test_a_folder_called_latest_is_not_the_latest(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    evaluate(plan, RunFolder(tmp_path / ".berryeval" / "runs" / "first"))
    os.renames("run", "latest")
    assert run(build_app(), ["runs", "show", "latest", "--json"]) == 0
    assert '"run": "first"' in capsys.readouterr().out
    assert run(build_app(), ["runs", "show", "./latest", "--json"]) == 0
    assert '"run": "run"' in capsys.readouterr().out


@pytest.mark.parametrize("name", ["run.json", "manifest.json", "report.html", ".lock", "Report.MD"])
def test_a_benchmark_may_have_the_name_of_a_file(tmp_path: Path, name: str) -> None:
    made = benchmark(tmp_path, 3)
    os.rename(made, tmp_path / name)  # noqa: PTH104 - of a folder
    about = tmp_path / name / "benchmark.json"
    about.write_text(about.read_text("utf-8").replace('"fruit"', f'"{name}"'), "utf-8")
    plan = plan_of(str(tmp_path / name), {"type": "scripted", "name": name})
    found = evaluate(plan, RunFolder(tmp_path / "run"), export=["html", "markdown", "json"])
    assert not found.failures
    assert found.results[0].benchmark.name == name
    assert RunFolder(tmp_path / "run").read_record().benchmarks[0].name == name
    assert evaluate(plan, RunFolder(tmp_path / "run")).was_complete
