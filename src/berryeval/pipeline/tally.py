"""What is counted of the answers of a provider while they are read, and what to say about it."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from fractions import Fraction
from typing import TYPE_CHECKING

from berryeval.harness.outcomes import FAILED
from berryeval.io.words import counted
from berryeval.providers.costs import is_amount

if TYPE_CHECKING:
    from berryeval.harness.ranking import Disorder, Ranking

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
        self._disorders: Counter[Disorder] = Counter()
        self._costs: dict[str, list[float]] = {}
        self._uncountable: set[str] = set()
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
            for name, amount in ranking.cost.items():
                if is_amount(amount):
                    self._costs.setdefault(name, []).append(amount)
                elif isinstance(amount, int) and not isinstance(amount, bool):
                    self._uncountable.add(name)  # of an older run: today it is an error
            if ranking.disorder:
                self._disorders[ranking.disorder] += 1

    @property
    def cost(self) -> dict[str, float]:
        """What an answered query cost on average; one that says nothing of it cost nothing."""
        return {
            name: _share(amounts, len(self.seconds))
            for name, amounts in sorted(self._costs.items())
            if name not in self._uncountable
        }

    def warnings(self, k: int, available: int | None = None) -> list[str]:
        """What the provider did that makes a comparison unfair, or a score doubtful.

        Args:
            k: how many hits it was asked for.
            available: how many there were to be had, if known.
        """
        found = []
        many = sum(count > k for count in self._different)
        if many:
            found.append(
                f"returned more than the {k} hits asked for in {_queries(many)}; cut to {k}"
            )
        few = sum(count < min(k, available or 0) for count in self._different)
        if few:
            found.append(f"returned fewer than the {k} hits asked for in {_queries(few)}")
        if self._repeated:
            found.append(f"returned {self._repeated} hits more than once; the first counts")
        found += self._about_order()
        found += [
            f"reported a cost {name!r} beyond all numbers; it has no mean"
            for name in sorted(self._uncountable)
        ]
        if self._failed:
            verb = "scores" if self._failed == 1 else "score"
            words = f"{_queries(self._failed)} failed and {verb} 0"
            found.append(f"{words}; the last: {self._last_error}")
        return found

    def _about_order(self) -> list[str]:
        """Whether the scores of the provider say something else than the order of its hits."""
        tied = self._disorders["tied"]
        found = [self._about_ties(tied)] if tied else []
        wrong = self._disorders.total() - tied
        if not wrong:
            return found
        what = "came in another order than their scores say"
        hint = "the scores decide; is the score the one that the hits were ranked by?"
        if self._disorders["reversed"] == wrong:
            what = "came with scores that grow from the first hit to the last"
            hint = "they look like distances: give 1 - distance, or negate them; the highest counts"
        return [f"the hits of {wrong} of {_queries(len(self._different))} {what}; {hint}", *found]

    def _about_ties(self, count: int) -> str:
        return (
            f"hits of equal scores were moved in {count} of {_queries(len(self._different))}: they "
            "are ordered by id, the highest first, as trec_eval does; to keep the order of the "
            "answer, give scores that differ, or none"
        )


def _share(amounts: list[float], count: int) -> float:
    """The sum of so many amounts or fewer, divided by the count."""
    try:
        return math.fsum(amounts) / count
    except OverflowError:  # of the sum: the quotient is no larger than the largest of them
        return float(sum(map(Fraction, amounts)) / count)


def _queries(count: int) -> str:
    return counted(count, "query", "queries")
