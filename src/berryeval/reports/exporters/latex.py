"""LaTeX tables for a paper: booktabs, escaped names, best values bold, significance marked."""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval._internal.text import escape_direction, pluralize
from berryeval.reports.differences import collect_row_notes, group_by_pair, rows_by_group
from berryeval.reports.exports import Exporter, single_file
from berryeval.reports.legends import (
    describe_correction,
    describe_interval,
    describe_test,
    name_tests,
    warning_lines,
)
from berryeval.reports.tables import (
    build_differences_table,
    build_scores_table,
    cost_title,
    list_costs,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.reports.sections import Report, Section
    from berryeval.reports.tables import Cell
    from berryeval.stats import Comparison, PairedDifference

    # By metric and system, the letters of the systems that it is significantly better than.
    _Letters = dict[tuple[str, str], list[str]]


_ESCAPES: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
}  # fmt: skip
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_DASHES: Final = re.compile("-(?=-)")  # LaTeX would set two as one long dash
_HEAD: Final = r"% In the preamble: \usepackage[T1]{fontenc}, \usepackage{booktabs,textcomp}"
_MISSING: Final = "--"
_SIGNIFICANT: Final = r"^{\dagger}"
_MIXED: Final = r"^{\ddagger}"
_DIFFERENCE_COLUMNS: Final = {
    "metric": "Metric", "system": "System", "baseline_value": "Baseline", "system_value": "Value",
    "difference": r"$\Delta$", "interval": "CI", "p_corrected": "$p$", "effect": "Effect",
}  # fmt: skip
_DIFFERENCE_ALIGNMENT: Final = "llrrrrrl"


def render(report: Report) -> str:
    """Render a table for each benchmark and each comparison."""
    tables = [
        "\n".join(_section_lines(section, place, _significant_letters(section, report)))
        for place, section in enumerate(report.sections)
    ]
    tables += [
        "\n".join(_comparison_lines(one, place)) for place, one in enumerate(report.compared)
    ]
    return "\n\n".join([f"% {_clean(report.title)}\n{_HEAD}", *tables]) + "\n"


LATEX: Final = Exporter(
    "LaTeX tables (booktabs), significant differences marked",
    (".tex",),
    single_file("report.tex", render),
)


def escape(text: str) -> str:
    r"""Escape a text for one line of LaTeX.

    >>> print(escape("50 % of a_b -- {x}"))
    50 \% of a\_b -{}- \{x\}
    """
    return _DASHES.sub("-{}", "".join(_ESCAPES.get(letter, letter) for letter in _clean(text)))


def _clean(text: str) -> str:
    return escape_direction(" ".join(_CONTROL.sub(" ", text).split()))


def _table_lines(
    caption: str, label: str, alignment: str, titles: Sequence[str], rows: Sequence[Sequence[str]]
) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{caption}.}}"
    yield rf"  \label{{tab:berryeval-{label}}}"
    yield rf"  \begin{{tabular}}{{{alignment}}}"
    yield r"    \toprule"
    yield rf"    {' & '.join(titles)} \\"
    yield r"    \midrule"
    for row in rows:
        yield rf"    {' & '.join(row)} \\"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def _comment_lines(notes: Sequence[str]) -> Iterator[str]:
    for note in notes:
        yield f"% {_clean(note)}"


# Sections: the scores of one benchmark.


def _section_lines(section: Section, place: int, significant: _Letters) -> Iterator[str]:
    scores = {system.label: system.scores for system in section.systems}
    records = [system.record for system in section.systems]
    costs = [cost_title(one) for one in list_costs(records)]
    table = build_scores_table(scores, section.metrics, records)
    table = table.select(["provider", *section.metrics, *costs])
    caption = f"{escape(section.title)}: {pluralize(len(section.queries), 'query')}"
    if any(cell.bold for row in table.rows for cell in row):
        caption += "; best in bold"
    letters = _assign_letters(section) if significant else {}
    if significant and section.comparison is not None:
        caption += _explain_letters(section.comparison)
    rows = []
    for name, *cells in table.rows:
        letter = f"$^{{{letters[name.text]}}}$" if name.text in letters else ""
        values = [
            _format_score(cell, significant.get((metric, name.text), ()))
            for metric, cell in zip([*section.metrics, *costs], cells, strict=True)
        ]
        rows.append([escape(name.text) + letter, *values])
    titles = ["Provider", *map(escape, [*section.metrics, *costs])]
    alignment = f"l{'r' * (len(titles) - 1)}"
    yield from _table_lines(caption, f"{place + 1}", alignment, titles, rows)
    yield from _comment_lines(warning_lines(section))


