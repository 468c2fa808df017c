"""The outcome of a query, and the ranking that a provider's answer becomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import CoroutineType
from typing import Any, ClassVar, Final, Literal, NamedTuple, TypeAlias, get_args

from berryeval._internal.plain import make_plain, plain_text, show
from berryeval._internal.serial import JsonRecord, Reader, choice_reader, type_mismatch
from berryeval._internal.text import truncate
from berryeval._internal.validate import is_number
from berryeval.data import Hit
from berryeval.errors import DataError, ProviderError
from berryeval.providers import (
    Disorder,
    as_hits,
    drop_repeated,
    find_disorder,
    find_stages,
    has_moved_ties,
    order_hits,
    read_cost,
    read_count,
    read_number,
    read_written_answer,
)

Outcome: TypeAlias = Literal["ok", "empty", "error", "timeout"]
FAILED: Final[tuple[Outcome, ...]] = ("error", "timeout")  # the query scores 0
NO_ANSWER: Final = (*FAILED, "missing")  # records also count queries that were never asked


def count_failed(outcomes: Mapping[str, Any]) -> int:
    """Count the queries that ended without an answer.

    >>> count_failed({"ok": 8, "error": 1, "timeout": 2})
    3
    """
    return sum(int(outcomes.get(name, 0)) for name in FAILED)


# Types of the fields of a hit, which Python does not enforce for hits built by users.
_KINDS: Final = (
    ("id", str, "a string"),
    ("score", int | float, "a finite number"),
    ("text", str, "a string"),
    ("doc_id", str, "a string"),
    ("section", tuple, "a tuple of strings"),
    ("start", int | None, "a whole number"),
    ("end", int | None, "a whole number"),
    ("metadata", Mapping, "a mapping"),
    ("extra", Mapping, "a mapping"),
)
_LONGEST_NAME: Final = 60  # characters of the name of a stage, which heads columns
_LONGEST: Final = 1 << 63  # characters of a text; offsets are smaller


class PlainAnswer(NamedTuple):
    """An answer as plain data: nothing that a provider returned is part of it."""

    hits: list[Hit]
    cost: dict[str, Any]
    answer: str = ""
    stages: tuple[StageRanking, ...] = ()


def read_answer(answer: Any, k: int) -> PlainAnswer:
    """Read the answer of a provider in any form, once, as data that can be recorded.

    The objects of the answer are not used after this: their methods may raise, and their content
    may change. Values of metadata that JSON cannot hold are replaced by their text.
    """
    if type(answer) is CoroutineType:
        answer.close()  # it would complain that nobody waited for it
    cost = make_plain(read_cost(getattr(answer, "cost", None)))
    written = plain_text(read_written_answer(answer))
    return PlainAnswer(_copy_hits(answer, k), cost, written, read_stages(answer, k))


def _copy_hits(answer: Any, k: int) -> list[Hit]:
    return [_copy_hit(hit, place) for place, hit in enumerate(as_hits(answer, k), start=1)]


def read_stages(given: Any, k: int) -> tuple[StageRanking, ...]:
    """Read the stages of an answer, or of the error of a later stage, as plain data."""
    return tuple(
        StageRanking(
            truncate(plain_text(one.name), _LONGEST_NAME),
            tuple(order_hits(drop_repeated(_copy_hits(one.hits, max(k, len(one.hits)))))),
            read_number(one.seconds, f"seconds of the stage {show(one.name)}"),
            make_plain(read_cost(one.cost)),
            read_count(one.reranked, f"reranked of the stage {show(one.name)}"),
            read_count(one.unplaced, f"unplaced of the stage {show(one.name)}"),
        )
        for one in find_stages(given)
    )


def _copy_hit(hit: Hit, place: int) -> Hit:
    if not _is_plain(hit):
        return _copy_odd_hit(hit, place)
    if not hit.metadata:
        return hit
    return Hit(
        hit.id, hit.score, hit.rank, hit.text, hit.doc_id, hit.section, hit.start, hit.end,
        make_plain(hit.metadata),
    )  # fmt: skip


def _is_plain(hit: Hit) -> bool:
    """Whether all fields but metadata are plain: so are nearly all hits, and this is quick."""
    if type(hit) is not Hit or type(hit.section) is not tuple:
        return False
    return (
        all(map(_is_text, (hit.id, hit.text, hit.doc_id, *hit.section)))
        and type(hit.score) is float
        and _is_offset(hit.rank)
        and _is_offset(hit.start)
        and _is_offset(hit.end)
        and type(hit.metadata) is type(hit.extra) is dict
        and not hit.extra
    )


def _is_text(value: Any) -> bool:
    return type(value) is str and (value.isascii() or plain_text(value) == value)


def _is_offset(value: Any) -> bool:
    return value is None or (type(value) is int and 0 <= value < _LONGEST)


def _copy_odd_hit(hit: Hit, place: int) -> Hit:
    """Copy a hit field by field; reject one that could be written to the journal but not read."""
    given = {name: getattr(hit, name) for name, _, _ in _KINDS}
    for name, kind, wanted in _KINDS:
        if not isinstance(given[name], kind):
            raise _field_error(given, place, f"{name} as {wanted}", given[name])
    if not all(isinstance(part, str) for part in given["section"]):
        raise _field_error(given, place, "section as a tuple of strings", given["section"])
    plain = {name: make_plain(value) for name, value in given.items()}
    for name, fits, wanted in (
        ("id", plain["id"] == str.__str__(given["id"]), "valid Unicode text"),
        ("score", is_number(plain["score"]), "a finite number"),
        *((name, _is_offset(plain[name]), "a whole number") for name in ("start", "end")),
    ):
        if not fits:
            raise _field_error(given, place, f"{name} as {wanted}", given[name])
    for name in ("metadata", "extra"):
        if not isinstance(plain[name], dict):  # a mapping that cannot be read
            plain[name] = {}
    try:
        copied = Hit(**plain)
        copied.to_json()
    except DataError as error:
        raise ProviderError(f"hit {place} ({show(plain['id'])}): {error}") from None
    return copied


def _field_error(hit: Mapping[str, Any], place: int, wanted: str, value: Any) -> ProviderError:
    found = f"{type(value).__name__} {show(value)}"
    return ProviderError(f"hit {place} ({show(hit['id'])}): expected {wanted}, found {found}")


_PLAIN: Final = {
    "id": str, "score": float, "rank": int,
    "doc_id": str, "section": list, "start": int, "end": int,
}  # fmt: skip


def _read_hits(value: Any, where: str) -> tuple[Hit, ...]:
    if not isinstance(value, list):
        raise type_mismatch(where, "an array of hits", value)
    return tuple(
        _read_plain_hit(item) or Hit.from_json(item, f"{where}[{place}]")
        for place, item in enumerate(value)
    )


def _read_plain_hit(item: Any) -> Hit | None:
    """Read the common form of a hit quickly; return None for any other form."""
    if type(item) is not dict or not item.keys() <= _PLAIN.keys():
        return None
    if not all(type(value) is _PLAIN[name] for name, value in item.items()) or "id" not in item:
        return None
    section = item.get("section")
    if section is None:
        return Hit(**item)
    return Hit(**{**item, "section": tuple(section)}) if set(map(type, section)) == {str} else None


@dataclass(frozen=True)
class StageRanking(JsonRecord):
    """The ranking of one stage of a search, with its own time and cost; see `Stage`.

    Attributes:
        name: What was asked.
        hits: Its hits, best first; empty for the last stage.
        latency: Seconds; for a batch, its time divided by its size.
        cost: Cost.
        reranked: Number of hits that it was asked to order.
        unplaced: Number of these that it did not place.
    """

    readers: ClassVar[Mapping[str, Reader]] = {"tuple[Hit, ...]": _read_hits}

    name: str
    hits: tuple[Hit, ...] = ()
    latency: float = 0.0
    cost: Mapping[str, Any] = field(default_factory=dict, hash=False)
    reranked: int = 0
    unplaced: int = 0
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


def _read_stage_array(value: Any, where: str) -> tuple[StageRanking, ...]:
    if not isinstance(value, list):
        raise type_mismatch(where, "an array of stages", value)
    return tuple(StageRanking.from_json(one, f"{where}[{at}]") for at, one in enumerate(value))


@dataclass(frozen=True)
class Ranking(JsonRecord):
    """The answer of a provider to one query.

    Attributes:
        query_id: Id of the query.
        outcome: "ok", "empty" (an answer without hits), "error" or "timeout".
        hits: At most k hits, each document once, best first, ranked from 1.
        latency: Seconds of the attempt that answered; for a batch, its time divided by its size.
        attempts: Number of times the provider was asked.
        returned: Number of hits returned, before repeats and hits beyond k were dropped.
        repeated: Number of returned hits that repeated another.
        error: Error of the last attempt.
        cost: Cost reported by the provider, such as tokens or money.
        batch: Number of queries asked in the same call, including this one.
        disorder: How the order of the answer contradicted its scores, which decide; "tied" if only
            hits with equal scores were in another order.
        answer: What the provider wrote from the hits, if it writes answers.
        stages: The stages of a search in several, the first one first.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "tuple[Hit, ...]": _read_hits,
        "tuple[StageRanking, ...]": _read_stage_array,
        "Outcome": choice_reader(*get_args(Outcome)),
        "Disorder": choice_reader(*get_args(Disorder)),
    }

    query_id: str
    outcome: Outcome
    hits: tuple[Hit, ...] = ()
    latency: float = 0.0
    attempts: int = 1
    returned: int = 0
    repeated: int = 0
    error: str = ""
    cost: Mapping[str, Any] = field(default_factory=dict, hash=False)
    batch: int = 1
    disorder: Disorder = ""
    answer: str = ""
    stages: tuple[StageRanking, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


def build_ranking(
    query_id: str, answer: Any, k: int, latency: float, attempts: int, batch: int = 1
) -> Ranking:
    """Turn any answer into a ranking: each document once, at most k, in ranking order.

    Scores decide, and ids break ties as in trec_eval; `disorder` records an answer that contradicts
    this order. An answer without scores keeps its own order.
    """
    plain = answer if isinstance(answer, PlainAnswer) else read_answer(answer, k)
    first = drop_repeated(plain.hits)
    scores = [hit.score for hit in first]
    disorder = find_disorder(scores)
    if any(scores) and not disorder and has_moved_ties([hit.id for hit in first], scores, k):
        disorder = "tied"
    ranked = tuple(order_hits(first, k))
    return Ranking(
        query_id, "ok" if ranked else "empty", ranked, latency, attempts,
        returned=len(plain.hits), repeated=len(plain.hits) - len(first), cost=plain.cost,
        batch=batch, disorder=disorder, answer=plain.answer, stages=plain.stages,
    )  # fmt: skip
