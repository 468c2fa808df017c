"""What became of the queries of a system: how many it answered, and how many failed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval.harness.outcomes import FAILED, NO_ANSWER
from berryeval.reports.html.numbers import counted
from berryeval.reports.html.text import short

if TYPE_CHECKING:
    from berryeval.reports.model import System

__all__ = ["Outcomes", "outcomes_of"]

_KINDS_OF_ERRORS: Final = 3  # that are shown
_ERROR_CHARACTERS: Final = 500


@dataclass(frozen=True)
class Outcomes:
    """The answers of a system, counted.

    Attributes:
        asked: how many queries it was asked.
        failed: how many it did not answer: errors, timeouts, and what was never asked.
        kinds: all that were not answered with hits, by what happened: "error", "empty".
        errors: what was said when it failed, each once, with how often; the most frequent first.
        more_errors: how many more kinds of errors there were.
    """

    asked: int = 0
    failed: int = 0
    kinds: tuple[tuple[str, int], ...] = ()
    errors: tuple[tuple[str, int], ...] = ()
    more_errors: int = 0

    @property
    def answered(self) -> int:
        """How many queries it answered, be it with nothing."""
        return self.asked - self.failed

    @property
    def silent(self) -> bool:
        """Whether it was asked, and answered nothing at all."""
        return self.asked > 0 and self.answered == 0

    @property
    def telling(self) -> bool:
        """Whether its values say something: it answered more than half of what it was asked."""
        return self.failed == 0 or self.answered > self.failed

    def sentence(self, name: str) -> str:
        """What failed, and what that makes of its values; empty if nothing failed."""
        if not self.failed:
            return ""
        queries = counted(self.asked, "query", "queries")
        if self.silent:
            return f"{name} failed on all of {queries}; its values say nothing."
        worth = "they count as not answered" if self.telling else "its values say little"
        return f"{name} failed on {self.failed:,} of {queries}; {worth}."


def outcomes_of(system: System) -> Outcomes:
    """The outcomes of a system, from its answers, or as they were counted where there are none."""
    answers = system.record.answers
    counts = Counter(one.outcome for one in answers)
    if not answers:
        counts = Counter({str(name): int(count) for name, count in system.record.outcomes.items()})
    errors = Counter(
        short(one.error, _ERROR_CHARACTERS) for one in answers if one.outcome in NO_ANSWER
    )
    errors.pop("", None)
    wrong = (*FAILED, "empty", "missing")
    return Outcomes(
        asked=counts.total(),
        failed=sum(counts[name] for name in NO_ANSWER),
        kinds=tuple((name, counts[name]) for name in wrong if counts[name]),
        errors=tuple(errors.most_common(_KINDS_OF_ERRORS)),
        more_errors=max(0, len(errors) - _KINDS_OF_ERRORS),
    )
