"""The power of a gate, which is printed before anyone relies on it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from berryeval.gates import Baseline, Gate, Power, Rule, judge
from tests.gates.worlds import run_of

if TYPE_CHECKING:
    from berryeval.gates import Verdict


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


def test_an_inconclusive_limit_says_how_many_queries_suffice() -> None:
    rule = Rule(metric="Success@1", at_least=0.99, confidence=0.95)
    (found,) = judge(Gate(rules=[rule]), run_of({"Success@1": [1.0] * 10}))
    assert found.needed == 380  # about 368, for which 0.025 ** (1 / n) is 0.99
    assert found.sentence.endswith(
        "but 10 queries are too few to decide; about 380 like these would suffice"
    )
    at = Rule(metric="Success@1", at_least=0.5, confidence=0.95)
    (found,) = judge(Gate(rules=[at]), run_of({"Success@1": [0.0, 1.0] * 5}))
    assert found.needed is None  # no number decides a value at its limit
    assert found.sentence.endswith("too few to decide")


@pytest.mark.parametrize(
    ("limit", "value", "wanted"),
    [("at_least", 0.6, "pass"), ("at_least", 0.7, "fail"), ("max_drop", 0.03, "pass"),
     ("max_drop", 0.0, "fail")],
)  # fmt: skip
def test_the_number_of_queries_suffices_in_most_sets(limit: str, value: float, wanted: str) -> None:
    """Sets of the suggested size, drawn from the same values, are decided in four of five."""
    chance = np.random.default_rng(3)
    before = chance.uniform(0.4, 1.0, 30)
    after = np.clip(before - 0.008 + chance.normal(0, 0.08, 30), 0, 1)
    if limit == "at_least":
        rule = Rule(metric="nDCG@10", at_least=value, confidence=0.95)
    else:
        rule = Rule(metric="nDCG@10", max_drop=value)
    gate = Gate(baseline="given", rules=[rule])

    def judged(count: int, draws: int) -> list[Verdict]:
        found = []
        for draw in range(draws):
            chosen = chance.integers(30, size=count) if draw else np.arange(30)
            old = Baseline.of(run_of({"nDCG@10": before[chosen]}, name="old"))
            (one,) = judge(gate, run_of({"nDCG@10": after[chosen]}), old)
            found.append(one)
        return found

    (one,) = judged(30, 1)
    assert one.status == "inconclusive"
    assert one.needed is not None
    assert f"about {one.needed} " in one.sentence
    share = np.mean([two.status == wanted for two in judged(one.needed, 60)[1:]])
    assert share > 0.65
