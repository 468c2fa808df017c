"""Identical values and float noise: gates follow the same rule as the statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval._internal.aggregates import FEWEST_ALIKE
from berryeval.gates import Baseline, Gate, Rule, Sample, judge, self_check
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
        "nDCG@10 is 0.000, identical in all 100 queries; the gate requires at least 0.75"
    )
    assert found.interval == (0.0, 0.0)


@pytest.mark.parametrize(
    ("count", "status"), [(1, "inconclusive"), (TOO_FEW, "inconclusive"), (ENOUGH, "pass")]
)
def test_the_statistics_decide_how_many_identical_values_suffice(count: int, status: str) -> None:
    assert limit([0.8] * count, at_least=0.75).status == status
    noisy = [0.8 + 1.1e-16 * (place % 2) for place in range(count)]
    assert limit(noisy, at_least=0.75).status == status


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
        "nDCG@10 dropped by 0.0005, identical in all 100 queries, within the allowed 0.020 "
        "(p < 0.001)"
    )
    assert found.interval is not None
    assert found.interval.low == found.interval.high == pytest.approx(-0.0005)


def test_a_self_check_ignores_float_noise() -> None:
    before = drawn(40)
    noisy = before + np.where(np.arange(40) % 2, 1.1e-16, 0.0)
    rule = Rule(metric="nDCG@10", max_drop=0.0)
    same = self_check([Sample(rule, before, before)], trials=50)
    assert self_check([Sample(rule, before, noisy)], trials=50).undecided == same.undecided > 0
