"""GitHub Actions: a step summary, and an annotation for each failed rule or provider."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval._internal.text import escape_commands, escape_controls
from berryeval.errors import DataError
from berryeval.reports.exporters import markdown
from berryeval.reports.exports import Exporter, single_file
from berryeval.reports.legends import format_with_queries

if TYPE_CHECKING:
    from berryeval.reports.sections import Report


SUMMARY: Final = "GITHUB_STEP_SUMMARY"  # environment variable with the path of the summary file
_LEVELS: Final = {"fail": "error", "inconclusive": "warning"}


def build_commands(report: Report) -> Iterator[str]:
    """Yield a workflow command for everything that failed or is inconclusive."""
    for one in report.verdicts:
        if one.status in _LEVELS:
            title = f"Retrieval quality: {one.rule}"
            level = "error" if report.strict else _LEVELS[one.status]
            yield _format_command(level, title, format_with_queries(one, strict=report.strict))
    for section in report.sections:
        for system in section.systems:
            if system.record.failure:
                message = f"{system.label} on {section.name}: {system.record.failure}"
                yield _format_command("error", "Retrieval run failed", message)


def render(report: Report) -> str:
    """Render the summary, followed by the workflow commands."""
    lines = list(build_commands(report))
    text = escape_commands(markdown.render(report))
    return text + ("\n" + "\n".join(lines) + "\n" if lines else "")


def publish(report: Report) -> str | None:
    """Append to the step summary and return the commands to print; None outside a workflow."""
    path = os.environ.get(SUMMARY)
    if not path:
        return None
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(markdown.render(report) + "\n")
    except OSError as error:
        raise DataError(
            f"{path} ({SUMMARY}): cannot be written ({error.strerror or error})"
        ) from None
    return "".join(f"{line}\n" for line in build_commands(report))


GITHUB: Final = Exporter(
    "a GitHub step summary, and annotations on failures",
    (),
    single_file("github.md", render),
    publish=publish,
)


def _format_command(level: str, title: str, message: str) -> str:
    name = _escape_data(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{_escape_data(message)}"


def _escape_data(text: str) -> str:
    return escape_commands(escape_controls(text)).replace("%", "%25").replace("\n", "%0A")
