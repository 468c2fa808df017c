"""`generate_benchmark`: queries from a corpus, with a datasheet and a table for review."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from berryeval._internal.json import encode_json_line
from berryeval._internal.text import make_file_name, pluralize
from berryeval.benchmarks import (
    BenchmarkBuilder,
    Source,
    bundled_benchmarks,
    check_benchmark,
    detect_format,
    find_named,
    load_benchmark,
    read_corpus,
    write_benchmark,
)
from berryeval.data import content_hash
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import (
    ChatJob,
    KnownItems,
    QuestionWriter,
    build_benchmark,
    draw_known_items,
)
from berryeval.workflows.question_review import DATASHEET, SHEET, write_datasheet, write_sheet

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark, Report
    from berryeval.data import Document
    from berryeval.judging import Drafts, JobEstimate
    from berryeval.workflows.model_judging import ModelRequest

REJECTED: Final = "rejected.jsonl"
KNOWN_ITEM: Final = "known-item"
QUESTIONS: Final = "questions"
LOGS: Final = Path(".berryeval") / "generate"  # what models were asked and answered


@dataclass(frozen=True)
class GenerationRequest:
    """What to generate.

    Attributes:
        corpus: A folder or file of documents, or a benchmark, whose documents are used.
        output: Folder of the new benchmark; by default named after the corpus.
        count: Number of queries.
        known_items: How queries are drawn without a model.
        model: The model that writes questions instead, if any.
    """

    corpus: str
    output: str | None = None
    count: int = 50
    known_items: KnownItems = field(default_factory=KnownItems)
    model: ModelRequest | None = None


@dataclass(frozen=True)
class Generation:
    """A generated benchmark and where it is.

    Attributes:
        benchmark: The queries with their targets.
        folder: Where it was written.
        drafts: The queries that were kept, and those that were rejected.
        report: Findings of `validate`.
        seconds: Time that it took.
        shortage: Why there are fewer queries than were asked for; empty if there are not.
        cost: US dollars that the model cost; None without prices.
    """

    benchmark: Benchmark
    folder: Path
    drafts: Drafts
    report: Report
    seconds: float
    shortage: str = ""
    cost: float | None = None


Progress: TypeAlias = Callable[[int], object]  # gets the number of kept queries


def generate_benchmark(
    request: GenerationRequest, progress: Progress = lambda _kept: None
) -> Generation:
    """Generate queries from a corpus and write them as a benchmark; nothing is left of a failure.

    The folder also has a datasheet, the rejected queries with their reasons, and a table for
    review. The answers of a model are kept below `.berryeval`, so that a second call for the same
    corpus asks nothing twice. `progress` is called after each of them.
    """
    started = time.perf_counter()
    folder = _choose_output(request)
    documents = read_documents(request.corpus)
    found = (
        _draw_known_items(request, documents)
        if request.model is None
        else _write_questions(request, request.model, documents, progress)
    )
    drafts, shortage = found.drafts, _explain_shortage(found, request.count)
    if not drafts.kept:
        raise DataError(f"{request.corpus}: {shortage}")
    about = {
        **found.about, "corpus_hash": hash_corpus(documents),
        "passages": drafts.passages, "rejected": drafts.reasons,
    }  # fmt: skip
    benchmark = build_benchmark(folder.name, documents, drafts.kept, about)
    report = check_benchmark(benchmark)
    files = {
        DATASHEET: write_datasheet(benchmark, report),
        SHEET: write_sheet(benchmark),
        REJECTED: b"".join(
            encode_json_line(one.to_json()) + b"\n" for one in drafts.rejected
        ).decode(),
    }
    write_benchmark(benchmark, folder, files=files)
    seconds = time.perf_counter() - started
    return Generation(benchmark, folder, drafts, report, seconds, shortage, found.cost)


def price_generation(request: GenerationRequest) -> JobEstimate:
    """Return what questions of a model can cost at most, if none is rejected; nothing is sent."""
    if request.model is None:
        raise ConfigurationError("without a model nothing is asked, so there is nothing to price")
    _choose_output(request)
    documents = read_documents(request.corpus)
    with _open_writer(request, request.model, documents, needs_key=False) as writer:
        return writer.estimate(request.count)


class _Found(NamedTuple):
    """Drafts, and how they came about."""

    drafts: Drafts
    about: Mapping[str, Any]
    cost: float | None = None
    limit: str = ""  # what ended the work early


def _draw_known_items(request: GenerationRequest, documents: Sequence[Document]) -> _Found:
    drafts = draw_known_items(documents, request.count, request.known_items)
    return _Found(drafts, {"kind": KNOWN_ITEM, **request.known_items.to_json()})


def _write_questions(
    request: GenerationRequest,
    given: ModelRequest,
    documents: Sequence[Document],
    progress: Progress,
) -> _Found:
    with _open_writer(request, given, documents, progress) as writer:
        drafts = writer.write(request.count)
    cost = None if writer.spent is None else float(writer.spent)
    about = {"kind": QUESTIONS, **writer.settings, "cost_usd": cost}
    limit = (
        "the limit of the cost is reached; with a higher --max-cost and another --output, nothing "
        "is asked twice"
    )
    return _Found(drafts, about, cost, limit if writer.is_broke else "")


@contextmanager
def _open_writer(
    request: GenerationRequest,
    given: ModelRequest,
    documents: Sequence[Document],
    progress: Progress = lambda _kept: None,
    *,
    needs_key: bool = True,
) -> Iterator[QuestionWriter]:
    model = given.build_model(needs_key=needs_key)
    place = LOGS / make_file_name(request.corpus)
    job = ChatJob(model, place, concurrency=given.concurrency, max_cost=given.max_cost)
    try:
        yield QuestionWriter(documents, job, seed=given.seed, progress=progress)
    finally:
        model.close()


def read_documents(corpus: str) -> list[Document]:
    """Read the documents of a corpus, or of a benchmark in any format."""
    path = Path(corpus)
    if not path.exists():
        if corpus not in bundled_benchmarks() and not find_named(corpus):
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
    corpus = Path(request.corpus)
    if corpus.is_dir() and folder.resolve().is_relative_to(corpus.resolve()):
        raise ConfigurationError(
            f"{folder}: is inside of the corpus {corpus}; choose a folder elsewhere with --output"
        )
    return folder


def _explain_shortage(found: _Found, count: int) -> str:
    """Say why there are fewer queries than were asked for."""
    kept = len(found.drafts.kept)
    if kept == count:
        return ""
    passages = pluralize(found.drafts.passages, "passage")
    why = [f"{kept} of {count} queries could be made from {passages}", found.limit]
    if found.drafts.reasons:
        why.append(f"rejected: {format_counts(found.drafts.reasons)}")
    return "; ".join(filter(None, why))


def format_counts(counts: Mapping[str, Any]) -> str:
    """Return counts in words: "3 ambiguous, 1 duplicate"."""
    return ", ".join(f"{count:,} {name}" for name, count in counts.items())
