"""Folders of documents that lie beside judgments."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import pytest

from berryeval import load_benchmark
from berryeval.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval import Benchmark

LINE = b'{"id": "j", "text": "of lines"}\n'
TREC = b"<DOC>\n<DOCNO> t </DOCNO>\n<TEXT>of trec</TEXT>\n</DOC>\n"
LATE = b"<!-- " + b"x" * 5000 + b" -->\n" + TREC


def loaded(folder: Path, files: dict[str, bytes]) -> Benchmark:
    """A benchmark with these files as its corpus."""
    for name, content in files.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "q.csv").write_text("query_id,question,doc_id,grade\nq1,what?,a,1\n")
    return load_benchmark(folder / "q.csv", corpus=folder / "docs")


def test_texts_are_read_and_the_rest_is_left_out(tmp_path: Path) -> None:
    """By their endings, in letters of any case; one remark says how much is left out."""
    files = {
        "a.md": b"# Tea\n", "deep/B.MD": b"# Big\n", "c.markdown": b"# Long\n", "d.txt": b"plain",
        "e.rst": b"Rest\n====\n", "logo.png": b"\x89PNG\r\n\x00\xff", "x.pdf": b"%PDF-1.7\xff",
        "deep/y.docx": b"PK\x03\x04", "Makefile": b"all:\n", ".hidden.png": b"\x89PNG",
    }  # fmt: skip
    made = loaded(tmp_path, files)
    assert {one.id: one.title for one in made.documents} == {
        "a": "Tea", "c": "Long", "d": "", "deep/B": "Big", "e": "",
    }  # fmt: skip
    (remark,) = made.remarks
    assert remark == (
        f"{tmp_path / 'docs'}: 4 files are no text and left out: Makefile, deep/y.docx, logo.png "
        "and 1 more"
    )


@pytest.mark.parametrize(
    "files",
    [
        {"c.jsonl": LINE, "logo.png": b"\x89PNG"},
        {"c.NDJSON": LINE, "readme": b"words"},
        {"c.jsonl.gz": gzip.compress(LINE), "logo.png": b"\x89PNG"},
        {"c.sgml": TREC, "logo.png": b"\x89PNG"},
        {"c.txt": TREC, "logo.png": b"\x89PNG"},
        {"c": LATE, "logo.png": b"\x89PNG"},
        {"c": gzip.compress(TREC), "logo.png": b"\x89PNG"},
    ],
)
def test_collections_are_read_and_the_rest_is_left_out(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    """Whatever they are called."""
    made = loaded(tmp_path, files)
    assert [one.text for one in made.documents] in (["of lines"], ["of trec"])
    assert len(made.remarks) == 1
    assert "1 file is no text and left out: " in made.remarks[0]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"c.jsonl": LINE, "a.md": b"# A"}, r"holds collections \(c.jsonl\) and texts .*\(a.md\)"),
        ({"c.xml": TREC, "a.txt": b"A"}, r"holds collections \(c.xml\) and texts .*\(a.txt\)"),
        ({"logo.png": b"\x89PNG"}, r"holds no documents, expected .*; there is logo\.png"),
        ({"a.md": b"x", "a.TXT": b"y"}, "'a'"),
    ],
)
def test_what_cannot_be_a_corpus_is_said(
    files: dict[str, bytes], message: str, tmp_path: Path
) -> None:
    """With the names of the files."""
    with pytest.raises(DataError, match=message):
        loaded(tmp_path, files)
