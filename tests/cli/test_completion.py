"""Completion in the shell: the words of commands, options and names, and where it is installed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from berryeval.cli.app import build_app, run
from berryeval.cli.completion import Shell, write_script

BASH, FISH, ZSH = (shutil.which(shell) or "" for shell in ("bash", "fish", "zsh"))
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="shells of Unix")

# What is typed before Tab, and words that it must offer.
CASES = [
    ("", {"eval", "score", "runs", "completion"}),
    ("ev", {"eval"}),
    ("runs ", {"list", "trend", "rescore"}),
    ("eval --prov", {"--providers"}),
    ("eval --providers bm", {"bm25"}),
    ("eval --providers bm25 hyb", {"hybrid"}),  # a second value
    ("eval -m nDCG", {"nDCG", "nDCG@10"}),
    ("eval --k 5 tech", {"technical-docs"}),  # after one value, an argument
    ("eval --json tech", {"technical-docs"}),
    ("-q ev", {"eval"}),
    ("score q r --engine ", {"local", "spark"}),
    ("report -f mark", {"markdown"}),
    ("inspect -f bei", {"beir"}),
    ("completion show ", {"bash", "zsh", "fish"}),
]


def ask_bash(script: Path, typed: str) -> set[str]:
    """Return what the function that bash calls on Tab offers."""
    words = ["berryeval", *typed.split(" ")]
    code = (
        '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
        '_berryeval; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        [BASH, "--norc", "-c", code, "bash", str(script), *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert not done.stderr
    return set(done.stdout.split())


def ask_fish(script: Path, typed: str) -> set[str]:
    code = 'source $argv[1]; complete -C "berryeval $argv[2]"'
    done = subprocess.run(
        [FISH, "--no-config", "-c", code, str(script), typed],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return {line.partition("\t")[0] for line in done.stdout.splitlines()}


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scripts")
    shells: tuple[Shell, ...] = ("bash", "zsh", "fish")
    for shell in shells:
        (folder / f"berryeval.{shell}").write_text(write_script(shell), encoding="utf-8")
    return folder


@pytest.mark.skipif(not BASH, reason="bash is not installed")
@pytest.mark.parametrize(("typed", "wanted"), CASES)
def test_bash_offers_the_words(typed: str, wanted: set[str], scripts: Path) -> None:
    offered = ask_bash(scripts / "berryeval.bash", typed)
    assert wanted <= offered
    start = typed.rpartition(" ")[2]
    assert all(word.startswith(start) for word in offered)


@pytest.mark.skipif(not FISH, reason="fish is not installed")
def test_fish_offers_the_words(scripts: Path) -> None:
    for typed, wanted in CASES:
        assert wanted <= ask_fish(scripts / "berryeval.fish", typed), typed


@pytest.mark.skipif(not ZSH, reason="zsh is not installed")
def test_zsh_reads_the_script(scripts: Path) -> None:
    code = '. "$1" && whence -w _berryeval && print $_comps[berryeval]'
    line = [ZSH, "-f", "-c", code, "zsh", str(scripts / "berryeval.zsh")]
    home = {**os.environ, "HOME": str(scripts), "ZDOTDIR": str(scripts)}  # compinit writes there
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=home)
    assert done.stdout.split()[:3] == ["_berryeval:", "function", "_bash_complete"]


@pytest.mark.skipif(not BASH, reason="bash is not installed")
def test_tab_completes_in_an_interactive_bash(tmp_path: Path) -> None:
    """The line that `install` adds is enough: new shells complete names, and files."""
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "TERM": "dumb"}
    environment = {**os.environ, **home, "XDG_DATA_HOME": ""}
    command = [sys.executable, "-m", "berryeval", "completion", "install", "bash"]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    (tmp_path / "my-qrels.txt").touch()
    # Readline completes in a shell without a terminal too, if it is told to be interactive.
    typed = "berryeval ev\t--prov\tbm\thyb\t\x01echo \nberryeval score my-q\t\x01echo \nexit\n"
    done = subprocess.run(
        [BASH, "--noprofile", "-i"],
        input=typed, cwd=tmp_path, env=home, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "berryeval eval --providers bm25 hybrid" in done.stdout.splitlines()
    assert "berryeval score my-qrels.txt" in done.stdout.splitlines()


def installed(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    assert run(build_app(), ["completion", "install", *arguments]) == 0
    return capsys.readouterr().out.splitlines()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize(("shell", "start"), [("bash", ".bashrc"), ("zsh", ".zshrc")])
def test_the_start_file_is_edited_once(
    shell: str, start: str, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (home / start).write_text("alias x=y", encoding="utf-8")
    script = home / ".local/share/berryeval" / f"completion.{shell}"
    last = f"new {shell} shells complete berryeval"
    wrote = [f"wrote {script}", f"added a line to {home / start}", last]
    assert installed(capsys, shell) == wrote
    text = (home / start).read_text(encoding="utf-8")
    assert text == f"alias x=y\n[ -f {script} ] && . {script}\n"
    assert installed(capsys, shell) == [wrote[0], f"{home / start} reads it already", last]
    assert (home / start).read_text(encoding="utf-8") == text


def test_fish_needs_no_start_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads("\n".join(installed(capsys, "fish", "--json")))["data"]
    script = home / ".config/fish/completions/berryeval.fish"
    assert found == {
        "shell": "fish", "script": str(script), "start": None, "start_changed": False,
    }  # fmt: skip
    assert script.read_text(encoding="utf-8") == write_script("fish")
    assert [one.name for one in home.iterdir()] == [".config"]


def test_the_shell_is_detected(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ZSH_VERSION", "BASH_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FISH_VERSION", "4.0")
    assert installed(capsys)[0] == f"wrote {home / '.config/fish/completions/berryeval.fish'}"


def test_an_unknown_shell_is_an_error(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("ZSH_VERSION", "BASH_VERSION", "FISH_VERSION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    monkeypatch.setenv("PATH", "")  # without ps, the parent process is unknown
    assert run(build_app(), ["completion", "install"]) == 2
    assert "expected bash, zsh or fish; name it: berryeval" in capsys.readouterr().err
    assert not list(home.iterdir())
