"""The headings of a Markdown text."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.data import Section as Path


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


# The sections of a Markdown text: where each begins and ends, and the headings above it.

# The brackets inside are left out: looking for the end of each would take too long.
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")


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


def slug(heading: str) -> str:
    """A heading as links name it: lower case, punctuation gone, hyphens for spaces."""
    plain = _LINK.sub(r"\1", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain))


def parse_sections(text: str) -> tuple[Section, ...]:
    r"""The sections of a Markdown text, in order. Headings inside code are none.

    >>> [(s.path, s.id) for s in parse_sections("# Guide\n\n## Set up {#setup}\nRun it.\n")]
    [(('Guide',), 'guide'), (('Guide', 'Set up'), 'setup')]
    """
    headings = list(headings_of(text))
    first = headings[0].start if headings else len(text)
    sections = [Section((), "", 0, 0, first, first)] if text[:first].strip() else []
    above: list[tuple[int, str]] = []
    taken: dict[str, int] = {}
    for (level, title, start), (own_end, end) in zip(
        headings, _ends(headings, len(text)), strict=True
    ):
        name, given = _given_id(title)
        above = [(depth, heading) for depth, heading in above if depth < level] + [(level, name)]
        path = tuple(heading for _, heading in above)
        identity = given or _distinct(slug(name), taken)
        sections.append(Section(path, identity, level, start, own_end, end))
    return tuple(sections)


def _ends(headings: list[Heading], length: int) -> list[tuple[int, int]]:
    """For each heading, where the next one begins, and the next that is not below it."""
    found: list[tuple[int, int]] = []
    next_of = [length] * 7  # the next heading of each level
    for level, _, start in reversed(headings):
        found.append((min(next_of), min(next_of[: level + 1])))
        next_of[level] = start
    return found[::-1]


def _given_id(title: str) -> tuple[str, str]:
    """The heading without the `{#id}` at its end, and the id; empty if it gives none."""
    name, mark, identity = title.rpartition("{#")
    given = identity.removesuffix("}")
    if not mark or given == identity or not given or re.search(r"[\s{}]", given):
        return title, ""
    return name.rstrip(" \t"), given


def _distinct(identity: str, taken: dict[str, int]) -> str:
    """The slug, with a number behind it if an earlier heading has it."""
    result = identity
    while result in taken:
        taken[identity] += 1
        result = f"{identity}-{taken[identity]}"
    taken[result] = 0
    return result


# Which section of a text a path of headings means.

_LEAST_LIKE: Final = 0.6


def slugs(path: Path) -> Path:
    """The path as links would name its parts.

    >>> slugs(("User guide", "Set up!"))
    ('user-guide', 'set-up')
    """
    return tuple(slug(part) for part in path)


class SectionIndex:
    """The sections of one text, by all that may name them."""

    def __init__(self, text: str) -> None:
        self._by_id: dict[str, list[Section]] = defaultdict(list)
        self._by_path: dict[Path, list[Section]] = defaultdict(list)
        self._by_end: dict[Path, list[Section]] = defaultdict(list)
        self._slugs: list[tuple[str, Section]] = []
        for section in parse_sections(text):
            if not section.path:
                continue  # what stands before the first heading has no name
            self._by_id[section.id].append(section)
            self._by_path[section.path].append(section)
            path = slugs(section.path)
            self._slugs.append((" > ".join(path), section))
            for first in range(len(path)):
                self._by_end[path[first:]].append(section)

    def find(self, path: Path) -> list[Section]:
        r"""The sections a path means, by the first way that finds any.

        A path of one part may be the id of a section. Else it is the exact path of headings, or
        the end of one, compared as links name headings. More than one section: it is ambiguous.

            >>> index = SectionIndex("# A\n## Set up\n# B\n## Set up\n## Run it {#run}\n")
            >>> [section.path for section in index.find(("a", "set-up"))]
            [('A', 'Set up')]
            >>> len(index.find(("Set up",))), len(index.find(("run",)))
            (2, 1)
        """
        named = self._by_id.get(path[0].removeprefix("#"), []) if len(path) == 1 else []
        return named or self._by_path.get(path, []) or self._by_end.get(slugs(path), [])

    def nearest(self, path: Path) -> tuple[Section, float] | None:
        """The section whose path reads most like this one, with how much, if it does at all."""
        matcher = difflib.SequenceMatcher(None, autojunk=False)
        matcher.set_seq2(" > ".join(slugs(path)))
        best: tuple[Section, float] | None = None
        for written, section in self._slugs:
            matcher.set_seq1(written)
            least = best[1] if best else _LEAST_LIKE
            if matcher.real_quick_ratio() < least or matcher.quick_ratio() < least:
                continue
            ratio = matcher.ratio()
            if ratio >= _LEAST_LIKE and (best is None or ratio > best[1]):
                best = section, ratio
        return best
