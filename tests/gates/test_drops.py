"""Rules about drops: what one side lacks, other aggregates, and less being better."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.errors import ConfigurationError
from berryeval.gates.baseline import Baseline
from berryeval.gates.judging import judge
from berryeval.gates.rules import Gate, Rule
from tests.gates.worlds import run_of

if TYPE_CHECKING:
    from berryeval.gates.verdict import Verdict
    from berryeval.runs.record import RunRecord


def verdicts(run: RunRecord, before: RunRecord, **rule: Any) -> list[Verdict]:
    """The verdicts of one rule about a drop."""
    gate = Gate(baseline="given", rules=[Rule(**{"max_drop": 0.0, **rule})])
    return judge(gate, run, Baseline.of(before))


def verdict(run: RunRecord, before: RunRecord, **rule: Any) -> Verdict:
    """The only verdict."""
    (found,) = verdicts(run, before, **rule)
    return found


def aggregated(run: RunRecord, how: str) -> RunRecord:
    """The run with another aggregate of its metrics."""
    (part,) = run.benchmarks
    (provider,) = part.providers
    assert provider.scores is not None
    scores = replace(provider.scores, aggregates=(how,) * len(provider.scores.metrics))
    provider = replace(provider, scores=scores, standard=scores)
    return replace(run, benchmarks=(replace(part, providers=(provider,)),))


def drawn(count: int = 40) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Values between 0.3 and 0.9."""
    return np.random.default_rng(3).uniform(0.3, 0.9, count)


def test_queries_missing_from_the_run_leave_it_undecided() -> None:
    """A run of some queries never passes for all; the sentence counts both sides."""
    before, after = run_of({"RR": drawn(40)}), run_of({"RR": drawn(40)[:10]})
    found = verdict(after, before, metric="RR", max_drop=0.05)
    assert found.status == "inconclusive"
    assert found.sentence == (
        "RR did not change: all 10 queries that both have score as in the baseline (30 queries of "
        "the baseline are not in the run)"
    )


def test_a_fall_of_the_queries_that_are_there_still_fails() -> None:
    """Missing queries hide no regression."""
    before, after = run_of({"RR": drawn(40)}), run_of({"RR": drawn(40)[:30] - 0.2})
    found = verdict(after, before, metric="RR")
    assert found.status == "fail"
    assert "10 queries of the baseline are not in the run" in found.sentence


def test_missing_queries_may_be_of_the_group() -> None:
    """The baseline knows no groups, so none of its queries is taken for another's."""
    before, after = run_of({"RR": drawn(40)}), run_of({"RR": drawn(40)[:10]})
    easy = {"difficulty": "easy"}
    found = verdict(after, before, metric="RR", where=easy)
    assert found.status == "inconclusive"
    assert "are not in the run, and may be of this group" in found.sentence
    assert verdict(before, before, metric="RR", where=easy).status == "pass"


def test_a_group_that_the_baseline_lacks_is_refused() -> None:
    """Nothing would be compared."""
    before, after = run_of({"RR": [0.5]}), run_of({"RR": [0.5, 0.6]})
    with pytest.raises(ConfigurationError, match="none of the queries of difficulty=easy"):
        verdict(after, before, metric="RR", where={"difficulty": "easy"})


@pytest.mark.parametrize(
    ("metric", "how"), [("GMAP", "geometric mean"), ("NumRelRet", "sum"), ("RR", "mean")]
)
def test_every_aggregate_can_fall(metric: str, how: str) -> None:
    """The change is that of the aggregate itself, and a real one fails."""
    values = drawn()
    lower = values * np.random.default_rng(4).uniform(0.5, 0.8, len(values))
    before = aggregated(run_of({metric: values}), how)
    after = aggregated(run_of({metric: lower}), how)
    found = verdict(after, before, metric=metric)
    assert found.status == "fail"
    expected = {
        "geometric mean": np.exp(np.log(lower).mean()) - np.exp(np.log(values).mean()),
        "sum": lower.sum() - values.sum(),
        "mean": lower.mean() - values.mean(),
    }[how]
    assert found.value == pytest.approx(expected)
    assert verdict(before, after, metric=metric).status == "pass"


def test_a_geometric_mean_of_zero_cannot_be_tested() -> None:
    """It has no logarithms: undecided, with the reason and the change."""
    before = aggregated(run_of({"GMAP": [0.5, 0.5]}), "geometric mean")
    after = aggregated(run_of({"GMAP": [0.5, 0.0]}), "geometric mean")
    found = verdict(after, before, metric="GMAP")
    assert found.status == "inconclusive"
    assert found.value == pytest.approx(-0.5)
    assert "a geometric mean with a value of 0 has no logarithms" in found.sentence


