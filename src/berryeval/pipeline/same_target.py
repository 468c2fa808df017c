"""Hits of two answers that are worth something for the same judged target, however it was cut.

Records say what a hit is worth, and which targets no hit covers, but not which target a hit covers.
Two hits of one document and grade, each the only one that the other answer has not, cover the same
target, unless one of the answers misses a target there that the other has found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.compared import MovedHit
    from berryeval.results import AnswerRecord

__all__ = ["joined_by_target"]

_BETWEEN = " > "  # a document and its headings, in names of hits


def joined_by_target(
    hits: Sequence[MovedHit], before: AnswerRecord, after: AnswerRecord
) -> list[MovedHit]:
    """The hits, two that cover the same target made one with both of its ranks."""
    gone: dict[tuple[str, float], list[MovedHit]] = {}
    come: dict[tuple[str, float], list[MovedHit]] = {}
    for hit in hits:
        if hit.grade and hit.grade > 0 and None in {hit.before, hit.after}:
            side = gone if hit.after is None else come
            side.setdefault((hit.name.split(_BETWEEN)[0], hit.grade), []).append(hit)
    one_of: dict[MovedHit, MovedHit] = {}
    for (document, grade), left in gone.items():
        entered = come.get((document, grade), [])
        alone = len(left) == len(entered) == 1
        if alone and not _differ(before, after, document, grade):
            one_of[left[0]] = replace(
                left[0], name=_name(document, left[0].name, entered[0].name), after=entered[0].after
            )
            one_of[entered[0]] = one_of[left[0]]
    return list(dict.fromkeys(one_of.get(hit, hit) for hit in hits))


def _differ(before: AnswerRecord, after: AnswerRecord, document: str, grade: float) -> bool:
    """Whether only one of the two misses a target of this grade that may be in the document."""
    missed = [
        {one.name for one in answer.missed if one.grade == grade} for answer in (before, after)
    ]
    return any(_may_be_in(document, name) for name in missed[0] ^ missed[1])


def _may_be_in(document: str, target: str) -> bool:
    """Whether a target, by its words for people, is in the document or says not in which it is."""
    named = all(part.startswith(("'", '"')) for part in target.split(" or "))
    return repr(document) in target or not named


def _name(document: str, first: str, second: str) -> str:
    """Where both are: of two names the one that says more, if it says all that the other does."""
    long, short = (first, second) if len(first) >= len(second) else (second, first)
    return long if long.startswith(short) else document