def _format_score(cell: Cell, beaten: Sequence[str]) -> str:
    if cell.value is None:
        return _MISSING
    text = rf"\textbf{{{cell.text}}}" if cell.bold else cell.text
    return f"{text}$^{{{','.join(sorted(beaten))}}}$" if beaten else text


def _assign_letters(section: Section) -> dict[str, str]:
    """Assign a letter to each system with scores: a to z, then aa, ab and so on."""
    letters: dict[str, str] = {}
    for place, system in enumerate(section.scored):
        first, second = divmod(place, len(ascii_lowercase))
        before = ascii_lowercase[first - 1] if first else ""
        letters[system.label] = before + ascii_lowercase[second]
    return letters


def _significant_letters(section: Section, report: Report) -> _Letters:
    """Find which systems each one is significantly better than; none beside a comparison."""
    found: _Letters = {}
    if section.comparison is None or report.compares(section):
        return found
    letters = _assign_letters(section)
    for row in section.comparison.rows:
        if row.better:
            found.setdefault((row.metric, row.system), []).append(letters[row.baseline])
        elif row.worse:
            found.setdefault((row.metric, row.baseline), []).append(letters[row.system])
    return found


def _explain_letters(found: Comparison) -> str:
    level = numbers.format_p_value(1 - found.level)
    return (
        "; a letter after a value: significantly better than the system with this letter "
        rf"({escape(describe_test(found.rows))}, $p \leq {level}$)"
    )


# Comparisons: differences with their confidence intervals.


def _comparison_lines(one: ComparedBenchmark, place: int) -> Iterator[str]:
    found = one.comparison
    against = f" against {escape(found.baseline)}" if found.baseline else ", all pairs"
    start = f"{escape(one.benchmark)}: differences{against}"
    label = f"comparison-{place + 1}"
    queries = pluralize(found.rows[0].n, "query")
    caption = f"{start}, {queries}, {_explain_marks(found, found.rows)}"
    rows = _difference_rows(found, [("", row) for row in found.rows])
    titles = list(_DIFFERENCE_COLUMNS.values())
    yield from _table_lines(caption, label, _DIFFERENCE_ALIGNMENT, titles, rows)
    if found.groups:
        pairs = [pair[0] for pair in group_by_pair(found).values()]
        members = [member for whole in pairs for member in rows_by_group(found, whole)]
        how = _explain_marks(found, [row for _, row in members])
        caption = f"{start}, by {escape(one.by)}, {how}"
        rows = [
            [escape(group), str(row.n), *cells]
            for (group, row), cells in zip(members, _difference_rows(found, members), strict=True)
        ]
        titles = [escape(one.by), "Queries", *titles]
        alignment = f"lr{_DIFFERENCE_ALIGNMENT}"
        yield ""
        yield from _table_lines(caption, f"{label}-groups", alignment, titles, rows)
    yield from _comment_lines([*one.warnings, *found.notes, *collect_row_notes(found)])


def _difference_rows(
    found: Comparison, rows: Sequence[tuple[str, PairedDifference]]
) -> list[list[str]]:
    table = build_differences_table(rows, level=found.level).select(_DIFFERENCE_COLUMNS)
    lines = []
    for (_, row), cells in zip(rows, table.rows, strict=True):
        against = "" if found.baseline else f" against {row.baseline}"
        texts = {
            key: _MISSING if cell.text == numbers.NOTHING else cell.text
            for key, cell in zip(_DIFFERENCE_COLUMNS, cells, strict=True)
        }
        texts["metric"] = escape(row.metric)
        texts["system"] = escape(f"{row.system}{against}")
        mark = _MIXED if row.mixed else _SIGNIFICANT if row.significant else ""
        texts["difference"] = _set_math(texts["difference"], mark)
        texts["interval"] = _set_math(texts["interval"])
        if texts["p_corrected"].startswith("<"):
            texts["p_corrected"] = _set_math(texts["p_corrected"])
        lines.append(list(texts.values()))
    return lines


def _set_math(text: str, mark: str = "") -> str:
    return text if text == _MISSING else f"${text}{mark}$"


def _explain_marks(found: Comparison, rows: Sequence[PairedDifference]) -> str:
    """Return the end of a caption: intervals, test, correction and the meaning of the marks."""
    alpha = f"{round(1 - found.level, 12):g}"
    how = escape(describe_correction(found.correction))
    corrected = "" if found.correction == "none" else f" after correction ({how})"
    mixed = rf"; ${_MIXED}$ marks such a $p$ of a test that points against the difference"
    return (
        rf"{100 * found.level:g}\,\% confidence intervals ({escape(describe_interval(found))}); "
        rf"${_SIGNIFICANT}$ marks $p \le {alpha}${corrected}, "
        rf"test: {escape(name_tests(rows))}{mixed if any(row.mixed for row in rows) else ''}"
    )
