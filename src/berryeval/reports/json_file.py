"""Everything as JSON, in full precision; what was written can be read, and reported on again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from berryeval.errors import DataError
from berryeval.json_record import refused, unversioned
from berryeval.reports.exporter import Exporter, one_file
from berryeval.reports.model import Report
from berryeval.results import RunRecord
from berryeval.results.answer import array_of

__all__ = [
    "JSON",
    "SCHEMA_VERSION",
    "holds_report",
    "read_report",
    "read_runs",
    "render",
    "to_json",
]

SCHEMA_VERSION: Final = 1


def to_json(report: Report) -> dict[str, Any]:
    """The report as a JSON object."""
    data = {
        "schema_version": SCHEMA_VERSION,
        "title": report.title,
        "runs": [run.to_json() for run in report.runs],
        "verdicts": [verdict.to_json() for verdict in report.verdicts],
        "comparisons": [
            {
                "benchmark": section.name,
                "content_hash": section.content_hash,
                "queries_asked": len(section.queries),
                "k": section.asked.k,
                **section.comparison.to_dict(),
            }
            for section in report.sections
            if section.comparison is not None
        ],
    }
    compared = [one.to_json() for one in report.compared]
    return {**data, "compared": compared} if compared else data


def render(report: Report) -> str:
    """The file."""
    return json.dumps(to_json(report), ensure_ascii=False, allow_nan=False) + "\n"


JSON: Final = Exporter(
    "everything in full precision, by a published schema", (".json",),
    one_file("report.json", render),
)  # fmt: skip


def holds_report(data: Any) -> bool:
    """Whether a JSON object is a report, not the record of one run."""
    return isinstance(data, Mapping) and "runs" in data


def read_runs(data: Any, where: str) -> Report:
    """The report that a JSON object holds, or one of the only run whose record it is."""
    if holds_report(data):
        return read_report(data, where)
    return Report.of([RunRecord.from_json(data, where)])


def read_report(data: Any, where: str) -> Report:
    """A report that was written here."""
    from berryeval.gates import Verdict
    from berryeval.reports.compared import ComparedBenchmark

    data = unversioned(data, where, "a report", SCHEMA_VERSION)
    runs = array_of(RunRecord)(data.get("runs"), f"{where}: runs")
    verdicts = array_of(Verdict)(data.get("verdicts", []), f"{where}: verdicts")
    compared = array_of(ComparedBenchmark)(data.get("compared", []), f"{where}: compared")
    title = data.get("title", "")
    if not isinstance(title, str):
        place = f"{where}: title"
        raise refused(place, "a string", title)
    if not runs:
        msg = f"{where}: holds no run"
        raise DataError(msg)
    return Report.of(runs, title=title, verdicts=verdicts, compared=compared)
