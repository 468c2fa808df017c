"""Markdown for a pull request: a table per benchmark, categories folded, warnings, verdicts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval._internal.text import counted, shortened, visible_direction
from berryeval.reports.differences import (
    MIXED,
    cells_of,
    finding,
    has_family,
    has_mixed,
    heading_of,
    interval_cell,
    pairs_of,
    row_notes,
    titles_of,
    why,
)
from berryeval.reports.files import Exporter, one_file
from berryeval.reports.tables import (
    best_value,
    by_category,
    correction_words,
    doubts_of,
    how_tested,
    interval_text,
    interval_words,
    is_best,
    legend_of,
    method_words,
    namesakes,
    outcomes,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.reports.report import Report, Section, System
    from berryeval.scoring import Scores


# A comparison in Markdown: the table of differences, categories and moved queries folded.

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from berryeval.reports.differences import ComparedBenchmark, MovedQuery
    from berryeval.stats import PairedDifference

    Escape = Callable[[str], str]


_MARKDOWN_COMPARISON_MARKS = {"better": "🔼 better", "worse": "🔽 worse"}


def table_of(titles: Sequence[str], rows: Sequence[Sequence[str]], align: str) -> str:
    """A table; `align` has an r for every column of numbers."""
    ruler = [("---:" if side == "r" else "---") for side in align or "l" * len(titles)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (titles, ruler, *rows))


def comparison_parts(one: ComparedBenchmark, escaped: Escape) -> Iterator[str]:
    """The paragraphs and tables about one comparison."""
    found = one.comparison
    yield f"### {escaped(one.benchmark)}: {escaped(heading_of(found))}"
    yield _table([("", row) for row in found.rows], one, escaped)
    rows = [pair[0] for pair in pairs_of(found).values()]
    yield "\n".join(f"- {escaped(row.sentence)}" for row in rows)
    if found.groups:
        first = found.metrics[0]
        members = [
            (label, row)
            for label, group in found.groups.items()
            for row in group.rows
            if row.metric == first
        ]
        yield _folded(f"By {escaped(one.by)}", _table(members, one, escaped))
    if one.moved:
        text = "\n\n".join(_moved(query, escaped) for query in one.moved)
        yield _folded("The queries that moved most", text)
    notes = [f"- ⚠️ {escaped(warning)}" for warning in one.warnings]
    said = [MIXED] if has_mixed(one) else []
    notes += [f"- {escaped(note)}" for note in (*said, *found.notes, *row_notes(found))]
    if notes:
        yield "\n".join(notes)
    yield f"<sub>{escaped(_method(one))}</sub>"


def _method(one: ComparedBenchmark) -> str:
    found = one.comparison
    return (
        f"differences are system less baseline; CI: {interval_words(found)}; "
        f"test: {method_words(found)}; correction: {correction_words(found.correction)}; "
        "W/T/L: queries with a higher, an equal, a lower value; "
        f"seed {found.seed}"
    )


def _folded(title: str, text: str) -> str:
    return f"<details><summary>{title}</summary>\n\n{text}\n\n</details>"


def _table(
    rows: Sequence[tuple[str, PairedDifference]], one: ComparedBenchmark, escaped: Escape
) -> str:
    """A row per metric and pair; groups have columns for their names and sizes."""
    grouped, family = any(label for label, _ in rows), has_family(one)
    every = one.comparison.baseline is None
    start = [one.by, "queries"] if grouped else []
    names = ["system", "against"] if every else ["system"]
    cells = titles_of(one.comparison.level, corrected=family)
    titles = [*map(escaped, start), "metric", *names, *cells, "finding"]
    body = [
        [
            *([escaped(label), str(row.n)] if grouped else []),
            escaped(row.metric),
            escaped(row.system),
            *([escaped(row.baseline)] if every else []),
            *cells_of(row, corrected=family),
            _MARKDOWN_COMPARISON_MARKS.get(finding(row), finding(row)),
        ]
        for label, row in rows
    ]
    align = "lr" * grouped + "l" * (1 + len(names)) + "r" * len(cells) + "l"
    return table_of(titles, body, align)


def _moved(query: MovedQuery, escaped: Escape) -> str:
    change = (
        f"{numbers.metric(query.before)} → {numbers.metric(query.after)} "
        f"({numbers.delta(query.change)})"
    )
    head = (
        f"**{escaped(query.text or query.query_id)}** ({escaped(query.query_id)}), "
        f"{escaped(query.metric)} of {escaped(query.system)}: {change}"
    )
    lines = [f"- {escaped(line)}" for line in why(query)]
    return "\n".join([head, "", *lines])


_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_SPECIAL: Final = re.compile(r"([\\`*_\[\]|~$])")
_MENTION: Final = re.compile(r"(?<!\w)@(?=\w)")
_MARKS: Final = {"pass": "✅", "fail": "❌", "inconclusive": "⚠️"}
_TIMES: Final = ("p50", "p95")


def escaped(text: str) -> str:
    """A text of one line that Markdown shows as it is, and that calls nobody."""
    line = visible_direction(" ".join(_CONTROL.sub(" ", text).split()))
    plain = line.replace("&", "&amp;").replace("<", "&lt;")
    return _MENTION.sub("@<!-- -->", _SPECIAL.sub(r"\\\1", plain))


def render(report: Report) -> str:
    """The whole text."""
    parts = [f"## {escaped(report.title)}"]
    if report.note:
        parts.append(escaped(report.note))
    if report.verdicts:
        parts.append(_verdicts(report))
    for one in report.compared:
        parts.extend(comparison_parts(one, escaped))
    for section in report.sections:
        parts.extend(_section(section, differences=not report.compares(section)))
    parts.append(_origin(report))
    return "\n\n".join(parts) + "\n"


MARKDOWN: Final = Exporter(
    "a Markdown table for a pull request", (".md", ".markdown"), one_file("report.md", render)
)


def _verdicts(report: Report) -> str:
    rows = []
    for one in report.verdicts:
        where = " on ".join(escaped(name) for name in (one.provider, one.benchmark) if name)
        group = f" ({escaped(one.group)})" if one.group else ""
        shown = f"{_MARKS[one.status]} {one.status}"
        rows.append([shown, escaped(one.rule), f"{where}{group}", escaped(one.sentence)])
    return table_of(["verdict", "rule", "of", "found"], rows, "")


def _section(section: Section, *, differences: bool) -> Iterator[str]:
    count = counted(len(section.queries), "query", "queries")
    same = section.title == section.name  # otherwise the title says how many
    yield f"### {escaped(section.title)}" + (f": {count}" if same else "")
    titles = ["provider", *section.metrics, *(f"{name} ms" for name in _TIMES), "outcomes"]
    tables = [system.scores for system in section.systems]
    best = _best(tables, section.metrics)
    rows = [
        [
            escaped(system.label),
            *_values(system.scores, section.metrics, best),
            *_times(system),
            escaped(outcomes(system.record)),
        ]
        for system in section.systems
    ]
    yield table_of([escaped(title) for title in titles], rows, "l" + "r" * (len(titles) - 2) + "l")
    legend = legend_of("bold: the best of its column", tables, section.metrics)
    if legend:
        yield f"<sub>{legend}{' over the queries' * legend.endswith('interval')}</sub>"
    same_name = [f"- {escaped(line)}" for line in namesakes(section)]
    if same_name:
        yield "\n".join(same_name)
    categories = _categories(section)
    if categories:
        yield f"<details><summary>By category</summary>\n\n{categories}\n\n</details>"
    shown = _differences(section) if differences else ""
    if shown:
        yield f"<details><summary>Differences</summary>\n\n{shown}\n\n</details>"
    warnings = list(_warnings(section))
    if warnings:
        yield "\n".join(warnings)


def _best(rows: Sequence[Scores | None], metrics: Sequence[str]) -> dict[str, float | None]:
    return {metric: best_value(rows, metric) for metric in metrics}


def _values(
    scores: Scores | None, metrics: Sequence[str], best: dict[str, float | None]
) -> Iterator[str]:
    for metric in metrics:
        value = value_of(scores, metric)
        if scores is None or value is None:
            yield numbers.NOTHING
            continue
        shown = numbers.metric(value)
        shown = f"**{shown}**" if is_best(value, best[metric]) else shown
        ends = interval_text(scores, metric)
        yield f"{shown} <sub>{ends}</sub>" if ends else shown


def _times(system: System) -> list[str]:
    latency = system.latency
    if latency is None:
        return [numbers.NOTHING] * len(_TIMES)
    return [numbers.milliseconds(getattr(latency, name)) for name in _TIMES]


def _categories(section: Section) -> str:
    rows = []
    for name, found in by_category(section).items():
        best = _best([scores for _, scores in found], section.metrics)
        rows += [
            [
                escaped(name),
                str(scores.count),
                escaped(system.label),
                *_values(scores, section.metrics, best),
            ]
            for system, scores in found
        ]
    titles = ["category", "queries", "provider", *map(escaped, section.metrics)]
    return table_of(titles, rows, "lrl" + "r" * len(section.metrics)) if rows else ""


def _differences(section: Section) -> str:
    """Every two systems: how much they differ, and whether that is a finding."""
    comparison = section.comparison
    if comparison is None:
        return ""
    rows = []
    for row in comparison.rows:
        shown = numbers.delta(row.difference)
        p = row.p_corrected
        rows.append(
            [
                escaped(row.metric),
                f"{escaped(row.system)} − {escaped(row.baseline)}",  # noqa: RUF001 - a minus
                f"**{shown}**" if row.shown else shown,
                interval_cell(row),
                numbers.NOTHING if p is None else numbers.p_value(p),
                f"{row.wins} / {row.ties} / {row.losses}",
            ]
        )
    titles = ["metric", "systems", "difference", "95 % interval", "p", "wins / ties / losses"]
    made = f"intervals: {interval_words(comparison)}; p: {how_tested(comparison.rows)}"
    how = f"{made}; bold: a finding"
    return f"{table_of(titles, rows, 'llrrrr')}\n\n<sub>{escaped(how)}</sub>"


def _warnings(section: Section) -> Iterator[str]:
    for system in section.systems:
        if system.record.failure:
            why = escaped(shortened(system.record.failure))
            yield f"- ❌ {escaped(system.label)} failed: {why}"
    for about, note in doubts_of(section):
        yield f"- ⚠️ {escaped(f'{about}: {note}' if about else note)}"


def _origin(report: Report) -> str:
    """Which runs it is made from."""
    lines = []
    for run in report.runs:
        version = escaped(str(run.versions.get("berryeval", "")))
        by = f"BerryEval {version}" if version else ""
        facts = (f"run {escaped(run.id)}", escaped(run.created), by)
        lines.append(", ".join(filter(None, facts)))  # files of rankings say not when or by what
    return f"<sub>{'; '.join(lines)}</sub>"
