"""The session of docs/judging.md, command by command, with other documents."""

from __future__ import annotations

import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.eval_world import COFFEE, TEA, WATER, berryeval

if TYPE_CHECKING:
    import pytest

PAGE = Path(__file__).parents[2] / "docs" / "judging.md"
QUESTIONS = """\
query_id,question,doc_id,grade
q1,How hot is green tea?,tea,1
q2,What pressure has espresso?,coffee,1
q3,When does water boil on a mountain?,water,1
"""


def test_the_session_works_as_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("docs").mkdir()
    for name, text in (("tea", TEA), ("coffee", COFFEE), ("water", WATER)):
        Path("docs", f"{name}.md").write_text(text, encoding="utf-8")
    block = re.search(
        r"## A session.*?```sh\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
    )
    assert block is not None
    commands = [shlex.split(line, comments=True) for line in block[1].splitlines()]
    assert len(commands) > 8
    keys = {"ann": "2\n0\n", "ben": "2\n1\n", "cy": "1\n" * 9}
    said = []
    for words in commands:
        judge = words[words.index("--judge") + 1] if "--judge" in words else ""
        monkeypatch.setattr(sys, "stdin", io.StringIO(keys.get(judge, "")))
        assert berryeval(*words[1:]) == 0, words
        if words[1] == "init":
            Path("questions.csv").write_text(QUESTIONS, encoding="utf-8")
        said.append(capsys.readouterr().out)
    assert "2 pairs judged" in said[3]
    assert "1 pair to adjudicate" in said[5]
    assert "1 pair judged" in said[6]
    assert "with 2 judgments of 3 judges from questions.judged" in said[7]
    assert said[1].splitlines()[3] != said[7].splitlines()[3]
    assert berryeval("runs", "list", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["data"]["runs"]) == 1
