"""The command line: output and exit codes."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from cyclopts import App

import berryeval
from berryeval._internal.backend import BACKEND
from berryeval.cli.app import build_app, run
from berryeval.errors import (
    BackendUnavailableError,
    ConfigurationError,
    MissingDependencyError,
    RepeatedDocumentError,
)

if TYPE_CHECKING:
    from pathlib import Path


def berryeval_command(
    *arguments: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command as a user does, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "berryeval", *arguments],
        capture_output=True, text=True, check=False, env=env,
    )  # fmt: skip


def test_version_prints_versions_and_backend(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["version"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"berryeval {berryeval.__version__}"
    assert lines[1].startswith(f"backend   {BACKEND}")
    assert lines[2:] == [
        f"python    {platform.python_version()}",
        f"numpy     {np.__version__}",
        f"platform  {platform.platform()}",
    ]


def test_version_prints_one_json_envelope(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["version", "--json"]) == 0
    envelope = json.loads(capsys.readouterr().out)
    assert envelope["schema_version"] == 1
    assert envelope["command"] == "version"
    assert envelope["data"]["backend"] == BACKEND
    assert envelope["data"].keys() == {
        "version", "backend", "python", "numpy", "platform", "native_problem",
    }  # fmt: skip


def test_version_says_why_it_is_not_native(clean_environment: dict[str, str]) -> None:
    done = berryeval_command("version", env={**clean_environment, "BERRYEVAL_BACKEND": "python"})
    assert done.returncode == 0
    assert "backend   python (not native: BERRYEVAL_BACKEND=python)" in done.stdout


@pytest.mark.parametrize("variable", ["BERRYEVAL_BACKEND"])
def test_a_bad_setting_is_one_line_and_exit_2(
    variable: str, clean_environment: dict[str, str]
) -> None:
    done = berryeval_command("version", env={**clean_environment, variable: "quantum"})
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        "error: BERRYEVAL_BACKEND must be 'native' or 'python' (or unset), found 'quantum'\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said", "command"),
    [
        (["verson"], 'Did you mean "version"?', ""),
        (["version", "--jsn"], "Did you mean --json?", " version"),
        (["version", "surplus"], "surplus", " version"),
        (["runs", "push"], "URL", " runs push"),
    ],
)
def test_wrong_usage_is_exit_2(
    arguments: list[str], said: str, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error names the help page of the command."""
    assert run(build_app(), arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert said in printed.err
    assert printed.err.endswith(f"(see berryeval{command} --help)\n")


def failing_app(error: BaseException, *, flag: bool = False) -> App:
    """An app with one command, which raises `error`, and may take `--json`."""
    app = App(name="berryeval")

    def fail(*, json: bool = False) -> None:
        assert flag or not json
        raise error

    app.command(fail, name="fail")
    return app


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ConfigurationError("bad value"), 2, "error: bad value\n"),
        (BackendUnavailableError("not here"), 2, "error: not here\n"),
        (
            RuntimeError("broken\nin two lines"), 3,
            "error: broken in two lines (this looks like a bug; --debug shows where it happened)\n",
        ),
        (
            ZeroDivisionError(), 3,
            "error: ZeroDivisionError (this looks like a bug; --debug shows where it happened)\n",
        ),
        (PermissionError(13, "Permission denied", "runs"), 3, "error: runs: Permission denied\n"),
        (KeyboardInterrupt(), 130, "interrupted\n"),
    ],
)  # fmt: skip
def test_errors_become_exit_codes(
    error: BaseException, code: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(failing_app(error), ["fail"]) == code
    assert capsys.readouterr().err == message


@pytest.mark.parametrize(
    ("error", "code", "kind"),
    [
        (ConfigurationError("bad\nvalue"), 2, "configuration"),
        (MissingDependencyError("bad value"), 2, "missing-dependency"),
        (RepeatedDocumentError("bad value"), 2, "repeated-document"),
        (PermissionError("bad value"), 3, "system"),
        (RuntimeError("bad value"), 3, "bug"),
        (KeyboardInterrupt("bad value"), 130, "interrupted"),
    ],
)
def test_json_errors_have_an_envelope(
    error: BaseException, code: int, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    app = failing_app(error, flag=True)
    assert run(app, ["fail", "--json"]) == code
    out, err = capsys.readouterr()
    assert json.loads(out) == {
        "schema_version": 1,
        "command": "fail",
        "error": {"kind": kind, "message": "bad value"},
    }
    assert "bad value" in err
    assert run(app, ["fail"]) == code
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (["list", "metrics", "--json", "--nope"], "list metrics"),
        (["evaluate", "--json", "--k", "many"], "eval"),
        (["verson", "--json"], ""),
    ],
)
def test_json_usage_errors_have_an_envelope(
    arguments: list[str], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(build_app(), arguments) == 2
    envelope = json.loads(capsys.readouterr().out)
    assert (envelope["command"], envelope["error"]["kind"]) == (command, "usage")


@pytest.mark.parametrize("arguments", [["--debug", "fail"], ["fail", "--debug"]])
def test_debug_shows_the_traceback(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(failing_app(RuntimeError("broken")), arguments) == 3
    printed = capsys.readouterr().err
    assert printed.startswith("Traceback (most recent call last):")
    assert "in fail" in printed
    assert "error: broken" in printed


def test_debug_after_the_end_of_options_is_an_argument() -> None:
    app = App(name="berryeval")
    seen: list[str] = []
    app.command(lambda *names: seen.extend(names), name="echo")
    run(app, ["echo", "--", "--debug"])
    assert seen == ["--debug"]


@pytest.mark.skipif(os.name == "nt", reason="there is no POSIX shell")
@pytest.mark.parametrize(
    ("redirection", "code", "said"),
    [
        ("version >&-", 0, ""),
        (
            "version >/dev/full",
            2,
            "error: the output cannot be written: No space left on device\n",
        ),
        ("nope 2>/dev/full", 2, ""),
        ("nope 2>&-", 2, ""),
    ],
)
def test_a_closed_or_full_output_keeps_the_exit_code(
    redirection: str, code: int, said: str
) -> None:
    script = f"{sys.executable} -m berryeval {redirection}"
    done = subprocess.run(["/bin/sh", "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", said)


def test_an_exit_code_is_passed_on() -> None:
    app = App(name="berryeval")
    app.command(lambda: 1, name="gate")
    assert run(app, ["gate"]) == 1


def test_help_lists_commands_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["--help"]) == 0
    printed = capsys.readouterr().out
    assert "version" in printed
    assert "Exit codes: 0 passed, 1 quality failed, 2 wrong usage or configuration" in printed


def test_help_fills_the_lines_of_the_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A docstring breaks its lines elsewhere; a flag that is off needs no default."""
    monkeypatch.setenv("COLUMNS", "80")
    assert run(build_app(), ["score", "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith("Usage: berryeval score [OPTIONS] QRELS RUN [ARGS...]\n")
    (line,) = [one for one in page.splitlines() if "documents, ... Faulty lines" in one]
    assert line.endswith("Faulty lines, NaN and repeated documents │")
    assert "[default: False]" not in page
    assert "[default: berryeval]" in page


def test_a_bare_command_shows_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), []) == 0
    assert capsys.readouterr().out.startswith("Usage: berryeval COMMAND")


def test_the_version_flag_prints_the_number_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["--version"]) == 0
    assert capsys.readouterr().out == f"{berryeval.__version__}\n"


def test_help_does_not_import_numpy() -> None:
    script = (
        "import sys; from berryeval.cli.app import build_app, run; run(build_app(), ['--help']); "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize(
    ("module", "unneeded"),
    [
        ("workflows.run_finder", ["pydantic", "sqlalchemy", "berryeval.gates", "berryeval.stats"]),
        ("workflows.run_comparison", ["pydantic", "anyio", "asyncio", "berryeval.providers"]),
        ("workflows.reporting", ["anyio", "asyncio", "berryeval.providers", "berryeval.chunkers"]),
        ("workflows.settings", ["pydantic", "numpy.ma", "berryeval.benchmarks"]),
    ],
)
def test_a_command_imports_only_what_it_needs(module: str, unneeded: list[str]) -> None:
    script = (
        f"import sys, berryeval.{module}; "
        f"print(*(name for name in {unneeded!r} if name in sys.modules))"
    )
    command = [sys.executable, "-c", script]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == "\n"


@pytest.mark.skipif(os.name == "nt", reason="there are no POSIX pipes to break")
@pytest.mark.parametrize("arguments", ["version", "list metrics", "list metrics --json"])
def test_a_closed_pipe_is_not_an_error(arguments: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "berryeval", *arguments.split()]
    reader, writer = os.pipe()
    os.close(reader)
    with (tmp_path / "err").open("w") as stream:
        done = subprocess.run(command, stdout=writer, stderr=stream, check=False)
    os.close(writer)
    assert (done.returncode, (tmp_path / "err").read_text()) == (0, "")
