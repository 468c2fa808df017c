"""JUnit XML for build servers: a suite per benchmark, a case per verdict or provider."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval._internal.text import escape_direction
from berryeval.gates import within_budget
from berryeval.reports.exports import Exporter, single_file
from berryeval.reports.legends import (
    name_fallen,
    section_warnings,
    system_warnings,
    warning_lines,
)
from berryeval.reports.tables import cost_title
from berryeval.runner import FAILED

if TYPE_CHECKING:
    from berryeval.gates import Verdict
    from berryeval.reports.sections import Report, Section, System


# Characters that XML 1.0 cannot contain, not even escaped.
_FORBIDDEN: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_KINDS: Final = {"fail": "failure", "inconclusive": "skipped"}
_COUNTED: Final = {"failures": "failure", "errors": "error", "skipped": "skipped"}
_SECONDS: Final = len("2026-02-21T14:30:00")  # the format has no time zone
_ALL: Final = "all benchmarks"


def render(report: Report) -> str:
    """Render the document."""
    root = ET.Element("testsuites", name=_clean(report.title))
    # Verdicts do not name their run.
    allowed = within_budget(report.verdicts) if len(report.runs) == 1 else set()
    suites: dict[str, ET.Element] = {}
    for section in report.sections:
        suite = _suite(root, suites, section.title, section.systems)
        for system in section.systems:
            if _describe_failure(system) or not report.verdicts:
                budget = (section.name, system.record.name) in allowed
                _add_provider(suite, section, system, budget=budget)
    for verdict in report.verdicts:
        suite = _suite(root, suites, verdict.benchmark or _ALL)
        _add_verdict(suite, verdict, strict=report.strict)
    for section in report.sections if report.verdicts else ():
        _add_warnings(suites[section.title], section)
    for suite in suites.values():
        _count(suite, [suite])
    _count(root, suites.values())
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


JUNIT: Final = Exporter(
    "JUnit XML: verdicts (or providers) as test cases", (".xml",), single_file("junit.xml", render)
)


def _suite(
    root: ET.Element, suites: dict[str, ET.Element], name: str, systems: Iterable[System] = ()
) -> ET.Element:
    if name not in suites:
        suites[name] = ET.SubElement(root, "testsuite", name=_clean(name))
        first = next((system.run.created for system in systems), "")
        if first:
            suites[name].set("timestamp", _clean(first[:_SECONDS]))
    return suites[name]


def _add_provider(suite: ET.Element, section: Section, system: System, *, budget: bool) -> None:
    """Add a case for a provider; failed queries are no error if a rule allows them."""
    seconds = sum(answer.latency or 0.0 for answer in system.summaries)
    case = _add_case(suite, section.title, system.label, seconds)
    failure = _describe_failure(system)
    lines: list[str] = []
    if system.record.failure or (failure and not budget):
        _add_result(case, "error", failure, "RunFailed" if system.record.failure else "QueryFailed")
    elif failure:
        lines.append(f"{failure}; allowed by a rule on errors")
    lines += [] if system.scores is None else [
        f"{name} {numbers.format_exact_metric(value)}" for name, value in system.scores.mean.items()
    ]  # fmt: skip
    lines += [
        f"{cost_title(name)} {numbers.format_amount(amount)}"
        for name, amount in system.record.cost.items()
    ]
    common = [note for about, note in section_warnings(section) if not about]
    lines += [f"warning: {note}" for note in (*common, *system_warnings(system))]
    if lines:
        ET.SubElement(case, "system-out").text = _clean("\n".join(lines))


def _describe_failure(system: System) -> str:
    """Say why a provider is an error, whatever its scores: it failed, or queries did."""
    record = system.record
    if record.failure:
        return record.failure
    failed = {name: record.outcomes[name] for name in FAILED if record.outcomes.get(name)}
    if not failed:
        return ""
    counts = ", ".join(f"{count} {name}" for name, count in failed.items())
    last = next((one.error for one in reversed(system.summaries) if one.error), "")
    reason = f"; last error: {last}" if last else ""
    return f"{sum(failed.values())} of {len(record.answers)} queries failed ({counts}){reason}"


def _add_verdict(suite: ET.Element, verdict: Verdict, *, strict: bool) -> None:
    owner = ".".join(part for part in (verdict.benchmark, verdict.provider) if part)
    name = verdict.rule  # it usually names the group
    if verdict.group and verdict.group not in name:
        name += f" ({verdict.group})"
    case = _add_case(suite, owner or _ALL, name, 0.0)
    if verdict.status in _KINDS:
        lines = name_fallen(verdict, strict=strict)
        kind = "failure" if strict else _KINDS[verdict.status]
        _add_result(case, kind, verdict.sentence, verdict.status, lines)
    else:
        ET.SubElement(case, "system-out").text = _clean(verdict.sentence)


def _add_warnings(suite: ET.Element, section: Section) -> None:
    """Add the warnings to the suite: its cases are verdicts, not providers."""
    lines = [f"warning: {line}" for line in warning_lines(section)]
    if lines:
        ET.SubElement(suite, "system-out").text = _clean("\n".join(lines))


def _add_case(suite: ET.Element, owner: str, name: str, seconds: float) -> ET.Element:
    return ET.SubElement(
        suite, "testcase", classname=_clean(owner), name=_clean(name), time=f"{seconds:.3f}"
    )


def _add_result(
    case: ET.Element, kind: str, message: str, name: str, lines: Iterable[str] = ()
) -> None:
    found = ET.SubElement(case, kind, message=_clean(message))
    if kind != "skipped":
        found.set("type", name)
        found.text = _clean("\n".join([message, *lines]))


def _count(element: ET.Element, suites: Iterable[ET.Element]) -> None:
    cases = [case for suite in suites for case in suite.iter("testcase")]
    element.set("tests", str(len(cases)))
    for name, kind in _COUNTED.items():
        element.set(name, str(sum(case.find(kind) is not None for case in cases)))
    element.set("time", f"{sum(float(case.get('time', 0)) for case in cases):.3f}")


def _clean(text: str) -> str:
    return escape_direction(_FORBIDDEN.sub("", text))
