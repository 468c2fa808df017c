"""Preference metrics of trec_eval: the share of the assessors' preferences that a ranking fulfils.

`berryeval trec-eval -R prefs` (or `-R qrels_prefs`) computes them; they exist in Python only. Of a
preference, both documents may be retrieved (`ret`), only one (`imp`, implied) or none (`notoccur`).
Undefined cases follow trec_eval.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from berryeval._internal.files import PathLike, display_name, read_bytes
from berryeval.data import QueryTable, StringColumn
from berryeval.errors import DataError


class Preference(NamedTuple):
    """A row of the judgments."""

    group: bytes
    subgroup: bytes
    document: bytes
    level: float


Numbers: TypeAlias = npt.NDArray[np.int64]


class Tally(NamedTuple):
    """The numbers of fulfilled and possible preferences."""

    fulfilled: int
    possible: int


@dataclass(frozen=True, eq=False)
class Group:
    """The preferences of one judgment group, between numbered documents.

    Attributes:
        preferred: Preferred document of each pair; pairs may repeat.
        other: Other document of each pair.
        levels: Documents of each level, highest level and best rank first; empty for a group with
            several subgroups, whose levels are not comparable.
        documents: Documents with a level.
        grades: Levels of these documents.
        retrieved: Number of retrieved documents, which have the lower numbers.
    """

    preferred: Numbers
    other: Numbers
    levels: Sequence[Numbers]
    documents: Numbers
    grades: npt.NDArray[np.float64]
    retrieved: int

    @cached_property
    def counts(self) -> tuple[Tally, Tally, int]:
        """Tallies of retrieved and of implied preferences, and the number of `notoccur`."""
        first, second = self.preferred < self.retrieved, self.other < self.retrieved
        both = first & second
        fulfilled = _count(both & (self.preferred < self.other))
        return (
            Tally(fulfilled, _count(both)),
            Tally(_count(first & ~second), _count(first ^ second)),
            _count(~first & ~second),
        )

    def relevant(self, below: int | None = None) -> int:
        """Return the number of documents (numbered lower than `below`) with a level above 0."""
        return _count(self._grades(below) > 0)

    def nonrelevant(self, below: int | None = None) -> int:
        """Return the number of documents (numbered lower than `below`) with a level up to 0."""
        return _count(self._grades(below) <= 0)

    def _grades(self, below: int | None) -> npt.NDArray[np.float64]:
        return self.grades if below is None else self.grades[self.documents < below]


@dataclass(frozen=True, eq=False)
class JudgedPreferences:
    """One ranking joined with its preferences; the input of preference metrics.

    Documents are numbered from 0: retrieved ones by rank, then the others by id.
    """

    groups: Sequence[Group]
    retrieved: int

    @cached_property
    def agreement(self) -> tuple[Numbers, Numbers, npt.NDArray[np.float64]]:
        """The lower and higher number of each judged pair, and its share of fulfilled preferences.

        Pairs are sorted.
        """
        nothing = np.zeros(0, dtype=np.int64)
        preferred = np.concatenate([nothing, *(group.preferred for group in self.groups)])
        other = np.concatenate([nothing, *(group.other for group in self.groups)])
        size = int(max(preferred.max(initial=0), other.max(initial=0))) + 1
        codes = np.minimum(preferred, other) * size + np.maximum(preferred, other)
        pairs, place_of = np.unique(codes, return_inverse=True)
        total = np.bincount(place_of, minlength=len(pairs))
        kept = np.bincount(place_of[preferred < other], minlength=len(pairs))
        return pairs // size, pairs % size, kept / total


def _count(flags: npt.NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(flags))


def judge_preferences(rows: Iterable[Preference], ranking: Sequence[bytes]) -> JudgedPreferences:
    """Join a ranking (documents, best first) with the preferences of its query.

    A document with two levels in one subgroup and contradictory preferences are a `DataError`.
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
        build = _join_subgroups if several else _build_levels
        groups.append(build(group, numbers, len(found)))
    return JudgedPreferences(groups, len(found))


def _build_levels(rows: list[Preference], numbers: Mapping[bytes, int], retrieved: int) -> Group:
    """Build a group with one subgroup: documents are preferred to those of lower levels."""
    seen: dict[bytes, float] = {}
    for row in rows:
        if seen.setdefault(row.document, row.level) != row.level:
            raise DataError(
                f"document {row.document.decode()!r} has two levels in group {_name(row)}"
            )
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


