"""`generate_benchmark`: queries from a corpus, with a datasheet and a table for review."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.json import encode_json_line
from berryeval._internal.text import make_file_name, pluralize
from berryeval.benchmarks import (
    BenchmarkBuilder,
    Source,
    bundled_benchmarks,
    check_benchmark,
    detect_format,
    load_benchmark,
    read_corpus,
    write_benchmark,
)
from berryeval.data import content_hash
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import KnownItems, build_benchmark, draw_known_items
from berryeval.workflows.datasheet import DATASHEET, write_datasheet
from berryeval.workflows.question_review import SHEET, write_sheet

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark, Report
    from berryeval.data import Document
    from berryeval.judging import Drafts

REJECTED: Final = "rejected.jsonl"
KNOWN_ITEM: Final = "known-item"


@dataclass(frozen=True)
class GenerationRequest:
    """What to generate.

    Attributes:
        corpus: A folder or file of documents, or a benchmark, whose documents are used.
        output: Folder of the new benchmark; by default named after the corpus.
        count: Number of queries.
        known_items: How queries are drawn without a model.
    """

    corpus: str
    output: str | None = None
    count: int = 50
    known_items: KnownItems = field(default_factory=KnownItems)


@dataclass(frozen=True)
class Generation:
    """What was generated and where it is.

    Attributes:
        benchmark: The queries with their targets.
        folder: Where it was written.
        drafts: What was kept and rejected.
        report: Findings of `validate`.
        seconds: Time that it took.
        shortage: Why there are fewer queries than were asked for; empty if there are not.
    """

    benchmark: Benchmark
    folder: Path
    drafts: Drafts
    report: Report
    seconds: float
    shortage: str = ""


def generate_benchmark(request: GenerationRequest) -> Generation:
    """Generate queries from a corpus and write them as a benchmark; nothing is left of a failure.

    The folder also has a datasheet, the rejected queries with their reasons, and a table for
    review.
    """
    started = time.perf_counter()
    folder = _choose_output(request)
    documents = read_documents(request.corpus)
    drafts = draw_known_items(documents, request.count, request.known_items)
    about = {
        "kind": KNOWN_ITEM,
        **request.known_items.to_json(),
        "corpus_hash": hash_corpus(documents),
    }
    shortage = _explain_shortage(drafts, request.count)
    if not drafts.kept:
        raise DataError(f"{request.corpus}: {shortage}")
    benchmark = build_benchmark(folder.name, documents, drafts.kept, about)
    report = check_benchmark(benchmark)
    files = {
        DATASHEET: write_datasheet(benchmark, drafts, report),
        SHEET: write_sheet(benchmark),
        REJECTED: b"".join(
            encode_json_line(one.to_json()) + b"\n" for one in drafts.rejected
        ).decode(),
    }
    write_benchmark(benchmark, folder, files=files)
    return Generation(benchmark, folder, drafts, report, time.perf_counter() - started, shortage)


def read_documents(corpus: str) -> list[Document]:
    """Read the documents of a corpus, or of a benchmark in any format."""
    path = Path(corpus)
    if not path.exists():
        if corpus not in bundled_benchmarks():
            raise DataError(f"{corpus}: no such file or folder")
        return list(load_benchmark(corpus).documents)
    known = ""
    with suppress(DataError):  # no benchmark
        known = detect_format(Source(path))
    if known:
        documents: Sequence[Document] = load_benchmark(path).documents
    else:
        builder = BenchmarkBuilder(Source(path))
        read_corpus(builder, path)
        documents = builder.documents
    if not any(document.text.strip() for document in documents):
        what = "documents with text" if documents else "documents"
        raise DataError(f"{corpus}: has no {what}, so there is nothing to ask about")
    return list(documents)


def hash_corpus(documents: Sequence[Document]) -> str:
    """Return a hash of the ids and texts of documents."""
    return content_hash("\n".join(f"{one.id} {one.content_hash}" for one in documents))


def _choose_output(request: GenerationRequest) -> Path:
    """Return the folder to write, which must not exist or be empty."""
    given = request.output
    name = f"{make_file_name(Source(request.corpus).stem)}-generated"
    folder = Path(name if given is None else given)
    if folder.exists() and not folder.is_dir():
        raise ConfigurationError(f"{folder}: is a file; choose a folder with --output")
    if folder.exists() and any(folder.iterdir()):
        raise ConfigurationError(f"{folder}: is not empty; choose another folder with --output")
    return folder


def _explain_shortage(drafts: Drafts, count: int) -> str:
    """Say why there are fewer queries than were asked for."""
    found = len(drafts.kept)
    if found == count:
        return ""
    passages = pluralize(drafts.passages, "passage")
    return (
        f"{found} of {count} queries could be made from {passages}; rejected: "
        f"{format_counts(drafts.reasons) or 'none'}"
    )


def format_counts(counts: Mapping[str, Any]) -> str:
    """Return counts in words: "3 ambiguous, 1 duplicate"."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
