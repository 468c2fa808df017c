"""The verdict of every rule on every provider of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from berryeval.errors import ConfigurationError
from berryeval.gates.limits import judge_errors, judge_latency, judge_limit
from berryeval.gates.regression import Drop, Sample, judge_drop, measured_drop
from berryeval.gates.verdict import Verdict
from berryeval.registry import nearest
from berryeval.results.groups import property_of
from berryeval.stats import corrected

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.gates.baseline import Baseline
    from berryeval.gates.rules import Gate, Rule
    from berryeval.results import BenchmarkRecord, ProviderRecord, RunRecord
    from berryeval.scores import Scores

__all__ = ["check_names", "judge", "needs_baseline", "samples_of"]


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
    if baseline is None:
        needs_baseline(gate)
    cases = [case for rule in gate.rules for case in _cases(rule, run)]
    drops = _drops(cases, baseline)
    return [_verdict(case, drops.get(place)) for place, case in enumerate(cases)]


def needs_baseline(gate: Gate) -> bool:
    """Whether a rule is about a drop; one without a baseline to fall from is refused."""
    rule = next((rule for rule in gate.rules if rule.max_drop is not None), None)
    if rule is not None and not gate.baseline:
        msg = (
            f"the rule {str(rule)!r} needs a baseline; make one with berryeval baseline set RUN, "
            "and name it with --baseline FILE, or as `baseline` of the gate in berryeval.yaml"
        )
        raise ConfigurationError(msg)
    return rule is not None


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


def check_names(wanted: Sequence[str], there: Sequence[str], kind: str, rule: Rule) -> None:
    """Refuse a rule about something that is not there: it would never fail."""
    for name in wanted:
        if name not in there:
            near = nearest(name, list(there), 1)
            known = ", ".join(dict.fromkeys(there))
            hint = f"did you mean {near[0]!r}?" if near else f"it has {known or 'none'}"
            msg = f"the rule {str(rule)!r} names the {kind} {name!r}, which the run has not; {hint}"
            raise ConfigurationError(msg)


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
    part = baseline.part(benchmark.name, benchmark.content_hash, provider.name)
    if part.k != benchmark.k:
        msg = (
            f"the baseline {baseline.run} asked {provider.name} for {part.k} hits a query, this "
            f"run for {benchmark.k}: they cannot be compared"
        )
        raise ConfigurationError(msg)
    if rule.measure not in part.values:
        there = ", ".join(part.values) or "none"
        msg = f"the baseline {baseline.run} has no {rule.measure}; it has {there}"
        raise ConfigurationError(msg)
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
            f"the run has no {rule.measure} of {provider.name}; it has {there}. To compute it: "
            f"berryeval score-run RUN -m {rule.measure} --save"
        )
        raise ConfigurationError(msg)
    queries = benchmark.queries
    for name, wanted in rule.where.items():
        known = sorted({property_of(query, name) for query in queries} - {""})
        queries = tuple(q for q in queries if property_of(q, name).lower() == wanted.lower())
        if not queries:
            msg = (
                f"the rule {str(rule)!r} is about no query of {benchmark.name}; of {name} there "
                f"{'are ' + ', '.join(known) if known else 'is nothing'}"
            )
            raise ConfigurationError(msg)
    return scores.select(query.id for query in queries) if rule.where else scores
