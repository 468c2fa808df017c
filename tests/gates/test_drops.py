"""Rules about drops: missing items, other aggregates, and metrics where less is better."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.errors import ConfigurationError
from berryeval.gates import Baseline, Gate, Rule, judge
from tests.gates.worlds import run_of

if TYPE_CHECKING:
    from berryeval.gates import Verdict
    from berryeval.runs.record import RunRecord


def verdicts(run: RunRecord, before: RunRecord, **rule: Any) -> list[Verdict]:
    gate = Gate(baseline="given", rules=[Rule(**{"max_drop": 0.0, **rule})])
    return judge(gate, run, Baseline.of(before))


def verdict(run: RunRecord, before: RunRecord, **rule: Any) -> Verdict:
    (found,) = verdicts(run, before, **rule)
    return found


def aggregated(run: RunRecord, how: str) -> RunRecord:
    (part,) = run.benchmarks
    (provider,) = part.providers
    assert provider.scores is not None
    scores = replace(provider.scores, aggregates=(how,) * len(provider.scores.metrics))
    provider = replace(provider, scores=scores, standard=scores)
    return replace(run, benchmarks=(replace(part, providers=(provider,)),))


def drawn(count: int = 40) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.random.default_rng(3).uniform(0.3, 0.9, count)


def test_queries_missing_from_the_run_make_a_pass_inconclusive() -> None:
    before, after = run_of({"RR": drawn(40)}), run_of({"RR": drawn(40)[:10]})
    found = verdict(after, before, metric="RR", max_drop=0.05)
    assert found.status == "inconclusive"
    assert found.sentence == (
        "RR is unchanged: all 10 shared queries score as in the baseline (30 queries of "
        "the baseline are missing from the run)"
    )


def test_a_drop_of_the_remaining_queries_still_fails() -> None:
    before, after = run_of({"RR": drawn(40)}), run_of({"RR": drawn(40)[:30] - 0.2})
    found = verdict(after, before, metric="RR")
    assert found.status == "fail"
    assert "10 queries of the baseline are missing from the run" in found.sentence


def test_missing_queries_may_belong_to_the_group() -> None:
    """The baseline does not record groups."""
    before, after = run_of({"RR": drawn(40)}), run_of({"RR": drawn(40)[:10]})
    easy = {"difficulty": "easy"}
    found = verdict(after, before, metric="RR", where=easy)
    assert found.status == "inconclusive"
    assert "missing from the run and may belong to this group" in found.sentence
    assert verdict(before, before, metric="RR", where=easy).status == "pass"


def test_a_group_that_the_baseline_lacks_is_rejected() -> None:
    before, after = run_of({"RR": [0.5]}), run_of({"RR": [0.5, 0.6]})
    with pytest.raises(ConfigurationError, match="none of the queries of difficulty=easy"):
        verdict(after, before, metric="RR", where={"difficulty": "easy"})


@pytest.mark.parametrize(
    ("metric", "how"), [("GMAP", "geometric mean"), ("NumRelRet", "sum"), ("RR", "mean")]
)
def test_every_aggregate_can_drop(metric: str, how: str) -> None:
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
    before = aggregated(run_of({"GMAP": [0.5, 0.5]}), "geometric mean")
    after = aggregated(run_of({"GMAP": [0.5, 0.0]}), "geometric mean")
    found = verdict(after, before, metric="GMAP")
    assert found.status == "inconclusive"
    assert found.value == pytest.approx(-0.5)
    assert "the logarithm of a geometric mean with a value of 0" in found.sentence


def test_a_gain_that_hides_a_large_loss_does_not_pass() -> None:
    """Few queries with a gain, and one that fell to 0: the next set may hold more of these."""
    values = np.array([0.5] * 19 + [1.0])
    better = values + np.array([0.3] * 8 + [0.0] * 12)
    with_loss = better - np.array([0.0] * 19 + [0.5])
    before = run_of({"RR": values})
    assert verdict(run_of({"RR": better}), before, metric="RR", max_drop=0.03).status == "pass"
    found = verdict(run_of({"RR": with_loss}), before, metric="RR", max_drop=0.03)
    assert found.p is not None
    assert found.p <= 0.05
    assert found.status == "inconclusive"


def test_a_drop_is_good_where_less_is_better() -> None:
    high, low = run_of({"RBPResidual": drawn()}), run_of({"RBPResidual": drawn() ** 2})
    better = verdict(low, high, metric="RBPResidual")
    assert (better.status, better.rule) == ("pass", "RBPResidual rises by at most 0")
    assert better.sentence.startswith("RBPResidual dropped by 0.2")
    assert better.sentence.endswith("; the gate allows no rise (p < 0.001)")
    assert better.value is not None
    assert better.value < 0
    worse = verdict(high, low, metric="RBPResidual")
    assert worse.status == "fail"
    assert worse.sentence.startswith("RBPResidual rose by 0.2")


@pytest.mark.parametrize(
    ("count", "change", "status"),
    [(2, -0.01, "inconclusive"), (9, -0.01, "inconclusive"), (2, 0.01, "inconclusive"),
     (40, -0.01, "inconclusive"), (200, -0.01, "pass"), (40, 0.01, "pass"), (40, -0.03, "fail")],
)  # fmt: skip
def test_the_same_change_in_every_query_needs_enough_queries(
    count: int, change: float, status: str
) -> None:
    """One more query might lose everything, which the worse end of the interval allows for."""
    before = run_of({"RR": drawn(count)})
    found = verdict(run_of({"RR": drawn(count) + change}), before, metric="RR", max_drop=0.02)
    assert found.status == status
    assert found.interval is not None
    assert found.interval.low < change - 0.001


def test_parts_missing_from_the_run_are_inconclusive() -> None:
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
        "the baseline has dense on drinks, the run does not; nothing was compared"
    )
    chosen = {"providers": ["bm25"], "benchmarks": ["drinks"]}
    assert len(verdicts(run, before, metric="RR", **chosen)) == 1


@pytest.mark.parametrize(
    "rule", [{"metric": "RR", "at_least": 0.1}, {"errors": True, "at_most": 0}]
)
def test_a_rule_that_covers_nothing_is_rejected(rule: dict[str, Any]) -> None:
    run = run_of({"RR": drawn()})
    gate = Gate(rules=[Rule(**rule)])
    with pytest.raises(ConfigurationError, match=r"covers nothing in run-1.*has no provider"):
        judge(gate, replace(run, benchmarks=()))
    (part,) = run.benchmarks
    food = replace(part, name="food", providers=(replace(part.providers[0], name="dense"),))
    two = replace(run, benchmarks=(part, food))
    nobody = Rule(**rule, benchmarks=["food"], providers=["bm25"])
    with pytest.raises(ConfigurationError, match="bm25 on drinks, dense on food"):
        judge(Gate(rules=[nobody]), two)


@pytest.mark.parametrize(
    ("values", "words"),
    [([0.639], "[0.041, 0.977]; the gate requires at least 0.45, but 1 query is too few to"),
     ([0.49, 0.51], "[0.148, 0.852]; the gate requires at least 0.45, but 2 queries are too few")],
)  # fmt: skip
def test_few_queries_have_a_wide_interval(values: list[float], words: str) -> None:
    gate = Gate(rules=[Rule(metric="RR", at_least=0.45, confidence=0.95)])
    (found,) = judge(gate, run_of({"RR": values}))
    assert found.status == "inconclusive"
    assert words in found.sentence
