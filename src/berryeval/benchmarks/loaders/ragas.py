"""RAGAS: testsets and evaluation sets of single questions, as JSON lines, JSON, CSV or Parquet.

Reference contexts are relevant with grade 1: each is a document, or with `corpus` a quote in it;
ids without texts are chunk ids. Multi-turn samples are rejected.
"""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.json import Node, read_json_lines
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder
from berryeval.benchmarks.build import add_contexts, read_items, read_optional_text
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loading import PARQUET, TABLES, Loader, Source
from berryeval.data import Query, read_parquet_rows, read_rows
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike


_QUESTION: Final = ("user_input", "question")
_ANSWER: Final = ("reference", "ground_truth")
_CONTEXTS: Final = ("reference_contexts", "contexts")
_CATEGORY: Final = ("synthesizer_name", "evolution_type")
_LISTS: Final = (
    *_CONTEXTS, "reference_context_ids", "retrieved_contexts", "retrieved_context_ids"
)  # fmt: skip
_BLANK: Final = {
    tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER, tokenize.INDENT, tokenize.DEDENT
}  # fmt: skip


def load(source: Source, *, corpus: PathLike | None = None) -> Benchmark:
    """Load the file; `corpus` is a file or folder with the documents that contexts quote."""
    builder = BenchmarkBuilder(source)
    read_corpus(builder, corpus)
    for place, row in enumerate(_read_rows(source)):
        _add_row(builder, row, str(place + 1), has_corpus=corpus is not None)
    return builder.build()


def _read_rows(source: Source) -> Iterable[Node]:
    if source.suffix == ".json":
        return source.json.items()
    if source.suffix in PARQUET:
        return read_parquet_rows(source.path)
    if source.suffix in TABLES:
        return _read_csv_rows(source)
    return (node for _, node in read_json_lines(source.path))


def _read_csv_rows(source: Source) -> Iterator[Node]:
    for row in read_rows(source.path):
        value: dict[str, Any] = {name: cell or None for name, cell in row.cells.items()}
        for name in _LISTS:
            if value.get(name) is not None:
                value[name] = _parse_strings(value[name], f"{row.where}: {name}")
        yield Node(value, row.where)


def _parse_strings(cell: str, where: str) -> list[str]:
    """Parse a list of strings as Python or NumPy prints it, with or without commas."""
    problem = f"{where}: expected a list of strings such as ['a', 'b'], found {cell[:60]!r}"
    try:
        tokens = tokenize.generate_tokens(io.StringIO(cell.strip()).readline)
        first, *inside, last = [token for token in tokens if token.type not in _BLANK]
        strings = [token.string for token in inside if token.type == tokenize.STRING]
        marks = {token.string for token in inside if token.type != tokenize.STRING}
        if [first.string, last.string] != ["[", "]"] or marks - {","}:
            raise DataError(problem)
        found = [ast.literal_eval(string) for string in strings]
    except (tokenize.TokenError, SyntaxError, ValueError) as error:
        raise DataError(problem) from error
    if not all(isinstance(item, str) for item in found):
        raise DataError(problem)
    return found


def _add_row(builder: BenchmarkBuilder, row: Node, number: str, *, has_corpus: bool) -> None:
    answer = row.get(*_ANSWER)
    ids = row.get("reference_context_ids")
    metadata = row.besides(*_QUESTION, *_ANSWER, *_CONTEXTS, *_CATEGORY, "reference_context_ids")
    if answer is not None:
        metadata["expected_answer"] = answer.text()
    query = Query(
        id=number,
        text=row.one_of(*_QUESTION).text(),
        category=read_optional_text(row, *_CATEGORY),
        metadata={name: value for name, value in metadata.items() if value is not None},
    )
    builder.add_query(query, row.where)
    named = None if ids is None else ids.items()
    add_contexts(builder, number, read_items(row, *_CONTEXTS), named, has_corpus=has_corpus)


def _recognises(source: Source) -> bool:
    return any(
        source.rows_have(*names) or source.columns_have(*names)
        for names in (("user_input",), ("question", "ground_truth"))
    )


LOADER = Loader(
    summary="RAGAS testset",
    signs="rows (.jsonl, .json, .csv, .parquet) with user_input, or question and ground_truth",
    recognises=_recognises,
    load=load,
)
