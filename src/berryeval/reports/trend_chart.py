"""The chart of a trend: SVG, a page with it, or its numbers as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval.errors import ConfigurationError, DataError
from berryeval.io.files import writing
from berryeval.optional import imported
from berryeval.reports.csv_pair import csv_text, defused
from berryeval.reports.html.svg import shown_texts
from berryeval.reports.trend_spec import trend_spec

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.io.files import PathLike
    from berryeval.reports.trend import TrendLine

__all__ = ["CHARTS", "trend_text", "write_trend"]


def _svg(lines: Sequence[TrendLine]) -> str:
    package = imported("vl_convert", "a chart", extra="report")
    return str(package.vegalite_to_svg(shown_texts(trend_spec(lines)), allowed_base_urls=[]))


def _page(lines: Sequence[TrendLine]) -> str:
    from berryeval.reports.html.trend_page import render_trend

    return render_trend(lines)


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


def write_trend(lines: Sequence[TrendLine], path: PathLike, format: str | None = None) -> None:  # noqa: A002 - its name
    """Write a chart or its numbers, all or nothing; the ending of the name says which."""
    suffix = f".{format}" if format else Path(path).suffix.lower()
    if suffix not in CHARTS:
        msg = f"{path}: expected a name that ends in {', '.join(CHARTS)}"
        raise ConfigurationError(msg)
    text = trend_text(lines, suffix[1:])
    with writing(path) as stream:
        stream.write(text.encode())


def trend_text(lines: Sequence[TrendLine], format: str) -> str:  # noqa: A002 - its name
    """The chart (svg, html) or its numbers (csv) as a text; only numbers may be none."""
    if not lines and format != "csv":
        msg = f"no such run has a value, and {format} would show nothing; csv tells of none"
        raise DataError(msg)
    return CHARTS[f".{format}"](lines)
