"""`--quiet` and `--verbose`, which every command accepts."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from cyclopts import App

from berryeval.cli.app import build_app, run
from tests.cli.commands import COMMANDS
from tests.cli.gate_world import write_runs

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _in_a_folder_with_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"):
        monkeypatch.delenv(name, raising=False)
    write_runs(tmp_path)


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_accepts_one_of_the_flags(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(build_app(), [*words, "--quiet", "--verbose"]) == 2
    assert "choose one of --quiet and --verbose" in capsys.readouterr().err
    for flag in ("--quiet", "--verbose", "-q", "-v"):
        run(build_app(), [*words, "a-run-that-is-not-there", flag])
        assert "nknown option" not in capsys.readouterr().err


def test_there_are_commands_to_try() -> None:
    assert {("eval",), ("runs", "trend"), ("list", "metrics"), ("init",)} <= set(COMMANDS)


def test_quiet_leaves_out_warnings_and_hints(capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["baseline", "set", "errors.json", "--allow-errors"]
    assert run(build_app(), asked) == 0
    assert "warning: " in capsys.readouterr().err
    assert run(build_app(), [*asked, "--quiet"]) == 0
    shown = capsys.readouterr()
    assert (shown.err, shown.out.startswith("baseline written to")) == ("", True)
    assert run(build_app(), ["init", "--quiet"]) == 0
    assert "berryeval eval" not in capsys.readouterr().out
    assert run(build_app(), ["gate", "worse.json", "--baseline", "before.json", "--quiet"]) == 1
    shown = capsys.readouterr()
    assert "no rule about drops" not in shown.out
    assert "FAIL  nDCG@10" in shown.out
    assert run(build_app(), ["gate", "nowhere", "--quiet"]) == 2
    assert "error: " in capsys.readouterr().err


def test_a_flag_ends_the_values_of_an_option(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Words after the flag are arguments, as they are after any other flag."""
    qrels, ranked = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("q1 0 d1 1\n", encoding="utf-8")
    ranked.write_text("q1 Q0 d1 1 2.0 me\n", encoding="utf-8")
    files = [str(qrels), str(ranked)]
    for flag in ("--quiet", "-q", "--verbose"):
        assert run(build_app(), ["score", "-m", "AP", "RR", flag, *files, "--csv"]) == 0
        assert "\nAP,1.0" in capsys.readouterr().out
    assert run(build_app(), ["score", files[0], "-m", "AP", "-q", files[1], "--json"]) == 0
    assert run(build_app(), ["list", "--quiet", "metrics", "--json"]) == 0
    assert run(build_app(), ["score", "-m", "AP", "--quiet", "--", *files]) == 0


def test_verbose_shows_log_lines_once(capsys: pytest.CaptureFixture[str]) -> None:
    before = list(logging.getLogger("berryeval").handlers)
    app = App(name="berryeval")

    @app.command
    def speak() -> None:
        from berryeval.cli.logs import error_screen, log_level, log_lines

        with log_lines(error_screen(), log_level()):
            logging.getLogger("berryeval").debug("looking")

    assert run(app, ["speak"]) == 0
    assert capsys.readouterr().err == ""
    assert run(app, ["speak", "--verbose"]) == 0
    assert capsys.readouterr().err == "debug: looking\n"
    assert logging.getLogger("berryeval").handlers == before


@pytest.mark.parametrize("words", COMMANDS)
def test_the_flags_may_come_before_the_command(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    line = [*words, "a-run-that-is-not-there", "--json"]
    run(build_app(), [*line, "--quiet"])
    after = capsys.readouterr()
    run(build_app(), ["--quiet", *line])
    assert capsys.readouterr() == after
    assert '"command":""' not in after.out.replace(" ", "")


def test_eval_is_quiet_if_the_flag_comes_first(capsys: pytest.CaptureFixture[str]) -> None:
    line = ["eval", "--benchmarks", "rag-template", "--providers", "bm25", "--output", "a"]
    assert run(build_app(), ["--quiet", *line]) == 0
    first = capsys.readouterr()
    assert run(build_app(), [*line[:-1], "b", "--quiet"]) == 0
    second = capsys.readouterr()
    assert first.err == second.err
    assert len(first.out.splitlines()) == len(second.out.splitlines())
