"""AutoRAG: `qa.parquet` and `corpus.parquet`. Needs pyarrow.

`retrieval_gt` is a list of lists of passages: each inner list is one target, found with any of its
passages. A plain list has one passage per target; a string is one passage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder
from berryeval.benchmarks.build import read_metadata
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Anchor, Document, Judgment, Query, read_parquet_rows

if TYPE_CHECKING:
    from berryeval._internal.json import Node


QUESTIONS: Final = "qa.parquet"
CORPUS: Final = "corpus.parquet"


def load(source: Source) -> Benchmark:
    """Load the folder."""
    builder = BenchmarkBuilder(source)
    for row in read_parquet_rows(source.path / CORPUS):
        document = Document(
            id=row["doc_id"].id(),
            text=row["contents"].text(),
            metadata=read_metadata(row),
            extra=row.besides("doc_id", "contents", "metadata"),
        )
        builder.add_document(document, row.where)
    for row in read_parquet_rows(source.path / QUESTIONS):
        _add_query(builder, row)
    return builder.build()


def _add_query(builder: BenchmarkBuilder, row: Node) -> None:
    identity = row["qid"].id()
    metadata: dict[str, Any] = row.besides("qid", "query", "retrieval_gt", "generation_gt")
    answers = row.get("generation_gt")
    if answers is not None:
        listed = isinstance(answers.value, list)
        metadata["expected_answer"] = answers.texts() if listed else answers.text()
    builder.add_query(Query(identity, row["query"].text(), metadata=metadata), row.where)
    for number, group in enumerate(_parse_groups(row["retrieval_gt"]), start=1):
        name = str(number) if len(group) > 1 else ""
        for passage in dict.fromkeys(node.id() for node in group):
            judgment = Judgment(identity, Anchor(document=passage), 1, group=name)
            builder.add_judgment(judgment, row.where)


def _parse_groups(truth: Node) -> list[list[Node]]:
    """Return the targets, each a list of interchangeable passages."""
    if not isinstance(truth.value, list):
        return [[truth]]
    return [item.items() if isinstance(item.value, list) else [item] for item in truth.items()]


LOADER = Loader(
    summary="AutoRAG questions and corpus",
    signs=f"{QUESTIONS} and {CORPUS}",
    recognises=lambda source: source.has(QUESTIONS, CORPUS),
    load=load,
)
