"""From a plan and its run to the verdicts of the gate."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from pydantic import BaseModel, ConfigDict, create_model

from berryeval._internal.serial import read_object
from berryeval.errors import ConfigurationError
from berryeval.gates import (
    SHOWN,
    Baseline,
    Gate,
    Power,
    SelfCheck,
    baseline_value,
    check_held,
    check_names,
    check_room,
    check_same_data,
    check_shared,
    collect_samples,
    find_comparable_part,
    judge,
    needs_baseline,
    select_queries,
    self_check,
)
from berryeval.relevance import fingerprint_questions
from berryeval.runs import DataChange, DataVersion, RunRecord, mark_corpus
from berryeval.workflows.baselines import (
    drop_rules,
    find_baseline,
    find_other_baseline,
    forbid_drops,
    judge_unshared,
    metrics_of_plan,
    metrics_of_run,
)
from berryeval.workflows.config import ConfigFile, check_model, config_path
from berryeval.workflows.plan import Plan, Thresholds
from berryeval.workflows.run_finder import find_run
from berryeval.workflows.run_result import BenchmarkResult
from berryeval.workflows.settings import limit_rules, move_gate

if TYPE_CHECKING:
    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark
    from berryeval.data import Query
    from berryeval.gates import Rule, Sample, Verdict
    from berryeval.workflows.config import KeyPath
    from berryeval.workflows.run_finder import FoundRun
    from berryeval.workflows.run_folder import RunFolder


NO_RULE: Final = "no rule about drops: any significant drop fails"
Rules: TypeAlias = "Gate | Mapping[str, float] | Sequence[Rule | Mapping[str, Any]] | str | Path"
_BASELINE: Final = "with check(..., baseline=FILE), or as `baseline` of the gate in berryeval.yaml"


# Gates: from the configuration file, with limits and a baseline from flags.


def read_gate(config: PathLike | None) -> Gate:
    """Read the gate of the configuration file, with its thresholds as rules; empty if no file."""
    path = config_path(config)
    if path is None:
        return Gate()
    file = ConfigFile(path)
    anything: dict[str, Any] = dict.fromkeys(Plan.model_fields, (Any, None))
    keys = create_model("_Keys", __config__=ConfigDict(extra="forbid"), **anything)
    check_model(keys, file.data, file)  # the keys only
    given: dict[str, Any] = {"gate": {}, "thresholds": {}}
    given |= {name: file.data[name] for name in given if file.data.get(name) is not None}
    data: Any = given["gate"]
    if not isinstance(data, dict):
        where = file.where(("gate",))
        raise ConfigurationError(
            f"{where}: gate: expected `rules` and a `baseline`, found {type(data).__name__}"
        )
    data = move_gate(path.parent, data)
    gate: Gate = check_model(Gate, data, _GatePlaces(file))
    least = check_model(_Thresholds, {"thresholds": given["thresholds"]}, file)
    return add_limits(gate, least.thresholds, {})


class _Thresholds(BaseModel):
    thresholds: Thresholds = {}


class _GatePlaces(NamedTuple):
    file: ConfigFile

    def where(self, path: KeyPath) -> str:
        """Return the file and line of a part of the gate."""
        return self.file.where(("gate", *path))


def read_rules(run: RunRecord) -> tuple[Gate, dict[str, Any]]:
    """Return the gate and the thresholds that a run was made with."""
    gate: Gate = check_model(Gate, run.plan.get("gate") or {}, None)
    return gate, read_object(run.plan.get("thresholds") or {}, "thresholds")


def add_limits(gate: Gate, least: Mapping[str, float], drops: Mapping[str, float]) -> Gate:
    """Return the gate with rules for the lowest values and the largest drops of metrics."""
    rules = [*gate.rules, *limit_rules(least), *limit_rules(drops, "max_drop")]
    return gate.model_copy(update={"rules": rules})


def replace_baseline(gate: Gate, baseline: str | None, owner: str = "--baseline") -> Gate:
    """Return the gate with another baseline, if one is given; `owner` is the option in messages."""
    if baseline is None:
        return gate
    if not baseline.strip():
        raise ConfigurationError(
            f"{owner} is empty; name a file of `berryeval baseline set`, or a run"
        )
    return gate.model_copy(update={"baseline": baseline})


def require_same_data(gate: Gate, *, wanted: bool) -> Gate:
    """Return the gate, if wanted with the condition that the baseline has the same data."""
    return gate.model_copy(update={"strict_data": True}) if wanted else gate


def allows_no_drop(gate: Gate) -> bool:
    """Whether the gate has a baseline and no rule about drops: then no metric may drop."""
    return bool(gate.baseline) and all(rule.max_drop is None for rule in gate.rules)


def drop_note(gate: Gate) -> str:
    """Return the note about drops, if the gate has no rule about them."""
    return NO_RULE if allows_no_drop(gate) else ""


# Verdicts.


def judge_record(
    gate: Gate,
    run: RunRecord,
    baseline: Baseline | None = None,
    *,
    named: str = "",
    worst: int = SHOWN,
) -> list[Verdict]:
    """Judge a run by every rule; without a rule about drops, no metric may drop.

    `baseline` is given if it is loaded already; `named` is the run in suggested commands;
    `worst` is how many queries a verdict names that does not pass.
    """
    if baseline is None and (needs_baseline(gate) or gate.baseline):
        baseline = find_other_baseline(gate.baseline, run.id, run.created)
    if baseline is None or not allows_no_drop(gate):
        return judge(gate, run, baseline, named=named, worst=worst)
    whole = forbid_drops(gate, metrics_of_run(run), baseline)
    found = judge(whole, run, baseline, named=named, worst=worst)
    return [*found, *judge_unshared(run, baseline, named)]


def has_passed(verdicts: Iterable[Verdict], *, strict: bool = False) -> bool:
    """Whether the gate passes; with `strict`, an inconclusive rule fails."""
    return not find_failing(verdicts, strict=strict)


def find_failing(verdicts: Iterable[Verdict], *, strict: bool = False) -> list[Verdict]:
    """Return the verdicts that fail the gate: failures, then with `strict` inconclusive ones."""
    failing = ("fail", "inconclusive") if strict else ("fail",)
    found = [verdict for verdict in verdicts if verdict.status in failing]
    return sorted(found, key=lambda verdict: failing.index(verdict.status))


@dataclass(frozen=True)
class JudgedRun:
    """A run, its folder or the current one, the verdicts of a gate, and a note about them."""

    record: RunRecord
    folder: Path
    verdicts: list[Verdict]
    note: str
    strict: bool = False  # whether inconclusive rules fail
    self_check: SelfCheck | None = None
    power: Power | None = None

    @property
    def passed(self) -> bool:
        """Whether the gate passes."""
        return has_passed(self.verdicts, strict=self.strict)

    def find_failing(self) -> list[Verdict]:
        """Return the verdicts that fail the gate."""
        return find_failing(self.verdicts, strict=self.strict)


def judge_run(
    run: str,
    *,
    config: PathLike | None = None,
    baseline: str | None = None,
    fail_below: Mapping[str, float] | None = None,
    max_drop: Mapping[str, float] | None = None,
    strict: bool = False,
    strict_data: bool = False,
    self_check: bool = False,
    judged_by: str = "",
    ledger: str | None = None,
) -> JudgedRun:
    """Judge a past run by the gate of the configuration file and further limits.

    `baseline` replaces that of the file; with `strict`, an inconclusive rule fails; `strict_data`
    refuses a baseline of other data; `self_check` estimates how often the rules about drops raise a
    false alarm; `judged_by` is a model judge, whose votes in the `ledger` judge the metrics,
    corrected by those of people.
    """
    found = find_run(run)
    gate = add_limits(read_gate(config), fail_below or {}, max_drop or {})
    gate = require_same_data(replace_baseline(gate, baseline), wanted=strict_data)
    if not gate.rules and not gate.baseline:
        raise ConfigurationError(
            "there are no rules; add some with --fail-below or --max-drop, or under `gate` in "
            "berryeval.yaml, or give a --baseline, below which no metric may drop"
        )
    record = found.record
    if judged_by:
        return _judge_corrected(gate, found, judged_by, ledger, strict=strict)
    verdicts = judge_record(gate, record, named=run)
    strict = strict or gate.on_inconclusive == "fail"
    samples = _samples_of(gate, record) if self_check or gate.baseline else []
    checked = _check_gate_itself(gate, samples, strict=strict) if self_check else None
    folder = found.folder or Path()
    power = Power.of(samples)
    return JudgedRun(record, folder, verdicts, drop_note(gate), strict, checked, power)


def _judge_corrected(
    gate: Gate, run: FoundRun, model: str, ledger: str | None, *, strict: bool
) -> JudgedRun:
    from berryeval.workflows.corrected_gate import judge_corrected

    record = run.record
    whole = gate
    if allows_no_drop(gate):
        whole = forbid_drops(gate, metrics_of_run(record), Baseline.of(record))
    verdicts = judge_corrected(whole, run, model, ledger)
    strict = strict or gate.on_inconclusive == "fail"
    return JudgedRun(record, run.folder or Path(), verdicts, drop_note(gate), strict)


def judge_result(
    result: RunRecord | BenchmarkResult | str | Path,
    rules: Rules | None = None,
    *,
    baseline: str | None = None,
    strict: bool = False,
    strict_data: bool = False,
    worst: int = SHOWN,
) -> JudgedRun:
    """Judge a result for a quality test.

    Rules are a gate, lowest values by metric, rules as in berryeval.yaml, or a configuration file,
    by default ./berryeval.yaml; `baseline` replaces theirs, and `strict_data` refuses one of other
    data.
    """
    record = _as_record(result)
    gate = replace_baseline(_build_gate(rules), baseline, "baseline")
    gate = require_same_data(gate, wanted=strict_data)
    if not gate.rules and not gate.baseline:
        raise ConfigurationError(
            'there are no rules to check; give some, as {"nDCG@10": 0.8}, or a baseline= that '
            "no metric may drop below"
        )
    needs_baseline(gate, _BASELINE)
    verdicts = judge_record(gate, record, worst=worst)
    strict = strict or gate.on_inconclusive == "fail"
    return JudgedRun(record, Path(), verdicts, drop_note(gate), strict)


def _as_record(result: Any) -> RunRecord:
    if isinstance(result, RunRecord):
        return result
    if isinstance(result, str | Path):
        return find_run(str(result)).record
    if isinstance(result, BenchmarkResult) and result.run is not None:
        return result.run
    raise ConfigurationError(
        f"expected a result of evaluation.run, or a run, found {type(result).__name__}"
    )


def _build_gate(rules: Rules | None) -> Gate:
    if isinstance(rules, Gate):
        return rules
    if rules is None or isinstance(rules, str | Path):
        return read_gate(rules)
    if isinstance(rules, Mapping):
        return add_limits(Gate(), rules, {})
    data = [dict(one) if isinstance(one, Mapping) else one for one in rules]
    gate: Gate = check_model(Gate, {"rules": data}, None)
    return gate


def compare_with_baseline(
    run: str, baseline: str, *, strict: bool = False, strict_data: bool = False
) -> JudgedRun:
    """Judge a run as if no metric of the baseline may drop.

    A metric or provider that only one of the two has is inconclusive; a failed provider fails.
    """
    record = find_run(run).record
    kept = find_other_baseline(baseline, record.id, record.created)
    rules = drop_rules(metrics_of_run(record), kept, record.id)
    gate = Gate(baseline=kept.run, strict_data=strict_data).model_copy(update={"rules": rules})
    verdicts = [*judge(gate, record, kept, wanted=False), *judge_unshared(record, kept, run)]
    return JudgedRun(record, Path(), verdicts, "", strict)


def _samples_of(gate: Gate, run: RunRecord) -> list[Sample]:
    """Return what the rules about drops compare; with the run itself if there is no baseline."""
    baseline = Baseline.of(run)
    if gate.baseline:
        baseline = find_other_baseline(gate.baseline, run.id, run.created)
    if allows_no_drop(gate):
        gate = forbid_drops(gate, metrics_of_run(run), baseline)
    return collect_samples(gate, run, baseline)


def _check_gate_itself(gate: Gate, samples: Sequence[Sample], *, strict: bool) -> SelfCheck:
    if not allows_no_drop(gate) and all(rule.max_drop is None for rule in gate.rules):
        raise ConfigurationError("--self-check needs a rule with max_drop, found none")
    return self_check(samples, strict=strict)


# Before a run: whether its gate can be judged.


def check_gate(plan: Plan, benchmarks: Sequence[Benchmark], folder: RunFolder) -> Baseline | None:
    """Reject rules that cannot be judged after the run; return the baseline, if there is one.

    The baseline is read here, once: `latest` names another run after this one.
    """
    from berryeval.workflows.selection import select_queries as plan_queries

    gate, baseline = plan.whole_gate, None
    if needs_baseline(gate) or gate.baseline:
        if folder.manifest_file.exists():
            created = str(folder.find_manifest().get("created"))
            baseline = find_other_baseline(gate.baseline, folder.path.resolve().name, created)
        else:
            baseline = find_baseline(gate.baseline)
        if allows_no_drop(gate):
            gate = forbid_drops(gate, metrics_of_plan(plan, benchmarks), baseline)
    queries = {one.name: plan_queries(one, plan) for one in benchmarks} if gate.rules else {}
    for rule in gate.rules:
        check_names(rule.providers, plan.labels, "provider", rule)
        check_names(rule.benchmarks, [one.name for one in benchmarks], "benchmark", rule)
        covered = [one for one in benchmarks if one.name in (rule.benchmarks or [one.name])]
        asked = {one.name: select_queries(rule, one.name, queries[one.name]) for one in covered}
        if baseline is not None and rule.max_drop is not None:
            _check_drop(rule, baseline, plan, covered, asked)
    return baseline


def _check_drop(
    rule: Rule,
    baseline: Baseline,
    plan: Plan,
    benchmarks: Sequence[Benchmark],
    asked: Mapping[str, Sequence[Query]],
) -> None:
    """Reject a rule whose baseline cannot be compared; providers new in the plan are skipped."""
    from berryeval.workflows.selection import check_relevance

    providers = rule.providers or plan.labels
    owners = [(benchmark.name, provider) for benchmark in benchmarks for provider in providers]
    check_held(rule, baseline, owners)
    values = {}
    for benchmark in benchmarks:
        owner, queries = (benchmark.name, plan.depth), asked[benchmark.name]
        for provider in providers:
            if baseline.holds(benchmark.name, provider):
                judging = check_relevance(benchmark, plan)
                part = find_comparable_part(rule, baseline, owner, provider, judging)
                change = _foresee_change(baseline.data_of(part), benchmark, queries)
                if plan.gate.strict_data:
                    check_same_data(baseline, part, change)
                if rule.where and change.changed and not change.compared:
                    continue  # other queries may compare
                check_shared(rule, baseline, part, [query.id for query in queries], change)
                values[benchmark.name, provider] = baseline_value(rule, part, change.compared)
    check_room(rule, baseline, values)


def _foresee_change(
    before: DataVersion, benchmark: Benchmark, queries: Sequence[Query]
) -> DataChange:
    """Compare the data before the run, which will say where targets stand."""
    known = dict.fromkeys((query.id for query in queries), "")
    if before.content_hash != benchmark.content_hash:
        parts = fingerprint_questions(benchmark, queries)
        known = dict(zip(known, parts, strict=True))
    corpus = mark_corpus(benchmark.documents) if before.corpus else ""
    return DataChange.between(before, DataVersion(benchmark.content_hash, known, corpus))
