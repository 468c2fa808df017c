"""The files of `berryeval gate`, and what it tells GitHub."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from berryeval.cli.to_stdout import STDOUT, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from berryeval.reports import Report

__all__ = ["asked_formats", "publish_on_github", "write_files"]

ON_GITHUB: Final = "GITHUB_ACTIONS"  # "true" in every step of a workflow


def asked_formats(export: list[str] | None, output: str | None) -> list[str]:
    """The formats to write, all of them known."""
    from berryeval.errors import ConfigurationError
    from berryeval.measures.listing import split_names
    from berryeval.reports.table import EXPORTERS

    names = list(dict.fromkeys(split_names(export or [])))
    if output and not names:
        msg = "--output is where --export writes to; say what: --export junit markdown"
        raise ConfigurationError(msg)
    for name in names:
        EXPORTERS.get(name)
    if output == STDOUT and len(names) > 1:
        msg = f"{' and '.join(names)} would both go to stdout; give a folder with --output"
        raise ConfigurationError(msg)
    return names


def write_files(report: Report, formats: Sequence[str], folder: Path | str) -> list[dict[str, str]]:
    """Write the run and its verdicts in these formats, into one folder, or as text for stdout."""
    from berryeval.reports.write import write_in_format

    if folder == STDOUT:
        return [{"format": name, "text": text_of(report, name)} for name in formats]
    return [
        {"format": name, "path": str(path)}
        for name in formats
        for path in write_in_format(report, name, f"{folder}{os.sep}")
    ]


def publish_on_github(report: Report, *, quietly: bool) -> None:
    """In a step of a workflow: add to its summary, and print notes about what failed.

    Args:
        report: the run with its verdicts.
        quietly: stdout is for something else; the runner reads stderr as well.
    """
    if os.environ.get(ON_GITHUB) != "true":
        return
    from berryeval.reports.github import publish, render

    text = publish(report)
    print(
        render(report) if text is None else text,
        end="",
        file=sys.stderr if quietly else sys.stdout,
        flush=True,
    )
