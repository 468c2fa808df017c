"""Hits in any form, as rankings: by their ranks, by THE ordering rule, or as they are listed."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from berryeval.errors import DataError, RepeatedDocumentError
from berryeval.json_record import found
from berryeval.records import Hit
from berryeval.run import Run

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.run import RankingRule
    from berryeval.tables import QueryTable

__all__ = ["Rankings", "checked_id"]


class Rankings:
    """What a system returned, best first; of each query it is read when it is asked for.

    Args:
        source: `{query: hits}`, where hits are a list of `Hit`s, of JSON objects or of ids (best
            first), or a dict of ids and scores; or a `Run`, or what `Run.load` takes.
        rule: orders the hits of a query, unless all of them say their rank, or they are a list in
            which none has a rank or score; cuts them at its depth.
        lenient: of hits with the same id keep the first, rather than refuse them.

    Attributes:
        name: of the system.
        dropped: how many hits were left out because they stood twice, of those that were read.
    """

    def __init__(self, source: Any, rule: RankingRule, *, lenient: bool = False) -> None:
        self.name, self.dropped = "run", 0
        if not isinstance(source, Mapping):
            run = Run.load(source, lenient=lenient)
            table = _each_once(run.table, lenient=lenient)
            self.name, source, self.dropped = run.name, table.to_dict(), table.dropped
        self._source: Mapping[Any, Any] = source
        self._rule = rule
        self._lenient = lenient
        self._notes: dict[str, str] = {}

    def __contains__(self, query: str) -> bool:
        return query in self._source

    def of(self, query: str) -> list[Hit]:
        """The hits of a query; none if there is no such query."""
        if query not in self._source:
            return []
        checked_id(query, "the id of a query with hits")
        given = self._source[query]
        hits = list(_hits(query, given))
        if not self._is_in_order(query, given, hits):
            hits = _ordered(query, hits, self._rule)
        kept = _without_repeats(query, hits, lenient=self._lenient)
        self.dropped += len(hits) - len(kept)
        return kept[: self._rule.depth]

    def beyond(self, queries: Iterable[str]) -> list[str]:
        """The other queries of the system; their hits are checked like any."""
        known = set(queries)
        others = [query for query in self._source if query not in known]
        for query in others:
            self.of(query)
        return sorted(others, key=str.encode)

    @property
    def notes(self) -> tuple[str, ...]:
        """What people should know of the hits that were read, a line each."""
        if not self._notes:
            return ()
        return tuple(self._notes[query] for query in self._source if query in self._notes)

    def _is_in_order(self, query: str, given: Any, hits: list[Hit]) -> bool:
        """Whether the hits are a list that says nothing about its order but its order."""
        ranked = sum(hit.rank is not None for hit in hits)
        scored = any(hit.score for hit in hits)
        if 0 < ranked < len(hits):
            if not scored:
                msg = (
                    f"hits of query {query!r}: only {ranked} of {len(hits)} have a rank, and none "
                    "has a score; expected ranks or scores of all of them, or of none"
                )
                raise DataError(msg)
            self._notes[query] = (
                f"query {query!r}: not all hits have a rank, so they are ordered by score"
            )
        return not ranked and not scored and not isinstance(given, Mapping)


def _each_once(table: QueryTable, *, lenient: bool) -> QueryTable:
    if table.distinct or lenient:
        return table if table.distinct else table.without_repeats()
    for start, end in itertools.pairwise(table.offsets.tolist()):
        seen: set[bytes] = set()
        for row, document in enumerate(table.documents.to_bytes_list(start, end), start=start):
            if document in seen:
                raise table.repeated(row)
            seen.add(document)
    return table


def _hits(query: str, given: Any) -> Iterable[Hit]:
    if isinstance(given, Mapping):
        for identity, score in given.items():
            yield _checked(Hit(identity, score), f"hits of query {query!r}")
        return
    if isinstance(given, str) or not isinstance(given, Sequence):
        msg = f"hits of query {query!r}: expected a list of hits or a dict of scores, {_but(given)}"
        raise DataError(msg)
    for place, hit in enumerate(given):
        where = f"hits of query {query!r}, place {place}"
        if isinstance(hit, Hit):
            yield _checked(hit, where)
        elif isinstance(hit, str):
            yield _checked(Hit(hit, rank=place + 1), where)
        elif isinstance(hit, Mapping):
            yield _checked(Hit.from_json(hit, where), where)
        else:
            msg = f"{where}: expected a Hit, a JSON object or an id, {_but(hit)}"
            raise DataError(msg)


def _but(value: object) -> str:
    return f"found {found(value)}"


def _checked(hit: Hit, where: str) -> Hit:
    """The hit, if it is what it should be; a class can be handed anything."""
    checked_id(hit.id, f"{where}: an id")
    try:
        number = not isinstance(hit.score, bool) and not math.isnan(hit.score)
    except (TypeError, OverflowError):
        number = False
    if not number:
        msg = f"{where}: the score of {hit.id!r} must be a number, {_but(hit.score)}"
        raise DataError(msg)
    if hit.rank is not None and (type(hit.rank) is not int or hit.rank < 1):
        msg = f"{where}: the rank of {hit.id!r} must be a whole number from 1, {_but(hit.rank)}"
        raise DataError(msg)
    return hit


def checked_id(value: Any, what: str) -> str:
    """The id, if it is a string that can be written as UTF-8."""
    try:
        value.encode()
    except (AttributeError, UnicodeEncodeError):
        msg = f"{what} must be a string of valid Unicode text, {_but(value)}"
        raise DataError(msg) from None
    return str(value)


def _ordered(query: str, hits: list[Hit], rule: RankingRule) -> list[Hit]:
    """The hits, best first: by rank if all have one, or else by score."""
    ranks = [hit.rank for hit in hits if hit.rank is not None]
    if hits and len(ranks) == len(hits):
        if len(set(ranks)) < len(ranks):
            twice = next(rank for rank in ranks if ranks.count(rank) > 1)
            msg = f"hits of query {query!r}: rank {twice} stands twice"
            raise DataError(msg)
        return sorted(hits, key=lambda hit: hit.rank or 0)
    scores = [float(hit.score) for hit in hits]
    order = replace(rule, depth=None).order([hit.id.encode() for hit in hits], scores)
    return [hits[place] for place in order]


def _without_repeats(query: str, hits: list[Hit], *, lenient: bool) -> list[Hit]:
    seen: set[str] = set()
    kept = []
    for hit in hits:
        if hit.id not in seen:
            seen.add(hit.id)
            kept.append(hit)
        elif not lenient:
            msg = f"document {hit.id!r} stands twice in query {query!r}"
            raise RepeatedDocumentError(msg)
    return kept
