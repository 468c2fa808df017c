"""`berryeval score`."""

from __future__ import annotations

import csv as csv_format
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal

from berryeval._internal import numbers
from berryeval._internal.text import escape_line, pluralize
from berryeval.cli.app import is_quiet
from berryeval.cli.flags import File, Flag, Metrics
from berryeval.cli.output import build_table, console, print_json, print_line

if TYPE_CHECKING:
    from rich.table import Table

    from berryeval.scoring import Scores, Statistics
    from berryeval.workflows import FileScores


_LISTED: Final = 5  # query ids in a remark


def score(  # noqa: PLR0913 - the options of the command
    qrels: File,
    run: File,
    /,
    *more: str,
    metrics: Metrics = None,
    per_query: Flag = False,
    json: Flag = False,
    csv: Flag = False,
    trec_format: Flag = False,
    profile: str = "berryeval",
    lenient: Flag = False,
    audit: Flag = False,
    by: str | None = None,
    engine: Literal["local", "spark"] = "local",
    master: str | None = None,
) -> None:
    """Score one or more runs against judgments.

    Files can be TREC, BEIR, MS MARCO, JSON, JSON Lines, CSV or Parquet, also compressed (.gz, .zst)
    and folders or patterns ('run/*.parquet') of Parquet or CSV files. Large runs are scored while
    they are read.

    Args:
        qrels: Judgments (TREC: query group document grade); - for stdin.
        run: Ranked documents (TREC: query Q0 document rank score tag); - for stdin.
        more: Further runs, scored on the same judgments; `berryeval compare --qrels` also tests
            their differences.
        metrics: Metrics to compute: -m nDCG@10 AP, -m nDCG@10,AP, or -m repeated; quote
            parentheses: -m "P(rel=2)@5".
        per_query: Also print one row per query.
        json: JSON output, in full precision.
        csv: CSV output, in full precision.
        trec_format: Output lines of trec_eval.
        profile: Conventions to follow: berryeval, trec_eval, trec_eval-9, ir_measures, ...
        lenient: Skip faulty lines and repeated documents, and count them.
        audit: Findings that make scores doubtful: ties, unjudged documents, ... Faulty lines, NaN
            and repeated documents stop the scoring; with --lenient they are listed instead.
        by: JSON file {query: label}; adds scores per group of queries.
        engine: Engine that scores: local, or spark for Parquet and CSV files of any size, also at
            addresses such as s3a://.
        master: Where Spark runs: local[2], spark://HOST:PORT, yarn, sc://HOST, ...
    """
    from berryeval.cli.logs import error_screen, rows_on
    from berryeval.errors import ConfigurationError

    score_files = _choose_engine(engine, master)

    if json + csv + trec_format > 1:
        raise ConfigurationError("choose one of --json, --csv and --trec-format")
    names = metrics or []
    hidden = is_quiet() or (json and not sys.stdout.isatty())
    if more:
        _check_several(qrels, [run, *more], for_one=per_query or trec_format or audit or bool(by))
        several = {}
        for one in (run, *more):
            with rows_on(error_screen(), hidden=hidden, quiet=is_quiet()) as follower:
                several[one] = score_files(
                    qrels, one, names, profile=profile, lenient=lenient, follower=follower
                )
        for scored in several.values():
            _print_notes(scored)
        _print_several(several, json=json, csv=csv)
        return
    with rows_on(error_screen(), hidden=hidden, quiet=is_quiet()) as follower:
        found = score_files(
            qrels, run, names,
            profile=profile, lenient=lenient, audit=audit, by=by, follower=follower,
        )  # fmt: skip
    _print_notes(found)
    if json:
        _print_json(found, per_query=per_query)
    elif csv:
        _print_csv(found, per_query=per_query)
    elif trec_format:
        _print_trec(found.scores, per_query=per_query)
    else:
        _print_text(found, per_query=per_query)


