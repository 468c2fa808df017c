"""Markdown for a pull request: a table per benchmark, categories folded, warnings, verdicts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from berryeval.io.visible import visible_direction
from berryeval.io.words import counted, shortened
from berryeval.reports import numbers
from berryeval.reports.differences import interval_cell
from berryeval.reports.exporter import Exporter, one_file
from berryeval.reports.legend import legend_of, namesakes
from berryeval.reports.markdown_comparison import comparison_parts, table_of
from berryeval.reports.methods import how_tested, interval_words
from berryeval.reports.rows import (
    best_value,
    by_category,
    doubts_of,
    interval_text,
    is_best,
    outcomes,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.reports.model import Report, Section, System
    from berryeval.scores import Scores

__all__ = ["MARKDOWN", "escaped", "render"]

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
    titles = ["provider", *section.measures, *(f"{name} ms" for name in _TIMES), "outcomes"]
    tables = [system.scores for system in section.systems]
    best = _best(tables, section.measures)
    rows = [
        [
            escaped(system.label),
            *_values(system.scores, section.measures, best),
            *_times(system),
            escaped(outcomes(system.record)),
        ]
        for system in section.systems
    ]
    yield table_of([escaped(title) for title in titles], rows, "l" + "r" * (len(titles) - 2) + "l")
    legend = legend_of("bold: the best of its column", tables, section.measures)
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


def _best(rows: Sequence[Scores | None], measures: Sequence[str]) -> dict[str, float | None]:
    return {measure: best_value(rows, measure) for measure in measures}


def _values(
    scores: Scores | None, measures: Sequence[str], best: dict[str, float | None]
) -> Iterator[str]:
    for measure in measures:
        value = value_of(scores, measure)
        if scores is None or value is None:
            yield numbers.NOTHING
            continue
        shown = numbers.measure(value)
        shown = f"**{shown}**" if is_best(value, best[measure]) else shown
        ends = interval_text(scores, measure)
        yield f"{shown} <sub>{ends}</sub>" if ends else shown


def _times(system: System) -> list[str]:
    latency = system.latency
    if latency is None:
        return [numbers.NOTHING] * len(_TIMES)
    return [numbers.milliseconds(getattr(latency, name)) for name in _TIMES]


def _categories(section: Section) -> str:
    rows = []
    for name, found in by_category(section).items():
        best = _best([scores for _, scores in found], section.measures)
        rows += [
            [
                escaped(name),
                str(scores.count),
                escaped(system.label),
                *_values(scores, section.measures, best),
            ]
            for system, scores in found
        ]
    titles = ["category", "queries", "provider", *map(escaped, section.measures)]
    return table_of(titles, rows, "lrl" + "r" * len(section.measures)) if rows else ""


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
                escaped(row.measure),
                f"{escaped(row.system)} − {escaped(row.baseline)}",  # noqa: RUF001 - a minus
                f"**{shown}**" if row.shown else shown,
                interval_cell(row),
                numbers.NOTHING if p is None else numbers.p_value(p),
                f"{row.wins} / {row.ties} / {row.losses}",
            ]
        )
    titles = ["measure", "systems", "difference", "95 % interval", "p", "wins / ties / losses"]
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
