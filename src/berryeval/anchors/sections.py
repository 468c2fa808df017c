"""The sections of a Markdown text: where each begins and ends, and the headings above it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.records import Section as Path

__all__ = ["Section", "parse_sections", "slug"]

_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_GIVEN_ID: Final = re.compile(r"[ \t]*\{#([^\s{}]+)\}$")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_PARAGRAPH: Final = re.compile(r" {0,3}[^\s>#|*+-]|[ ]{0,3}[*+-]\S")


@dataclass(frozen=True)
class Section:
    """A heading and the text below it.

    Attributes:
        path: the headings from the outermost to this one; empty for what stands before the first.
        id: how a link names it: what the heading gives as `{#id}`, or its slug.
        level: 1 for `#`; 0 before the first heading.
        start: where the heading begins.
        own_end: where the next heading begins, of whichever level.
        end: where the next heading of the same or a higher level begins: past all subsections.
    """

    path: Path
    id: str
    level: int
    start: int
    own_end: int
    end: int


class _Heading(NamedTuple):
    level: int
    text: str
    start: int


def slug(heading: str) -> str:
    """A heading as links name it: lower case, punctuation gone, hyphens for spaces."""
    plain = _LINK.sub(r"\1", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain))


def parse_sections(text: str) -> tuple[Section, ...]:
    r"""The sections of a Markdown text, in order. Headings inside code are none.

    >>> [(s.path, s.id) for s in parse_sections("# Guide\n\n## Set up {#setup}\nRun it.\n")]
    [(('Guide',), 'guide'), (('Guide', 'Set up'), 'setup')]
    """
    headings = list(_headings(text))
    first = headings[0].start if headings else len(text)
    sections = [Section((), "", 0, 0, first, first)] if text[:first].strip() else []
    above: list[tuple[int, str]] = []
    taken: dict[str, int] = {}
    for (level, title, start), (own_end, end) in zip(
        headings, _ends(headings, len(text)), strict=True
    ):
        given = _GIVEN_ID.search(title)
        name = title[: given.start()] if given else title
        above = [(depth, heading) for depth, heading in above if depth < level] + [(level, name)]
        path = tuple(heading for _, heading in above)
        identity = given[1] if given else _distinct(slug(name), taken)
        sections.append(Section(path, identity, level, start, own_end, end))
    return tuple(sections)


def _ends(headings: list[_Heading], length: int) -> list[tuple[int, int]]:
    """For each heading, where the next one begins, and the next that is not below it."""
    found: list[tuple[int, int]] = []
    next_of = [length] * 7  # the next heading of each level
    for level, _, start in reversed(headings):
        found.append((min(next_of), min(next_of[: level + 1])))
        next_of[level] = start
    return found[::-1]


def _distinct(identity: str, taken: dict[str, int]) -> str:
    """The slug, with a number behind it from its second use on."""
    times = taken.get(identity, 0)
    taken[identity] = times + 1
    return f"{identity}-{times}" if times else identity


def _headings(text: str) -> Iterator[_Heading]:
    fence = ""
    before: tuple[str, int] | None = None  # the line above, if a line of = or - makes it a heading
    for line, start in _lines(text):
        opened = _FENCE.match(line)
        if fence:
            if opened and opened[1].startswith(fence) and not opened[2].strip():
                fence = ""
            continue
        if opened and not (opened[1][0] == "`" and "`" in opened[2]):
            fence, before = opened[1], None
            continue
        heading = _HEADING.match(line)
        underline = _UNDERLINE.match(line) if before else None
        if heading:
            yield _Heading(len(heading[1]), (heading[2] or "").strip(), start)
        elif underline and before:
            yield _Heading(1 if underline[1][0] == "=" else 2, before[0].strip(), before[1])
        continues = before is None or bool(underline)
        before = (line, start) if continues and not heading and _PARAGRAPH.match(line) else None


def _lines(text: str) -> Iterator[tuple[str, int]]:
    """The lines with their offsets, without the front matter between two lines of `---`."""
    start = 0
    front_matter = re.match(r"---[ \t]*\n(?:.*\n)*?---[ \t]*(?:\n|$)", text)
    if front_matter:
        start = front_matter.end()
    for line in text[start:].splitlines(keepends=True):
        yield line.rstrip("\r\n"), start
        start += len(line)
