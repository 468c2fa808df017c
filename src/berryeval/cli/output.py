"""What commands print: one envelope for machines, one kind of screen for people."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.segment import Segment

from berryeval._internal.text import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType
    from rich.text import Text

    from berryeval.reports import OutputFile, Report


SCHEMA_VERSION = 1
UNBROKEN: Final = 10_000  # columns, where no terminal says how many there are


def print_json(command: str, data: dict[str, Any]) -> None:
    """Print `data` in the envelope that every `--json` shares, in ASCII: any stdout takes it."""
    envelope = {"schema_version": SCHEMA_VERSION, "command": command, "data": data}
    print(json.dumps(envelope, indent=2))


def print_json_error(command: str, kind: str, message: str) -> None:
    """Print what went wrong, instead of data, in the same envelope."""
    error = {"kind": kind, "message": message}
    envelope = {"schema_version": SCHEMA_VERSION, "command": command, "error": error}
    print(json.dumps(envelope, indent=2))


def print_indented(screen: Console, text: str, indent: int, *, style: str = "") -> None:
    """Print a text whose lines all begin under its first."""
    from rich.padding import Padding
    from rich.text import Text

    padded = Padding(Text(visible(text), style=style), (0, 0, 0, indent), expand=False)
    screen.print(padded, soft_wrap=False)


def console() -> Console:
    """Where tables go: as wide as the terminal, or as they need in a file or pipe."""
    return safe_screen(OutputScreen, width=None if sys.stdout.isatty() else UNBROKEN)


def print_document(text: str) -> None:
    """Print in UTF-8, whatever the terminal is set to: it is what files say of themselves."""
    if sys.stdout is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
        sys.stdout.buffer.flush()


# Where tables and lines go; whatever data says, it cannot steer the terminal.


class SafeScreen(Console):
    """One that shows control characters of texts as escapes; its own still work."""

    def render_str(self, text: str, **options: Any) -> Text:
        """A text, with escapes before its width is measured."""
        return super().render_str(visible(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """What is written, also of texts that were made elsewhere."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(visible(text), style)


class OutputScreen(SafeScreen):
    """One that leaves it to the command to end when its reader has gone."""

    def on_broken_pipe(self) -> None:
        """Say so."""
        raise BrokenPipeError


def safe_screen(kind: type[SafeScreen], **options: Any) -> SafeScreen:
    """A screen that takes texts as they are."""
    return kind(markup=False, highlight=False, emoji=False, soft_wrap=True, **options)


_NAMED: Final = 3  # files in a message


def files_of(made: Report, name: str, label: str = "", *, to_stdout: bool) -> list[OutputFile]:
    """The files of a format; several of them do not go to stdout."""
    from berryeval.errors import ConfigurationError
    from berryeval.reports import EXPORTERS

    files = EXPORTERS.get(name).files(made, label)
    if len(files) > 1 and to_stdout:
        parts = ", ".join(file.name for file in files[:_NAMED])
        more = ", ..." if len(files) > _NAMED else ""
        msg = f"{name} makes {len(files)} files ({parts}{more}); give a folder with --output"
        raise ConfigurationError(msg)
    return files


def text_of(made: Report, name: str) -> str:
    """The report as one text, in a format that makes only one file."""
    (file,) = files_of(made, name, to_stdout=True)
    return file.text
