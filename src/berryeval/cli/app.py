"""The command `berryeval`: the table of commands, and the one place where errors become exit codes.

    0  passed
    1  quality failed
    2  wrong usage or configuration
    3  the run failed
  130  interrupted

Commands are imported when they are called, so that `--help` stays fast.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Final

from cyclopts import App, CycloptsError

from berryeval import __version__
from berryeval.errors import BerryEvalError

if TYPE_CHECKING:
    from collections.abc import Sequence

EXIT_PASSED: Final = 0
EXIT_USAGE: Final = 2
EXIT_RUN_FAILED: Final = 3
EXIT_INTERRUPTED: Final = 130

DEBUG_FLAG = "--debug"


def build_app() -> App:
    """The command tree; a new command is one line here and one thin file beside this one."""
    app = App(
        name="berryeval",
        help="Evaluate retrieval: exact measures, fast.",
        help_epilogue=(
            "Exit codes: 0 passed, 1 quality failed, 2 wrong usage or configuration, "
            f"3 the run failed. Any command takes {DEBUG_FLAG} to show where an error came from."
        ),
        help_format="plaintext",
        version=__version__,
    )
    app.command("berryeval.cli.score:score", help="Score a run against judgments.")
    lists = App(name="list", help="Show what there is: measures.", help_format="plaintext")
    lists.command("berryeval.cli.list_measures:measures", help="Show every measure.")
    app.command(lists)
    app.command("berryeval.cli.version:version", help="Show versions and the backend in use.")
    return app


def run(app: App, arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; an error is one line on stderr."""
    debug = DEBUG_FLAG in arguments
    tokens = [token for token in arguments if token != DEBUG_FLAG]
    app.suppress_keyboard_interrupt = False  # or it would exit by itself, without a word
    try:
        result = app(tokens, exit_on_error=False, print_error=False, result_action="return_value")
        sys.stdout.flush()
    except CycloptsError as error:
        return _fail(error, EXIT_USAGE, f"{app.name[0]} --help shows what there is", debug=debug)
    except BerryEvalError as error:
        return _fail(error, EXIT_USAGE, debug=debug)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader (head, less) has enough. Python would complain again when it closes stdout.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_PASSED
    except Exception as error:  # noqa: BLE001 - the last line of defence against a traceback
        hint = f"this looks like a bug; {DEBUG_FLAG} shows where it happened"
        return _fail(error, EXIT_RUN_FAILED, hint, debug=debug)
    return result if isinstance(result, int) else EXIT_PASSED


def _fail(error: Exception, code: int, hint: str = "", *, debug: bool) -> int:
    if debug:
        import traceback

        traceback.print_exception(error)
    message = " ".join(str(error).split()) or type(error).__name__
    print(f"error: {message}{f' ({hint})' if hint else ''}", file=sys.stderr)
    return code


def main() -> None:
    """Entry point of the console script."""
    sys.exit(run(build_app(), sys.argv[1:]))
