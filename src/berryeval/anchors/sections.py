"""The sections of a Markdown text: where each begins and ends, and the headings above it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from berryeval.anchors.headings import headings_of

if TYPE_CHECKING:
    from berryeval.anchors.headings import Heading
    from berryeval.records import Section as Path

__all__ = ["Section", "parse_sections", "slug"]

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
