"""Log lines on stderr: ours, and only as many as were asked for."""

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
    moved = [flag for flag in own if flag in given and not any(_is(one, flag) for one in kept)]
    return [*kept, *moved, *rest[end:]], asked


def _is(token: str, flag: str) -> bool:
    return _FLAGS.get(token) == flag


@contextmanager
def use_verbosity(command: str, asked: Verbosity) -> Iterator[None]:
    """Show as many log lines as were asked for while a command runs; `eval` shows its own."""
    if asked.quiet and asked.verbose:
        msg = f"choose one of {QUIET} and {VERBOSE}"
        raise ConfigurationError(msg)
    if asked == Verbosity() or command == "eval":
        yield
        return

    before = _asked.set(asked)
    try:
        with log_lines(error_screen(), log_level(quiet=asked.quiet, verbose=asked.verbose)):
            yield
    finally:
        _asked.reset(before)


LOG_VARIABLE: Final = "BERRYEVAL_LOG"
_LEVELS: Final = ("debug", "info", "warning", "error")


def error_screen() -> Console:
    """Where progress and log lines go; in a file or pipe no line is broken."""
    from berryeval.cli.output import SafeScreen, safe_screen

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


# A progress bar per provider, with the time that is left, on stderr and only on a terminal.

_MOST: Final = 8  # bars at once


@contextmanager
def progress_on(screen: Console, *, hidden: bool = False) -> Iterator[Listener | None]:
    """What shows how a run goes on; nothing does where nobody looks."""
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
    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._task: TaskID | None = None

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        for task in self._progress.task_ids[: 1 - _MOST]:
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
