"""`berryeval score`."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter
from rich.table import Table

from berryeval._internal import numbers
from berryeval.cli.options import Flag, Metrics
from berryeval.cli.output import console, print_json
from berryeval.metrics import parse_metric, trec_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.scoring import AuditReport, Scores


File = Annotated[str, Parameter(allow_leading_hyphen=True)]
JUDGED = "Judged@10"


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

    Files may be of TREC, BEIR or MS MARCO, JSON, JSON lines or Parquet; .gz and .zst are unpacked.

    Example: berryeval score qrels.txt bm25.run -m nDCG@10 AP P@5

    Args:
        qrels: The judgments (TREC: query group document grade); - reads them from stdin.
        run: The run (TREC: query Q0 document rank score tag); - reads it from stdin.
        metrics: What to compute: -m nDCG@10 AP, -m nDCG@10,AP, or -m twice.
        per_query: Show every query too.
        json: Print JSON, in full precision.
        csv: Print CSV, in full precision.
        trec_format: Print the lines of trec_eval.
        profile: Whose conventions to follow: berryeval, trec_eval, trec_eval-9, ir_measures, ...
        lenient: Leave out faulty lines and repeated documents, and count them.
        audit: Look for what makes the scores doubtful: ties, unjudged documents, ... Faulty lines,
            NaN and repeated documents stop the scoring; with --lenient they are listed instead.
        by: A JSON file {query: label}; shows each group of queries too.
    """
    from berryeval.metrics import distinct_names, split_names

    names = distinct_names(split_names(metrics or []))
    _check(run, qrels, names, formats=json + csv + trec_format, audit=audit)
    groups = _groups(by)
    scores, judged = _scored(run, qrels, names, profile, lenient=lenient, audit=audit)
    report = _audited(run, qrels, names, profile) if audit else None
    if json:
        print_as_json(scores, profile, judged, report, groups, per_query=per_query)
    elif csv:
        print_as_csv(scores, groups, per_query=per_query)
    elif trec_format:
        print_as_trec(scores, per_query=per_query)
    else:
        print_as_text(scores, profile, judged, report, groups, per_query=per_query)


def _check(run: str, qrels: str, names: list[str], *, formats: int, audit: bool) -> None:
    from berryeval.errors import ConfigurationError

    problem = ""
    if not names:
        problem = "name at least one metric, as in -m nDCG@10 AP"
    elif formats > 1:
        problem = "choose one of --json, --csv and --trec-format"
    elif run == qrels == "-":
        problem = "only one of QRELS and RUN can be read from stdin"
    elif audit and "-" in {run, qrels}:
        problem = "--audit reads the files twice and cannot read stdin"
    if problem:
        raise ConfigurationError(problem)


def _scored(
    run: str, qrels: str, names: list[str], profile: str, *, lenient: bool, audit: bool
) -> tuple[Scores, float]:
    """The scores, and the mean share of the top 10 that is judged."""
    from berryeval.errors import DataError
    from berryeval.metrics import parse_metrics
    from berryeval.scoring import evaluate

    if lenient:
        _refuse_swapped(run, qrels)
    try:
        scores = evaluate(qrels, run, [*names, JUDGED], profile=profile, lenient=lenient)
    except DataError as error:
        _refuse_swapped(run, qrels)
        if audit and _can_be_read(run, qrels):
            msg = f"{error}; with --lenient, --audit lists what is wrong and leaves it out"
            raise type(error)(msg) from None
        raise
    if not scores.count:
        what = "no query of the run is judged" if scores.left_out else "there are no judgments"
        msg = f"{qrels}: {what}, so there is nothing to score"
        raise DataError(msg)
    asked = JUDGED in map(str, parse_metrics(names))
    return scores if asked else scores.without(JUDGED), scores.mean[JUDGED]


def _can_be_read(run: str, qrels: str) -> bool:
    """Whether a lenient reader finds something in both files."""
    from berryeval.errors import DataError
    from berryeval.scoring import as_qrels, as_run

    try:
        as_run(run, lenient=True)
        as_qrels(qrels, lenient=True)
    except DataError:
        return False
    return True


