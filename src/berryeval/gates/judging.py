"""The verdict of every rule on every provider of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from berryeval.errors import ConfigurationError
from berryeval.gates.checking import (
    check_names,
    chosen_queries,
    comparable_part,
    needs_baseline,
)
from berryeval.gates.limits import judge_errors, judge_latency, judge_limit
from berryeval.gates.regression import Drop, Sample, judge_drop, measured_drop
from berryeval.gates.verdict import Verdict
from berryeval.stats import corrected

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.gates.baseline import Baseline
    from berryeval.gates.rules import Gate, Rule
    from berryeval.results import BenchmarkRecord, ProviderRecord, RunRecord
    from berryeval.scores import Scores

__all__ = ["judge", "samples_of"]


class _Case(NamedTuple):
    """A rule and whom it is about."""

    rule: Rule
    benchmark: BenchmarkRecord
    provider: ProviderRecord


def judge(gate: Gate, run: RunRecord, baseline: Baseline | None = None) -> list[Verdict]:
    """The verdicts, in the order of the rules; rules about drops need the baseline.

    A drop counts as real by its p-value after Holm's correction over all drops that the gate looks
    at: the chance of any false alarm is that of one rule.
    """
    if baseline is None and needs_baseline(gate):
        msg = f"the baseline {gate.baseline!r} was not read; rules about drops need it"
        raise ConfigurationError(msg)
    cases = [case for rule in gate.rules for case in _cases(rule, run)]
    drops = _drops(cases, baseline)
    return [_verdict(case, drops.get(place)) for place, case in enumerate(cases)]


def _cases(rule: Rule, run: RunRecord) -> Iterator[_Case]:
    check_names(rule.benchmarks, [part.name for part in run.benchmarks], "benchmark", rule)
    names = [provider.name for part in run.benchmarks for provider in part.providers]
    check_names(rule.providers, names, "provider", rule)
    for part in run.benchmarks:
        if rule.benchmarks and part.name not in rule.benchmarks:
            continue
        for provider in part.providers:
            if not rule.providers or provider.name in rule.providers:
                yield _Case(rule, part, provider)


def _drops(cases: Sequence[_Case], baseline: Baseline | None) -> dict[int, Drop]:
    """The drops that the gate looks at, by the place of their case, corrected together."""
    found: dict[int, Drop] = {}
    for place, case in enumerate(cases):
        if baseline is None or case.rule.max_drop is None:
            continue
        if case.provider.scores is not None:
            found[place] = measured_drop(_sample(case, baseline))
    tested = [place for place, drop in found.items() if drop.p is not None]
    p_values = corrected([found[place].p for place in tested], "holm") if tested else []
    for place, p in zip(tested, p_values, strict=True):
        found[place] = replace(found[place], p=p, family=len(tested))
    return found


def samples_of(gate: Gate, run: RunRecord, baseline: Baseline) -> list[Sample]:
    """What the gate's rules about drops look at."""
    cases = (case for rule in gate.rules for case in _cases(rule, run))
    return [
        _sample(case, baseline)
        for case in cases
        if case.rule.max_drop is not None and case.provider.scores is not None
    ]


def _sample(case: _Case, baseline: Baseline) -> Sample:
    rule, benchmark, provider = case
    owner = (benchmark.name, benchmark.content_hash, benchmark.k)
    part = comparable_part(rule, baseline, owner, provider.name)
    scores = _scores(case)
    old = dict(zip(part.queries, part.values[rule.measure], strict=True))
    new = scores.per_query(rule.measure)
    shared = [query for query in scores.queries if query in old]
    before = np.array([old[query] for query in shared])
    after = np.array([new[query] for query in shared])
    how = scores.aggregates[scores.row_of(rule.measure)]
    return Sample(rule, before, after, how, left_out=len(new) - len(shared))


def _verdict(case: _Case, drop: Drop | None) -> Verdict:
    rule, benchmark, provider = case
    if provider.scores is None:
        found = Verdict("fail", str(rule), f"{provider.name} has no scores: {provider.failure}")
    elif drop is not None:
        found = judge_drop(drop, rule)
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
    )


def _scores(case: _Case) -> Scores:
    """The scores that the rule is about: with its measure, of its queries alone."""
    rule, benchmark, provider = case
    tables = [table for table in (provider.scores, provider.standard) if table is not None]
    scores = next((table for table in tables if rule.measure in table.measures), None)
    if scores is None:
        there = ", ".join(dict.fromkeys(name for table in tables for name in table.measures))
        msg = (
            f"the run has no {rule.measure} of {provider.name}; it has {there}. "
            f"To compute it: berryeval score-run RUN -m {rule.measure} --save"
        )
        raise ConfigurationError(msg)
    if not rule.where:
        return scores
    chosen = chosen_queries(rule, benchmark.name, benchmark.queries)
    return scores.select(query.id for query in chosen)
