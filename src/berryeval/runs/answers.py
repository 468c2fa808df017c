"""The judged answers of a provider, as records and as compact columns."""

from __future__ import annotations

import operator
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, overload

from berryeval._internal.serial import (
    JsonRecord,
    Reader,
    array_reader,
    open_field,
    read_object,
    type_mismatch,
)
from berryeval._internal.validate import is_number
from berryeval.runs.stages import StageAnswer


@dataclass(frozen=True)
class Passage(JsonRecord):
    """An excerpt of a chunk for reports.

    Attributes:
        text: Beginning of the text.
        name: Document and headings, such as "guide > Tokens > Renewal"; empty if unknown.
    """

    text: str
    name: str = ""
    extra: Mapping[str, Any] = open_field(repr=False)


@dataclass(frozen=True)
class HitRecord(JsonRecord):
    """A judged hit.

    Attributes:
        id: Id of the chunk, as the provider names it.
        score: Score from the provider.
        grade: Grade of the best target that this hit is the first to cover; None if unjudged.
        again: Whether it covers a target that is credited to another hit.
        passage: Index into the benchmark's `passages`; None if its text is unknown.
    """

    id: str
    score: float
    grade: float | None = None
    again: bool = False
    passage: int | None = None
    extra: Mapping[str, Any] = open_field(repr=False)

    def describe_grade(self) -> str:
        """Return the grade in words."""
        if self.again:
            return "found above"
        return "not judged" if self.grade is None else f"grade {self.grade:g}"

    def name_in(self, passages: Sequence[Passage]) -> str:
        """Return the name of its passage, else its id."""
        return (passages[self.passage].name if self.passage is not None else "") or self.id


@dataclass(frozen=True)
class MissedTarget(JsonRecord):
    """A relevant target that no hit covers."""

    name: str
    grade: float
    extra: Mapping[str, Any] = open_field(repr=False)


@dataclass(frozen=True)
class FoundTarget(JsonRecord):
    """A relevant target, and the rank of the first hit that covers it."""

    name: str
    grade: float
    rank: int
    extra: Mapping[str, Any] = open_field(repr=False)


class WantedTarget(NamedTuple):
    """A relevant target, and the rank at which it was found, or None."""

    target: str
    grade: float
    rank: int | None

    def describe_rank(self) -> str:
        """Return the rank in words."""
        return "not found" if self.rank is None else f"rank {self.rank}"


def _read_cost(value: Any, where: str) -> dict[str, Any]:
    """Read the costs reported by a provider; JSON cannot hold infinite numbers."""
    found = read_object(value, where)
    for name, amount in found.items():
        if isinstance(amount, float) and not is_number(amount):
            place = f"{where}.{name}"
            raise type_mismatch(place, "a finite number", amount)
    return found


