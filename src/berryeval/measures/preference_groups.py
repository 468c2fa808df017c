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

from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["Group", "JudgedPreferences", "Numbers", "Preference", "Tally", "judge_preferences"]


class Preference(NamedTuple):
    """One row of the judgments."""

    group: bytes
    subgroup: bytes
    document: bytes
    level: float


Numbers: TypeAlias = npt.NDArray[np.int64]


class Tally(NamedTuple):
    """How many preferences are fulfilled, of how many."""

    fulfilled: int
    possible: int


@dataclass(frozen=True, eq=False)
class Group:
    """The preferences of one judgment group, between documents by number.

    Attributes:
        preferred: the preferred document of every pair, as often as it was said.
        other: the other document of every pair.
        levels: the documents of each level, highest first, best rank first; () for a group with
            several subgroups, where a level alone says nothing.
        documents: every document that has a level,
        grades: and its level.
        retrieved: the documents with a lower number than this are in the ranking.
    """

    preferred: Numbers
    other: Numbers
    levels: Sequence[Numbers]
    documents: Numbers
    grades: npt.NDArray[np.float64]
    retrieved: int

    @cached_property
    def counts(self) -> tuple[Tally, Tally, int]:
        """Fulfilled and possible of those retrieved, the same of those implied, notoccur."""
        first, second = self.preferred < self.retrieved, self.other < self.retrieved
        both = first & second
        fulfilled = _count(both & (self.preferred < self.other))
        return (
            Tally(fulfilled, _count(both)),
            Tally(_count(first & ~second), _count(first ^ second)),
            _count(~first & ~second),
        )

    def relevant(self, below: int | None = None) -> int:
        """How many documents (with a number lower than `below`) have a level above 0."""
        return _count(self._grades(below) > 0)

    def nonrelevant(self, below: int | None = None) -> int:
        """How many documents (with a number lower than `below`) have no level above 0."""
        return _count(self._grades(below) <= 0)

    def _grades(self, below: int | None) -> npt.NDArray[np.float64]:
        return self.grades if below is None else self.grades[self.documents < below]


@dataclass(frozen=True, eq=False)
class JudgedPreferences:
    """One ranking after the join with its preferences; the only thing these measures see.

    Documents are numbered: those of the ranking by rank, from 0, then the others by id.
    """

    groups: Sequence[Group]
    retrieved: int

    @cached_property
    def agreement(self) -> tuple[Numbers, Numbers, npt.NDArray[np.float64]]:
        """For pairs that any group speaks of: the share of what is said that the ranking keeps.

        Gives the lower number of each pair, the higher one, and the share; pairs are in order.
        """
        nothing = np.zeros(0, dtype=np.int64)
        preferred = np.concatenate([nothing, *(group.preferred for group in self.groups)])
        other = np.concatenate([nothing, *(group.other for group in self.groups)])
        size = int(max(preferred.max(initial=0), other.max(initial=0))) + 1
        codes = np.minimum(preferred, other) * size + np.maximum(preferred, other)
        pairs, place_of = np.unique(codes, return_inverse=True)
        said = np.bincount(place_of, minlength=len(pairs))
        kept = np.bincount(place_of[preferred < other], minlength=len(pairs))
        return pairs // size, pairs % size, kept / said


def _count(flags: npt.NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(flags))


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
    documents = np.array([numbers[row.document] for row in rows], dtype=np.int64)
    grades = np.array([row.level for row in rows], dtype=np.float64)
    starts = np.flatnonzero(grades[1:] != grades[:-1]) + 1
    levels = np.split(documents, starts)
    bounds = [*starts.tolist(), len(documents)]
    preferred, other = [], []
    for level, end in zip(levels, bounds, strict=True):
        preferred.append(np.repeat(level, len(documents) - end))
        other.append(np.tile(documents[end:], len(level)))
    return Group(
        np.concatenate(preferred), np.concatenate(other), levels, documents, grades, retrieved
    )


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
        lower = 0
        for _, same in groupby(reversed(subgroup), key=lambda row: row.level):
            level = [numbers[row.document] for row in same]
            for number in level:
                better_than[number] |= lower & ~(1 << number)
            for number in level:
                lower |= 1 << number
    _close(better_than)
    for number, lower in enumerate(better_than):
        if lower >> number & 1:
            msg = f"the preferences of group {_name(rows[0])} contradict each other"
            raise DataError(msg)
    preferred, other = _pairs(better_than)
    known = sorted((number, level) for number, level in grades.items() if level >= 0)
    documents = np.array([number for number, _ in known], dtype=np.int64)
    levels = np.array([level for _, level in known], dtype=np.float64)
    return Group(preferred, other, (), documents, levels, retrieved)


def _pairs(better_than: list[int]) -> tuple[Numbers, Numbers]:
    """The pairs of a relation that is given as a bit set per number."""
    size = (len(better_than) + 7) // 8
    packed = b"".join(row.to_bytes(size, "little") for row in better_than)
    table = np.frombuffer(packed, dtype=np.uint8).reshape(len(better_than), size)
    preferred, other = np.nonzero(np.unpackbits(table, axis=1, bitorder="little"))
    return preferred, other


def _close(rows: list[int]) -> None:
    """Make a relation transitive, in place (Warshall)."""
    for middle, reached in enumerate(rows):
        if not reached:
            continue
        for start, row in enumerate(rows):
            if row >> middle & 1:
                rows[start] |= reached


def _name(row: Preference) -> str:
    return repr(row.group.decode(errors="replace"))
