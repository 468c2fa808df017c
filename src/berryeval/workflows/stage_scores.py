"""The stages of a provider that searches in several, each scored alone.

The ranking of each stage but the last is scored as if it were the answer. The hits that the next
stage orders again are also scored in their best order, by grade: what a perfect reranker would
reach.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval._internal.text import pluralize
from berryeval._internal.validate import is_number
from berryeval.runner import FAILED
from berryeval.runs import Latency, StageRecord
from berryeval.scoring import judge_and_score

if TYPE_CHECKING:
    from berryeval.data import Hit
    from berryeval.relevance import Judged, Relevance
    from berryeval.runner import Answers, Ranking, StageRanking
    from berryeval.scoring import Scores

_RECALL: Final = "SetR"


@dataclass
class _Stage:
    """Times, costs and depths of one stage."""

    name: str
    seconds: list[float] = field(default_factory=list)
    costs: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    reranked: dict[str, int] = field(default_factory=dict)  # by query
    unplaced: list[int] = field(default_factory=list)  # of the queries with any

    def add(self, query: str, one: StageRanking) -> None:
        self.seconds.append(one.latency)
        self.reranked[query] = one.reranked
        self.unplaced += [one.unplaced] if one.unplaced else []
        for name, amount in one.cost.items():
            if is_number(amount):
                self.costs[name].append(amount)

    @property
    def deepest(self) -> int:
        return max(self.reranked.values(), default=0)

    def build(self, batch: int) -> StageRecord:
        count = len(self.seconds)
        cost = {name: math.fsum(found) / count for name, found in sorted(self.costs.items())}
        return StageRecord(
            self.name, None, Latency.of(self.seconds, batch), cost, reranked=self.deepest
        )


class _Scored(NamedTuple):
    """Scores of a ranking, recall of the hits that it passes on, and scores of their best order."""

    ranking: Scores
    recall: float
    ideal: Scores


class StageHits(Mapping[str, "Sequence[Hit]"]):
    """The hits of one stage by query, read from the journal; in these orders if any are given."""

    def __init__(
        self,
        answers: Answers,
        queries: Sequence[str],
        place: int,
        orders: Mapping[str, Sequence[int]] | None = None,
    ) -> None:
        self._answers = answers
        self._queries = dict.fromkeys(queries)
        self._place = place
        self._orders = orders

    def __getitem__(self, query: str) -> Sequence[Hit]:
        if query not in self._queries:
            raise KeyError(query)
        hits = self._answers.ranking(query).stages[self._place].hits
        if self._orders is None:
            return hits
        order = (place for place in self._orders[query] if place < len(hits))
        return [replace(hits[place], rank=rank) for rank, place in enumerate(order, start=1)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)


def record_stages(
    relevance: Relevance, answers: Answers, metrics: Sequence[str], k: int, provider: str
) -> tuple[tuple[StageRecord, ...], list[str]]:
    """Score every stage; also return warnings. Both are empty if the search has one stage.

    A query counts for a stage if it came that far: an error of the reranker keeps the first stage.
    If all queries failed, the stage in which they did has the name of the provider.
    """
    chain = _find_chain(answers, provider)
    stages = [_Stage(name) for name in chain]
    reached: list[list[str]] = [[] for _ in chain]
    batch = 1
    for query in answers if chain else ():
        ranking = answers.ranking(query)
        batch = max(batch, ranking.batch)
        for place in range(_count_reached(ranking, chain)):
            reached[place].append(query)
            if ranking.outcome not in FAILED:
                stages[place].add(query, ranking.stages[place])
    records = [one.build(batch) for one in stages]
    for place, after in enumerate(stages[1:]):
        failed = len(reached[place]) - len(reached[place + 1])
        records[place + 1] = replace(records[place + 1], failed=failed)
        depth_of = {query: after.reranked.get(query, after.deepest) for query in reached[place]}
        scored = _score_stage(relevance, answers, metrics, place, depth_of, k)
        records[place] = replace(records[place], scores=scored.ranking)
        if after.reranked:  # else the next stage has failed for all queries, at an unknown depth
            records[place] = replace(records[place], recall=scored.recall, ideal=scored.ideal)
    lost = len(answers) - len(reached[0]) if chain else 0
    return tuple(records), list(_warn(stages, lost))


def _find_chain(answers: Answers, provider: str) -> tuple[str, ...]:
    """Return the names of the stages of the first query that went through all of them.

    If none did: those of the query that came furthest, and the provider as the one that failed.
    """
    furthest: tuple[str, ...] = ()
    for query in answers:
        ranking = answers.ranking(query)
        names = tuple(one.name for one in ranking.stages)
        if ranking.outcome not in FAILED:
            return names
        furthest = max(furthest, names, key=len)
    return (*furthest, provider) if furthest else ()


def _count_reached(ranking: Ranking, chain: Sequence[str]) -> int:
    names = [one.name for one in ranking.stages]
    same = [one == other for one, other in zip(names, chain, strict=False)]
    return same.index(False) if False in same else len(same)


def _score_stage(
    relevance: Relevance,
    answers: Answers,
    metrics: Sequence[str],
    place: int,
    depth_of: Mapping[str, int],
    k: int,
) -> _Scored:
    """Score a ranking, what is found in the hits passed on, and the best order of these."""
    queries = list(depth_of)
    hits = StageHits(answers, queries, place)
    orders: dict[str, list[int]] = {}

    def order(query: str, ranked: Sequence[Hit], judged: Judged) -> None:
        if query in depth_of:
            best = _find_best_order(judged, len(ranked))
            orders[query] = [*best, *range(len(best), len(hits[query]))]

    scores = judge_and_score(relevance, hits, metrics, k=k)
    passed_on = {query: range(depth) for query, depth in depth_of.items()}
    reranked = StageHits(answers, queries, place, passed_on)
    recall = judge_and_score(relevance, reranked, [_RECALL], seen=order)
    ideal = judge_and_score(relevance, StageHits(answers, queries, place, orders), metrics, k=k)
    return _Scored(
        scores.select(queries), recall.select(queries).mean[_RECALL], ideal.select(queries)
    )


def _find_best_order(judged: Judged, count: int) -> list[int]:
    """Return the positions of hits by grade; of two equal ones, first the one of more targets."""
    grades: dict[int, list[float]] = defaultdict(list)
    for hit in (*judged.ranking.hits, *judged.ranking.also):
        grades[hit.rank - 1].append(max(hit.grade, 0.0))
    worth = [(max(grades[at], default=0.0), sum(grades[at])) for at in range(count)]
    return sorted(range(count), key=lambda at: worth[at], reverse=True)


def _warn(stages: Sequence[_Stage], lost: int) -> Iterator[str]:
    if lost:
        queries = pluralize(lost, "query")
        yield (
            f"{queries} ended before the first stage was known, such as after a timeout: the table "
            "of stages leaves them out, and so shows other means than the scores of the provider"
        )
    for one in stages:
        if one.unplaced:
            hits = pluralize(sum(one.unplaced), "hit")
            queries = pluralize(len(one.unplaced), "query")
            yield (
                f"{one.name} left out {hits} in {queries}; they keep the order of the stage before "
                "after those it placed"
            )
