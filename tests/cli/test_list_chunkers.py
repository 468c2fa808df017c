"""`berryeval list chunkers`, as a table and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from berryeval.chunkers.catalogue import CHUNKERS, parse_chunker
from berryeval.cli.app import build_app, run

if TYPE_CHECKING:
    import pytest

TABLE = """\
chunker        makes                                               options
fixed-400      windows of a fixed number of characters or tokens   size=400, overlap=0, \
unit=characters, boundary=word
sentence-5     a number of whole sentences                         size=5, overlap=0
section        sections of Markdown, by their headings             max_size=None, empty=keep
whole          whole documents, under their own ids
code-1500      functions and classes of programs, by their syntax  size=1500, language=auto
chonkie-400    the chunkers of Chonkie, their offsets checked      kind=recursive, size=400, \
overlap=0
langchain-400  the text splitters of LangChain, with offsets       kind=recursive, size=400, \
overlap=0
"""


def test_chunkers_are_listed_in_a_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "chunkers"]) == 0
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == TABLE.splitlines()


def test_chunkers_are_listed_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(build_app(), ["list", "chunkers", "--json"]) == 0
    envelope = json.loads(capsys.readouterr().out)
    assert envelope["command"] == "list chunkers"
    found = {facts["name"]: facts for facts in envelope["data"]["chunkers"]}
    assert list(found) == list(CHUNKERS)
    for facts in found.values():
        assert str(parse_chunker(facts["usual"])) == facts["usual"]
    assert found["fixed"]["options"][0] == {
        "name": "size", "default": 400, "wanted": "a whole number of at least 1",
        "text": "maximum length of a chunk",
    }  # fmt: skip
