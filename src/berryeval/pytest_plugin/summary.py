"""The verdicts of quality tests, as they travel with the reports of tests and as they are shown.

They travel as properties of the test, which pytest writes to its JUnit file, and xdist brings from
its workers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, get_args

from berryeval.gates import Status
from berryeval.reports.rows import verdict_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pytest

    from berryeval.gates import Verdict

__all__ = ["print_summary", "property_of", "verdict_line"]

_PREFIX: Final = "berryeval."
_STYLES: Final[dict[str, dict[str, bool]]] = {
    "fail": {"red": True, "bold": True},
    "inconclusive": {"yellow": True},
    "pass": {"green": True},
}


def property_of(verdict: Verdict) -> tuple[str, str]:
    """The verdict as a property of a test."""
    return f"{_PREFIX}{verdict.status}", verdict_line(verdict)


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
