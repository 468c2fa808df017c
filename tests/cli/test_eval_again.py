"""`berryeval eval` again: resumed, interrupted, and from a configuration."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from berryeval.workflows.run_folder import RunFolder
from tests.cli.eval_world import GOLDEN, berryeval, data_of, without_times, write_drinks
from tests.cli.terminal import on_a_terminal

CONFIG = """\
benchmarks: [drinks]
providers:
  - bm25
  - name: exact
    type: bm25
    options: {k1: 0.9}
metrics: [AP]
limit: 2
run: {concurrency: 2}
"""
SLOW = """\
import sys, time
from pathlib import Path
from berryeval.cli.app import build_app, run
from berryeval.providers import PROVIDERS, Provider
from berryeval.data import Hit

@PROVIDERS.register("slow")
class Slow(Provider):
    def search(self, query, k):
        with open("asked.txt", "a") as stream:
            stream.write(query.id + "\\n")
        if not Path("fast").exists() and query.id != "q1":
            time.sleep(30)
        return [Hit("water", 1.0, doc_id="water")]

sys.exit(run(build_app(), sys.argv[1:]))
"""


pytestmark = pytest.mark.usefixtures("drinks_folder")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send")
@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_can_be_resumed(sent: signal.Signals, code: int, tmp_path: Path) -> None:
    """One line names the command, and no answered query is asked again."""
    heard = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command = [sys.executable, "-c", heard + SLOW, "eval"]
    start = ["--benchmarks", "drinks", "--providers", "slow", "--concurrency", "1"]
    with subprocess.Popen(
        [*command, *start, "--output", "run"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, cwd=tmp_path,
    ) as process:  # fmt: skip
        _wait_for_first_answer(process, tmp_path)
        process.send_signal(sent)
        out, err = process.communicate(timeout=60)
    assert process.returncode == code
    assert (out, err) == ("", "interrupted; to resume: berryeval eval --resume run\n")
    (tmp_path / "fast").touch()
    (tmp_path / "asked.txt").unlink()
    done = subprocess.run(
        [*command, "--resume", "run", "--json"], capture_output=True, text=True, check=True,
        cwd=tmp_path,
    )  # fmt: skip
    (provider,) = json.loads(done.stdout)["data"]["benchmarks"][0]["providers"]
    assert provider["outcomes"] == {"ok": 4}
    assert "q1" not in (tmp_path / "asked.txt").read_text().splitlines()[1:]  # the first: warm-up


def _wait_for_first_answer(process: subprocess.Popen[str], folder: Path) -> None:
    journal = folder / "run" / "drinks" / "slow" / "results.jsonl"
    while not (journal.exists() and '"q1"' in journal.read_text()):
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)


def test_a_run_is_resumed_by_its_folder(capsys: pytest.CaptureFixture[str]) -> None:
    """The plan comes from the manifest, and the scores are the same."""
    Path("berryeval.yaml").write_text(CONFIG)
    assert berryeval("eval", "--output", "run", "--json") == 0
    first = data_of(capsys)
    journal = Path("run/drinks/exact/results.jsonl").read_bytes()
    Path("berryeval.yaml").unlink()
    assert berryeval("eval", "--resume", "run", "--json") == 0
    assert data_of(capsys) == first
    assert Path("run/drinks/exact/results.jsonl").read_bytes() == journal


def test_reused_answers_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    """One line per provider with the date of the run; none for failed queries."""
    failing = "def search(text, k):\n    raise ValueError(text)\n"
    Path("ours.py").write_text(failing)
    Path("berryeval.yaml").write_text(
        "benchmarks: [drinks]\n"
        "providers: [bm25, {name: ours, type: callable, options: {function: 'ours:search'}}]\n"
        "run: {error_budget: 1}\n"
    )
    assert berryeval("eval", "--output", "run", "--json") == 3
    assert "journal" not in capsys.readouterr().err
    created = json.loads(Path("run/manifest.json").read_text())["created"]
    assert berryeval("eval", "--resume", "run", "--retry-errors", "--json") == 3
    notes = [line for line in capsys.readouterr().err.splitlines() if line.startswith("note:")]
    taken = "4 of 4 answers are from the journal of the run of"
    assert notes == [f"note: bm25 on drinks: {taken} {created}"]
    assert berryeval("eval", "--resume", "run", "--quiet", "--json") == 3
    assert "note:" not in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to send")
def test_a_background_run_stops_on_sigterm(tmp_path: Path) -> None:
    """A shell ignores SIGINT in background jobs."""
    script = f"import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\n{SLOW}"
    arguments = "eval --benchmarks drinks --providers slow --concurrency 1 --output run --json"
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments.split()], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, cwd=tmp_path,
    ) as process:  # fmt: skip
        _wait_for_first_answer(process, tmp_path)
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 143
    message = "interrupted; to resume: berryeval eval --resume run"
    assert err == f"{message}\n"
    assert json.loads(out)["error"] == {"kind": "interrupted", "message": message}


def test_new_thresholds_do_not_change_the_manifest(capsys: pytest.CaptureFixture[str]) -> None:
    Path("berryeval.yaml").write_text(CONFIG + "thresholds: {AP: 0.1}\n")
    assert berryeval("eval", "--output", "run") == 0
    manifest = Path("run/manifest.json").read_bytes()
    capsys.readouterr()
    assert berryeval("eval", "--resume", "run", "--fail-below", "AP=0.99", "P@5=0.1") == 1
    out, err = capsys.readouterr()
    assert "judged by other thresholds than those of the first run, kept in manifest.json" in out
    assert "Quality threshold not met: AP=" in err
    assert Path("run/manifest.json").read_bytes() == manifest
    assert berryeval("eval", "--resume", "run", "--fail-below", "AP=0.99", "--json") == 1
    data = data_of(capsys)
    assert data["config_hash"] == json.loads(manifest)["config_hash"]
    assert data["plan"]["thresholds"] == {"AP": 0.1}
    assert {one["limit"] for one in data["verdicts"]} == {0.99}
    assert berryeval("eval", "--resume", "run") == 0
    assert "judged by" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("threshold", "said"),
    [
        ("R@50=0.5", "--fail-below needs 50 hits per query, the run asked for 20; start a new run"),
        ("nDGC@5=0.5", "thresholds: unknown metric 'nDGC@5'; did you mean"),
    ],
)
def test_thresholds_deeper_than_the_run_are_rejected(
    threshold: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("berryeval.yaml").write_text(CONFIG)
    assert berryeval("eval", "--output", "run") == 0
    manifest = Path("run/manifest.json").read_bytes()
    assert berryeval("eval", "--resume", "run", "--fail-below", threshold) == 2
    assert said in capsys.readouterr().err
    assert Path("run/manifest.json").read_bytes() == manifest


def test_a_finished_run_is_rejected_as_output(capsys: pytest.CaptureFixture[str]) -> None:
    """Otherwise a provider that broke since then would seem to pass."""
    Path("berryeval.yaml").write_text(CONFIG)
    assert berryeval("eval", "--output", "run") == 0
    files = {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    created = json.loads(Path("run/manifest.json").read_text())["created"]
    capsys.readouterr()
    for more in ((), ("--retry-errors",), ("--fail-below", "AP=0.99")):
        assert berryeval("eval", "--output", "run", *more) == 2
        said = capsys.readouterr().err
        assert f"run: holds a finished run of {created}; give another folder, remove this" in said
        assert "berryeval eval --resume run" in said
    assert files == {path: path.read_bytes() for path in Path("run").rglob("*") if path.is_file()}
    assert berryeval("eval", "--resume", "run") == 0
    shutil.rmtree("run")
    assert berryeval("eval", "--output", "run") == 0


def test_the_same_output_resumes_an_unfinished_run(tmp_path: Path) -> None:
    Path("berryeval.yaml").write_text(CONFIG)
    assert berryeval("eval", "--output", "run") == 0
    Path("run/run.json").unlink()
    assert berryeval("eval", "--output", "run") == 0
    folder = RunFolder(tmp_path / "run")
    record = folder.read_record()
    (part,) = record.benchmarks
    first, second = part.providers

    def with_first(**changes: Any) -> None:
        changed = replace(part, providers=(replace(first, **changes), second))
        folder.write_record(replace(record, benchmarks=(changed,)))

    with_first(outcomes={"ok": 1, "timeout": 1})
    assert berryeval("eval", "--output", "run") == 2
    assert berryeval("eval", "--output", "run", "--retry-errors") == 0
    with_first(failure="no server")
    assert berryeval("eval", "--output", "run") == 0


def test_runs_of_the_same_second_have_separate_folders(
    clean_environment: dict[str, str],
) -> None:
    """Two processes at once, each with two runs."""
    twice = (
        "import sys\n"
        "from berryeval.cli.app import build_app, run\n"
        "sys.exit(any([run(build_app(), sys.argv[1:]) for _ in range(2)]))\n"
    )
    command = "eval --benchmarks drinks --providers bm25 --quiet --export none"
    running = [
        subprocess.Popen(
            [sys.executable, "-c", twice, *command.split()], stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, env=clean_environment,
        )
        for _ in range(2)
    ]  # fmt: skip
    for process in running:
        _, err = process.communicate(timeout=120)
        assert process.returncode == 0, err
    assert len(list(Path(".berryeval/runs").glob("*/run.json"))) == 4


def test_an_output_with_another_run_is_rejected(capsys: pytest.CaptureFixture[str]) -> None:
    Path("berryeval.yaml").write_text(CONFIG)
    assert berryeval("eval", "--output", "run") == 0
    manifest = Path("run/manifest.json").read_bytes()
    capsys.readouterr()
    assert berryeval("eval", "--output", "run", "--k", "3") == 2
    assert "run: holds another run (" in capsys.readouterr().err
    assert Path("run/manifest.json").read_bytes() == manifest


def test_flags_win_over_variables_over_the_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("berryeval.yaml").write_text(CONFIG)
    monkeypatch.setenv("BERRYEVAL_LIMIT", "3")
    monkeypatch.setenv("BERRYEVAL_METRICS", "RR P@5")
    monkeypatch.setenv("BERRYEVAL_BATCH", "3")
    monkeypatch.setenv("BERRYEVAL_TIMEOUT", "7.5")
    monkeypatch.setenv("BERRYEVAL_FILTER", "category=factual")
    assert berryeval("eval", "--metrics", "nDCG@3", "--providers", "bm25", "--json") == 0
    plan = data_of(capsys)["plan"]
    assert plan["metrics"] == ["nDCG@3"]
    assert plan["limit"] == 3
    assert plan["filter"] == {"category": "factual"}
    assert [provider["name"] for provider in plan["providers"]] == ["bm25"]
    run = plan["run"]
    assert (run["timeout"], run["concurrency"], run["batch"]) == (7.5, 2, 3)


def test_variables_may_have_commas(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A variable without a value is rejected by name."""
    monkeypatch.setenv("BERRYEVAL_BENCHMARKS", "drinks")
    monkeypatch.setenv("BERRYEVAL_PROVIDERS", "bm25,bm25:fixed-5")
    monkeypatch.setenv("BERRYEVAL_METRICS", "RR, P@5,AP")
    assert berryeval("eval", "--json") == 0
    plan = data_of(capsys)["plan"]
    assert plan["metrics"] == ["RR", "P@5", "AP"]
    assert [provider["name"] for provider in plan["providers"]] == ["bm25", "bm25:fixed-5"]
    monkeypatch.setenv("BERRYEVAL_METRICS", ",")
    assert berryeval("eval") == 2
    assert "BERRYEVAL_METRICS: expected names of metrics" in capsys.readouterr().err


