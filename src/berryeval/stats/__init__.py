"""Statistics: paired tests, confidence intervals, effect sizes and power.

`compare` compares tables of scores; the other functions take the values of two systems for the same
queries in the same order.
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.stats.alignment import describe_unanswered
    from berryeval.stats.comparison import Comparison, Finding, PairedDifference
    from berryeval.stats.corrections import CORRECTIONS, correct_p_values, tukey_hsd
    from berryeval.stats.effects import (
        POWER,
        EffectSizes,
        Equivalence,
        effect_sizes,
        equivalence,
        magnitude,
        minimum_detectable_difference,
        power_of,
        queries_needed,
    )
    from berryeval.stats.intervals import (
        IntervalMethod,
        bounded_interval,
        change_beyond_rounding,
        check_level,
        correct_ends,
        difference_interval,
        interval_of_change,
        mean_interval,
    )
    from berryeval.stats.paired import FEWEST_RESAMPLED, Floats, Pair, check_column, spread_of
    from berryeval.stats.pairwise import compare, is_testable, to_test_scale
    from berryeval.stats.rank_correlation import ap_correlation, kendall_tau
    from berryeval.stats.student import quantile, student_interval, student_p
    from berryeval.stats.tests import TESTS, TestResult, paired_test

    __all__ = [
        "CORRECTIONS",
        "FEWEST_RESAMPLED",
        "POWER",
        "TESTS",
        "Comparison",
        "EffectSizes",
        "Equivalence",
        "Finding",
        "Floats",
        "IntervalMethod",
        "Pair",
        "PairedDifference",
        "TestResult",
        "ap_correlation",
        "bounded_interval",
        "change_beyond_rounding",
        "check_column",
        "check_level",
        "compare",
        "correct_ends",
        "correct_p_values",
        "describe_unanswered",
        "difference_interval",
        "effect_sizes",
        "equivalence",
        "interval_of_change",
        "is_testable",
        "kendall_tau",
        "magnitude",
        "mean_interval",
        "minimum_detectable_difference",
        "paired_test",
        "power_of",
        "quantile",
        "queries_needed",
        "spread_of",
        "student_interval",
        "student_p",
        "to_test_scale",
        "tukey_hsd",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
