"""Verbosity, log lines and progress bars; everything here goes to stderr."""

from __future__ import annotations

import logging
import os
import sys
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval._internal.text import NOTE
from berryeval.cli.output import UNBROKEN
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console
    from rich.progress import Progress, TaskID

    from berryeval.runner import Ranking
    from berryeval.workflows import Listener


QUIET: Final = "--quiet"
VERBOSE: Final = "--verbose"
_FLAGS: Final = {QUIET: QUIET, "-q": QUIET, VERBOSE: VERBOSE, "-v": VERBOSE}
# Flags that a command reads itself; those of trec-eval are trec_eval's.
_OWN: Final = {"eval": (QUIET, VERBOSE), "report": (QUIET,)}
_UNTOUCHED: Final = ("trec-eval",)

LOG_VARIABLE: Final = "BERRYEVAL_LOG"
_LEVELS: Final = ("debug", "info", "warning", "error")
_MAX_BARS: Final = 8


class Verbosity(NamedTuple):
    """How much a command prints besides its result and errors."""

    quiet: bool = False
    verbose: bool = False


_DEFAULT: Final = Verbosity()
_asked: ContextVar[Verbosity] = ContextVar("verbosity", default=_DEFAULT)


def is_quiet() -> bool:
    """Return whether the command leaves out warnings and hints."""
    return _asked.get().quiet


def is_verbose() -> bool:
    """Return whether the command shows log lines."""
    return _asked.get().verbose


def drop_verbosity(tokens: Sequence[str]) -> list[str]:
    """Return the tokens without the flags, which may come before the command or inside its name."""
    end = tokens.index("--") if "--" in tokens else len(tokens)
    return [*(token for token in tokens[:end] if token not in _FLAGS), *tokens[end:]]


def take_verbosity(command: str, tokens: Sequence[str]) -> tuple[list[str], Verbosity]:
    """Split the tokens into those of the command and the verbosity that they ask for.

    A command that reads the flags itself keeps them, including those that came before its name.
    """
    first = next((place for place, one in enumerate(tokens) if one not in _FLAGS), len(tokens))
    ahead, rest = tokens[:first], list(tokens[first:])
    end = rest.index("--") if "--" in rest else len(rest)
    inside = [] if command in _UNTOUCHED else rest[:end]
    given = {_FLAGS[token] for token in (*ahead, *inside) if token in _FLAGS}
    asked = Verbosity(QUIET in given, VERBOSE in given)
    if not inside:
        return rest, asked
    own = _OWN.get(command, ())
    kept = [token for token in inside if token not in _FLAGS or _FLAGS[token] in own]
    here = {_FLAGS.get(token) for token in kept}
    moved = [flag for flag in own if flag in given and flag not in here]
    return [*kept, *moved, *rest[end:]], asked


@contextmanager
def use_verbosity(command: str, asked: Verbosity) -> Iterator[None]:
    """Show log lines as asked while a command runs; `eval` shows its own."""
    if asked.quiet and asked.verbose:
        msg = f"choose one of {QUIET} and {VERBOSE}"
        raise ConfigurationError(msg)
    if asked == _DEFAULT or command == "eval":
        yield
        return

    before = _asked.set(asked)
    try:
        with log_lines(error_screen(), log_level(quiet=asked.quiet, verbose=asked.verbose)):
            yield
    finally:
        _asked.reset(before)


def error_screen() -> Console:
    """Return the screen for progress and log lines; a file or pipe gets unbroken lines."""
    from berryeval.cli.output import SafeScreen, safe_screen

    on_terminal = sys.stderr is not None and sys.stderr.isatty()
    return safe_screen(SafeScreen, file=sys.stderr, width=None if on_terminal else UNBROKEN)


def log_level(*, quiet: bool = False, verbose: bool = False) -> int:
    """Return the lowest level to show: notes, unless a flag or `BERRYEVAL_LOG` says otherwise."""
    quiet, verbose = quiet or is_quiet(), verbose or is_verbose()
    if quiet and verbose:
        msg = f"choose one of {QUIET} and {VERBOSE}"
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
    lines, nothing, before = _Lines(screen), logging.NullHandler(), ours.level
    ours.addHandler(lines)
    ours.setLevel(level)
    # The first warning of any package gives a root logger without handlers one of its own, which
    # then shows the lines of all packages.
    root.addHandler(nothing)
    try:
        yield
    finally:
        root.removeHandler(nothing)
        ours.removeHandler(lines)
        ours.setLevel(before)


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

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        for task in self._progress.task_ids[: 1 - _MAX_BARS]:
            self._progress.remove_task(task)
        self._task = self._progress.add_task(
            f"{provider} on {benchmark}", total=total, completed=done
        )

    def answered(self, ranking: Ranking) -> None:  # noqa: ARG002 - a bar only counts
        if self._task is not None:
            self._progress.advance(self._task)

    def end(self) -> None:
        if self._task is not None:
            self._progress.stop_task(self._task)
        self._task = None
