"""How a command that fails says so: a line for people, and with `--json` one for machines too."""

from __future__ import annotations

import contextlib
import os
import re
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.errors import BerryEvalError
from berryeval.io.visible import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cyclopts import App

__all__ = ["Failures", "abandon_stdout"]


@dataclass(frozen=True)
class Failures:
    """What to do with the failure of one command line.

    Attributes:
        command: the name of the command; "" if the line names none.
        json: whether it was to print JSON.
        debug: whether to show where an error came from.
    """

    command: str
    json: bool
    debug: bool

    @classmethod
    def of(cls, app: App, tokens: Sequence[str], *, debug: bool) -> Failures:
        """Those of a command line."""
        _, apps, rest = app.parse_commands(tokens)
        command = " ".join(one.name[0] for one in apps[1:])
        options = rest[: rest.index("--")] if "--" in rest else rest
        return cls(command, "--json" in options and command != "trec-eval", debug)

    def say(self, error: Exception, code: int, *, kind: str = "", hint: str = "") -> int:
        """Say what went wrong; the exit code is returned as it is."""
        if self.debug:
            import traceback

            _say("".join(traceback.format_exception(error)).rstrip())
        message = " ".join(str(error).split()) or type(error).__name__
        self._say_as_json(kind or _kind(error), message)
        _say(f"error: {message}{f' ({hint})' if hint else ''}")
        return code

    def say_interrupted(self, message: str, code: int) -> int:
        """Say that somebody wanted the command to end."""
        self._say_as_json("interrupted", message)
        _say(message)
        return code

    def _say_as_json(self, kind: str, message: str) -> None:
        if not self.json or sys.stdout is None:
            return
        from berryeval.cli.output import print_json_error

        try:
            print_json_error(self.command, kind, message)
            sys.stdout.flush()
        except OSError:  # the other line and the exit code say it too
            abandon_stdout()


def _kind(error: Exception) -> str:
    """Our errors by their names: `ConfigurationError` is "configuration"."""
    if isinstance(error, BerryEvalError):
        name = type(error).__name__.removesuffix("Error")
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
    return "system" if isinstance(error, OSError) else "bug"


def _say(text: str) -> None:
    """Write to stderr, if there is one that can be written to: the exit code speaks for itself."""
    if sys.stderr is not None:
        with contextlib.suppress(OSError):
            print(visible(text), file=sys.stderr, flush=True)


def abandon_stdout() -> None:
    """Point stdout to nowhere, or Python would complain once more when it closes it."""
    with contextlib.suppress(OSError, ValueError):  # it may be no file at all
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
