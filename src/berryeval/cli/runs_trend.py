"""`berryeval runs trend`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from berryeval.cli.flags import STDOUT, Flag, Output
from berryeval.cli.runs_list import (
    format_failures,
    read_filters,
    reject_unknown_cost,
    reject_unknown_metrics,
    reject_unknown_names,
    reject_unknown_tag,
)

if TYPE_CHECKING:
    from rich.console import Console

    from berryeval.reports import TrendLine


BLOCKS: Final = "▁▂▃▄▅▆▇█"
ASCII: Final = "_.-=+*#@"
APART: Final = ":"  # marks a value that is not comparable
CHANGED: Final = "~"  # marks a run on other data than the one before
_MAX_POINTS: Final = 60  # of a line
_NAMED: Final = 3  # runs in a note


def trend(  # noqa: PLR0913 - the options of the command
    metric: str = "",
    /,
    *,
    benchmark: str | None = None,
    provider: str | None = None,
    latency: Literal["p50", "p95", "p99", "max"] | None = None,
    cost: str | None = None,
    tag: str | None = None,
    since: str | None = None,
    until: str | None = None,
    output: Output = None,
    format: Annotated[  # noqa: A002 - its name
        Literal["svg", "html", "csv"] | None, Parameter(name=["--format", "-f"])
    ] = None,
    store: str | None = None,
    json: Flag = False,
) -> None:
    """Show a metric, a latency or a cost over time, with a line per benchmark and provider.

    The line joins the runs that are comparable with the newest one, and marks where the data
    changed. Runs with no query in common, other queries or another number of hits appear as
    separate points.

    Args:
        metric: Name of a metric, in any spelling.
        benchmark: Only this benchmark.
        provider: Only this provider.
        latency: Instead of a metric: percentile of the latency of a query.
        cost: Instead of a metric: mean cost of a query, in a unit that providers report (usd).
        tag: Name of a tag; providers get a line for each of its values.
        since: Earliest start: a date (2026-02-21), a time, or an age (30d, 12h).
        until: Latest start.
        output: File for the chart (.svg, .html) or the numbers (.csv); - for stdout.
        format: File format: svg, html or csv; default: the ending of --output, csv on stdout.
        store: Path or PostgreSQL URL of the store; default: .berryeval/results.db.
        json: JSON output, in full precision.
    """
    from dataclasses import asdict

    from berryeval._internal.text import truncate_with_count
    from berryeval.cli.logs import error_screen, log_level, log_lines
    from berryeval.cli.output import console, print_document, print_indented, print_json
    from berryeval.reports import build_trend_lines
    from berryeval.workflows import open_history

    filters = read_filters(benchmark, provider, since, until)
    asked = _check_asked(metric, latency, cost)
    with log_lines(error_screen(), log_level()), open_history(store) as opened:
        if tag is not None:
            reject_unknown_tag(opened, tag)
        points = opened.trend(
            metric, filters, latency=latency or "", cost=cost or "", tag=tag or ""
        )
        lines = build_trend_lines(points)
        failures = opened.failures(filters)
        if not lines:
            reject_unknown_names(opened, filters)
            reject_unknown_metrics(opened, [metric] if metric else [], filters, store)
            reject_unknown_cost(opened, cost)
    text = _write(lines, output, format)
    if json:
        failed = [asdict(one) for one in failures]
        data = {"lines": [line.to_dict() for line in lines], "failed": failed}
        print_json("runs trend", data if text is None else {**data, "text": text})
        return
    if text is not None:
        print_document(text)
    screen = console() if text is None else error_screen()
    if not lines:
        screen.print(f"no matching run has {asked}")
    for line in lines if text is None else ():
        _print_line(screen, line)
    for one in failures:
        words = f"! {one.run}: {one.provider} on {one.benchmark} failed and has no value: "
        print_indented(screen, words + truncate_with_count(one.failure), 0, style="yellow")
    if output is not None and text is None:
        screen.print(f"written to {output}")


def _check_asked(metric: str, latency: str | None, cost: str | None) -> str:
    """Return the metric, latency or cost to show; reject none and several."""
    from berryeval.errors import ConfigurationError

    given = [metric, latency and f"--latency {latency}", cost and f"--cost {cost}"]
    found = [one for one in given if one]
    if len(found) != 1:
        raise ConfigurationError(
            "a trend shows one of a metric, --latency and --cost, found "
            f"{' and '.join(found) or 'none'}"
        )
    return found[0]


def _write(lines: Sequence[TrendLine], output: str | None, format_: str | None) -> str | None:
    from berryeval.reports import render_trend, write_trend

    if output is None and format_ is None:
        return None
    if output in (None, STDOUT):
        return render_trend(lines, format_ or "csv")
    write_trend(lines, str(output), format_)
    return None


def _print_line(screen: Console, line: TrendLine) -> None:
    from berryeval._internal import numbers
    from berryeval._internal.text import pluralize
    from berryeval.reports import INTERVAL_NAME

    screen.print(f"{line.provider} on {line.benchmark}: {line.metric}", style="bold")
    screen.print(f"  {draw_sparkline(line, _choose_marks())}")
    values = line.values
    last = line.points[-1]
    around = numbers.format_interval_around(
        last.value.value, last.value.low, last.value.high, last.value.n
    )
    lowest, highest, newest = map(line.format_value, (min(values), max(values), values[-1]))
    failed = f", {format_failures(last.failed, last.value.n)}" if last.failed else ""
    interval = f" ({INTERVAL_NAME} {around})" if around else ""
    screen.print(
        f"  {pluralize(len(values), 'run')}, lowest {lowest}, highest {highest}, "
        f"last {newest}{interval}{failed}{_format_change(line)}"
    )
    for note in _list_notes(line):
        screen.print(f"  {note}", style="yellow")
    screen.print()


def _format_change(line: TrendLine) -> str:
    if line.before is None or line.change is None:
        return ""
    neighbour = line.before is line.points[-2]
    against = "the run before" if neighbour else f"{line.before.run}, the last comparable run"
    over = f", over the {line.change_over:,} queries that are the same" if line.change_over else ""
    return f", {line.format_change(line.change)} against {against}{over}"


def _list_notes(line: TrendLine) -> Iterator[str]:
    """List runs that are not comparable, by reason, then changed data, then failures."""
    from berryeval._internal.text import pluralize

    reasons: dict[str, list[str]] = {}
    for place, why in line.apart.items():
        reasons.setdefault(why, []).append(line.points[place].run)
    for why, runs in reasons.items():
        yield f"{APART} {_format_last(runs)}: {why}; not compared"
    for place, why in line.data_changes.items():
        if place not in line.apart and place >= len(line.points) - _NAMED:
            yield f"{CHANGED} {line.points[place].run}: {why}"
    earlier = sum(place < len(line.points) - _NAMED for place in line.data_changes)
    if earlier:
        yield f"{CHANGED} the data changed in {pluralize(earlier, 'earlier run')}, too"
    failing = [one for one in line.followed[:-1] if one.failed]
    if failing:
        named = [f"{one.run} ({one.failed} of {one.value.n})" for one in failing]
        how = "count as 0" if line.about == "metric" else "do not count"
        yield f"! {_format_last(named)}: queries failed and {how}"


def _format_last(names: Sequence[str]) -> str:
    rest = len(names) - _NAMED
    return ", ".join(names[-_NAMED:]) + (f" and {rest} more" if rest > 0 else "")


def _choose_marks() -> str:
    """Return block characters, or ASCII where stdout cannot encode them."""
    try:
        BLOCKS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return BLOCKS


def draw_sparkline(line: TrendLine, marks: str) -> str:
    """Draw the last values as marks from low to high; a colon marks one not comparable."""
    first = max(0, len(line.points) - _MAX_POINTS)
    places = [place for place in range(first, len(line.points)) if place not in line.apart]
    values = [line.points[place].value.value for place in places]
    heights = dict(zip(places, _scale(values, len(marks)), strict=True))
    text = "... " if first else ""
    for place in range(first, len(line.points)):
        text += marks[heights[place]] if place in heights else APART
    return text


def _scale(values: Sequence[float], count: int) -> list[int]:
    low, high = min(values), max(values)
    if low == high:
        return [count // 2] * len(values)
    return [min(count - 1, int((value - low) / (high - low) * count)) for value in values]