def _choose_engine(engine: str, master: str | None) -> Callable[..., FileScores]:
    from berryeval.errors import ConfigurationError

    if engine == "spark":
        from berryeval.spark import score_spark_files

        return partial(score_spark_files, master=master)
    if master is not None:
        raise ConfigurationError("--master needs --engine spark")
    from berryeval.workflows import score_files

    return score_files


def _check_several(qrels: str, runs: list[str], *, for_one: bool) -> None:
    from berryeval.errors import ConfigurationError

    twice = next((run for run in runs if runs.count(run) > 1), None)
    if for_one:
        raise ConfigurationError(
            "--per-query, --trec-format, --audit and --by take one run; score the runs in turn"
        )
    if "-" in {qrels, *runs}:
        raise ConfigurationError("several runs cannot be scored with a file from stdin")
    if twice is not None:
        raise ConfigurationError(f"the run {twice} is given twice; give it once")


def _print_several(found: Mapping[str, FileScores], *, json: bool, csv: bool) -> None:
    if json:
        runs = {run: _summarize(one) for run, one in found.items()}
        print_json("score", {"runs": runs})
        return
    parts = {run: one.statistics for run, one in found.items()}
    if csv:
        _print_csv_rows("run", parts)
        return
    screen = console()
    screen.print(_build_summary(parts, head="run"))
    screen.print()
    for one in found.values():
        for line in _list_remarks(one):
            screen.print(line)


def _print_notes(found: FileScores) -> None:
    for note in () if is_quiet() else found.scores.notes:
        print_line(f"warning: {found.scores.run_name}: {note}", sys.stderr)


def _print_text(found: FileScores, *, per_query: bool) -> None:
    screen = console()
    if per_query:
        screen.print(build_query_table(found.scores))
        screen.print()
    if found.groups is not None:
        groups = {name: group.statistics() for name, group in found.groups.items()}
        screen.print(_build_summary(groups, head="group"))
        screen.print()
    screen.print(_build_summary({"": found.statistics}))
    screen.print()
    for line in _list_remarks(found):
        screen.print(line)
    if found.audit is not None:
        screen.print()
        for line in found.audit.text().split("\n"):
            screen.print(line)


def _print_json(found: FileScores, *, per_query: bool) -> None:
    scores = found.scores
    data = _summarize(found)
    if per_query:
        data["per_query"] = {
            query: {"outcome": outcome, **dict(zip(scores.metrics, values, strict=True))}
            for query, outcome, values in _rows_of(scores)
        }
    if found.groups is not None:
        data["groups"] = {label: group.summary() for label, group in found.groups.items()}
    if found.audit is not None:
        data["audit"] = found.audit.to_dict()
    print_json("score", data)


def _summarize(found: FileScores) -> dict[str, Any]:
    return {"profile": found.profile, **found.scores.summary(), "judged_at_10": found.judged}


def _print_csv(found: FileScores, *, per_query: bool) -> None:
    """Print a row per query, or per metric; with groups, each row begins with its group."""
    scores, groups = found.scores, found.groups
    if per_query:
        head = [] if groups is None else ["group"]
        label = {query: [name] for name, group in (groups or {}).items() for query in group.queries}
        _write_csv(["query", *head, "outcome", *scores.metrics])
        for query, outcome, values in _rows_of(scores):
            _write_csv([query, *label.get(query, []), outcome, *values])
        return
    parts = {name: group.statistics() for name, group in (groups or {}).items()}
    _print_csv_rows("" if groups is None else "group", {**parts, "all": found.statistics})


def _print_csv_rows(head: str, parts: Mapping[str, Sequence[Statistics]]) -> None:
    """Print a row per part and metric; the part is named in the column `head`, if it has a name."""
    first = [head] * bool(head)
    _write_csv([*first, "metric", "value", "std", "ci_low", "ci_high", "n"])
    for name, part in parts.items():
        for one in part:
            cells = [one.metric, one.mean, one.std, *one.interval, one.queries]
            _write_csv([*[name] * bool(head), *cells])


