"""Judgments that cannot all be meant."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.checks.finding import Finding
from berryeval.benchmarks.checks.naming import name_of
from berryeval.registry import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.benchmarks.checks.subject import Subject
    from berryeval.records import Anchor

__all__ = ["check_groups", "check_queries_exist", "check_repeats"]

MANY: Final = 5_000  # queries; among more, the nearest is not looked for


def check_queries_exist(subject: Subject) -> Iterator[Finding]:
    """Judgments of queries that are not there."""
    known = subject.benchmark.query_of
    seen: set[str] = set()
    for place, judgment in enumerate(subject.benchmark.judgments):
        query = judgment.query_id
        if query in known or query in seen:
            continue
        seen.add(query)
        near = nearest(query, list(known), 1) if len(known) <= MANY else []
        hint = f"did you mean {near[0]!r}? Else " if near else ""
        advice = f"{hint}add the query, or remove its judgments: they count nowhere"
        yield Finding(
            "unknown query", "error", subject.where("judgments", place),
            f"there is no query {query!r}", advice,
        )  # fmt: skip


def check_repeats(subject: Subject) -> Iterator[Finding]:
    """The same target judged twice for a query, perhaps with another grade."""
    first: dict[tuple[str, str, Anchor], int] = {}
    judgments = subject.benchmark.judgments
    for place, judgment in enumerate(judgments):
        bare = replace(judgment.target, document_hash="", extra={})
        before = first.setdefault((judgment.query_id, judgment.group, bare), place)
        if before == place:
            continue
        grade, other = judgments[before].grade, judgment.grade
        same = grade == other
        what = f"for query {judgment.query_id!r}, {name_of(bare)} is judged twice"
        grades = "" if same else f", {grade:g} and {other:g}"
        yield Finding(
            "repeated judgment", "warning" if same else "error", subject.where("judgments", place),
            f"{what}{grades}; first in {subject.where('judgments', before)}",
            "remove one of them" if same else "decide which grade is right, and remove the other",
        )  # fmt: skip


def check_groups(subject: Subject) -> Iterator[Finding]:
    """Judgments of one group that say "any" and "all"."""
    needs: dict[tuple[str, str], str] = {}
    for place, judgment in enumerate(subject.benchmark.judgments):
        key = judgment.query_id, judgment.group
        if judgment.group and needs.setdefault(key, judgment.need) != judgment.need:
            yield Finding(
                "group", "error", subject.where("judgments", place),
                f"for query {judgment.query_id!r}, group {judgment.group!r} needs "
                f"{needs[key]!r} before and {judgment.need!r} here",
                'give all judgments of a group the same "need"',
            )  # fmt: skip
