"""Rankings of hits in any form, and the details behind a score."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.serial import describe_json
from berryeval.data import STRATEGIES, Hit, Run, Strategy
from berryeval.errors import DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from berryeval.data import QueryTable, RankingRule


class Rankings:
    """The hits of a system per query, best first, read on demand.

    The source is `{query: hits}`, where hits are a list of `Hit`s, JSON objects or ids (best
    first), or a dict of ids and scores; or anything that `Run.load` accepts. The rule orders hits
    with scores but without ranks, and limits the depth. If `lenient`, repeated hits are dropped and
    counted in `dropped`, else they are an error.
    """

    def __init__(self, source: Any, rule: RankingRule, *, lenient: bool = False) -> None:
        self.name, self.dropped = "run", 0
        if not isinstance(source, Mapping):
            run = Run.load(source, lenient=lenient)
            table = _remove_repeated_rows(run.table, lenient=lenient)
            self.name, source, self.dropped = run.name, table.to_dict(), table.dropped
        self._source: Mapping[Any, Any] = source
        self._rule = rule
        self._lenient = lenient
        self._notes: dict[str, str] = {}

    def __contains__(self, query: str) -> bool:
        return query in self._source

    def of(self, query: str) -> list[Hit]:
        """Return the hits of a query; none if the query is unknown."""
        if query not in self._source:
            return []
        check_id(query, "the id of a query with hits")
        given = self._source[query]
        hits = [_check_hit(hit, where) for hit, where in _read_hits(query, given)]
        if not self._is_in_order(query, given, hits):
            hits = _sort_hits(query, hits, self._rule)
        kept = _remove_repeats(query, hits, lenient=self._lenient)
        self.dropped += len(hits) - len(kept)
        return kept[: self._rule.depth]

    def beyond(self, queries: Iterable[str]) -> list[str]:
        """Return the other queries of the system, after checking their hits."""
        known = set(queries)
        others = [query for query in self._source if query not in known]
        for query in others:
            self.of(query)
        return sorted(others, key=str.encode)

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on the hits read so far, one line each."""
        return tuple(self._notes[query] for query in self._source if query in self._notes)

    def _is_in_order(self, query: str, given: Any, hits: list[Hit]) -> bool:
        """Return whether the hits are a list without ranks and scores."""
        ranked = sum(hit.rank is not None for hit in hits)
        scored = any(hit.score for hit in hits)
        if 0 < ranked < len(hits):
            if not scored:
                raise DataError(
                    f"hits of query {query!r}: only {ranked} of {len(hits)} have a rank, and none "
                    "has a score; expected ranks or scores for all of them or none"
                )
            self._notes[query] = (
                f"query {query!r}: not all hits have a rank, so they are ordered by score"
            )
        return not ranked and not scored and not isinstance(given, Mapping)


def _remove_repeated_rows(table: QueryTable, *, lenient: bool) -> QueryTable:
    if table.distinct or lenient:
        return table if table.distinct else table.without_repeats()
    for start, end in itertools.pairwise(table.offsets.tolist()):
        seen: set[bytes] = set()
        for row, document in enumerate(table.documents.to_bytes_list(start, end), start=start):
            if document in seen:
                raise table.repeated_error(row)
            seen.add(document)
    return table


def _read_hits(query: str, given: Any) -> Iterator[tuple[Hit, str]]:
    if isinstance(given, Mapping):
        yield from ((Hit(*item), f"hits of query {query!r}") for item in given.items())
        return
    if isinstance(given, str) or not isinstance(given, Sequence):
        raise DataError(
            f"hits of query {query!r}: expected a list of hits or a dict of scores, {_but(given)}"
        )
    for place, hit in enumerate(given):
        where = f"hits of query {query!r}, place {place}"
        if isinstance(hit, Hit):
            yield hit, where
        elif isinstance(hit, str):
            yield Hit(hit, rank=place + 1), where
        elif isinstance(hit, Mapping):
            yield Hit.from_json(hit, where), where
        else:
            raise DataError(f"{where}: expected a Hit, a JSON object or an id, {_but(hit)}")


