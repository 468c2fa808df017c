"""Checks of a benchmark: what makes its numbers doubtful, and what to do about it.

A new check is a function of a `Subject` that gives findings, and a line in `CHECKS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Final, TypeAlias

from berryeval._internal.registry import Registry
from berryeval.benchmarks.checks.finding import Finding, Report
from berryeval.benchmarks.checks.subject import Subject

if TYPE_CHECKING:
    from berryeval.benchmarks.benchmark import Benchmark


Check: TypeAlias = Callable[[Subject], Iterable[Finding]]

_HOME: Final = "berryeval.benchmarks.checks"
CHECKS: Final = Registry[Check](
    "check",
    {
        "size": f"{_HOME}.judgments:check_size",
        "empty text": f"{_HOME}.judgments:check_texts",
        "unknown query": f"{_HOME}.judgments:check_queries_exist",
        "repeated judgment": f"{_HOME}.judgments:check_repeats",
        "group": f"{_HOME}.judgments:check_groups",
        "grade": f"{_HOME}.judgments:check_grades",
        "nothing relevant": f"{_HOME}.judgments:check_something_relevant",
        "target": f"{_HOME}.judgments:check_targets",
        "label": f"{_HOME}.judgments:check_labels",
        "near-duplicate queries": f"{_HOME}.similarity:check_queries",
        "near-duplicate documents": f"{_HOME}.similarity:check_documents",
        "near-duplicate sections": f"{_HOME}.similarity:check_sections",
        "copied query": f"{_HOME}.similarity:check_copied",
        "remark": f"{_HOME}.judgments:check_remarks",
    },
)


def check_benchmark(benchmark: Benchmark) -> Report:
    """Everything that the checks find, check by check."""
    subject = Subject(benchmark)
    return Report(tuple(finding for name in CHECKS for finding in CHECKS.get(name)(subject)))
