"""The colours of the charts: each once for light and once for dark surroundings.

Charts are drawn in the light colours. In the dark, the style sheet of the page finds each of them
by its exact value and puts the dark one in its place: so a drawing is kept once.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = [
    "AXIS",
    "DASHES",
    "GRID",
    "INK",
    "ON_DEEP",
    "ON_PALE",
    "RAMP",
    "SHAPES",
    "SYSTEMS",
    "ZERO",
    "Colour",
    "chart_rules",
    "system_rules",
]


class Colour(NamedTuple):
    """A colour in light and in dark surroundings."""

    light: str
    dark: str


INK: Final = Colour("#2b2730", "#e9e4ec")
AXIS: Final = Colour("#6b6471", "#a59dab")
GRID: Final = Colour("#e7e2e9", "#39333e")
ZERO: Final = Colour("#8c8492", "#857c8c")

# Told apart by people who see few colours too; shapes and dashes say the same once more. There are
# 8, 7 and 5 of them, so that systems beyond the eighth still look like no other.
SYSTEMS: Final = (
    Colour("#1f66ad", "#6db1ee"),
    Colour("#c0530a", "#f29a54"),
    Colour("#0e7c66", "#43c9aa"),
    Colour("#8a3c90", "#d18cd6"),
    Colour("#6f6200", "#d8c53f"),
    Colour("#5a6570", "#aab6c2"),
    Colour("#a32c3f", "#f2848f"),
    Colour("#1b7e9c", "#73d3ea"),
)
SHAPES: Final = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-right",
)
DASHES: Final = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [10, 4])

# From little to much, in seven steps.
RAMP: Final = (
    Colour("#f8f0f5", "#2a222c"),
    Colour("#f0dce8", "#402b3b"),
    Colour("#e7c6d9", "#59344d"),
    Colour("#dcaac6", "#743f62"),
    Colour("#cc86ae", "#914b79"),
    Colour("#a24a7b", "#c277a4"),
    Colour("#74265a", "#eda6cd"),
)
ON_PALE: Final = Colour("#2b2731", "#f4eff6")
ON_DEEP: Final = Colour("#fffeff", "#1d1520")

_CHART: Final = (INK, AXIS, GRID, ZERO, *SYSTEMS, *RAMP, ON_PALE, ON_DEEP)


def chart_rules() -> str:
    """Style rules that turn the charts dark."""
    return "\n".join(
        f'.chart [{part}="{colour.light}"] {{ {part}: {colour.dark} }}'
        for colour in _CHART
        for part in ("fill", "stroke")
    )


def system_rules(*, dark: bool) -> str:
    """Style rules for the mark beside the name of each system."""
    return "\n".join(
        f".sys-{place} {{ --mark: {colour.dark if dark else colour.light} }}"
        for place, colour in enumerate(SYSTEMS)
    )
