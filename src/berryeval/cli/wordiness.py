"""`--quiet` and `--verbose`, which every command takes."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Wordiness", "is_quiet", "is_verbose", "take_wordiness", "worded"]

QUIET: Final = "--quiet"
VERBOSE: Final = "--verbose"
# What a command reads by itself; trec_eval's flags are trec_eval's.
_OWN: Final = {"eval": (QUIET, VERBOSE), "report": (QUIET,)}
_UNTOUCHED: Final = ("trec-eval",)


class Wordiness(NamedTuple):
    """How much a command says besides its result and errors."""

    quiet: bool = False
    verbose: bool = False


_NOTHING: Final = Wordiness()
_asked: ContextVar[Wordiness] = ContextVar("wordiness", default=_NOTHING)


def is_quiet() -> bool:
    """Whether the command is to leave out warnings and hints."""
    return _asked.get().quiet


def is_verbose() -> bool:
    """Whether the command is to show log lines."""
    return _asked.get().verbose


def take_wordiness(command: str, tokens: Sequence[str]) -> tuple[list[str], Wordiness]:
    """The tokens without the two flags, unless the command reads them; and what they say."""
    if command in _UNTOUCHED:
        return list(tokens), Wordiness()
    end = tokens.index("--") if "--" in tokens else len(tokens)
    given = {flag for flag in (QUIET, VERBOSE) if flag in tokens[:end]}
    taken = given - set(_OWN.get(command, ()))
    kept = [token for token in tokens[:end] if token not in taken]
    return [*kept, *tokens[end:]], Wordiness(QUIET in given, VERBOSE in given)


@contextmanager
def worded(command: str, asked: Wordiness) -> Iterator[None]:
    """Show as many log lines as were asked for while a command runs; `eval` shows its own."""
    if asked.quiet and asked.verbose:
        msg = f"choose one of {QUIET} and {VERBOSE}"
        raise ConfigurationError(msg)
    if asked == Wordiness() or command == "eval":
        yield
        return
    from berryeval.cli.logs import error_screen, log_level, log_lines

    before = _asked.set(asked)
    try:
        with log_lines(error_screen(), log_level(quiet=asked.quiet, verbose=asked.verbose)):
            yield
    finally:
        _asked.reset(before)
