"""The verdict of every rule on every provider of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from berryeval.errors import ConfigurationError
from berryeval.gates.checking import (
    check_aggregate,
    check_held,
    check_names,
    check_shared,
    chosen_queries,
    comparable_part,
    needs_baseline,
)
from berryeval.gates.drop_verdict import judge_drop
from berryeval.gates.limits import judge_errors, judge_latency, judge_limit
from berryeval.gates.missing import missing_parts, new_sentence
from berryeval.gates.regression import (
    Drop,
    Sample,
    corrected_together,
    enough_samples,
    measured_drop,
)
from berryeval.gates.room import check_room
from berryeval.gates.verdict import Verdict
from berryeval.gates.wording import limit_of, wants
from berryeval.intervals import aggregate
from berryeval.io.command_lines import to_score_again

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.gates.baseline import Baseline
    from berryeval.gates.rules import Gate, Rule
    from berryeval.results import BenchmarkRecord, ProviderRecord, RunRecord
    from berryeval.scores import Scores

__all__ = ["judge", "samples_of"]


class _Case(NamedTuple):
    """A rule and whom it is about; `run` names the run, for lines to type."""

    rule: Rule
    benchmark: BenchmarkRecord
    provider: ProviderRecord
    run: str

    @property
    def compared(self) -> bool:
        """Whether it is about a drop that can be looked at."""
        return self.rule.max_drop is not None and self.provider.scores is not None

    @property
    def owner(self) -> tuple[str, str]:
        """The names of the benchmark and of the provider."""
        return self.benchmark.name, self.provider.name


def judge(
    gate: Gate,
    run: RunRecord,
    baseline: Baseline | None = None,
    *,
    named: str = "",
    wanted: bool = True,
) -> list[Verdict]:
    """The verdicts, in the order of the rules; rules about drops need the baseline.

    A drop counts as real by its p-value after Holm's correction over all drops that the gate looks
    at: the chance of any false alarm is that of one rule. What only the baseline or only the run
    holds is inconclusive; a rule about nothing is refused.

    Args:
        gate: the rules.
        run: what is judged.
        baseline: what drops are measured against.
        named: how people name the run, for lines to type; by its id unless given.
        wanted: whether the sentences say what the gate wants.
    """
    if baseline is None and needs_baseline(gate):
        msg = f"the baseline {gate.baseline!r} was not read; rules about drops need it"
        raise ConfigurationError(msg)
    cases = _all_cases(gate, run, baseline, named)
    drops = _drops(cases, baseline)
    found = [_verdict(case, drops.get(place), wanted=wanted) for place, case in enumerate(cases)]
    for rule in gate.rules:
        if baseline is not None and rule.max_drop is not None:
            found += missing_parts(rule, run, baseline)
    return found


def _all_cases(
    gate: Gate, run: RunRecord, baseline: Baseline | None, named: str = ""
) -> list[_Case]:
    """Whom the rules are about; a rule about drops of nobody in the baseline is refused."""
    found = []
    for rule in gate.rules:
        cases = _cases(rule, run, named or run.id)
        if baseline is not None:
            check_held(rule, baseline, [case.owner for case in cases if case.compared])
        found += cases
    return found


def _cases(rule: Rule, run: RunRecord, named: str) -> list[_Case]:
    """Whom the rule is about; one about nobody is refused."""
    check_names(rule.benchmarks, [part.name for part in run.benchmarks], "benchmark", rule)
    names = [provider.name for part in run.benchmarks for provider in part.providers]
    check_names(rule.providers, names, "provider", rule)
    found = [
        _Case(rule, part, provider, named)
        for part in run.benchmarks
        for provider in part.providers
        if rule.covers(part.name, provider.name)
    ]
    if not found:
        there = ", ".join(
            f"{one.name} on {part.name}" for part in run.benchmarks for one in part.providers
        )
        msg = (
            f"the rule {str(rule)!r} is about nothing in {run.id}, and would never fail; the run "
            f"has {there or 'no provider'}"
        )
        raise ConfigurationError(msg)
    return found


def _drops(cases: Sequence[_Case], baseline: Baseline | None) -> dict[int, Drop]:
    """The drops that the gate looks at, by the place of their case, corrected together."""
    if baseline is None:
        return {}
    samples = _samples(cases, baseline)
    count = enough_samples(list(samples.values()))
    drops = [measured_drop(sample, samples=count) for sample in samples.values()]
    return dict(zip(samples, corrected_together(drops), strict=True))


def samples_of(gate: Gate, run: RunRecord, baseline: Baseline) -> list[Sample]:
    """What the gate's rules about drops look at."""
    return list(_samples(_all_cases(gate, run, baseline), baseline).values())


