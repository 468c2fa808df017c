"""DeepEval goldens: JSON, or JSON lines.

An array of goldens, alone or under `goldens`, with names in either style (`expected_output`,
`expectedOutput`): `input` is the query, `expected_output` the expected answer, `context` texts that
are relevant with grade 1, `source_file` the source of those texts. `name`, `comments`, metadata,
outputs and retrieved contexts stay in the metadata. Goldens of conversations have no query: they
are left out, and remarked.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from berryeval._internal.json import Node, read_json_lines
from berryeval.benchmarks.build import Gather, add_contexts
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.data import Query

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval._internal.files import PathLike
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


_HUMP: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")


def load(source: Source, *, corpus: PathLike | None = None) -> Benchmark:
    """Read the file.

    Args:
        source: the file.
        corpus: a file or folder with the documents in which the contexts are quotes.
    """
    gather = Gather(source)
    read_corpus(gather, corpus)
    for place, node in enumerate(_goldens(source)):
        _add(gather, _snake(node), str(place + 1), has_corpus=corpus is not None)
    return gather.benchmark()


def _goldens(source: Source) -> Iterable[Node]:
    if source.suffix != ".json":
        return (node for _, node in read_json_lines(source.path))
    return (source.json["goldens"] if source.json.has("goldens") else source.json).items()


def _snake(node: Node) -> Node:
    """The golden with names of one style."""
    fields = {_HUMP.sub(r"_\1", name).lower(): value for name, value in node.object().items()}
    return Node(fields, node.source, node.path)


def _add(gather: Gather, golden: Node, number: str, *, has_corpus: bool) -> None:
    if golden.get("scenario") is not None and golden.get("input") is None:
        gather.remark(f"{golden.where}: a golden of a conversation, left out")
        return
    answer, context = golden.get("expected_output"), golden.get("context")
    extra = golden.get("additional_metadata")
    metadata = golden.besides("input", "expected_output", "context", "additional_metadata")
    metadata = {name: value for name, value in metadata.items() if value is not None}
    if extra is not None:
        metadata = {**extra.object(), **metadata}
    if answer is not None:
        metadata["expected_answer"] = answer.text()
    gather.query(Query(number, golden["input"].text(), metadata=metadata), golden.where)
    texts = [] if context is None else context.items()
    add_contexts(gather, number, texts, None, has_corpus=has_corpus)


def _recognises(source: Source) -> bool:
    if source.json_has("goldens"):
        return True
    beside = ("expected_output", "expectedOutput", "context", "actual_output", "actualOutput")
    return any(source.rows_have("input", name) for name in beside)


LOADER = Loader(
    summary="DeepEval goldens",
    signs="a .json or .jsonl file with input and expected_output or context",
    recognises=_recognises,
    load=load,
)
