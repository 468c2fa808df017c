"""Charts as markup; where they cannot be drawn, the page says what brings them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from berryeval.errors import MissingDependencyError
from berryeval.optional import imported
from berryeval.reports.html.svg import CHARTS_NEED, drawn

if TYPE_CHECKING:
    from collections.abc import Mapping

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

    def draw(self, figure: Figure | None, names: Mapping[str, str] | None = None) -> Drawing | None:
        """The drawing of a chart; None if there is no chart, or nothing to draw with.

        `names` are shorter ones for texts that have too little room in it.
        """
        if figure is None or self.lacks:
            return None
        from markupsafe import Markup

        svg = drawn(_renamed(figure.spec, names or {}), figure.alternative)
        return Drawing(Markup(svg), figure.caption)  # noqa: S704 - rebuilt from what svg.py allows


def _renamed(part: Any, names: Mapping[str, str]) -> Any:
    """The specification with these texts replaced, wherever they stand alone."""
    if not names:
        return part
    if isinstance(part, dict):
        return {name: _renamed(value, names) for name, value in part.items()}
    if isinstance(part, list | tuple):
        return [_renamed(value, names) for value in part]
    return names.get(part, part) if isinstance(part, str) else part
