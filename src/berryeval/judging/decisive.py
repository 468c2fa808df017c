"""The next pair to judge, and when to stop.

The strategy `decisive` draws the next pair at random, with odds by the cube of how much its grade
can move the difference of the systems: the difference of its weights in the two. So the pairs that
decide come first, and the judged pairs of every rank are a random sample of that rank. Choosing by
what the grades so far predict needs a few judgments less, but is wrong more often than it says: the
pairs that it leaves are not like those that it took.

A comparison is decided when no grade can change its verdict, or when one verdict has a probability
of 95 % and enough pairs were judged to trust it (30, and a twentieth of all).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from berryeval.judging.contest import SURE, build_contests
from berryeval.judging.decisions import decide
from berryeval.judging.pool import Stop, draw_number, make_pair_id, order_pairs

if TYPE_CHECKING:
    from berryeval.judging.contest import Contest
    from berryeval.judging.ledger import Vote
    from berryeval.judging.pool import Pair, Pool

_PRECISION: Final = 50  # parts of the pairs that a forecast tells apart
_POWER: Final = 3  # of how much a pair can move the difference


def next_pair(
    pool: Pool, votes: Iterable[Vote], judge: str, passed: Collection[str] = ()
) -> Pair | Stop:
    """Return the next pair for a judge, or the reason to stop.

    For many pairs in a row, keep a `PairChooser`, which does not build its tables again.

    Args:
        pool: The pool.
        votes: All votes of the ledger, of all judges.
        judge: Name of the judge, who sees no pair twice.
        passed: Ids of pairs that the judge does not want to see now.
    """
    return PairChooser(pool).next_pair(votes, judge, passed)


class PairChooser:
    """Chooses the next pair of a pool by its strategy."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        decisive = pool.strategy == "decisive" and len(pool.rankings) > 1
        self._contests = build_contests(pool) if decisive else []

    def next_pair(
        self, votes: Iterable[Vote], judge: str, passed: Collection[str] = ()
    ) -> Pair | Stop:
        """Return the next pair for a judge; see the function `next_pair`."""
        votes = list(votes)
        open_pairs = list(order_pairs(self._pool, votes, judge, passed))
        found = self.choose(open_pairs, find_grades(votes) if self.decides else {}, judge)
        if isinstance(found, Stop) and passed and not open_pairs:
            return Stop(f"{found.reason}; {len(passed)} were passed over")
        return found if isinstance(found, Stop) else found[0]

    @property
    def decides(self) -> bool:
        """Whether the next pair depends on the grades so far."""
        return bool(self._contests)

    def choose(
        self, pairs: Sequence[Pair], grades: Mapping[str, float], judge: str, count: int = 1
    ) -> list[Pair] | Stop:
        """Return the next pairs for a judge, or the reason to stop.

        Args:
            pairs: Pairs that the judge has not voted on, in the order of the pool.
            grades: Decided grades by pair id; only needed if `decides`.
            judge: Name of the judge.
            count: Number of pairs.
        """
        if not pairs:
            return Stop(f"{judge} has judged every pair of the pool")
        if not self._contests:
            return list(pairs[:count])
        for one in self._contests:
            one.judge(grades)
        undecided = [one for one in self._contests if not one.is_decided()]
        if not undecided:
            return Stop(f"decided: {'; '.join(map(describe_verdict, self._contests))}")
        open_pairs = {pair.id: pair for pair in pairs}
        chosen = choose_pairs(undecided, count, self._pool.seed, open_pairs.keys())
        if not chosen:
            return Stop(f"{judge} has judged all that matters")
        return [open_pairs[name] for name in chosen]


def find_grades(votes: Iterable[Vote]) -> dict[str, float]:
    """Return the decided grades by pair id."""
    return {
        make_pair_id(one.query_id, one.target): one.grade
        for one in decide(votes).values()
        if one.grade is not None
    }


def choose_pairs(
    contests: Sequence[Contest], count: int, seed: int, allowed: Collection[str] | None = None
) -> list[str]:
    """Draw pairs, and return their ids in the order in which they should be judged.

    Drawing without replacement with odds is sorting by exponential random numbers over the odds
    (Efraimidis and Spirakis 2006).
    """
    rates: dict[str, float] = defaultdict(float)
    for one in contests:
        for name, rate in one.rate().items():
            rates[name] += rate
    keys = {
        name: -math.log(1 - draw_number(seed, f"next {name}")) / rate**_POWER
        for name, rate in rates.items()
        if rate > 0 and (allowed is None or name in allowed)
    }
    return sorted(keys, key=keys.__getitem__)[:count]


def forecast(contest: Contest, seed: int) -> int | None:
    """Return about how many more pairs a contest needs; None if all of them may not be enough.

    A few draws of the missing grades are taken for the truth in turn, and revealed in the order of
    judging until the other draws agree on the verdict. The model learns nothing meanwhile, so the
    number is rather too high.
    """
    order = choose_pairs([contest], len(contest.ids), seed)
    low, high = 0, len(order)
    if contest.foresee(order) < SURE:
        return None
    while high - low > max(1, len(order) // _PRECISION):
        middle = (low + high) // 2
        low, high = (low, middle) if contest.foresee(order[:middle]) >= SURE else (middle, high)
    return max(high, contest.enough - contest.judged)


def describe_verdict(contest: Contest) -> str:
    """Say the verdict of a contest and how sure it is."""
    verdict, probability = contest.weigh()
    sure = f"{contest.metric}, probability {probability:.0%}"
    if verdict == "no significant difference":
        return f"{verdict} between {contest.system} and {contest.baseline} ({sure})"
    return f"{contest.system} is {verdict} than {contest.baseline} ({sure})"
