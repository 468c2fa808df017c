"""Folders of documents as a corpus."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import zstandard

from berryeval import load_benchmark
from berryeval._internal.files import read_beginning
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval import Benchmark

LINE = b'{"id": "j", "text": "of lines"}\n'
TREC = b"<DOC>\n<DOCNO> t </DOCNO>\n<TEXT>of trec</TEXT>\n</DOC>\n"
HEADED = b'\xef\xbb\xbf<?xml version="1.0"?>\n<!DOCTYPE all [ <!ELEMENT x ANY> ]>\n<all>' + TREC
LATE = b"<!-- " + b"x" * 5000 + b" -->\n" + TREC


def loaded(folder: Path, files: dict[str, bytes]) -> Benchmark:
    """Load a benchmark with these files as its corpus."""
    for name, content in files.items():
        path = folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    (folder / "q.csv").write_text("query_id,question,doc_id,grade\nq1,what?,a,1\n")
    return load_benchmark(folder / "q.csv", corpus=folder / "docs")


def test_texts_load_and_other_files_are_skipped(tmp_path: Path) -> None:
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
        f"{tmp_path / 'docs'}: 4 files are not text and skipped: Makefile, deep/y.docx, logo.png "
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
        {"c": TREC.lower(), "logo.png": b"\x89PNG"},
        {"c.xml": HEADED, "logo.png": b"\x89PNG"},
        {"c.zst": zstandard.compress(TREC), "logo.png": b"\x89PNG"},
        {"c": gzip.compress(TREC), "logo.png": b"\x89PNG"},
    ],
)
def test_collections_load_and_other_files_are_skipped(
    files: dict[str, bytes], tmp_path: Path
) -> None:
    made = loaded(tmp_path, files)
    assert [one.text for one in made.documents] in (["of lines"], ["of trec"])
    assert len(made.remarks) == 1
    assert "1 file is not text and skipped: " in made.remarks[0]


@pytest.mark.parametrize(
    "stray",
    [
        {"x.gz": b"no gzip"},
        {"x.gz": b""},
        {"x": b"\x1f\x8b" + b"damaged"},
        {"x.zst": b"no zstd"},
        {"page.html": b"<!DOCTYPE html>\n<html>\n<p>A <DOC> is <b><doc></b>.</p></html>"},
        {"Lib.xml": b'<?xml version="1.0"?>\n<doc>\n  <assembly/>\n</doc>\n'},
        {"log": b"read <DOC> 1\n"},
        {"film": b"<!-- " + b"x" * 20_000 + b" -->" + TREC},  # only the beginning is read
    ],
)
@pytest.mark.parametrize("documents", [{"a.md": b"# A\n\nA <DOC> begins.\n"}, {"c.jsonl": LINE}])
def test_one_stray_file_does_not_stop_a_corpus(
    documents: dict[str, bytes], stray: dict[str, bytes], tmp_path: Path
) -> None:
    made = loaded(tmp_path, {**documents, **stray})
    assert len(made.documents) == 1
    assert made.remarks == (
        f"{tmp_path / 'docs'}: 1 file is not text and skipped: {next(iter(stray))}",
    )


@pytest.mark.parametrize("name", ["x", "x.md", "x.jsonl"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_only_regular_files_are_read(kind: str, name: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    if kind == "link":
        (tmp_path / "docs" / name).symlink_to(tmp_path / "gone")
    else:
        os.mkfifo(tmp_path / "docs" / name)
    made = loaded(tmp_path, {"a.md": b"# A\n"})
    assert [one.id for one in made.documents] == ["a"]
    assert made.remarks == (f"{tmp_path / 'docs'}: 1 file is not text and skipped: {name}",)


@pytest.mark.parametrize("packed", [False, True])
def test_only_the_beginning_of_a_large_file_is_read(packed: bool, tmp_path: Path) -> None:
    content = b"x" * 100_000
    (tmp_path / "film").write_bytes(gzip.compress(content, 0) if packed else content)
    assert read_beginning(tmp_path / "film", 1000) == content[: 1000 - 10 - 5 if packed else 1000]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        (
            {"c.jsonl": LINE, "a.md": b"# A"},
            r"collections \(c.jsonl\) and single texts \(a.md\)",
        ),
        ({"c.xml": TREC, "a.txt": b"A"}, r"has collections \(c.xml\) and single texts \(a.txt\)"),
        ({"logo.png": b"\x89PNG"}, r"has no documents; expected .*; found logo\.png"),
        ({"a.md": b"x", "a.TXT": b"y"}, "'a'"),
    ],
)
def test_an_invalid_corpus_is_rejected_with_its_files(
    files: dict[str, bytes], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=message):
        loaded(tmp_path, files)


def test_front_matter_whose_aliases_multiply_is_no_front_matter(tmp_path: Path) -> None:
    tens = (f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 10))
    front = "\n".join(["---", "a0: &a0 [x, x]", *tens, "language: de", "---", "# Tea"])
    benchmark = loaded(tmp_path, {"a.md": front.encode()})
    assert [document.metadata for document in benchmark.documents] == [{}]


def test_links_that_lead_out_of_a_corpus_are_skipped(tmp_path: Path) -> None:
    """Links inside are read; no link to a folder is followed, so a loop ends."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (tmp_path / "secret.md").write_text("# Secret\n")
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "other.md").write_text("# Other\n")
    (docs / "out.md").symlink_to(tmp_path / "secret.md")
    (docs / "up.md").symlink_to(Path("..", "secret.md"))
    (docs / "more").symlink_to(tmp_path / "more")
    (docs / "loop").symlink_to(docs)
    (docs / "self.md").symlink_to("self.md")
    (docs / "b.md").symlink_to("a.md")
    made = loaded(tmp_path, {"a.md": b"# A\n"})
    assert [one.id for one in made.documents] == ["a", "b"]
    assert made.remarks == (
        f"{docs}: 3 links are skipped, leading out of the folder: more, out.md, up.md",
        f"{docs}: 1 file is not text and skipped: self.md",
    )
