"""The command `berryeval`: the table of commands, and the one place where errors become exit codes.

    0  passed
    1  quality failed
    2  wrong usage or configuration
    3  the run failed
  130  interrupted
  143  terminated

Commands are imported when they are called, so that `--help` stays fast.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import signal
import sys
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TYPE_CHECKING, Final

from cyclopts import App, CycloptsError

from berryeval import __version__
from berryeval._internal.text import visible
from berryeval.cli.logs import Verbosity, drop_verbosity, take_verbosity, use_verbosity
from berryeval.errors import BerryEvalError, RunFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence


# How a command that fails says so: a line for people, and with `--json` one for machines too.


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


# SIGTERM, which ends a command as Ctrl-C does: what was done is kept, and said.


@contextmanager
def terminable() -> Iterator[Callable[[], bool]]:
    """Hear SIGTERM for a while, unless somebody else does; gives whether it came."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield lambda: False
        return
    came: list[int] = []

    def end(number: int, _: object) -> None:
        came.append(number)
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a shell
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # event loops have their own way with it

    signal.signal(signal.SIGTERM, end)
    try:
        yield lambda: bool(came)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


EXIT_PASSED: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_RUN_FAILED: Final = 3
EXIT_INTERRUPTED: Final = 130
EXIT_TERMINATED: Final = 143

DEBUG_FLAG = "--debug"


def build_app() -> App:
    """The command tree; a new command is one line here and one thin file beside this one."""
    app = App(
        name="berryeval",
        help="Evaluate retrieval: exact metrics, fast.",
        help_epilogue=(
            "Exit codes: 0 passed, 1 quality failed, 2 wrong usage or configuration, "
            "3 the run failed. Any command takes --quiet (no warnings and hints), --verbose (log "
            f"lines), and {DEBUG_FLAG} to show where an error came from."
        ),
        help_format="plaintext",
        version=__version__,
    )
    app.command(
        "berryeval.cli.eval:evaluate",
        name=["eval", "evaluate"],
        help="Run providers on benchmarks, score them, and print the table.",
    )
    app.command(
        "berryeval.cli.gate:gate", help="Judge a run by thresholds, and against a baseline."
    )
    app.command("berryeval.cli.compare:compare", help="Compare runs: is the difference real?")
    app.command(_baselines())
    app.command("berryeval.cli.init:init", help="Write a starting berryeval.yaml.")
    app.command("berryeval.cli.score:score", help="Score a run against judgments.")
    app.command("berryeval.cli.report:report", help="Write runs as a report, in any format.")
    app.command(_lists())
    app.command(_runs())
    app.command("berryeval.cli.validate:validate", help="Check a benchmark for faults.")
    app.command("berryeval.cli.inspect:inspect", help="Show what is in a benchmark.")
    app.command("berryeval.cli.version:version", help="Show versions and the backend in use.")
    app.command(
        "berryeval.cli.trec_eval:trec_eval",
        name="trec-eval",
        help="Score a run with the flags, the output and the exit codes of trec_eval.",
        help_flags=[],  # the command reads its own flags, as trec_eval does
        version_flags=[],
        end_of_options_delimiter="",
    )
    return app


def _baselines() -> App:
    """The commands of `berryeval baseline`."""
    baselines = App(name="baseline", help="The run to compare with.", help_format="plaintext")
    baselines.command("berryeval.cli.baseline:set_baseline", name="set", help="Keep a run as it.")
    baselines.command("berryeval.cli.baseline:show", help="Show what it holds.")
    baselines.command("berryeval.cli.baseline:diff", help="Show how a run differs from it.")
    return baselines


def _lists() -> App:
    """The commands of `berryeval list`."""
    lists = App(name="list", help="Show what there is.", help_format="plaintext")
    lists.command("berryeval.cli.list:chunkers", help="Show every chunker.")
    lists.command("berryeval.cli.list:providers", help="Show every provider.")
    lists.command("berryeval.cli.list:metrics", help="Show every metric.")
    lists.command("berryeval.cli.list:benchmarks", help="Show the bundled benchmarks.")
    lists.command("berryeval.cli.list:formats", help="Show the formats of benchmarks.")
    lists.command("berryeval.cli.list:exporters", help="Show the formats of reports.")
    return lists


def _runs() -> App:
    """The commands of `berryeval runs`."""
    runs = App(name="runs", help="Work with past runs.", help_format="plaintext")
    runs.command("berryeval.cli.runs_list:list_runs", name="list", help="Show past runs.")
    runs.command("berryeval.cli.runs_list:show", help="Show one run as eval printed it.")
    runs.command("berryeval.cli.runs_trend:trend", help="Show a metric over time.")
    runs.command("berryeval.cli.runs_files:export", help="Write runs to files.")
    runs.command("berryeval.cli.runs_files:import_", name="import", help="Put runs into the store.")
    runs.command("berryeval.cli.runs_files:prune", help="Forget old runs.")
    runs.command(
        "berryeval.cli.runs_rescore:rescore",
        help="Score a run with other metrics or judgments, without searching again.",
    )
    return runs


def run(app: App, arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; an error is one line on stderr.

    With `--json` it is also an envelope on stdout, with its kind and message.
    """
    _take_every_character()
    tokens, debug = _take_debug(arguments)
    app.suppress_keyboard_interrupt = False  # or it would exit by itself, without a word
    failures = Failures.of(app, drop_verbosity(tokens), debug=debug)
    tokens, verbosity = take_verbosity(failures.command, tokens)
    with terminable() as terminated:
        try:
            return _run(app, tokens, failures, verbosity)
        except KeyboardInterrupt as interrupt:
            code = EXIT_TERMINATED if terminated() else EXIT_INTERRUPTED
            return failures.say_interrupted(str(interrupt) or "interrupted", code)


def _run(  # noqa: PLR0911 - one per kind of end
    app: App, tokens: list[str], failures: Failures, verbosity: Verbosity
) -> int:
    try:
        with use_verbosity(failures.command, verbosity):
            result = app(
                tokens, exit_on_error=False, print_error=False, result_action="return_value"
            )
        if sys.stdout is not None:
            sys.stdout.flush()
    except CycloptsError as error:
        hint = f"{app.name[0]} --help shows what there is"
        return failures.say(error, EXIT_USAGE, kind="usage", hint=hint)
    except RunFailedError as error:
        return failures.say(error, EXIT_RUN_FAILED)
    except BerryEvalError as error:
        return failures.say(error, EXIT_USAGE)
    except BrokenPipeError:  # the reader (head, less) has enough
        abandon_stdout()
        return EXIT_PASSED
    except OSError as error:
        if error.errno != errno.ENOSPC:
            return failures.say(error, EXIT_RUN_FAILED)
        abandon_stdout()
        return failures.say(OSError(f"the output cannot be written: {error.strerror}"), EXIT_USAGE)
    except Exception as error:  # noqa: BLE001 - the last line of defence against a traceback
        hint = f"this looks like a bug; {DEBUG_FLAG} shows where it happened"
        return failures.say(error, EXIT_RUN_FAILED, hint=hint)
    return result if isinstance(result, int) else EXIT_PASSED


def _take_every_character() -> None:
    """Show as escapes what stdout and stderr have no letters for, instead of failing at the end."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _take_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """The arguments without the debug flag, which may stand anywhere before a `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [token for token in arguments[:end] if token != DEBUG_FLAG]
    return [*options, *arguments[end:]], len(options) < end


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run(build_app(), sys.argv[1:]))
