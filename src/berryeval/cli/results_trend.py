"""`berryeval results trend`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter

from berryeval.cli.results_options import Flag, read_filters, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from berryeval.reports.trend import TrendLine
    from berryeval.store import Store

BLOCKS: Final = "▁▂▃▄▅▆▇█"
ASCII: Final = "_.-=+*#@"
_BREAK: Final = "|"
_LONGEST: Final = 60  # points of a line


def trend(
    measure: str,
    /,
    *,
    benchmark: str | None = None,
    provider: str | None = None,
    since: str | None = None,
    until: str | None = None,
    output: Annotated[str | None, Parameter(name=["--output", "-o"])] = None,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Show a measure over time: a line per benchmark and provider.

    A bar in a line marks where values cannot be compared: the benchmark or its queries changed.

    Example: berryeval results trend nDCG@10 --benchmark technical-docs -o trend.svg

    Args:
        measure: Its name, in any spelling.
        benchmark: Only this benchmark.
        provider: Only this provider.
        since: Only runs from then on: a date (2026-02-21), a time, or an age (30d, 12h).
        until: Only runs up to then.
        output: A file for the chart (.svg, .html) or the numbers (.csv).
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON, in full precision.
    """
    from berryeval.cli.output import console, print_json
    from berryeval.pipeline.remember import opened_store, store_place
    from berryeval.reports.trend import trend_lines
    from berryeval.reports.trend_chart import write_trend

    filters = read_filters(benchmark, provider, since, until)
    with opened_store(store_place(store)) as opened:
        lines = trend_lines(opened.trend(measure, filters))
        if not lines:
            refuse_unknown(opened, filters)
            _refuse_measure(opened, measure)
    if output is not None and lines:
        write_trend(lines, output)
    if json:
        print_json("results trend", {"lines": [line.to_dict() for line in lines]})
        return
    screen = console()
    if not lines:
        screen.print(f"no such run has {measure}")
    for line in lines:
        _print_line(screen, line)
    if output is not None and lines:
        screen.print(f"written to {output}")


def _refuse_measure(store: Store, measure: str) -> None:
    """Say so if no run has this measure at all, and how one gets it."""
    from berryeval.errors import MeasureError
    from berryeval.measures import parse_measure
    from berryeval.registry import nearest

    names = store.measures()
    try:
        known = str(parse_measure(measure))
        hint = f"berryeval score-run RUN -m {measure} --save adds it to a run"
    except MeasureError:
        known = measure
        hint = f"there are {', '.join(nearest(measure, names) or names)}"
    if names and known not in names:
        msg = f"no run in the store {store.shown} has {measure!r}; {hint}"
        raise MeasureError(msg)


def _print_line(screen: Console, line: TrendLine) -> None:
    from berryeval.benchmarks.checks.words import counted
    from berryeval.reports import numbers
    from berryeval.reports.methods import OF_A_VALUE

    screen.print(f"{line.provider} on {line.benchmark}: {line.measure}", style="bold")
    screen.print(f"  {sparkline(line, _marks())}")
    values = line.values
    last = line.points[-1].value
    around = numbers.interval_around(last.value, last.low, last.high, last.n)
    change = "" if line.change is None else f", {numbers.delta(line.change)} against the run before"
    lowest, highest, newest = map(numbers.measure, (min(values), max(values), values[-1]))
    screen.print(
        f"  {counted(len(values), 'run')}, lowest {lowest}, highest {highest}, "
        f"last {newest}{f' ({OF_A_VALUE} {around})' if around else ''}{change}"
    )
    for place, why in line.breaks.items():
        point = line.points[place]
        screen.print(f"  {_BREAK} {point.run}: {why}; values before do not compare", style="yellow")
    screen.print()


def _marks() -> str:
    """Blocks, or letters where the output cannot show them."""
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def sparkline(line: TrendLine, marks: str) -> str:
    """The last values as marks from low to high, with bars where they do not compare."""
    first = max(0, len(line.points) - _LONGEST)
    values = line.values[first:]
    heights = _heights(values, len(marks))
    text = "... " if first else ""
    for place, height in enumerate(heights, start=first):
        bar = _BREAK if place in line.breaks and place > first else ""
        text += bar + marks[height]
    return text


def _heights(values: Sequence[float], count: int) -> list[int]:
    low, high = min(values), max(values)
    if low == high:
        return [count // 2] * len(values)
    return [min(count - 1, int((value - low) / (high - low) * count)) for value in values]
