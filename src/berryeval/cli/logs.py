"""Log lines and progress bars, on stderr."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from berryeval._internal.text import NOTE, escape_line
from berryeval.cli.app import QUIET, VERBOSE, is_quiet, is_verbose
from berryeval.cli.output import UNBROKEN
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID

    from berryeval.runner import Ranking
    from berryeval.workflows import Listener


LOG_VARIABLE: Final = "BERRYEVAL_LOG"
_LEVELS: Final = ("debug", "info", "warning", "error")
_PACKAGE: Final = Path(__file__).parents[1]
_MAX_BARS: Final = 8
_EXAMPLES: Final = 2  # after the first of warnings that are alike


def error_screen() -> Console:
    """Return the screen for progress and log lines; a file or pipe gets unbroken lines."""
    from berryeval.cli.output import safe_screen

    return safe_screen(file=sys.stderr, width=None if sys.stderr.isatty() else UNBROKEN)


def log_level(*, quiet: bool = False, verbose: bool = False) -> int:
    """Return the lowest level to show: notes, unless a flag or `BERRYEVAL_LOG` says otherwise."""
    quiet, verbose = quiet or is_quiet(), verbose or is_verbose()
    if quiet and verbose:
        raise ConfigurationError(f"choose one of {QUIET} and {VERBOSE}")
    if quiet or verbose:
        return logging.ERROR if quiet else logging.DEBUG
    asked = os.environ.get(LOG_VARIABLE, "").strip().lower()
    if not asked:
        return NOTE
    if asked not in _LEVELS:
        raise ConfigurationError(
            f"{LOG_VARIABLE} must be one of {', '.join(_LEVELS)}; found {asked!r}"
        )
    return int(getattr(logging, asked.upper()))


class _Lines(logging.Handler):
    """A handler that prints a line per record, above a progress bar if there is one.

    Equal warnings about many queries of one provider become one line, unless all are asked for.
    """

    def __init__(self, screen: Console, *, collect: bool) -> None:
        super().__init__()
        self._screen = screen
        self._collect = collect
        self._held: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if self._held and _kind(self._held[0]) != _kind(record):
            self.flush()
        self._held.append(record)
        if not (self._collect and hasattr(record, "provider")):
            self.flush()

    def flush(self) -> None:
        """Print the records held back: the first, and the number of the others."""
        if not self._held:
            return
        first, *others = self._held
        self._held = []
        about = f"{first.provider}: " if hasattr(first, "provider") else ""
        named = ", ".join(
            str(one.args[0]) for one in others[:_EXAMPLES] if isinstance(one.args, tuple)
        )
        more = f"{named}, …" if len(others) > _EXAMPLES else named
        rest = f" (and {len(others):,} more like it: {more})" if others else ""
        self._screen.print(f"{first.levelname.lower()}: {about}{first.getMessage()}{rest}")


def _kind(record: logging.LogRecord) -> tuple[str, str, str]:
    return record.levelname, str(record.msg), getattr(record, "provider", "")


@contextmanager
def log_lines(screen: Console, level: int) -> Iterator[None]:
    """Show the log lines of berryeval on a screen, and those of no other package."""
    ours, root = logging.getLogger("berryeval"), logging.getLogger()
    if any(isinstance(one, _Lines) for one in ours.handlers):  # an outer block shows them
        yield
        return
    lines = _Lines(screen, collect=level > logging.DEBUG)
    nothing, before = logging.NullHandler(), ours.level
    ours.addHandler(lines)
    ours.setLevel(level)
    # The first warning of any package gives a root logger without handlers one of its own, which
    # then shows the lines of all packages.
    root.addHandler(nothing)
    try:
        with _warnings_as_lines(ours):
            yield
    finally:
        lines.flush()
        root.removeHandler(nothing)
        ours.removeHandler(lines)
        ours.setLevel(before)


def flush_lines() -> None:
    """Print the warnings held back, before other output follows."""
    for handler in logging.getLogger("berryeval").handlers:
        handler.flush()


@contextmanager
def _warnings_as_lines(log: logging.Logger) -> Iterator[None]:
    """Show warnings that our own code raises as log lines, without their place in the code."""
    before = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if Path(filename).is_relative_to(_PACKAGE) and file is None:
            log.warning("%s", message)
        else:
            before(message, category, filename, lineno, file, line)

    warnings.showwarning = show
    try:
        yield
    finally:
        warnings.showwarning = before


@contextmanager
def progress_on(screen: Console, *, hidden: bool = False) -> Iterator[Listener | None]:
    """Show a progress bar per provider; yields None unless the screen is a terminal."""
    if hidden or not screen.is_terminal:
        yield None
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        MofNCompleteColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(compact=True),
        TimeElapsedColumn(),
        console=screen,
        transient=True,
    ) as progress:
        yield _Bars(progress)


class _Bars:
    """A listener that advances one bar per provider."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None
        self._name = ""
        self._index: TaskID | None = None

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        for task in self._progress.task_ids[: 1 - _MAX_BARS]:
            self._progress.remove_task(task)
        self._name = escape_line(f"{provider} on {benchmark}")
        self._task = self._progress.add_task(self._name, total=total, completed=done)

    def indexing(self, done: int, total: int) -> None:
        if self._index is None:
            self._index = self._progress.add_task(f"{self._name}: indexing chunks", total=total)
        self._progress.update(self._index, completed=done)

    def _end_indexing(self) -> None:
        if self._index is not None:
            self._progress.remove_task(self._index)
            self._index = None

    def answered(self, ranking: Ranking) -> None:  # noqa: ARG002 - a bar only counts
        self._end_indexing()
        if self._task is not None:
            self._progress.advance(self._task)

    def end(self) -> None:
        self._end_indexing()
        if self._task is not None:
            self._progress.stop_task(self._task)
        self._task = None
