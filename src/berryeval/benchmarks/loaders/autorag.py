"""AutoRAG: `qa.parquet` and `corpus.parquet`. Needs pyarrow.

Questions have `qid`, `query`, `retrieval_gt` and `generation_gt`, passages `doc_id`, `contents` and
`metadata`; other columns are kept. `retrieval_gt` is a list of lists of passages: each inner list
is one target, found with any of its passages. A plain list has one passage per target; a string is
one passage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.build import BenchmarkBuilder, read_metadata
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.data import Anchor, Document, Judgment, Query, read_parquet_rows

if TYPE_CHECKING:
    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


QUESTIONS: Final = "qa.parquet"
CORPUS: Final = "corpus.parquet"


def load(source: Source) -> Benchmark:
    """Load the folder."""
    builder = BenchmarkBuilder(source)
    for row in read_parquet_rows(source.path / CORPUS):
        builder.add_document(_parse_document(row), row.where)
    for row in read_parquet_rows(source.path / QUESTIONS):
        _add_query(builder, row)
    return builder.build()


def _parse_document(row: Node) -> Document:
    return Document(
        id=row["doc_id"].id(),
        text=row["contents"].text(),
        metadata=read_metadata(row),
        extra=row.besides("doc_id", "contents", "metadata"),
    )


def _add_query(builder: BenchmarkBuilder, row: Node) -> None:
    identity = row["qid"].id()
    metadata: dict[str, Any] = row.besides("qid", "query", "retrieval_gt", "generation_gt")
    answers = row.get("generation_gt")
    if answers is not None:
        listed = isinstance(answers.value, list)
        metadata["expected_answer"] = answers.texts() if listed else answers.text()
    builder.add_query(Query(identity, row["query"].text(), metadata=metadata), row.where)
    for number, group in enumerate(_parse_groups(row["retrieval_gt"]), start=1):
        several = len(group) > 1
        for passage in dict.fromkeys(node.id() for node in group):
            judgment = Judgment(
                query_id=identity,
                target=Anchor(document=passage),
                grade=1,
                group=str(number) if several else "",
            )
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
