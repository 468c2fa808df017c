"""AutoRAG: `qa.parquet` and `corpus.parquet`. Needs pyarrow.

Of the questions `qid`, `query`, `retrieval_gt` and `generation_gt` are taken, of the corpus
`doc_id`, `contents` and `metadata`; other columns are kept. `retrieval_gt` is a list of lists of
passages: each inner list is one target, found with any of its passages, and all of them are wanted.
A plain list is one passage per target; a string is one passage.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.build import Gather
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.data import Anchor, Document, Judgment, Query, read_parquet_rows

if TYPE_CHECKING:
    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


QUESTIONS: Final = "qa.parquet"
CORPUS: Final = "corpus.parquet"


def load(source: Source) -> Benchmark:
    """Read the folder."""
    gather = Gather(source)
    for row in read_parquet_rows(source.path / CORPUS):
        gather.document(_document(row), row.where)
    for row in read_parquet_rows(source.path / QUESTIONS):
        _add(gather, row)
    return gather.benchmark()


def _document(row: Node) -> Document:
    metadata = row.get("metadata")
    return Document(
        id=row["doc_id"].id(),
        text=row["contents"].text(),
        metadata={} if metadata is None else metadata.object(),
        extra=row.besides("doc_id", "contents", "metadata"),
    )


def _add(gather: Gather, row: Node) -> None:
    identity = row["qid"].id()
    metadata: dict[str, Any] = row.besides("qid", "query", "retrieval_gt", "generation_gt")
    answers = row.get("generation_gt")
    if answers is not None:
        listed = isinstance(answers.value, list)
        metadata["expected_answer"] = answers.texts() if listed else answers.text()
    gather.query(Query(identity, row["query"].text(), metadata=metadata), row.where)
    for number, group in enumerate(_groups(row["retrieval_gt"]), start=1):
        several = len(group) > 1
        for passage in dict.fromkeys(node.id() for node in group):
            judgment = Judgment(
                query_id=identity,
                target=Anchor(document=passage),
                grade=1,
                group=str(number) if several else "",
            )
            gather.judgment(judgment, row.where)


def _groups(truth: Node) -> list[list[Node]]:
    """Targets, each a list of passages any of which will do."""
    if not isinstance(truth.value, list):
        return [[truth]]
    return [item.items() if isinstance(item.value, list) else [item] for item in truth.items()]


LOADER = Loader(
    summary="AutoRAG questions and corpus",
    signs=f"{QUESTIONS} and {CORPUS}",
    recognises=lambda source: source.has(QUESTIONS, CORPUS),
    load=load,
)
