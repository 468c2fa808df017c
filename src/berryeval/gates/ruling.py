"""Judging a run: the verdict of every rule on every provider."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import numpy as np

from berryeval._internal.aggregates import aggregate
from berryeval._internal.numbers import format_metric
from berryeval._internal.text import format_rescore_command, truncate
from berryeval.errors import ConfigurationError
from berryeval.gates.regression import (
    Drop,
    Sample,
    add_needed,
    correct_together,
    enough_samples,
    measure_drop,
)
from berryeval.gates.rules import ROUNDING
from berryeval.gates.validation import (
    check_aggregate,
    check_held,
    check_names,
    check_room,
    check_same_data,
    check_shared,
    check_unit,
    find_comparable_part,
    needs_baseline,
    select_queries,
)
from berryeval.gates.verdict import (
    Verdict,
    describe_data,
    judge_cost,
    judge_drop,
    judge_errors,
    judge_latency,
    judge_limit,
    missing_sentence,
    missing_verdict,
    new_sentence,
)
from berryeval.metrics import gain_sign, range_of
from berryeval.runs import DataChange, DataVersion, find_touched
from berryeval.scoring import find_level_note

if TYPE_CHECKING:
    from berryeval.data import Query
    from berryeval.gates.baseline_scores import Baseline
    from berryeval.gates.rules import Gate, Rule
    from berryeval.runs import AnswerRecord, BenchmarkRecord, ProviderRecord, RunRecord
    from berryeval.scoring import Scores

_Changes: TypeAlias = "dict[tuple[str, str], DataChange]"  # by benchmark and provider
SHOWN: Final = 3  # queries of a failing rule
_HITS: Final = 3
_WANTED: Final = 10
_WIDTH: Final = 100


class _Case(NamedTuple):
    """A rule applied to a provider on a benchmark; `run` is the run as commands name it."""

    rule: Rule
    benchmark: BenchmarkRecord
    provider: ProviderRecord
    run: str

    @property
    def is_compared(self) -> bool:
        """Whether the rule is about a drop and the provider has scores."""
        return self.rule.max_drop is not None and self.provider.scores is not None

    @property
    def owner(self) -> tuple[str, str]:
        """Names of the benchmark and the provider."""
        return self.benchmark.name, self.provider.name


def judge(
    gate: Gate,
    run: RunRecord,
    baseline: Baseline | None = None,
    *,
    named: str = "",
    wanted: bool = True,
    worst: int = SHOWN,
) -> list[Verdict]:
    """Judge a run by the rules of a gate, and return the verdicts in the order of the rules.

    A drop is significant by its p-value after Holm's correction over all drops of the gate, so the
    whole gate has the false alarm rate of one rule. Items that only the baseline or only the run
    has are inconclusive. A rule that covers nothing raises a ConfigurationError.

    Suggested commands call the run `named`, by default its id. With `wanted`, the sentences on
    drops state the allowed drop. A verdict that does not pass lists the `worst` queries.
    """
    if baseline is None and needs_baseline(gate):
        raise ConfigurationError(
            f"the baseline {gate.baseline!r} was not read; rules about drops need it"
        )
    cases = _expand_rules(gate, run, baseline, named)
    changes = _compare_data(cases, baseline, strict=gate.strict_data)
    drops = _measure_drops(cases, baseline, changes)
    judged = [_judge_case(case, drops.get(n), wanted=wanted) for n, case in enumerate(cases)]
    judged = _name_queries(cases, judged, baseline, changes, worst)
    found = [*_describe_changes(run, changes), *judged]
    for rule in gate.rules:
        if baseline is not None and rule.max_drop is not None:
            found += _judge_missing_parts(rule, run, baseline)
    return found


def _name_queries(
    cases: Sequence[_Case],
    judged: Sequence[Verdict],
    baseline: Baseline | None,
    changes: _Changes,
    worst: int,
) -> list[Verdict]:
    """Add the queries that fell to the first verdict of each provider that fails or is unclear."""
    found = list(judged)
    done: set[tuple[str, str]] = set()
    for status in ("fail", "inconclusive"):
        for place, (case, verdict) in enumerate(zip(cases, judged, strict=True)):
            if verdict.status != status or not verdict.metric or case.owner in done:
                continue
            done.add(case.owner)
            rule, benchmark, provider, _ = case
            before = None
            if baseline is not None and rule.max_drop is not None and case.owner in changes:
                part, compared = baseline.part(*case.owner), set(changes[case.owner].compared)
                values = zip(part.queries, part.values[rule.metric], strict=True)
                before = {query: value for query, value in values if query in compared}
            queries = select_queries(rule, benchmark.name, benchmark.queries)
            lines = describe_fallen(benchmark, provider, rule.metric, queries, before, worst)
            found[place] = replace(verdict, fallen=lines)
    return found


def collect_samples(gate: Gate, run: RunRecord, baseline: Baseline) -> list[Sample]:
    """Return the values that the gate's rules about drops compare."""
    cases = _expand_rules(gate, run, baseline)
    changes = _compare_data(cases, baseline)
    return list(_collect_samples(cases, baseline, changes).values())


