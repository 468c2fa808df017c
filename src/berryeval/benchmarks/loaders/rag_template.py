"""Questions with expected answers and contexts: `questions.json`.

All contexts together are the corpus. There are no judgments: a chunk is relevant if it overlaps
with the answer.
"""

from __future__ import annotations

from typing import Any, Final

from berryeval._internal.json import Node, read_json_node
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder, read_about
from berryeval.benchmarks.build import read_context, read_id, read_metadata, read_texts
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Query

FILE: Final = "questions.json"
_QUESTION: Final = ("question", "query")
_ANSWER: Final = ("expected_answer", "answer")
_CONTEXTS: Final = ("contexts", "documents")
_KNOWN: Final = ("id", *_QUESTION, *_ANSWER, *_CONTEXTS, "category", "difficulty", "description")


def load(source: Source) -> Benchmark:
    """Load the folder, or the file alone."""
    builder = BenchmarkBuilder(source)
    node = read_json_node(source.file(FILE)) if source.is_folder else source.json
    about = read_about(source)
    if node.has("questions"):
        node = node["questions"]
    for number, entry in enumerate(node.items(), start=1):
        _add_query(builder, entry, str(number))
    return builder.build(**about)


def _add_query(builder: BenchmarkBuilder, entry: Node, number: str) -> None:
    kept: dict[str, Any] = dict(read_metadata(entry))
    words: dict[str, Any] = dict(read_texts(entry, "category", "difficulty", "description"))
    for name in ("category", "difficulty"):
        if name not in words and isinstance(kept.get(name), str):
            words[name] = kept.pop(name)
    contexts = []
    for context in entry.one_of(*_CONTEXTS).items():
        document = read_context(context)
        builder.add_document_once(document, context.where)
        contexts.append(document.id)
    kept |= {"expected_answer": entry.one_of(*_ANSWER).text(), "contexts": contexts}
    query = Query(
        id=read_id(entry, number),
        text=entry.one_of(*_QUESTION).text(),
        **words,
        metadata=kept,
        extra=entry.besides(*_KNOWN, "metadata"),
    )
    builder.add_query(query, entry.where)


def _recognises(source: Source) -> bool:
    if source.is_folder:
        return source.has(FILE)
    contexts = any(source.rows_have("question", "expected_answer", name) for name in _CONTEXTS)
    return contexts or source.json_has("questions")


LOADER = Loader(
    summary="questions with expected answers and contexts",
    signs=f"{FILE}, or a .json file with question, expected_answer and contexts",
    recognises=_recognises,
    load=load,
)
