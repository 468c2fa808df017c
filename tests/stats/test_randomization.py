"""Tests of the randomization test."""

from __future__ import annotations

import itertools
import math
import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.stats.tests import paired_test
from tests.ranx_oracle import load_ranx
from tests.stats.worlds import drawn, paired_values, values


def enumerated(a: list[float], b: list[float]) -> float:
    """Compute p over all sign choices, in fractions of twentieths."""
    differences = [round(20 * (y - x)) for x, y in zip(a, b, strict=True)]
    observed = abs(sum(differences))
    signs = list(itertools.product((-1, 1), repeat=len(differences)))
    as_far = sum(
        abs(sum(sign * size for sign, size in zip(choice, differences, strict=True))) >= observed
        for choice in signs
    )
    return as_far / len(signs)


@settings(max_examples=50)
@given(st.lists(st.tuples(values, values), min_size=2, max_size=12))
def test_exact_p_agrees_with_the_full_enumeration(pairs: list[tuple[float, float]]) -> None:
    a, b = map(list, zip(*pairs, strict=True))
    result = paired_test("randomization", a, b)
    assert result.exact
    assert result.p == enumerated(a, b)


def test_sums_equal_up_to_rounding_count_as_ties() -> None:
    """0.3 - 0.2 is not 0.1 in floats."""
    a = [0.2, 0.1, 0.0, 0.4, 0.5]
    b = [0.3, 0.2, 0.1, 0.3, 0.4]
    assert paired_test("randomization", a, b).p == 1.0  # three up, two down, all by a tenth


def test_sampled_p_agrees_with_the_exact_one() -> None:
    a, b = drawn(3, 30, shift=0.03)
    exact = paired_test("randomization", a, b)
    assert exact.exact
    padded = (
        np.concatenate([a, a[:20]]),
        np.concatenate([b, a[:20] + 1e-9]),
    )  # 20 negligible differences
    simulated = paired_test("randomization", *padded)
    assert not simulated.exact
    assert exact.p is not None
    assert simulated.p == pytest.approx(exact.p, abs=5 * math.sqrt(exact.p / 100_000))


def test_p_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    a, b = drawn(5, 60, shift=0.025)
    theirs = stats.permutation_test(
        (b, a), lambda x, y, axis: (x - y).mean(axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=20_000, rng=np.random.default_rng(0),
    )  # fmt: skip
    ours = paired_test("randomization", a, b).p
    assert ours == pytest.approx(theirs.pvalue, abs=5 * math.sqrt(theirs.pvalue / 20_000))


def test_p_agrees_with_ranx() -> None:
    fisher = load_ranx("ranx.statistical_tests.fisher_randomization_test")
    a, b = drawn(8, 60, shift=0.025)
    theirs, _ = fisher.fisher_randomization_test(a, b, n_permutations=20_000)
    ours = paired_test("randomization", a, b).p
    assert ours == pytest.approx(theirs, abs=5 * math.sqrt(theirs / 20_000))


def test_p_is_never_zero() -> None:
    a, b = drawn(1, 200, shift=5.0)
    assert paired_test("randomization", a, b, samples=999).p == 1 / 1000


@settings(max_examples=60)
@given(paired_values, st.integers(0, 2**32))
def test_p_does_not_depend_on_order_of_systems_unit_or_shift(
    pairs: list[tuple[float, float]], seed: int
) -> None:
    a, b = (np.array(side) for side in zip(*pairs, strict=True))
    p = paired_test("randomization", a, b, seed=seed, samples=200).p
    assert p is not None
    assert 0 < p <= 1
    for other in ((b, a), (3 * a, 3 * b), (a + 0.7, b + 0.7), (-a, -b)):
        assert paired_test("randomization", *other, seed=seed, samples=200).p == p


@given(st.permutations(range(10)))
def test_exact_p_does_not_depend_on_the_order_of_queries(order: list[int]) -> None:
    a, b = drawn(2, 10, shift=0.05)
    assert paired_test("randomization", a[order], b[order]) == paired_test("randomization", a, b)


def test_p_does_not_depend_on_threads_or_backend(
    clean_environment: dict[str, str],
) -> None:
    script = (
        "from tests.stats.worlds import drawn; from berryeval.stats import paired_test, tukey_hsd;"
        "a, b = drawn(4, 300, 0.005);"
        "print(*(paired_test(t, a, b, seed=9) for t in ('randomization', 'bootstrap')));"
        "print(tukey_hsd([a, b, b * 1.01], samples=2000).tolist())"
    )
    settings_of: list[dict[str, str]] = [{"BERRYEVAL_THREADS": n} for n in ("1", "2", "8")]
    settings_of.append({"BERRYEVAL_BACKEND": "python"})
    printed = {
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, check=True,
            env={**clean_environment, **chosen, "PYTHONPATH": os.pathsep.join(sys.path)},
        ).stdout
        for chosen in settings_of
    }  # fmt: skip
    assert len(printed) == 1


def test_different_seeds_give_similar_p() -> None:
    a, b = drawn(5, 60, shift=0.025)
    found = {paired_test("randomization", a, b, seed=seed).p for seed in range(5)}
    assert len(found) > 1
    assert paired_test("randomization", a, b, seed=np.int64(3)).p in found  # type: ignore[arg-type]
    numbers: list[Any] = list(found)
    assert max(numbers) - min(numbers) < 0.005
