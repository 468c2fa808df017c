"""What became of one query, and how a provider's answer is made fair."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

from berryeval.harness.hit_fields import check_fields
from berryeval.harness.outcomes import Outcome
from berryeval.json_record import JsonRecord, Reader, one_of, refused
from berryeval.providers.answers import as_hits
from berryeval.providers.costs import as_cost
from berryeval.providers.order import Disorder, disorder_of, has_moved_ties
from berryeval.records import Hit
from berryeval.run import RankingRule

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Disorder", "Ranking", "fair_ranking"]

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
