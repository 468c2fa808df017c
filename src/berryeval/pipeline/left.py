"""What is left to be asked in a run that was begun, and whether that is worth it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.errors import RunFailedError
from berryeval.harness.outcomes import FAILED
from berryeval.harness.policy import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.harness.policy import Policy
    from berryeval.records import Query

__all__ = ["check_budget", "left_to_ask"]


def left_to_ask(
    queries: Sequence[Query], outcomes: Mapping[str, str], *, retry_errors: bool
) -> tuple[list[Query], Progress]:
    """The queries to be asked, and how far the run is without them.

    Args:
        queries: all of the run.
        outcomes: of queries that were asked before.
        retry_errors: ask those that failed again; until then they have no outcome.
    """
    again = FAILED if retry_errors else ()
    kept = {query: outcome for query, outcome in outcomes.items() if outcome not in again}
    left = [query for query in queries if query.id not in kept]
    failed = sum(kept.get(query.id) in FAILED for query in queries)
    return left, Progress(len(queries) - len(left), failed)


def check_budget(before: Progress, total: int, policy: Policy) -> None:
    """Give a run up again whose error budget was used up before: it would be in the next query."""
    if policy.is_hopeless(before.failed, before.done, total):
        msg = (
            f"nothing was asked: {before.failed} of {before.done} queries failed before (of "
            f"{total}; the error budget is {policy.error_budget:g}); ask them again "
            "(--retry-errors, in Python retry_errors=True), or make a new run"
        )
        raise RunFailedError(msg)
