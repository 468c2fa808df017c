"""`berryeval eval` with failures during the run: its messages and its exit code."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.eval_world import berryeval

OURS_TO_ASK = """\
import resource
from pathlib import Path

def broken(text, k):
    if not Path("mended").exists():
        raise ValueError("no such index")
    return [("water", 1.0)]

def distances(text, k):
    return [("tea", 0.1), ("coffee", 0.2), ("water", 0.3)]

def filling(text, k):
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))  # no file can grow from here on
    return [("water", 1.0)]
"""
EVAL = (
    *("eval", "--benchmarks", "drinks", "--output", "run", "--store", "none"),
    *("--concurrency", "1"),
)


@pytest.fixture(autouse=True)
def _in_a_folder_with_drinks(drinks_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del drinks_folder
    Path("ours_to_ask.py").write_text(OURS_TO_ASK, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "ours_to_ask", raising=False)


def configured(function: str) -> None:
    """Write a configuration with this function as its provider."""
    Path("berryeval.yaml").write_text(
        "providers:\n  - type: callable\n    name: one\n"
        f"    options: {{function: 'ours_to_ask:{function}'}}\n",
        encoding="utf-8",
    )


def test_an_abandoned_run_names_the_command_that_helps(capsys: pytest.CaptureFixture[str]) -> None:
    """Earlier errors count against the budget, so they must be asked again."""
    configured("broken")
    assert berryeval(*EVAL) == 3
    error = capsys.readouterr().err
    assert "stopped after 3 of 3 queries failed" in error
    assert "warning: the run is not complete; to resume: berryeval eval --resume run" in error
    again = "3 queries failed and --resume alone keeps that as 0; to ask again: berryeval eval"
    assert again in " ".join(error.split())
    Path("mended").touch()
    assert berryeval("eval", "--resume", "run", "--store", "none") == 3
    error = " ".join(capsys.readouterr().err.split())
    assert (
        "nothing was asked: 3 of 3 queries failed before (of 4; the error budget is 0.5)" in error
    )
    assert "not complete; to resume: berryeval eval --resume run --retry-errors" in error
    assert f"{again} --resume run --retry-errors" in error
    assert berryeval("eval", "--resume", "run", "--retry-errors", "--store", "none") == 0
    assert "--resume" not in capsys.readouterr().err


def test_suggested_commands_are_quoted(capsys: pytest.CaptureFixture[str]) -> None:
    configured("broken")
    made = tuple("run 2" if word == "run" else word for word in EVAL)
    assert berryeval(*made) == 3
    error = " ".join(capsys.readouterr().err.split())
    again = shlex.split(error.partition("to ask again: berryeval ")[2])
    assert again == ["eval", "--resume", "run 2", "--retry-errors"]
    assert "not complete; to resume: berryeval eval --resume 'run 2' " in error
    Path("run 2/run.json").unlink()
    for command in (("report", "run 2"), ("runs", "import", "run 2", "--store", "s.db")):
        assert berryeval(*command) == 2
        assert "to resume it: berryeval eval --resume 'run 2'" in capsys.readouterr().err
    assert berryeval("eval", "--benchmarks", "drinks", "--output", "run 2", "--k", "3") == 2
    assert "or resume that run: berryeval eval --resume 'run 2'" in capsys.readouterr().err
    Path("mended").touch()
    assert berryeval(*again, "--store", "none") == 0
    assert berryeval(*made) == 2
    assert "results: berryeval eval --resume 'run 2'" in capsys.readouterr().err


def test_a_folder_that_looks_like_an_option_can_be_resumed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configured("broken")
    made = [word for word in EVAL if word not in {"--output", "run"}]
    assert berryeval(*made, "--output=-x") == 3
    error = " ".join(capsys.readouterr().err.split())
    again = shlex.split(error.partition("to ask again: berryeval ")[2])
    assert again == ["eval", "--resume=-x", "--retry-errors"]
    Path("mended").touch()
    assert berryeval(*again, "--store", "none") == 0


def test_scores_that_look_like_distances_are_noted(capsys: pytest.CaptureFixture[str]) -> None:
    configured("distances")
    assert berryeval(*EVAL) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "warning: one: the hits of 4 of 4 queries have scores that increase" in said
    assert "they look like distances" in said


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to the size of files")
def test_a_disk_that_fills_mid_run_fails_the_run() -> None:
    """Exit code 3, and the run can be resumed."""
    configured("filling")
    done = subprocess.run(
        [sys.executable, "-m", "berryeval", *EVAL], capture_output=True, text=True, check=False
    )
    assert done.returncode == 3, done.stderr
    assert "cannot be written (File too large)" in done.stderr
    assert "to resume: berryeval eval --resume run" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="there is no limit to the size of files")
def test_a_temporary_run_suggests_a_folder() -> None:
    program = (
        "import berryeval as be, ours_to_ask\n"
        "from berryeval.errors import RunFailedError\n"
        "try: be.run_benchmark('drinks', ours_to_ask.filling, concurrency=1)\n"
        "except RunFailedError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "nothing is kept, because the run had a temporary folder; give one" in done.stdout
    assert "--resume" not in done.stdout


def test_a_folder_that_cannot_be_created_is_a_usage_error(
    capsys: pytest.CaptureFixture[str],
) -> None:
    configured("distances")
    Path("taken").touch()
    assert berryeval(*EVAL[:3], "--output", "taken/run", "--store", "none") == 2
    assert "taken/run" in capsys.readouterr().err
