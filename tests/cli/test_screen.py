"""Untrusted text on a screen: control characters, direction marks and encodings."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from berryeval._internal.text import escape_controls
from berryeval.benchmarks import write_benchmark
from tests.cli.eval_world import DRINKS, berryeval

EVIL = "\x1b[2J\x07\x9b1m\u202edrow\u2066"
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
COMMANDS = (
    ("eval", "--by", "category", "--where-it-fails", "--output", "again"),
    ("runs", "show", "run"),
    ("runs", "list"),
    ("runs", "trend", "RR"),
    ("runs", "rescore", "run", "-m", "RR", "--per-query"),
    ("compare", "run", "again"),
    ("inspect", "drinks"),
    ("validate", "drinks"),
    ("runs", "list", "--provider", EVIL),
    ("report", EVIL),
)


@pytest.fixture(autouse=True)
def _in_a_folder_with_evil_drinks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in list(os.environ):
        if name.startswith("BERRYEVAL_") and name != "BERRYEVAL_BACKEND":
            monkeypatch.delenv(name)
    first, *others = DRINKS.queries
    odd = replace(first, text=f"tea → {EVIL}", category=f"{EVIL}é")
    write_benchmark(replace(DRINKS, name=f"drinks{EVIL}", queries=(odd, *others)), "drinks")
    providers = [{"type": "bm25", "name": f"one{EVIL}"}, {"type": "bm25", "name": "tw\u00f6"}]
    config = {"benchmarks": ["drinks"], "providers": providers, "export": ["none"]}
    Path("berryeval.yaml").write_text(json.dumps(config), encoding="utf-8")


def test_control_characters_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("eval", "--output", "run", "--verbose") == 0
    capsys.readouterr()
    for command in COMMANDS:
        berryeval(*command)
        printed = capsys.readouterr()
        assert not STEERING.search(printed.out + printed.err), command
        ways = (escape_controls("[2J\x07"), repr("[2J\x07")[1:-1])  # shown, or quoted in a message
        named = any(way in printed.out + printed.err for way in ways)
        assert named or command[0] in {"validate", "inspect"}, command


def test_columns_are_aligned(capsys: pytest.CaptureFixture[str]) -> None:
    assert berryeval("eval", "--output", "run", "--metrics", "RR") == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if line.startswith("provider"))
    rows = [line for line in lines if line.startswith(("one", "tw"))]
    assert rows[0].startswith(f"one{escape_controls(EVIL)}  ")
    assert {line.index(" 0.") + 1 for line in rows} == {head.index("RR")}


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "utf-8"])
def test_any_stdout_encoding_works(encoding: str, clean_environment: dict[str, str]) -> None:
    commands = (
        ("eval", "--output", "run", "--where-it-fails"),
        ("runs", "show", "run", "--json"),
        ("runs", "export", "run"),
    )
    script = (
        "import sys\n"
        "from berryeval.cli.app import build_app, run\n"
        f"for command in {commands!r}:\n"
        "    if run(build_app(), command):\n"
        "        sys.exit(f'failed: {command}')\n"
        "    sys.stdout.flush()\n"
        "    sys.stdout.buffer.write(bytes(1))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, check=False,
        env={**clean_environment, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plain, summary, record, _ = done.stdout.split(bytes(1))
    assert "tw\u00f6".encode(encoding, errors="backslashreplace") in plain
    assert "tea \u2192".encode(encoding, errors="backslashreplace") in plain
    shown = json.loads(summary)["data"]["benchmarks"][0]
    assert [one["provider"] for one in shown["providers"]] == [f"one{EVIL}", "tw\u00f6"]
    assert json.loads(record.decode("utf-8")) == json.loads(
        Path("run/run.json").read_text(encoding="utf-8")
    )
