"""A comparison as a LaTeX table: differences with their intervals, findings marked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.reports import numbers
from berryeval.reports.differences import interval_cell
from berryeval.reports.methods import correction_words, interval_words, method_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from berryeval.reports.compared import ComparedBenchmark
    from berryeval.stats import Comparison, PairedDifference

__all__ = ["comparison_table"]

_MARK: Final = r"^{\dagger}"
_MIXED: Final = r"^{\ddagger}"  # what the test found is not this difference
_TITLES: Final = ("Measure", "System", "Baseline", "Value", r"$\Delta$", "CI", "$p$", "Effect")


def comparison_table(
    one: ComparedBenchmark, place: int, escaped: Callable[[str], str]
) -> Iterator[str]:
    """The lines of the table; the caption says how it was tested."""
    found = one.comparison
    against = f" against {escaped(found.baseline)}" if found.baseline else ", all pairs"
    alpha = f"{round(1 - found.level, 12):g}"
    how = escaped(correction_words(found.correction))
    family = "" if found.correction == "none" else f" after correction ({how})"
    yield r"\begin{table}"
    yield r"  \centering"
    yield (
        rf"  \caption{{{escaped(one.benchmark)}: differences{against}, {found.rows[0].n} queries, "
        rf"{100 * found.level:g}\,\% intervals ({escaped(interval_words(found))}); "
        rf"${_MARK}$ marks $p \le {alpha}${family}, "
        rf"test: {escaped(method_words(found))}{_on_mixed(found)}.}}"
    )
    yield rf"  \label{{tab:berryeval-comparison-{place + 1}}}"
    yield r"  \begin{tabular}{llrrrrrl}"
    yield r"    \toprule"
    yield f"    {_row(list(_TITLES))}"
    yield r"    \midrule"
    for row in found.rows:
        yield f"    {_row(_cells(row, escaped, every=found.baseline is None))}"
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
        numbers.measure(row.baseline_value),
        numbers.measure(row.system_value),
        f"${numbers.delta(row.difference)}{mark}$",
        low_high,
        "--" if row.p_corrected is None else _p(numbers.p_value(row.p_corrected)),
        row.effect.word if row.effect else "--",
    ]


def _on_mixed(found: Comparison) -> str:
    if not any(row.mixed for row in found.rows):
        return ""
    return rf"; ${_MIXED}$ marks such a $p$ of a test that points against the difference"


def _p(text: str) -> str:
    return f"${text}$" if text.startswith("<") else text


def _row(cells: list[str]) -> str:
    return " & ".join(cells) + r" \\"
