"""RAGAS: testsets and evaluation sets of single questions, as JSON lines, JSON, CSV or Parquet.

Fields are `user_input` (formerly `question`), `reference` (`ground_truth`), `reference_contexts`
(`contexts`) and `reference_context_ids`; `synthesizer_name` (`evolution_type`) is the category.
Answers and retrieved contexts of a system stay in the metadata. Reference contexts are relevant
with grade 1: each is a document, or with `corpus` a quote in it; ids without texts are chunk ids.
Multi-turn samples are rejected.
"""

from __future__ import annotations

import ast
import io
import tokenize
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.json import Node, read_json_lines
from berryeval.benchmarks.build import BenchmarkBuilder, add_contexts, read_optional_text
from berryeval.benchmarks.documents import read_corpus
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.benchmarks.loading import PARQUET, TABLES
from berryeval.data import Query, read_parquet_rows, read_rows
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from berryeval._internal.files import PathLike
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


_QUESTION: Final = ("user_input", "question")
_ANSWER: Final = ("reference", "ground_truth")
_CONTEXTS: Final = ("reference_contexts", "contexts")
_CATEGORY: Final = ("synthesizer_name", "evolution_type")
_LISTS: Final = (
    *_CONTEXTS, "reference_context_ids", "retrieved_contexts", "retrieved_context_ids"
)  # fmt: skip
_BLANK: Final = {
    tokenize.NEWLINE,
    tokenize.NL,
    tokenize.ENDMARKER,
    tokenize.INDENT,
    tokenize.DEDENT,
}


def load(source: Source, *, corpus: PathLike | None = None) -> Benchmark:
    """Load the file.

    Args:
        source: The file.
        corpus: File or folder with the documents that the reference contexts quote.
    """
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
        tokens = list(tokenize.generate_tokens(io.StringIO(cell.strip()).readline))
        words = [token for token in tokens if token.type not in _BLANK]
        inside = words[1:-1]
        marks = [token.string for token in inside if token.type != tokenize.STRING]
        if [words[0].string, words[-1].string] != ["[", "]"] or set(marks) - {","}:
            raise DataError(problem)
        found = [
            ast.literal_eval(token.string) for token in inside if token.type == tokenize.STRING
        ]
    except (tokenize.TokenError, SyntaxError, ValueError, IndexError) as error:
        raise DataError(problem) from error
    if not all(isinstance(item, str) for item in found):
        raise DataError(problem)
    return found


def _add_row(builder: BenchmarkBuilder, row: Node, number: str, *, has_corpus: bool) -> None:
    answer = row.get(*_ANSWER)
    contexts, ids = row.get(*_CONTEXTS), row.get("reference_context_ids")
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
    texts = [] if contexts is None else contexts.items()
    named = None if ids is None else ids.items()
    add_contexts(builder, number, texts, named, has_corpus=has_corpus)


def _recognises(source: Source) -> bool:
    for names in (("user_input",), ("question", "ground_truth")):
        if source.rows_have(*names) or source.columns_have(*names):
            return True
    return False


LOADER = Loader(
    summary="RAGAS testset",
    signs="rows (.jsonl, .json, .csv, .parquet) with user_input, or question and ground_truth",
    recognises=_recognises,
    load=load,
)
