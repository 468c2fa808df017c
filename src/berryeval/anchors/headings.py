"""The headings of a Markdown text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Heading", "headings_of"]

_LINE: Final = re.compile(r"[^\r\n]+(?:\r\n?|\n)?|\r\n?|\n")  # a form feed, say, begins none
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_COMMENT: Final = re.compile(r" {0,3}<!--")
_LIST_ITEM: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_QUOTE_OR_TABLE: Final = re.compile(r" {0,3}[>|]")
_CODE: Final = re.compile(r" {0,3}\t| {4}")
_BREAK: Final = 3  # so many marks are a line across the page


class Heading(NamedTuple):
    """A heading: its level from 1 to 6, its text, and where its line begins."""

    level: int
    text: str
    start: int


def headings_of(text: str) -> Iterator[Heading]:
    """The headings of the lines that are not in code or a comment."""
    above = _Above()
    for line, start in _outside_code(text):
        marks = _HEADING.match(line)
        underline = _UNDERLINE.match(line) if above.title else None
        if marks:
            yield Heading(len(marks[1]), _without_closing(line[marks.end() :]), start)
        elif underline and above.title:
            yield Heading(1 if underline[1][0] == "=" else 2, *above.title)
        if marks or underline:
            above = _Above()
        else:
            above.add(line, start)


class _Above:
    """What stands above a line: it can be underlined only if it is a paragraph of one line."""

    def __init__(self) -> None:
        self.title: tuple[str, int] | None = None
        self._open = False  # whether a line of text goes on with what stands above
        self._in_list = False  # then text behind spaces belongs to an item

    def add(self, line: str, start: int) -> None:
        """One more line, which is no heading."""
        first, self.title = not self._open, None
        if not line.strip() or _is_break(line):
            self._open = False
        elif first and _CODE.match(line):
            pass  # code goes on with nothing
        elif _LIST_ITEM.match(line):
            self._open = self._in_list = True
        elif not first or _QUOTE_OR_TABLE.match(line):
            self._open = True
        else:
            self._open = True
            self._in_list = self._in_list and line.startswith(" ")
            self.title = None if self._in_list else (line.strip(), start)


def _is_break(line: str) -> bool:
    """Whether the line is one across the page, as `---` or `* * *`."""
    marks = line.replace(" ", "").replace("\t", "")
    return len(marks) >= _BREAK and marks[0] in "-_*" and not marks.strip(marks[0])


def _without_closing(rest: str) -> str:
    """What follows the marks of a heading, without those that close it."""
    title = rest.strip()
    open_end = title.rstrip("#")
    return open_end.rstrip() if not open_end or open_end[-1] in " \t" else title


def _outside_code(text: str) -> Iterator[tuple[str, int]]:
    """The lines with their offsets; an empty one for each that is in fenced code or a comment."""
    fence, comment = "", False
    for line, start in _lines(text):
        opened = _FENCE.match(line)
        was_inside = bool(fence) or comment
        if fence:
            if opened and opened[1].startswith(fence) and not opened[2].strip():
                fence = ""
        elif comment or _COMMENT.match(line):
            comment = "-->" not in line
            was_inside = True
        elif opened and not (opened[1][0] == "`" and "`" in opened[2]):
            fence, was_inside = opened[1], True
        yield "" if was_inside else line, start


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines with their offsets, without the front matter between two lines of `---`."""
    lines = [(match[0].rstrip("\r\n"), match.start()) for match in _LINE.finditer(text)]
    if lines:
        lines[0] = lines[0][0].removeprefix("\ufeff"), 0
    rules = (n for n, (line, _) in enumerate(lines) if line.rstrip(" \t") == "---")
    if next(rules, None) == 0:
        lines = lines[next(rules, -1) + 1 :]
    return iter(lines)