@dataclass(frozen=True)
class AnswerRecord(JsonRecord):
    """The answer to one query.

    Attributes:
        query_id: Id of the query.
        outcome: "ok", "empty", "error" or "timeout"; "missing" if the query was never asked.
        hits: Hits, best first.
        missed: Relevant targets that no hit covers, highest grade first.
        latency: Seconds; None without an answer.
        error: Error message.
        expected: Expected answer, if relevance depends on words.
        cost: Cost reported by the provider.
        found: Relevant targets that a hit covers, highest grade first; empty if a pack or words
            decide relevance, and in older records.
        answer: What the provider wrote from the hits, if it writes answers.
        stages: What each stage found, if the provider searches in several.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "tuple[HitRecord, ...]": array_reader(HitRecord),
        "tuple[MissedTarget, ...]": array_reader(MissedTarget),
        "tuple[FoundTarget, ...]": array_reader(FoundTarget),
        "tuple[StageAnswer, ...]": array_reader(StageAnswer),
        "Mapping[str, Any]": _read_cost,
    }

    query_id: str
    outcome: str
    hits: tuple[HitRecord, ...] = ()
    missed: tuple[MissedTarget, ...] = ()
    latency: float | None = None
    error: str = ""
    expected: str = ""
    cost: Mapping[str, Any] = open_field()
    found: tuple[FoundTarget, ...] = ()
    answer: str = ""
    stages: tuple[StageAnswer, ...] = ()
    extra: Mapping[str, Any] = open_field(repr=False)

    def list_wanted(self, passages: Sequence[Passage]) -> list[WantedTarget]:
        """List the relevant targets, highest grade first; without names, the relevant hits."""
        found = [WantedTarget(one.name, one.grade, one.rank) for one in self.found]
        if not found:
            found = [
                WantedTarget(hit.name_in(passages), hit.grade, rank)
                for rank, hit in enumerate(self.hits, start=1)
                if hit.grade is not None and hit.grade > 0
            ]
        found += [WantedTarget(one.name, one.grade, None) for one in self.missed]
        return sorted(found, key=lambda one: (-one.grade, one.rank is None, one.rank or 0))


class AnswerTally(NamedTuple):
    """What an answer found, in numbers.

    Attributes:
        query_id: Id of the query.
        outcome: Outcome of the answer.
        found: Number of relevant targets found; without names, of relevant hits.
        missed: Number of relevant targets that no hit covers.
        unjudged: Ids of the hits without a grade.
    """

    query_id: str
    outcome: str
    found: int
    missed: int
    unjudged: frozenset[str]

    @classmethod
    def of(cls, answer: AnswerRecord) -> AnswerTally:
        """Count an answer."""
        relevant = sum((hit.grade or 0) > 0 for hit in answer.hits)
        unjudged = frozenset(hit.id for hit in answer.hits if hit.grade is None)
        found = len(answer.found) or relevant
        return cls(answer.query_id, answer.outcome, found, len(answer.missed), unjudged)


_NOTHING = -1  # code of a missing value


class AnswerColumns(Sequence[AnswerRecord]):
    """A sequence of answers, stored in columns to save memory and converted on access.

    It behaves like a tuple: it equals tuples and columns with the same answers, but not lists, and
    `+` returns a tuple.
    """

    __slots__ = ("_columns",)

    def __init__(self, answers: Iterable[AnswerRecord] = ()) -> None:
        builder = AnswersBuilder()
        for answer in answers:
            builder.add(answer)
        self._columns = builder.columns

    @classmethod
    def of(cls, builder: AnswersBuilder) -> AnswerColumns:
        """Take the columns of a builder, which must not be used afterwards."""
        answers = cls()
        answers._columns = builder.columns
        return answers

    def __len__(self) -> int:
        return len(self._columns.queries)

    @overload
    def __getitem__(self, place: int) -> AnswerRecord: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[AnswerRecord, ...]: ...
    def __getitem__(self, place: int | slice) -> AnswerRecord | tuple[AnswerRecord, ...]:
        """Return an answer or a tuple of answers."""
        every = range(len(self))[place]
        if isinstance(every, range):
            return tuple(map(self._columns.answer, every))
        return self._columns.answer(every)

    def without_hits(self) -> Iterator[AnswerRecord]:
        """Yield every answer without its hits and targets, which are never built."""
        return map(self._columns.answer_without_hits, range(len(self)))

    def tally(self) -> list[AnswerTally]:
        """Count every answer, without building its hits."""
        grades = self._columns.grades.values
        relevant = {code for code, grade in enumerate(grades) if grade > 0}
        return [self._columns.tally(place, relevant) for place in range(len(self))]

    @property
    def most_hits(self) -> int:
        """Number of hits of the longest answer."""
        odd = (len(answer.hits) for answer in self._columns.odd.values())
        return max(max(map(operator.sub, *_ends(self._columns.hit_ends)), default=0), *odd, 0)

    def refers_beyond(self, count: int) -> bool:
        """Whether a hit refers to a passage that is not one of the first `count`."""
        odd = (hit.passage for answer in self._columns.odd.values() for hit in answer.hits)
        wrong = any(one is not None and not 0 <= one < count for one in odd)
        return wrong or max(self._columns.passages, default=-1) >= count

    @property
    def highest_grade(self) -> float | None:
        """Highest grade of a hit or missed target; None without grades."""
        columns = self._columns
        grades = [*columns.grades.values, *columns.missed_grades.values]
        for answer in columns.odd.values():
            grades += [hit.grade for hit in answer.hits if hit.grade is not None]
            grades += [target.grade for target in answer.missed]
        return max(grades, default=None)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple | AnswerColumns):
            return NotImplemented
        if self is other:
            return True
        return len(self) == len(other) and all(map(operator.eq, self, other))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __add__(self, more: tuple[AnswerRecord, ...] | AnswerColumns) -> tuple[AnswerRecord, ...]:
        if not isinstance(more, tuple | AnswerColumns):
            return NotImplemented
        return (*self, *more)

    def __radd__(self, before: tuple[AnswerRecord, ...]) -> tuple[AnswerRecord, ...]:
        return (*before, *self) if isinstance(before, tuple) else NotImplemented

    def __repr__(self) -> str:
        return f"AnswerColumns({len(self)} answers)"


def _ends(ends: array[int]) -> tuple[array[int], array[int]]:
    """Return the end of each answer, and where it starts."""
    return ends[1:], ends[:-1]


class _Coded:
    """A column that stores each distinct value once."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.codes = array("i")

    def __getitem__(self, row: int) -> Any:
        code = self.codes[row]
        return None if code == _NOTHING else self.values[code]