def test_an_invalid_variable_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("berryeval.yaml").write_text(CONFIG)
    monkeypatch.setenv("BERRYEVAL_K", "many")
    assert berryeval("eval") == 2
    assert capsys.readouterr().err.startswith("error: BERRYEVAL_K: k: ")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("metrics: [AP]", "metric: [AP]", "berryeval.yaml:7: unknown key 'metric'; did you"),
        ("limit: 2", "limit: two", "berryeval.yaml:8: limit: "),
        ("limit: 2", "limit: [2", "berryeval.yaml:9: not valid YAML"),
        ("type: bm25", "tpye: bm25", "berryeval.yaml:5: unknown key 'providers[1].tpye'; did you"),
        ("{k1: 0.9}", "{kk1: 0.9}", "provider 'bm25' has no option 'kk1'; did you"),
        ("[drinks]", "[{sorce: drinks}]", "berryeval.yaml:1: unknown key 'benchmarks[0].sorce'"),
        ("[drinks]", "[{source: drinks, format: bier}]", "unknown loader 'bier'; did you mean"),
        ("[drinks]", "drinks", "berryeval.yaml:1: benchmarks: "),
        ("concurrency: 2", "concurrency: 0", "berryeval.yaml:9: run.concurrency: "),
    ],
)  # fmt: skip
def test_an_invalid_configuration_names_line_and_key(
    before: str, after: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert before in CONFIG
    Path("berryeval.yaml").write_text(CONFIG.replace(before, after))
    assert berryeval("eval") == 2
    err = capsys.readouterr().err
    assert said in err
    assert err.count("\n") == 1


def test_paths_in_a_configuration_start_at_its_folder(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("berryeval.yaml").write_text(CONFIG)
    Path("below").mkdir()
    monkeypatch.chdir("below")
    assert berryeval("eval", "--config", "../berryeval.yaml", "--json") == 0
    assert data_of(capsys)["benchmarks"][0]["benchmark"] == "drinks"


def test_secrets_are_read_again_from_the_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    """Without the file, the missing secret is named by its provider."""
    text = CONFIG.replace("    options: {k1: 0.9}\n", "").replace(
        "type: bm25",
        "type: postgres\n    options: {dsn: 'postgresql://me:swordfish@127.0.0.1:9/d'}",
    )
    Path("berryeval.yaml").write_text(text + "  \n")
    assert berryeval("eval", "--output", "run") == 3
    assert "swordfish" not in Path("run/manifest.json").read_text()
    capsys.readouterr()
    assert berryeval("eval", "--resume", "run") == 3
    out, err = capsys.readouterr()
    assert "127.0.0.1" in out
    assert "swordfish" not in out + err
    Path("berryeval.yaml").rename("other.yaml")
    assert berryeval("eval", "--resume", "run") == 2
    assert "does not hold the secrets of provider 'exact'" in capsys.readouterr().err
    assert berryeval("eval", "--resume", "run", "--config", "other.yaml") == 3


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize("width", [60, 80, 140])
def test_no_line_is_wider_than_the_terminal(width: int) -> None:
    text = _shown(COLUMNS=str(width))
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text)
    shown = plain[plain.index("drinks: 4 queries") :]
    assert max(len(line.rstrip()) for line in shown.splitlines()) <= width
    for expected in ("nDCG@10", "P@5", "R@10", "AP", "p99 ms", "bm25:fixed-5", "0.750*", "1 empty"):
        assert expected in shown


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_narrow_terminal_gets_several_tables() -> None:
    text = _shown(COLUMNS="80")
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r\n", "\n")
    shown = without_times(plain[plain.index("drinks: 4 queries") :])
    assert shown == (GOLDEN / "narrow.txt").read_text(encoding="utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_the_best_value_is_bold_unless_color_is_off(tmp_path: Path) -> None:
    assert re.search(r"\x1b\[[0-9;]*1m0\.750\*", _shown(COLUMNS="140"))
    shutil.rmtree(tmp_path / "run")
    plain = _shown(COLUMNS="140", NO_COLOR="1")
    assert "0.750*" in plain
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]m", plain)


def _shown(**environment: str) -> str:
    """Return the output on a terminal."""
    command = "eval --benchmarks drinks --output run --providers bm25 bm25:fixed-5"
    ours = {**os.environ, "TERM": "xterm-256color", **environment}
    code, text = on_a_terminal(*command.split(), **ours)
    assert code == 0, text
    return text


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_indexing_shows_progress_unless_it_is_hidden() -> None:
    command = ["eval", "--benchmarks", "drinks", "--providers", "bm25"]
    ours = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "140"}
    for options, expected in ([], True), (["--quiet"], False), (["--json"], False):
        code, text = on_a_terminal(*command, *options, **ours)
        assert code == 0, text
        assert ("bm25 on drinks: indexing chunks" in text) is expected


def test_the_latest_run_is_resumed_by_that_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_drinks(tmp_path)
    assert berryeval("eval", "drinks", "--providers", "bm25", "--quiet") == 0
    (folder,) = (tmp_path / ".berryeval" / "runs").iterdir()
    (folder / "run.json").unlink()  # as if it had been killed
    for name in ("latest", folder.name, str(folder)):
        assert berryeval("eval", "--resume", name, "--quiet") == 0
        assert (folder / "run.json").exists()
    capsys.readouterr()
    assert berryeval("eval", "--resume", "latest~1") == 2
    assert "latest~1: holds no run" in capsys.readouterr().err
