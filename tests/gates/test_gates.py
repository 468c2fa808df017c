"""Gates: every kind of rule, every verdict, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from pydantic import ValidationError

from berryeval.errors import ConfigurationError, DataError
from berryeval.gates.baseline import Baseline
from berryeval.gates.judging import judge
from berryeval.gates.regression import Sample
from berryeval.gates.rules import Gate, Rule
from berryeval.gates.simulation import SelfCheck, self_check
from berryeval.runs.record import Latency
from tests.gates.worlds import run_of, scores_of

if TYPE_CHECKING:
    from berryeval.gates.verdict import Verdict

HALF = {"nDCG@10": [0.5] * 10}


def verdict(rule: dict[str, Any], run: Any, before: Any = None) -> Verdict:
    """The one verdict of a rule."""
    gate = Gate(baseline="given", rules=[Rule(**rule)])
    (found,) = judge(gate, run, None if before is None else Baseline.of(before))
    return found


@pytest.mark.parametrize(
    ("rule", "status", "sentence"),
    [
        (
            {"metric": "ndcg_cut_10", "at_least": 0.5},
            "pass",
            "nDCG@10 is 0.500; the gate wants at least 0.5",
        ),
        (
            {"metric": "nDCG@10", "at_least": 0.6},
            "fail",
            "nDCG@10 is 0.500; the gate wants at least 0.6",
        ),
        (
            {"metric": "nDCG@10", "at_most": 0.4},
            "fail",
            "nDCG@10 is 0.500; the gate wants at most 0.4",
        ),
        (
            {"latency": "p95", "at_most": 0.2},
            "pass",
            "latency p95 is 100.0 ms; the gate wants at most 200 ms",
        ),
        (
            {"latency": "max", "at_most": 0.2},
            "fail",
            "latency max is 300.0 ms; the gate wants at most 200 ms",
        ),
        (
            {"errors": True, "at_most": 0.05},
            "fail",
            "1 of 10 queries failed (10.0%); the gate wants at most 5.0%",
        ),
    ],
)
def test_limits(rule: dict[str, Any], status: str, sentence: str) -> None:
    """A value within its limit passes, one beyond it fails, and the sentence says both."""
    latency = Latency(0.05, 0.1, 0.2, 0.3)
    run = run_of(HALF, latency=latency, outcomes={"ok": 9, "timeout": 1})
    found = verdict(rule, run)
    assert (found.status, found.sentence) == (status, sentence)
    assert (found.benchmark, found.provider) == ("drinks", "bm25")


def test_a_limit_with_confidence_may_be_undecided() -> None:
    """An interval on both sides of the limit cannot tell."""
    run = run_of({"RR": [0.0, 1.0] * 10})
    rule = {"metric": "RR", "confidence": 0.95}
    assert verdict({**rule, "at_least": 0.45}, run).status == "inconclusive"
    assert "20 queries cannot tell" in verdict({**rule, "at_least": 0.45}, run).sentence
    assert verdict({**rule, "at_least": 0.1}, run).status == "pass"
    assert verdict({**rule, "at_least": 0.9}, run).status == "fail"


def test_an_interval_ends_where_the_metric_does() -> None:
    """No mean of reciprocal ranks is below 0 or above 1, in the sentence and for machines."""
    run = run_of({"RR": [0.0, 1.0, 0.25], "DCG@10": [0.0, 1.0, 0.25]})
    found = verdict({"metric": "RR", "at_least": 0.1}, run)
    assert found.sentence == "RR is 0.417, 95 % CI [0.000, 1.000]; the gate wants at least 0.1"
    assert found.interval == (0.0, 1.0)
    unbounded = verdict({"metric": "DCG@10", "at_least": 0.1}, run).interval
    assert unbounded is not None
    assert (unbounded.low, unbounded.high > 1) == (0.0, True)


def test_a_mean_that_is_equal_on_paper_reaches_its_limit() -> None:
    """Sums of floats may end just below; what lies below for real is told with enough digits."""
    below = [0.1] * 3 + [0.2] * 7
    run = run_of({"RR": below})
    assert verdict({"metric": "RR", "at_least": 0.17}, run).status == "pass"
    found = verdict({"metric": "RR", "at_least": 0.1701}, run)
    assert found.status == "fail"
    close = verdict({"metric": "RR", "at_least": 0.17004}, run_of({"RR": [0.17002] * 4}))
    assert close.sentence.startswith("RR is 0.170; ")
    assert close.sentence.endswith("at least 0.17004")
    hidden = verdict({"metric": "RR", "at_least": 0.17}, run_of({"RR": [0.16998] * 4}))
    assert hidden.sentence.startswith("RR is 0.16998; ")


def test_a_rule_may_be_about_some_queries() -> None:
    """The mean is that of the group; an unknown group is refused with those there are."""
    run = run_of({"RR": [0.0, 1.0] * 5})
    easy = {"metric": "RR", "at_least": 0.9, "where": {"difficulty": "easy"}}
    found = verdict(easy, run)
    assert (found.status, found.group, found.value) == ("pass", "difficulty=easy", 1.0)
    with pytest.raises(ConfigurationError, match="of difficulty there are easy, hard"):
        verdict({**easy, "where": {"difficulty": "impossible"}}, run)


def shifted(change: float, spread: float, count: int = 40) -> tuple[Any, Any]:
    """A run before and after a change of its mean, with so much noise between queries."""
    drawn = np.random.default_rng(7)
    before = 0.5 + 0.2 * drawn.random(count)
    noise = drawn.normal(0, spread, count)
    after = before + change + (noise - noise.mean())
    return run_of({"nDCG@10": before}, name="old"), run_of({"nDCG@10": after}, name="new")


def test_a_real_drop_fails() -> None:
    """More than is allowed, and hardly chance."""
    before, after = shifted(-0.05, 0.02)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.01}, after, before)
    assert found.status == "fail"
    assert found.sentence.startswith("nDCG@10 fell by 0.050, 95 % CI [-0.0")
    assert found.sentence.endswith("; the gate allows 0.010 (p < 0.001)")


def test_a_drop_that_may_be_chance_is_inconclusive() -> None:
    """The mean fell by more than is allowed, but queries differ much more than that."""
    before, after = shifted(-0.02, 0.3)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.01}, after, before)
    assert found.status == "inconclusive"
    assert "and it may be chance" in found.sentence


def test_a_small_drop_passes_where_a_larger_one_is_excluded() -> None:
    """The whole interval is within what is allowed."""
    before, after = shifted(-0.002, 0.01)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.01}, after, before)
    assert found.status == "pass"


def test_a_larger_drop_that_is_not_excluded_is_inconclusive() -> None:
    """The mean is within what is allowed, the interval is not."""
    before, after = shifted(0.0, 0.3)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.01}, after, before)
    assert found.status == "inconclusive"
    assert "a larger drop is not excluded" in found.sentence


def test_nothing_changed() -> None:
    """The same values pass without statistics."""
    run = run_of(HALF)
    found = verdict({"metric": "nDCG@10", "max_drop": 0.0}, run, run)
    assert (found.status, found.value) == ("pass", 0.0)
    assert found.sentence == ("nDCG@10 did not change: all 10 queries score as in the baseline")


def test_one_query_decides_nothing() -> None:
    """The verdict says why there is no p."""
    before, after = run_of({"RR": [1.0]}), run_of({"RR": [0.0]})
    found = verdict({"metric": "RR", "max_drop": 0.0}, after, before)
    assert found.status == "inconclusive"
    assert "one query is not enough for a test" in found.sentence


def test_several_rules_are_corrected_together() -> None:
    """The chance of any false alarm is that of one rule."""
    before, after = shifted(-0.012, 0.03)
    gate = Gate(baseline="b", rules=[Rule(metric="nDCG@10", max_drop=0.0)] * 20)
    alone = verdict({"metric": "nDCG@10", "max_drop": 0.0}, after, before)
    together = judge(gate, after, Baseline.of(before))
    assert alone.status == "fail"
    assert {one.status for one in together} == {"inconclusive"}
    assert "after correction for 20 rules" in together[0].sentence


def test_smaller_is_better_for_some_metrics() -> None:
    """More tokens until the first hit are a drop."""
    before = run_of({"TokensToHit": [100.0, 110.0, 90.0, 95.0, 105.0, 99.0]})
    after = run_of({"TokensToHit": [150.0, 161.0, 139.0, 146.0, 157.0, 148.0]})
    rule = {"metric": "TokensToHit", "max_drop": 10.0}
    assert verdict(rule, after, before).status == "fail"
    assert verdict(rule, before, after).status == "pass"


def test_a_provider_without_scores_fails() -> None:
    """With the reason."""
    found = verdict({"metric": "RR", "at_least": 0.1}, run_of(None))
    assert (found.status, found.value) == ("fail", None)
    assert "bm25 has no scores: the server went away" in found.sentence


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ({"metric": "nDGC@10", "at_least": 0.5}, "did you mean"),
        ({"at_least": 0.5}, "about one of: metric, latency, errors"),
        ({"metric": "RR", "latency": "p95", "at_most": 1}, "about one of"),
        ({"metric": "RR"}, "wants one of: at_least, at_most, max_drop"),
        ({"metric": "RR", "at_least": 0.1, "max_drop": 0.1}, "wants one of"),
        ({"latency": "p95", "max_drop": 0.1}, "are for metrics"),
        ({"metric": "NumRet", "max_drop": 1}, "neither more nor less of it is better"),
        ({"metric": "RR", "max_drop": -0.1}, "greater than or equal to 0"),
        ({"metric": "RR", "at_least": float("nan")}, "finite number"),
        ({"metric": "RR", "max_drop": 0.1, "confidence": 0.9}, "leave out `confidence`"),
        ({"errors": True, "at_most": 5}, "at_most is a share from 0 to below 1, as 0.05; found 5"),
        ({"errors": True, "at_least": 0}, "less is better, so a rule wants at_most"),
        ({"latency": "p95", "at_least": 0}, "less is better, so a rule wants at_most"),
        ({"metric": "nDCG@10", "max_drop": 5}, "lies between 0 and 1 and never falls by more"),
    ],
)
def test_wrong_rules_are_refused(rule: dict[str, Any], message: str) -> None:
    """A rule that cannot be meant is an error, never a gate that is always open."""
    with pytest.raises(ValidationError, match=message):
        Rule(**rule)


def test_a_rule_about_something_else_is_refused() -> None:
    """A provider or metric that the run has not would never fail."""
    run = run_of(HALF)
    with pytest.raises(ConfigurationError, match="did you mean 'bm25'"):
        verdict({"metric": "nDCG@10", "at_least": 0.1, "providers": ["bm52"]}, run)
    with pytest.raises(
        ConfigurationError, match="To compute it: berryeval runs rescore run-1 -m P@3 --save"
    ):
        verdict({"metric": "P@3", "at_least": 0.1}, run)


def test_a_baseline_that_says_nothing_is_refused() -> None:
    """Other data, another k, another provider, none at all."""
    run = run_of(HALF)
    rule: dict[str, Any] = {"metric": "nDCG@10", "max_drop": 0.1}
    with pytest.raises(ConfigurationError, match="measured on other data of drinks"):
        verdict(rule, run, run_of(HALF, content_hash="sha256:two"))
    with pytest.raises(ConfigurationError, match="for 5 hits a query, this run for 20"):
        verdict(rule, run, run_of(HALF, k=5))
    with pytest.raises(ConfigurationError, match=r"has no nDCG@10 of bm25; it has RR"):
        verdict(rule, run, run_of({"RR": [1.0] * 10}))
    with pytest.raises(ConfigurationError, match="needs a baseline"):
        judge(Gate(rules=[Rule(**rule)]), run)
    with pytest.raises(ConfigurationError, match="'given' was not read"):
        verdict(rule, run)


def test_queries_that_both_have_are_compared() -> None:
    """What only one has is counted; no shared query is refused."""
    before = run_of({"RR": [1.0, 0.5, 0.5]})
    after = run_of({"RR": [1.0, 0.5, 0.5, 0.1]})
    found = verdict({"metric": "RR", "max_drop": 0.0}, after, before)
    assert found.status == "pass"
    assert found.sentence == (
        "RR did not change: all 3 queries that both have score as in the baseline (1 query is new "
        "and not compared)"
    )
    empty = Baseline.read(
        json.loads(Baseline.of(before).dumps().replace('"q0', '"x0')), "baseline.json"
    )
    with pytest.raises(ConfigurationError, match="run-1 has none of the queries that bm25"):
        judge(Gate(baseline="b", rules=[Rule(metric="RR", max_drop=0.0)]), after, empty)


def test_a_baseline_file_reads_back_to_the_bit() -> None:
    """Whatever the values are."""
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
def test_a_broken_baseline_is_refused(change: dict[str, Any], message: str) -> None:
    """With the place in the file."""
    data = {**json.loads(Baseline.of(run_of(HALF)).dumps()), **change}
    with pytest.raises(DataError, match=message):
        Baseline.read(data, "b.json")


def test_a_baseline_with_a_hole_is_refused() -> None:
    """NaN, or fewer values than queries."""
    data = json.loads(Baseline.of(run_of(HALF)).dumps())
    data["parts"][0]["values"]["nDCG@10"][3] = float("nan")
    with pytest.raises(DataError, match=r"\['nDCG@10'\]\[3\]: expected a number, found number nan"):
        Baseline.read(data, "b.json")
    data["parts"][0]["values"]["nDCG@10"] = [0.5]
    with pytest.raises(DataError, match="has 1 values for 10 queries"):
        Baseline.read(data, "b.json")


def test_a_strict_self_check_counts_what_is_undecided() -> None:
    """With no drop allowed a strict gate stops nearly every run in which nothing is worse."""
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
    assert "more than the 2.5% that the gate claims; " in strict.sentence


@pytest.mark.parametrize(
    ("failed", "word"), [(20, "no more than"), (32, "within chance of"), (60, "more than")]
)
def test_a_self_check_says_what_it_shows(failed: int, word: str) -> None:
    """A rate above the claim is not called below it."""
    found = SelfCheck(1000, failed, 0, 0.025)
    assert found.sentence.endswith(f"%), {word} the 2.5% that the gate claims")


@pytest.mark.parametrize(
    ("metric", "how"), [("GMAP", "geometric mean"), ("Mine", "geometric mean"), ("RR", "mean")]
)
def test_the_interval_of_a_value_is_that_of_the_scores(metric: str, how: str) -> None:
    """Of a geometric mean in the logarithms: never below 0, and the same as `Scores.ci`."""
    from berryeval.gates.regression import interval_of_value

    values = [1e-5, 0.9, 0.4, 1e-5, 1.0, 0.8]
    scores = replace(scores_of({metric: values}), aggregates=(how,))
    for level in (0.95, 0.9999999):
        found = interval_of_value(metric, np.array(values), how, level)
        assert found is not None
        assert found.low >= 0
        assert found == pytest.approx(scores.ci(metric, level, method="t"), rel=1e-6)


def test_an_interval_without_end_is_no_fault() -> None:
    """Two values and a high level reach farther than numbers do."""
    from berryeval.gates.regression import interval_of_value

    found = interval_of_value("Mine", np.array([1e-5, 1.0]), "geometric mean", 0.9999)
    assert found == (0.0, float("inf"))
