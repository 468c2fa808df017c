"""`berryeval score`."""

from __future__ import annotations

import csv as csv_format
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Final

from cyclopts import Parameter

from berryeval._internal import numbers
from berryeval.cli.flags import Flag, Metrics
from berryeval.cli.output import build_table, console, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from berryeval.scoring import Scores, Statistics
    from berryeval.workflows import FileScores


File = Annotated[str, Parameter(allow_leading_hyphen=True)]
_LISTED: Final = 5  # query ids in a remark


def score(  # noqa: PLR0913 - the options of the command
    qrels: File,
    run: File,
    /,
    *,
    metrics: Metrics = None,
    per_query: Flag = False,
    json: Flag = False,
    csv: Flag = False,
    trec_format: Flag = False,
    profile: str = "berryeval",
    lenient: Flag = False,
    audit: Flag = False,
    by: str | None = None,
) -> None:
    """Score a run against judgments.

    Files can be TREC, BEIR, MS MARCO, JSON, JSON Lines or Parquet, also compressed (.gz, .zst).

    Example: berryeval score qrels.txt bm25.run -m nDCG@10 AP P@5

    Args:
        qrels: Judgments (TREC: query group document grade); - for stdin.
        run: Ranked documents (TREC: query Q0 document rank score tag); - for stdin.
        metrics: Metrics to compute: -m nDCG@10 AP, -m nDCG@10,AP, or -m repeated.
        per_query: Also print one row per query.
        json: JSON output, in full precision.
        csv: CSV output, in full precision.
        trec_format: Output lines of trec_eval.
        profile: Conventions to follow: berryeval, trec_eval, trec_eval-9, ir_measures, ...
        lenient: Skip faulty lines and repeated documents, and count them.
        audit: Findings that make scores doubtful: ties, unjudged documents, ... Faulty lines, NaN
            and repeated documents stop the scoring; with --lenient they are listed instead.
        by: JSON file {query: label}; adds scores per group of queries.
    """
    from berryeval.errors import ConfigurationError
    from berryeval.workflows import score_files

    if json + csv + trec_format > 1:
        raise ConfigurationError("choose one of --json, --csv and --trec-format")
    found = score_files(
        qrels, run, metrics or [], profile=profile, lenient=lenient, audit=audit, by=by
    )
    if json:
        _print_json(found, per_query=per_query)
    elif csv:
        _print_csv(found, per_query=per_query)
    elif trec_format:
        _print_trec(found.scores, per_query=per_query)
    else:
        _print_text(found, per_query=per_query)


def _print_text(found: FileScores, *, per_query: bool) -> None:
    screen = console()
    if per_query:
        screen.print(build_query_table(found.scores))
        screen.print()
    if found.groups is not None:
        groups = {name: group.statistics() for name, group in found.groups.items()}
        screen.print(_build_summary(groups, grouped=True))
        screen.print()
    screen.print(_build_summary({"": found.statistics}))
    screen.print()
    for line in _list_remarks(found):
        screen.print(line)
    if found.audit is not None:
        screen.print()
        screen.print(found.audit.text())


def _print_json(found: FileScores, *, per_query: bool) -> None:
    scores = found.scores
    data: dict[str, Any] = {
        "profile": found.profile,
        **scores.summary(),
        "judged_at_10": found.judged,
    }
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


def _print_csv(found: FileScores, *, per_query: bool) -> None:
    """Print a row per query, or per metric; with groups, each row begins with its group."""
    writer = csv_format.writer(sys.stdout, lineterminator="\n")
    scores, groups = found.scores, found.groups
    head = [] if groups is None else ["group"]
    if per_query:
        label = {query: [name] for name, group in (groups or {}).items() for query in group.queries}
        writer.writerow(["query", *head, "outcome", *scores.metrics])
        for query, outcome, values in _rows_of(scores):
            writer.writerow([query, *label.get(query, []), outcome, *values])
        return
    writer.writerow([*head, "metric", "value", "std", "ci_low", "ci_high", "n"])
    parts = {name: group.statistics() for name, group in (groups or {}).items()}
    for name, part in {**parts, "all": found.statistics}.items():
        for one in part:
            cells = [one.metric, one.mean, one.std, *one.interval, one.queries]
            writer.writerow([*([name] if head else []), *cells])


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
    return f"{name:<22}\t{query}\t{shown}"


def _rows_of(scores: Scores) -> Iterable[tuple[str, str, list[float]]]:
    return zip(scores.queries, scores.outcomes, scores.values.T.tolist(), strict=True)


def build_query_table(scores: Scores) -> Table:
    """Build a table with a row per query."""
    rows = (
        (query, outcome, *map(numbers.format_exact_metric, values))
        for query, outcome, values in _rows_of(scores)
    )
    return build_table(("query", "outcome", *scores.metrics), rows, right=scores.metrics)


def _build_summary(parts: Mapping[str, Sequence[Statistics]], *, grouped: bool = False) -> Table:
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
            rows.append([name, *cells] if grouped else cells)
    right = ("mean", "std", "95% bootstrap", "n")
    return build_table([*(["group"] * grouped), "metric", *right], rows, right=right)


def _list_remarks(found: FileScores) -> list[str]:
    scores, coverage = found.scores, found.coverage
    summary = (
        f"run {scores.run_name}, profile {found.profile}: {len(scores.queries)} queries, "
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
