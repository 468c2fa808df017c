"""`berryeval runs trend`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from berryeval.cli.options import STDOUT, Flag, Output
from berryeval.cli.runs_list import failures_of, read_filters, refuse_metrics, refuse_unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import Console

    from berryeval.reports import TrendLine


BLOCKS: Final = "▁▂▃▄▅▆▇█"
ASCII: Final = "_.-=+*#@"
APART: Final = ":"  # in place of a value that does not compare
_LONGEST: Final = 60  # points of a line
_NAMED: Final = 3  # runs in a note


def trend(
    metric: str,
    /,
    *,
    benchmark: str | None = None,
    provider: str | None = None,
    since: str | None = None,
    until: str | None = None,
    output: Output = None,
    format: Annotated[  # noqa: A002 - its name
        Literal["svg", "html", "csv"] | None, Parameter(name=["--format", "-f"])
    ] = None,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Show a metric over time: a line per benchmark and provider.

    It follows the runs that were asked what the newest was; others are points between them, for
    their values do not compare: the benchmark, its queries or the number of hits were others.

    Example: berryeval runs trend nDCG@10 --benchmark technical-docs -o trend.svg

    Args:
        metric: Its name, in any spelling.
        benchmark: Only this benchmark.
        provider: Only this provider.
        since: Only runs from then on: a date (2026-02-21), a time, or an age (30d, 12h).
        until: Only runs up to then.
        output: A file for the chart (.svg, .html) or the numbers (.csv); - is stdout.
        format: Of that file: svg, html or csv; what its ending says unless given, csv on stdout.
        store: Where runs are remembered, if not .berryeval/results.db.
        json: Print JSON, in full precision.
    """
    from dataclasses import asdict

    from berryeval._internal.text import shortened
    from berryeval.cli.logs import error_screen
    from berryeval.cli.output import console, print_document, print_indented, print_json
    from berryeval.reports import trend_lines
    from berryeval.workflows import opened_store, store_place

    filters = read_filters(benchmark, provider, since, until)
    with opened_store(store_place(store)) as opened:
        lines = trend_lines(opened.trend(metric, filters))
        failures = opened.failures(filters)
        if not lines:
            refuse_unknown(opened, filters)
            refuse_metrics(opened, [metric], filters, store)
    text = _written(lines, output, format)
    if json:
        failed = [asdict(one) for one in failures]
        data = {"lines": [line.to_dict() for line in lines], "failed": failed}
        print_json("runs trend", data if text is None else {**data, "text": text})
        return
    if text is not None:
        print_document(text)
    screen = console() if text is None else error_screen()
    if not lines:
        screen.print(f"no such run has {metric}")
    for line in lines if text is None else ():
        _print_line(screen, line)
    for one in failures:
        words = f"! {one.run}: {one.provider} on {one.benchmark} failed, and has no value: "
        print_indented(screen, words + shortened(one.failure), 0, style="yellow")
    if output is not None and text is None:
        screen.print(f"written to {output}")


def _written(lines: Sequence[TrendLine], output: str | None, format_: str | None) -> str | None:
    """Write the chart or the numbers; as a text, if they go to stdout."""
    from berryeval.reports import trend_text, write_trend

    if output is None and format_ is None:
        return None
    if output in (None, STDOUT):
        return trend_text(lines, format_ or "csv")
    write_trend(lines, str(output), format_)
    return None


def _print_line(screen: Console, line: TrendLine) -> None:
    from berryeval._internal import numbers
    from berryeval._internal.text import counted
    from berryeval.reports import INTERVAL_NAME

    screen.print(f"{line.provider} on {line.benchmark}: {line.metric}", style="bold")
    screen.print(f"  {sparkline(line, _marks())}")
    values = line.values
    last = line.points[-1]
    around = numbers.interval_around(
        last.value.value, last.value.low, last.value.high, last.value.n
    )
    lowest, highest, newest = map(numbers.metric, (min(values), max(values), values[-1]))
    failed = f", {failures_of(last.failed, last.value.n)}" if last.failed else ""
    screen.print(
        f"  {counted(len(values), 'run')}, lowest {lowest}, highest {highest}, "
        f"last {newest}{f' ({INTERVAL_NAME} {around})' if around else ''}{failed}{_change(line)}"
    )
    for note in _notes(line):
        screen.print(f"  {note}", style="yellow")
    screen.print()


def _change(line: TrendLine) -> str:
    from berryeval._internal import numbers

    if line.before is None or line.change is None:
        return ""
    neighbour = line.before is line.points[-2]
    against = "the run before" if neighbour else f"{line.before.run}, the last that was asked this"
    return f", {numbers.delta(line.change)} against {against}"


def _notes(line: TrendLine) -> Iterator[str]:
    """Which runs do not compare, by reason; and in which that do, queries failed."""
    reasons: dict[str, list[str]] = {}
    for place, why in line.apart.items():
        reasons.setdefault(why, []).append(line.points[place].run)
    for why, runs in reasons.items():
        yield f"{APART} {_some(runs)}: {why}; not compared"
    failing = [one for one in line.followed[:-1] if one.failed]
    if failing:
        named = [f"{one.run} ({one.failed} of {one.value.n})" for one in failing]
        yield f"! {_some(named)}: queries failed, and count as 0"


def _some(names: Sequence[str]) -> str:
    """The last of them, and how many more there are."""
    rest = len(names) - _NAMED
    return ", ".join(names[-_NAMED:]) + (f" and {rest} more" if rest > 0 else "")


def _marks() -> str:
    """Blocks, or letters where the output cannot show them."""
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def sparkline(line: TrendLine, marks: str) -> str:
    """The last values as marks from low to high; points stand for those that do not compare."""
    first = max(0, len(line.points) - _LONGEST)
    places = [place for place in range(first, len(line.points)) if place not in line.apart]
    values = [line.points[place].value.value for place in places]
    heights = dict(zip(places, _heights(values, len(marks)), strict=True))
    text = "... " if first else ""
    for place in range(first, len(line.points)):
        text += marks[heights[place]] if place in heights else APART
    return text


def _heights(values: Sequence[float], count: int) -> list[int]:
    low, high = min(values), max(values)
    if low == high:
        return [count // 2] * len(values)
    return [min(count - 1, int((value - low) / (high - low) * count)) for value in values]