def _refuse_swapped(run: str, qrels: str) -> None:
    """Say so if the run looks like judgments and the judgments like a run."""
    from berryeval._internal.text import command_line
    from berryeval.errors import DataError

    if "-" in {run, qrels}:
        return
    if _column_count(run) == 4 and _column_count(qrels) >= 6:  # noqa: PLR2004 - TREC formats
        msg = (
            f"QRELS and RUN seem to be swapped: {qrels} looks like a run (6 columns) and {run} "
            f"like judgments (4); judgments come first: {command_line('score', run, qrels)}"
        )
        raise DataError(msg)


def _column_count(path: str) -> int:
    """How many columns the first line has that is neither blank nor a comment."""
    from berryeval._internal.files import read_bytes
    from berryeval.errors import DataError

    try:
        beginning = read_bytes(path)[: 1 << 16].tobytes()
    except DataError:
        return 0
    for line in beginning.split(b"\n"):
        columns = line.split()
        if columns and not columns[0].startswith(b"#"):
            return len(columns)
    return 0


def _audited(run: str, qrels: str, names: list[str], profile: str) -> AuditReport:
    from berryeval.scoring import audit

    return audit(qrels, run, names, profile=profile)


def _groups(path: str | None) -> dict[str, str] | None:
    if path is None:
        return None
    import json

    from berryeval._internal.files import read_bytes
    from berryeval.errors import DataError

    try:
        found: Any = json.loads(read_bytes(path).tobytes())
    except ValueError as error:
        if isinstance(error, DataError):
            raise
        msg = f"{path}: is not JSON ({error})"
        raise DataError(msg) from None
    if isinstance(found, dict) and all(isinstance(label, str) for label in found.values()):
        return found
    msg = f'{path}: must map query ids to labels, as in {{"q1": "factual"}}'
    raise DataError(msg)


# How `berryeval score` prints its scores.

SHOWN = 5
STATISTICS = ("value", "std", "ci_low", "ci_high", "n")


def print_as_text(
    scores: Scores,
    profile: str,
    judged: float,
    report: AuditReport | None,
    groups: Mapping[str, str] | None,
    *,
    per_query: bool,
) -> None:
    """Tables for people, and what it takes to trust them."""
    screen = console()
    if per_query:
        screen.print(query_table(scores))
        screen.print()
    if groups is not None:
        screen.print(_summary_table(scores.by(groups)))
        screen.print()
    screen.print(_summary_table({"": scores}))
    screen.print()
    for line in _remarks(scores, profile, judged):
        screen.print(line)
    if report is not None:
        screen.print()
        screen.print(report.text())


def print_as_json(
    scores: Scores,
    profile: str,
    judged: float,
    report: AuditReport | None,
    groups: Mapping[str, str] | None,
    *,
    per_query: bool,
) -> None:
    """One envelope with everything."""
    data: dict[str, Any] = {"profile": profile, **scores.summary(), "judged_at_10": judged}
    if per_query:
        data["per_query"] = {
            query: {"outcome": outcome, **dict(zip(scores.metrics, values, strict=True))}
            for query, outcome, values in _rows(scores)
        }
    if groups is not None:
        data["groups"] = {label: group.summary() for label, group in scores.by(groups).items()}
    if report is not None:
        data["audit"] = report.to_dict()
    print_json("score", data)


