"""Every accepted rule about a drop can fail."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.errors import ConfigurationError
from berryeval.gates import Baseline, Gate, Rule, judge, self_check
from berryeval.gates.regression import Sample, enough_samples
from tests.gates.worlds import run_of

if TYPE_CHECKING:
    from berryeval.gates import Verdict
    from berryeval.runs.record import RunRecord

VALUES = np.random.default_rng(3).uniform(0.3, 0.7, 40)
NOTHING = VALUES * 0


def verdicts(run: RunRecord, before: RunRecord, rule: Rule) -> list[Verdict]:
    return judge(Gate(baseline="given", rules=[rule]), run, Baseline.of(before))


def with_providers(run: RunRecord, *others: RunRecord) -> RunRecord:
    """Add the providers of other runs, named p1, p2, ..."""
    (part,) = run.benchmarks
    added = [
        replace(other.benchmarks[0].providers[0], name=f"p{place}")
        for place, other in enumerate(others, 1)
    ]
    return replace(run, benchmarks=(replace(part, providers=(*part.providers, *added)),))


@pytest.mark.parametrize("more", [0, 119])
def test_a_collapse_fails_at_the_smallest_significance_level(more: int) -> None:
    before, after = run_of({"RR": VALUES}), run_of({"RR": NOTHING})
    before, after = (with_providers(one, *[one] * more) for one in (before, after))
    found = verdicts(after, before, Rule(metric="RR", max_drop=0.01, significance=0.001))
    assert [one.status for one in found] == ["fail"] * (more + 1)


@given(st.integers(1, 3000), st.floats(0.001, 0.999), st.integers(1, 100_000))
def test_the_smallest_possible_p_is_significant_after_correction(
    family: int, significance: float, usual: int
) -> None:
    rule = Rule(metric="RR", max_drop=0.0, significance=significance)
    count = enough_samples([Sample(rule, VALUES, NOTHING)] * family, usual)
    assert count >= usual
    assert family / (1 + count) <= significance


@pytest.mark.parametrize(
    ("metric", "values", "drop", "message"),
    [
        ("nDCG@10", [0.5, 0.6], 0.6, r"is 0\.55 for bm25 on drinks, .* below 0; .* below 0\.55"),
        ("nDCG@10", [0.5, 0.6], 0.55, r"is 0\.55 for bm25 on drinks, .* never below 0"),
        ("RBPResidual", [0.7, 0.9], 0.3, r"is 0\.8 for bm25 on drinks, .* never above 1; .* 0\.2"),
    ],
)
def test_a_larger_drop_than_the_baseline_can_make_is_rejected(
    metric: str, values: list[float], drop: float, message: str
) -> None:
    run = run_of({metric: values})
    with pytest.raises(ConfigurationError, match=f"would never fail: .*{message}"):
        verdicts(run, run, Rule(metric=metric, max_drop=drop))


def test_room_to_drop_is_computed_for_the_group_of_the_rule() -> None:
    """Hard queries score 0.2 here, easy ones 0.8."""
    run = run_of({"RR": [0.2, 0.8] * 20})
    easy = Rule(metric="RR", max_drop=0.5, where={"difficulty": "easy"})
    assert verdicts(run, run, easy)[0].status == "pass"
    with pytest.raises(ConfigurationError, match=r"is 0\.2 for bm25"):
        verdicts(run, run, Rule(metric="RR", max_drop=0.5, where={"difficulty": "hard"}))


def test_a_provider_without_room_to_drop_is_inconclusive() -> None:
    """The rule is accepted because it can fail for the other provider."""
    before = with_providers(run_of({"RR": VALUES}), run_of({"RR": [0.4] + [0.0] * 39}))
    after = with_providers(run_of({"RR": NOTHING}), run_of({"RR": NOTHING}))
    found = verdicts(after, before, Rule(metric="RR", max_drop=0.012))
    assert [one.status for one in found] == ["fail", "inconclusive"]
    assert found[1].sentence.endswith(", but the baseline is too low for a larger drop")


def test_a_rule_that_allows_no_drop_passes_at_the_worst_value() -> None:
    run = run_of({"RR": NOTHING})
    assert verdicts(run, run, Rule(metric="RR", max_drop=0.0))[0].status == "pass"


def test_a_self_check_accounts_for_the_correction() -> None:
    """Six queries can fail one rule, but not four that are tested together."""
    before = np.arange(6) / 10
    sample = Sample(Rule(metric="RR", max_drop=0.0), before, before[::-1].copy())
    alike = Sample(sample.rule, np.full(6, 0.5), np.full(6, 0.5))
    assert self_check([sample, alike], trials=5).cannot == ""
    found = self_check([sample] * 4, trials=5)
    assert (found.holds, found.trials) == (None, 0)
    assert found.cannot == (
        "too few queries (6) to fail a rule when 4 drops are tested together: the smallest "
        "possible p is 0.12"
    )