def test_metrics_of_which_less_is_better_are_told_as_they_moved() -> None:
    """A fall is called a fall, and is good; the rule speaks of rises."""
    high, low = run_of({"RBPResidual": drawn()}), run_of({"RBPResidual": drawn() ** 2})
    better = verdict(low, high, metric="RBPResidual")
    assert (better.status, better.rule) == ("pass", "RBPResidual rises by at most 0")
    assert better.sentence.startswith("RBPResidual fell by 0.2")
    assert better.sentence.endswith("; the gate allows no rise (p < 0.001)")
    assert better.value is not None
    assert better.value < 0
    worse = verdict(high, low, metric="RBPResidual")
    assert worse.status == "fail"
    assert worse.sentence.startswith("RBPResidual rose by 0.2")


@pytest.mark.parametrize(
    ("count", "change", "status"),
    [(2, -0.01, "inconclusive"), (9, -0.01, "inconclusive"), (2, 0.01, "inconclusive"),
     (10, -0.01, "pass"), (40, 0.01, "pass"), (40, -0.03, "fail")],
)  # fmt: skip
def test_the_same_change_in_every_query_takes_enough_of_them(
    count: int, change: float, status: str
) -> None:
    """An interval without width would let pass what few queries cannot tell."""
    before = run_of({"RR": drawn(count)})
    found = verdict(run_of({"RR": drawn(count) + change}), before, metric="RR", max_drop=0.02)
    assert found.status == status
    assert "CI" not in found.sentence


def test_what_only_the_baseline_has_is_named() -> None:
    """A provider or benchmark that vanished is undecided, unless the rule is not about it."""
    run = run_of({"RR": drawn()})
    (part,) = run.benchmarks
    dense = replace(part.providers[0], name="dense")
    both = replace(part, providers=(*part.providers, dense))
    before = replace(run, benchmarks=(both, replace(part, name="food")))
    found = verdicts(run, before, metric="RR")
    assert [(one.benchmark, one.provider, one.status) for one in found] == [
        ("drinks", "bm25", "pass"),
        ("drinks", "dense", "inconclusive"),
        ("food", "bm25", "inconclusive"),
    ]
    assert found[1].sentence == (
        "the run has no dense on drinks, which the baseline has: nothing was compared"
    )
    chosen = {"providers": ["bm25"], "benchmarks": ["drinks"]}
    assert len(verdicts(run, before, metric="RR", **chosen)) == 1


@pytest.mark.parametrize(
    "rule", [{"metric": "RR", "at_least": 0.1}, {"errors": True, "at_most": 0}]
)
def test_a_rule_about_nothing_is_refused(rule: dict[str, Any]) -> None:
    """A run without providers or benchmarks satisfies no rule."""
    run = run_of({"RR": drawn()})
    gate = Gate(rules=[Rule(**rule)])
    with pytest.raises(ConfigurationError, match=r"about nothing in run-1.*has no provider"):
        judge(gate, replace(run, benchmarks=()))
    (part,) = run.benchmarks
    food = replace(part, name="food", providers=(replace(part.providers[0], name="dense"),))
    two = replace(run, benchmarks=(part, food))
    nobody = Rule(**rule, benchmarks=["food"], providers=["bm25"])
    with pytest.raises(ConfigurationError, match="bm25 on drinks, dense on food"):
        judge(Gate(rules=[nobody]), two)


@pytest.mark.parametrize("values", [[0.639], [0.5] * 9])
def test_confidence_needs_a_spread(values: list[float]) -> None:
    """An interval made from nothing decides nothing."""
    gate = Gate(rules=[Rule(metric="RR", at_least=0.1, confidence=0.95)])
    (found,) = judge(gate, run_of({"RR": values}))
    assert found.status == "inconclusive"
    assert "CI" not in found.sentence


def test_confidence_is_by_student() -> None:
    """Two queries have a wide interval, not their own range."""
    gate = Gate(rules=[Rule(metric="RR", at_least=0.45, confidence=0.95)])
    (found,) = judge(gate, run_of({"RR": [0.49, 0.51]}))
    assert found.status == "inconclusive"
    assert "95 % CI [0.373, 0.627]" in found.sentence
