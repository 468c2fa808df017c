"""Charts as markup; where they cannot be drawn, the page says what brings them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval.errors import MissingDependencyError
from berryeval.optional import imported
from berryeval.reports.html.svg import CHARTS_NEED, drawn

if TYPE_CHECKING:
    from markupsafe import Markup

    from berryeval.reports.html.charts.figure import Figure

__all__ = ["Drawing", "Studio"]


@dataclass(frozen=True)
class Drawing:
    """A chart as it stands in the page."""

    svg: Markup
    caption: str


class Studio:
    """Draws charts, if it can.

    Attributes:
        lacks: why it cannot, with the line to type; empty if it can.
    """

    def __init__(self) -> None:
        self.lacks = ""
        try:
            imported("vl_convert", CHARTS_NEED, extra="report")
        except MissingDependencyError as error:
            self.lacks = str(error)

    def draw(self, figure: Figure | None) -> Drawing | None:
        """The drawing of a chart; None if there is no chart, or nothing to draw with."""
        if figure is None or self.lacks:
            return None
        from markupsafe import Markup

        svg = drawn(figure.spec, figure.alternative)
        return Drawing(Markup(svg), figure.caption)  # noqa: S704 - rebuilt from what svg.py allows
