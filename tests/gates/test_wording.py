"""Sentences of verdicts: rounding never moves a value to the other side of the limit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.numbers import format_change_beside, format_value_beside
from berryeval.errors import DataError
from berryeval.gates import Baseline, BaselinePart, Gate, Rule, SelfCheck, judge
from berryeval.gates.rules import ROUNDING
from berryeval.runs.stages import Latency
from berryeval.stats import Pair, describe_unanswered
from tests.gates.worlds import run_of, scores_of, verdict

shares = st.floats(0.0, 1.0)


@given(shares, shares)
def test_a_shown_value_is_on_the_same_side_of_the_limit(value: float, limit: float) -> None:
    for text in (format_value_beside(value, limit), format_change_beside(-value, limit)):
        if abs(value - limit) > ROUNDING:
            assert (float(text) > limit) == (value > limit)
            assert float(text) != limit


def test_a_drop_never_looks_equal_to_the_allowed_drop() -> None:
    before = np.random.default_rng(3).uniform(0.3, 0.9, 100)
    fell = before - np.where(np.arange(100) % 2, 0.0208, 0.0)
    rule = {"metric": "nDCG@10", "max_drop": 0.01}
    found = verdict(rule, run_of({"nDCG@10": fell}), run_of({"nDCG@10": before}, name="old"))
    assert found.status == "fail"
    assert found.sentence.startswith("nDCG@10 dropped by 0.0104, ")
    assert found.sentence.endswith(", more than the allowed 0.010 (p < 0.001)")
    more = {**rule, "max_drop": 0.0101}
    found = verdict(more, run_of({"nDCG@10": fell}), run_of({"nDCG@10": before}, name="old"))
    assert found.sentence.endswith(", more than the allowed 0.0101 (p < 0.001)")


@pytest.mark.parametrize(
    ("moved", "change", "allowed"),
    [
        (-0.02, "dropped by 0.020, 95 % CI [-0.034, -0.016]", ", more than the allowed 0.010"),
        (0.02, "rose by 0.020, 95 % CI [+0.005, +0.024]", "; the gate allows a drop of 0.010"),
    ],
)
def test_a_sentence_gives_the_change_the_allowed_drop_and_p(
    moved: float, change: str, allowed: str
) -> None:
    before = np.random.default_rng(3).uniform(0.3, 0.7, 100)
    after = before + np.where(np.arange(100) % 2, moved * 2, 0.0)
    rule = {"metric": "nDCG@10", "max_drop": 0.01}
    found = verdict(rule, run_of({"nDCG@10": after}), run_of({"nDCG@10": before}, name="old"))
    assert found.sentence == f"nDCG@10 {change}{allowed} (p < 0.001)"


def test_a_sentence_counts_queries_that_were_not_compared() -> None:
    before, after = np.full(40, 0.6), np.full(39, 0.55)
    rule = {"metric": "nDCG@10", "max_drop": 0.1}
    found = verdict(rule, run_of({"nDCG@10": after}), run_of({"nDCG@10": before}, name="old"))
    assert found.sentence == (
        "nDCG@10 dropped by 0.050, 95 % CI [-0.079, -0.050], within the allowed 0.100 "
        "(p < 0.001; 1 query of the baseline is missing from the run)"
    )


@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (
            {"errors": True, "at_most": 0.0999},
            "10 of 100 queries failed (10.0%); the gate allows at most 9.99%",
        ),
        (
            {"errors": True, "at_most": 0.099999},
            "10 of 100 queries failed (10.0%); the gate allows at most 9.9999%",
        ),
        (
            {"latency": "p95", "at_most": 0.1},
            "latency p95 is 100.04 ms; the gate allows at most 100 ms",
        ),
    ],
)
def test_other_values_never_look_equal_to_their_limit(rule: dict[str, Any], sentence: str) -> None:
    run = run_of(
        {"RR": [0.5] * 100},
        outcomes={"ok": 90, "error": 10},
        latency=Latency(0.05, 0.10004, 0.2, 0.3),
    )
    found = verdict(rule, run)
    assert (found.status, found.sentence) == ("fail", sentence)


def test_a_failed_provider_fails_every_rule() -> None:
    rules = [
        Rule(metric="RR", at_least=0.5),
        Rule(metric="RR", max_drop=0.02),
        Rule(errors=True, at_most=0.05),
    ]
    baseline = Baseline.of(run_of({"RR": [0.5] * 10}))
    found = judge(Gate(baseline="given", rules=rules), run_of(None), baseline)
    why = "has no value because bm25 has no scores: the server went away;"
    assert [one.sentence for one in found] == [
        f"RR {why} the gate requires at least 0.5",
        f"RR {why} the gate allows a drop of 0.020",
        f"share of failed queries {why} the gate allows at most 5.0%",
    ]
    assert {one.status for one in found} == {"fail"}


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"latency": "p95", "at_most": 0.5}, "latency p95 <= 500 ms"),
        ({"errors": True, "at_most": 0.05}, "share of failed queries <= 5%"),
        ({"errors": True, "at_most": 0}, "share of failed queries <= 0%"),
        ({"metric": "nDCG@10", "at_least": 0.5}, "nDCG@10 >= 0.5"),
    ],
)
def test_the_text_of_a_rule_includes_its_unit(rule: dict[str, Any], words: str) -> None:
    assert str(Rule(**rule)) == words


def test_one_of_anything_is_singular() -> None:
    (found,) = judge(
        Gate(rules=[Rule(errors=True, at_most=0)]), run_of({"RR": [0.0]}, outcomes={"error": 1})
    )
    assert found.sentence.startswith("1 of 1 query failed")
    assert SelfCheck(1000, 1, 0, 0.025).sentence.startswith("1 false alarm in 1000 A/A tests")
    with pytest.raises(DataError, match=r"^RR has 1 value for 2 queries$"):
        BaselinePart("b", "", "p", 5, ("q1", "q2"), {"RR": (1.0,)})
    with pytest.raises(DataError, match=r"^found 1 fingerprint for 2 queries"):
        BaselinePart("b", "", "p", 5, ("q1", "q2"), {"RR": (1.0, 1.0)}, fingerprints=("x",))
    with pytest.raises(DataError, match=r"^a has 1 value and b has 2"):
        Pair.of([1.0], [1.0, 0.0])
    scores = replace(scores_of({"RR": [0.0]}), outcomes=("missing",))
    assert describe_unanswered("bm25", scores).startswith(
        "bm25 has no answers to 1 of 1 query (q00); it scores 0, so"
    )
