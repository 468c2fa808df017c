"""No rule about a drop is taken that could never fail, and none is judged so that it could not."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.errors import ConfigurationError
from berryeval.gates.baseline import Baseline
from berryeval.gates.judging import judge
from berryeval.gates.regression import Sample, enough_samples
from berryeval.gates.rules import Gate, Rule
from berryeval.gates.simulation import self_check
from tests.gates.worlds import run_of

if TYPE_CHECKING:
    from berryeval.gates.verdict import Verdict
    from berryeval.runs.record import RunRecord

VALUES = np.random.default_rng(3).uniform(0.3, 0.7, 40)
NOTHING = VALUES * 0


def verdicts(run: RunRecord, before: RunRecord, rule: Rule) -> list[Verdict]:
    """The verdicts of one rule about a drop."""
    return judge(Gate(baseline="given", rules=[rule]), run, Baseline.of(before))


def with_providers(run: RunRecord, *others: RunRecord) -> RunRecord:
    """The run with the providers of other runs, named p1, p2, ..."""
    (part,) = run.benchmarks
    added = [
        replace(other.benchmarks[0].providers[0], name=f"p{place}")
        for place, other in enumerate(others, 1)
    ]
    return replace(run, benchmarks=(replace(part, providers=(*part.providers, *added)),))


@pytest.mark.parametrize("more", [0, 119])
def test_a_collapse_fails_at_the_smallest_significance(more: int) -> None:
    """However many drops are looked at together: the samples suffice for the correction."""
    before, after = run_of({"RR": VALUES}), run_of({"RR": NOTHING})
    before, after = (with_providers(one, *[one] * more) for one in (before, after))
    found = verdicts(after, before, Rule(metric="RR", max_drop=0.01, significance=0.001))
    assert [one.status for one in found] == ["fail"] * (more + 1)


@given(st.integers(1, 3000), st.floats(0.001, 0.999), st.integers(1, 100_000))
def test_the_smallest_p_of_the_samples_is_small_enough(
    family: int, significance: float, usual: int
) -> None:
    """Also after the correction, for gates and for their self-check."""
    rule = Rule(metric="RR", max_drop=0.0, significance=significance)
    count = enough_samples([Sample(rule, VALUES, NOTHING)] * family, usual)
    assert count >= usual
    assert family / (1 + count) <= significance


@pytest.mark.parametrize(
    ("metric", "values", "drop", "message"),
    [
        ("nDCG@10", [0.5, 0.6], 0.6, r"is 0\.55 of bm25 on drinks, .* below 0; .* below 0\.55"),
        ("nDCG@10", [0.5, 0.6], 0.55, r"is 0\.55 of bm25 on drinks, .* never below 0"),
        ("RBPResidual", [0.7, 0.9], 0.3, r"is 0\.8 of bm25 on drinks, .* never above 1; .* 0\.2"),
    ],
)
def test_a_drop_that_the_baseline_has_no_room_for_is_refused(
    metric: str, values: list[float], drop: float, message: str
) -> None:
    """With the value of the baseline, the end of the metric, and what could be meant."""
    run = run_of({metric: values})
    with pytest.raises(ConfigurationError, match=f"would never fail: .*{message}"):
        verdicts(run, run, Rule(metric=metric, max_drop=drop))


def test_room_is_that_of_the_queries_of_the_rule() -> None:
    """The hard ones are at 0.2 here, and the easy ones at 0.8."""
    run = run_of({"RR": [0.2, 0.8] * 20})
    easy = Rule(metric="RR", max_drop=0.5, where={"difficulty": "easy"})
    assert verdicts(run, run, easy)[0].status == "pass"
    with pytest.raises(ConfigurationError, match=r"is 0\.2 of bm25"):
        verdicts(run, run, Rule(metric="RR", max_drop=0.5, where={"difficulty": "hard"}))


def test_one_without_room_beside_others_is_told() -> None:
    """The rule can fail for the others; nobody is told that a larger drop may be there."""
    before = with_providers(run_of({"RR": VALUES}), run_of({"RR": [0.4] + [0.0] * 39}))
    after = with_providers(run_of({"RR": NOTHING}), run_of({"RR": NOTHING}))
    found = verdicts(after, before, Rule(metric="RR", max_drop=0.012))
    assert [one.status for one in found] == ["fail", "inconclusive"]
    assert found[1].sentence.endswith(", and the baseline is too low for a larger drop")


def test_no_drop_from_nothing_is_kept() -> None:
    """A value at its worst end cannot fall, and a rule that allows no drop holds."""
    run = run_of({"RR": NOTHING})
    assert verdicts(run, run, Rule(metric="RR", max_drop=0.0))[0].status == "pass"


def test_a_self_check_knows_that_drops_are_corrected_together() -> None:
    """Six queries can fail one rule, and not four that are looked at together."""
    before = np.arange(6) / 10
    sample = Sample(Rule(metric="RR", max_drop=0.0), before, before[::-1].copy())
    alike = Sample(sample.rule, np.full(6, 0.5), np.full(6, 0.5))
    assert self_check([sample, alike], trials=5).cannot == ""
    found = self_check([sample] * 4, trials=5)
    assert (found.holds, found.trials) == (None, 0)
    assert found.cannot == (
        "so few queries (6) cannot fail a rule where 4 drops are looked at together: the smallest "
        "p is 0.12"
    )
