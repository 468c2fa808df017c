"""Queries and documents that are nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.checks.finding import Finding
from berryeval.benchmarks.checks.similar import alike

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject

__all__ = ["check_documents", "check_queries"]

ALIKE: Final = 0.8
_QUERY_RUN: Final = 2  # words to a shingle
_DOCUMENT_RUN: Final = 3


def check_queries(subject: Subject) -> Iterator[Finding]:
    """Queries that are nearly the same as an earlier one."""
    queries = subject.benchmark.queries
    for place, earlier, share in alike([one.text for one in queries], _QUERY_RUN, ALIKE):
        yield Finding(
            "near-duplicate queries", "warning", subject.where("queries", place),
            f"the query {queries[place].id!r} is {_how(share)} {queries[earlier].id!r}: "
            f"{queries[place].text!r:.80}",
            "keep one: what they ask counts twice in every mean",
        )  # fmt: skip


def check_documents(subject: Subject) -> Iterator[Finding]:
    """Documents that are nearly the same as an earlier one."""
    documents = subject.benchmark.documents
    for place, earlier, share in alike([one.text for one in documents], _DOCUMENT_RUN, ALIKE):
        yield Finding(
            "near-duplicate documents", "warning", subject.where("documents", place),
            f"the document {documents[place].id!r} is {_how(share)} {documents[earlier].id!r}",
            "keep one, or judge both: who finds the other is marked wrong",
        )  # fmt: skip


def _how(share: float) -> str:
    return "the same as" if share == 1 else f"nearly the same ({share:.2f}) as"
