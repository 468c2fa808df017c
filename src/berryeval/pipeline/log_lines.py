"""What the log says about a run: its quality, and what of it is older than it looks."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from berryeval.io.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.scores import Scores

__all__ = ["NOTE", "say_damaged", "say_quality", "say_taken"]

# The command shows it, as it shows warnings; who uses the library is not bothered with it.
NOTE: Final = logging.INFO + 5
logging.addLevelName(NOTE, "NOTE")

# Whatever is asked for, the log says the same three, by the names people know.
_QUALITY: Final = {"P@5": "P@5", "P@10": "P@10", "RR": "MRR"}
log = logging.getLogger("berryeval")


def say_quality(scores: Scores, strategies: Mapping[str, str]) -> None:
    """Log what every run should say.

    Args:
        scores: hold at least the standard measures.
        strategies: who decided about each query that was answered. Where words did, nobody knows
            what there is to find: only what was found can be relevant.
    """
    from berryeval.reports import numbers

    means = ", ".join(
        f"{shown}={numbers.measure(scores.mean[name])}" for name, shown in _QUALITY.items()
    )
    log.info("Quality metrics: %s", means)
    first = scores.per_query("RR")
    for query, outcome in zip(scores.queries, scores.outcomes, strict=True):
        known = outcome != "no relevant documents" or strategies.get(query) == "token-fallback"
        if query in strategies and first[query] == 0 and known:
            log.warning("Query %s returned no relevant results", query)


def say_taken(provider: str, benchmark: str, taken: int, total: int, since: str) -> None:
    """Log how many answers of a provider are not asked for again, and of when they are."""
    if taken:
        text = "%s on %s: %d of %d answers are from the journal of the run of %s"
        log.log(NOTE, text, provider, benchmark, taken, total, since)


def say_damaged(provider: str, benchmark: str, damaged: int) -> None:
    """Log how many lines of a journal could not be read."""
    if damaged:
        lines = counted(damaged, "damaged line")
        text = "%s on %s: %s of the journal left out; a query with no other line is asked again"
        log.warning(text, provider, benchmark, lines)