def print_as_csv(scores: Scores, groups: Mapping[str, str] | None, *, per_query: bool) -> None:
    """A row per query, or per metric (and group)."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if per_query:
        label = [] if groups is None else ["group"]
        writer.writerow(["query", *label, "outcome", *scores.metrics])
        members = {"": scores} if groups is None else scores.by(groups)
        group_of = {query: name for name, group in members.items() for query in group.queries}
        for query, outcome, values in _rows(scores):
            writer.writerow([query, *([group_of[query]] if label else []), outcome, *values])
        return
    parts = {"": scores} if groups is None else {**scores.by(groups), "all": scores}
    writer.writerow([*([] if groups is None else ["group"]), "metric", *STATISTICS])
    for name, part in parts.items():
        for metric in part.metrics:
            low, high = part.ci(metric)
            cells = [part.mean[metric], part.std[metric], low, high, part.count]
            writer.writerow([*([] if groups is None else [name]), metric, *cells])


def print_as_trec(scores: Scores, *, per_query: bool) -> None:
    """trec_eval's lines: name, query or "all", value, rounded as trec_eval does."""
    names = [trec_name(parse_metric(metric)) for metric in scores.metrics]
    columns = list(zip(names, scores.aggregates, strict=True))
    if per_query:
        for query, _, values in _rows(scores):
            for (name, how), value in zip(columns, values, strict=True):
                if how != "geometric mean":  # trec_eval shows those for all queries only
                    print(_trec_line(name, query, value, how))
    for (name, how), value in zip(columns, scores.mean.values(), strict=True):
        print(_trec_line(name, "all", value, how))


def _trec_line(name: str, query: str, value: float, how: str) -> str:
    shown = f"{int(value)}" if how == "sum" and value.is_integer() else f"{value:6.4f}"
    return f"{name:<22}\t{query}\t{shown}"


def _rows(scores: Scores) -> Iterable[tuple[str, str, list[float]]]:
    return zip(scores.queries, scores.outcomes, scores.values.T.tolist(), strict=True)


def query_table(scores: Scores) -> Table:
    """A row per query."""
    table = Table(box=None, pad_edge=False)
    table.add_column("query")
    table.add_column("outcome")
    for metric in scores.metrics:
        table.add_column(metric, justify="right")
    for query, outcome, values in _rows(scores):
        table.add_row(query, outcome, *map(numbers.exact_metric, values))
    return table


def _summary_table(parts: Mapping[str, Scores]) -> Table:
    """A row per part and metric; a single part without a name needs no column for it."""
    table = Table(box=None, pad_edge=False)
    if named := list(parts) != [""]:
        table.add_column("group")
    table.add_column("metric")
    for title in ("mean", "std", "95% bootstrap", "n"):
        table.add_column(title, justify="right")
    for name, scores in parts.items():
        for metric, how in zip(scores.metrics, scores.aggregates, strict=True):
            shown = metric if how == "mean" else f"{metric} ({how})"
            table.add_row(
                *([name] if named else []), shown, numbers.exact_metric(scores.mean[metric]),
                numbers.exact_metric(scores.std[metric]),
                numbers.exact_interval(*scores.ci(metric), scores.count), str(scores.count),
            )  # fmt: skip
    return table


def _remarks(scores: Scores, profile: str, judged: float) -> list[str]:
    """Everything that was missing, unjudged, empty or left out."""
    counts = scores.outcome_counts
    lines = [
        (
            f"run {scores.run_name}, profile {profile}: {scores.count} queries, {counts['ok']} ok, "
            f"missing {_listed(scores.with_outcome('missing'))}, "
            f"empty {_listed(scores.with_outcome('empty'))}, "
            f"nothing relevant {_listed(scores.with_outcome('no relevant documents'))}"
        )
    ]
    if scores.retrieved:
        share = numbers.share(scores.unjudged / scores.retrieved)
        lines.append(
            f"{scores.unjudged} of {scores.retrieved} retrieved documents have no judgment "
            f"({share}), Judged@10 {numbers.exact_metric(judged)}"
        )
    if scores.left_out:
        lines.append(f"left out, judged but not in the run: {_listed(scores.left_out)}")
    if scores.extra_queries:
        lines.append(f"not scored, in the run but not judged: {_listed(scores.extra_queries)}")
    if scores.dropped:
        lines.append(f"left out of the files: {scores.dropped} faulty or repeated rows")
    return lines


def _listed(queries: Iterable[str]) -> str:
    found = list(queries)
    if not found:
        return "0"
    more = ", ..." if len(found) > SHOWN else ""
    return f"{len(found)} ({', '.join(found[:SHOWN])}{more})"
