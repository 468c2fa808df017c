"""Baselines: find one, build one from a run, and derive rules from one."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from berryeval._internal.json import read_json_object
from berryeval.errors import ConfigurationError, DataError
from berryeval.gates import (
    Baseline,
    Power,
    Rule,
    Verdict,
    missing_sentence,
    missing_verdict,
    new_sentence,
    unmeasured_sentence,
)
from berryeval.metrics import direction_of, parse_metrics
from berryeval.runner import count_failed
from berryeval.runs import standard_metrics
from berryeval.workflows.run_finder import find_record
from berryeval.workflows.run_folder import write_text_file

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark
    from berryeval.gates import BaselinePart, Gate, Status
    from berryeval.runs import RunRecord
    from berryeval.workflows.plan import Plan


_NO_WORSE: Final = "no worse than the baseline"
# By benchmark and provider; None for a provider that failed and has no metric.
Metrics: TypeAlias = "Mapping[tuple[str, str], Collection[str] | None]"


def find_baseline(text: str) -> Baseline:
    """Find a baseline: a file of `berryeval baseline set`, or a run."""
    return _load_baseline(text)[0]


def find_other_baseline(text: str, run: str, created: str) -> Baseline:
    """Find a baseline that is not the run itself."""
    baseline, is_run = _load_baseline(text)
    if is_run and (baseline.run, baseline.created) == (run, created):
        raise ConfigurationError(
            f"the baseline {text!r} is the run {run} itself, which cannot drop below itself; "
            "name an earlier run, or a file of berryeval baseline set"
        )
    return baseline


def _load_baseline(text: str) -> tuple[Baseline, bool]:
    """Return the baseline, and whether it is a run."""
    path = Path(text)
    if path.is_file():
        data = read_json_object(path)
        if "parts" in data or "benchmarks" not in data:
            return Baseline.read(data, str(path)), False
    try:
        return Baseline.of(find_record(text)), True
    except DataError as error:
        raise ConfigurationError(
            f"the baseline {text!r} is no file of `berryeval baseline set`, and no run: {error}. "
            "For a first baseline, run `berryeval eval` without one, then "
            "`berryeval baseline set latest`"
        ) from None


@dataclass(frozen=True)
class NewBaseline:
    """A baseline of a run, its providers without scores, and counts of failed queries."""

    baseline: Baseline
    left_out: list[str]
    failed: list[dict[str, str | int]]

    @property
    def power(self) -> Power:
        """What one rule about a drop can notice, in the part with the fewest queries."""
        return Power(min((len(part.queries) for part in self.baseline.parts), default=0))

    @property
    def warning(self) -> str:
        """Warning about failed queries; empty without any."""
        counts = ", ".join(
            f"{one['failed']} of {one['queries']} queries of {one['provider']} "
            f"on {one['benchmark']}"
            for one in self.failed
        )
        hides = "failed and score 0: as a baseline they hide later drops of these queries"
        return f"{counts} {hides}" if counts else ""


def set_baseline(
    run: str, file: PathLike | None = None, *, allow_errors: bool = False
) -> NewBaseline:
    """Build the baseline of a run, and write it to a file if one is given.

    A run with failed queries is rejected unless `allow_errors`.
    """
    record = find_record(run)
    baseline = Baseline.of(record)
    if not baseline.parts:
        raise DataError(f"no provider of {record.id} has scores: its baseline would be empty")
    owners = [(part, one) for part in record.benchmarks for one in part.providers]
    done = NewBaseline(
        baseline,
        [f"{one.name} on {part.name}" for part, one in owners if one.scores is None],
        [
            {
                "benchmark": part.name,
                "provider": one.name,
                "failed": count_failed(one.outcomes),
                "queries": sum(one.outcomes.values()),
            }
            for part, one in owners
            if one.scores and count_failed(one.outcomes)
        ],
    )
    if done.warning and not allow_errors:
        raise DataError(
            f"{done.warning}; ask them again (berryeval eval --resume FOLDER --retry-errors), "
            "or accept them with --allow-errors"
        )
    if file is not None:
        write_text_file(Path(file), baseline.dumps())
    return done


# Differences between a run and a baseline.


def forbid_drops(gate: Gate, metrics: Metrics, baseline: Baseline) -> Gate:
    """Return the gate with a rule that no metric in both may drop."""
    return gate.model_copy(update={"rules": [*gate.rules, *drop_rules(metrics, baseline)]})


def metrics_of_run(run: RunRecord) -> Metrics:
    """Return the metrics of every provider of a run."""
    return {
        (part.name, one.name): None
        if one.scores is None
        else {*one.scores.metrics, *(() if one.standard is None else one.standard.metrics)}
        for part in run.benchmarks
        for one in part.providers
    }


def metrics_of_plan(plan: Plan, benchmarks: Sequence[Benchmark]) -> Metrics:
    """Return the metrics that a run of the plan will have."""
    names = {str(one) for one in parse_metrics([*plan.scored, *standard_metrics(plan.depth)])}
    return {(one.name, label): names for one in benchmarks for label in plan.labels}


def drop_rules(metrics: Metrics, kept: Baseline, run: str = "the run") -> list[Rule]:
    """Return a rule for every metric of a provider that run and baseline share."""
    rules = [
        rule
        for old in kept.parts
        if (old.benchmark, old.provider) in metrics
        for rule in _rules_for(old)
        if (names := metrics[old.benchmark, old.provider]) is None or rule.metric in names
    ]
    if not rules:
        raise ConfigurationError(
            f"{run} and the baseline {kept.run} share no provider, benchmark and metric"
        )
    return rules


def _rules_for(part: BaselinePart) -> list[Rule]:
    """Return rules against drops, not validated: a custom metric may be unknown here."""
    return [
        Rule.model_construct(
            metric=name, max_drop=0.0, benchmarks=[part.benchmark], providers=[part.provider]
        )
        for name in part.values
        if direction_of(name) != "neither"
    ]


def _judge_unmeasured(rule: Rule, old: BaselinePart, run: str) -> Verdict:
    found = missing_verdict(rule, old, unmeasured_sentence(rule.metric, old, run))
    return replace(found, status="pass") if rule.metric in old.added else found


def judge_unshared(run: RunRecord, kept: Baseline, named: str = "") -> list[Verdict]:
    """Return verdicts for items present on only one side; commands call the run `named`.

    A metric that was added to the baseline after its run is named, and passes.
    """
    metrics = metrics_of_run(run)
    missing = [
        _judge_unmeasured(rule, old, named or run.id)
        for old in kept.parts
        if (names := metrics.get((old.benchmark, old.provider))) is not None
        for rule in _rules_for(old)
        if rule.metric not in names
    ]
    gone = [
        Verdict(
            "inconclusive",
            _NO_WORSE,
            missing_sentence(f"{old.provider} on {old.benchmark}"),
            benchmark=old.benchmark,
            provider=old.provider,
        )
        for old in kept.parts
        if (old.benchmark, old.provider) not in metrics
    ]
    found = [*missing, *gone]
    for part in run.benchmarks:
        for one in part.providers:
            status: Status = "inconclusive"
            words = new_sentence(one.name, part.name)
            if one.scores is None:
                status, words = "fail", f"{one.name} on {part.name} has no scores: {one.failure}"
            if not kept.holds(part.name, one.name):
                about = Verdict(status, _NO_WORSE, words, benchmark=part.name, provider=one.name)
                found.append(about)
    return found
