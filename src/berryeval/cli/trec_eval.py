"""`berryeval trec-eval`: the flags, output and exit codes of trec_eval."""

from __future__ import annotations

import getopt
import re
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

from cyclopts import Parameter

from berryeval import __version__
from berryeval._internal.text import escape_controls, escape_line
from berryeval.cli.app import EXAMPLES
from berryeval.errors import BerryEvalError, DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from berryeval.trec_eval import Column, Settings


EXIT_USAGE: Final = 1
EXIT_INPUT: Final = 2
EXIT_CANNOT_SCORE: Final = 4
EXIT_NO_TOPICS: Final = 7

SHORT: Final = "hvqm:cl:nD:JN:M:R:T:oZ:"
LONG: Final = {
    "help": "-h",
    "version": "-v",
    "query_eval_wanted": "-q",
    "measure=": "-m",  # the spelling of trec_eval
    "complete_rel_info_wanted": "-c",
    "level_for_rel=": "-l",
    "nosummary": "-n",
    "Debug_level=": "-D",
    "Judged_docs_only": "-J",
    "Number_docs_in_coll=": "-N",
    "Max_retrieved_per_topic=": "-M",
    "Rel_info_format=": "-R",
    "Results_format=": "-T",
    "Output_old_results_format=": "-o",
    "Zscore=": "-Z",
}
USAGE: Final = "berryeval trec-eval [-h] [-q] {-m metric} qrels_file results_file"
HELP: Final = f"""Usage: {USAGE}

Score a run with the output of trec_eval 10. The results file may be - for stdin.

  -q, --query_eval_wanted            Also print a line per topic.
  -m, --measure NAME[.PARAMETERS]    Metric to compute; may be repeated (default: official).
  -c, --complete_rel_info_wanted     Average over all judged topics, including missing ones.
  -l, --level_for_rel N              Lowest relevant grade (default: 1).
  -n, --nosummary                    Print no lines for all topics together.
  -J, --Judged_docs_only             Remove unjudged documents from the ranking.
  -M, --Max_retrieved_per_topic N    Maximum number of documents per topic.
  -N, --Number_docs_in_coll N        Number of documents in the collection, for utility.
  -R, --Rel_info_format FORMAT       Format: qrels (default), qrels_jg, prefs or qrels_prefs.
  -T, --Results_format FORMAT        Format: trec_results.
  -Z, --Zscore FILE                  Print z-scores; FILE has "topic metric mean deviation".
  -D, --Debug_level N                Accepted and ignored.
  -o                                 Accepted and ignored.
  -v, --version
  -h, --help

Exit codes: 0 success, 1 usage error or unknown metric, 2 invalid file or parameter, 4 scoring
failed, 7 no topic with both judgments and results.
"""


class _Exit(Exception):  # noqa: N818 - never leaves this module
    def __init__(self, code: int, message: object) -> None:
        super().__init__(" ".join(str(message).split()))
        self.code = code


def trec_eval(*tokens: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]) -> int:
    """Score a run with trec_eval's flags, output and exit codes."""
    try:
        return _run(tokens)
    except _Exit as failure:
        print(escape_line(f"error: {failure}"), file=sys.stderr)
        return failure.code


def _run(tokens: Sequence[str]) -> int:
    try:
        flags, files = getopt.gnu_getopt(list(tokens), SHORT, list(LONG))
    except getopt.GetoptError as error:
        _fail(EXIT_USAGE, f"{error}; usage: {USAGE}")
    spelled = {f"--{name.rstrip('=')}": flag for name, flag in LONG.items()}
    flags = [(spelled.get(flag, flag), value) for flag, value in flags]
    given = dict(flags)
    if "-v" in given:
        print(f"berryeval {__version__}, as trec_eval 10.0", file=sys.stderr)
        return 0
    wanted = _parse_metrics([value for flag, value in flags if flag == "-m"])
    settings = _parse_settings(given)
    if "-h" in given:
        _print_help()
        return 0
    if len(files) != 2:  # noqa: PLR2004 - qrels and run
        _fail(EXIT_USAGE, f"expected two files, found {len(files)}; usage: {USAGE}")
    _score(given, wanted, settings, files)
    return 0


