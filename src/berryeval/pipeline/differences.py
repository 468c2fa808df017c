"""How a run differs from a baseline, measure by measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from berryeval.errors import ConfigurationError
from berryeval.gates import Gate, Rule, Verdict, judge
from berryeval.gates.missing import missing_sentence, missing_verdict, new_sentence
from berryeval.measures import parse_measures
from berryeval.measures.direction import direction_of
from berryeval.results.standard import standard_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from berryeval.benchmarks import Benchmark
    from berryeval.gates import Baseline, BaselinePart, Status
    from berryeval.pipeline.plan import Plan
    from berryeval.results import ProviderRecord, RunRecord

__all__ = [
    "NO_RULE",
    "differences",
    "drop_rules",
    "measures_of_plan",
    "measures_of_run",
    "no_drop_rules",
    "unshared",
]

NO_RULE: Final = "no rule about drops: any significant fall fails"
_NO_WORSE: Final = "no worse than the baseline"
# By benchmark and provider; None where the provider failed, and every measure of it is lost.
Measures: TypeAlias = "Mapping[tuple[str, str], Collection[str] | None]"


def no_drop_rules(gate: Gate) -> bool:
    """Whether there is a baseline and no rule about it: then nothing may fall."""
    return bool(gate.baseline) and all(rule.max_drop is None for rule in gate.rules)


def differences(run: RunRecord, kept: Baseline) -> list[Verdict]:
    """How every measure of the baseline that can get worse changed; no drop is allowed.

    What only one of the two has is inconclusive; a provider that failed fails.
    """
    there = measures_of_run(run)
    rules = drop_rules(there, kept, run.id)
    gate = Gate(baseline=kept.run).model_copy(update={"rules": rules})
    return [
        *judge(gate, run, kept, wanted=False),
        *unshared(run, kept),
    ]


def measures_of_run(run: RunRecord) -> Measures:
    """The measures that a run has."""
    return {
        (part.name, one.name): _measures(one) for part in run.benchmarks for one in part.providers
    }


def measures_of_plan(plan: Plan, benchmarks: Sequence[Benchmark]) -> Measures:
    """The measures that a run will have."""
    names = {str(one) for one in parse_measures([*plan.scored, *standard_of(plan.depth)])}
    return {(one.name, label): names for one in benchmarks for label in plan.labels}


def _measures(provider: ProviderRecord) -> Collection[str] | None:
    if provider.scores is None:
        return None
    tables = (provider.scores, provider.standard)
    return {name for table in tables if table is not None for name in table.measures}


def drop_rules(there: Measures, kept: Baseline, run: str = "the run") -> list[Rule]:
    """That nothing falls: a rule for every measure of a provider that run and baseline share."""
    found = [
        rule
        for old in kept.parts
        if (old.benchmark, old.provider) in there
        for rule in _rules(old)
        if (names := there[old.benchmark, old.provider]) is None or rule.measure in names
    ]
    if not found:
        msg = f"{run} and the baseline {kept.run} share no provider, benchmark and measure"
        raise ConfigurationError(msg)
    return found


def unshared(run: RunRecord, kept: Baseline) -> list[Verdict]:
    """A verdict on each measure that only the baseline has, and each provider that only one has."""
    there = measures_of_run(run)
    gone = [_gone(old) for old in kept.parts if (old.benchmark, old.provider) not in there]
    return [*_missing_measures(there, kept), *gone, *_new(run, kept)]


def _gone(old: BaselinePart) -> Verdict:
    """That the run lacks a provider on a benchmark: said once, for all of its measures."""
    words = missing_sentence(f"{old.provider} on {old.benchmark}")
    return Verdict("inconclusive", _NO_WORSE, words, benchmark=old.benchmark, provider=old.provider)


def _missing_measures(there: Measures, kept: Baseline) -> list[Verdict]:
    """A verdict on each measure of the baseline that a provider of the run has not."""
    return [
        missing_verdict(rule, old, f"{rule.measure} of {old.provider} on {old.benchmark}")
        for old in kept.parts
        if (names := there.get((old.benchmark, old.provider))) is not None
        for rule in _rules(old)
        if rule.measure not in names
    ]


def _rules(part: BaselinePart) -> list[Rule]:
    """That no measure falls; what is neither better nor worse can change, and cannot fall."""
    return [_rule(name, part) for name in part.values if direction_of(name) != "neither"]


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
    return Verdict(status, _NO_WORSE, words, benchmark=benchmark, provider=one.name)
