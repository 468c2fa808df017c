"""Headings and sections of Markdown texts."""

from __future__ import annotations

import difflib
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from berryeval.data import Section as Path

# Unlike str.splitlines, a form feed is no line end.
_LINE: Final = re.compile(r"[^\r\n]+(?:\r\n?|\n)?|\r\n?|\n")
_HEADING: Final = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_UNDERLINE: Final = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
_COMMENT: Final = re.compile(r" {0,3}<!--")
_LIST_ITEM: Final = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])(?:[ \t]|$)")
_QUOTE_OR_TABLE: Final = re.compile(r" {0,3}[>|]")
_CODE: Final = re.compile(r" {0,3}\t| {4}")
_BREAK: Final = 3  # marks in a thematic break


class Heading(NamedTuple):
    """A heading with its level from 1 to 6, its text and the start of its line."""

    level: int
    text: str
    start: int


def find_headings(text: str) -> Iterator[Heading]:
    """Yield the headings outside code and comments."""
    above = _Above()
    for line, start in _lines_outside_code(text):
        marks = _HEADING.match(line)
        underline = _UNDERLINE.match(line) if above.title else None
        if marks:
            yield Heading(len(marks[1]), _strip_closing_marks(line[marks.end() :]), start)
        elif underline and above.title:
            yield Heading(1 if underline[1][0] == "=" else 2, *above.title)
        if marks or underline:
            above = _Above()
        else:
            above.add(line, start)


class _Above:
    """The block above a line, which an underline makes a heading if it is a one-line paragraph."""

    def __init__(self) -> None:
        self.title: tuple[str, int] | None = None
        self._open = False  # whether a line of text continues the block above
        self._in_list = False  # indented text then belongs to an item

    def add(self, line: str, start: int) -> None:
        first, self.title = not self._open, None
        if not line.strip() or _is_break(line):
            self._open = False
        elif first and _CODE.match(line):
            pass  # indented code is not continued
        elif _LIST_ITEM.match(line):
            self._open = self._in_list = True
        elif not first or _QUOTE_OR_TABLE.match(line):
            self._open = True
        else:
            self._open = True
            self._in_list = self._in_list and line.startswith(" ")
            self.title = None if self._in_list else (line.strip(), start)


def _is_break(line: str) -> bool:
    """Return whether a line is a thematic break, as `---` or `* * *`."""
    marks = line.replace(" ", "").replace("\t", "")
    return len(marks) >= _BREAK and marks[0] in "-_*" and not marks.strip(marks[0])


def _strip_closing_marks(rest: str) -> str:
    title = rest.strip()
    open_end = title.rstrip("#")
    return open_end.rstrip() if not open_end or open_end[-1] in " \t" else title


def _lines_outside_code(text: str) -> Iterator[tuple[str, int]]:
    """Yield lines and offsets; lines in fenced code and comments are empty."""
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
    """Return an iterator of lines and offsets, without front matter between two lines of `---`."""
    lines = [(match[0].rstrip("\r\n"), match.start()) for match in _LINE.finditer(text)]
    if lines:
        lines[0] = lines[0][0].removeprefix("\ufeff"), 0
    rules = (n for n, (line, _) in enumerate(lines) if line.rstrip(" \t") == "---")
    if next(rules, None) == 0:
        lines = lines[next(rules, -1) + 1 :]
    return iter(lines)


# Nested brackets are not matched: searching for the end of each would take too long.
_LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*\)")


@dataclass(frozen=True)
class Section:
    """A heading and the text below it, or the text before the first heading."""

    path: Path  # headings from the outermost to this one
    id: str  # link target: the `{#id}` of the heading, or its slug
    level: int  # 1 for `#`; 0 for text before the first heading
    start: int
    own_end: int  # start of the next heading of any level
    end: int  # end including subsections


