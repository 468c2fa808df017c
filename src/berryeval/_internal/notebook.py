"""Results in notebooks: small HTML tables, and frames of the library that is installed.

The HTML has neither a script nor colors of its own, so that it is legible in light and dark
notebooks. Every text is escaped and cut, and a table shows few rows and counts the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from berryeval._internal.numbers import format_metric
from berryeval._internal.optional import import_optional, install_command, is_missing
from berryeval._internal.text import escape_controls, name_some, pluralize, truncate
from berryeval.errors import MissingDependencyError

# Frames.

FrameLibrary: TypeAlias = Literal["pandas", "polars"]


def choose_library(library: str | None, known: Sequence[str] = ("pandas", "polars")) -> str:
    """Return the library of a frame: the one asked for, or pandas, or polars if that is missing."""
    if library is None:
        for name in ("pandas", "polars"):
            if not is_missing(name):
                return name
        install = install_command({"pandas": ""})
        raise MissingDependencyError(f"a data frame needs pandas or polars: {install}")
    if library not in known:
        names = f"{', '.join(map(repr, known[:-1]))} or {known[-1]!r}"
        raise ValueError(f"library must be {names}, found {library!r}")
    return library


def build_frame(columns: Mapping[str, Any], library: FrameLibrary | None) -> Any:
    """Return columns of equal length as a frame; see `choose_library`."""
    return import_optional(choose_library(library), "a data frame").DataFrame(dict(columns))


# Tables.

SHOWN: Final = 5  # rows of a list of which some are examples
MOST_ROWS: Final = 20
MOST_METRICS: Final = 6  # columns of metrics
MOST_RESAMPLED: Final = 5_000  # queries; the intervals of more take seconds
_LONGEST: Final = 100  # characters of a cell
_LONGEST_NOTE: Final = 300
_MISSING: Final = "\N{EN DASH}"
# Jupyter would set the text between dollar signs as a formula.
_NO_FORMULAS: Final = "tex2jax_ignore mathjax_ignore"
_LINE: Final = "1px solid rgba(128,128,128,.35)"
_CELL: Final = "padding:2px 10px 2px 0;border:0;vertical-align:top;text-align:"


class Cell(NamedTuple):
    """A number as text, with a smaller detail, such as its interval."""

    text: str
    detail: str = ""
    bold: bool = False


Content: TypeAlias = str | float | Cell | None


class Card:
    """The notebook view of a result: a title, facts, tables and notes."""

    def __init__(self, title: str, *facts: str) -> None:
        shown = " · ".join(_clean(fact, _LONGEST_NOTE) for fact in facts if fact)
        self._parts = [f"<div><b>{_clean(title)}</b>{' · ' * bool(shown)}{shown}</div>"]

    def add_table(
        self,
        titles: Sequence[str],
        rows: Sequence[Sequence[Content]],
        *,
        caption: str = "",
        total: int | None = None,
        noun: tuple[str, str] = ("row", "rows"),
    ) -> None:
        """Add a table of the first rows; the others, of a `total`, are counted by their noun."""
        if not rows:
            return
        shown = rows[:MOST_ROWS]
        right = [
            all(isinstance(row[place], int | float | Cell | None) for row in shown)
            for place in range(len(titles))
        ]
        head = "".join(
            f'<th style="{_CELL}{_side(number)};border-bottom:{_LINE}">{_clean(title)}</th>'
            for title, number in zip(titles, right, strict=True)
        )
        body = "".join(
            "<tr>"
            + "".join(
                f'<td style="{_CELL}{_side(number)}">{_show(cell)}</td>'
                for cell, number in zip(row, right, strict=True)
            )
            + "</tr>"
            for row in shown
        )
        if caption:
            self._parts.append(f'<div style="margin-top:8px">{_clean(caption)}</div>')
        self._parts.append(
            '<table style="border-collapse:collapse;width:auto;margin:4px 0;table-layout:auto">'
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        )
        rest = (len(rows) if total is None else total) - len(shown)
        if rest > 0:
            words = pluralize(rest, f"more {noun[0]}", f"more {noun[1]}")
            self._parts.append(f"<div>and {words}</div>")

    def add_notes(self, notes: Iterable[str]) -> None:
        """Add remarks as a list; many are counted."""
        found = list(notes)
        if not found:
            return
        lines = [_clean(note, _LONGEST_NOTE) for note in found[:SHOWN]]
        if len(found) > SHOWN:
            lines.append(f"and {pluralize(len(found) - SHOWN, 'more note')}")
        items = "".join(f"<li>{line}</li>" for line in lines)
        self._parts.append(f'<ul style="margin:4px 0;padding-left:20px">{items}</ul>')

    def render(self) -> str:
        """Return the HTML."""
        style = "font-size:13px;line-height:1.45;overflow-x:auto"
        return f'<div class="berryeval {_NO_FORMULAS}" style="{style}">{"".join(self._parts)}</div>'


def _side(number: bool) -> str:  # noqa: FBT001 - the side of one cell
    return "right;white-space:nowrap" if number else "left"


def _clean(text: str, longest: int = _LONGEST) -> str:
    # Cut first: a text may be very long.
    return escape(escape_controls(truncate(text[: 4 * longest], longest)))


def _show(content: Content) -> str:
    if content is None:
        return _MISSING
    if isinstance(content, str):
        return _clean(content)
    if isinstance(content, int | float):
        return f"{content:,}" if isinstance(content, int) else format_metric(content)
    text = f"<b>{_clean(content.text)}</b>" if content.bold else _clean(content.text)
    if not content.detail:
        return text
    return f'{text} <span style="opacity:.7">{_clean(content.detail)}</span>'


def name_three(names: Sequence[str]) -> str:
    """Name the first three of many, each cut, and count the rest."""
    brief = [truncate(name[:80], 24) for name in names[:3]]
    return name_some([*brief, *names[3:]], 3)
