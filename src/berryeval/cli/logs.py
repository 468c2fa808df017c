"""Log lines and progress bars, on stderr."""

from __future__ import annotations

import logging
import os
import sys
import time
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
_SHORT: Final = 1.0  # seconds of a job without a bar


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
    """A handler that prints a line per record, above a progress bar if there is one."""

    def __init__(self, screen: Console) -> None:
        super().__init__()
        self._screen = screen

    def emit(self, record: logging.LogRecord) -> None:
        self._screen.print(f"{record.levelname.lower()}: {record.getMessage()}")


@contextmanager
def log_lines(screen: Console, level: int) -> Iterator[None]:
    """Show the log lines of berryeval on a screen, and those of no other package."""
    ours, root = logging.getLogger("berryeval"), logging.getLogger()
    if any(isinstance(one, _Lines) for one in ours.handlers):  # an outer block shows them
        yield
        return
    lines = _Lines(screen)
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
        root.removeHandler(nothing)
        ours.removeHandler(lines)
        ours.setLevel(before)


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


@contextmanager
def rows_on(screen: Console, *, hidden: bool = False, quiet: bool = False) -> Iterator[RowBar]:
    """Show how far the scoring of a large run is, with rows per second and the time left."""
    bar = RowBar(screen, hidden=hidden or not screen.is_terminal, quiet=quiet)
    try:
        yield bar
    finally:
        bar.stop()


class RowBar:
    """A follower with a bar, which appears if the job takes longer than a second."""

    def __init__(self, screen: Console, *, hidden: bool, quiet: bool) -> None:
        self._screen = screen
        self._hidden = hidden
        self._quiet = quiet
        self._start = time.monotonic()
        self._progress: Progress | None = None

    def advance(self, rows: int, fraction: float) -> None:
        """Show the rows so far and the fraction of the run."""
        spent = time.monotonic() - self._start
        if self._hidden or spent < _SHORT:
            return
        if self._progress is None:
            self._progress = _build_bar(self._screen)
            self._progress.start()
            self._progress.add_task("scoring", total=1.0, rate="", left="")
        left = spent * (1 - fraction) / fraction if fraction > 0 else 0.0
        self._progress.update(
            self._progress.task_ids[0],
            completed=fraction,
            rate=f"{rows / 1e6:,.1f} million rows, {rows / spent:,.0f} rows/s",
            left=f"{left:.0f} s left" if fraction > 0 else "",
        )

    def say(self, text: str) -> None:
        """Print a warning."""
        if not self._quiet:
            self._screen.print(f"warning: {text}")

    def stop(self) -> None:
        """Remove the bar."""
        if self._progress is not None:
            self._progress.stop()


def _build_bar(screen: Console) -> Progress:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    return Progress(
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}", markup=False),
        TextColumn("{task.fields[left]}", markup=False),
        console=screen,
        transient=True,
    )