def _expand_rules(
    gate: Gate, run: RunRecord, baseline: Baseline | None, named: str = ""
) -> list[_Case]:
    """Apply every rule to the providers it covers."""
    found = []
    for rule in gate.rules:
        cases = _expand_rule(rule, run, named or run.id)
        if baseline is not None:
            check_held(rule, baseline, [case.owner for case in cases if case.is_compared])
        found += cases
    return found


def _expand_rule(rule: Rule, run: RunRecord, named: str) -> list[_Case]:
    """Apply a rule to the providers it covers; reject a rule that covers none."""
    check_names(rule.benchmarks, [part.name for part in run.benchmarks], "benchmark", rule)
    names = [provider.name for part in run.benchmarks for provider in part.providers]
    check_names(rule.providers, names, "provider", rule)
    every = [_Case(rule, part, one, named) for part in run.benchmarks for one in part.providers]
    found = [case for case in every if rule.covers(*case.owner)]
    if not found:
        known = ", ".join(f"{case.provider.name} on {case.benchmark.name}" for case in every)
        raise ConfigurationError(
            f"the rule {str(rule)!r} covers nothing in {run.id} and would never fail; the run has "
            f"{known or 'no provider'}"
        )
    check_unit(rule, [case.provider.cost for case in found])
    return found


def _compare_data(
    cases: Sequence[_Case], baseline: Baseline | None, *, strict: bool = False
) -> _Changes:
    """Compare the data of each compared provider with those of the baseline.

    With `strict`, raise a ConfigurationError if any of them differ.
    """
    found: _Changes = {}
    for case in cases:
        if baseline is None or case.owner in found:
            continue
        if case.is_compared and baseline.holds(*case.owner):
            part = baseline.part(*case.owner)
            after = DataVersion.of(case.benchmark, case.provider)
            found[case.owner] = DataChange.between(baseline.data_of(part), after)
            if strict:
                check_same_data(baseline, part, found[case.owner])
    return found


def _describe_changes(run: RunRecord, changes: _Changes) -> list[Verdict]:
    """Return a verdict that describes changed data, for each provider that is compared."""
    found = []
    for (name, provider), change in changes.items():
        if change.is_worth_a_word:
            part, touched = run[name], None
            if change.documents is not None:
                marks = change.documents.added | change.documents.changed
                reached = find_touched(part, [part[provider]], change.compared, marks)
                touched = len(reached) if marks or not change.documents.removed else None
            verdict = describe_data(change, touched)
            found.append(replace(verdict, benchmark=name, provider=provider))
    return found


def _measure_drops(
    cases: Sequence[_Case], baseline: Baseline | None, changes: _Changes
) -> dict[int, Drop]:
    """Measure the drops, corrected together, by the position of their case."""
    if baseline is None:
        return {}
    samples = _collect_samples(cases, baseline, changes)
    count = enough_samples(list(samples.values()))
    drops = [measure_drop(sample, samples=count) for sample in samples.values()]
    known = zip(correct_together(drops), samples.values(), strict=True)
    return dict(zip(samples, [add_needed(drop, sample) for drop, sample in known], strict=True))


