"""What became of one query, and how a provider's answer is made fair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Final, Literal, TypeAlias, get_args

from berryeval._internal.records import JsonRecord, Reader, one_of, refused
from berryeval.data import Hit, RankingRule
from berryeval.errors import DataError, ProviderError
from berryeval.providers import Disorder, as_cost, as_hits, disorder_of, has_moved_ties

# How a query ends, and which ends are no answer.

Outcome: TypeAlias = Literal["ok", "empty", "error", "timeout"]
FAILED: Final[tuple[Outcome, ...]] = ("error", "timeout")  # the query scores 0
NO_ANSWER: Final = (*FAILED, "missing")  # in records, which also know of queries never asked


def failed_of(outcomes: Mapping[str, Any]) -> int:
    """How many of the queries with these outcomes ended without an answer.

    >>> failed_of({"ok": 8, "error": 1, "timeout": 2})
    3
    """
    return sum(int(outcomes.get(name, 0)) for name in FAILED)


# Whether the fields of a hit hold what they should: a `Hit` made by hand may hold anything.

_KINDS: Final = (
    ("id", str, "a string"),
    ("text", str, "a string"),
    ("doc_id", str, "a string"),
    ("section", tuple, "a tuple of strings"),
    ("start", int | None, "a whole number"),
    ("end", int | None, "a whole number"),
    ("metadata", Mapping, "a mapping"),
    ("extra", Mapping, "a mapping"),
)


def check_fields(hit: Hit, place: int) -> None:
    """Refuse a hit that could be written down, but not be read again."""
    for name, kind, wanted in _KINDS:
        if not isinstance(getattr(hit, name), kind):
            raise _refused(hit, place, f"{name} as {wanted}", getattr(hit, name))
    try:
        hit.id.encode()
    except UnicodeEncodeError:
        raise _refused(hit, place, "id as valid Unicode text", hit.id) from None
    if not all(type(part) is str for part in hit.section):
        raise _refused(hit, place, "section as a tuple of strings", hit.section)
    if hit.extra:
        try:
            hit.to_json()
        except DataError as error:
            msg = f"hit {place} ({hit.id!r:.80}): {error}"
            raise ProviderError(msg) from None


def _refused(hit: Hit, place: int, wanted: str, value: Any) -> ProviderError:
    found = f"{type(value).__name__} {value!r:.80}"
    return ProviderError(f"hit {place} ({hit.id!r:.80}): expected {wanted}, found {found}")


_PLAIN: Final = {
    "id": str, "score": float, "rank": int,
    "doc_id": str, "section": list, "start": int, "end": int,
}  # fmt: skip


def _hits(value: Any, where: str) -> tuple[Hit, ...]:
    if not isinstance(value, list):
        raise refused(where, "an array of hits", value)
    return tuple(
        _plain_hit(item) or Hit.from_json(item, f"{where}[{place}]")
        for place, item in enumerate(value)
    )


def _plain_hit(item: Any) -> Hit | None:
    """The hit of an object as `lean` writes most of them: there are many, so this is quick."""
    if type(item) is not dict or not item.keys() <= _PLAIN.keys():
        return None
    if not all(type(value) is _PLAIN[name] for name, value in item.items()) or "id" not in item:
        return None
    section = item.get("section")
    if section is None:
        return Hit(**item)
    return Hit(**{**item, "section": tuple(section)}) if set(map(type, section)) == {str} else None


@dataclass(frozen=True)
class Ranking(JsonRecord):
    """The answer of a provider to one query.

    Attributes:
        query_id: which query.
        outcome: "ok", "empty" (an answer without hits), "error" or "timeout".
        hits: at most k, each document once, best first, ranked from 1.
        latency: seconds the answering attempt took; of a batch, its time divided by its size.
        attempts: how often the provider was asked.
        returned: how many hits it returned, before repeats and what is too much were left out.
        repeated: how many of these repeated another.
        error: what went wrong, for the last attempt.
        cost: what the provider says it cost: tokens, money.
        batch: how many queries were asked together with this one, itself included.
        disorder: how the order of the answer contradicted its scores, which decide; "tied" where
            only hits of equal scores stood in another order than they do here.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "tuple[Hit, ...]": _hits,
        "Outcome": one_of(*get_args(Outcome)),
        "Disorder": one_of(*get_args(Disorder)),
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
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


def fair_ranking(
    query_id: str, answer: Any, k: int, latency: float, attempts: int, batch: int = 1
) -> Ranking:
    """The same for every provider: each document once, at most k, in THE order of rankings.

    Scores decide, and ids where they are equal, as in trec_eval; where the order of the answer
    contradicts that, the ranking says so. An answer without scores stays in the order it has.
    """
    cost = as_cost(getattr(answer, "cost", None))
    given = as_hits(answer)
    for place, hit in enumerate(given, start=1):
        check_fields(hit, place)
    first: dict[str, Hit] = {}
    for hit in given:
        first.setdefault(hit.id, hit)
    hits = list(first.values())
    scores = [hit.score for hit in hits]
    disorder = disorder_of(scores)
    if any(scores):
        if not disorder and has_moved_ties([hit.id for hit in hits], scores, k):
            disorder = "tied"
        order = RankingRule(depth=k).order([hit.id.encode() for hit in hits], scores)
        hits = [hits[place] for place in order]
    else:
        hits = [replace(hit, score=1.0 / rank) for rank, hit in enumerate(hits[:k], start=1)]
    ranked = tuple(
        hit if hit.rank == rank else replace(hit, rank=rank)
        for rank, hit in enumerate(hits, start=1)
    )
    return Ranking(
        query_id,
        "ok" if ranked else "empty",
        ranked,
        latency,
        attempts,
        returned=len(given),
        repeated=len(given) - len(first),
        cost=cost,
        batch=batch,
        disorder=disorder,
    )
