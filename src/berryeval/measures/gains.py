"""What a document gains its reader: the rules that nDCG and its relatives share."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from berryeval.measures.base import JudgedRanking
    from berryeval.measures.parameters import Discounting, Gains

__all__ = ["NO_JUDGMENT", "GainOf", "GainRule", "best_gains", "walk"]

# The level of a document is its grade, or one of these; the numbers are trec_eval's.
NO_JUDGMENT: Final = -1.0
NOT_JUDGED: Final = -2.0

# The exponent from which on 2^grade grows no more, so that every gain is a finite number.
LARGEST: Final = 1000.0

GainOf: TypeAlias = Callable[[float], float]


@dataclass(frozen=True)
class GainRule:
    """The gain of a level: the grade, 2^grade - 1, or what the caller says.

    Two levels of `gains` stand for documents that were not judged, as in trec_eval: -1 for those
    without a line in the judgments, -2 for those in the pool (with whatever grade below 0). Such
    documents never belong to the ideal ranking.

    Attributes:
        gains: the gains of some levels, instead of what the rule would give them.
        dcg: 'log2' for the grade itself, 'exp-log2' for 2^grade - 1.
        rel: a judged document below this grade gains nothing.
    """

    gains: Gains | None = None
    dcg: Discounting = "log2"
    rel: float = 0.0

    def __call__(self, level: float) -> float:
        """The gain of a level."""
        if 0 <= level < self.rel:
            return 0.0
        for known, gain in self.gains or ():
            if known == level:
                return gain
        if level < 0:
            return 0.0
        return 2.0 ** min(level, LARGEST) - 1.0 if self.dcg == "exp-log2" else level


def walk(
    judged: JudgedRanking, gain_of: GainOf, cutoff: int | None = None
) -> Iterator[tuple[int, float]]:
    """The ranks that gain (or cost) something, with how much, from rank 1 down."""
    unknown = gain_of(NO_JUDGMENT)
    depth = judged.retrieved if cutoff is None else min(cutoff, judged.retrieved)
    rank = 0
    for hit in judged.hits:
        if hit.rank > depth:
            break
        if unknown:
            yield from ((between, unknown) for between in range(rank + 1, hit.rank))
        rank = hit.rank
        gain = gain_of(hit.grade if hit.grade >= 0 else NOT_JUDGED)
        if gain:
            yield rank, gain
    if unknown:
        yield from ((after, unknown) for after in range(rank + 1, depth + 1))


def best_gains(judged: JudgedRanking, gain_of: GainOf, cutoff: int | None = None) -> list[float]:
    """The positive gains of the judged documents, highest first: the ideal ranking."""
    gains = (gain_of(grade) for grade in judged.grades if grade >= 0)
    return sorted((gain for gain in gains if gain > 0), reverse=True)[:cutoff]
