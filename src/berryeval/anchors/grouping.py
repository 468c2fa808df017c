"""Judgments as targets: those of one group are one."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.anchors.credit import Target
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.anchors.located import Located
    from berryeval.records import Anchor, Judgment

__all__ = ["grouped"]


def grouped(
    judgments: Iterable[Judgment], places: Mapping[Anchor, Located]
) -> dict[str, tuple[Target, ...]]:
    """The targets of each query, in the order of their first judgments."""
    alone: dict[str, list[list[Judgment]]] = defaultdict(list)
    groups: dict[tuple[str, str], list[Judgment]] = {}
    for judgment in _without_repeats(judgments):
        key = judgment.query_id, judgment.group
        if judgment.group and key in groups:
            groups[key].append(judgment)
            continue
        members = [judgment]
        alone[judgment.query_id].append(members)
        if judgment.group:
            groups[key] = members
    return {
        query: tuple(_target(members, places) for members in lists)
        for query, lists in alone.items()
    }


def _target(members: list[Judgment], places: Mapping[Anchor, Located]) -> Target:
    first = members[0]
    if any(member.need != first.need for member in members):
        msg = (
            f"query {first.query_id!r}: the judgments of group {first.group!r} need 'any' and "
            "'all'; expected the same of each"
        )
        raise DataError(msg)
    return Target(
        tuple(places[member.target] for member in members),
        tuple(member.grade for member in members),
        first.need if first.group else "any",
        first.group,
    )


def _without_repeats(judgments: Iterable[Judgment]) -> Iterable[Judgment]:
    """Each target of a query and group once; two grades for it are an error."""
    grades: dict[tuple[str, str, Anchor], float] = {}
    for judgment in judgments:
        if not math.isfinite(judgment.grade):
            msg = f"query {judgment.query_id!r}: expected a finite grade, found {judgment.grade}"
            raise DataError(msg)
        bare = replace(judgment.target, document_hash="", extra={})
        key = judgment.query_id, judgment.group, bare
        if key not in grades:
            grades[key] = judgment.grade
            yield judgment
        elif grades[key] != judgment.grade:
            msg = (
                f"query {judgment.query_id!r}: {bare.to_json()} is judged {grades[key]:g} and "
                f"{judgment.grade:g}; expected one grade"
            )
            raise DataError(msg)