class _Columns:
    """Concatenated hits and missed targets of all answers, with the end of each answer.

    Rare values (errors, costs, unknown fields) are stored by position.
    """

    def __init__(self) -> None:
        self.queries: list[str] = []
        self.outcomes, self.ids, self.grades = _Coded(), _Coded(), _Coded()
        self.names, self.missed_grades = _Coded(), _Coded()
        self.found_names, self.found_grades, self.found_ranks = _Coded(), _Coded(), array("i")
        self.latencies, self.scores = array("d"), array("d")
        self.hit_ends, self.missed_ends = array("q", [0]), array("q", [0])
        self.found_ends = array("q", [0])
        self.again, self.passages = bytearray(), array("i")
        self.rare: dict[int, dict[str, Any]] = {}  # by answer
        self.odd_scores: dict[int, Any] = {}  # by hit: scores that are not floats
        self.odd: dict[int, AnswerRecord] = {}  # by answer: answers that do not fit the columns

    def answer_without_hits(self, place: int) -> AnswerRecord:
        if place in self.odd:
            return replace(self.odd[place], hits=(), missed=(), found=())
        rare = {"latency": self.latencies[place], **self.rare.get(place, {})}
        return AnswerRecord(self.queries[place], self.outcomes[place], **rare)

    def tally(self, place: int, relevant: set[int]) -> AnswerTally:
        if place in self.odd:
            return AnswerTally.of(self.odd[place])
        first, end = self.hit_ends[place : place + 2]
        codes = self.grades.codes[first:end]
        unjudged = frozenset(
            self.ids[first + at] for at, code in enumerate(codes) if code == _NOTHING
        )
        found = self.found_ends[place + 1] - self.found_ends[place]
        missed = self.missed_ends[place + 1] - self.missed_ends[place]
        found = found or sum(code in relevant for code in codes)
        return AnswerTally(self.queries[place], self.outcomes[place], found, missed, unjudged)

    def answer(self, place: int) -> AnswerRecord:
        if place in self.odd:
            return self.odd[place]
        rare = {"latency": self.latencies[place], **self.rare.get(place, {})}
        hits = tuple(map(self._hit, range(self.hit_ends[place], self.hit_ends[place + 1])))
        missed = range(self.missed_ends[place], self.missed_ends[place + 1])
        return AnswerRecord(
            self.queries[place],
            self.outcomes[place],
            hits,
            tuple(MissedTarget(self.names[row], self.missed_grades[row]) for row in missed),
            found=tuple(map(self._found, range(*self.found_ends[place : place + 2]))),
            **rare,
        )

    def _found(self, row: int) -> FoundTarget:
        return FoundTarget(self.found_names[row], self.found_grades[row], self.found_ranks[row])

    def _hit(self, row: int) -> HitRecord:
        score = self.odd_scores[row] if row in self.odd_scores else self.scores[row]
        passage = self.passages[row]
        return HitRecord(
            self.ids[row],
            score,
            self.grades[row],
            again=bool(self.again[row]),
            passage=None if passage == _NOTHING else passage,
        )