def _join_subgroups(rows: list[Preference], numbers: Mapping[bytes, int], retrieved: int) -> Group:
    """Build a group with several subgroups: the transitive closure of their preferences."""
    grades: dict[int, float] = {}
    better_than = [0] * len(numbers)  # bit sets
    for _, members in groupby(rows, key=lambda row: row.subgroup):
        subgroup = list(members)
        for row in subgroup:
            number = numbers[row.document]
            both = sorted((grades.get(number, row.level), row.level))
            if both[0] == 0 < both[1]:
                raise DataError(
                    f"document {row.document.decode()!r} is both relevant and not relevant "
                    f"in group {_name(row)}"
                )
            grades[number] = row.level
        lower = 0
        for _, same in groupby(reversed(subgroup), key=lambda row: row.level):
            level = [numbers[row.document] for row in same]
            for number in level:
                better_than[number] |= lower & ~(1 << number)
            for number in level:
                lower |= 1 << number
    _close_transitively(better_than)
    for number, lower in enumerate(better_than):
        if lower >> number & 1:
            raise DataError(f"the preferences of group {_name(rows[0])} contradict each other")
    preferred, other = _list_pairs(better_than)
    known = sorted((number, level) for number, level in grades.items() if level >= 0)
    documents = np.array([number for number, _ in known], dtype=np.int64)
    levels = np.array([level for _, level in known], dtype=np.float64)
    return Group(preferred, other, (), documents, levels, retrieved)


def _list_pairs(better_than: list[int]) -> tuple[Numbers, Numbers]:
    """Return the pairs of a relation given as a bit set per number."""
    size = (len(better_than) + 7) // 8
    packed = b"".join(row.to_bytes(size, "little") for row in better_than)
    table = np.frombuffer(packed, dtype=np.uint8).reshape(len(better_than), size)
    preferred, other = np.nonzero(np.unpackbits(table, axis=1, bitorder="little"))
    return preferred, other


def _close_transitively(rows: list[int]) -> None:
    """Make a relation transitive in place, with Warshall's algorithm."""
    for middle, reached in enumerate(rows):
        if not reached:
            continue
        for start, row in enumerate(rows):
            if row >> middle & 1:
                rows[start] |= reached


def _name(row: Preference) -> str:
    return repr(row.group.decode(errors="replace"))


Part: TypeAlias = Callable[[Group], Tally]
Formula: TypeAlias = Callable[[JudgedPreferences], float]


def _all(group: Group) -> Tally:
    ret, imp, notoccur = group.counts
    return Tally(ret.fulfilled + imp.fulfilled, ret.possible + imp.possible + notoccur)


def _ret(group: Group) -> Tally:
    return group.counts[0]


def _imp(group: Group) -> Tally:
    ret, imp, _ = group.counts
    return Tally(ret.fulfilled + imp.fulfilled, ret.possible + imp.possible)


def _sum(part: Part, field: int) -> Formula:
    return lambda judged: float(sum(part(group)[field] for group in judged.groups))


def _share(part: Part) -> Formula:
    """Return fulfilled over possible preferences of all groups; 0.0 if none is possible."""

    def share(judged: JudgedPreferences) -> float:
        possible = sum(part(group).possible for group in judged.groups)
        fulfilled = sum(part(group).fulfilled for group in judged.groups)
        return fulfilled / possible if possible else 0.0

    return share


def _group_mean(part: Part) -> Formula:
    """Return the mean over groups of fulfilled over possible; a group without any counts as 0."""

    def mean(judged: JudgedPreferences) -> float:
        total = 0.0
        for group in judged.groups:
            fulfilled, possible = part(group)
            if possible:
                total += fulfilled / possible
        return total / len(judged.groups) if judged.groups else 0.0

    return mean


def _pair_mean(*, implied: bool, notoccur: bool) -> Formula:
    """The mean over pairs of documents of the share of groups that agree with the ranking.

    A pair that no group says anything about is left out; 0.0 without pairs.
    """

    def mean(judged: JudgedPreferences) -> float:
        first, second, shares = judged.agreement
        ret = shares[second < judged.retrieved]
        imp = shares[(first < judged.retrieved) & (second >= judged.retrieved)]
        counted = len(ret) + implied * len(imp)
        counted += notoccur * (len(shares) - len(ret) - len(imp))
        taken = np.concatenate([ret, imp]) if implied else ret
        # One after the other, in this order: another order may give another last bit.
        total = float(np.add.accumulate(taken)[-1]) if len(taken) else 0.0
        return total / counted if counted else 0.0

    return mean


def _balanced_mean(balance: Part) -> Formula:
    """Return `_group_mean` with as many nonrelevant as relevant documents in every group.

    As in trec_eval, one group without a possible preference makes the value of the query 0.0.
    """

    def mean(judged: JudgedPreferences) -> float:
        total = 0.0
        for group in judged.groups:
            fulfilled, possible = balance(group)
            if not possible:
                return 0.0
            total += fulfilled / possible
        return total / len(judged.groups) if judged.groups else 0.0

    return mean


def _tally_balanced(group: Group) -> Tally:
    """Tally with the R best ranked nonrelevant documents, or padded to R unretrieved ones."""
    relevant, nonrelevant = group.relevant(), group.nonrelevant()
    if relevant < nonrelevant:
        return _tally_trimmed(group, relevant, relevant, None)
    fulfilled, possible = _all(group)
    more = relevant - nonrelevant
    return Tally(fulfilled + group.relevant(group.retrieved) * more, possible + relevant * more)


