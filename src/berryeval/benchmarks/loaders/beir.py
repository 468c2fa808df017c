"""BEIR: `corpus.jsonl`, `queries.jsonl` and `qrels/<split>.tsv`, compressed or not.

As in BEIR, only the queries judged in the split are loaded, with a remark that counts the others;
`queries="all"` loads all of them.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from berryeval._internal.json import read_json_lines
from berryeval._internal.text import pluralize
from berryeval._internal.validate import require_choice
from berryeval.benchmarks.benchmark import ABOUT, Benchmark, BenchmarkBuilder
from berryeval.benchmarks.build import add_judgments, read_metadata, read_optional_text
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Document, Query, find_beir_qrels, read_table
from berryeval.errors import DataError
from berryeval.relevance import explain_ids

_SIDES: Final = ("judged", "queries.jsonl has", "are query and document swapped?")


def load(source: Source, *, split: str | None = None, queries: str = "judged") -> Benchmark:
    """Load the folder.

    Args:
        source: The folder.
        split: Split of the judgments; "test" or the only one by default.
        queries: "judged" for the queries of the split, "all" for every query in the file.
    """
    require_choice("queries", queries, ("judged", "all"))
    builder = BenchmarkBuilder(source)
    path = find_beir_qrels(source.path, split)
    table = read_table(path, "qrels")
    add_judgments(builder, table)
    judged = set(table.queries)
    corpus = source.file("corpus.jsonl")
    for line, node in read_json_lines(corpus):
        title = read_optional_text(node, "title")
        document = Document(
            id=node["_id"].id(),
            text=f"{title} {node['text'].text()}".strip() if title else node["text"].text(),
            title=title,
            metadata=read_metadata(node),
            extra=node.besides("_id", "text", "title", "metadata"),
        )
        builder.add_document(document, os.fspath(corpus), line)
    asked = source.file("queries.jsonl")
    skipped = _read_queries(asked, builder, judged if queries == "judged" else None)
    if skipped and not builder.queries:
        raise DataError(
            f"{path}: judges none of {pluralize(len(skipped), 'query')}: "
            f"{explain_ids(sorted(judged), skipped, sides=_SIDES)}"
        )
    if skipped:
        count = f"{len(skipped):,} queries are" if len(skipped) > 1 else "a query is"
        builder.add_remark(f"{asked}: {count} skipped, without judgments in {path.name}")
    missing = judged - {query.id for query in builder.queries}
    if missing:
        count = f"{len(missing)} judged queries are" if len(missing) > 1 else "a judged query is"
        builder.add_remark(f"{path}: {count} not in queries.jsonl: {min(missing)!r}")
    return builder.build(metadata={"split": path.name.split(".")[0]})


def _read_queries(path: Path, builder: BenchmarkBuilder, wanted: set[str] | None) -> list[str]:
    """Add the wanted queries; return the ids of the others."""
    skipped = []
    file = os.fspath(path)
    for line, node in read_json_lines(path):
        query = Query(
            id=node["_id"].id(),
            text=node["text"].text(),
            metadata=read_metadata(node),
            extra=node.besides("_id", "text", "metadata"),
        )
        if wanted is None or query.id in wanted:
            builder.add_query(query, file, line)
        else:
            skipped.append(query.id)
    return skipped


LOADER = Loader(
    summary="BEIR folder",
    signs="corpus.jsonl, queries.jsonl and a folder qrels, without benchmark.json",
    recognises=lambda source: (
        source.has("corpus.jsonl", "queries.jsonl")
        and source.has_folder("qrels")
        and (any(source.path.glob("qrels/*.tsv*")) or not any(source.path.glob("qrels/*.json*")))
        and not source.has(ABOUT)
    ),
    load=load,
)
