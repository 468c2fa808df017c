"""What commands print: one envelope for machines, one kind of screen for people."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any, Final

from berryeval.io.visible import visible

if TYPE_CHECKING:
    from rich.console import Console

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
    from berryeval.cli.screens import OutputScreen, safe_screen

    return safe_screen(OutputScreen, width=None if sys.stdout.isatty() else UNBROKEN)


def print_document(text: str) -> None:
    """Print in UTF-8, whatever the terminal is set to: it is what files say of themselves."""
    if sys.stdout is not None:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode(errors="backslashreplace"))
        sys.stdout.buffer.flush()
