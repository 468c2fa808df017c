"""Every help page ends with an example, and the examples work as they are typed."""

from __future__ import annotations

import csv
import io
import shlex
import sys
from pathlib import Path

import pytest

from berryeval.cli.app import build_app, run
from tests.cli.commands import COMMANDS, GROUPS
from tests.cli.eval_world import COFFEE, TEA, WATER, berryeval

ALIAS = ("evaluate",)  # of eval
PAGES = [(), *((group,) for group in GROUPS), *COMMANDS, ("trec-eval",)]
PAGES.remove(ALIAS)
# Examples that need something else than this machine, or run until they are interrupted.
ELSEWHERE = {
    "serve": "runs until it is interrupted: tests/web/test_server.py",
    "judge llm": "asks a language model: tests/cli/test_judge_llm.py",
    "runs push": "sends to a server: tests/web/test_api_push.py",
}
# In the order of a job; the others follow.
FIRST = (
    "eval", "baseline set", "judge pool", "judge next", "judge export", "judge import",
)  # fmt: skip
QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
RUN = "q1 Q0 d1 1 9 x\nq1 Q0 d2 2 8 x\nq2 Q0 d3 1 7 x\n"


def read_example(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> str:
    """Return the last line of a help page as an 80 column terminal shows it."""
    run(build_app(), [*words, "--help"])
    last, head = capsys.readouterr().out.rstrip().splitlines()[:-3:-1]
    assert head.strip() == "Example:", words
    return last.strip()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder with the files that the examples name."""
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("COLUMNS", "80")
    Path("docs").mkdir()
    for name, text in (("tea", TEA), ("coffee", COFFEE), ("water", WATER)):
        Path("docs", f"{name}.md").write_text(text, encoding="utf-8")
    Path("qrels.txt").write_text(QRELS, encoding="utf-8")
    for name in ("bm25.run", "dense.run"):
        Path(name).write_text(RUN, encoding="utf-8")
    assert berryeval("eval", "technical-docs", "--providers", "bm25", "--quiet") == 0
    return tmp_path


def fill_in(sheet: Path) -> None:
    """Give every pair of a sheet the grade 1."""
    with sheet.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    place = rows[0].index("grade")
    with sheet.open("w", encoding="utf-8", newline="") as file:
        filled = [[*row[:place], "1", *row[place + 1 :]] for row in rows[1:]]
        csv.writer(file).writerows([rows[0], *filled])


def test_every_example_works_as_typed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A help page ends with a command that works in a folder with the files it names."""
    examples = {" ".join(words): read_example(capsys, words) for words in PAGES}
    for command, line in examples.items():
        assert line.startswith(f"berryeval {command}".rstrip())
        assert len(line) <= 80
    done = {*FIRST, *ELSEWHERE}
    for command in [*FIRST, *(one for one in examples if one not in done)]:
        monkeypatch.setattr(sys, "stdin", io.StringIO("1\n1\n"))
        code = berryeval(*shlex.split(examples[command])[1:])
        assert code == 0, (examples[command], capsys.readouterr().err)
        if command == "judge export":
            fill_in(folder / "ann.csv")
            for judge, kind in (("ben", "human"), ("my-model", "llm")):
                assert (
                    berryeval("judge", "import", "ann.csv", "--judge", judge, "--kind", kind) == 0
                )
    assert set(ELSEWHERE) <= set(examples)
