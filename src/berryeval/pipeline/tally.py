"""What is counted of the answers of a provider while they are read, and what to say about it."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from berryeval.harness.ranking import FAILED

if TYPE_CHECKING:
    from berryeval.harness.ranking import Ranking

__all__ = ["Tally"]


class Tally:
    """Counts answers.

    Attributes:
        seconds: that each answered query took.
        batch: the most queries that were asked together.
    """

    def __init__(self) -> None:
        self.seconds = array("d")
        self.batch = 1
        self._different = array("q")
        self._repeated = 0
        self._failed = 0
        self._last_error = ""

    def add(self, ranking: Ranking) -> None:
        """Count an answer."""
        self.batch = max(self.batch, ranking.batch)
        self._repeated += ranking.repeated
        if ranking.outcome in FAILED:
            self._failed += 1
            self._last_error = ranking.error
        else:
            self.seconds.append(ranking.latency)
            self._different.append(ranking.returned - ranking.repeated)

    def warnings(self, k: int, available: int | None = None) -> list[str]:
        """What the provider did that makes a comparison unfair, or a score doubtful.

        Args:
            k: how many hits it was asked for.
            available: how many there were to be had, if known.
        """
        found = []
        many = sum(count > k for count in self._different)
        if many:
            found.append(f"returned more than the {k} hits asked for in {many} queries; cut to {k}")
        few = sum(count < min(k, available or 0) for count in self._different)
        if few:
            found.append(f"returned fewer than the {k} hits asked for in {few} queries")
        if self._repeated:
            found.append(f"returned {self._repeated} hits more than once; the first counts")
        if self._failed:
            failed = f"{self._failed} queries failed and score 0; the last: {self._last_error}"
            found.append(failed)
        return found