def _fail(code: int, message: object) -> NoReturn:
    raise _Exit(code, message) from None


def _parse_metrics(texts: list[str]) -> dict[str, str]:
    from berryeval.trec_eval import parse_choices

    try:
        return parse_choices(texts or ["official"])
    except BerryEvalError as error:
        _fail(EXIT_USAGE, error)


def _parse_settings(given: dict[str, str]) -> Settings:
    from berryeval.trec_eval import Settings

    depth = _parse_integer("-M", given["-M"]) if "-M" in given else None
    if depth is not None and depth < 1:
        _fail(EXIT_USAGE, f"-M takes an integer of at least 1, found {given['-M']!r}")
    return Settings(
        complete="-c" in given,
        level=_parse_integer("-l", given.get("-l", "1")),
        judged_only="-J" in given,
        depth=depth,
        documents=_parse_integer("-N", given.get("-N", "0")),
    )


def _parse_integer(flag: str, text: str) -> int:
    """Parse leading digits and ignore the rest, as `atol` does."""
    match = re.match(r"\s*[+-]?[0-9]+", text)
    if match is None:
        _fail(EXIT_USAGE, f"{flag} takes an integer, found {text!r}")
    return int(match[0])


def _score(
    given: dict[str, str], wanted: dict[str, str], settings: Settings, files: list[str]
) -> None:
    from berryeval.trec_eval import score_run

    columns, judgments, run, zscores = _read_inputs(given, wanted, files)
    format_ = given.get("-R", "qrels")
    try:
        report = score_run(columns, judgments, format_, run, settings, zscores)
    except BerryEvalError as error:
        read_here = run is files[1] and type(error) is DataError
        _fail(EXIT_INPUT if read_here else EXIT_CANNOT_SCORE, error)
    if not report.topics:
        _fail(EXIT_NO_TOPICS, f"{files[1]}: no topic has judgments in {files[0]}")
    if "-q" in given:
        sys.stdout.writelines(map(escape_controls, report.topic_lines()))
    if "-n" not in given:
        sys.stdout.writelines(map(escape_controls, report.summary_lines()))


def _read_inputs(
    given: dict[str, str], wanted: dict[str, str], files: list[str]
) -> tuple[list[Column], Any, Any, Any]:
    from berryeval.data import Run
    from berryeval.trec_eval import (
        FORMATS,
        build_columns,
        needs_table,
        read_judgments,
        read_zscores,
    )

    format_ = given.get("-R", "qrels")
    if format_ not in FORMATS:
        _fail(EXIT_INPUT, f"-R takes {', '.join(FORMATS)}, found {format_!r}")
    if given.get("-T", "trec_results") != "trec_results":
        _fail(EXIT_INPUT, f"-T takes trec_results, found {given['-T']!r}")
    try:
        judgments = read_judgments(files[0], format_)
        zscores = read_zscores(given["-Z"]) if "-Z" in given else None
        shown = build_columns(wanted)
        if "-q" not in given:
            shown = [column for column in shown if column.row.summary != "none"]
        run = Run.from_trec(files[1]) if needs_table(shown, format_) else files[1]
    except RepeatedDocumentError as error:  # trec_eval finds these while scoring
        _fail(EXIT_CANNOT_SCORE, error)
    except BerryEvalError as error:
        _fail(EXIT_INPUT, error)
    return shown, judgments, run, zscores


def _print_help() -> None:
    from berryeval.trec_eval import NICKNAMES, TREC_METRICS

    print(HELP)
    print("Metrics, with their names in the catalogue:")
    for row in TREC_METRICS.values():
        print(f"  {row.name:<24} {row.canonical}".rstrip())
    print("\nGroups of metrics:")
    for name, members in NICKNAMES.items():
        print(f"  {name:<10} {' '.join(members)}")
    print(f"\nExample:\n{EXAMPLES['trec-eval']}")
