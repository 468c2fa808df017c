"""Labels that a pack should read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.benchmarks.checks.finding import Finding
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.io.words import counted
from berryeval.relevance.packs import find_pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject

__all__ = ["check_labels"]


def check_labels(subject: Subject) -> Iterator[Finding]:
    """A pack that is not there, labels that cannot be read, or that are not in the corpus."""
    benchmark = subject.benchmark
    yield from _about_ids(subject)
    try:
        find_pack(benchmark.pack or "generic")
    except ConfigurationError as error:
        advice = "correct the name of the pack, or install it"
        yield Finding("label", "error", benchmark.name, str(error), advice)
        return
    for place, query in enumerate(benchmark.queries):
        labels = subject.labels(query)
        if isinstance(labels, BerryEvalError):
            advice = "correct the label: the query cannot be scored"
            yield Finding("label", "error", subject.where("queries", place), str(labels), advice)
        elif labels is not None:
            for note in labels.notes:
                yield Finding(
                    "label", "warning", subject.where("queries", place),
                    f"the query {query.id!r}: {note}", "correct the label, if you can",
                )  # fmt: skip


def _about_ids(subject: Subject) -> Iterator[Finding]:
    """What is wrong with the relevant ids that queries have in their metadata."""
    unknown: list[tuple[int, str]] = []
    for place, query in enumerate(subject.benchmark.queries):
        ids = subject.explicit(query)
        if isinstance(ids, BerryEvalError):
            advice = "correct it: the benchmark cannot be scored"
            yield Finding("label", "error", subject.where("queries", place), str(ids), advice)
        elif ids and subject.benchmark.documents:
            unknown += [(place, one) for one in ids if subject.named(one) is None]
    if unknown:
        place, first = unknown[0]
        yield Finding(
            "label", "warning", subject.where("queries", place),
            f"{counted(len(unknown), 'id')} in metadata of queries that are no document and no "
            f"section, the first {first!r}: they mean something in one chunking only",
            "correct them, or judge a document with a section, a span or a quote instead",
        )  # fmt: skip