def _collect_samples(
    cases: Sequence[_Case], baseline: Baseline, changes: _Changes
) -> dict[int, Sample]:
    """Collect the values to compare, by the position of their case; reject unbreakable rules."""
    found = {
        place: _collect_sample(case, baseline, changes[case.owner])
        for place, case in enumerate(cases)
        if case.is_compared and case.owner in changes
    }
    for rule in {id(sample.rule): sample.rule for sample in found.values()}.values():
        values = {
            cases[place].owner: aggregate(sample.aggregate, sample.before)
            for place, sample in found.items()
            if sample.rule is rule and len(sample.before)
        }
        check_room(rule, baseline, values)
    return found


def _collect_sample(case: _Case, baseline: Baseline, change: DataChange) -> Sample:
    rule, benchmark, provider, _ = case
    owner = (benchmark.name, benchmark.k)
    part = find_comparable_part(rule, baseline, owner, provider.name, provider.judging)
    scores = _scores_of_group(case)
    old = dict(zip(part.queries, part.values[rule.metric], strict=True))
    new = scores.per_query(rule.metric)
    check_shared(rule, baseline, part, scores.queries, change)
    comparable = set(change.compared)
    shared = [query for query in scores.queries if query in comparable]
    before = np.array([old[query] for query in shared])
    after = np.array([new[query] for query in shared])
    how = scores.aggregates[scores.row_of(rule.metric)]
    check_aggregate(rule, baseline, part, how)
    fresh = sum(query not in old for query in new)
    note = ""
    if change.is_worth_a_word and len(shared) < len(new):
        values = [aggregate(how, one) for one in (before, after)] + [scores.mean[rule.metric]]
        first, last, whole = map(format_metric, values)
        compared = f"{len(shared)} compared queries" if len(shared) != 1 else "only compared query"
        note = (
            f"{first} before and {last} now over the {compared}, {whole} over all {len(new)} of "
            "the run"
        )
    return Sample(rule, before, after, how, new=fresh, missing=len(change.missing), note=note)


def _judge_case(case: _Case, drop: Drop | None, *, wanted: bool) -> Verdict:
    rule, benchmark, provider, _ = case
    if provider.scores is None:
        sentence = (
            f"{rule.subject} has no value because {provider.name} has no scores: "
            f"{provider.failure}{f'; {rule.requirement}' if wanted else ''}"
        )
        found = Verdict("fail", str(rule), sentence, limit=rule.limit)
    elif drop is not None:
        found = judge_drop(drop, rule, wanted=wanted)
    elif rule.max_drop is not None:
        words = new_sentence(provider.name, benchmark.name)
        found = Verdict("inconclusive", str(rule), words, limit=rule.max_drop)
    elif rule.metric:
        scores = _scores_of_group(case)
        found = judge_limit(scores, rule)
        if doubt := find_level_note(scores, rule.metric):  # a mistake, not a result
            found = replace(found, sentence=f"{found.sentence}; {doubt}")
    elif rule.latency:
        found = judge_latency(provider, rule)
    elif rule.cost:
        found = judge_cost(provider, rule)
    else:
        found = judge_errors(provider, rule)
    if provider.unknown_ids and provider.scores is not None:  # the numbers are of other ids, too
        sentence = f"{found.sentence}; {provider.unknown_ids.get('summary', 'unknown ids')}"
        found = replace(found, sentence=sentence)
    return replace(
        found, benchmark=benchmark.name, provider=provider.name,
        group=rule.group, metric=rule.metric, about=rule.about,
    )  # fmt: skip


def _judge_missing_parts(rule: Rule, run: RunRecord, baseline: Baseline) -> list[Verdict]:
    """Return a verdict for each part of the baseline that the rule covers and the run lacks."""
    known = {(part.name, one.name) for part in run.benchmarks for one in part.providers}
    return [
        missing_verdict(rule, part, missing_sentence(f"{part.provider} on {part.benchmark}"))
        for part in baseline.parts
        if part.owner not in known and rule.covers(*part.owner) and rule.metric in part.values
    ]


