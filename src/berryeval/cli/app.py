"""The command `berryeval`: the table of commands, and the place where errors become exit codes.

    0  passed
    1  quality failed
    2  wrong usage or configuration
    3  the run failed
  130  interrupted
  143  terminated

A command is imported only when it is called, which keeps `--help` fast.
"""

from __future__ import annotations

import re
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import TextIOWrapper
from typing import TYPE_CHECKING, Final, NamedTuple

from cyclopts import App, CycloptsError
from cyclopts.exceptions import UnusedCliTokensError
from cyclopts.help import DefaultFormatter, HelpPanel, InlineText

from berryeval import __version__
from berryeval._internal.masking import mask_known
from berryeval._internal.text import escape_commands, escape_controls
from berryeval.cli.streams import end_in_time, find_lost_output, secure_streams
from berryeval.errors import BerryEvalError, ConfigurationError, RunFailedError

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

EXIT_PASSED: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_RUN_FAILED: Final = 3
EXIT_INTERRUPTED: Final = 130
EXIT_TERMINATED: Final = 143

DEBUG_FLAG: Final = "--debug"
QUIET: Final = "--quiet"
VERBOSE: Final = "--verbose"
_FLAGS: Final = {QUIET: QUIET, "-q": QUIET, VERBOSE: VERBOSE, "-v": VERBOSE}
# Flags that a command reads itself; those of trec-eval are trec_eval's.
_OWN: Final = {"eval": (QUIET, VERBOSE), "report": (QUIET,)}
_UNTOUCHED: Final = ("trec-eval",)
_VERDICTS: Final = ("eval", "gate")  # commands whose exit code is a verdict on a run
# Commands by group; the first column is the module and function, the second the name.
_COMMANDS: Final = (
    ("eval:run_eval", "eval", "Run providers on benchmarks, score them and print the table."),
    ("gate:gate", "gate", "Judge a run against thresholds and a baseline."),
    ("compare:compare", "compare", "Compare runs and test the differences for significance."),
    ("init:init", "init", "Write a starting berryeval.yaml."),
    ("score:score", "score", "Score a run against judgments."),
    ("fuse:fuse", "fuse", "Fuse the rankings of several runs into one."),
    ("report:report", "report", "Write a report on runs, in any format."),
    ("serve:serve", "serve", "Look at runs and judge them in the browser."),
    ("validate:validate", "validate", "Check a benchmark for faults."),
    ("inspect:inspect", "inspect", "Show the contents of a benchmark."),
    ("generate:generate", "generate", "Make a benchmark of queries from your documents."),
    ("version:version", "version", "Show versions and the backend in use."),
)
_EPILOGUE: Final = (
    "Exit codes: 0 passed, 1 quality failed, 2 wrong usage or configuration, "
    "3 the run failed. Every command accepts --quiet (no warnings or hints), --verbose "
    f"(log lines) and {DEBUG_FLAG} (traceback of an error)."
)
# The last lines of each help page; a test runs them as they are.
EXAMPLES: Final = {
    "": "berryeval eval technical-docs --providers bm25 bm25:fixed-400",
    "eval": "berryeval eval technical-docs --providers bm25 bm25:fixed-400",
    "gate": "berryeval gate latest --baseline berryeval-baseline.json --max-drop nDCG@10=0.01",
    "compare": "berryeval compare latest --baseline bm25 -m nDCG@10 AP",
    "init": "berryeval init docs",
    "score": "berryeval score qrels.txt bm25.run -m nDCG@10 AP P@5",
    "fuse": "berryeval fuse bm25.run dense.run --method rrf -o fused.run",
    "report": "berryeval report latest --format markdown",
    "serve": "berryeval serve --port 0",
    "validate": "berryeval validate technical-docs",
    "inspect": "berryeval inspect technical-docs",
    "generate": "berryeval generate docs --count 20",
    "version": "berryeval version --json",
    "trec-eval": "berryeval trec-eval -m ndcg_cut.10 qrels.txt bm25.run",
    "baseline": "berryeval baseline set latest",
    "baseline set": "berryeval baseline set latest",
    "baseline show": "berryeval baseline show berryeval-baseline.json",
    "baseline diff": "berryeval baseline diff latest",
    "completion": "berryeval completion install",
    "completion install": "berryeval completion install bash",
    "completion show": "berryeval completion show zsh",
    "judge": "berryeval judge pool latest --strategy decisive",
    "judge pool": "berryeval judge pool latest --strategy decisive",
    "judge status": "berryeval judge status",
    "judge next": "berryeval judge next --judge ann",
    "judge llm": "berryeval judge llm --model gpt-4o-mini --limit 20",
    "judge export": "berryeval judge export --judge ann --output ann.csv",
    "judge import": "berryeval judge import ann.csv --judge ann",
    "judge apply": "berryeval judge apply --output judged",
    "judge agree": "berryeval judge agree",
    "judge calibrate": "berryeval judge calibrate --judge my-model",
    "list": "berryeval list metrics",
    "list chunkers": "berryeval list chunkers",
    "list providers": "berryeval list providers",
    "list metrics": "berryeval list metrics",
    "list benchmarks": "berryeval list benchmarks",
    "list formats": "berryeval list formats",
    "list exporters": "berryeval list exporters",
    "runs": "berryeval runs list --since 30d",
    "runs list": "berryeval runs list --benchmark technical-docs --since 30d -m nDCG@10 RR",
    "runs show": "berryeval runs show latest~1",
    "runs trend": "berryeval runs trend nDCG@10 --benchmark technical-docs",
    "runs export": "berryeval runs export latest -o latest.json",
    "runs import": "berryeval runs import .berryeval/runs",
    "runs push": "berryeval runs push https://eval.example.org/berry latest",
    "runs prune": "berryeval runs prune --keep 100 --older-than 90d --dry-run",
    "runs rescore": "berryeval runs rescore latest -m nDCG@20 bpref --save",
}
_GROUPS: Final = {
    ("baseline", "Work with the baseline that runs are compared with."): (
        ("baseline:set_baseline", "set", "Save the scores of a run as the baseline."),
        ("baseline:show", "show", "Show the contents of a baseline."),
        ("baseline:diff", "diff", "Show how a run differs from the baseline."),
    ),
    ("completion", "Complete commands, options and names in the shell."): (
        ("completion:install", "install", "Install completion for your shell."),
        ("completion:show", "show", "Print the script that completes."),
    ),
    ("judge", "Judge what runs found: by people, by a model, and how far they agree."): (
        ("judge_pool:pool", "pool", "Pool the hits of runs for judging."),
        ("judge_pool:status", "status", "Show what is judged and what is left to decide."),
        ("judge_next:judge_next", "next", "Judge pairs in the terminal."),
        ("judge_llm:judge_llm", "llm", "Let a language model judge."),
        ("judge_files:export", "export", "Write the pairs that are left to a sheet."),
        ("judge_files:import_", "import", "Add the grades of a sheet."),
        ("judge_files:apply", "apply", "Write a benchmark with the decided grades."),
        ("judge_agree:agree", "agree", "Measure how far judges agree."),
        ("judge_agree:calibrate", "calibrate", "Say whether a model may judge for humans."),
    ),
    ("list", "List metrics, providers, benchmarks and formats."): (
        ("list:chunkers", "chunkers", "List the chunkers."),
        ("list:providers", "providers", "List the providers."),
        ("list:metrics", "metrics", "List the metrics."),
        ("list:benchmarks", "benchmarks", "List the bundled benchmarks."),
        ("list:formats", "formats", "List the benchmark formats."),
        ("list:exporters", "exporters", "List the report formats."),
    ),
    ("runs", "Work with past runs."): (
        ("runs_list:list_runs", "list", "List past runs."),
        ("runs_list:show", "show", "Show one run as eval printed it."),
        ("runs_trend:trend", "trend", "Show a metric over time."),
        ("runs_files:export", "export", "Write runs to files."),
        ("runs_files:import_", "import", "Add runs to the store."),
        ("runs_files:push", "push", "Send a run to a server."),
        ("runs_files:prune", "prune", "Delete old runs from the store."),
        ("runs_rescore:rescore", "rescore", "Score a run with other metrics or judgments."),
    ),
}


