"""From a plan and its run to the verdicts of its gate."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, create_model

from berryeval._internal.numbers import value_beside
from berryeval.errors import ConfigurationError, DataError
from berryeval.gates import (
    Baseline,
    Gate,
    SelfCheck,
    baseline_value,
    check_held,
    check_names,
    check_room,
    check_shared,
    collect_samples,
    find_comparable_part,
    judge,
    needs_baseline,
    select_queries,
    self_check,
)
from berryeval.workflows.baselines import (
    drop_rules,
    metrics_of_plan,
    metrics_of_run,
    no_drop_rules,
    unshared,
)
from berryeval.workflows.config import ConfigFile, check_model, config_path
from berryeval.workflows.run_finder import find_record
from berryeval.workflows.run_folder import read_json_object
from berryeval.workflows.selection import chosen_queries as planned_queries
from berryeval.workflows.settings import Thresholds, gate_beside, limit_rules

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval._internal.files import PathLike
    from berryeval.benchmarks import Benchmark
    from berryeval.gates import Rule, Verdict
    from berryeval.runs import RunRecord
    from berryeval.workflows.baselines import Metrics
    from berryeval.workflows.config import KeyPath as Place
    from berryeval.workflows.plan import Plan
    from berryeval.workflows.run_folder import RunFolder


# Which baseline a text means: a file of `berryeval baseline set`, or a run.


def find_baseline(text: str) -> Baseline:
    """The baseline that a text names."""
    return _found(text)[0]


def baseline_for(text: str, run: RunRecord) -> Baseline:
    """The baseline that a text names, for this run; it must not be the run itself."""
    return _other_than(text, run.id, run.created)


def baseline_before(text: str, folder: RunFolder) -> Baseline:
    """The baseline for the run that goes to this folder, or goes on in it."""
    if not folder.manifest_file.exists():
        return find_baseline(text)
    created = str(folder.read_manifest().get("created"))
    return _other_than(text, folder.path.resolve().name, created)


def _other_than(text: str, run: str, created: str) -> Baseline:
    baseline, is_run = _found(text)
    if is_run and (baseline.run, baseline.created) == (run, created):
        msg = (
            f"the baseline {text!r} is the run {run} itself, which never falls below itself; "
            "name an earlier run, or a file of berryeval baseline set"
        )
        raise ConfigurationError(msg)
    return baseline


def _found(text: str) -> tuple[Baseline, bool]:
    """The baseline, and whether it is a run."""
    path = Path(text)
    if path.is_file():
        data = read_json_object(path)
        if "parts" in data or "benchmarks" not in data:
            return Baseline.read(data, str(path)), False
    try:
        return Baseline.of(find_record(text)), True
    except DataError as error:
        msg = f"the baseline {text!r} is no file of `berryeval baseline set`, and no run: {error}"
        raise ConfigurationError(msg) from None


log = logging.getLogger("berryeval")


def configured_gate(config: PathLike | None) -> Gate:
    """The gate of the configuration file, with its thresholds as rules; empty if there is none."""
    path = config_path(config)
    if path is None:
        return Gate()
    file = ConfigFile(path)
    check_model(_known_keys(), file.data, file)
    data = _section(file, "gate")
    if not isinstance(data, dict):
        where = file.where(("gate",))
        msg = f"{where}: gate: expected `rules` and a `baseline`, found {type(data).__name__}"
        raise ConfigurationError(msg)
    data = gate_beside(path.parent, data)
    gate: Gate = check_model(Gate, data, _Inside(file, "gate"))
    least = check_model(_Thresholds, {"thresholds": _section(file, "thresholds")}, file)
    return gate_with(gate, least.thresholds, {})


def _section(file: ConfigFile, name: str) -> Any:
    """A part of the file as it stands; of one that is not there or empty, nothing."""
    data = file.data.get(name)
    return {} if data is None else data


def _known_keys() -> type[BaseModel]:
    """A configuration of which only the keys are looked at: a run needs the rest, a gate not."""
    from berryeval.workflows.plan import Plan

    anything: dict[str, Any] = dict.fromkeys(Plan.model_fields, (Any, None))
    return create_model("_Keys", __config__=ConfigDict(extra="forbid"), **anything)


class _Thresholds(BaseModel):
    """The part of a configuration that a gate looks at besides its own."""

    thresholds: Thresholds = {}


class _Inside:
    """Where the parts of one section of a configuration file stand."""

    def __init__(self, file: ConfigFile, section: str) -> None:
        self._file = file
        self._section = section

    def where(self, path: Place) -> str:
        return self._file.where((self._section, *path))


def gate_with(gate: Gate, least: Mapping[str, float], drops: Mapping[str, float]) -> Gate:
    """The gate with rules for the least values and the largest drops of metrics."""
    rules = [*gate.rules, *limit_rules(least), *limit_rules(drops, "max_drop")]
    return gate.model_copy(update={"rules": rules})


def with_baseline(gate: Gate, baseline: str | None, owner: str = "--baseline") -> Gate:
    """The gate with another baseline, if one is given; `owner` gives it, for messages."""
    if baseline is None:
        return gate
    if not baseline.strip():
        msg = f"{owner} is empty; name a file of `berryeval baseline set`, or a run"
        raise ConfigurationError(msg)
    return gate.model_copy(update={"baseline": baseline})


def verdicts_of(
    gate: Gate, run: RunRecord, baseline: Baseline | None = None, *, named: str = ""
) -> list[Verdict]:
    """The verdicts of every rule; where a baseline has no rule about drops, nothing may fall.

    Args:
        gate: the rules, and the name of the baseline.
        run: what is judged.
        baseline: that baseline; it is read if it is needed and not given.
        named: how people name the run, for lines to type.
    """
    if baseline is None and (needs_baseline(gate) or gate.baseline):
        baseline = baseline_for(gate.baseline, run)
    if baseline is None or not no_drop_rules(gate):
        return judge(gate, run, baseline, named=named)
    found = judge(_no_drop(gate, metrics_of_run(run), baseline), run, baseline, named=named)
    return [*found, *unshared(run, baseline)]


def _no_drop(gate: Gate, there: Metrics, baseline: Baseline) -> Gate:
    """The gate with the rule, of every metric that both have, that it does not fall."""
    return gate.model_copy(update={"rules": [*gate.rules, *drop_rules(there, baseline)]})


def check_gate(
    gate: Gate, plan: Plan, benchmarks: Sequence[Benchmark], folder: RunFolder
) -> Baseline | None:
    """Say before a run what cannot be judged after it; the baseline, if a rule needs one.

    It is read here, once: a name as `latest` means another run when this one is done.
    """
    baseline = None
    if needs_baseline(gate) or gate.baseline:
        baseline = baseline_before(gate.baseline, folder)
        if no_drop_rules(gate):
            gate = _no_drop(gate, metrics_of_plan(plan, benchmarks), baseline)
    for rule in gate.rules:
        check_names(rule.providers, plan.labels, "provider", rule)
        check_names(rule.benchmarks, [one.name for one in benchmarks], "benchmark", rule)
        covered = [one for one in benchmarks if one.name in (rule.benchmarks or [one.name])]
        for benchmark in covered:
            select_queries(rule, benchmark.name, planned_queries(benchmark, plan))
        if baseline is not None and rule.max_drop is not None:
            _check_drop(rule, baseline, plan, covered)
    return baseline


def _check_drop(
    rule: Rule, baseline: Baseline, plan: Plan, benchmarks: Sequence[Benchmark]
) -> None:
    """Say what of the baseline cannot be compared; who is new in the plan is not in it."""
    providers = rule.providers or plan.labels
    owners = [(benchmark.name, provider) for benchmark in benchmarks for provider in providers]
    check_held(rule, baseline, owners)
    values = {}
    for benchmark in benchmarks:
        asked = select_queries(rule, benchmark.name, planned_queries(benchmark, plan))
        owner = (benchmark.name, benchmark.content_hash, plan.depth)
        for provider in providers:
            if baseline.holds(benchmark.name, provider):
                part = find_comparable_part(rule, baseline, owner, provider)
                ids = [query.id for query in asked]
                check_shared(rule, baseline, part, ids)
                values[benchmark.name, provider] = baseline_value(rule, part, ids)
    check_room(rule, baseline, values)


def passed(verdicts: Iterable[Verdict], *, strict: bool = False) -> bool:
    """Whether the gate is open."""
    return not closing(verdicts, strict=strict)


def closing(verdicts: Iterable[Verdict], *, strict: bool = False) -> list[Verdict]:
    """Those that close the gate: what failed and, if strict, what is inconclusive behind it."""
    closed = ("fail", "inconclusive") if strict else ("fail",)
    found = [verdict for verdict in verdicts if verdict.status in closed]
    return sorted(found, key=lambda verdict: closed.index(verdict.status))


def say_missed(verdicts: Iterable[Verdict]) -> None:
    """Log the metrics that are below their least value."""
    for one in verdicts:
        if one.status == "fail" and one.value is not None and ">=" in one.rule:
            log.error(
                "Quality threshold not met: %s=%s < %g (%s on %s)",
                one.metric, value_beside(one.value, one.limit or 0.0), one.limit,
                one.provider, one.benchmark,
            )  # fmt: skip


def self_checked(gate: Gate, run: RunRecord, *, strict: bool = False) -> SelfCheck:
    """How often the gate's rules about drops raise a false alarm on the scores of this run."""
    baseline = baseline_for(gate.baseline, run) if gate.baseline else Baseline.of(run)
    if no_drop_rules(gate):
        gate = _no_drop(gate, metrics_of_run(run), baseline)
    if all(rule.max_drop is None for rule in gate.rules):
        msg = "--self-check is about rules with max_drop, and there is none"
        raise ConfigurationError(msg)
    return self_check(collect_samples(gate, run, baseline), strict=strict)
