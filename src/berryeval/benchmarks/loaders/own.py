"""Our own form: a folder with a file for each kind of record.

`benchmark.json` names the benchmark (name, version, description, pack, thresholds, metadata);
`queries.jsonl` and `judgments.jsonl` hold a record per line; the corpus is `documents.jsonl` or a
folder `documents` of Markdown and text files. Records keep the fields we do not know.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from berryeval.benchmarks.about import ABOUT, read_about
from berryeval.benchmarks.gather import Gather
from berryeval.benchmarks.loaders import Loader
from berryeval.benchmarks.texts import read_text_documents
from berryeval.errors import DataError
from berryeval.io.json_text import read_json_lines
from berryeval.records import Document, Judgment, Query

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.source import Source

__all__ = ["LOADER", "load", "read_documents"]


def load(source: Source) -> Benchmark:
    """Read the folder."""
    about = read_about(source)
    gather = Gather(source)
    read_documents(source, gather)
    path = source.file("queries.jsonl")
    for line, node in read_json_lines(path):
        gather.query(node.record(Query), os.fspath(path), line)
    if source.has("judgments.jsonl"):
        path = source.file("judgments.jsonl")
        for line, node in read_json_lines(path):
            gather.judgment(node.record(Judgment), os.fspath(path), line)
    return gather.benchmark(**about)


def read_documents(source: Source, gather: Gather) -> None:
    """The corpus: a file of records, or a folder of texts, not both."""
    records, texts = source.has("documents.jsonl"), source.has_folder("documents")
    if records and texts:
        msg = f"{source.name}: has documents.jsonl and a folder documents; keep one of them"
        raise DataError(msg)
    if texts:
        for document, path in read_text_documents(source.path / "documents"):
            gather.document(document, path)
        return
    _read_records(source.file("documents.jsonl"), gather)


def _read_records(path: Path, gather: Gather) -> None:
    file = os.fspath(path)
    for line, node in read_json_lines(path):
        gather.document(node.record(Document), file, line)


LOADER = Loader(
    summary="our own folder of records",
    signs=f"{ABOUT} and queries.jsonl",
    recognises=lambda source: source.has(ABOUT, "queries.jsonl"),
    load=load,
)
