"""Labels that a pack should read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.benchmarks.checks.finding import Finding
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.relevance.packs import find_pack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject

__all__ = ["check_labels"]


def check_labels(subject: Subject) -> Iterator[Finding]:
    """A pack that is not there, labels that it cannot read, or that are not in the corpus."""
    benchmark = subject.benchmark
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
