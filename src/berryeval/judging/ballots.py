"""Ballots: the current votes on the pairs of a pool, kept up to date as votes come in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from berryeval.data import content_hash
from berryeval.judging.decisions import decide
from berryeval.judging.ledger import Vote, find_disputed, hash_query
from berryeval.judging.pool import make_pair_id

if TYPE_CHECKING:
    from berryeval.judging.pool import Pair, Pool


class Ballots:
    """The current votes on the relevance of pairs, of all judges.

    A vote is taken in without a look at the others, in any order and any number of times. Votes on
    another text than that of the pool, or for another question, do not count.

    Attributes:
        judges: Names of all who have judged.
        version: A number that grows with every vote that changes something.
    """

    def __init__(self, pool: Pool, queries: Mapping[str, str] | None = None) -> None:
        self.judges: set[str] = set()
        self.version = 0
        self._texts = {pair.id: content_hash(pair.text) for pair in pool.pairs if pair.text}
        self._asked = {name: hash_query(text) for name, text in (queries or {}).items()}
        self._last: dict[str, dict[tuple[str, bool], tuple[float, Vote]]] = defaultdict(dict)
        self._done: dict[str, set[str]] = defaultdict(set)
        self._grades: dict[str, float] = {}
        self._disputed: dict[str, bool] = {}  # pairs that judges disagree about: decided anyhow?
        self._changed: set[str] = set()

    def make_vote(self, pair: Pair, grade: float | None, judge: str, **fields: Any) -> Vote:
        """Return a vote on a pair, with what the judge saw and was asked."""
        content = self._texts.get(pair.id) or (content_hash(pair.text) if pair.text else "")
        asked = self._asked.get(pair.query_id, "")
        return Vote(
            pair.query_id, pair.target, grade, judge, content=content, asked=asked, **fields
        )

    def add(self, votes: Iterable[Vote]) -> None:
        """Take in votes; the latest of a judge on a pair counts."""
        for vote in votes:
            if vote.question != "relevance":
                continue
            self.judges.add(vote.judge)
            name, who = make_pair_id(vote.query_id, vote.target), (vote.judge, vote.adjudicates)
            moment, own = vote.moment, self._last[name]
            if who in own and (own[who][0] > moment or own[who][1] == vote):
                continue
            own[who] = moment, vote
            self.version += 1
            self._changed.add(name)
            either = (own.get((vote.judge, one)) for one in (False, True))
            if any(one is not None and self._counts(name, one[1]) for one in either):
                self._done[vote.judge].add(name)
            else:
                self._done[vote.judge].discard(name)

    def _counts(self, name: str, vote: Vote) -> bool:
        return (
            not vote.withdrawn
            and vote.content in {"", self._texts.get(name, vote.content)}
            and vote.asked in {"", self._asked.get(vote.query_id, vote.asked)}
        )

    def judged_by(self, judge: str) -> set[str]:
        """Return the ids of the pairs that a judge has judged."""
        return self._done[judge]

    def votes_on(self, pair_id: str) -> list[Vote]:
        """Return the current votes on a pair, oldest first."""
        held = sorted(self._last.get(pair_id, {}).values(), key=lambda one: one[0])
        return [vote for _, vote in held if self._counts(pair_id, vote)]

    @property
    def grades(self) -> Mapping[str, float]:
        """The decided grades by pair id."""
        self._decide_changed()
        return self._grades

    @property
    def disputed(self) -> Mapping[str, bool]:
        """The ids of pairs that judges disagree about, and whether a majority decides them."""
        self._decide_changed()
        return self._disputed

    def _decide_changed(self) -> None:
        for name in self._changed:
            self._grades.pop(name, None)
            self._disputed.pop(name, None)
            votes = self.votes_on(name)
            for decision in decide(votes).values():
                if decision.grade is not None:
                    self._grades[name] = decision.grade
                if find_disputed(votes):
                    self._disputed[name] = decision.how != "undecided"
        self._changed.clear()
