"""What the fixture `evaluation` offers: run a benchmark, check what came out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import pytest

from berryeval.errors import ConfigurationError
from berryeval.gates import Gate, Rule
from berryeval.gates.checking import needs_baseline
from berryeval.io.words import counted
from berryeval.pipeline.config_file import check_model
from berryeval.pipeline.find_run import find_record
from berryeval.pipeline.gating import (
    closing,
    configured_gate,
    gate_with,
    passed,
    verdicts_of,
    with_baseline,
)
from berryeval.pipeline.plan import DEFAULT_MEASURES
from berryeval.pipeline.run_result import BenchmarkResult
from berryeval.pipeline.start import listed, run_benchmark
from berryeval.pytest_plugin.summary import property_of, verdict_line
from berryeval.pytest_plugin.worst import worst_lines
from berryeval.results import RunRecord

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.benchmarks import Benchmark
    from berryeval.gates import Verdict
    from berryeval.pipeline.start import Provider

__all__ = ["Evaluation"]

Judged: TypeAlias = BenchmarkResult | RunRecord | str
Rules: TypeAlias = "Gate | Mapping[str, float] | Sequence[Rule | Mapping[str, Any]] | str | Path"
WORST: Final = 3
_BASELINE: Final = "with check(..., baseline=FILE), or as `baseline` of the gate in berryeval.yaml"


class Evaluation:
    """Runs benchmarks, and fails the test where the results break a rule.

    Args:
        runs: what was run before in this process, by what was asked.
        properties: of the test; verdicts are added to them.
        strict: whether a rule that cannot be decided fails.
    """

    def __init__(
        self,
        runs: dict[Any, tuple[BenchmarkResult, Any]],
        properties: list[tuple[str, object]],
        *,
        strict: bool = False,
    ) -> None:
        self._runs = runs
        self._properties = properties
        self._strict = strict

    def run(
        self,
        benchmark: str | Benchmark,
        providers: Provider | Sequence[Provider],
        measures: str | Sequence[str] = DEFAULT_MEASURES,
        **options: Any,
    ) -> BenchmarkResult:
        """As `berryeval.run_benchmark`; asked again for the same, it runs nothing.

        A single provider or measure need not be in a list.
        """
        __tracebackhide__ = True
        asked = (benchmark, listed(providers), listed(measures), options)
        key = _key(asked)
        if key not in self._runs:
            done = run_benchmark(benchmark, providers, measures, **options)
            self._runs[key] = (done, asked)  # what was asked stays: ids of dead objects come again
        return self._runs[key][0]

    def check(
        self,
        result: Judged,
        rules: Rules | None = None,
        *,
        baseline: str | Path = "",
        strict: bool | None = None,
        worst: int = WORST,
    ) -> list[Verdict]:
        """Judge a result; the test fails with a sentence for each broken rule.

        Args:
            result: what `run` returned, a record of a run, or its name or folder.
            rules: least values by measure, as {"nDCG@10": 0.8}; or rules as in berryeval.yaml; or
                a configuration file, whose `gate` and `thresholds` count. Without, berryeval.yaml
                of the current folder.
            baseline: what drops are measured against: a file of `berryeval baseline set`, or a run.
                Without a rule about drops, no measure may fall.
            strict: fail where a rule cannot be decided; as `--eval-strict` says unless given.
            worst: how many of the worst queries a failure shows.
        """
        __tracebackhide__ = True
        record = _record(result)
        gate = _gate(rules)
        gate = with_baseline(gate, str(baseline) if baseline != "" else None, "baseline")
        if not gate.rules and not gate.baseline:
            msg = (
                'there are no rules to check; give some, as {"nDCG@10": 0.8}, or a baseline= below '
                "which nothing may fall"
            )
            raise ConfigurationError(msg)
        needs_baseline(gate, _BASELINE)
        verdicts = verdicts_of(gate, record)
        self._properties += map(property_of, verdicts)
        strict = self._strict if strict is None else strict
        if not passed(verdicts, strict=strict):
            pytest.fail(_failure(record, verdicts, worst, strict=strict), pytrace=False)
        return verdicts


def _record(result: Judged) -> RunRecord:
    if isinstance(result, RunRecord):
        return result
    if isinstance(result, str | Path):
        return find_record(str(result))
    if isinstance(result, BenchmarkResult) and result.run is not None:
        return result.run
    msg = f"expected what evaluation.run returned, or a run, found {type(result).__name__}"
    raise ConfigurationError(msg)


def _gate(rules: Rules | None) -> Gate:
    if isinstance(rules, Gate):
        return rules
    if rules is None or isinstance(rules, str | Path):
        return configured_gate(rules)
    if isinstance(rules, Mapping):
        return gate_with(Gate(), rules, {})
    data = [dict(one) if isinstance(one, Mapping) else one for one in rules]
    gate: Gate = check_model(Gate, {"rules": data}, None)
    return gate


def _failure(record: RunRecord, verdicts: Sequence[Verdict], worst: int, *, strict: bool) -> str:
    """The broken rules, and the worst queries of who broke them."""
    broken = closing(verdicts, strict=strict)
    lines = [f"retrieval quality: {counted(len(broken), 'rule')} not satisfied"]
    lines += [f"  {one.status.upper()} {verdict_line(one)}" for one in broken]
    lines += worst_lines(record, broken, worst)
    return "\n".join(lines)


def _key(value: Any) -> Any:
    """Equal for what asks for the same; an object of another kind is only equal to itself."""
    if isinstance(value, Mapping):
        return ("mapping", *sorted((str(name), _key(one)) for name, one in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *map(_key, value))
    if value is None or isinstance(value, str | int | float | Path):
        return (type(value).__name__, value)
    return ("object", id(value))
