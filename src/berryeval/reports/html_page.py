"""The page for people: everything in one HTML file, with charts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from berryeval.reports.exporter import Exporter, one_file

if TYPE_CHECKING:
    from berryeval.reports.model import Report

__all__ = ["HTML"]


def _render(report: Report) -> str:
    from berryeval.reports.html import render

    return render(report)


HTML: Final = Exporter(
    "one page with charts and every query, for people",
    (".html", ".htm"),
    one_file("report.html", _render),
    home="run folder",
)
