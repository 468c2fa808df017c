"""Texts with nothing in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.checks.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject

__all__ = ["check_texts"]

_NAME: Final = "empty text"


def check_texts(subject: Subject) -> Iterator[Finding]:
    """Queries and documents that are blank."""
    for place, query in enumerate(subject.benchmark.queries):
        if not query.text.strip():
            yield Finding(
                _NAME, "error", subject.where("queries", place),
                f"the query {query.id!r} has no text", "write the query, or remove it",
            )  # fmt: skip
    for place, document in enumerate(subject.benchmark.documents):
        if not document.text.strip():
            title = f", only a title: {document.title!r:.60}" if document.title.strip() else ""
            yield Finding(
                _NAME, "warning", subject.where("documents", place),
                f"the document {document.id!r} has no text{title}",
                "remove it, or give it its text: no chunk of it can be found",
            )  # fmt: skip
