"""DeepEval goldens: JSON, alone or under `goldens`, or JSON lines.

Names are in either style (`expected_output`, `expectedOutput`). Conversational goldens have no
query; they are skipped, with a remark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from berryeval._internal.json import Node, read_json_lines
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder
from berryeval.benchmarks.build import add_contexts, read_items
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Query

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike


_HUMP: Final = re.compile(r"(?<=[a-z0-9])([A-Z])")


def load(source: Source, *, corpus: PathLike | None = None) -> Benchmark:
    """Load the file; `corpus` is a file or folder with the documents that the contexts quote."""
    builder = BenchmarkBuilder(source)
    read_corpus(builder, corpus)
    for place, node in enumerate(_read_goldens(source)):
        # names in snake case
        fields = {_HUMP.sub(r"_\1", name).lower(): value for name, value in node.object().items()}
        golden = Node(fields, node.source, node.path)
        _add_golden(builder, golden, str(place + 1), has_corpus=corpus is not None)
    return builder.build()


def _read_goldens(source: Source) -> Iterable[Node]:
    if source.suffix != ".json":
        return (node for _, node in read_json_lines(source.path))
    return (source.json["goldens"] if source.json.has("goldens") else source.json).items()


def _add_golden(builder: BenchmarkBuilder, golden: Node, number: str, *, has_corpus: bool) -> None:
    if golden.get("scenario") is not None and golden.get("input") is None:
        builder.add_remark(f"{golden.where}: conversational golden, skipped")
        return
    answer, extra = golden.get("expected_output"), golden.get("additional_metadata")
    metadata = golden.besides("input", "expected_output", "context", "additional_metadata")
    metadata = {name: value for name, value in metadata.items() if value is not None}
    if extra is not None:
        metadata = {**extra.object(), **metadata}
    if answer is not None:
        metadata["expected_answer"] = answer.text()
    builder.add_query(Query(number, golden["input"].text(), metadata=metadata), golden.where)
    add_contexts(builder, number, read_items(golden, "context"), None, has_corpus=has_corpus)


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
