"""What commands print: one JSON envelope, and screens and tables for people."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

from rich.console import Console
from rich.segment import Segment

from berryeval._internal.text import (
    escape_commands,
    escape_controls,
    escape_json_commands,
    escape_line,
)

if TYPE_CHECKING:
    from rich.console import ConsoleOptions, RenderableType
    from rich.table import Table
    from rich.text import Text

    from berryeval.reports import OutputFile, Report


SCHEMA_VERSION = 1
UNBROKEN: Final = 10_000  # columns of an output that is not a terminal
_NAMED: Final = 3  # files in a message


def print_json(command: str, data: dict[str, Any]) -> None:
    """Print `data` in the envelope of every `--json`, in ASCII, which any stdout can encode."""
    _print_envelope(command, data=data)


def print_json_error(command: str, kind: str, message: str) -> None:
    """Print an error in the same envelope."""
    _print_envelope(command, error={"kind": kind, "message": message})


def _print_envelope(command: str, **content: dict[str, Any]) -> None:
    whole = {"schema_version": SCHEMA_VERSION, "command": command, **content}
    print(escape_json_commands(json.dumps(whole, indent=2)))


def print_document(text: str, format: str = "") -> None:  # noqa: A002 - its name
    """Print a report in UTF-8, the encoding it declares, whatever the terminal uses.

    Only the format "github" holds commands that the log of a CI system may run.
    """
    if format == "json":
        text = escape_json_commands(text)
    elif format != "github":
        text = escape_commands("\r\n".join(map(escape_controls, text.split("\r\n"))))
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
    sys.stdout.buffer.flush()


def print_line(text: str, file: TextIO | None = None) -> None:
    """Print a text with names of others on one line, to stdout or another stream."""
    print(escape_line(text), file=file or sys.stdout, flush=True)


class SafeScreen(Console):
    """A screen that escapes control characters and commands of CI systems in texts.

    A `str` is one line or one cell; what has several lines is printed by `print_indented`.
    """

    def render_str(self, text: str, **options: Any) -> Text:
        """Escape a text before its width is measured."""
        return super().render_str(escape_line(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Escape texts that were built elsewhere, and the beginnings of wrapped lines."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(_escape_segment(text), style)


def _escape_segment(text: str) -> str:
    return text if text.isspace() else escape_commands(escape_controls(text))


def safe_screen(**options: Any) -> SafeScreen:
    """Build a screen that prints texts literally, without markup."""
    return SafeScreen(markup=False, highlight=False, emoji=False, soft_wrap=True, **options)


def console() -> Console:
    """Return the screen of stdout: as wide as the terminal, unbroken in a file or pipe."""
    return safe_screen(width=None if sys.stdout.isatty() else UNBROKEN)


def print_indented(screen: Console, text: str, indent: int, *, style: str = "") -> None:
    """Print a text with all its lines indented."""
    from rich.padding import Padding
    from rich.text import Text

    padded = Padding(Text(escape_controls(text), style=style), (0, 0, 0, indent), expand=False)
    screen.print(padded, soft_wrap=False)


def build_table(
    titles: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[str] = ()
) -> Table:
    """Build a table without borders, and without a header if all titles are empty."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, show_header=any(titles))
    for title in titles:
        table.add_column(title, justify="right" if title in right else "left", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def build_files(report: Report, name: str, label: str = "", *, to_stdout: bool) -> list[OutputFile]:
    """Build the files of a format; stdout takes only one."""
    from berryeval.errors import ConfigurationError
    from berryeval.reports import EXPORTERS

    files = EXPORTERS.get(name).files(report, label)
    if len(files) > 1 and to_stdout:
        parts = ", ".join(file.name for file in files[:_NAMED])
        more = ", ..." if len(files) > _NAMED else ""
        raise ConfigurationError(
            f"{name} makes {len(files)} files ({parts}{more}); give a folder with --output"
        )
    return files


def render_text(report: Report, name: str) -> str:
    """Render a report as text, in a format that makes only one file."""
    (file,) = build_files(report, name, to_stdout=True)
    return file.text
