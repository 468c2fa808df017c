"""The chart of a trend: SVG, a page with it, or its numbers as CSV."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval.errors import ConfigurationError
from berryeval.io.files import writing
from berryeval.io.visible import visible
from berryeval.optional import imported
from berryeval.reports import numbers
from berryeval.reports.csv_pair import csv_text, defused
from berryeval.reports.html.policy import policy
from berryeval.reports.html.svg import drawn, shown_texts
from berryeval.reports.methods import OF_A_VALUE
from berryeval.reports.trend_spec import trend_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.io.files import PathLike
    from berryeval.reports.trend import TrendLine
    from berryeval.store import TrendPoint

__all__ = ["CHARTS", "write_trend"]

_STYLE: Final = (
    "body{font:15px system-ui,sans-serif;margin:2rem;color:#222;background:#fff}"
    "td,th{padding:.2rem .8rem .2rem 0;text-align:left}svg{max-width:100%;height:auto}"
)


def _svg(lines: Sequence[TrendLine]) -> str:
    package = imported("vl_convert", "a chart", extra="report")
    return str(package.vegalite_to_svg(shown_texts(trend_spec(lines)), allowed_base_urls=[]))


def _page(lines: Sequence[TrendLine]) -> str:
    title = _safe(f"{lines[0].measure} over time")
    cells = ("benchmark", "provider", "run", "created", "value", OF_A_VALUE, "")
    head = "".join(f"<th>{cell}</th>" for cell in cells)
    body = "\n".join(
        "<tr>" + "".join(f"<td>{_safe(cell)}</td>" for cell in row) + "</tr>"
        for row in _table(lines)
    )
    told = "; ".join(f"{one.provider} on {one.benchmark}: {len(one.points)}" for one in lines)
    drawing = drawn(trend_spec(lines), f"{lines[0].measure} over time, runs of {told}.")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy(_STYLE)}">'
        f"<title>{title}</title><style>{_STYLE}</style></head>\n<body><h1>{title}</h1>\n{drawing}\n"
        f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></body></html>\n"
    )


def _safe(text: str) -> str:
    return html.escape(visible(text))


def _table(lines: Sequence[TrendLine]) -> list[list[str]]:
    return [
        [
            line.benchmark,
            line.provider,
            point.run,
            point.created,
            numbers.measure(point.value.value),
            numbers.interval_around(
                point.value.value, point.value.low, point.value.high, point.value.n
            ),
            "; ".join(filter(None, [line.apart.get(place, ""), _failures(point)])),
        ]
        for line in lines
        for place, point in enumerate(line.points)
    ]


def _failures(point: TrendPoint) -> str:
    return f"{point.failed} of {point.value.n} queries failed" if point.failed else ""


def _csv(lines: Sequence[TrendLine]) -> str:
    """In full precision, as a spreadsheet may open it."""
    names = ["run", "created", "value", "low", "high", "n", "failed", "content_hash"]
    names += ["not_comparable"]
    rows: list[list[str]] = [["benchmark", "provider", "measure", *names]]
    for line in lines:
        own = [line.benchmark, line.provider, line.measure]
        rows += [
            [_cell(value) for value in (*own, *(point[name] for name in names))]
            for point in line.to_dict()["points"]
        ]
    return csv_text(rows)


def _cell(value: str | float | None) -> str:
    if value is None:
        return ""
    return defused(value) if isinstance(value, str) else repr(value)


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
