"""Notebook views of scores and audits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from berryeval._internal.notebook import (
    MOST_METRICS,
    MOST_RESAMPLED,
    SHOWN,
    Card,
    Cell,
    name_three,
)
from berryeval._internal.numbers import format_interval_around, format_metric
from berryeval._internal.text import pluralize

if TYPE_CHECKING:
    from berryeval.scoring.auditing import AuditReport, Finding
    from berryeval.scoring.scores import Scores


def preview_scores(scores: Scores) -> str:
    """Render the metrics with their intervals, the outcomes, and the worst queries."""
    outcomes = ", ".join(
        f"{count:,} {name}" for name, count in scores.outcome_counts.items() if count
    )
    share = scores.unjudged / scores.retrieved if scores.retrieved else 0.0
    card = Card(
        f"Scores of {scores.run_name}",
        pluralize(scores.count, "query"),
        outcomes if set(scores.outcomes) - {"ok"} else "",
        f"{share:.1%} of the retrieved documents are unjudged" if share else "",
    )
    many = scores.count > MOST_RESAMPLED
    rows = [(name, show_value(scores, name), scores.std[name]) for name in scores.metrics]
    title = "value" if many else "value, 95 % interval"
    card.add_table(["metric", title, "deviation"], rows, noun=("metric", "metrics"))
    card.add_notes(_list_remarks(scores))
    if many:
        card.add_notes([f"ci(metric) computes the interval of {scores.count:,} queries"])
    _add_worst(card, scores)
    return card.render()


def show_value(scores: Scores, metric: str, *, bold: bool = False) -> Cell:
    """Return the cell of a metric: its value, and its interval unless that takes long."""
    value = scores.mean[metric]
    ends = () if scores.count > MOST_RESAMPLED else scores.ci(metric)
    detail = format_interval_around(value, *ends, scores.count) if ends else ""
    return Cell(format_metric(value), detail, bold)


def rank_queries(scores: Scores, metric: str) -> list[int]:
    """Return the places of the worst queries, worst first; the first ones without a direction."""
    from berryeval.metrics import direction_of

    values = scores.values[scores.row_of(metric)]
    direction = direction_of(metric)
    if direction == "neither":
        return list(range(min(SHOWN, len(values))))
    keys = values if direction == "up" else -values
    return [int(place) for place in np.argsort(keys, kind="stable")[:SHOWN]]


def _add_worst(card: Card, scores: Scores) -> None:
    if not scores.metrics or not scores.count:
        return
    from berryeval.metrics import direction_of

    metric, shown = scores.metrics[0], scores.metrics[:MOST_METRICS]
    places = rank_queries(scores, metric)
    rows = [
        [
            scores.queries[place],
            scores.outcomes[place],
            *scores.values[:MOST_METRICS, place].tolist(),
        ]
        for place in places
    ]
    known = direction_of(metric) != "neither"
    caption = f"Worst queries by {metric}" if known else "First queries"
    card.add_table(
        ["query", "outcome", *shown],
        rows,
        caption=caption,
        total=scores.count,
        noun=("query", "queries"),
    )


def _list_remarks(scores: Scores) -> list[str]:
    found = list(scores.notes)
    if missing := scores.with_outcome("missing"):
        found.append(f"not in the run, so they score 0: {name_three(missing)}")
    if scores.extra_queries:
        found.append(f"without judgments, so not scored: {name_three(scores.extra_queries)}")
    if scores.left_out:
        found.append(f"left out by the profile: {name_three(scores.left_out)}")
    if scores.dropped:
        found.append(f"{pluralize(scores.dropped, 'row')} dropped")
    return found


def preview_audit(report: AuditReport, findings: Sequence[tuple[str, Sequence[Finding]]]) -> str:
    """Render each kind of finding with its count and examples, and the ranges under ties."""
    card = Card(
        f"Audit of {report.run}",
        pluralize(report.queries, "judged query"),
        f"top {report.k}",
        "" if any(found for _, found in findings) else "nothing to report",
    )
    rows = [
        (title, len(found), name_three([one.text for one in found]))
        for title, found in findings
        if found
    ]
    card.add_table(["finding", "count", "examples"], rows)
    ranges = [
        (name, one.value, one.worst, one.best, one.expected)
        for name, one in report.tie_ranges.items()
    ]
    titles = ["metric", "value", "worst", "best", "expected"]
    card.add_table(titles, ranges, caption="With ties broken in other ways")
    return card.render()
