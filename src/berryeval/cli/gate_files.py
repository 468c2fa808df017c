"""The files of `berryeval gate`, and what it tells GitHub."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from berryeval.gates import Verdict
    from berryeval.results import RunRecord

__all__ = ["publish_on_github", "write_files"]

ON_GITHUB: Final = "GITHUB_ACTIONS"  # "true" in every step of a workflow


def write_files(
    record: RunRecord,
    verdicts: Sequence[Verdict],
    formats: list[str] | None,
    output: str | None,
    folder: Path,
) -> list[dict[str, str]]:
    """Write the run and its verdicts in these formats, into one folder."""
    from pathlib import Path

    from berryeval.errors import ConfigurationError
    from berryeval.measures.listing import split_names
    from berryeval.reports import Report
    from berryeval.reports.table import EXPORTERS
    from berryeval.reports.write import write_in_format

    names = list(dict.fromkeys(split_names(formats or [])))
    if output and not names:
        msg = "--output is where --export writes to; say what: --export junit markdown"
        raise ConfigurationError(msg)
    for name in names:
        EXPORTERS.get(name)
    report = Report.of([record], verdicts=verdicts)
    place = Path(output) if output else folder
    return [
        {"format": name, "path": str(path)}
        for name in names
        for path in write_in_format(report, name, f"{place}{os.sep}")
    ]


def publish_on_github(record: RunRecord, verdicts: Sequence[Verdict], *, quietly: bool) -> None:
    """In a step of a workflow: add to its summary, and print notes about what failed.

    Args:
        record: the run.
        verdicts: on the run.
        quietly: stdout is for something else; the runner reads stderr as well.
    """
    if os.environ.get(ON_GITHUB) != "true":
        return
    from berryeval.reports import Report
    from berryeval.reports.github import publish, render

    report = Report.of([record], verdicts=verdicts)
    text = publish(report)
    print(
        render(report) if text is None else text,
        end="",
        file=sys.stderr if quietly else sys.stdout,
        flush=True,
    )
