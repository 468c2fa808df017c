"""LaTeX tables for a paper: booktabs, everything escaped, the best in bold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from berryeval.reports import numbers
from berryeval.reports.exporter import Exporter, one_file
from berryeval.reports.latex_comparison import comparison_table
from berryeval.reports.rows import best_value, value_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from berryeval.reports.model import Report, Section, System

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
    50 \\% of a\\_b -{}- \\{x\\}
    """
    plain = " ".join(_CONTROL.sub(" ", text).split())
    text = "".join(_ESCAPES.get(letter, letter) for letter in plain)
    return _DASHES.sub("-{}", text)


def render(report: Report) -> str:
    """A table per benchmark."""
    title = " ".join(_CONTROL.sub(" ", report.title).split())
    tables = ["\n".join(_table(section, place)) for place, section in enumerate(report.sections)]
    tables += [
        "\n".join(comparison_table(one, place, escaped))
        for place, one in enumerate(report.comparisons)
    ]
    return "\n\n".join([f"% {title}\n{_HEAD}", *tables]) + "\n"


LATEX: Final = Exporter(
    "LaTeX tables (booktabs), the best in bold", (".tex",), one_file("report.tex", render)
)


def _table(section: Section, place: int) -> Iterator[str]:
    from berryeval.benchmarks.checks.words import counted

    measures = section.measures
    rows = [system.scores for system in section.systems]
    best = {measure: best_value(rows, measure) for measure in measures}
    queries = counted(len(section.queries), "query", "queries")
    about = "; best in bold" if len(section.scored) > 1 else ""
    yield r"\begin{table}"
    yield r"  \centering"
    yield rf"  \caption{{{escaped(section.name)}: {queries}{about}.}}"
    yield rf"  \label{{tab:berryeval-{place + 1}}}"
    yield rf"  \begin{{tabular}}{{l{'r' * len(measures)}}}"
    yield r"    \toprule"
    yield f"    {_row(['Provider', *map(escaped, measures)])}"
    yield r"    \midrule"
    for system in section.systems:
        yield f"    {_row([escaped(system.label), *_values(system, measures, best)])}"
    yield r"    \bottomrule"
    yield r"  \end{tabular}"
    yield r"\end{table}"


def _values(
    system: System, measures: tuple[str, ...], best: Mapping[str, float | None]
) -> Iterator[str]:
    for measure in measures:
        value = value_of(system.scores, measure)
        if value is None:
            yield "--"
            continue
        shown = numbers.measure(value)
        yield rf"\textbf{{{shown}}}" if value == best[measure] else shown


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
