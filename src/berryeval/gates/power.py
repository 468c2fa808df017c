"""The power of a gate: the drops that it detects with a number of queries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval._internal.text import pluralize
from berryeval.gates.rules import ROUNDING
from berryeval.stats import POWER, queries_needed, spread_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from berryeval.gates.regression import Sample
    from berryeval.stats import Floats


_ENOUGH: Final = 0.1  # a gate that notices when every tenth query is ruined needs no advice
_MOST: Final = 100_000  # queries that are worth a word
_STEP: Final = 1.02
_NORMAL: Final = NormalDist()


@dataclass(frozen=True)
class Power:
    """Power of rules about drops, if some queries get worse and none better.

    Attributes:
        queries: Number of queries that are compared.
        family: Number of drops that are tested together.
        significance: Significance level of the rules.
        group: Group of queries, such as "category=factual"; empty for all.
    """

    queries: int
    family: int = 1
    significance: float = 0.05
    group: str = ""

    @classmethod
    def of(cls, samples: Sequence[Sample]) -> Power | None:
        """Return the power of the rule with the fewest queries; None without samples."""
        found = [
            cls(len(one.before), len(samples), one.rule.significance, one.rule.group)
            for one in samples
        ]
        return min(found, key=lambda one: one.queries, default=None)

    @property
    def fewest(self) -> int:
        """Fewest worse queries that make a drop significant, if none is better.

        The smallest p of k changed queries is 2 / 2^k, times the number of drops.
        """
        return 1 + math.ceil(math.log2(self.family / self.significance) - 1e-9)

    @cached_property
    def share(self) -> float | None:
        """Smallest share of ruined queries detected with 80 % power; None if none is."""
        if self.queries < self.fewest:
            return None
        low, high = 0.0, 1.0
        for _ in range(30):
            middle = (low + high) / 2
            if _chance_of(self.fewest, self.queries, middle) < POWER:
                low = middle
            else:
                high = middle
        return high

    @cached_property
    def needed(self) -> int:
        """Number of queries with 80 % power to detect that every tenth is ruined."""
        count = self.fewest
        while _chance_of(self.fewest, count, _ENOUGH) < POWER:
            count += 1
        return count

    @property
    def sentence(self) -> str:
        """The detectable drop, and how many queries would detect a smaller one."""
        of_group = f" of {self.group}" if self.group else ""
        queries = f"{pluralize(self.queries, 'query')}{of_group}"
        together = f" when {self.family} drops are tested together" if self.family > 1 else ""
        advice = (
            f"About {self.needed} queries{of_group} notice a change that ruins every tenth of them"
        )
        advice += ", fewer if less is tested together" if self.family > 1 else ""
        if self.share is None:
            return (
                f"{queries} can never fail a rule about a drop{together}, because at least "
                f"{self.fewest} have to get worse. {advice}"
            )
        found = (
            f"with {queries} a drop fails only if at least {self.fewest} get worse{together}. "
            f"A change that ruins {self.share * 100:.0f} % of them is noticed in four of five "
            "runs, a smaller one less often"
        )
        return f"{found}. {advice}" if self.share > _ENOUGH else found

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        names = ("queries", "family", "significance", "group", "fewest", "share", "needed")
        return {**{name: getattr(self, name) for name in names}, "sentence": self.sentence}


def estimate_needed(
    values: Floats,
    effect: float,
    level: float,
    decides: Callable[[npt.NDArray[np.intp], float], bool],
) -> int | None:
    """Return about how many queries like these decide a rule in four of five sets.

    None if no number does, or more than 100,000.

    Args:
        values: Values of the queries, or their changes.
        effect: Distance of the mean from the value that decides.
        level: Confidence level of the decision.
        decides: Whether these places of the values, repeated, decide by this margin.
    """
    if abs(effect) <= ROUNDING:
        return None
    count = max(len(values) + 1, queries_needed(values, effect, level=level) or 0)
    order = np.argsort(values, kind="stable")
    spread = _NORMAL.inv_cdf(POWER) * spread_of(values)
    while count <= _MOST:
        places = order[((np.arange(count) + 0.5) * len(values) / count).astype(np.intp)]
        if decides(places, spread / math.sqrt(count)):
            digits: int = 10 ** max(len(str(count)) - 2, 0)
            return math.ceil(count / digits) * digits
        count = math.ceil(count * _STEP)
    return None


def _chance_of(least: int, count: int, share: float) -> float:
    """Return the probability of at least this number of `count` with this share."""
    fewer = sum(math.comb(count, n) * share**n * (1 - share) ** (count - n) for n in range(least))
    return 1 - fewer
