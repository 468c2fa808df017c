"""Which section of a text a path of headings means."""

from __future__ import annotations

import difflib
from collections import defaultdict
from typing import TYPE_CHECKING, Final

from berryeval.anchors.sections import Section, parse_sections, slug

if TYPE_CHECKING:
    from berryeval.records import Section as Path

__all__ = ["SectionIndex", "slugs"]

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