class AnswersBuilder:
    """A builder that adds answers to columns one at a time."""

    def __init__(self) -> None:
        self.columns = _Columns()
        self._codes: dict[int, dict[Any, int]] = {}

    def add(self, answer: AnswerRecord) -> None:
        """Append an answer."""
        columns = self.columns
        place = len(columns.queries)
        columns.queries.append(answer.query_id)
        if _is_odd(answer):
            columns.odd[place] = answer
            answer = AnswerRecord(answer.query_id, answer.outcome)
        self._append(columns.outcomes, answer.outcome)
        for hit in answer.hits:
            self._add_hit(hit)
        for target in answer.missed:
            self._append(columns.names, target.name)
            self._append(columns.missed_grades, target.grade)
        for found in answer.found:
            self._append(columns.found_names, found.name)
            self._append(columns.found_grades, found.grade)
            columns.found_ranks.append(found.rank)
        columns.found_ends.append(len(columns.found_ranks))
        columns.hit_ends.append(len(columns.scores))
        columns.missed_ends.append(len(columns.names.codes))
        self._add_rare(place, answer)

    def _add_hit(self, hit: HitRecord) -> None:
        columns = self.columns
        plain = type(hit.score) is float
        if not plain:
            columns.odd_scores[len(columns.scores)] = hit.score
        columns.scores.append(hit.score if plain else 0.0)
        self._append(columns.ids, hit.id)
        self._append(columns.grades, hit.grade)
        columns.again.append(hit.again)
        columns.passages.append(_NOTHING if hit.passage is None else hit.passage)

    def _add_rare(self, place: int, answer: AnswerRecord) -> None:
        rare: dict[str, Any] = {}
        latency = answer.latency if type(answer.latency) is float else 0.0
        if type(answer.latency) is not float:
            rare["latency"] = answer.latency
        for name in ("error", "expected", "cost", "answer", "stages"):
            if value := getattr(answer, name):
                rare[name] = value
        if rare:
            self.columns.rare[place] = rare
        self.columns.latencies.append(latency)

    def _append(self, column: _Coded, value: Any) -> None:
        if value is None:
            column.codes.append(_NOTHING)
            return
        # 1, 1.0 and True are equal, and so are 0.0 and -0.0, but they differ in JSON.
        kind = type(value)
        key = value if kind is str else (kind, value if kind is float and value else repr(value))
        known = self._codes.setdefault(id(column), {})
        code = known.setdefault(key, len(column.values))
        if code == len(column.values):
            column.values.append(value)
        column.codes.append(code)


def _is_odd(answer: AnswerRecord) -> bool:
    return bool(
        answer.extra
        or any(hit.extra or not _fits(hit) for hit in answer.hits)
        or any(target.extra for target in answer.missed)
        or any(one.extra or not 0 <= one.rank < 1 << 31 for one in answer.found)
    )


def _fits(hit: HitRecord) -> bool:
    plain = hit.passage is None or (type(hit.passage) is int and 0 <= hit.passage < 1 << 31)
    return plain and type(hit.again) is bool
