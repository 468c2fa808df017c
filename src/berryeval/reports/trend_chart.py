"""The chart of a trend: SVG, a page with it, or its numbers as CSV."""

from __future__ import annotations

import csv
import html
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.io.files import writing
from berryeval.optional import imported

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.io.files import PathLike
    from berryeval.reports.trend import TrendLine

__all__ = ["CHARTS", "trend_spec", "write_trend"]

_WIDTH, _HEIGHT = 640, 260


def trend_spec(lines: Sequence[TrendLine]) -> dict[str, Any]:
    """The chart as Vega-Lite has it: a line per provider with its intervals, broken at breaks."""
    rows = [
        {
            "time": point.moment * 1000,
            "value": point.value.value,
            "low": point.value.low if point.value.low is not None else point.value.value,
            "high": point.value.high if point.value.high is not None else point.value.value,
            "line": f"{line.provider} on {line.benchmark}",
            "part": f"{line.provider} on {line.benchmark} {number}",
            "run": point.run,
        }
        for line in lines
        for number, part in enumerate(line.parts)
        for point in part
    ]
    x = {"field": "time", "type": "temporal", "title": None}
    scale = {"zero": False}
    colour = {"field": "line", "type": "nominal", "title": None, "legend": {"orient": "bottom"}}
    value = {"field": "value", "type": "quantitative", "scale": scale}
    shared = {"x": x, "color": colour, "detail": {"field": "part"}}
    low = {"field": "low", "type": "quantitative", "scale": scale, "title": lines[0].measure}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": f"{lines[0].measure} over time",
        "width": _WIDTH,
        "height": _HEIGHT,
        "data": {"values": rows},
        "layer": [
            {
                "mark": {"type": "area", "opacity": 0.15},
                "encoding": {**shared, "y": low, "y2": {"field": "high"}},
            },
            {"mark": {"type": "line", "point": True}, "encoding": {**shared, "y": value}},
        ],
    }


def _svg(lines: Sequence[TrendLine]) -> str:
    package = imported("vl_convert", "a chart", extra="report")
    return str(package.vegalite_to_svg(trend_spec(lines)))


def _page(lines: Sequence[TrendLine]) -> str:
    title = html.escape(f"{lines[0].measure} over time")
    cells = ("benchmark", "provider", "run", "created", "value", "95 % interval", "")
    head = "".join(f"<th>{cell}</th>" for cell in cells)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
        for row in _table(lines)
    )
    style = (
        "body{font:15px system-ui,sans-serif;margin:2rem;color:#222;background:#fff}"
        "td,th{padding:.2rem .8rem .2rem 0;text-align:left}svg{max-width:100%;height:auto}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f"<style>{style}</style></head>\n<body><h1>{title}</h1>\n{_svg(lines)}\n"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></body></html>\n"
    )


def _table(lines: Sequence[TrendLine]) -> list[list[str]]:
    return [
        [
            line.benchmark,
            line.provider,
            point.run,
            point.created,
            f"{point.value.value:.4f}",
            "" if point.value.low is None else f"{point.value.low:.4f} to {point.value.high:.4f}",
            line.breaks.get(place, ""),
        ]
        for line in lines
        for place, point in enumerate(line.points)
    ]


def _csv(lines: Sequence[TrendLine]) -> str:
    text = io.StringIO()
    names = ["run", "created", "value", "low", "high", "n", "content_hash", "not_comparable"]
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["benchmark", "provider", "measure", *names])
    for line in lines:
        for point in line.to_dict()["points"]:
            own = [line.benchmark, line.provider, line.measure]
            writer.writerow([*own, *(point[name] for name in names)])
    return text.getvalue()


# By the ending of the file's name.
CHARTS: Final[dict[str, Callable[[Sequence[TrendLine]], str]]] = {
    ".svg": _svg,
    ".html": _page,
    ".csv": _csv,
}


def write_trend(lines: Sequence[TrendLine], path: PathLike) -> None:
    """Write a chart or its numbers, all or nothing; the ending of the name says which."""
    suffix = Path(path).suffix.lower()
    if suffix not in CHARTS:
        msg = f"{path}: expected a name that ends in {', '.join(CHARTS)}"
        raise ConfigurationError(msg)
    text = CHARTS[suffix](lines)
    with writing(path) as stream:
        stream.write(text.encode())
