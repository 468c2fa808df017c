"""LaTeX tables for a paper: booktabs, everything escaped, the best in bold, findings marked."""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval._internal.text import visible_direction
from berryeval.reports.differences import group_rows, interval_cell, pairs_of, row_notes
from berryeval.reports.files import Exporter, one_file
from berryeval.reports.tables import (
    best_value,
    correction_words,
    doubts_of,
    how_tested,
    interval_words,
    is_best,
    tested_by,
    value_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.stats import PairedDifference


# A comparison as a LaTeX table: differences with their intervals, findings marked.

_MARK: Final = r"^{\dagger}"
_MIXED: Final = r"^{\ddagger}"  # what the test found is not this difference
_TITLES: Final = ("Metric", "System", "Baseline", "Value", r"$\Delta$", "CI", "$p$", "Effect")
_ALIGNED: Final = "llrrrrrl"


def comparison_table(
    one: ComparedBenchmark, place: int, escaped: Callable[[str], str]
) -> Iterator[str]:
    """The lines of the table, and of one by group if there are groups; captions say how."""
    found = one.comparison
    every = found.baseline is None
    against = ", all pairs" if every else f" against {escaped(str(found.baseline))}"
    begin = rf"{escaped(one.benchmark)}: differences{against}"
    label = f"tab:berryeval-comparison-{place + 1}"
    rows = [_cells(row, escaped, every=every) for row in found.rows]
    queries = f"{found.rows[0].n} queries"
    yield from _latex_comparison_table(
        f"{begin}, {queries}, {_how(one, found.rows, escaped)}", label, _TITLES, rows
    )
    if found.groups:
        pairs = [pair[0] for pair in pairs_of(found).values()]
        members = [member for whole in pairs for member in group_rows(found, whole)]
        rows = [
            [escaped(name), str(row.n), *_cells(row, escaped, every=every)] for name, row in members
        ]
        how = _how(one, [row for _, row in members], escaped)
        titles = (escaped(one.by), "Queries", *_TITLES)
        yield ""
        yield from _latex_comparison_table(
            f"{begin}, by {escaped(one.by)}, {how}", f"{label}-groups", titles, rows
        )


def _how(
    one: ComparedBenchmark, rows: Sequence[PairedDifference], escaped: Callable[[str], str]
) -> str:
    """The end of a caption: how it was tested, and what marks a finding."""
    found = one.comparison
    alpha = f"{round(1 - found.level, 12):g}"
    how = escaped(correction_words(found.correction))
    family = "" if found.correction == "none" else f" after correction ({how})"
    return (
        rf"{100 * found.level:g}\,\% intervals ({escaped(interval_words(found))}); "
        rf"${_MARK}$ marks $p \le {alpha}${family}, "
        rf"test: {escaped(tested_by(rows))}{_on_mixed(rows)}"
    )


def _latex_comparison_table(
    caption: str, label: str, titles: Sequence[str], rows: Sequence[list[str]]
) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{caption}.}}"
    yield rf"  \label{{{label}}}"
    columns = "lr" * (len(titles) > len(_TITLES)) + _ALIGNED
    yield rf"  \begin{{tabular}}{{{columns}}}"
    yield r"    \toprule"
    yield f"    {_row(list(titles))}"
    yield r"    \midrule"
    for row in rows:
        yield f"    {_row(row)}"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def _cells(row: PairedDifference, escaped: Callable[[str], str], *, every: bool) -> list[str]:
    mark = _MIXED if row.mixed else _MARK if row.significant else ""
    system = f"{row.system} against {row.baseline}" if every else row.system
    ends = interval_cell(row)
    low_high = "--" if ends == numbers.NOTHING else f"${ends}$"
    return [
        escaped(row.metric),
        escaped(system),
        numbers.metric(row.baseline_value) if row.n else "--",
        numbers.metric(row.system_value) if row.n else "--",
        f"${numbers.delta(row.difference)}{mark}$" if row.n else "--",
        low_high,
        "--" if row.p_corrected is None else _p(numbers.p_value(row.p_corrected)),
        row.effect.word if row.effect else "--",
    ]


def _on_mixed(rows: Sequence[PairedDifference]) -> str:
    if not any(row.mixed for row in rows):
        return ""
    return rf"; ${_MIXED}$ marks such a $p$ of a test that points against the difference"


def _p(text: str) -> str:
    return f"${text}$" if text.startswith("<") else text


if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from berryeval.reports.differences import ComparedBenchmark
    from berryeval.reports.report import Report, Section, System
    from berryeval.stats import Comparison

    # By metric and system, the letters of those that it is shown to be better than.
    _Marks = dict[tuple[str, str], list[str]]


