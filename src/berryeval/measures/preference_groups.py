"""Preferences between documents, joined with a ranking.

A row of the judgments gives a document a level inside a subgroup of a group. Of two documents of
one subgroup the one with the higher level is preferred. Where a group has several subgroups, the
preferences of all of them hold together, with what follows from them (a over b, b over c: a over
c). Every preference is one of these:

    ret        both documents are in the ranking
    imp        implied: one of them is, so that the other counts as ranked below
    notoccur   neither is; such a preference can only be missed

`berryeval.measures.preferences` has the measures.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Group", "JudgedPreferences", "Pair", "Preference", "Tally", "judge_preferences"]


class Preference(NamedTuple):
    """One row of the judgments."""

    group: bytes
    subgroup: bytes
    document: bytes
    level: float


Pair: TypeAlias = tuple[int, int]


class Tally(NamedTuple):
    """How many preferences are fulfilled, of how many."""

    fulfilled: int
    possible: int


@dataclass(frozen=True)
class Group:
    """The preferences of one judgment group, between documents by number.

    Attributes:
        pairs: (preferred, other), as often as it was said.
        levels: the documents of each level, highest first, best rank first; () for a group with
            several subgroups, where a level alone says nothing.
        grades: the level of each document.
        retrieved: the documents with a lower number than this are in the ranking.
    """

    pairs: Sequence[Pair]
    levels: Sequence[Sequence[int]]
    grades: Sequence[tuple[int, float]]
    retrieved: int

    @cached_property
    def counts(self) -> tuple[Tally, Tally, int]:
        """Fulfilled and possible of those retrieved, the same of those implied, notoccur."""
        return _tally(self.pairs, self.retrieved)

    def relevant(self, below: float = math.inf) -> int:
        """How many documents with a number lower than `below` have a level above 0."""
        return sum(level > 0 and number < below for number, level in self.grades)

    def nonrelevant(self, below: float = math.inf) -> int:
        """How many documents with a number lower than `below` have no level above 0."""
        return sum(level <= 0 and number < below for number, level in self.grades)


@dataclass(frozen=True)
class JudgedPreferences:
    """One ranking after the join with its preferences; the only thing these measures see.

    Documents are numbered: those of the ranking by rank, from 0, then the others by id.
    """

    groups: Sequence[Group]
    retrieved: int

    @cached_property
    def agreement(self) -> dict[Pair, float]:
        """For pairs that any group speaks of: the share of what is said that the ranking keeps.

        The lower number comes first; pairs are in order.
        """
        said = Counter(pair for group in self.groups for pair in group.pairs)
        pairs = sorted({(min(pair), max(pair)) for pair in said})
        return {
            (first, second): said[first, second] / (said[first, second] + said[second, first])
            for first, second in pairs
        }


def _tally(pairs: Iterable[Pair], retrieved: int) -> tuple[Tally, Tally, int]:
    """Count pairs (preferred, other): retrieved, implied, notoccur."""
    fulfilled = possible = implied_fulfilled = implied = notoccur = 0
    for preferred, other in pairs:
        if preferred < retrieved:
            if other < retrieved:
                possible += 1
                fulfilled += preferred < other
            else:
                implied += 1
                implied_fulfilled += 1
        elif other < retrieved:
            implied += 1
        else:
            notoccur += 1
    return Tally(fulfilled, possible), Tally(implied_fulfilled, implied), notoccur


def judge_preferences(rows: Iterable[Preference], ranking: Sequence[bytes]) -> JudgedPreferences:
    """Join a ranking (documents, best first) with the preferences of its query.

    A document with two levels in one subgroup, or preferences that go round in a circle, are a
    `DataError`.
    """
    rows = list(rows)
    judged = {row.document for row in rows}
    found = [document for document in ranking if document in judged]
    numbers = {document: number for number, document in enumerate(found)}
    for document in sorted(judged - numbers.keys()):
        numbers[document] = len(numbers)
    rows.sort(key=lambda row: (row.group, row.subgroup, -row.level, numbers[row.document]))
    groups = []
    for _, members in groupby(rows, key=lambda row: row.group):
        group = list(members)
        several = len({row.subgroup for row in group}) > 1
        make = _combined if several else _leveled
        groups.append(make(group, numbers, len(found)))
    return JudgedPreferences(groups, len(found))


def _leveled(rows: list[Preference], numbers: Mapping[bytes, int], retrieved: int) -> Group:
    """A group with one subgroup: a document is preferred to those of all lower levels."""
    seen: dict[bytes, float] = {}
    for row in rows:
        if seen.setdefault(row.document, row.level) != row.level:
            msg = f"document {row.document.decode()!r} has two levels in group {_name(row)}"
            raise DataError(msg)
    levels = [
        [numbers[row.document] for row in members]
        for _, members in groupby(rows, key=lambda row: row.level)
    ]
    pairs = [
        (preferred, other)
        for place, level in enumerate(levels)
        for lower in levels[place + 1 :]
        for preferred in level
        for other in lower
    ]
    grades = [(numbers[row.document], row.level) for row in rows]
    return Group(pairs, levels, grades, retrieved)


def _combined(rows: list[Preference], numbers: Mapping[bytes, int], retrieved: int) -> Group:
    """A group with several subgroups: all their preferences, and what follows from them."""
    grades: dict[int, float] = {}
    better_than = [0] * len(numbers)  # bit sets
    for _, members in groupby(rows, key=lambda row: row.subgroup):
        subgroup = list(members)
        for row in subgroup:
            number = numbers[row.document]
            both = sorted((grades.get(number, row.level), row.level))
            if both[0] == 0 < both[1]:
                msg = (
                    f"document {row.document.decode()!r} is both relevant and not relevant "
                    f"in group {_name(row)}"
                )
                raise DataError(msg)
            grades[number] = row.level
            for other in subgroup:
                if other.level < row.level and other.document != row.document:
                    better_than[number] |= 1 << numbers[other.document]
    _close(better_than)
    for number, lower in enumerate(better_than):
        if lower >> number & 1:
            msg = f"the preferences of group {_name(rows[0])} contradict each other"
            raise DataError(msg)
    pairs = [
        (preferred, other)
        for preferred, lower in enumerate(better_than)
        for other in range(len(numbers))
        if lower >> other & 1
    ]
    known = sorted((number, level) for number, level in grades.items() if level >= 0)
    return Group(pairs, (), known, retrieved)


def _close(rows: list[int]) -> None:
    """Make a relation transitive, in place (Warshall)."""
    for middle, reached in enumerate(rows):
        for start, row in enumerate(rows):
            if row >> middle & 1:
                rows[start] |= reached


def _name(row: Preference) -> str:
    return repr(row.group.decode(errors="replace"))
