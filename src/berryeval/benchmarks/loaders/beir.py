"""BEIR: `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`, packed or not.

Documents take `_id`, `title` and `text`, queries `_id` and `text`; `metadata` and all other fields
are kept. The judgments are those of one split, on whole documents; grades of 0 and below are kept.
As in BEIR itself only the queries that the split judges are asked, and a remark counts the others;
`queries="all"` takes them all.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from berryeval._internal.json import read_json_lines
from berryeval.benchmarks.benchmark import ABOUT
from berryeval.benchmarks.build import Gather, add_judgments, one_choice
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.data import Document, Query, beir_qrels, read_table

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


def load(source: Source, *, split: str | None = None, queries: str = "judged") -> Benchmark:
    """Read the folder.

    Args:
        source: the folder.
        split: which judgments; those of "test", or the only ones there are.
        queries: "judged" for those of the split, "all" for every one in the file.
    """
    one_choice("queries", queries, ("judged", "all"))
    gather = Gather(source)
    path = beir_qrels(source.path, split)
    table = read_table(path, "qrels")
    add_judgments(gather, table)
    judged = set(table.queries)
    _read_documents(source.file("corpus.jsonl"), gather)
    asked = source.file("queries.jsonl")
    left_out = _read_queries(asked, gather, judged if queries == "judged" else None)
    if left_out:
        count = f"{left_out:,} queries are" if left_out > 1 else "a query is"
        gather.remark(f"{asked}: {count} left out, without judgments in {path.name}")
    missing = judged - {query.id for query in gather.queries}
    if missing:
        count = f"{len(missing)} judged queries are" if len(missing) > 1 else "a judged query is"
        gather.remark(f"{path}: {count} not in queries.jsonl: {min(missing)!r}")
    return gather.benchmark(metadata={"split": path.name.split(".")[0]})


def _read_documents(path: Path, gather: Gather) -> None:
    file = os.fspath(path)
    for line, node in read_json_lines(path):
        title = node.get("title")
        document = Document(
            id=node["_id"].id(),
            text=node["text"].text(),
            title="" if title is None else title.text(),
            metadata=_metadata(node),
            extra=node.besides("_id", "text", "title", "metadata"),
        )
        gather.document(document, file, line)


def _read_queries(path: Path, gather: Gather, wanted: set[str] | None) -> int:
    """Gather the queries; how many were not wanted."""
    left_out = 0
    file = os.fspath(path)
    for line, node in read_json_lines(path):
        query = Query(
            id=node["_id"].id(),
            text=node["text"].text(),
            metadata=_metadata(node),
            extra=node.besides("_id", "text", "metadata"),
        )
        if wanted is None or query.id in wanted:
            gather.query(query, file, line)
        else:
            left_out += 1
    return left_out


def _metadata(node: Node) -> dict[str, Any]:
    found = node.get("metadata")
    return {} if found is None else found.object()


LOADER = Loader(
    summary="BEIR folder",
    signs="corpus.jsonl, queries.jsonl and a folder qrels, without benchmark.json",
    recognises=lambda source: (
        source.has("corpus.jsonl", "queries.jsonl")
        and source.has_folder("qrels")
        and not source.has(ABOUT)
    ),
    load=load,
)
