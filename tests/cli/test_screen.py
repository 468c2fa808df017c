"""Untrusted text on a screen: control characters, direction marks and encodings."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from berryeval._internal.text import escape_controls
from berryeval.benchmarks import write_benchmark
from tests.cli.eval_world import DRINKS, berryeval, enter_folder

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
    enter_folder(tmp_path, monkeypatch)
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


CANARY = "\n::add-mask::x\r\x1b[2J\u2028 ##[group]"
ALL = (
    ("eval", "--by", "category", "--where-it-fails", "--output", "again", "--verbose"),
    ("eval", "--output", "gated", "--fail-below", "RR=1", "--json"),
    ("eval", "--output", "shown", "--export", "github", "junit", "--tag", f"why={CANARY}"),
    ("eval", "--providers", CANARY, "--debug"),
    ("eval", "--output", CANARY),
    ("gate", "run", "--fail-below", "RR=1"),
    ("gate", "run", "--fail-below", "RR=1", "--export", "junit", "--output", "-"),
    ("gate", "run", "--fail-below", "RR=1", "--json"),
    ("baseline", "set", "run", "--output", "baseline.json"),
    ("baseline", "set", "run", "--output", "-"),
    ("baseline", "show", "baseline.json"),
    ("baseline", "diff", "run", "--baseline", "baseline.json"),
    ("compare", "run", "again", "--by", "category"),
    *(("compare", "run", "again", "--format", name) for name in ("markdown", "latex", "json")),
    *(
        ("report", "run", "--format", name, "--output", "-")
        for name in ("markdown", "latex", "json", "junit", "html", "github")
    ),
    ("report", CANARY),
    ("inspect", "drinks", "--query", f"q1{CANARY}"),
    ("inspect", "drinks"),
    ("validate", "drinks", "--all"),
    ("runs", "list"),
    ("runs", "list", "--provider", CANARY),
    ("runs", "show", "run", "--worst", "3"),
    ("runs", "show", "run", "--json"),
    ("runs", "trend", "RR"),
    ("runs", "trend", "RR", "--format", "csv", "--output", "-"),
    ("runs", "trend", "RR", "--tag", CANARY),
    ("runs", "export", "run"),
    ("runs", "export", "--all", f"out{CANARY}"),
    ("runs", "import", "run", "--store", f"new{CANARY}.db"),
    ("runs", "rescore", "run", "-m", "RR", "--per-query"),
    ("runs", "prune", "--keep", "0", "--dry-run"),
    ("score", "qrels.json", "run.json", "-m", "AP", "--per-query", "--audit"),
    ("score", "qrels.json", "run.json", "-m", "AP", "--per-query", "--trec-format"),
    ("score", "qrels.json", "run.json", "-m", "AP", "--per-query", "--csv", "--by", "by.json"),
    ("score", "qrels.json", f"{CANARY}.json", "-m", "AP"),
    ("trec-eval", f"{CANARY}.txt", "run.json"),
    ("init", f"docs{CANARY}", "--force"),
    ("list", "providers", CANARY),
    ("version", CANARY),
)


@pytest.fixture
def _in_a_folder_with_canaries(_in_a_folder_with_evil_drinks: None) -> None:
    first, *others = DRINKS.queries
    queries = (
        replace(first, id=f"q1{CANARY}", text=f"::error::tea{CANARY}", category=CANARY),
        *others,
    )
    judgments = tuple(
        replace(one, query_id=f"q1{CANARY}") if one.query_id == "q1" else one
        for one in DRINKS.judgments
    )
    drinks = replace(DRINKS, name=f"::error::{CANARY}", queries=queries, judgments=judgments)
    write_benchmark(drinks, "drinks")
    names = [f"::error::{CANARY}", f"two{CANARY}"]
    providers = [{"type": "bm25", "name": name} for name in names]
    config = {"benchmarks": ["drinks"], "providers": providers, "export": ["none"]}
    Path("berryeval.yaml").write_text(json.dumps(config), encoding="utf-8")
    for name, scores in (("qrels", {"tea": 1}), ("run", {"tea": 0.5, CANARY: 0.5})):
        Path(f"{name}.json").write_text(json.dumps({CANARY: scores, "::q": scores}))
    Path("by.json").write_text(json.dumps({CANARY: CANARY}))
    Path(f"docs{CANARY}").mkdir()
    Path(f"docs{CANARY}", "tea.md").write_text(f"# Tea {CANARY}", encoding="utf-8")


@pytest.mark.usefixtures("_in_a_folder_with_canaries")
@pytest.mark.parametrize("on_github", [False, True])
def test_no_name_becomes_a_command_of_a_log(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, on_github: bool
) -> None:
    if on_github:
        monkeypatch.setenv("GITHUB_ACTIONS", "true")
        monkeypatch.setenv("GITHUB_STEP_SUMMARY", "summary.md")
    wanted = [one for one in ALL if not on_github or one[0] in {"eval", "gate"}]
    berryeval("eval", "--output", "run", "--verbose")
    for command in wanted:
        assert berryeval(*command) in {0, 1, 2}, command
        printed = capfd.readouterr()
        for line in (printed.out + printed.err).splitlines():
            ours = re.match(r"::(error|warning) title=Retrieval (quality|run failed)[^:]*::", line)
            assert ours or not line.lstrip().startswith("::"), (command, line)
            assert "##[" not in line, (command, line)
            assert not STEERING.search(line), (command, line)


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
