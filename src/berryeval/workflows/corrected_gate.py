"""Gates on corrected estimates: a model judged many queries, people a few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.gates import (
    Drop,
    Verdict,
    check_names,
    correct_together,
    judge,
    judge_drop,
    judge_estimate,
    select_queries,
)
from berryeval.judging import Corrected
from berryeval.workflows.corrected_comparison import TwiceScored, score_for_correction
from berryeval.workflows.systems import Candidate, Source, label_candidates

if TYPE_CHECKING:
    from berryeval.gates import Gate, Rule
    from berryeval.runs import BenchmarkRecord
    from berryeval.workflows.run_finder import FoundRun


class _Case(NamedTuple):
    """A rule about a metric, the system that it covers, and that of the baseline, if any."""

    rule: Rule
    part: BenchmarkRecord
    system: Candidate
    before: Candidate | None
    scored: TwiceScored

    def estimate(self) -> Corrected:
        """Return the corrected mean, or the corrected change since the baseline."""
        rule, queries = self.rule, self.list_queries()
        if self.before is None:
            level = rule.confidence or 0.95
            return self.scored.estimate(self.system.label, rule.metric, level, queries)
        level = round(1 - rule.significance, 12)
        sides = self.before.label, self.system.label
        return self.scored.compare(*sides, rule.metric, level, queries)

    def try_estimate(self) -> Corrected | str:
        """Return the estimate, or the reason why the human-judged queries give none."""
        try:
            return self.estimate()
        except DataError as error:
            return str(error)

    def is_same(self) -> bool:
        """Whether no query scores otherwise than in the baseline."""
        return self.before is not None and self.scored.is_same(
            self.before.label, self.system.label, self.rule.metric, self.list_queries()
        )

    def list_queries(self) -> set[str]:
        """Return the ids of the queries that the rule is about."""
        part = self.part
        return {query.id for query in select_queries(self.rule, part.name, part.queries)}


def judge_corrected(gate: Gate, run: FoundRun, model: str, ledger: str | None) -> list[Verdict]:
    """Judge the rules about metrics by corrected estimates, and the others as usual.

    The baseline of rules about drops must be a run, because its hits are judged again. p-values of
    drops are corrected together (Holm).
    """
    others = [rule for rule in gate.rules if not rule.metric]
    found = judge(gate.model_copy(update={"rules": others}), run.record) if others else []
    source = Source(run.record.id, run.record, folder=run.folder)
    cases = [
        case
        for part in run.record.benchmarks
        for case in _list_cases(gate, source, part, model, ledger)
    ]
    values = [case.try_estimate() for case in cases]
    if values and not any(isinstance(value, Corrected) for value in values):
        raise DataError(str(values[0]))
    drops = iter(correct_together([
        _measure_drop(case, value)
        for case, value in zip(cases, values, strict=True)
        if case.before is not None and isinstance(value, Corrected)
    ]))  # fmt: skip
    for case, value in zip(cases, values, strict=True):
        if isinstance(value, str):
            sentence = f"{case.rule.subject}: {value}"
            verdict = Verdict("inconclusive", str(case.rule), sentence, limit=case.rule.limit)
        elif case.before is not None:
            verdict = judge_drop(next(drops), case.rule)
        else:
            about = f"; {_describe(value, case.scored)}"
            verdict = judge_estimate(
                value.value, value.interval, value.level, value.model_queries, case.rule
            )
            verdict = replace(verdict, sentence=verdict.sentence + about)
        found.append(
            replace(
                verdict,
                benchmark=case.part.name,
                provider=case.system.record.name,
                group=case.rule.group,
                metric=case.rule.metric,
                about="metric",
            )
        )
    return found


def _measure_drop(case: _Case, value: Corrected) -> Drop:
    return Drop(
        value.value,
        value.interval,
        value.p,
        value.model_queries,
        less_is_better=case.rule.less_is_better,
        same=case.is_same(),
        note=_describe(value, case.scored),
    )


def _describe(value: Corrected, scored: TwiceScored) -> str:
    return "; ".join((value.label, *value.notes, *scored.notes))


def _list_cases(
    gate: Gate, source: Source, part: BenchmarkRecord, model: str, ledger: str | None
) -> list[_Case]:
    """Return the rules about metrics with the systems of a benchmark that they cover."""
    providers = [one for one in part.providers if one.scores is not None]
    names = [one.name for one in providers]
    rules = []
    for rule in gate.rules:
        if rule.metric and part.name in (rule.benchmarks or [part.name]):
            check_names(rule.providers, names, "provider", rule)
            rules.append(rule)
    if not rules or not providers:
        return []
    now = [Candidate(one.name, source, part, one) for one in providers]
    dropping = any(rule.max_drop is not None for rule in rules)
    before = _find_before(gate.baseline, part, names) if dropping else []
    labelled = label_candidates([*now, *before])
    metrics = list(dict.fromkeys(rule.metric for rule in rules))
    scored = score_for_correction(labelled, metrics, model, ledger)
    old = {one.record.name: one for one in labelled[len(now) :]}
    return [
        _Case(
            rule, part, one, old.get(one.record.name) if rule.max_drop is not None else None, scored
        )
        for rule in rules
        for one in labelled[: len(now)]
        if rule.covers(part.name, one.record.name)
        and (rule.max_drop is None or one.record.name in old)
    ]


def _find_before(baseline: str, part: BenchmarkRecord, names: Sequence[str]) -> list[Candidate]:
    """Return the same systems of the baseline, which must be a run."""
    try:
        source = Source.find(baseline)
        old = source.run[part.name]
    except (BerryEvalError, KeyError) as error:
        raise ConfigurationError(
            f"--judged-by needs a run as baseline, whose hits it judges again; found "
            f"{baseline!r} ({error})"
        ) from None
    found = [
        Candidate(one.name, source, old, one)
        for one in old.providers
        if one.name in names and one.scores is not None
    ]
    if not found:
        raise ConfigurationError(f"the baseline {baseline} has none of {', '.join(names)}")
    return found
