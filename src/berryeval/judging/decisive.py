"""The next pair to judge, and when to stop."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from berryeval.judging.pool import Stop, order_pairs

if TYPE_CHECKING:
    from berryeval.judging.ledger import Vote
    from berryeval.judging.pool import Pair, Pool


def next_pair(
    pool: Pool, votes: Iterable[Vote], judge: str, passed: Collection[str] = ()
) -> Pair | Stop:
    """Return the pair that a judge should see next, or why there is none.

    Args:
        pool: The pool.
        votes: All votes of the ledger, of all judges.
        judge: Name of the judge, who sees no pair twice.
        passed: Ids of pairs that the judge does not want to see now.
    """
    found = next(order_pairs(pool, votes, judge, passed), None)
    return found or Stop(f"{judge} has judged every pair of the pool")
