"""Items on one side only, broken baselines, and self-checks without a result."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.errors import ConfigurationError, DataError
from berryeval.gates import Baseline, Gate, Rule, Sample, Verdict, judge, self_check
from tests.gates.worlds import run_of

if TYPE_CHECKING:
    from berryeval.runs.record import RunRecord

VALUES = {"RR": list(np.random.default_rng(3).uniform(0.3, 0.9, 40))}
DROP = Rule(metric="RR", max_drop=0.0)


def with_hybrid(run: RunRecord) -> RunRecord:
    (part,) = run.benchmarks
    hybrid = replace(part.providers[0], name="hybrid")
    return replace(run, benchmarks=(replace(part, providers=(*part.providers, hybrid)),))


def test_a_new_provider_is_inconclusive_and_the_others_are_judged() -> None:
    before = run_of(VALUES, name="old")
    gate = Gate(baseline="given", rules=[DROP])
    found = judge(gate, with_hybrid(run_of(VALUES)), Baseline.of(before))
    assert [(one.provider, one.status) for one in found] == [
        ("bm25", "pass"),
        ("hybrid", "inconclusive"),
    ]
    assert found[1].sentence == (
        "hybrid on drinks is new and not in the baseline; nothing was compared"
    )
    assert found[1].limit == 0.0


def test_a_rule_whose_providers_are_all_new_is_rejected() -> None:
    rule = Rule(metric="RR", max_drop=0.0, providers=["hybrid"])
    gate = Gate(baseline="given", rules=[rule])
    with pytest.raises(ConfigurationError, match="has no hybrid on drinks; it has bm25 on"):
        judge(gate, with_hybrid(run_of(VALUES)), Baseline.of(run_of(VALUES, name="old")))


def test_a_repeated_query_in_a_baseline_is_rejected() -> None:
    data = json.loads(Baseline.of(run_of(VALUES)).dumps())
    data["parts"][0]["queries"][1] = data["parts"][0]["queries"][0]
    with pytest.raises(DataError, match=r"parts\[0\]: queries has 'q00' 2 times"):
        Baseline.read(data, "b.json")


def test_values_with_another_aggregate_are_rejected() -> None:
    data = json.loads(Baseline.of(run_of(VALUES)).dumps())
    data["parts"][0]["aggregates"] = {"RR": "geometric mean"}
    baseline = Baseline.read(data, "b.json")
    with pytest.raises(ConfigurationError, match="is the geometric mean of its queries in the"):
        judge(Gate(baseline="given", rules=[DROP]), run_of(VALUES), baseline)


def test_a_verdict_has_its_numbers_as_fields_or_null() -> None:
    lower = [value - 0.01 * (place % 3) for place, value in enumerate(VALUES["RR"])]
    rules = [DROP, Rule(metric="RR", max_drop=0.5), Rule(errors=True, at_most=0.1)]
    baseline = Baseline.of(run_of(VALUES, name="old"))
    fell, _, errors = judge(Gate(baseline="b", rules=rules), run_of({"RR": lower}), baseline)
    data = fell.to_dict()
    assert (data["n"], data["family"], data["level"], data["about"]) == (40, 2, 0.95, "metric")
    assert data["interval"][0] < data["value"] < data["interval"][1]
    assert 0 < data["p"] < 0.01
    assert json.loads(json.dumps(data)) == data
    empty = errors.to_dict()
    assert (empty["about"], empty["n"]) == ("errors", 40)
    assert [empty[name] for name in ("interval", "level", "p", "family")] == [None] * 4
    assert Verdict.from_json(fell.to_json()) == fell


@pytest.mark.parametrize("value", [[1], "0..1", [0, None], [0, True]])
def test_a_broken_interval_is_rejected_with_its_path(value: Any) -> None:
    data = {"status": "pass", "rule": "", "sentence": "", "interval": value}
    with pytest.raises(DataError, match=r"verdicts\[0\].interval"):
        Verdict.from_json(data, "verdicts[0]")


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ([], [], "every query has the same value, so resampling changes nothing"),
        ([0.4], [0.6], "too few queries (1) to fail a rule about a drop"),
        (
            [0.4, 0.5, 0.1, 0.2, 0.3],
            [0.6, 0.1, 0.4, 0.3, 0.2],
            "too few queries (5) to fail a rule about a drop",
        ),
        ([0.5] * 20, [0.5] * 20, "every query has the same value, so resampling changes nothing"),
    ],
)
def test_a_self_check_in_which_nothing_can_fail_gives_the_reason(
    before: list[float], after: list[float], why: str
) -> None:
    """Zero alarms mean nothing if no trial could raise one."""
    found = self_check([Sample(DROP, np.array(before), np.array(after))], trials=10)
    assert (found.holds, found.trials) == (None, 0)
    assert found.sentence == f"false alarms cannot be counted: {why}"


def test_a_self_check_of_failed_providers_gives_the_reason() -> None:
    found = self_check([])
    assert found.to_dict()["holds"] is None
    assert "no provider covered by these rules has scores" in found.sentence


def test_six_queries_are_enough_for_a_self_check() -> None:
    before, after = np.arange(6) / 10, np.arange(6)[::-1] / 10
    found = self_check([Sample(DROP, before, after)], trials=10)
    assert (found.trials, found.cannot) == (10, "")
