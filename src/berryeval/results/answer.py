"""What a provider answered to one query, judged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from berryeval.json_record import JsonRecord, Reader, is_finite, refused

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["AnswerRecord", "HitRecord", "MissedTarget", "Passage", "array_of"]

R = TypeVar("R", bound=JsonRecord)


def array_of(kind: type[R]) -> Callable[[Any, str], tuple[R, ...]]:
    """A reader of an array of such records."""

    def read(value: Any, where: str) -> tuple[R, ...]:
        if not isinstance(value, list | tuple):
            raise refused(where, "an array", value)
        return tuple(
            kind.from_json(item, f"{where}[{place}]") for place, item in enumerate(value)
        )  # fmt: skip

    return read


@dataclass(frozen=True)
class Passage(JsonRecord):
    """What people see of a chunk: the beginning of its text, and where it stands.

    Attributes:
        text: the beginning.
        name: the document and the path of headings, as "guide > Tokens > Renewal"; may be unknown.
    """

    text: str
    name: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True)
class HitRecord(JsonRecord):
    """A hit and what it was found to be worth.

    Attributes:
        id: of the chunk, as the provider names it.
        score: as the provider gave it.
        grade: of the best target that this hit is the first to cover; None if nobody judged it.
        again: whether it covers something for which another hit is credited.
        passage: which of the benchmark's `passages` it shows; None if its text is unknown.
    """

    id: str
    score: float
    grade: float | None = None
    again: bool = False
    passage: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True)
class MissedTarget(JsonRecord):
    """A relevant target that no hit covers."""

    name: str
    grade: float
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


def _cost(value: Any, where: str) -> dict[str, Any]:
    """What a provider said; no file could hold a number that is not finite."""
    if not isinstance(value, Mapping):
        raise refused(where, "an object", value)
    for name, amount in value.items():
        if isinstance(amount, float) and not is_finite(amount):
            place = f"{where}.{name}"
            raise refused(place, "a finite number", amount)
    return dict(value)


@dataclass(frozen=True)
class AnswerRecord(JsonRecord):
    """The answer to one query.

    Attributes:
        query_id: which query.
        outcome: "ok", "empty", "error", "timeout"; "missing" if it was never asked.
        hits: best first; the first has rank 1.
        missed: relevant targets that no hit covers, the highest grade first.
        latency: seconds; None if there was no answer.
        error: what went wrong.
        expected: the expected answer, where words decide about relevance.
        cost: what the provider says it cost.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "tuple[HitRecord, ...]": array_of(HitRecord),
        "tuple[MissedTarget, ...]": array_of(MissedTarget),
        "Mapping[str, Any]": _cost,
    }

    query_id: str
    outcome: str
    hits: tuple[HitRecord, ...] = ()
    missed: tuple[MissedTarget, ...] = ()
    latency: float | None = None
    error: str = ""
    expected: str = ""
    cost: Mapping[str, Any] = field(default_factory=dict, hash=False)
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