def _scores_with_metric(case: _Case) -> Scores:
    """Return the provider's scores that include the rule's metric, over all queries."""
    rule, _, provider, run = case
    scores = provider.scores_with(rule.metric)
    if scores is None:
        tables = [table for table in (provider.scores, provider.standard) if table is not None]
        known = ", ".join(dict.fromkeys(name for table in tables for name in table.metrics))
        raise ConfigurationError(
            f"the run has no {rule.metric} of {provider.name}; it has {known}. "
            f"To compute it: {format_rescore_command(run, rule.metric)}"
        )
    return scores


def _scores_of_group(case: _Case) -> Scores:
    """Return the scores with the rule's metric, over the queries of its group."""
    rule, benchmark, _, _ = case
    scores = _scores_with_metric(case)
    if not rule.where:
        return scores
    chosen = select_queries(rule, benchmark.name, benchmark.queries)
    return scores.select(query.id for query in chosen)


# The queries that make a rule fail: their values, hits and targets.


def describe_fallen(
    benchmark: BenchmarkRecord,
    provider: ProviderRecord,
    metric: str,
    queries: Sequence[Query],
    before: Mapping[str, float] | None = None,
    count: int = SHOWN,
) -> tuple[str, ...]:
    """Return lines about the queries that fell most below `before`, or else are worst.

    Queries with a perfect score are not among the worst. Nothing for a provider without scores or
    answers.
    """
    scores = provider.scores_with(metric)
    if scores is None or not count:
        return ()
    now, sign = scores.per_query(metric), gain_sign(metric)
    outcomes = dict(zip(scores.queries, scores.outcomes, strict=True))
    judged = [q for q in queries if outcomes.get(q.id) not in {None, "no relevant documents"}]
    if before is None:
        best = max(sign * end for end in range_of(metric)) - ROUNDING
        could = [query for query in judged if sign * now[query.id] < best]
        worst = sorted(could, key=lambda query: sign * now[query.id])
        title = f"the worst queries of {provider.name} on {benchmark.name}:"
    else:
        change = {q.id: sign * (now[q.id] - before[q.id]) for q in judged if q.id in before}
        fell = [query for query in judged if change.get(query.id, 0.0) < 0]
        worst = sorted(fell, key=lambda query: change[query.id])
        title = f"the queries of {provider.name} on {benchmark.name} that fell most:"
    chosen = {query.id: query for query in worst[:count]}
    answers = {one.query_id: one for one in provider.answers if one.query_id in chosen}
    lines: list[str] = []
    for name, query in chosen.items():
        was = "" if before is None else f"{format_metric(before[name])} → "
        text = truncate(query.text, _WIDTH)
        lines.append(f"  {metric} {was}{format_metric(now[name])}  {name}: {text}")
        if name in answers:
            lines += _describe_answer(benchmark, answers[name])
    return (title, *lines) if lines else ()


def _describe_answer(benchmark: BenchmarkRecord, answer: AnswerRecord) -> Iterator[str]:
    """Yield the first hits, and the ranks of the targets."""
    if answer.error:
        yield f"    {answer.outcome}: {truncate(answer.error, _WIDTH)}"
    elif not answer.hits:
        yield "    returned no hits"
    for rank, hit in enumerate(answer.hits[:_HITS], 1):
        name = truncate(hit.name_in(benchmark.passages), _WIDTH)
        yield f"    {rank}. {name} ({hit.describe_grade()})"
    wanted = answer.list_wanted(benchmark.passages)
    for one in wanted[:_WANTED]:
        name = truncate(one.target, _WIDTH)
        yield f"    wanted: {name}, {one.describe_rank()}, grade {one.grade:g}"
    if more := wanted[_WANTED:]:
        lost = sum(one.rank is None for one in more)
        yield f"    … and {len(more)} more were wanted, {lost} of them not found"