def build_app() -> App:
    """Build the command tree; a new command is one row above and one file beside this one."""
    app = App(
        name="berryeval",
        help="Evaluate retrieval: exact metrics, fast.",
        help_epilogue=write_epilogue(""),
        help_format="plaintext",
        help_formatter=_HelpPrinter(),
        version=__version__,
    )
    for target, name, text in _COMMANDS:
        names = [name, "evaluate"] if name == "eval" else [name]
        end = write_epilogue(name)
        app.command(f"berryeval.cli.{target}", name=names, help=text, help_epilogue=end)
    for (group, about), commands in _GROUPS.items():
        end = write_epilogue(group)
        inner = App(name=group, help=about, help_format="plaintext", help_epilogue=end)
        for target, name, text in commands:
            end = write_epilogue(f"{group} {name}")
            inner.command(f"berryeval.cli.{target}", name=name, help=text, help_epilogue=end)
        app.command(inner)
    app.command(
        "berryeval.cli.trec_eval:trec_eval",
        name="trec-eval",
        help="Score a run with the flags, output and exit codes of trec_eval.",
        help_flags=[],  # the command reads its own flags, as trec_eval does
        version_flags=[],
        end_of_options_delimiter="",
    )
    return app


class _HelpPrinter(DefaultFormatter):
    """Boxes of help pages without the line breaks of docstrings and the defaults of flags."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print a box."""
        entries = []
        for entry in panel.entries:
            text = getattr(getattr(entry.description, "primary_renderable", None), "plain", "")
            about = InlineText.from_format(" ".join(text.split()), format="plaintext")
            default = None if entry.default in {"False", '""'} else entry.default
            entries.append(entry.copy(description=about, default=default))
        super().__call__(console, options, panel.copy(entries=entries))


