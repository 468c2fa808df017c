"""`Details`: what stands behind one score: how many queries, and who decided what is relevant."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["NO_STRATEGY", "STRATEGIES", "TOKEN_THRESHOLD", "Details", "Strategy", "strategy_used"]

# Who decided what is relevant to a query: judgments, the pack, the words of the expected answer,
# or nobody.
Strategy: TypeAlias = Literal["qrels", "pack", "token-fallback", "none"]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)
NO_STRATEGY: Final[Strategy] = "none"
TOKEN_THRESHOLD: Final = 0.3
_CUTOFF: Final = re.compile(r"@(\d+)$")


@dataclass(frozen=True)
class Details:
    """What stands behind one score.

    Attributes:
        average: the score: the mean over all queries, or what the measure asks for.
        queries_with_relevant: how many queries have anything relevant that could be found.
        total: how many queries the average is over.
        k: the cutoff of the measure; None if it has none.
        threshold: the overlap with the expected answer from which on a chunk is relevant, where
            nothing better than the words decides.
        strategy_used: who decided: "qrels", "pack" or "token-fallback", "mixed" if not the same for
            all queries, "none" if there was nothing to decide by.
        strategies: how many queries each of them decided, "none" among them.
    """

    average: float
    queries_with_relevant: int
    total: int
    k: int | None
    threshold: float
    strategy_used: str
    strategies: dict[Strategy, int]

    def to_dict(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return asdict(self)


def cutoff_of(measure: str) -> int | None:
    """The cutoff in the canonical name of a measure."""
    found = _CUTOFF.search(measure)
    return int(found[1]) if found else None


def strategy_counts(strategies: Sequence[Strategy], total: int) -> dict[Strategy, int]:
    """How many queries each strategy decided; where no strategies are noted, judgments did."""
    found = Counter(strategies) if strategies else Counter({"qrels": total})
    return {strategy: found[strategy] for strategy in STRATEGIES}


def strategy_used(counts: dict[Strategy, int]) -> str:
    """The one strategy, or "mixed"; queries that nobody decided do not make it so."""
    used = [name for name, count in counts.items() if count and name != NO_STRATEGY]
    if len(used) > 1:
        return "mixed"
    return used[0] if used else NO_STRATEGY
