"""From a plan and its run to the verdicts of its gate."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import BaseModel, Field

from berryeval.errors import ConfigurationError, DataError
from berryeval.gates import Baseline, Gate, Rule, judge
from berryeval.gates.judging import check_names, needs_baseline, samples_of
from berryeval.gates.limits import told_apart
from berryeval.gates.self_check import SelfCheck, self_check
from berryeval.measures.listing import split_names
from berryeval.pipeline.config_file import ConfigFile, check_model
from berryeval.pipeline.find_run import find_record
from berryeval.pipeline.folder import read_json_object
from berryeval.pipeline.settings import config_path, gate_beside

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from berryeval.gates import Verdict
    from berryeval.io.files import PathLike
    from berryeval.pipeline.config_file import Path as Place
    from berryeval.results import RunRecord

__all__ = [
    "BASELINE_FILE",
    "check_gate",
    "configured_gate",
    "differences",
    "find_baseline",
    "gate_with",
    "passed",
    "read_limits",
    "say_missed",
    "self_checked",
    "verdicts_of",
]

BASELINE_FILE: Final = "berryeval-baseline.json"
log = logging.getLogger("berryeval")


def read_limits(texts: Iterable[str], owner: str, example: str) -> dict[str, float]:
    """Limits that were written as `recall@10=0.80`, one by one or with commas between."""
    texts = list(texts)
    found = {}
    for text in split_names(texts) or texts:
        name, _, number = text.rpartition("=")
        try:
            found[name.strip()] = float(number)
        except ValueError:
            name = ""
        if not name.strip():
            msg = f"{owner}: expected MEASURE=VALUE, as {example}, found {text!r}"
            raise ConfigurationError(msg)
    return found


def configured_gate(config: PathLike | None) -> Gate:
    """The gate of the configuration file, with its thresholds as rules; empty if there is none."""
    path = config_path(config)
    if path is None:
        return Gate()
    file = ConfigFile(path)
    data = file.data.get("gate") or {}
    if isinstance(data, dict):
        data = gate_beside(path.parent, data)
    gate: Gate = check_model(Gate, data, _Inside(file, "gate"))
    least = check_model(_Thresholds, {"thresholds": file.data.get("thresholds") or {}}, file)
    return gate_with(gate, least.thresholds, {})


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
    rules = [Rule(measure=name, at_least=value) for name, value in least.items()]
    rules += [Rule(measure=name, max_drop=value) for name, value in drops.items()]
    return gate.model_copy(update={"rules": [*gate.rules, *rules]})


def find_baseline(text: str) -> Baseline:
    """The baseline that a text names: a file of `baseline set`, or a run."""
    path = Path(text)
    if path.is_file():
        data = read_json_object(path)
        if "parts" in data or "benchmarks" not in data:
            return Baseline.read(data, str(path))
    try:
        return Baseline.of(find_record(text))
    except DataError as error:
        msg = f"the baseline {text!r} is no file of `berryeval baseline set`, and no run: {error}"
        raise ConfigurationError(msg) from None


def verdicts_of(gate: Gate, run: RunRecord) -> list[Verdict]:
    """The verdicts of every rule; the baseline is read if a rule needs it."""
    return judge(gate, run, _baseline_for(gate))


def check_gate(gate: Gate, providers: Sequence[str]) -> None:
    """Say before a run what cannot be judged after it."""
    for rule in gate.rules:
        check_names(rule.providers, providers, "provider", rule)
    _baseline_for(gate)


def _baseline_for(gate: Gate) -> Baseline | None:
    """The baseline, if a rule needs one."""
    if not needs_baseline(gate):
        return None
    return find_baseline(gate.baseline)


def passed(verdicts: Iterable[Verdict], *, strict: bool = False) -> bool:
    """Whether the gate is open: nothing failed and, if strict, nothing is inconclusive."""
    closed = {"fail", "inconclusive"} if strict else {"fail"}
    return not any(verdict.status in closed for verdict in verdicts)


def say_missed(verdicts: Iterable[Verdict]) -> None:
    """Log the measures that are below their least value."""
    for one in verdicts:
        if one.status == "fail" and one.value is not None and ">=" in one.rule:
            log.error(
                "Quality threshold not met: %s=%s < %g (%s on %s)",
                one.measure, told_apart(one.value, one.limit or 0.0), one.limit,
                one.provider, one.benchmark,
            )  # fmt: skip


def differences(run: RunRecord, baseline: str) -> list[Verdict]:
    """How every measure that both have changed against the baseline; no drop is allowed."""
    kept = find_baseline(baseline)
    found = []
    for part in kept.parts:
        mine = next((one for one in run.benchmarks if one.name == part.benchmark), None)
        theirs = [one for one in mine.providers if one.name == part.provider] if mine else []
        for provider in theirs:
            names = provider.scores.measures if provider.scores else ()
            rules = [
                Rule(
                    measure=name,
                    max_drop=0.0,
                    benchmarks=[part.benchmark],
                    providers=[part.provider],
                )
                for name in names
                if name in part.values
            ]
            found += judge(Gate(rules=rules), run, kept)
    if not found:
        msg = f"{run.id} and the baseline {kept.run} share no provider, benchmark and measure"
        raise DataError(msg)
    return found


def self_checked(gate: Gate, run: RunRecord) -> SelfCheck:
    """How often the gate's rules about drops raise a false alarm on the scores of this run."""
    baseline = find_baseline(gate.baseline) if gate.baseline else Baseline.of(run)
    samples = samples_of(gate, run, baseline)
    if not samples:
        msg = "--self-check is about rules with max_drop, and there is none"
        raise ConfigurationError(msg)
    return self_check(samples)
