"""`--quiet` and `--verbose`, which every command takes."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Wordiness", "is_quiet", "is_verbose", "take_wordiness", "without_wordiness", "worded"]

QUIET: Final = "--quiet"
VERBOSE: Final = "--verbose"
_FLAGS: Final = (QUIET, VERBOSE)
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


def without_wordiness(tokens: Sequence[str]) -> list[str]:
    """The tokens without the two flags, which may stand before the command, or within its name."""
    end = tokens.index("--") if "--" in tokens else len(tokens)
    return [*(token for token in tokens[:end] if token not in _FLAGS), *tokens[end:]]


def take_wordiness(command: str, tokens: Sequence[str]) -> tuple[list[str], Wordiness]:
    """The tokens without the two flags, and what they say.

    A command that reads them by itself is given them, also those that stood before it.
    """
    first = next((place for place, one in enumerate(tokens) if one not in _FLAGS), len(tokens))
    ahead, rest = tokens[:first], list(tokens[first:])
    end = rest.index("--") if "--" in rest else len(rest)
    looked_at = [] if command in _UNTOUCHED else rest[:end]
    given = {flag for flag in _FLAGS if flag in ahead or flag in looked_at}
    if not looked_at:
        return rest, Wordiness(QUIET in given, VERBOSE in given)
    own = _OWN.get(command, ())
    kept = [token for token in looked_at if token in own or token not in given]
    moved = [flag for flag in own if flag in ahead and flag not in kept]
    return [*kept, *moved, *rest[end:]], Wordiness(QUIET in given, VERBOSE in given)


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
