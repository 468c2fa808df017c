"""How `berryeval score` prints its scores."""

from __future__ import annotations

import csv
import sys
from typing import TYPE_CHECKING, Any

from rich.table import Table

from berryeval.cli.output import console, print_json
from berryeval.measures import parse_measure
from berryeval.measures.trec_spelling import trec_name
from berryeval.reports import numbers

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.auditing import AuditReport
    from berryeval.scores import Scores

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
            query: {"outcome": outcome, **dict(zip(scores.measures, values, strict=True))}
            for query, outcome, values in _rows(scores)
        }
    if groups is not None:
        data["groups"] = {label: group.summary() for label, group in scores.by(groups).items()}
    if report is not None:
        data["audit"] = report.to_dict()
    print_json("score", data)


def print_as_csv(scores: Scores, groups: Mapping[str, str] | None, *, per_query: bool) -> None:
    """A row per query, or per measure (and group)."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    if per_query:
        label = [] if groups is None else ["group"]
        writer.writerow(["query", *label, "outcome", *scores.measures])
        members = {"": scores} if groups is None else scores.by(groups)
        group_of = {query: name for name, group in members.items() for query in group.queries}
        for query, outcome, values in _rows(scores):
            writer.writerow([query, *([group_of[query]] if label else []), outcome, *values])
        return
    parts = {"": scores} if groups is None else {**scores.by(groups), "all": scores}
    writer.writerow([*([] if groups is None else ["group"]), "measure", *STATISTICS])
    for name, part in parts.items():
        for measure in part.measures:
            low, high = part.ci(measure)
            cells = [part.mean[measure], part.std[measure], low, high, part.count]
            writer.writerow([*([] if groups is None else [name]), measure, *cells])


def print_as_trec(scores: Scores, *, per_query: bool) -> None:
    """trec_eval's lines: name, query or "all", value, rounded as trec_eval does."""
    names = [trec_name(parse_measure(measure)) for measure in scores.measures]
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
    for measure in scores.measures:
        table.add_column(measure, justify="right")
    for query, outcome, values in _rows(scores):
        table.add_row(query, outcome, *map(numbers.exact_measure, values))
    return table


def _summary_table(parts: Mapping[str, Scores]) -> Table:
    """A row per part and measure; a single part without a name needs no column for it."""
    table = Table(box=None, pad_edge=False)
    if named := list(parts) != [""]:
        table.add_column("group")
    table.add_column("measure")
    for title in ("mean", "std", "95% bootstrap", "n"):
        table.add_column(title, justify="right")
    for name, scores in parts.items():
        for measure, how in zip(scores.measures, scores.aggregates, strict=True):
            shown = measure if how == "mean" else f"{measure} ({how})"
            table.add_row(
                *([name] if named else []), shown, numbers.exact_measure(scores.mean[measure]),
                numbers.exact_measure(scores.std[measure]),
                numbers.exact_interval(*scores.ci(measure), scores.count), str(scores.count),
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
            f"({share}), Judged@10 {numbers.exact_measure(judged)}"
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