def slug(heading: str) -> str:
    """Return the link name of a heading: lowercase, no punctuation, hyphens for spaces."""
    plain = _LINK.sub(r"\1", heading).strip().lower()
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", plain))


def parse_sections(text: str) -> tuple[Section, ...]:
    r"""Return the sections of a Markdown text in order; headings in code do not count.

    >>> [(s.path, s.id) for s in parse_sections("# Guide\n\n## Set up {#setup}\nRun it.\n")]
    [(('Guide',), 'guide'), (('Guide', 'Set up'), 'setup')]
    """
    headings = list(find_headings(text))
    first = headings[0].start if headings else len(text)
    sections = [Section((), "", 0, 0, first, first)] if text[:first].strip() else []
    above: list[tuple[int, str]] = []
    taken: dict[str, int] = {}
    ends = _ends(headings, len(text))
    for (level, title, start), (own_end, end) in zip(headings, ends, strict=True):
        name, given = _split_id(title)
        above = [(depth, heading) for depth, heading in above if depth < level] + [(level, name)]
        path = tuple(heading for _, heading in above)
        identity = given or _make_unique(slug(name), taken)
        sections.append(Section(path, identity, level, start, own_end, end))
    return tuple(sections)


def _ends(headings: list[Heading], length: int) -> list[tuple[int, int]]:
    """Return, per heading, the start of the next heading and of the next that is not below it."""
    found: list[tuple[int, int]] = []
    next_of = [length] * 7  # the next heading of each level
    for level, _, start in reversed(headings):
        found.append((min(next_of), min(next_of[: level + 1])))
        next_of[level] = start
    return found[::-1]


def _split_id(title: str) -> tuple[str, str]:
    name, mark, identity = title.rpartition("{#")
    given = identity.removesuffix("}")
    if not mark or given == identity or not given or re.search(r"[\s{}]", given):
        return title, ""
    return name.rstrip(" \t"), given


def _make_unique(identity: str, taken: dict[str, int]) -> str:
    result = identity
    while result in taken:
        taken[identity] += 1
        result = f"{identity}-{taken[identity]}"
    taken[result] = 0
    return result


_LEAST_LIKE: Final = 0.6  # minimum similarity of a suggested section


def slugs(path: Path) -> Path:
    """Return the link names of a path.

    >>> slugs(("User guide", "Set up!"))
    ('user-guide', 'set-up')
    """
    return tuple(slug(part) for part in path)


class SectionIndex:
    """An index of the sections of a text by id and path."""

    def __init__(self, text: str) -> None:
        self._by_id: dict[str, list[Section]] = defaultdict(list)
        self._by_path: dict[Path, list[Section]] = defaultdict(list)
        self._by_end: dict[Path, list[Section]] = defaultdict(list)
        self._slugs: list[tuple[str, Section]] = []
        for section in parse_sections(text):
            if not section.path:
                continue  # text before the first heading has no name
            self._by_id[section.id].append(section)
            self._by_path[section.path].append(section)
            path = slugs(section.path)
            self._slugs.append((" > ".join(path), section))
            for first in range(len(path)):
                self._by_end[path[first:]].append(section)

    def find(self, path: Path) -> list[Section]:
        r"""Return the sections that match a path; several if the path is ambiguous.

        A path of one part is first tried as an id, then as the exact path of headings, then as the
        end of a path, compared by link names.

            >>> index = SectionIndex("# A\n## Set up\n# B\n## Set up\n## Run it {#run}\n")
            >>> [section.path for section in index.find(("a", "set-up"))]
            [('A', 'Set up')]
            >>> len(index.find(("Set up",))), len(index.find(("run",)))
            (2, 1)
        """
        named = self._by_id.get(path[0].removeprefix("#"), []) if len(path) == 1 else []
        return named or self._by_path.get(path, []) or self._by_end.get(slugs(path), [])

    def nearest(self, path: Path) -> tuple[Section, float] | None:
        """Return the section with the most similar path and its similarity, if high enough."""
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