def _but(value: object) -> str:
    return f"found {describe_json(value)}"


def _check_hit(hit: Hit, where: str) -> Hit:
    check_id(hit.id, f"{where}: an id")
    try:
        number = not isinstance(hit.score, bool) and not math.isnan(hit.score)
    except (TypeError, OverflowError):
        number = False
    if not number:
        raise DataError(f"{where}: the score of {hit.id!r} must be a number, {_but(hit.score)}")
    if hit.rank is not None and (type(hit.rank) is not int or hit.rank < 1):
        raise DataError(
            f"{where}: the rank of {hit.id!r} must be a whole number from 1, {_but(hit.rank)}"
        )
    return hit


def check_id(value: Any, what: str) -> str:
    """Return an id after checking that it is a string of valid Unicode."""
    try:
        value.encode()
    except (AttributeError, UnicodeEncodeError):
        raise DataError(f"{what} must be a string of valid Unicode text, {_but(value)}") from None
    return str(value)


def _sort_hits(query: str, hits: list[Hit], rule: RankingRule) -> list[Hit]:
    ranks = [hit.rank for hit in hits if hit.rank is not None]
    if hits and len(ranks) == len(hits):
        if len(set(ranks)) < len(ranks):
            twice = next(rank for rank in ranks if ranks.count(rank) > 1)
            raise DataError(f"hits of query {query!r}: rank {twice} is not unique")
        return sorted(hits, key=lambda hit: hit.rank or 0)
    scores = [float(hit.score) for hit in hits]
    order = replace(rule, depth=None).order([hit.id.encode() for hit in hits], scores)
    return [hits[place] for place in order]


def _remove_repeats(query: str, hits: list[Hit], *, lenient: bool) -> list[Hit]:
    seen: set[str] = set()
    kept = []
    for hit in hits:
        if hit.id not in seen:
            seen.add(hit.id)
            kept.append(hit)
        elif not lenient:
            raise RepeatedDocumentError(f"document {hit.id!r} appears twice in query {query!r}")
    return kept


NO_STRATEGY: Final[Strategy] = "none"
_CUTOFF: Final = re.compile(r"@(\d+)$")


@dataclass(frozen=True)
class Details:
    """The details behind one score.

    Attributes:
        average: The score: the mean over all queries, or another aggregate.
        queries_with_relevant: Number of queries with something relevant to find.
        total: Number of queries in the average.
        k: Cutoff of the metric; None if it has none.
        threshold: Minimum overlap of a relevant chunk with the expected answer, for queries
            without judgments and pack.
        strategy_used: "qrels", "pack" or "token-fallback"; "mixed" if queries differ, "none" if
            relevance could not be decided.
        strategies: Number of queries per strategy, including "none".
    """

    average: float
    queries_with_relevant: int
    total: int
    k: int | None
    threshold: float
    strategy_used: str
    strategies: dict[Strategy, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the details for JSON."""
        return asdict(self)


def cutoff_of(metric: str) -> int | None:
    """Return the cutoff in the canonical name of a metric."""
    found = _CUTOFF.search(metric)
    return int(found[1]) if found else None


def strategy_counts(strategies: Sequence[Strategy], total: int) -> dict[Strategy, int]:
    """Count the queries per strategy; without strategies, all were decided by judgments."""
    found = Counter(strategies) if strategies else Counter({"qrels": total})
    return {strategy: found[strategy] for strategy in STRATEGIES}


def strategy_used(counts: dict[Strategy, int]) -> str:
    """Return the strategy used, or "mixed"; queries without a strategy are ignored."""
    used = [name for name, count in counts.items() if count and name != NO_STRATEGY]
    if len(used) > 1:
        return "mixed"
    return used[0] if used else NO_STRATEGY