def _write_csv(cells: Sequence[object]) -> None:
    """Print a row of CSV; no text is a formula, a command of a CI system, or breaks the line."""
    from berryeval._internal.text import defuse

    safe = [escape_line(defuse(one)) if isinstance(one, str) else one for one in cells]
    csv_format.writer(sys.stdout, lineterminator="\n").writerow(safe)


def _print_trec(scores: Scores, *, per_query: bool) -> None:
    """Print the lines of trec_eval: name, query or "all", rounded value."""
    from berryeval.metrics import parse_metric, trec_name

    names = [trec_name(parse_metric(metric)) for metric in scores.metrics]
    columns = list(zip(names, scores.aggregates, strict=True))
    if per_query:
        for query, _, values in _rows_of(scores):
            for (name, how), value in zip(columns, values, strict=True):
                if how != "geometric mean":  # trec_eval prints those for all queries only
                    print(_format_trec(name, query, value, how))
    for (name, how), value in zip(columns, scores.mean.values(), strict=True):
        print(_format_trec(name, "all", value, how))


def _format_trec(name: str, query: str, value: float, how: str) -> str:
    shown = f"{int(value)}" if how == "sum" and value.is_integer() else f"{value:6.4f}"
    return f"{name:<22}\t{escape_line(query)}\t{shown}"


def _rows_of(scores: Scores) -> Iterable[tuple[str, str, list[float]]]:
    return zip(scores.queries, scores.outcomes, scores.values.T.tolist(), strict=True)


def build_query_table(scores: Scores) -> Table:
    """Build a table with a row per query."""
    rows = (
        (query, outcome, *map(numbers.format_exact_metric, values))
        for query, outcome, values in _rows_of(scores)
    )
    return build_table(("query", "outcome", *scores.metrics), rows, right=scores.metrics)


def _build_summary(parts: Mapping[str, Sequence[Statistics]], head: str = "") -> Table:
    rows = []
    for name, part in parts.items():
        for one in part:
            cells = [
                one.metric if one.aggregate == "mean" else f"{one.metric} ({one.aggregate})",
                numbers.format_exact_metric(one.mean),
                numbers.format_exact_metric(one.std),
                numbers.format_exact_interval(*one.interval, one.queries),
                str(one.queries),
            ]
            rows.append([name, *cells] if head else cells)
    right = ("mean", "std", "95% bootstrap", "n")
    return build_table([*([head] * bool(head)), "metric", *right], rows, right=right)


def _list_remarks(found: FileScores) -> list[str]:
    scores, coverage = found.scores, found.coverage
    queries = pluralize(len(scores.queries), "query")
    summary = (
        f"run {scores.run_name}, profile {found.profile}: {queries}, "
        f"{coverage.ok} ok, missing {_format_queries(coverage.missing)}, "
        f"empty {_format_queries(coverage.empty)}, "
        f"nothing relevant {_format_queries(coverage.nothing_relevant)}"
    )
    lines = [summary]
    if coverage.retrieved:
        share = numbers.format_share(coverage.unjudged / coverage.retrieved)
        lines.append(
            f"{coverage.unjudged} of {coverage.retrieved} retrieved documents have no judgment "
            f"({share}), Judged@10 {numbers.format_exact_metric(found.judged)}"
        )
    if scores.left_out:
        lines.append(f"left out, judged but not in the run: {_format_queries(scores.left_out)}")
    if scores.extra_queries:
        extra = _format_queries(scores.extra_queries)
        lines.append(f"not scored, in the run but not judged: {extra}")
    if scores.dropped:
        lines.append(f"left out of the files: {scores.dropped} faulty or repeated rows")
    return lines


def _format_queries(queries: Sequence[str]) -> str:
    if not queries:
        return "0"
    more = ", ..." if len(queries) > _LISTED else ""
    return f"{len(queries)} ({', '.join(queries[:_LISTED])}{more})"
