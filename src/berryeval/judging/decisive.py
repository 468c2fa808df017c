"""The next pair to judge, and when to stop.

The strategy `decisive` shows the pair whose grade can move the differences of the systems most: the
difference of its weights in the two systems times the uncertainty of its gain. Every fourth pair is
drawn at random among those that matter, so that the rates that the model learns stay honest. A
comparison is decided when no grade can change its verdict, or when one verdict has a probability of
95 % and 30 pairs were judged.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final

from berryeval.judging.contest import build_contests
from berryeval.judging.decisions import decide
from berryeval.judging.pool import Stop, draw_number, make_pair_id, order_pairs

if TYPE_CHECKING:
    from berryeval.judging.contest import Contest
    from berryeval.judging.ledger import Vote
    from berryeval.judging.pool import Pair, Pool

_RANDOM: Final = 4  # one of so many pairs is drawn at random


def next_pair(
    pool: Pool, votes: Iterable[Vote], judge: str, passed: Collection[str] = ()
) -> Pair | Stop:
    """Return the pair that a judge should see next, or why there is none.

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
        open_pairs = {pair.id: pair for pair in order_pairs(self._pool, votes, judge, passed)}
        if not open_pairs:
            more = f"; {len(passed)} were passed over" if passed else ""
            return Stop(f"{judge} has judged every pair of the pool{more}")
        if not self._contests:
            return next(iter(open_pairs.values()))
        grades = find_grades(votes)
        for one in self._contests:
            one.judge(grades)
        undecided = [one for one in self._contests if not one.is_decided()]
        if not undecided:
            return Stop(f"decided: {'; '.join(map(describe_verdict, self._contests))}")
        chosen = choose_pairs(undecided, 1, self._pool.seed, open_pairs.keys())
        return open_pairs[chosen[0]] if chosen else Stop(f"{judge} has judged all that matters")


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
    """Return the ids of the most decisive pairs, with some that are drawn at random."""
    rates: Counter[str] = Counter()
    for one in contests:
        rates.update({name: rate for name, rate in one.rate().items() if rate > 0})  # type: ignore[dict-item]
    order = [name for name, _ in rates.most_common() if allowed is None or name in allowed]
    return _mix(order, count, max(one.judged for one in contests), seed)


def _mix(order: Sequence[str], count: int, judged: int, seed: int) -> list[str]:
    lots = iter(sorted(order, key=lambda name: draw_number(seed, name)))
    best = iter(order)
    chosen: dict[str, None] = {}
    while len(chosen) < min(count, len(order)):
        source = lots if (judged + len(chosen)) % _RANDOM == _RANDOM - 1 else best
        chosen[next(name for name in source if name not in chosen)] = None
    return list(chosen)


def describe_verdict(contest: Contest) -> str:
    """Say the verdict of a contest and how sure it is."""
    verdict, probability = contest.weigh()
    sure = f"{contest.metric}, probability {probability:.0%}"
    if verdict == "no significant difference":
        return f"{verdict} between {contest.system} and {contest.baseline} ({sure})"
    return f"{contest.system} is {verdict} than {contest.baseline} ({sure})"
