"""From a plan and its run to the verdicts of its gate."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, create_model

from berryeval.errors import ConfigurationError
from berryeval.gates import Baseline, Gate, Rule, judge
from berryeval.gates.checking import (
    check_names,
    check_shared,
    chosen_queries,
    comparable_part,
    needs_baseline,
)
from berryeval.gates.judging import samples_of
from berryeval.gates.limits import told_apart
from berryeval.gates.self_check import SelfCheck, self_check
from berryeval.measures.listing import split_names
from berryeval.pipeline.choice import chosen_queries as planned_queries
from berryeval.pipeline.config_file import ConfigFile, check_model, config_path
from berryeval.pipeline.find_baseline import baseline_before, baseline_for
from berryeval.pipeline.plan import Plan
from berryeval.pipeline.settings import gate_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.benchmarks import Benchmark
    from berryeval.gates import Verdict
    from berryeval.io.files import PathLike
    from berryeval.pipeline.config_file import Path as Place
    from berryeval.pipeline.folder import RunFolder
    from berryeval.results import RunRecord

__all__ = [
    "check_gate",
    "configured_gate",
    "gate_with",
    "passed",
    "read_limits",
    "say_missed",
    "self_checked",
    "verdicts_of",
    "with_baseline",
    "within_budget",
]

log = logging.getLogger("berryeval")


def read_limits(texts: Iterable[str], owner: str, example: str) -> dict[str, float]:
    """Limits that were written as `recall@10=0.80`, one by one or with commas between."""
    texts = list(texts)
    found: dict[str, float] = {}
    for text in split_names(texts) or texts:
        name, _, number = text.rpartition("=")
        name = name.strip()
        try:
            value = float(number)
        except ValueError:
            name, value = "", 0.0
        if not name:
            msg = f"{owner}: expected MEASURE=VALUE, as {example}, found {text!r}"
            raise ConfigurationError(msg)
        if name in found:
            msg = f"{owner}: {name} has two limits, {found[name]:g} and {value:g}; give one"
            raise ConfigurationError(msg)
        found[name] = value
    return found


def configured_gate(config: PathLike | None) -> Gate:
    """The gate of the configuration file, with its thresholds as rules; empty if there is none."""
    path = config_path(config)
    if path is None:
        return Gate()
    file = ConfigFile(path)
    check_model(_known_keys(), file.data, file)
    data = file.data.get("gate") or {}
    if isinstance(data, dict):
        data = gate_beside(path.parent, data)
    gate: Gate = check_model(Gate, data, _Inside(file, "gate"))
    least = check_model(_Thresholds, {"thresholds": file.data.get("thresholds") or {}}, file)
    return gate_with(gate, least.thresholds, {})


def _known_keys() -> type[BaseModel]:
    """A configuration of which only the keys are looked at: a run needs the rest, a gate not."""
    anything: dict[str, Any] = dict.fromkeys(Plan.model_fields, (Any, None))
    return create_model("_Keys", __config__=ConfigDict(extra="forbid"), **anything)


class _Thresholds(BaseModel):
    """The part of a configuration that a gate looks at besides its own."""

    thresholds: dict[str, Annotated[float, Field(allow_inf_nan=False)]] = {}


class _Inside:
    """Where the parts of one section of a configuration file stand."""

    def __init__(self, file: ConfigFile, section: str) -> None:
        self._file = file
        self._section = section

    def where(self, path: Place) -> str:
        return self._file.where((self._section, *path))


def gate_with(gate: Gate, least: Mapping[str, float], drops: Mapping[str, float]) -> Gate:
    """The gate with rules for the least values and the largest drops of measures."""
    rules: list[Rule] = [
        check_model(Rule, {"measure": name, limit: value}, None)
        for limit, values in (("at_least", least), ("max_drop", drops))
        for name, value in values.items()
    ]
    return gate.model_copy(update={"rules": [*gate.rules, *rules]})


def with_baseline(gate: Gate, baseline: str | None, owner: str = "--baseline") -> Gate:
    """The gate with another baseline, if one is given (by `owner`); it must be of use."""
    if not baseline:
        return gate
    if all(rule.max_drop is None for rule in gate.rules):
        msg = (
            f"{owner} is for rules about drops, and there is none; give one with "
            "--max-drop nDCG@10=0.01, or with `max_drop` in berryeval.yaml"
        )
        raise ConfigurationError(msg)
    return gate.model_copy(update={"baseline": baseline})


def verdicts_of(gate: Gate, run: RunRecord, baseline: Baseline | None = None) -> list[Verdict]:
    """The verdicts of every rule; the baseline is read if a rule needs it and none is given."""
    if baseline is None and needs_baseline(gate):
        baseline = baseline_for(gate.baseline, run)
    return judge(gate, run, baseline)


def check_gate(
    gate: Gate, plan: Plan, benchmarks: Sequence[Benchmark], folder: RunFolder
) -> Baseline | None:
    """Say before a run what cannot be judged after it; the baseline, if a rule needs one.

    It is read here, once: a name as `latest` means another run when this one is done.
    """
    baseline = baseline_before(gate.baseline, folder) if needs_baseline(gate) else None
    for rule in gate.rules:
        check_names(rule.providers, plan.labels, "provider", rule)
        check_names(rule.benchmarks, [one.name for one in benchmarks], "benchmark", rule)
        for benchmark in benchmarks:
            if rule.benchmarks and benchmark.name not in rule.benchmarks:
                continue
            asked = chosen_queries(rule, benchmark.name, planned_queries(benchmark, plan))
            if baseline is None or rule.max_drop is None:
                continue
            owner = (benchmark.name, benchmark.content_hash, plan.depth)
            for provider in rule.providers or plan.labels:
                part = comparable_part(rule, baseline, owner, provider)
                check_shared(rule, baseline, part, (query.id for query in asked))
    return baseline


def passed(verdicts: Iterable[Verdict], *, strict: bool = False) -> bool:
    """Whether the gate is open: nothing failed and, if strict, nothing is inconclusive."""
    closed = {"fail", "inconclusive"} if strict else {"fail"}
    return not any(verdict.status in closed for verdict in verdicts)


def within_budget(gate: Gate, verdicts: Iterable[Verdict]) -> set[tuple[str, str]]:
    """The benchmark and provider of whom a rule about errors allows what failed."""
    budgets = {str(rule) for rule in gate.rules if rule.errors}
    judged = [one for one in verdicts if one.rule in budgets]
    owners = {(one.benchmark, one.provider) for one in judged}
    return owners - {(one.benchmark, one.provider) for one in judged if one.status != "pass"}


def say_missed(verdicts: Iterable[Verdict]) -> None:
    """Log the measures that are below their least value."""
    for one in verdicts:
        if one.status == "fail" and one.value is not None and ">=" in one.rule:
            log.error(
                "Quality threshold not met: %s=%s < %g (%s on %s)",
                one.measure, told_apart(one.value, one.limit or 0.0), one.limit,
                one.provider, one.benchmark,
            )  # fmt: skip


def self_checked(gate: Gate, run: RunRecord, *, strict: bool = False) -> SelfCheck:
    """How often the gate's rules about drops raise a false alarm on the scores of this run."""
    baseline = baseline_for(gate.baseline, run) if gate.baseline else Baseline.of(run)
    samples = samples_of(gate, run, baseline)
    if not samples:
        msg = "--self-check is about rules with max_drop, and there is none"
        raise ConfigurationError(msg)
    return self_check(samples, strict=strict)
