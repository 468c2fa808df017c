"""A benchmark that changes from run to run, and real runs on each of its versions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import berryeval as be
from berryeval.benchmarks import write_benchmark
from berryeval.data.records import Anchor, Document, Judgment, Query
from tests.cli.eval_world import berryeval

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 20
KINDS = ("apple", "pear", "plum", "fig")


def text_of(number: int, more: str = "") -> str:
    """Return a document of two sections."""
    kind = KINDS[number % len(KINDS)]
    return f"# Number {number}\n\nIt is a {kind}.\n\n## Store\n\nKeep item {number} cool.{more}\n"


FRUIT = be.Benchmark(
    "fruit",
    tuple(Document(f"d{n}", text_of(n)) for n in range(COUNT)),
    tuple(Query(f"q{n}", f"number {n} {KINDS[n % 3]}") for n in range(COUNT)),
    tuple(
        Judgment(f"q{n}", Anchor(document=f"d{n}", section=(f"Number {n}", "Store")), 1)
        if n % 2
        else Judgment(f"q{n}", Anchor(document=f"d{n}"), 1)
        for n in range(COUNT)
    ),
)


def with_query(changed: be.Benchmark, number: int, **fields: Any) -> be.Benchmark:
    """Return the benchmark with other fields of one query."""
    queries = list(changed.queries)
    queries[number] = replace(queries[number], **fields)
    return replace(changed, queries=tuple(queries))


def with_text(changed: be.Benchmark, number: int, text: str) -> be.Benchmark:
    """Return the benchmark with another text of one document."""
    documents = list(changed.documents)
    documents[number] = replace(documents[number], text=text)
    return replace(changed, documents=tuple(documents))


def with_judgment(changed: be.Benchmark, number: int, **fields: Any) -> be.Benchmark:
    """Return the benchmark with other fields of one judgment."""
    judgments = list(changed.judgments)
    judgments[number] = replace(judgments[number], **fields)
    return replace(changed, judgments=tuple(judgments))


def with_new_query(changed: be.Benchmark) -> be.Benchmark:
    """Return the benchmark with a further question."""
    more = Query("extra", "where is number 3 kept")
    judged = Judgment("extra", Anchor(document="d3"), 1)
    return replace(
        changed, queries=(*changed.queries, more), judgments=(*changed.judgments, judged)
    )


def with_new_document(changed: be.Benchmark) -> be.Benchmark:
    """Return the benchmark with a further document, which query q5 finds."""
    more = Document("new", "# Number 5 again\n\nThe number 5 plum is number 5.\n")
    return replace(changed, documents=(*changed.documents, more))


def without_query(changed: be.Benchmark, number: int) -> be.Benchmark:
    """Return the benchmark without a query and its judgments."""
    gone = changed.queries[number].id
    return replace(
        changed,
        queries=tuple(one for one in changed.queries if one.id != gone),
        judgments=tuple(one for one in changed.judgments if one.query_id != gone),
    )


def without_documents(changed: be.Benchmark, *numbers: int) -> be.Benchmark:
    """Return the benchmark without these documents; its judgments still name them."""
    gone = {f"d{number}" for number in numbers}
    return replace(changed, documents=tuple(one for one in changed.documents if one.id not in gone))


def evaluate(folder: Path, name: str, data: be.Benchmark, *options: str) -> int:
    """Write the data in place of any earlier ones and run BM25 on them; return the exit code."""
    write_benchmark(data, folder / "fruit")
    providers = () if "--providers" in options else ("--providers", "bm25")
    return berryeval(
        "eval", "--benchmarks", "fruit", *providers, "--metrics", "nDCG@10", "RR",
        "--k", "5", "--output", name, "--export", "none", "--quiet", *options,
    )  # fmt: skip
