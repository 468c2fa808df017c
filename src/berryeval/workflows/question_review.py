"""What comes with a generated benchmark: its datasheet, and a table for review by a person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.json import read_text
from berryeval._internal.text import defuse, pluralize, truncate
from berryeval._internal.validate import is_whole, suggest
from berryeval.benchmarks import (
    GENERATED,
    Subject,
    check_benchmark,
    load_benchmark,
    write_benchmark,
)
from berryeval.data import read_rows
from berryeval.errors import DataError
from berryeval.reports import escape_markdown, format_csv

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
DATASHEET: Final = "datasheet.md"
_UNREVIEWED: Final = "**Nobody has reviewed these queries yet.**"
_TOLD: Final = ("passages", "rejected", "reviewed")  # which have a place of their own
_LISTED: Final = 20  # documents in the table
_ABOUT: Final = {
    "known-item": (
        "Known-item queries: each is a few words drawn from one passage, as by a user who has seen "
        "it once and looks for it again. The passage is the only one that counts as relevant."
    ),
    "questions": (
        "Questions that a language model wrote about single passages. What counts as relevant is "
        "the quotes that answer them."
    ),
}
_LIMITS: Final = {
    "known-item": """\
- The words of a query occur in its passage, so lexical search looks better than it is for users who
  use other words. Use it for a first look and as a smoke test. On benchmarks with judgments of
  people, such queries ranked engines and chunkers quite differently than people's questions did
  (docs/judging.md), so do not choose between systems by them.
- One passage counts as relevant; others may be just as useful. Queries whose words fit many
  passages were rejected, which makes the rest easier than those of users.
- Every document is asked for equally often. Users do not do that.""",
    "questions": """\
- The model saw the passage when it asked, so the questions are closer to its words than those of
  users.
- Only the quotes of one passage count as relevant; other passages may answer as well. Judge what
  systems find before you trust small differences (`berryeval judge pool`).
- A system that uses the same model may have an advantage.""",
}


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


def write_datasheet(benchmark: Benchmark, report: Report) -> str:
    """Return the datasheet of a generated benchmark in Markdown, also after a review."""
    about = benchmark.metadata[GENERATED]
    kind = str(about.get("kind", ""))
    asked = dict.fromkeys((one.query_id, one.target.document) for one in benchmark.judgments)
    documents = Counter(document for _, document in asked)
    passages, rejected = about.get("passages"), about.get("rejected")
    if isinstance(rejected, Mapping):
        rejections = _format_counts("reason", rejected) or "Nothing was rejected."
    else:
        rejections = "Not recorded."
    drawn = f", drawn from {pluralize(passages, 'passage')}" if is_whole(passages) else ""
    sizes = (
        f"{pluralize(len(benchmark.queries), 'query')} for "
        f"{pluralize(len(documents), 'document')} of {len(benchmark.documents):,}{drawn}."
    )
    queries = benchmark.queries
    settings = [one for one in about.items() if one[0] not in _TOLD]
    parts = [
        f"# Datasheet of {escape_markdown(benchmark.name)}",
        _describe_review(about.get("reviewed")),
        _ABOUT.get(kind, ""),
        sizes,
        "## How it was made",
        _format_table(("setting", "value"), settings),
        "## Queries",
        _format_counts("type", Counter(one.category for one in queries)),
        _format_counts("difficulty", Counter(one.difficulty for one in queries)),
        _format_counts("document", documents),
        "## Rejected",
        rejections,
        "## What `berryeval validate` found",
        _format_counts("finding", _count_findings(report)) or "Nothing.",
        "## Limits",
        _LIMITS.get(kind, ""),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _describe_review(done: object) -> str:
    """Say what the last review did."""
    if not isinstance(done, Mapping):
        return _UNREVIEWED
    return f"Reviewed by a person: {', '.join(f'{count} {word}' for word, count in done.items())}."


def _count_findings(report: Report) -> dict[str, int]:
    groups = report.by_check().items()
    return {f"{severity}: {check}": len(findings) for (severity, check), findings in groups}


def _format_counts(title: str, counts: Mapping[str, int]) -> str:
    """Return a table of counts, largest first; empty if nothing has a name."""
    if not any(counts):
        return ""
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    rest = ordered[_LISTED:]
    rows = ordered[:_LISTED]
    if rest:
        rows.append((f"{len(rest):,} more", sum(count for _, count in rest)))
    return _format_table((title, "count"), rows)


def _format_table(titles: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = [[escape_markdown(str(cell)) for cell in line] for line in (titles, *rows)]
    cells.insert(1, ["---"] * len(titles))
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)
