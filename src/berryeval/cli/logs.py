"""Log lines on stderr: ours, and only as many as were asked for."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from berryeval.cli.output import UNBROKEN
from berryeval.cli.wordiness import is_quiet, is_verbose
from berryeval.errors import ConfigurationError
from berryeval.pipeline.log_lines import NOTE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

__all__ = ["LOG_VARIABLE", "error_screen", "log_level", "log_lines"]

LOG_VARIABLE: Final = "BERRYEVAL_LOG"
_LEVELS: Final = ("debug", "info", "warning", "error")


def error_screen() -> Console:
    """Where progress and log lines go; in a file or pipe no line is broken."""
    from berryeval.cli.screens import SafeScreen, safe_screen

    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    return safe_screen(SafeScreen, file=sys.stderr, width=None if on_terminal else UNBROKEN)


def log_level(*, quiet: bool, verbose: bool) -> int:
    """Which lines to show: notes and what is worse, unless a flag or `BERRYEVAL_LOG` says more."""
    quiet, verbose = quiet or is_quiet(), verbose or is_verbose()
    if quiet and verbose:
        msg = "choose one of --quiet and --verbose"
        raise ConfigurationError(msg)
    if quiet or verbose:
        return logging.ERROR if quiet else logging.DEBUG
    asked = os.environ.get(LOG_VARIABLE, "").strip().lower()
    if not asked:
        return NOTE
    if asked not in _LEVELS:
        msg = f"{LOG_VARIABLE} must be one of {', '.join(_LEVELS)}; found {asked!r}"
        raise ConfigurationError(msg)
    return int(getattr(logging, asked.upper()))


class _Lines(logging.Handler):
    """Writes a line per record, above a progress bar if there is one."""

    def __init__(self, screen: Console) -> None:
        super().__init__()
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        self._screen.print(f"{record.levelname.lower()}: {record.getMessage()}")


@contextmanager
def log_lines(screen: Console, level: int) -> Iterator[None]:
    """Show our log lines there for a while, and those of nobody else."""
    ours, all_of_them = logging.getLogger("berryeval"), logging.getLogger()
    if any(isinstance(one, _Lines) for one in ours.handlers):  # they are shown already
        yield
        return
    lines, nothing, before = _Lines(screen), logging.NullHandler(), ours.level
    ours.addHandler(lines)
    ours.setLevel(level)
    # A root without handlers is given one, and then shows the chatter of every package, as soon as
    # any of them logs a warning.
    all_of_them.addHandler(nothing)
    try:
        yield
    finally:
        all_of_them.removeHandler(nothing)
        ours.removeHandler(lines)
        ours.setLevel(before)
