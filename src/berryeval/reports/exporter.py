"""What an exporter is: a report in, files out; it writes nothing itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    from berryeval.reports.model import Report

__all__ = ["Exporter", "Home", "OutputFile", "one_file"]

Home: TypeAlias = Literal["stdout", "run folder", "eval folder"]


@dataclass(frozen=True)
class OutputFile:
    """A file to be written.

    Attributes:
        name: what it is called unless the user says otherwise.
        text: its content.
        part: what tells it from the other files of the same report; empty if it is the only one.
    """

    name: str
    text: str
    part: str = ""


@dataclass(frozen=True)
class Exporter:
    """A format of reports.

    Attributes:
        summary: what it writes, in a few words.
        endings: of the files it writes; the first is its own.
        files: makes the files of a report; the text is the user's label, or empty.
        home: where the files go if nobody says where.
        publish: where nobody says where, this is tried first: it hands the report to where it is
            shown, and returns what is left to be printed; None if there is no such place.
    """

    summary: str
    endings: tuple[str, ...]
    files: Callable[[Report, str], list[OutputFile]]
    home: Home = "stdout"
    publish: Callable[[Report], str | None] | None = None


def one_file(
    name: str, render: Callable[[Report], str]
) -> Callable[[Report, str], list[OutputFile]]:
    """What makes the single file of a report, named after the label if there is one."""

    def files(report: Report, label: str) -> list[OutputFile]:
        from pathlib import Path

        from berryeval.io.file_names import safe_name

        called = f"{safe_name(label)}{Path(name).suffix}" if label else name
        return [OutputFile(called, render(report))]

    return files
