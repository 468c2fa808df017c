"""LaTeX tables for a paper: booktabs, everything escaped, the best in bold, findings marked."""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final

from berryeval.io.visible import visible_direction
from berryeval.reports import numbers
from berryeval.reports.differences import row_notes
from berryeval.reports.exporter import Exporter, one_file
from berryeval.reports.latex_comparison import comparison_table
from berryeval.reports.methods import how_tested
from berryeval.reports.rows import best_value, doubts_of, is_best, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from berryeval.reports.compared import ComparedBenchmark
    from berryeval.reports.model import Report, Section, System
    from berryeval.stats import Comparison

    # By measure and system, the letters of those that it is shown to be better than.
    _Marks = dict[tuple[str, str], list[str]]

__all__ = ["LATEX", "escaped", "render"]

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
    from berryeval.io.words import counted

    measures = section.measures
    rows = [system.scores for system in section.systems]
    best = {measure: best_value(rows, measure) for measure in measures}
    queries = counted(len(section.queries), "query", "queries")
    about = "; best in bold" if any(one is not None for one in best.values()) else ""
    about += _legend(section.comparison) if marks else ""
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{escaped(section.title)}: {queries}{about}.}}"
    yield rf"  \label{{tab:berryeval-{place + 1}}}"
    yield rf"  \begin{{tabular}}{{l{'r' * len(measures)}}}"
    yield r"    \toprule"
    yield f"    {_row(['Provider', *map(escaped, measures)])}"
    yield r"    \midrule"
    letters = _letters(section)
    for system in section.systems:
        letter = f"$^{{{letters[system.label]}}}$" if marks and system.label in letters else ""
        cells = _values(system, measures, best, marks)
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
            found.setdefault((row.measure, row.system), []).append(letters[row.baseline])
        elif row.worse:
            found.setdefault((row.measure, row.baseline), []).append(letters[row.system])
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
    measures: tuple[str, ...],
    best: Mapping[str, float | None],
    marks: _Marks,
) -> Iterator[str]:
    for measure in measures:
        value = value_of(system.scores, measure)
        if value is None:
            yield "--"
            continue
        shown = numbers.measure(value)
        shown = rf"\textbf{{{shown}}}" if is_best(value, best[measure]) else shown
        beaten = ",".join(sorted(marks.get((measure, system.label), ())))
        yield f"{shown}$^{{{beaten}}}$" if beaten else shown


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
