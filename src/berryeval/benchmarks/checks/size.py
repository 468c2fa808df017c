"""Is there enough of everything?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.checks.finding import Finding
from berryeval.io.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject

__all__ = ["check_size"]

FEW: Final = 25  # queries; below, a mean moves a lot with each of them
_NAME: Final = "size"


def check_size(subject: Subject) -> Iterator[Finding]:
    """No documents, or few queries."""
    benchmark = subject.benchmark
    if not benchmark.documents:
        yield Finding(
            _NAME, "info", benchmark.name, "there are no documents, so targets cannot be looked up",
            "add the corpus, if you have it",
        )  # fmt: skip
    if len(benchmark.queries) < FEW:
        yield Finding(
            _NAME, "info", benchmark.name,
            f"{counted(len(benchmark.queries), 'query', 'queries')} only: one of them moves a mean "
            f"by up to {1 / max(1, len(benchmark.queries)):.3f}",
            "look at confidence intervals before you compare two systems",
        )  # fmt: skip
