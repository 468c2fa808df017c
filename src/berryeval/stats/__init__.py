"""Statistics: whether systems differ, by how much, how sure that is, and what would tell.

`compare` does the whole job for tables of scores; the functions beneath it take the values of two
systems for the same queries, in the same order.
"""

from berryeval.measures.direction import direction_of
from berryeval.stats.comparing import compare
from berryeval.stats.comparison import Comparison, PairedDifference
from berryeval.stats.corrections import CORRECTIONS, corrected
from berryeval.stats.effect_size import EffectSizes, effect_sizes, magnitude
from berryeval.stats.equivalence import Equivalence, equivalence
from berryeval.stats.interval import difference_interval, mean_interval
from berryeval.stats.paired import Pair
from berryeval.stats.power import minimum_detectable_difference, power_of, queries_needed
from berryeval.stats.result import TestResult
from berryeval.stats.tests import TESTS, paired_test
from berryeval.stats.tukey import tukey_hsd

__all__ = [
    "CORRECTIONS",
    "TESTS",
    "Comparison",
    "EffectSizes",
    "Equivalence",
    "Pair",
    "PairedDifference",
    "TestResult",
    "compare",
    "corrected",
    "difference_interval",
    "direction_of",
    "effect_sizes",
    "equivalence",
    "magnitude",
    "mean_interval",
    "minimum_detectable_difference",
    "paired_test",
    "power_of",
    "queries_needed",
    "tukey_hsd",
]
