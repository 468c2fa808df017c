"""What a gate can notice, said before it is relied on."""

from __future__ import annotations

import numpy as np
import pytest

from berryeval.gates import Baseline, Gate, Power, Rule, judge
from tests.gates.worlds import run_of


def test_few_queries_can_never_fail_a_drop() -> None:
    found = Power(5)
    assert (found.fewest, found.share) == (6, None)
    assert found.sentence == (
        "5 queries can never fail a rule about a drop, because at least 6 have to get worse. "
        "About 78 queries notice a change that ruins every tenth of them"
    )


@pytest.mark.parametrize(("family", "fewest"), [(1, 6), (2, 7), (20, 10)])
def test_rules_that_are_tested_together_need_more_worse_queries(family: int, fewest: int) -> None:
    """The verdicts agree: one worse query fewer is not significant."""
    assert Power(40, family).fewest == fewest
    before = {f"P@{cut}": [0.5] * 40 for cut in range(1, family + 1)}
    for worse, status in ((fewest, "fail"), (fewest - 1, "inconclusive")):
        after = {name: [0.0] * worse + [0.5] * (40 - worse) for name in before}
        gate = Gate(baseline="given", rules=[Rule(metric=name, max_drop=0.0) for name in before])
        found = judge(gate, run_of(after), Baseline.of(run_of(before, name="old")))
        assert {one.status for one in found} == {status}


def test_the_share_that_is_noticed_is_noticed_in_four_of_five_sets() -> None:
    found = Power(15)
    assert found.share is not None
    drawn = np.random.default_rng(1).binomial(15, found.share, 20_000)
    assert (drawn >= found.fewest).mean() == pytest.approx(0.8, abs=0.02)
    assert found.sentence == (
        "with 15 queries a drop fails only if at least 6 get worse. A change that ruins "
        "48 % of them is noticed in four of five runs, a smaller one less often. About 78 queries "
        "notice a change that ruins every tenth of them"
    )


def test_many_queries_need_no_advice() -> None:
    assert Power(100).sentence == (
        "with 100 queries a drop fails only if at least 6 get worse. A change that ruins "
        "8 % of them is noticed in four of five runs, a smaller one less often"
    )
