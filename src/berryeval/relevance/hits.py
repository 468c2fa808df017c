"""Hits in any form, as rankings: by their ranks, by THE ordering rule, or as they are listed."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

from berryeval._internal.records import found
from berryeval.data import Hit, Run
from berryeval.errors import DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.data import QueryTable, RankingRule


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


# `Details`: what stands behind one score: how many queries, and who decided what is relevant.

# Who decided what is relevant to a query: judgments, the pack, the words of the expected answer,
# or nobody.
Strategy: TypeAlias = Literal["qrels", "pack", "token-fallback", "none"]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)
NO_STRATEGY: Final[Strategy] = "none"
TOKEN_THRESHOLD: Final = 0.3
_CUTOFF: Final = re.compile(r"@(\d+)$")


@dataclass(frozen=True)
class Details:
    """What stands behind one score.

    Attributes:
        average: the score: the mean over all queries, or what the metric asks for.
        queries_with_relevant: how many queries have anything relevant that could be found.
        total: how many queries the average is over.
        k: the cutoff of the metric; None if it has none.
        threshold: the overlap with the expected answer from which on a chunk is relevant, where
            nothing better than the words decides.
        strategy_used: who decided: "qrels", "pack" or "token-fallback", "mixed" if not the same for
            all queries, "none" if there was nothing to decide by.
        strategies: how many queries each of them decided, "none" among them.
    """

    average: float
    queries_with_relevant: int
    total: int
    k: int | None
    threshold: float
    strategy_used: str
    strategies: dict[Strategy, int]

    def to_dict(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return asdict(self)


def cutoff_of(metric: str) -> int | None:
    """The cutoff in the canonical name of a metric."""
    found = _CUTOFF.search(metric)
    return int(found[1]) if found else None


def strategy_counts(strategies: Sequence[Strategy], total: int) -> dict[Strategy, int]:
    """How many queries each strategy decided; where no strategies are noted, judgments did."""
    found = Counter(strategies) if strategies else Counter({"qrels": total})
    return {strategy: found[strategy] for strategy in STRATEGIES}


def strategy_used(counts: dict[Strategy, int]) -> str:
    """The one strategy, or "mixed"; queries that nobody decided do not make it so."""
    used = [name for name, count in counts.items() if count and name != NO_STRATEGY]
    if len(used) > 1:
        return "mixed"
    return used[0] if used else NO_STRATEGY
