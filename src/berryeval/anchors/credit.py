"""Credit: each target once, at the first hit that covers it."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from berryeval.judged import JudgedHit, JudgedRanking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.anchors.drift import Ambiguity
    from berryeval.anchors.located import Located
    from berryeval.records import Need

__all__ = ["Credit", "Join", "Target", "credited", "judged_ranking"]


@dataclass(frozen=True)
class Target:
    """One thing to be found: what a judgment points at, or a group of judgments.

    Attributes:
        members: where each judgment of it points.
        grades: their grades.
        need: whether any member is enough, or all are needed.
        group: the name the judgments share; empty for a judgment by itself.
    """

    members: tuple[Located, ...]
    grades: tuple[float, ...]
    need: Need = "any"
    group: str = ""

    @property
    def grade(self) -> float:
        """What it is worth in the ideal ranking: the highest grade of its members."""
        return max(self.grades)


class Credit(NamedTuple):
    """At which rank a target was found, and what it is worth there."""

    rank: int
    grade: float


@dataclass(frozen=True)
class Join:
    """The hits of one query, after the join with its targets.

    Attributes:
        ranking: what measures see.
        credits: for each target, at which rank it was found and what it is worth there, or None.
        covering: for each target and each of its members, the hits (from 0) that cover it.
        ambiguous: hits whose text stands at several places; each of the places counts.
        unplaced: the hits (from 0) of which nobody knows where they stand.
    """

    ranking: JudgedRanking
    credits: tuple[Credit | None, ...]
    covering: tuple[tuple[tuple[int, ...], ...], ...]
    ambiguous: tuple[Ambiguity, ...]
    unplaced: tuple[int, ...]

    def missed(self, targets: Sequence[Target]) -> list[Target]:
        """Those of the query's targets that are relevant and that no hit covers."""
        pairs = zip(targets, self.credits, strict=True)
        return [target for target, credit in pairs if credit is None and target.grade > 0]

    @property
    def again(self) -> frozenset[int]:
        """The hits (from 0) that cover something for which another hit is credited."""
        first = {credit.rank - 1 for credit in self.credits if credit is not None}
        members = itertools.chain.from_iterable(self.covering)
        return frozenset(itertools.chain.from_iterable(members)) - first


def credited(target: Target, covering: Sequence[Sequence[int]]) -> Credit | None:
    """Where a target is found, given the hits (from 0, in order) that cover each of its members."""
    firsts = [hits[0] if hits else None for hits in covering]
    found = [first for first in firsts if first is not None]
    if not found or (target.need == "all" and len(found) < len(firsts)):
        return None
    if target.need == "all":
        return Credit(max(found) + 1, target.grade)
    first = min(found)
    grades = (grade for at, grade in zip(firsts, target.grades, strict=True) if at == first)
    return Credit(first + 1, max(grades))


def judged_ranking(
    targets: Sequence[Target],
    covering: Sequence[Sequence[Sequence[int]]],
    credits_: Sequence[Credit | None],
    retrieved: int,
) -> JudgedRanking:
    """What measures see of the hits.

    A hit that is the first to cover targets is worth the best of them; the others stand in `also`.
    One that only covers what was found before, or a part of what is needed, is judged and worth
    nothing.
    """
    new: dict[int, list[float]] = defaultdict(list)
    worthless: dict[int, float] = {}
    for target, members, credit in zip(targets, covering, credits_, strict=True):
        if credit:
            new[credit.rank].append(credit.grade)
        repeated = min(target.grade, 0)  # below 0: nobody judged it, however often it is found
        for rank in {hit + 1 for hits in members for hit in hits}:
            if credit is None or rank != credit.rank:
                worthless[rank] = max(worthless.get(rank, repeated), repeated)
    hits: list[JudgedHit] = []
    also: list[JudgedHit] = []
    for rank in sorted(new.keys() | worthless.keys()):
        grades = sorted(new.get(rank, ()), reverse=True)
        if rank in worthless and (not grades or worthless[rank] > grades[0]):
            grades.insert(0, worthless[rank])
        hits.append(JudgedHit(rank, grades[0]))
        also.extend(JudgedHit(rank, grade) for grade in grades[1:])
    ideal = sorted((target.grade for target in targets), reverse=True)
    return JudgedRanking(tuple(hits), retrieved, tuple(ideal), tuple(also))
