"""How a run differs from a baseline, measure by measure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.errors import DataError
from berryeval.gates import Gate, Rule, Verdict, judge
from berryeval.gates.missing import missing_verdict, new_sentence
from berryeval.measures.direction import direction_of
from berryeval.pipeline.find_baseline import baseline_for

if TYPE_CHECKING:
    from berryeval.gates import Baseline, BaselinePart, Status
    from berryeval.results import ProviderRecord, RunRecord

__all__ = ["differences"]


def differences(run: RunRecord, baseline: str) -> list[Verdict]:
    """How every measure of the baseline that can get worse changed; no drop is allowed.

    What only one of the two has is inconclusive; a provider that failed fails.
    """
    kept = baseline_for(baseline, run)
    there = {(part.name, one.name): one for part in run.benchmarks for one in part.providers}
    rules: list[Rule] = []
    missing: list[Verdict] = []
    for old in kept.parts:
        provider = there.get((old.benchmark, old.provider))
        owner = f"{old.provider} on {old.benchmark}"
        for name in old.values:
            if direction_of(name) == "neither":  # it can change, and cannot fall
                continue
            rule = _rule(name, old)
            if provider is None:
                missing.append(missing_verdict(rule, old, owner))
            elif provider.scores is not None and provider.scores_with(name) is None:
                missing.append(missing_verdict(rule, old, f"{name} of {owner}"))
            else:
                rules.append(rule)
    if not rules:
        msg = f"{run.id} and the baseline {kept.run} share no provider, benchmark and measure"
        raise DataError(msg)
    gate = Gate(baseline=baseline).model_copy(update={"rules": rules})
    return [*judge(gate, run, kept), *missing, *_new(run, kept)]


def _rule(measure: str, part: BaselinePart) -> Rule:
    """That nothing is lost. Not checked: the measure may be known only where the run was made."""
    return Rule.model_construct(
        measure=measure, max_drop=0.0, benchmarks=[part.benchmark], providers=[part.provider]
    )


def _new(run: RunRecord, kept: Baseline) -> list[Verdict]:
    """Who is in the run alone; one that failed fails, as in a gate."""
    return [
        _alone(part.name, one)
        for part in run.benchmarks
        for one in part.providers
        if not kept.holds(part.name, one.name)
    ]


def _alone(benchmark: str, one: ProviderRecord) -> Verdict:
    status: Status = "inconclusive"
    words = new_sentence(one.name, benchmark)
    if one.scores is None:
        status, words = "fail", f"{one.name} on {benchmark} has no scores: {one.failure}"
    rule = "no worse than the baseline"
    return Verdict(status, rule, words, benchmark=benchmark, provider=one.name)
