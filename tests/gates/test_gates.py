"""Gates: every kind of rule, every verdict, and rejected input."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from berryeval.errors import ConfigurationError, DataError
from berryeval.gates import Baseline, Gate, Rule, Sample, SelfCheck, judge, self_check
from berryeval.runs.stages import Latency
from tests.gates.worlds import run_of, scores_of, verdict

HALF = {"nDCG@10": [0.5] * 10}


@pytest.mark.parametrize(
    ("rule", "status", "sentence"),
    [
        (
            {"metric": "ndcg_cut_10", "at_least": 0.5},
            "pass",
            "nDCG@10 is 0.500, 95 % CI [0.404, 0.596]; the gate requires at least 0.5",
        ),
        (
            {"metric": "nDCG@10", "at_least": 0.6},
            "fail",
            "nDCG@10 is 0.500, 95 % CI [0.404, 0.596]; the gate requires at least 0.6",
        ),
        (
            {"metric": "nDCG@10", "at_most": 0.4},
            "fail",
            "nDCG@10 is 0.500, 95 % CI [0.404, 0.596]; the gate allows at most 0.4",
        ),
        (
            {"latency": "p95", "at_most": 0.2},
            "pass",
            "latency p95 is 100.0 ms; the gate allows at most 200 ms",
        ),
        (
            {"cost": "usd", "at_most": 0.01},
            "pass",
            "cost in usd is 0.0042 per query; the gate allows at most 0.01 usd per query",
        ),
        (
            {"cost": "usd", "at_most": 0.004},
            "fail",
            "cost in usd is 0.0042 per query; the gate allows at most 0.004 usd per query",
        ),
        (
            {"latency": "max", "at_most": 0.2},
            "fail",
            "latency max is 300.0 ms; the gate allows at most 200 ms",
        ),
        (
            {"errors": True, "at_most": 0.05},
            "fail",
            "1 of 10 queries failed (10.0%); the gate allows at most 5.0%",
        ),
    ],
)
def test_a_limit_decides_by_the_value(rule: dict[str, Any], status: str, sentence: str) -> None:
    latency = Latency(0.05, 0.1, 0.2, 0.3)
    run = run_of(HALF, latency=latency, outcomes={"ok": 9, "timeout": 1}, cost={"usd": 0.0042})
    found = verdict(rule, run)
    assert (found.status, found.sentence) == (status, sentence)
    assert (found.benchmark, found.provider) == ("drinks", "bm25")


def test_a_cost_is_unknown_without_any_report() -> None:
    found = verdict({"cost": "usd", "at_most": 1}, run_of(HALF))
    expected = "cost in usd is unknown: bm25 reports no cost"
    assert (found.status, found.sentence) == ("inconclusive", expected)


def test_a_limit_inside_the_interval_is_inconclusive() -> None:
    run = run_of({"RR": [0.0, 1.0] * 10})
    rule = {"metric": "RR", "confidence": 0.95}
    assert verdict({**rule, "at_least": 0.45}, run).status == "inconclusive"
    assert "20 queries are too few to decide" in verdict({**rule, "at_least": 0.45}, run).sentence
    assert verdict({**rule, "at_least": 0.1}, run).status == "pass"
    assert verdict({**rule, "at_least": 0.9}, run).status == "fail"


def test_an_interval_is_cut_to_the_range_of_the_metric() -> None:
    run = run_of({"RR": [0.0, 1.0, 0.25], "DCG@10": [0.0, 1.0, 0.25]})
    found = verdict({"metric": "RR", "at_least": 0.1}, run)
    assert found.sentence == "RR is 0.417, 95 % CI [0.063, 0.890]; the gate requires at least 0.1"
    unbounded = verdict({"metric": "DCG@10", "at_least": 0.1}, run).interval
    assert unbounded is not None
    assert unbounded.low > 0
    assert unbounded.high > 1


def test_rounding_of_a_mean_does_not_fail_a_limit() -> None:
    """Values below the limit are shown with enough digits."""
    below = [0.1] * 3 + [0.2] * 7
    run = run_of({"RR": below})
    assert verdict({"metric": "RR", "at_least": 0.17}, run).status == "pass"
    found = verdict({"metric": "RR", "at_least": 0.1701}, run)
    assert found.status == "fail"
    close = verdict({"metric": "RR", "at_least": 0.17004}, run_of({"RR": [0.17002] * 4}))
    assert close.sentence.startswith("RR is 0.170, ")
    assert close.sentence.endswith("at least 0.17004")
    hidden = verdict({"metric": "RR", "at_least": 0.17}, run_of({"RR": [0.16998] * 4}))
    assert hidden.sentence.startswith("RR is 0.16998, ")


def test_a_rule_with_where_covers_a_group() -> None:
    run = run_of({"RR": [0.0, 1.0] * 5})
    easy = {"metric": "RR", "at_least": 0.9, "where": {"difficulty": "easy"}}
    found = verdict(easy, run)
    assert (found.status, found.group, found.value) == ("pass", "difficulty=easy", 1.0)
    with pytest.raises(ConfigurationError, match="values of difficulty there: easy, hard"):
        verdict({**easy, "where": {"difficulty": "impossible"}}, run)


def shifted(change: float, spread: float, count: int = 40) -> tuple[Any, Any]:
    """Return a run before and after a change of its mean, with noise between queries."""
    drawn = np.random.default_rng(7)
    before = 0.5 + 0.2 * drawn.random(count)
    noise = drawn.normal(0, spread, count)
    after = before + change + (noise - noise.mean())
    return run_of({"nDCG@10": before}, name="old"), run_of({"nDCG@10": after}, name="new")


def test_a_significant_drop_fails() -> None:
    before, after = shifted(-0.05, 0.02)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.01}, after, before)
    assert found.status == "fail"
    assert found.sentence.startswith("nDCG@10 dropped by 0.050, 95 % CI [-0.0")
    assert found.sentence.endswith(", more than the allowed 0.010 (p < 0.001)")


def test_a_drop_that_is_not_significant_is_inconclusive() -> None:
    before, after = shifted(-0.02, 0.3)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.01}, after, before)
    assert found.status == "inconclusive"
    assert "but the drop is not significant" in found.sentence


def test_a_small_drop_passes_if_a_larger_one_is_ruled_out() -> None:
    before, after = shifted(-0.002, 0.01)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.04}, after, before)
    assert found.status == "pass"


def test_a_larger_drop_that_cannot_be_ruled_out_is_inconclusive() -> None:
    before, after = shifted(0.0, 0.3)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.01}, after, before)
    assert found.status == "inconclusive"
    assert "a larger drop cannot be ruled out" in found.sentence


def test_an_unchanged_run_passes() -> None:
    run = run_of(HALF)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.0}, run, run)
    assert (found.status, found.value) == ("pass", 0.0)
    assert found.sentence == ("nDCG@10 is unchanged: all 10 queries score as in the baseline")


def test_one_query_is_inconclusive() -> None:
    before, after = run_of({"RR": [1.0]}), run_of({"RR": [0.0]})
    found = verdict({"metric": "RR", "max_drop": 0.0}, after, before)
    assert found.status == "inconclusive"
    assert "one query is not enough for a test" in found.sentence


def test_several_rules_are_corrected_together() -> None:
    before, after = shifted(-0.012, 0.03)
    gate = Gate(baseline="b", rules=[Rule(metric="nDCG@10", max_drop=0.0)] * 20)
    alone = verdict({"metric": "nDCG@10", "max_drop": 0.0}, after, before)
    together = judge(gate, after, Baseline.of(before))
    assert alone.status == "fail"
    assert {one.status for one in together} == {"inconclusive"}
    assert "after correction for 20 rules" in together[0].sentence


def test_a_rise_fails_where_less_is_better() -> None:
    before = run_of({"TokensToHit": [100.0, 110.0, 90.0, 95.0, 105.0, 99.0]})
    after = run_of({"TokensToHit": [150.0, 161.0, 139.0, 146.0, 157.0, 148.0]})
    rule = {"metric": "TokensToHit", "max_drop": 10.0}
    assert verdict(rule, after, before).status == "fail"
    assert verdict(rule, before, after).status == "pass"


def test_a_provider_without_scores_fails_with_the_reason() -> None:
    found = verdict({"metric": "RR", "at_least": 0.1}, run_of(None))
    assert (found.status, found.value) == ("fail", None)
    assert "bm25 has no scores: the server went away" in found.sentence


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"metric": "nDGC@10", "at_least": 0.5}, "did you mean"),
        ({"at_least": 0.5}, "exactly one of: metric, latency, cost, errors"),
        ({"metric": "RR", "latency": "p95", "at_most": 1}, "exactly one of"),
        ({"metric": "RR"}, "exactly one of: at_least, at_most, max_drop"),
        ({"metric": "RR", "at_least": 0.1, "max_drop": 0.1}, "exactly one of"),
        ({"latency": "p95", "max_drop": 0.1}, "apply to metrics only"),
        ({"metric": "NumRet", "max_drop": 1}, "neither higher nor lower values are better"),
        ({"metric": "RR", "max_drop": -0.1}, "greater than or equal to 0"),
        ({"metric": "RR", "at_least": float("nan")}, "finite number"),
        ({"metric": "RR", "max_drop": 0.1, "confidence": 0.9}, "remove `confidence`"),
        ({"errors": True, "at_most": 5}, "a share from 0 to below 1, such as 0.05; found 5"),
        ({"errors": True, "at_least": 0}, "less is better, so use at_most"),
        ({"latency": "p95", "at_least": 0}, "less is better, so use at_most"),
        ({"metric": "nDCG@10", "max_drop": 5}, "lies between 0 and 1 and never drops by more"),
    ],
)
def test_an_invalid_rule_is_rejected(rule: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Rule(**rule)


def test_unknown_providers_and_metrics_are_rejected() -> None:
    run = run_of(HALF)
    with pytest.raises(ConfigurationError, match="did you mean 'bm25'"):
        verdict({"metric": "nDCG@10", "at_least": 0.1, "providers": ["bm52"]}, run)
    with pytest.raises(
        ConfigurationError, match="To compute it: berryeval runs rescore run-1 -m P@3 --save"
    ):
        verdict({"metric": "P@3", "at_least": 0.1}, run)


def test_an_incomparable_baseline_is_rejected() -> None:
    run = run_of(HALF)
    rule: dict[str, Any] = {"metric": "nDCG@10", "max_drop": 0.1}
    with pytest.raises(ConfigurationError, match="none of 10 queries of drinks is as it was"):
        verdict(rule, run, run_of(HALF, content_hash="sha256:two"))
    with pytest.raises(ConfigurationError, match="for 5 hits per query, this run for 20"):
        verdict(rule, run, run_of(HALF, k=5))
    with pytest.raises(ConfigurationError, match=r"has no nDCG@10 of bm25; it has RR"):
        verdict(rule, run, run_of({"RR": [1.0] * 10}))
    with pytest.raises(ConfigurationError, match="needs a baseline"):
        judge(Gate(rules=[Rule(**rule)]), run)
    with pytest.raises(ConfigurationError, match="'given' was not read"):
        verdict(rule, run)


def test_only_shared_queries_are_compared() -> None:
    before = run_of({"RR": [1.0, 0.5, 0.5]})
    after = run_of({"RR": [1.0, 0.5, 0.5, 0.1]})
    found = verdict({"metric": "RR", "max_drop": 0.0}, after, before)
    assert found.status == "pass"
    assert found.sentence == (
        "RR is unchanged: all 3 shared queries score as in the baseline (1 query is new "
        "and was not compared)"
    )
    empty = Baseline.read(
        json.loads(Baseline.of(before).dumps().replace('"q0', '"x0')), "baseline.json"
    )
    with pytest.raises(ConfigurationError, match="run-1 has none of the queries that bm25"):
        judge(Gate(baseline="b", rules=[Rule(metric="RR", max_drop=0.0)]), after, empty)


def test_a_baseline_file_round_trips_exactly() -> None:
    drawn = np.random.default_rng(1)
    run = run_of({"nDCG@10": drawn.random(30), "RR": 1 / drawn.integers(1, 9, 30)})
    baseline = Baseline.of(run)
    assert Baseline.read(json.loads(baseline.dumps()), "b.json") == baseline


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"schema_version": 2}, "expected a baseline of schema version 1, found 2"),
        ({"parts": [{}]}, r"b.json.parts\[0\]: has no 'benchmark'"),
    ],
)
def test_a_broken_baseline_is_rejected_with_its_path(change: dict[str, Any], message: str) -> None:
    data = {**json.loads(Baseline.of(run_of(HALF)).dumps()), **change}
    with pytest.raises(DataError, match=message):
        Baseline.read(data, "b.json")


def test_a_baseline_with_missing_values_is_rejected() -> None:
    data = json.loads(Baseline.of(run_of(HALF)).dumps())
    data["parts"][0]["values"]["nDCG@10"][3] = float("nan")
    with pytest.raises(DataError, match=r"\['nDCG@10'\]\[3\]: expected a number, found number nan"):
        Baseline.read(data, "b.json")
    data["parts"][0]["values"]["nDCG@10"] = [0.5]
    with pytest.raises(DataError, match="has 1 value for 10 queries"):
        Baseline.read(data, "b.json")


def test_a_strict_self_check_counts_inconclusive_trials() -> None:
    """A strict gate that allows no drop stops nearly every harmless run."""
    drawn = np.random.default_rng(5)
    before = drawn.random(40)
    sample = Sample(Rule(metric="RR", max_drop=0.0), before, drawn.permutation(before))
    plain = self_check([sample])
    strict = self_check([sample], strict=True)
    assert (plain.failed, plain.undecided) == (strict.failed, strict.undecided)
    assert plain.alarms == plain.failed
    assert strict.alarms == strict.failed + strict.undecided
    assert strict.rate > 0.8
    assert (plain.holds, strict.holds) == (True, False)
    assert "more than the expected 2.5%; " in strict.sentence


@pytest.mark.parametrize(
    ("failed", "word"),
    [(20, "no more than"), (32, "not significantly more than"), (60, "more than")],
)
def test_a_self_check_compares_its_rate_with_the_claim(failed: int, word: str) -> None:
    found = SelfCheck(1000, failed, 0, 0.025)
    assert found.sentence.endswith(f"%), {word} the expected 2.5%")


@pytest.mark.parametrize(
    ("metric", "how"), [("GMAP", "geometric mean"), ("Mine", "geometric mean"), ("Mine", "mean")]
)
def test_the_interval_of_a_value_equals_that_of_the_scores(metric: str, how: str) -> None:
    """The interval of a geometric mean is computed on logarithms, so it is never below 0."""
    from berryeval.gates.verdict import interval_of_value

    values = [1e-5, 0.9, 0.4, 1e-5, 1.0, 0.8]
    scores = replace(scores_of({metric: values}), aggregates=(how,))
    for level in (0.95, 0.9999999):
        found = interval_of_value(metric, np.array(values), how, level)
        assert found is not None
        assert found.low >= 0 or how == "mean"
        assert found == pytest.approx(scores.ci(metric, level, method="t"), rel=1e-6)


def test_an_interval_may_be_unbounded() -> None:
    from berryeval.gates.verdict import interval_of_value

    found = interval_of_value("Mine", np.array([1e-5, 1.0]), "geometric mean", 0.9999)
    assert found == (0.0, float("inf"))