def _samples(cases: Sequence[_Case], baseline: Baseline) -> dict[int, Sample]:
    """The same by the place of their case; a rule that none of them can break is refused."""
    found = {
        place: _sample(case, baseline)
        for place, case in enumerate(cases)
        if case.compared and baseline.holds(*case.owner)
    }
    for rule in {id(sample.rule): sample.rule for sample in found.values()}.values():
        values = {
            cases[place].owner: aggregate(sample.aggregate, sample.before)
            for place, sample in found.items()
            if sample.rule is rule
        }
        check_room(rule, baseline, values)
    return found


def _sample(case: _Case, baseline: Baseline) -> Sample:
    rule, benchmark, provider, _ = case
    owner = (benchmark.name, benchmark.content_hash, benchmark.k)
    part = comparable_part(rule, baseline, owner, provider.name)
    whole = _table(case)
    scores = _scores(case)
    old = dict(zip(part.queries, part.values[rule.measure], strict=True))
    new = scores.per_query(rule.measure)
    check_shared(rule, baseline, part, scores.queries)
    shared = [query for query in scores.queries if query in old]
    before = np.array([old[query] for query in shared])
    after = np.array([new[query] for query in shared])
    how = scores.aggregates[scores.row_of(rule.measure)]
    check_aggregate(rule, baseline, part, how)
    missing = len(old.keys() - set(whole.queries))
    return Sample(rule, before, after, how, new=len(new) - len(shared), missing=missing)


def _verdict(case: _Case, drop: Drop | None, *, wanted: bool) -> Verdict:
    rule, benchmark, provider, _ = case
    if provider.scores is None:
        found = _without_scores(case, wanted=wanted)
    elif drop is not None:
        found = judge_drop(drop, rule, wanted=wanted)
    elif rule.max_drop is not None:
        words = new_sentence(provider.name, benchmark.name)
        found = Verdict("inconclusive", str(rule), words, limit=rule.max_drop)
    elif rule.measure:
        found = judge_limit(_scores(case), rule)
    elif rule.latency:
        found = judge_latency(provider, rule)
    else:
        found = judge_errors(provider, rule)
    return replace(
        found,
        benchmark=benchmark.name,
        provider=provider.name,
        group=rule.group,
        measure=rule.measure,
        about=rule.about,
    )


def _without_scores(case: _Case, *, wanted: bool) -> Verdict:
    """A provider that failed fails every rule about it, each with what it wants."""
    rule, _, provider, _ = case
    sentence = (
        f"{rule.subject} has no value, as {provider.name} has no scores: {provider.failure}"
        f"{f'; {wants(rule)}' if wanted else ''}"
    )
    return Verdict("fail", str(rule), sentence, limit=limit_of(rule))


def _table(case: _Case) -> Scores:
    """The scores with the measure of the rule, of all queries."""
    rule, _, provider, run = case
    scores = provider.scores_with(rule.measure)
    if scores is None:
        tables = [table for table in (provider.scores, provider.standard) if table is not None]
        there = ", ".join(dict.fromkeys(name for table in tables for name in table.measures))
        msg = (
            f"the run has no {rule.measure} of {provider.name}; it has {there}. "
            f"To compute it: {to_score_again(run, rule.measure)}"
        )
        raise ConfigurationError(msg)
    return scores


def _scores(case: _Case) -> Scores:
    """The scores that the rule is about: with its measure, of its queries alone."""
    rule, benchmark, _, _ = case
    scores = _table(case)
    if not rule.where:
        return scores
    chosen = chosen_queries(rule, benchmark.name, benchmark.queries)
    return scores.select(query.id for query in chosen)
