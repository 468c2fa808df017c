"""Queries and documents that are nearly the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.checks.finding import Finding
from berryeval.benchmarks.checks.similar import ALIKE, alike, how_alike

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject

__all__ = ["check_documents", "check_queries"]

_RUN: Final = 2  # words to a shingle


def check_queries(subject: Subject) -> Iterator[Finding]:
    """Queries that are nearly the same as an earlier one."""
    queries = subject.benchmark.queries
    for place, earlier, share in alike([one.text for one in queries], _RUN, ALIKE):
        yield Finding(
            "near-duplicate queries", "warning", subject.where("queries", place),
            f"the query {queries[place].id!r} is "
            f"{how_alike(queries[place].text, queries[earlier].text, share)} "
            f"{queries[earlier].id!r}: {queries[place].text!r:.80}",
            "keep one: what they ask counts twice in every mean",
        )  # fmt: skip


def check_documents(subject: Subject) -> Iterator[Finding]:
    """Documents that are nearly the same as an earlier one."""
    documents = subject.benchmark.documents
    for place, earlier, share in subject.alike_documents:
        one, other = documents[place], documents[earlier]
        ends = (one.id, 0, len(one.text)), (other.id, 0, len(other.text))
        yield Finding(
            "near-duplicate documents", "warning", subject.where("documents", place),
            f"the document {one.id!r} is {how_alike(one.text, other.text, share)} {other.id!r}"
            f"{subject.judged_places.only_one(*ends)}",
            "keep one, or judge both: who finds the other is marked wrong",
        )  # fmt: skip
