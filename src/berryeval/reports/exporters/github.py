"""GitHub Actions: the summary of a step, and a note on the change for each missed rule."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval.errors import DataError
from berryeval.reports.exporters import markdown
from berryeval.reports.files import Exporter, one_file
from berryeval.reports.tables import verdict_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.reports.report import Report


SUMMARY: Final = "GITHUB_STEP_SUMMARY"  # names the file that is shown with the step
_CONTROL: Final = re.compile(r"[\x00-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_LEVELS: Final = {"fail": "error", "inconclusive": "warning"}


def commands(report: Report) -> Iterator[str]:
    """A command line of the runner for everything that failed, or cannot be told."""
    for one in report.verdicts:
        if one.status in _LEVELS:
            yield _command(_LEVELS[one.status], f"Retrieval quality: {one.rule}", verdict_line(one))
    for section in report.sections:
        for system in section.systems:
            if system.record.failure:
                what = f"{system.label} on {section.name}: {system.record.failure}"
                yield _command("error", "Retrieval run failed", what)


def render(report: Report) -> str:
    """The summary, and the command lines after it."""
    lines = list(commands(report))
    return markdown.render(report) + ("\n" + "\n".join(lines) + "\n" if lines else "")


def publish(report: Report) -> str | None:
    """Add to the step's summary; what is left to be printed, or None if there is no step."""
    path = os.environ.get(SUMMARY)
    if not path:
        return None
    try:
        with Path(path).open("a", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(markdown.render(report) + "\n")
    except OSError as error:
        msg = f"{path} ({SUMMARY}): cannot be written ({error.strerror or error})"
        raise DataError(msg) from None
    return "".join(f"{line}\n" for line in commands(report))


GITHUB: Final = Exporter(
    "the summary of a GitHub step, and notes on what failed",
    (),
    one_file("github.md", render),
    publish=publish,
)


def _command(level: str, title: str, message: str) -> str:
    name = _data(title).replace(":", "%3A").replace(",", "%2C")
    return f"::{level} title={name}::{_data(message)}"


def _data(text: str) -> str:
    return _CONTROL.sub("", text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
