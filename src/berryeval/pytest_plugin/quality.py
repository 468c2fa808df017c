"""The fixture `evaluation`: run benchmarks and check the results by rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, get_args

import pytest

from berryeval._internal.text import escape_line, pluralize
from berryeval.gates import Status
from berryeval.reports import format_verdict
from berryeval.workflows import judge_result, run_benchmark

if TYPE_CHECKING:
    from berryeval.benchmarks import Benchmark
    from berryeval.gates import Verdict
    from berryeval.runs import RunRecord
    from berryeval.workflows import BenchmarkResult, JudgedRun, Rules


# Verdicts travel as properties of test reports, also from the workers of xdist.

_PREFIX: Final = "berryeval."
_STYLES: Final[dict[str, dict[str, bool]]] = {
    "fail": {"red": True, "bold": True},
    "inconclusive": {"yellow": True},
    "pass": {"green": True},
}


def as_property(verdict: Verdict) -> tuple[str, str]:
    """Return the verdict as a property of a test."""
    return f"{_PREFIX}{verdict.status}", format_verdict(verdict)


def print_summary(screen: pytest.TerminalReporter) -> None:
    """Print a section with a line for each verdict, failures first; nothing without verdicts."""
    found = _collect_verdicts(report for reports in screen.stats.values() for report in reports)
    if not found:
        return
    screen.section("retrieval quality", sep="=")
    for status in _STYLES:
        for kind, line in found:
            if kind == status:
                screen.write_line(escape_line(f"{status.upper()} {line}"), **_STYLES[status])
    counts = [sum(kind == status for kind, _ in found) for status in _STYLES]
    shown = [f"{n} {status}" for n, status in zip(counts, _STYLES, strict=True) if n]
    screen.write_line(", ".join(shown))


def _collect_verdicts(reports: Iterable[Any]) -> list[tuple[str, str]]:
    """Collect every verdict once: the reports of setup, call and teardown all have them."""
    by_test: dict[str, list[tuple[str, str]]] = {}
    for report in reports:
        found = list(_read_properties(report))
        test = getattr(report, "nodeid", "")
        if len(found) > len(by_test.get(test, ())):
            by_test[test] = found
    return [one for found in by_test.values() for one in found]


def _read_properties(report: Any) -> Iterator[tuple[str, str]]:
    for name, value in getattr(report, "user_properties", ()):
        status = str(name).removeprefix(_PREFIX)
        if status != name and status in get_args(Status):
            yield status, str(value)


WORST: Final = 3


class Evaluation:
    """Runs benchmarks and fails the test if a result breaks a rule.

    Equal arguments share a run of this process; verdicts become properties of the test.
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
        providers: object,
        metrics: str | Sequence[str] = (),
        **options: Any,
    ) -> BenchmarkResult:
        """Call `berryeval.run_benchmark`; equal arguments return the earlier result."""
        __tracebackhide__ = True
        options = {**options, "metrics": _as_list(metrics)} if metrics else options
        asked = (benchmark, _as_list(providers), options)
        key = _make_key(asked)
        if key not in self._runs:
            done = run_benchmark(benchmark, providers, **options)
            self._runs[key] = (done, asked)  # keeps the arguments alive: ids may be reused
        return self._runs[key][0]

    def check(
        self,
        result: BenchmarkResult | RunRecord | str | Path,
        rules: Rules | None = None,
        *,
        baseline: str | Path = "",
        strict: bool | None = None,
        strict_data: bool = False,
        worst: int = WORST,
    ) -> list[Verdict]:
        """Judge a result; the test fails with a sentence for each broken rule.

        Args:
            result: Result of `run`, record of a run, or its name or folder.
            rules: Lowest values by metric, as {"nDCG@10": 0.8}; rules as in berryeval.yaml; or a
                configuration file with `gate` and `thresholds`. By default berryeval.yaml of the
                current folder.
            baseline: Baseline to measure drops against: a file of `berryeval baseline set`, or a
                run. Without a rule about drops, no metric may drop.
            strict: Fail if a rule is inconclusive; `--eval-strict` by default, and always with
                `on_inconclusive: fail` in the rules.
            strict_data: Refuse a baseline that was measured on other data.
            worst: Number of worst queries that a failure shows.
        """
        __tracebackhide__ = True
        strict = self._strict if strict is None else strict
        named = str(baseline) if baseline != "" else None
        judged = judge_result(
            result, rules, baseline=named, strict=strict, strict_data=strict_data, worst=worst
        )
        self._properties += map(as_property, judged.verdicts)
        if not judged.passed:
            pytest.fail(_describe_failure(judged), pytrace=False)
        return judged.verdicts


def _as_list(given: object) -> list[object]:
    return list(given) if isinstance(given, list | tuple) else [given]


def _describe_failure(judged: JudgedRun) -> str:
    broken = judged.find_failing()
    lines = [f"retrieval quality: {pluralize(len(broken), 'rule')} not satisfied"]
    lines += [f"  {one.status.upper()} {format_verdict(one)}" for one in broken]
    for one in broken:
        lines += ["", *one.fallen] if one.fallen else []
    return "\n".join(map(escape_line, lines))


def _make_key(value: Any) -> Any:
    """Return a key that is equal for equal arguments; other objects equal only themselves."""
    if isinstance(value, Mapping):
        return ("mapping", *sorted((str(name), _make_key(one)) for name, one in value.items()))
    if isinstance(value, list | tuple):
        return ("list", *map(_make_key, value))
    if value is None or isinstance(value, str | int | float | Path):
        return (type(value).__name__, value)
    return ("object", id(value))
