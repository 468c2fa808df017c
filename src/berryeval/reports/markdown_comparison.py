"""A comparison in Markdown: the table of differences, categories and moved queries folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.reports import numbers
from berryeval.reports.differences import (
    MIXED,
    cells_of,
    finding,
    has_family,
    has_mixed,
    heading_of,
    pairs_of,
    row_notes,
    titles_of,
    why,
)
from berryeval.reports.methods import correction_words, interval_words, method_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from berryeval.reports.compared import ComparedBenchmark, MovedQuery
    from berryeval.stats import PairedDifference

    Escape = Callable[[str], str]

__all__ = ["comparison_parts", "table_of"]

_MARKS = {"better": "🔼 better", "worse": "🔽 worse"}


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
        first = found.measures[0]
        members = [
            (label, row)
            for label, group in found.groups.items()
            for row in group.rows
            if row.measure == first
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
    """A row per measure and pair; groups have columns for their names and sizes."""
    grouped, family = any(label for label, _ in rows), has_family(one)
    every = one.comparison.baseline is None
    start = [one.by, "queries"] if grouped else []
    names = ["system", "against"] if every else ["system"]
    cells = titles_of(one.comparison.level, corrected=family)
    titles = [*map(escaped, start), "measure", *names, *cells, "finding"]
    body = [
        [
            *([escaped(label), str(row.n)] if grouped else []),
            escaped(row.measure),
            escaped(row.system),
            *([escaped(row.baseline)] if every else []),
            *cells_of(row, corrected=family),
            _MARKS.get(finding(row), finding(row)),
        ]
        for label, row in rows
    ]
    align = "lr" * grouped + "l" * (1 + len(names)) + "r" * len(cells) + "l"
    return table_of(titles, body, align)


def _moved(query: MovedQuery, escaped: Escape) -> str:
    change = (
        f"{numbers.measure(query.before)} → {numbers.measure(query.after)} "
        f"({numbers.delta(query.change)})"
    )
    head = (
        f"**{escaped(query.text or query.query_id)}** ({escaped(query.query_id)}), "
        f"{escaped(query.measure)} of {escaped(query.system)}: {change}"
    )
    lines = [f"- {escaped(line)}" for line in why(query)]
    return "\n".join([head, "", *lines])
