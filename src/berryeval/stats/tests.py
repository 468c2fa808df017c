"""The table of tests, and `paired_test`, which carries one out."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from berryeval.errors import ConfigurationError
from berryeval.stats.names import SpelledRegistry
from berryeval.stats.paired import Pair
from berryeval.stats.result import PairedTest, TestResult

__all__ = ["SAMPLES", "TESTS", "check_count", "paired_test"]

SAMPLES: Final = 100_000

TESTS: Final = SpelledRegistry[PairedTest](
    "test",
    {
        "randomization": "berryeval.stats.randomization:randomization",
        "t": "berryeval.stats.t_test:t_test",
        "wilcoxon": "berryeval.stats.wilcoxon:wilcoxon",
        "sign": "berryeval.stats.sign:sign",
        "bootstrap": "berryeval.stats.bootstrap:bootstrap",
    },
    {
        "randomisation": "randomization",
        "fisher": "randomization",
        "permutation": "randomization",
        "student": "t",
        "students-t": "t",
        "paired-t": "t",
        "wilcoxon-signed-rank": "wilcoxon",
    },
)


def paired_test(name: str, a: Any, b: Any, *, seed: int = 0, samples: int = SAMPLES) -> TestResult:
    """Whether two systems differ, by their values for the same queries in the same order.

        >>> paired_test("randomization", [0.1, 0.2, 0.3, 0.4], [0.2, 0.4, 0.5, 0.9]).p
        0.125

    Args:
        name: one of `TESTS`, in any spelling: "t", "t-test", "Student".
        a: the values of the first system, the baseline.
        b: the values of the second.
        seed: of the random samples; the same seed gives the same p on any number of threads.
        samples: how many are drawn, where a test cannot count all there are.

    Returns:
        The result; its p is None, and `cannot` says why, where nothing can be said.
    """
    if not isinstance(name, str):
        msg = (
            f'the name of the test comes first, as in paired_test("t", a, b); found '
            f"{type(name).__name__}; there are {', '.join(TESTS)}"
        )
        raise ConfigurationError(msg)
    test = TESTS.get(name)
    check_count("samples", samples)
    pair = Pair.of(a, b)
    if pair.size == 1:
        return TestResult(None, None, name, cannot="one query says nothing about others")
    return test(pair, seed, samples)


def check_count(name: str, count: Any, least: int = 1) -> None:
    """A number of samples must be a whole one."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        msg = f"{name} must be a whole number, found {count!r:.80}"
        raise TypeError(msg)
    if count < least:
        msg = f"{name} must be at least {least}, found {count}"
        raise ValueError(msg)
