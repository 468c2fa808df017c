"""The tables of `berryeval eval`: as one where there is room, in parts where there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from berryeval.cli.output import print_indented
from berryeval.cli.screens import SafeScreen, safe_screen
from berryeval.reports import numbers
from berryeval.reports.legend import legend_of
from berryeval.reports.rows import best_value, interval_text, is_best, outcomes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

    from berryeval.results import ProviderRecord
    from berryeval.scores import Scores

__all__ = ["print_legend", "print_tables", "quality_tables"]

BEST: Final = "*"
_SPEED: Final = ("p50", "p95", "p99")


def quality_tables(
    rows: Mapping[str, Scores | None],
    measures: Sequence[str],
    width: int,
    providers: Sequence[ProviderRecord] = (),
) -> list[Table]:
    """Providers as rows, measures as columns, each value with its interval.

    With `providers` the times and outcomes stand in the same table; there is none if it does not
    fit. Without, intervals go below their values where it is narrow, and columns that do not fit go
    to further tables.
    """
    one = _table(rows, measures, providers, stacked=False)
    if _width(one) <= width:
        return [one]
    if providers:
        return []
    tables = []
    left = list(measures)
    while left:
        fits = len(left)
        while fits > 1 and _width(_table(rows, left[:fits], (), stacked=True)) > width:
            fits -= 1
        tables.append(_table(rows, left[:fits], (), stacked=True))
        left = left[fits:]
    return tables


def print_tables(
    screen: Console,
    rows: Mapping[str, Scores | None],
    measures: Sequence[str],
    providers: Sequence[ProviderRecord],
) -> None:
    """Quality, times and outcomes: in one table where it fits, in several where it does not."""
    wide = quality_tables(rows, measures, screen.width, providers)
    for table in wide or quality_tables(rows, measures, screen.width):
        screen.print(table)
        screen.print()
    if not wide:
        screen.print(speed_table(providers))
        screen.print()


def print_legend(screen: Console, tables: Sequence[Scores | None], measures: Sequence[str]) -> None:
    """Say what the marks and intervals of the tables are, if there are any."""
    if words := legend_of(f"{BEST} best of its column", tables, measures):
        print_indented(screen, words, 0, style="dim")


def speed_table(providers: Sequence[ProviderRecord]) -> Table:
    """How long answers took, what they cost, and what became of the queries."""
    table = _empty()
    costs = _costs(providers)
    for title in _titles(costs):
        table.add_column(title, justify="right")
    table.add_column("outcomes", overflow="fold")
    for one in providers:
        table.add_row(one.name, *_times(one), *_amounts(one, costs), outcomes(one))
    return table


def _empty() -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column("provider", overflow="fold")
    return table


def _table(
    rows: Mapping[str, Scores | None],
    measures: Sequence[str],
    providers: Sequence[ProviderRecord],
    *,
    stacked: bool,
) -> Table:
    table = _empty()
    for measure in measures:
        table.add_column(measure, justify="left", no_wrap=True)
    costs = _costs(providers)
    for title in (*_titles(costs), "outcomes") if providers else ():
        table.add_column(title, justify="left" if title == "outcomes" else "right", no_wrap=True)
    best = {measure: best_value(list(rows.values()), measure) for measure in measures}
    for place, (name, scores) in enumerate(rows.items()):
        cells: list[Text | str] = [
            _cell(scores, measure, best[measure], stacked=stacked) for measure in measures
        ]
        if providers:
            one = providers[place]
            cells += [*_times(one), *_amounts(one, costs), outcomes(one)]
        table.add_row(name, *cells)
    return table


def _cell(scores: Scores | None, measure: str, best: float | None, *, stacked: bool) -> Text:
    if scores is None:
        return Text(numbers.NOTHING)
    value, ends = scores.mean[measure], interval_text(scores, measure)
    best_too = is_best(value, best)
    text = Text(
        f"{numbers.measure(value)}{BEST if best_too else ' '}", style="bold" if best_too else ""
    )
    if ends:
        text.append("\n" if stacked else " ")
        text.append(ends, style="dim not bold")
    return text


def _times(one: ProviderRecord) -> list[str]:
    if one.latency is None:
        return [numbers.NOTHING] * len(_SPEED)
    return [numbers.milliseconds(getattr(one.latency, name)) for name in _SPEED]


def _costs(providers: Sequence[ProviderRecord]) -> list[str]:
    """What anybody counts as cost."""
    return list(dict.fromkeys(name for one in providers for name in one.cost))


def _titles(costs: Sequence[str]) -> list[str]:
    return [*(f"{name} ms" for name in _SPEED), *(f"{name}/query" for name in costs)]


def _amounts(one: ProviderRecord, costs: Sequence[str]) -> list[str]:
    return [
        numbers.amount(one.cost[name]) if name in one.cost else numbers.NOTHING for name in costs
    ]


def _width(table: Table) -> int:
    wide = safe_screen(SafeScreen, width=10_000)
    return Measurement.get(wide, wide.options, table).maximum
