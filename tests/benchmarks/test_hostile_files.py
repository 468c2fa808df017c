"""Long hostile collections and topics are read, or rejected, in linear time.

A slow reader would not end before the suite is stopped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from berryeval.benchmarks.documents import read_trec_documents
from berryeval.benchmarks.loaders.trec import read_topics
from berryeval.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

LENGTH = 100_000
NAMES = [f"a{number}" for number in range(LENGTH // 10)]


@pytest.mark.parametrize(
    "body",
    ["<DOCNO>" + " " * LENGTH, "<DOCNO>" * LENGTH, "<DOC>" * LENGTH, "<" * LENGTH],
)
def test_a_hostile_document_is_rejected(body: str, tmp_path: Path) -> None:
    (tmp_path / "c.trec").write_text(f"<DOC>{body}</DOC>")
    with pytest.raises(DataError, match=r"c\.trec:1: <DOC> has no"):
        list(read_trec_documents(tmp_path / "c.trec"))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<TEXT>" * LENGTH, ""),
        ("<TEXT>" + "<" * LENGTH + "</TEXT>", "<" * LENGTH),
        ("<TEXT>&#" + "9" * LENGTH + ";</TEXT>", "\ufffd"),
    ],
)
def test_a_hostile_text_is_read(body: str, text: str, tmp_path: Path) -> None:
    (tmp_path / "c.trec").write_text(f"<DOC><DOCNO>1</DOCNO>{body}</DOC>")
    ((document, _),) = read_trec_documents(tmp_path / "c.trec")
    assert document.text == text


@pytest.mark.parametrize("part", ["<topic", "<top>", "<!--", "<!DOCTYPE[", "<!DOCTYPE "])
def test_hostile_topics_are_rejected(part: str) -> None:
    with pytest.raises(DataError, match=r"^t:1: (text outside|topic without)"):
        list(read_topics(part * LENGTH, "t"))


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<title>x" + "<b>" * LENGTH + "</b>" * LENGTH + "</title>", "x"),
        ("<title>x" + "</b>" * LENGTH + "</title>", "x"),
        ("<title>x</title>" + "".join(f"<{name}>" for name in NAMES), "x"),
        ("".join(f"<{name}>" for name in NAMES) + "<title>x</title>", "x"),
        ("<title>&#" + "9" * LENGTH + ";", "\ufffd"),
    ],
)
def test_a_hostile_topic_is_read(body: str, title: str) -> None:
    (topic,) = read_topics(f"<top><num>1</num>{body}</top>", "t")
    assert topic.fields["title"] == [title]