_ESCAPES: Final = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}",
    "'": r"\textquotesingle{}", "`": r"\textasciigrave{}",
}  # fmt: skip
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]+")
_DASHES: Final = re.compile("-(?=-)")  # two would be set as one long dash
_HEAD: Final = r"% In the preamble: \usepackage[T1]{fontenc}, \usepackage{booktabs,textcomp}"


def escaped(text: str) -> str:
    r"""A text of one line that LaTeX sets as it is.

    >>> print(escaped("50 % of a_b -- {x}"))
    50 \% of a\_b -{}- \{x\}
    """
    plain = _line(text)
    text = "".join(_ESCAPES.get(letter, letter) for letter in plain)
    return _DASHES.sub("-{}", text)


def render(report: Report) -> str:
    """A table per benchmark."""
    tables = [
        "\n".join(_table(section, place, _marks(section, report)))
        for place, section in enumerate(report.sections)
    ]
    tables += [
        "\n".join([*comparison_table(one, place, escaped), *_comments(one)])
        for place, one in enumerate(report.compared)
    ]
    return "\n\n".join([f"% {_line(report.title)}\n{_HEAD}", *tables]) + "\n"


LATEX: Final = Exporter(
    "LaTeX tables (booktabs), findings marked", (".tex",), one_file("report.tex", render)
)


def _line(text: str) -> str:
    """A text that stays on its line, also in a comment."""
    return visible_direction(" ".join(_CONTROL.sub(" ", text).split()))


def _table(section: Section, place: int, marks: _Marks) -> Iterator[str]:
    from berryeval._internal.text import counted

    metrics = section.metrics
    rows = [system.scores for system in section.systems]
    best = {metric: best_value(rows, metric) for metric in metrics}
    queries = counted(len(section.queries), "query", "queries")
    about = "; best in bold" if any(one is not None for one in best.values()) else ""
    about += _legend(section.comparison) if marks else ""
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{escaped(section.title)}: {queries}{about}.}}"
    yield rf"  \label{{tab:berryeval-{place + 1}}}"
    yield rf"  \begin{{tabular}}{{l{'r' * len(metrics)}}}"
    yield r"    \toprule"
    yield f"    {_row(['Provider', *map(escaped, metrics)])}"
    yield r"    \midrule"
    letters = _letters(section)
    for system in section.systems:
        letter = f"$^{{{letters[system.label]}}}$" if marks and system.label in letters else ""
        cells = _values(system, metrics, best, marks)
        yield f"    {_row([escaped(system.label) + letter, *cells])}"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"
    for about, note in doubts_of(section):
        yield f"% {_line(f'{about}: {note}' if about else note)}"


def _comments(one: ComparedBenchmark) -> Iterator[str]:
    found = one.comparison
    for note in (*one.warnings, *found.notes, *row_notes(found)):
        yield f"% {_line(note)}"


def _letters(section: Section) -> dict[str, str]:
    """A letter for each system that has scores; beyond z there is a second one."""
    letters: dict[str, str] = {}
    for place, system in enumerate(section.scored):
        first, second = divmod(place, len(ascii_lowercase))
        before = ascii_lowercase[first - 1] if first else ""
        letters[system.label] = before + ascii_lowercase[second]
    return letters


def _marks(section: Section, report: Report) -> _Marks:
    """The letters of what every two systems show; none beside a comparison that was asked for."""
    found: dict[tuple[str, str], list[str]] = {}
    if section.comparison is None or report.compares(section):
        return found
    letters = _letters(section)
    for row in section.comparison.rows:
        if row.better:
            found.setdefault((row.metric, row.system), []).append(letters[row.baseline])
        elif row.worse:
            found.setdefault((row.metric, row.baseline), []).append(letters[row.system])
    return found


def _legend(comparison: Comparison | None) -> str:
    if comparison is None:
        return ""
    level = numbers.p_value(1 - comparison.level)
    how = escaped(how_tested(comparison.rows))
    return (
        "; a letter behind a value: significantly better than the system of this letter "
        rf"({how}, $p \leq {level}$)"
    )


def _values(
    system: System,
    metrics: tuple[str, ...],
    best: Mapping[str, float | None],
    marks: _Marks,
) -> Iterator[str]:
    for metric in metrics:
        value = value_of(system.scores, metric)
        if value is None:
            yield "--"
            continue
        shown = numbers.metric(value)
        shown = rf"\textbf{{{shown}}}" if is_best(value, best[metric]) else shown
        beaten = ",".join(sorted(marks.get((metric, system.label), ())))
        yield f"{shown}$^{{{beaten}}}$" if beaten else shown


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
