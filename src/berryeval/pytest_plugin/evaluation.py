"""What the fixture `evaluation` offers: run a benchmark, check what came out."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias, get_args

import pytest

from berryeval._internal.numbers import metric
from berryeval._internal.text import counted, cut
from berryeval.errors import ConfigurationError
from berryeval.gates import Gate, Rule, Status, needs_baseline
from berryeval.reports import format_verdict
from berryeval.runs import RunRecord, with_property
from berryeval.workflows import (
    DEFAULT_METRICS,
    BenchmarkResult,
    check_model,
    closing,
    configured_gate,
    find_record,
    gate_with,
    listed,
    passed,
    run_benchmark,
    verdicts_of,
    with_baseline,
    worst_queries,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from berryeval.benchmarks import Benchmark
    from berryeval.data import Query
    from berryeval.gates import Verdict
    from berryeval.runs import BenchmarkRecord
    from berryeval.workflows import Provider, WorstQuery


# The worst queries, in a few lines for the failure of a test.

_HITS: Final = 3
_MISSED: Final = 3
_WIDTH: Final = 100


def worst_lines(record: RunRecord, verdicts: Sequence[Verdict], count: int) -> Iterator[str]:
    """Of everyone with such a verdict the worst queries by the metric of the first of them."""
    first: dict[tuple[str, str], Verdict] = {}
    for verdict in verdicts:
        if verdict.metric:
            first.setdefault((verdict.benchmark, verdict.provider), verdict)
    for part in record.benchmarks:
        for provider in part.providers:
            found = first.get((part.name, provider.name))
            if found is None:
                continue
            chosen = _chosen(part, found.group)
            worst = worst_queries(part, provider, count, found.metric, chosen)
            if worst:
                yield ""
                yield f"the worst queries of {provider.name} on {part.name}:"
            for one in worst:
                yield from _query(one)


def _chosen(benchmark: BenchmarkRecord, group: str) -> list[Query]:
    """The queries that a group like "category=factual" means."""
    queries = list(benchmark.queries)
    for part in group.split(", "):
        name, equals, value = part.partition("=")
        queries = with_property(queries, name, value) if equals else queries
    return queries


def _query(one: WorstQuery) -> Iterator[str]:
    text = cut(one.query.text, _WIDTH)
    yield f"  {one.metric} {metric(one.value)}  {one.query.id}: {text}"
    if one.answer.error:
        yield f"    {one.answer.outcome}: {cut(one.answer.error, _WIDTH)}"
    elif not one.returned:
        yield "    nothing came back"
    for rank, returned in enumerate(one.returned[:_HITS], 1):
        yield f"    {rank}. {cut(returned.name, _WIDTH)} ({returned.grade})"
    missed = one.answer.missed
    for target in missed[:_MISSED]:
        yield f"    missed: {cut(target.name, _WIDTH)} (grade {target.grade:g})"
    if len(missed) > _MISSED:
        yield f"    … and {len(missed) - _MISSED} more were missed"


# The verdicts of quality tests, as they travel with the reports of tests and as they are shown.

_PREFIX: Final = "berryeval."
_STYLES: Final[dict[str, dict[str, bool]]] = {
    "fail": {"red": True, "bold": True},
    "inconclusive": {"yellow": True},
    "pass": {"green": True},
}


def property_of(verdict: Verdict) -> tuple[str, str]:
    """The verdict as a property of a test."""
    return f"{_PREFIX}{verdict.status}", format_verdict(verdict)


def print_summary(screen: pytest.TerminalReporter) -> None:
    """A section with a line for each verdict, failures first; nothing if there is none."""
    found = _verdicts(report for reports in screen.stats.values() for report in reports)
    if not found:
        return
    screen.section("retrieval quality", sep="=")
    for status in _STYLES:
        for kind, line in found:
            if kind == status:
                screen.write_line(f"{status.upper()} {line}", **_STYLES[status])
    counts = [sum(kind == status for kind, _ in found) for status in _STYLES]
    shown = [f"{n} {status}" for n, status in zip(counts, _STYLES, strict=True) if n]
    screen.write_line(", ".join(shown))


def _verdicts(reports: Iterable[Any]) -> list[tuple[str, str]]:
    """Every verdict once: the reports of a test's setup, call and teardown all bring them."""
    by_test: dict[str, list[tuple[str, str]]] = {}
    for report in reports:
        found = list(_properties(report))
        test = getattr(report, "nodeid", "")
        if len(found) > len(by_test.get(test, ())):
            by_test[test] = found
    return [one for found in by_test.values() for one in found]


def _properties(report: Any) -> Iterator[tuple[str, str]]:
    for name, value in getattr(report, "user_properties", ()):
        status = str(name).removeprefix(_PREFIX)
        if status != name and status in get_args(Status):
            yield status, str(value)


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
        metrics: str | Sequence[str] = DEFAULT_METRICS,
        **options: Any,
    ) -> BenchmarkResult:
        """As `berryeval.run_benchmark`; asked again for the same, it runs nothing.

        A single provider or metric need not be in a list.
        """
        __tracebackhide__ = True
        asked = (benchmark, listed(providers), listed(metrics), options)
        key = _key(asked)
        if key not in self._runs:
            done = run_benchmark(benchmark, providers, metrics, **options)
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
            rules: least values by metric, as {"nDCG@10": 0.8}; or rules as in berryeval.yaml; or
                a configuration file, whose `gate` and `thresholds` count. Without, berryeval.yaml
                of the current folder.
            baseline: what drops are measured against: a file of `berryeval baseline set`, or a run.
                Without a rule about drops, no metric may fall.
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
    lines += [f"  {one.status.upper()} {format_verdict(one)}" for one in broken]
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
