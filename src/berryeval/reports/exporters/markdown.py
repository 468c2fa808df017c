"""Markdown for a pull request: verdicts, a table per benchmark, groups and differences folded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval._internal.text import escape_direction, pluralize, truncate_with_count
from berryeval.reports.differences import (
    MIXED,
    collect_row_notes,
    displayed_rows,
    explain_change,
    first_metric_groups,
    format_heading,
    group_by_pair,
    has_mixed,
)
from berryeval.reports.exports import Exporter, single_file
from berryeval.reports.legends import (
    build_legend,
    describe_correction,
    describe_interval,
    describe_namesakes,
    describe_test,
    name_fallen,
    name_tests,
    warning_lines,
)
from berryeval.reports.sections import format_tags
from berryeval.reports.stage_tables import list_stage_tables
from berryeval.reports.tables import (
    build_differences_table,
    build_groups_table,
    build_scores_table,
    build_verdicts_table,
    result_keys,
)

if TYPE_CHECKING:
    from berryeval.reports.differences import ComparedBenchmark, MovedQuery
    from berryeval.reports.sections import Report, Section
    from berryeval.reports.tables import Cell, Table
    from berryeval.stats import Comparison, PairedDifference


_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_SPECIAL: Final = re.compile(r"([\\`*_\[\]|~$])")
_MENTION: Final = re.compile(r"(?<!\w)@(?=\w)")
_STATUS_MARKS: Final = {"pass": "✅", "fail": "❌", "inconclusive": "⚠️"}
_FINDING_MARKS: Final = {"better": "🔼", "worse": "🔽"}


def render(report: Report) -> str:
    """Render the report."""
    parts = [f"## {escape(report.title)}"]
    if report.note:
        parts.append(escape(report.note))
    if report.verdicts:
        parts.append(render_table(build_verdicts_table(report.verdicts), _STATUS_MARKS))
        fallen = [name_fallen(one, strict=report.strict) for one in report.verdicts]
        parts.extend(_describe_fallen(lines) for lines in fallen if lines)
    for one in report.compared:
        parts.extend(comparison_parts(one))
    for section in report.sections:
        parts.extend(_section_parts(section, with_differences=not report.compares(section)))
    parts.append(_describe_origin(report))
    return "\n\n".join(parts) + "\n"


def _describe_fallen(fallen: Sequence[str]) -> str:
    """Return the queries that fell as a folded list."""
    title, *lines = fallen
    items = [f"{'  ' * (line.startswith('    '))}- {escape(line.strip())}" for line in lines]
    summary = f"<details><summary>{escape(title)}</summary>"
    return "\n".join([summary, "", *items, "", "</details>"])


MARKDOWN: Final = Exporter(
    "a Markdown table for a pull request", (".md", ".markdown"), single_file("report.md", render)
)


def escape(text: str) -> str:
    """Escape a text for one line of Markdown, and disable @mentions."""
    line = escape_direction(" ".join(_CONTROL.sub(" ", text).split()))
    plain = line.replace("&", "&amp;").replace("<", "&lt;")
    return _MENTION.sub("@<!-- -->", _SPECIAL.sub(r"\\\1", plain))


def render_table(table: Table, marks: dict[str, str] | None = None, *, bold: bool = True) -> str:
    """Render a table, with `marks` (emoji) before cells of these texts."""
    marks = marks or {}

    def show(cell: Cell, *, numeric: bool) -> str:
        # Texts of our own numbers need no escaping, and intervals keep their brackets.
        text = cell.text if numeric else escape(cell.text)
        text = f"{marks[text]} {text}" if text in marks else text
        text = f"**{text}**" if bold and cell.bold else text
        return f"{text} <sub>{cell.detail}</sub>" if cell.detail else text

    lines = [[escape(title) for title in table.titles]]
    lines.append(["---:" if column.numeric else "---" for column in table.columns])
    numeric = [column.numeric for column in table.columns]
    lines += [
        [show(cell, numeric=one) for cell, one in zip(row, numeric, strict=True)]
        for row in table.rows
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _fold(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _render_list(lines: Sequence[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


# Comparisons.


def comparison_parts(one: ComparedBenchmark) -> Iterator[str]:
    """Yield the paragraphs and tables of one comparison."""
    found = one.comparison
    yield f"### {escape(one.benchmark)}: {escape(format_heading(found))}"
    yield _comparison_table(one, [("", row) for row in found.rows])
    yield _render_list([escape(rows[0].sentence) for rows in group_by_pair(found).values()])
    if found.groups:
        yield _fold(f"By {escape(one.by)}", _comparison_table(one, first_metric_groups(found)))
    if one.moved:
        text = "\n\n".join(map(_render_moved, one.moved))
        yield _fold("The queries that changed most", text)
    notes = [MIXED] * has_mixed(one) + [*found.notes, *collect_row_notes(found)]
    lines = [f"⚠️ {escape(text)}" for text in one.warnings] + [escape(text) for text in notes]
    if lines:
        yield _render_list(lines)
    yield f"<sub>{escape(_describe_method(found))}</sub>"


def _comparison_table(one: ComparedBenchmark, rows: Sequence[tuple[str, PairedDifference]]) -> str:
    """Render a row per metric and pair; groups add columns for their names and sizes."""
    found = one.comparison
    groups = ["group", "queries"] if any(label for label, _ in rows) else []
    systems = ["system"] if found.baseline else ["system", "baseline"]
    keys = [*groups, "metric", *systems, *result_keys(one), "finding"]
    table = build_differences_table(rows, level=found.level, by=one.by)
    return render_table(table.select(keys), _FINDING_MARKS, bold=False)


def _describe_method(found: Comparison) -> str:
    return (
        f"differences are system minus baseline; CI: {describe_interval(found)}; "
        f"test: {name_tests(displayed_rows(found))}; "
        f"correction: {describe_correction(found.correction)}; "
        f"W/T/L: queries with a higher, equal and lower value; seed {found.seed}"
    )


def _render_moved(query: MovedQuery) -> str:
    change = (
        f"{numbers.format_metric(query.before)} → {numbers.format_metric(query.after)} "
        f"({numbers.format_delta(query.change)})"
    )
    head = (
        f"**{escape(query.text or query.query_id)}** ({escape(query.query_id)}), "
        f"{escape(query.metric)} of {escape(query.system)}: {change}"
    )
    return f"{head}\n\n{_render_list([escape(line) for line in explain_change(query)])}"


# Sections: the scores of one benchmark.


def _section_parts(section: Section, *, with_differences: bool) -> Iterator[str]:
    count = pluralize(len(section.queries), "query")
    plain = section.title == section.name  # other titles contain the number of queries
    yield f"### {escape(section.title)}" + (f": {count}" if plain else "")
    scores = {system.label: system.scores for system in section.systems}
    records = [system.record for system in section.systems]
    yield render_table(build_scores_table(scores, section.metrics, records))
    legend = build_legend("bold: best in column", scores.values(), section.metrics)
    if legend:
        yield f"<sub>{legend}{' over the queries' * legend.endswith('interval')}</sub>"
    namesakes = describe_namesakes(section)
    if namesakes:
        yield _render_list([escape(line) for line in namesakes])
    for stages in list_stage_tables({one.label: one.record for one in section.systems}):
        yield f"#### Stages of {escape(stages.provider)}"
        yield from (render_table(one) for one in (stages.quality, stages.speed) if one.rows)
        yield f"<sub>{escape(stages.note)}</sub>"
    groups = build_groups_table(section)
    if groups.rows:
        yield _fold("By category", render_table(groups))
    if with_differences and section.comparison is not None:
        yield _fold("Differences", _render_differences(section.comparison))
    warnings = list(_warnings(section))
    if warnings:
        yield _render_list(warnings)


def _render_differences(found: Comparison) -> str:
    keys = ["metric", "pair", "difference", "interval", "p_corrected", "wins_ties_losses"]
    table = build_differences_table([("", row) for row in found.rows], level=found.level)
    how = (
        f"differences are the first system minus the second; CI: {describe_interval(found)}; "
        f"p: {describe_test(found.rows)}; bold: significant; "
        "W/T/L: queries with a higher, equal and lower value"
    )
    table = table.select(keys, {"p_corrected": "p"})
    return f"{render_table(table)}\n\n<sub>{escape(how)}</sub>"


def _warnings(section: Section) -> Iterator[str]:
    for system in section.systems:
        if system.record.failure:
            reason = escape(truncate_with_count(system.record.failure))
            yield f"❌ {escape(system.label)} failed: {reason}"
    for line in warning_lines(section):
        yield f"⚠️ {escape(line)}"


def _describe_origin(report: Report) -> str:
    """Name the runs of the report; runs read from ranking files have no date or version."""
    lines = []
    for run in report.runs:
        version = escape(str(run.versions.get("berryeval", "")))
        facts = (
            f"run {escape(run.id)}", escape(run.created), escape(format_tags(run.tags)),
            f"BerryEval {version}" * bool(version),
        )  # fmt: skip
        lines.append(", ".join(filter(None, facts)))
    return f"<sub>{'; '.join(lines)}</sub>"
