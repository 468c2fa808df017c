"""The review of a generated benchmark: a table that a person fills in, and its application."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.json import read_text
from berryeval._internal.text import defuse, pluralize, truncate
from berryeval._internal.validate import suggest
from berryeval.benchmarks import (
    GENERATED,
    Subject,
    check_benchmark,
    load_benchmark,
    write_benchmark,
)
from berryeval.data import read_rows
from berryeval.errors import DataError
from berryeval.reports import format_csv
from berryeval.workflows.datasheet import DATASHEET, write_datasheet

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark, Report
    from berryeval.data import Query

SHEET: Final = "questions.csv"
COLUMNS: Final = (
    "keep", "id", "question", "category", "difficulty", "answer", "passage", "text",
)  # fmt: skip
_EDITABLE: Final = ("question", "category", "difficulty")
_SHOWN: Final = 500  # characters of the passage
_ANSWER: Final = "expected_answer"
_KEEP: Final = {"yes": True, "y": True, "no": False, "n": False}


def write_sheet(benchmark: Benchmark) -> str:
    """Return the table to fill in: write yes or no under `keep`, and correct the questions."""
    rows = [list(COLUMNS)]
    subject = Subject(benchmark)
    for query in benchmark.queries:
        texts = [text for one in subject.passages_for(query) for text in one.texts]
        rows.append(
            [
                "", query.id, defuse(query.text), query.category, query.difficulty,
                defuse(str(query.metadata.get(_ANSWER, ""))), defuse(_passage_of(query)),
                defuse(truncate(" … ".join(texts), _SHOWN)),
            ]
        )  # fmt: skip
    return format_csv(rows)


def _passage_of(query: Query) -> str:
    return str(query.metadata.get("passage", ""))


@dataclass(frozen=True)
class Reviewed:
    """A reviewed benchmark, and what the review changed."""

    benchmark: Benchmark
    folder: Path
    report: Report
    kept: int
    changed: int
    dropped: int


def apply_review(source: PathLike, sheet: PathLike, output: PathLike | None = None) -> Reviewed:
    """Apply a filled table to a generated benchmark and clear its mark; by default in its place.

    Every query must have a row with yes or no; nothing is written otherwise.
    """
    benchmark = load_benchmark(source)
    about = benchmark.metadata.get(GENERATED)
    if not isinstance(about, dict):
        raise DataError(f"{source}: was not generated, so there is nothing to review")
    verdicts = dict(_read_verdicts(benchmark, sheet))
    missing = [one.id for one in benchmark.queries if one.id not in verdicts]
    if missing:
        raise DataError(
            f"{sheet}: {pluralize(len(missing), 'query has', 'queries have')} no row, such as "
            f"{missing[0]!r:.80}; write no under keep to drop a query"
        )
    queries = tuple(query for query in verdicts.values() if query is not None)
    if not queries:
        raise DataError(f"{sheet}: keeps no query, so no benchmark would be left")
    kept = {query.id for query in queries}
    counts = {
        "kept": len(queries),
        "changed": sum(query != benchmark.query_of[query.id] for query in queries),
        "dropped": len(verdicts) - len(queries),
    }
    reviewed = replace(
        benchmark,
        queries=tuple(_mark(query) for query in queries),
        judgments=tuple(one for one in benchmark.judgments if one.query_id in kept),
        metadata={**benchmark.metadata, GENERATED: {**about, "reviewed": counts}},
        locations={},
        remarks=(),
    )
    folder = Path(source if output is None else output)
    report = check_benchmark(reviewed)
    files = {**_keep_files(Path(source)), DATASHEET: write_datasheet(reviewed, report)}
    write_benchmark(reviewed, folder, files=files)
    return Reviewed(reviewed, folder, report, **counts)


def _mark(query: Query) -> Query:
    return replace(query, metadata={**query.metadata, "reviewed": True})


def _keep_files(folder: Path) -> dict[str, str]:
    """Return what the folder has besides the benchmark and its datasheet."""
    names = (SHEET, "rejected.jsonl")
    return {name: read_text(folder / name) for name in names if (folder / name).is_file()}


def _read_verdicts(benchmark: Benchmark, sheet: PathLike) -> Iterator[tuple[str, Query | None]]:
    """Yield each query as reviewed; None if it is dropped."""
    seen: dict[str, str] = {}
    for row in read_rows(sheet):
        unknown = [name for name in ("keep", "id", *_EDITABLE, "passage") if name not in row.cells]
        if unknown:
            raise DataError(f"{sheet}: has no column {unknown[0]!r}; expected {', '.join(COLUMNS)}")
        query_id = row.id("id")
        query = benchmark.query_of.get(query_id)
        if query is None:
            hint = suggest(query_id, list(benchmark.query_of)[:_SHOWN])
            raise DataError(f"{row.where}: there is no query {query_id!r:.80}; {hint}")
        if query_id in seen:
            raise DataError(
                f"{row.where}: {query_id!r:.80} occurs twice; first in {seen[query_id]}"
            )
        seen[query_id] = row.where
        if _restore(row.cells["passage"]) != _passage_of(query):
            raise DataError(
                f"{row.where}: the passage of {query_id!r:.80} was changed; only keep, "
                f"{' and '.join(', '.join(_EDITABLE).rsplit(', ', 1))} may change"
            )
        keep = _KEEP.get(row.cells["keep"].strip().lower())
        if keep is None:
            found = row.cells["keep"]
            raise DataError(f"{row.where}: keep: expected yes or no, found {found!r:.40}")
        yield query_id, _change(query, row.cells, row.where) if keep else None


def _change(query: Query, cells: dict[str, str], where: str) -> Query:
    fields: dict[str, Any] = {name: _restore(cells[name]).strip() for name in _EDITABLE}
    text = fields.pop("question")
    if not text:
        raise DataError(f"{where}: question: is empty; write no under keep to drop it")
    changed = replace(query, text=text if text != query.text.strip() else query.text, **fields)
    return (
        changed
        if changed == query
        else replace(changed, metadata={**query.metadata, "changed": True})
    )


def _restore(cell: str) -> str:
    """Take off the apostrophe that `defuse` put before a text."""
    return cell[1:] if cell.startswith("'") and defuse(cell[1:]) == cell else cell