def write_epilogue(command: str) -> str:
    """Write the end of a help page, whose last line is an example that can be run."""
    return f"{_EPILOGUE}\n\nExample:\n{EXAMPLES[command]}"


def main() -> None:
    """Run the command line of this process and exit."""
    secure_streams()
    code = run(build_app(), sys.argv[1:])
    end_in_time(code)
    sys.exit(code)


def run(app: App, arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code; an error is a line on stderr (and JSON)."""
    _escape_unprintable()
    tokens, debug = _take_debug(arguments)
    app.suppress_keyboard_interrupt = False  # cyclopts would exit without a message
    failures = Failures.of(app, drop_verbosity(tokens), debug=debug)
    tokens, verbosity = take_verbosity(failures.command, tokens)
    with catch_sigterm() as terminated:
        try:
            return _run(app, tokens, failures, verbosity)
        except KeyboardInterrupt as interrupt:
            code = EXIT_TERMINATED if terminated() else EXIT_INTERRUPTED
            return failures.report_interrupt(str(interrupt) or "interrupted", code)


def _run(app: App, tokens: list[str], failures: Failures, verbosity: Verbosity) -> int:
    try:
        with use_verbosity(failures.command, verbosity):
            result = app(
                tokens, exit_on_error=False, print_error=False, result_action="return_value"
            )
        code = result if isinstance(result, int) else EXIT_PASSED
        return failures.report_lost_output(code)
    except CycloptsError as error:
        hint = f"see {' '.join([*app.name, failures.command]).rstrip()} --help"
        if isinstance(error, UnusedCliTokensError):
            error = CycloptsError(msg=_describe_unused(error.unused_tokens or []))
        return failures.report(error, EXIT_USAGE, kind="usage", hint=hint)
    except RunFailedError as error:
        return failures.report(error, EXIT_RUN_FAILED)
    except BerryEvalError as error:
        return failures.report(error, EXIT_USAGE)
    except OSError as error:
        return failures.report(error, EXIT_RUN_FAILED)
    except Exception as error:  # noqa: BLE001 - users see one line, not a traceback
        hint = f"this looks like a bug; {DEBUG_FLAG} shows where it happened"
        return failures.report(error, EXIT_RUN_FAILED, hint=hint)


def _describe_unused(tokens: Sequence[str]) -> str:
    found = ", ".join(repr(token) for token in tokens)
    return f"found {found}, which no argument or option of this command takes"


def _escape_unprintable() -> None:
    """Make stdout and stderr escape characters that their encoding lacks."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _take_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Remove the debug flag, which may come anywhere before a `--`."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options = [token for token in arguments[:end] if token != DEBUG_FLAG]
    return [*options, *arguments[end:]], len(options) < end


@dataclass(frozen=True)
class Failures:
    """How the failure of a command line is reported; `command` is empty if the line names none."""

    command: str
    json: bool
    debug: bool

    @classmethod
    def of(cls, app: App, tokens: Sequence[str], *, debug: bool) -> Failures:
        """Read the command and its output format from the tokens."""
        _, apps, rest = app.parse_commands(tokens)
        command = " ".join(one.name[0] for one in apps[1:])
        options = rest[: rest.index("--")] if "--" in rest else rest
        return cls(command, "--json" in options and command != "trec-eval", debug)

    def report(self, error: Exception, code: int, *, kind: str = "", hint: str = "") -> int:
        """Print the error and return the exit code."""
        if self.debug:
            import traceback

            _print_error(mask_known("".join(traceback.format_exception(error)).rstrip()))
        text = str(error)
        if isinstance(error, OSError) and error.filename and error.strerror:
            text = f"{error.filename}: {error.strerror}"
        message = " ".join(mask_known(text).split()) or type(error).__name__
        self._print_json(kind or _kind_of(error), message)
        _print_error(f"error: {message}{f' ({hint})' if hint else ''}")
        return code

    def report_interrupt(self, message: str, code: int) -> int:
        """Print that the command was interrupted and return the exit code."""
        self._print_json("interrupted", message)
        _print_error(message)
        return code

    def report_lost_output(self, code: int) -> int:
        """Print that stdout could not be written; a verdict keeps its exit code."""
        problem = find_lost_output()
        if problem is None:
            return code
        _print_error(f"error: the output cannot be written: {problem.strerror}")
        return code if code or self.command in _VERDICTS else EXIT_USAGE

    def _print_json(self, kind: str, message: str) -> None:
        if self.json:
            from berryeval.cli.output import print_json_error

            print_json_error(self.command, kind, message)
            sys.stdout.flush()


def _kind_of(error: Exception) -> str:
    """Return the kind of an error by its class: `ConfigurationError` is "configuration"."""
    if isinstance(error, BerryEvalError):
        name = type(error).__name__.removesuffix("Error")
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
    return "system" if isinstance(error, OSError) else "bug"


def _print_error(text: str) -> None:
    print(escape_commands(escape_controls(text)), file=sys.stderr, flush=True)


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
    """Split tokens into those of the command, which may read flags itself, and the verbosity."""
    first = next((place for place, one in enumerate(tokens) if one not in _FLAGS), len(tokens))
    ahead, rest = tokens[:first], list(tokens[first:])
    end = rest.index("--") if "--" in rest else len(rest)
    inside = [] if command in _UNTOUCHED else rest[:end]
    given = {_FLAGS[token] for token in (*ahead, *inside) if token in _FLAGS}
    asked = Verbosity(QUIET in given, VERBOSE in given)
    if not inside:
        return rest, asked
    own = _OWN.get(command, ())
    kept, arguments = _drop_flags(inside, own)
    here = {_FLAGS.get(token) for token in kept}
    moved = [flag for flag in own if flag in given and flag not in here]
    after = [*arguments, *rest[end + 1 :]]
    return [*kept, *moved, *(["--", *after] if after or rest[end:] else [])], asked


def _drop_flags(tokens: Sequence[str], own: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the tokens without the flags that are not the command's own, and its arguments.

    Words after such a flag are arguments of the command. Without the flag between them, an option
    with several values would take them, as in `score -m AP --quiet QRELS RUN`.
    """
    kept: list[str] = []
    arguments: list[str] = []
    is_after = False
    for token in tokens:
        if token in _FLAGS and _FLAGS[token] not in own:
            is_after = any(one.startswith("-") for one in kept)
        elif is_after and not token.startswith("-", 0, -1):  # - is stdin, an argument
            arguments.append(token)
        else:
            is_after = False
            kept.append(token)
    return kept, arguments


@contextmanager
def use_verbosity(command: str, asked: Verbosity) -> Iterator[None]:
    """Show log lines as asked while a command runs; `eval` shows its own."""
    if asked.quiet and asked.verbose:
        raise ConfigurationError(f"choose one of {QUIET} and {VERBOSE}")
    if asked == _DEFAULT or command == "eval":
        yield
        return

    from berryeval.cli.logs import error_screen, log_level, log_lines

    before = _asked.set(asked)
    try:
        with log_lines(error_screen(), log_level(quiet=asked.quiet, verbose=asked.verbose)):
            yield
    finally:
        _asked.reset(before)


@contextmanager
def catch_sigterm() -> Iterator[Callable[[], bool]]:
    """Treat SIGTERM like Ctrl-C, unless another handler is set; yields whether it arrived."""
    ours = threading.current_thread() is threading.main_thread()
    if not ours or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield lambda: False
        return
    received: list[int] = []

    def interrupt(number: int, _: object) -> None:
        received.append(number)
        if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a background job of a shell
            raise KeyboardInterrupt
        signal.raise_signal(signal.SIGINT)  # event loops handle this signal themselves

    signal.signal(signal.SIGTERM, interrupt)
    try:
        yield lambda: bool(received)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
