"""`berryeval trec-eval`: trec_eval's flags, lines and exit codes."""

from __future__ import annotations

import getopt
import re
import sys
from typing import TYPE_CHECKING, Annotated, Any, Final, NoReturn

from cyclopts import Parameter

from berryeval import __version__
from berryeval._internal.text import visible
from berryeval.errors import BerryEvalError, DataError, RepeatedDocumentError

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    "metric=": "-m",
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

Scores a run as trec_eval 10 does, line for line. The results file may be - for stdin.

  -q, --query_eval_wanted            also a line per topic
  -m, --metric NAME[.PARAMETERS]    what to compute; may be repeated; default: official
  -c, --complete_rel_info_wanted     average over all judged topics, also those the run lacks
  -l, --level_for_rel N              documents are relevant from this grade on; default: 1
  -n, --nosummary                    no lines for all topics together
  -J, --Judged_docs_only             take unjudged documents out of the ranking first
  -M, --Max_retrieved_per_topic N    look at no more than this many documents of a topic
  -N, --Number_docs_in_coll N        documents in the collection, for utility
  -R, --Rel_info_format FORMAT       qrels (default), qrels_jg, prefs or qrels_prefs
  -T, --Results_format FORMAT        trec_results
  -Z, --Zscore FILE                  standardise with "topic metric mean deviation" from FILE
  -D, --Debug_level N                accepted, does nothing
  -o                                 accepted, does nothing
  -v, --version
  -h, --help

Exit codes: 0 done, 1 wrong usage or an unknown metric, 2 a file or a parameter cannot be used,
4 cannot be scored, 7 no topic has both judgments and results.
"""


class _Failed(Exception):  # noqa: N818 - never leaves this module
    """The command ends with this code and this message."""

    def __init__(self, code: int, message: object) -> None:
        super().__init__(" ".join(str(message).split()))
        self.code = code


def trec_eval(*tokens: Annotated[str, Parameter(allow_leading_hyphen=True, show=False)]) -> int:
    """Score a run with trec_eval's flags, output and exit codes."""
    try:
        return _run(tokens)
    except _Failed as failure:
        print(visible(f"error: {failure}"), file=sys.stderr)
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
    wanted = _chosen([value for flag, value in flags if flag == "-m"])
    settings = _settings(given)
    if "-h" in given:
        _print_help()
        return 0
    if len(files) != 2:  # noqa: PLR2004 - qrels and run
        _fail(EXIT_USAGE, f"expected two files, found {len(files)}; usage: {USAGE}")
    _score(given, wanted, settings, files)
    return 0


def _fail(code: int, message: object) -> NoReturn:
    raise _Failed(code, message) from None


def _chosen(texts: list[str]) -> dict[str, str]:
    from berryeval.trec_eval import choose

    try:
        return choose(texts or ["official"])
    except BerryEvalError as error:
        _fail(EXIT_USAGE, error)


def _settings(given: dict[str, str]) -> Settings:
    from berryeval.trec_eval import Settings

    depth = _integer("-M", given["-M"]) if "-M" in given else None
    if depth is not None and depth < 1:
        _fail(EXIT_USAGE, f"-M takes an integer from 1 up, found {given['-M']!r}")
    return Settings(
        complete="-c" in given,
        level=_integer("-l", given.get("-l", "1")),
        judged_only="-J" in given,
        depth=depth,
        documents=_integer("-N", given.get("-N", "0")),
    )


def _integer(flag: str, text: str) -> int:
    """As C reads it: digits up to whatever follows them."""
    match = re.match(r"\s*[+-]?[0-9]+", text)
    if match is None:
        _fail(EXIT_USAGE, f"{flag} takes an integer, found {text!r}")
    return int(match[0])


def _score(
    given: dict[str, str], wanted: dict[str, str], settings: Settings, files: list[str]
) -> None:
    from berryeval.trec_eval import score

    columns, judgments, run, zscores = _inputs(given, wanted, files)
    format_ = given.get("-R", "qrels")
    try:
        report = score(columns, judgments, format_, run, settings, zscores)
    except BerryEvalError as error:
        read_here = run is files[1] and type(error) is DataError
        _fail(EXIT_INPUT if read_here else EXIT_CANNOT_SCORE, error)
    if not report.topics:
        _fail(EXIT_NO_TOPICS, f"{files[1]}: has results for no topic that {files[0]} judges")
    if "-q" in given:
        sys.stdout.writelines(report.topic_lines())
    if "-n" not in given:
        sys.stdout.writelines(report.summary_lines())


def _inputs(
    given: dict[str, str], wanted: dict[str, str], files: list[str]
) -> tuple[list[Column], Any, Any, Any]:
    """What there is to read: columns, judgments, run, z-scores."""
    from berryeval.data import Run
    from berryeval.trec_eval import FORMATS, columns, needs_table, read_judgments, read_zscores

    format_ = given.get("-R", "qrels")
    if format_ not in FORMATS:
        _fail(EXIT_INPUT, f"-R takes {', '.join(FORMATS)}, found {format_!r}")
    if given.get("-T", "trec_results") != "trec_results":
        _fail(EXIT_INPUT, f"-T takes trec_results, found {given['-T']!r}")
    try:
        judgments = read_judgments(files[0], format_)
        zscores = read_zscores(given["-Z"]) if "-Z" in given else None
        shown = columns(wanted)
        if "-q" not in given:
            shown = [column for column in shown if column.row.summary != "none"]
        run = Run.from_trec(files[1]) if needs_table(shown, format_) else files[1]
    except RepeatedDocumentError as error:  # which trec_eval finds while scoring
        _fail(EXIT_CANNOT_SCORE, error)
    except BerryEvalError as error:
        _fail(EXIT_INPUT, error)
    return shown, judgments, run, zscores


def _print_help() -> None:
    from berryeval.trec_eval import NICKNAMES, TREC_METRICS

    print(HELP)
    print("Metrics, with our name for each:")
    for row in TREC_METRICS.values():
        print(f"  {row.name:<24} {row.canonical}".rstrip())
    print("\nNames for several:")
    for name, members in NICKNAMES.items():
        print(f"  {name:<10} {' '.join(members)}")
