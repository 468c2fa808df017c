"""A comparison as a LaTeX table: differences with their intervals, findings marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.reports import numbers
from berryeval.reports.differences import group_rows, interval_cell, pairs_of
from berryeval.reports.methods import correction_words, interval_words, tested_by

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from berryeval.reports.compared import ComparedBenchmark
    from berryeval.stats import PairedDifference

__all__ = ["comparison_table"]

_MARK: Final = r"^{\dagger}"
_MIXED: Final = r"^{\ddagger}"  # what the test found is not this difference
_TITLES: Final = ("Measure", "System", "Baseline", "Value", r"$\Delta$", "CI", "$p$", "Effect")
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
    yield from _table(f"{begin}, {queries}, {_how(one, found.rows, escaped)}", label, _TITLES, rows)
    if found.groups:
        pairs = [pair[0] for pair in pairs_of(found).values()]
        members = [member for whole in pairs for member in group_rows(found, whole)]
        rows = [
            [escaped(name), str(row.n), *_cells(row, escaped, every=every)] for name, row in members
        ]
        how = _how(one, [row for _, row in members], escaped)
        titles = (escaped(one.by), "Queries", *_TITLES)
        yield ""
        yield from _table(f"{begin}, by {escaped(one.by)}, {how}", f"{label}-groups", titles, rows)


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


def _table(
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
        escaped(row.measure),
        escaped(system),
        numbers.measure(row.baseline_value) if row.n else "--",
        numbers.measure(row.system_value) if row.n else "--",
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


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
