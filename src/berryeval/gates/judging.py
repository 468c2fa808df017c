"""The verdict of every rule on every provider of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from berryeval._internal.intervals import aggregate
from berryeval._internal.text import to_score_again
from berryeval.errors import ConfigurationError
from berryeval.gates.regression import (
    Drop,
    Sample,
    corrected_together,
    enough_samples,
    interval_of_value,
    judge_drop,
    measured_drop,
)
from berryeval.gates.rules import ROUNDING
from berryeval.gates.validation import (
    check_aggregate,
    check_held,
    check_names,
    check_room,
    check_shared,
    chosen_queries,
    comparable_part,
    needs_baseline,
)
from berryeval.gates.verdict import Status, Verdict, limit_of, told_apart, wants
from berryeval.runner import failed_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from berryeval._internal.intervals import Interval
    from berryeval.gates.baseline import Baseline, BaselinePart
    from berryeval.gates.rules import Gate, Rule
    from berryeval.runs import BenchmarkRecord, ProviderRecord, RunRecord
    from berryeval.scoring import Scores


# Rules with a limit: the least or the largest value of a metric, a latency, a share of errors.

_USUAL_LEVEL = 0.95


def judge_limit(scores: Scores, rule: Rule) -> Verdict:
    """Whether a metric keeps to its limit: by its value, or by its interval if that is asked."""
    if not scores.count:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was scored")
    value, limit = scores.mean[rule.metric], limit_of(rule)
    level = rule.confidence or _USUAL_LEVEL
    row = scores.row_of(rule.metric)
    interval = interval_of_value(rule.metric, scores.values[row], scores.aggregates[row], level)
    status = _status(value, value, rule)
    if rule.confidence:
        status = _status(*interval, rule) if interval else "inconclusive"
    shown = f"{told_apart(value, limit)}{_interval(interval, rule, level, scores.count)}"
    sentence = f"{rule.subject} is {shown}; {wants(rule)}"
    if status == "inconclusive":
        sentence += f", and {_cannot_tell(scores.count, spread=interval is not None)}"
    return Verdict(
        status, str(rule), sentence,
        value=value, limit=limit, n=scores.count,
        interval=interval, level=level if interval else None,
    )  # fmt: skip


def _interval(interval: Interval | None, rule: Rule, level: float, count: int) -> str:
    """The interval in words; of alike values it is a point, and matters only if it decides."""
    if interval is None:
        return ""
    if interval.low == interval.high:
        return f", all {count} queries alike" if rule.confidence else ""
    low, high = (told_apart(end, limit_of(rule)) for end in interval)
    return f", {level * 100:g} % CI [{low}, {high}]"


def _cannot_tell(count: int, *, spread: bool) -> str:
    if count == 1:
        return "one query says nothing about others"
    if not spread:
        return f"{count} queries say nothing about its spread"
    return f"{count} queries cannot tell"


def judge_latency(provider: ProviderRecord, rule: Rule) -> Verdict:
    """Whether a percentile of the latency keeps to its limit."""
    if provider.latency is None:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was answered")
    value, limit = float(getattr(provider.latency, rule.latency)), limit_of(rule)
    sentence = f"{rule.subject} is {told_apart(value * 1000, limit * 1000, 1)} ms; {wants(rule)}"
    return Verdict(_status(value, value, rule), str(rule), sentence, value=value, limit=limit)


def judge_errors(provider: ProviderRecord, rule: Rule) -> Verdict:
    """Whether the share of queries that failed keeps to its limit."""
    total = sum(provider.outcomes.values())
    if not total:
        return Verdict("inconclusive", str(rule), f"{rule.subject}: no query was asked")
    failed = failed_of(provider.outcomes)
    value, limit = failed / total, limit_of(rule)
    share = told_apart(value * 100, limit * 100, 1)
    sentence = f"{failed} of {total} queries failed ({share}%); {wants(rule)}"
    status = _status(value, value, rule)
    return Verdict(status, str(rule), sentence, value=value, limit=limit, n=total)


def _status(low: float, high: float, rule: Rule) -> Status:
    """Of a value that lies between these: all of it within the limit, all beyond, or neither."""
    limit = limit_of(rule)
    if rule.at_most is not None:
        low, high, limit = -high, -low, -limit
    if low >= limit - ROUNDING:
        return "pass"
    return "fail" if high < limit - ROUNDING else "inconclusive"


# What only the baseline or only the run holds: nothing of it was compared, and that is said.


def missing_parts(rule: Rule, run: RunRecord, baseline: Baseline) -> list[Verdict]:
    """A verdict for each provider on a benchmark that a rule about drops misses in the run."""
    there = {(part.name, one.name) for part in run.benchmarks for one in part.providers}
    return [
        missing_verdict(rule, part, f"{part.provider} on {part.benchmark}")
        for part in baseline.parts
        if (part.benchmark, part.provider) not in there
        and rule.covers(part.benchmark, part.provider)
        and rule.metric in part.values
    ]


def missing_verdict(rule: Rule, part: BaselinePart, what: str) -> Verdict:
    """That the run lacks something of a part of the baseline."""
    return Verdict(
        "inconclusive",
        str(rule),
        missing_sentence(what),
        benchmark=part.benchmark,
        provider=part.provider,
        group=rule.group,
        metric=rule.metric,
        limit=rule.max_drop,
        about=rule.about,
    )


def missing_sentence(what: str) -> str:
    """That the run lacks what the baseline has."""
    return f"the run has no {what}, which the baseline has: nothing was compared"


def new_sentence(provider: str, benchmark: str) -> str:
    """That the baseline lacks a provider on a benchmark."""
    return f"{provider} on {benchmark} is new, and not in the baseline: nothing was compared"


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
    old = dict(zip(part.queries, part.values[rule.metric], strict=True))
    new = scores.per_query(rule.metric)
    check_shared(rule, baseline, part, scores.queries)
    shared = [query for query in scores.queries if query in old]
    before = np.array([old[query] for query in shared])
    after = np.array([new[query] for query in shared])
    how = scores.aggregates[scores.row_of(rule.metric)]
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
    elif rule.metric:
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
        metric=rule.metric,
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
    """The scores with the metric of the rule, of all queries."""
    rule, _, provider, run = case
    scores = provider.scores_with(rule.metric)
    if scores is None:
        tables = [table for table in (provider.scores, provider.standard) if table is not None]
        there = ", ".join(dict.fromkeys(name for table in tables for name in table.metrics))
        msg = (
            f"the run has no {rule.metric} of {provider.name}; it has {there}. "
            f"To compute it: {to_score_again(run, rule.metric)}"
        )
        raise ConfigurationError(msg)
    return scores


def _scores(case: _Case) -> Scores:
    """The scores that the rule is about: with its metric, of its queries alone."""
    rule, benchmark, _, _ = case
    scores = _table(case)
    if not rule.where:
        return scores
    chosen = chosen_queries(rule, benchmark.name, benchmark.queries)
    return scores.select(query.id for query in chosen)


# Queries that failed, and rules about errors that allow it.


def within_budget(verdicts: Iterable[Verdict]) -> set[tuple[str, str]]:
    """The benchmark and provider of whom a rule about errors allows what failed."""
    judged = [one for one in verdicts if one.about == "errors"]
    owners = {(one.benchmark, one.provider) for one in judged}
    return owners - {(one.benchmark, one.provider) for one in judged if one.status != "pass"}
