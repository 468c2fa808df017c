"""Identical values and float noise: gates follow the same rule as the statistics."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval._internal.aggregates import FEWEST_ALIKE
from berryeval.gates import Baseline, Gate, Rule, Sample, judge, self_check
from berryeval.gates.regression import measure_drop
from berryeval.gates.verdict import judge_drop
from tests.gates.worlds import run_of

if TYPE_CHECKING:
    from berryeval.gates import Verdict

ENOUGH, TOO_FEW = FEWEST_ALIKE, FEWEST_ALIKE - 1


def limit(values: list[float], **rule: Any) -> Verdict:
    gate = Gate(rules=[Rule(metric="nDCG@10", confidence=0.95, **rule)])
    (found,) = judge(gate, run_of({"nDCG@10": values}))
    return found


def drop(before: Any, after: Any, **rule: Any) -> Verdict:
    gate = Gate(baseline="given", rules=[Rule(metric="nDCG@10", **rule)])
    baseline = Baseline.of(run_of({"nDCG@10": before}, name="old"))
    (found,) = judge(gate, run_of({"nDCG@10": after}), baseline)
    return found


def drawn(count: int = 100) -> Any:
    return np.random.default_rng(3).uniform(0.3, 0.9, count)


def test_a_total_collapse_fails_a_rule_with_confidence() -> None:
    found = limit([0.0] * 100, at_least=0.75)
    assert found.status == "fail"
    assert found.sentence == (
        "nDCG@10 is 0.000, 95 % CI [0.000, 0.036]; the gate requires at least 0.75"
    )


@pytest.mark.parametrize(
    ("count", "status"), [(1, "inconclusive"), (10, "inconclusive"), (40, "pass")]
)
def test_identical_values_have_an_interval_with_a_width(count: int, status: str) -> None:
    found = limit([0.8] * count, at_least=0.75)
    assert found.status == status
    assert found.interval is not None
    assert found.interval.low < 0.8 < found.interval.high
    noisy = [0.8 + 1.1e-16 * (place % 2) for place in range(count)]
    assert limit(noisy, at_least=0.75).interval == pytest.approx(found.interval)


def test_identical_values_of_a_metric_without_a_range_can_only_fail() -> None:
    gate = Gate(rules=[Rule(metric="NumRelRet", at_least=9.0, confidence=0.95)])
    (few,) = judge(gate, run_of({"NumRelRet": [1.0] * TOO_FEW}))
    (many,) = judge(gate, run_of({"NumRelRet": [0.5] * ENOUGH}))
    (high,) = judge(gate, run_of({"NumRelRet": [20.0] * ENOUGH}))
    found = [(one.status, one.interval) for one in (few, many, high)]
    assert found == [("inconclusive", None), ("fail", None), ("inconclusive", None)]
    assert "identical in all 10 queries" in many.sentence


def test_float_noise_does_not_count_as_a_change() -> None:
    after = drawn()
    before = after + np.where(np.arange(100) % 2, 1.1e-16, 0.0)
    assert not np.array_equal(before, after)
    found = drop(before, after, max_drop=0.5)
    assert found.status == "pass"
    assert found.sentence == "nDCG@10 is unchanged: all 100 queries score as in the baseline"


def test_the_same_small_change_in_every_query_passes() -> None:
    found = drop(drawn(), drawn() - 0.0005, max_drop=0.02)
    assert found.status == "pass"
    assert found.sentence == (
        "nDCG@10 dropped by 0.0005, 95 % CI [-0.019, -0.0005], within the allowed 0.020 (p < 0.001)"
    )
    closer = drop(drawn(), drawn() - 0.0005, max_drop=0.015)
    assert closer.status == "inconclusive"


def test_a_self_check_ignores_float_noise() -> None:
    before = drawn(40)
    noisy = before + np.where(np.arange(40) % 2, 1.1e-16, 0.0)
    rule = Rule(metric="nDCG@10", max_drop=0.0)
    same = self_check([Sample(rule, before, before)], trials=50)
    assert self_check([Sample(rule, before, noisy)], trials=50).undecided == same.undecided > 0


def test_ten_hits_of_ten_do_not_show_that_nearly_all_hit() -> None:
    """A system that finds 69 % of the targets finds ten of ten in 2.5 % of runs."""
    found = limit([1.0] * 10, at_least=0.99)
    assert found.status == "inconclusive"
    assert "95 % CI [0.690, 1.000]" in found.sentence
    assert limit([1.0] * 10, at_least=0.68).status == "pass"


@pytest.mark.parametrize("count", [10, 20, 50])
@pytest.mark.parametrize("true", [0.8, 0.949])
def test_a_limit_just_above_the_true_share_of_hits_hardly_ever_passes(
    count: int, true: float
) -> None:
    wrong = 0.0
    for hits in range(count + 1):
        if limit([1.0] * hits + [0.0] * (count - hits), at_least=true + 0.001).status == "pass":
            wrong += math.comb(count, hits) * true**hits * (1 - true) ** (count - hits)
    assert wrong <= 0.025


def test_a_drop_just_beyond_the_allowed_one_hardly_ever_passes() -> None:
    """One query in twenty loses its only hit, as a broken filter might do."""
    chance, wrong, trials = np.random.default_rng(5), 0, 200
    for _ in range(trials):
        before = chance.choice([1.0, 0.5, 0.25], 100)
        after = np.where(chance.random(100) < 0.0525, 0.0, before)
        rule = Rule(metric="RR", max_drop=0.03)
        drop = measure_drop(Sample(rule, before, after), samples=2000)
        wrong += judge_drop(drop, rule).status == "pass"
    assert wrong / trials <= 0.03
