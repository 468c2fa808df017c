"""Rejected rules: rules that would never fail, and rules that make no sense."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pydantic import ValidationError

from berryeval.gates import Rule
from berryeval.metrics.catalogue import definitions

BOUNDED = ["nDCG@10", "RBP", "Accuracy", "infAP", "Compat", "RelP@5", "P_IA@5", "AP_IA", "nDCGrel"]


@pytest.mark.parametrize("metric", BOUNDED)
@pytest.mark.parametrize(
    ("limit", "message"),
    [
        (
            {"max_drop": 2},
            "never drops by more than 1; max_drop is a difference such as 0.02, found 2",
        ),
        ({"at_least": -1}, "between 0 and 1: at_least -1 would never fail"),
        ({"at_least": 0}, "between 0 and 1: at_least 0 would never fail"),
        ({"at_most": 1}, "between 0 and 1: at_most 1 would never fail"),
        ({"at_most": 5}, "between 0 and 1: at_most 5 would never fail"),
    ],
)
def test_a_limit_that_nothing_can_break_is_rejected(
    metric: str, limit: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        Rule(metric=metric, **limit)


def test_limits_at_the_ends_of_every_metric_are_rejected() -> None:
    for definition in definitions().values():
        metric = definition(**{
            one.name: 10 if one.base_kind == "int" else 0.5 if one.name == "recall" else 4.0
            for one in definition.parameters
            if one.required
        })  # fmt: skip
        low, high = metric.range
        for name, limit in (("at_least", low), ("at_most", high)):
            if math.isfinite(limit):
                with pytest.raises(ValidationError, match="would never fail"):
                    Rule.model_validate({"metric": str(metric), name: limit})


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"metric": "TokensToHit(budget=500)", "max_drop": 500}, "never rises by more than 500"),
        ({"metric": "NumRelRet", "at_least": 0}, "is never below 0: at_least 0 would never fail"),
        ({"metric": "Unjudged@10", "at_most": 5}, "at_most 5 would never fail"),
        ({"errors": True, "at_most": -1}, "a share from 0 to below 1, such as 0.05; found -1"),
        ({"latency": "p95", "at_most": -1}, "must be 0 seconds or more; found -1"),
        ({"cost": "usd", "at_most": -1}, "cost in usd: at_most must be 0 or more; found -1"),
        ({"metric": "nDCG@10", "at_least": True}, "valid number"),
        ({"metric": "nDCG@10", "max_drop": True}, "valid number"),
        ({"metric": "RR", "at_least": 0.5, "significance": 0.1}, "applies to rules with max_drop"),
        ({"latency": "p95", "at_most": 1, "significance": 0.1}, "applies to rules with max_drop"),
        ({"metric": "RR", "at_least": 80}, "reaches at_least 80; did you mean 0.8\\?"),
        ({"metric": "RR", "at_least": 1.5}, "nothing reaches at_least 1.5 \\["),
        ({"metric": "RR", "at_least": 101}, "nothing reaches at_least 101 \\["),
        ({"metric": "TokensToHit(budget=500)", "at_least": 501}, "reaches at_least 501 \\["),
        ({"metric": "RBPResidual", "at_most": -0.1}, "nothing stays below at_most -0.1"),
    ],
)
def test_a_meaningless_rule_is_rejected(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Rule(**rule)


def test_limits_inside_the_range_are_accepted() -> None:
    for rule in (
        Rule(metric="DCG@10", at_most=50),
        Rule(metric="Yaap", at_least=-3),
        Rule(metric="RBP(gain='raw')", max_drop=3),
        Rule(metric="Unjudged@10", at_most=0.5),
        Rule(metric="RR", at_least=1),
        Rule(metric="Unjudged@10", at_most=0),
        Rule(metric="RR", max_drop=0, significance=0.001),
    ):
        assert Rule(**rule.model_dump()) == rule


@pytest.mark.parametrize("value", [0.000999, 1e-6, 0, -1, 1, math.nan])
def test_an_unreachable_significance_level_is_rejected(value: float) -> None:
    with pytest.raises(ValidationError, match=r"must be at least 0\.001, found|less than 1"):
        Rule(metric="nDCG@10", max_drop=0.01, significance=value)