def _tally_balanced_ret(group: Group) -> Tally:
    """Tally as `_tally_balanced`, with retrieved documents only."""
    relevant, nonrelevant = group.relevant(group.retrieved), group.nonrelevant(group.retrieved)
    if relevant < nonrelevant:
        return _tally_trimmed(group, relevant, group.relevant(), group.retrieved)
    fulfilled, possible = _ret(group)
    more = relevant - nonrelevant
    return Tally(fulfilled + relevant * more, possible + group.relevant() * more)


def _tally_trimmed(group: Group, kept: int, kept_combined: int, below: int | None) -> Tally:
    """Tally with fewer nonrelevant documents, of documents numbered lower than `below`.

    As in trec_eval, in a group with one subgroup the `kept` best documents of the lowest level are
    compared with every document, including themselves and the rest of their level.
    """
    if group.levels:
        return _tally_trimmed_levels(group, kept, below)
    nonrelevant = group.documents[group.grades == 0]
    dropped = nonrelevant[kept_combined:]
    stays = ~(np.isin(group.preferred, dropped) | np.isin(group.other, dropped))
    if below is not None:
        stays &= np.maximum(group.preferred, group.other) < below
    preferred, other = group.preferred[stays], group.other[stays]
    fulfilled = np.count_nonzero(preferred < np.minimum(other, group.retrieved))
    return Tally(int(fulfilled), len(preferred))


def _tally_trimmed_levels(group: Group, kept: int, below: int | None) -> Tally:
    levels = list(group.levels)
    lowest = levels[-1][:kept]
    if below is not None:
        levels = [level[level < below] for level in levels]
        lowest = lowest[lowest < below]
    fulfilled = possible = 0
    for place, level in enumerate(levels):
        others = np.concatenate([*levels[place + 1 : -1], lowest])
        possible += len(level) * len(others)
        # Numbers rise within a level.
        reached = np.searchsorted(level, np.minimum(others, group.retrieved))
        fulfilled += int(reached.sum())
    return Tally(fulfilled, possible)


PREFERENCE_METRICS: Final[Mapping[str, Formula]] = {
    "prefs_num_prefs_poss": _sum(_all, 1),
    "prefs_num_prefs_ful": _sum(_all, 0),
    "prefs_num_prefs_ful_ret": _sum(_ret, 0),
    "prefs_simp": _share(_all),
    "prefs_pair": _pair_mean(implied=True, notoccur=True),
    "prefs_avgjg": _group_mean(_all),
    "prefs_avgjg_Rnonrel": _balanced_mean(_tally_balanced),
    "prefs_simp_ret": _share(_ret),
    "prefs_pair_ret": _pair_mean(implied=False, notoccur=False),
    "prefs_avgjg_ret": _group_mean(_ret),
    "prefs_avgjg_Rnonrel_ret": _balanced_mean(_tally_balanced_ret),
    "prefs_simp_imp": _share(_imp),
    "prefs_pair_imp": _pair_mean(implied=True, notoccur=False),
    "prefs_avgjg_imp": _group_mean(_imp),
}


_COLUMNS = 5


def read_preferences(path: PathLike) -> QueryTable:
    """Read "query group subgroup document level"; higher levels are preferred.

    The table has the labels `group`, `subgroup` and `line`.
    """
    source = display_name(path)
    rows: dict[bytes, list[tuple[bytes, bytes, bytes, float, int]]] = {}
    for number, line in enumerate(read_bytes(path).tobytes().split(b"\n"), start=1):
        columns = line.split()
        if not columns or columns[0].startswith(b"#"):
            continue
        if len(columns) != _COLUMNS:
            raise DataError(
                f"{source}:{number}: expected 5 columns (query group subgroup document level), "
                f"found {len(columns)}: {line.decode(errors='backslashreplace').strip()[:60]!r}"
            )
        query, group, subgroup, document, level = columns
        value = _parse_level(level, f"{source}:{number}")
        rows.setdefault(query, []).append((document, group, subgroup, value, number))
    flat = [row for group in rows.values() for row in group]
    return QueryTable(
        queries=StringColumn.from_bytes(list(rows)),
        offsets=np.cumsum([0, *(len(group) for group in rows.values())], dtype=np.int64),
        documents=StringColumn.from_bytes([row[0] for row in flat]),
        values=np.array([row[3] for row in flat], dtype=np.float64),
        labels={
            "group": StringColumn.from_bytes([row[1] for row in flat]),
            "subgroup": StringColumn.from_bytes([row[2] for row in flat]),
            "line": np.array([row[4] for row in flat], dtype=np.int64),
        },
        source=source,
    )


def _parse_level(text: bytes, where: str) -> float:
    try:
        level = float(text)
    except ValueError:
        level = float("nan")
    if level != level:  # noqa: PLR0124 - NaN
        raise DataError(
            f"{where}: the level must be a number, found {text.decode(errors='replace')!r}"
        )
    return level
