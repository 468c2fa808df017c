"""Chunks that are sections of Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from berryeval.anchors import parse_sections
from berryeval.chunkers.base import Choice, OptionChunker, Piece, Whole, option, trimmed
from berryeval.chunkers.fixed import FixedChunker, windows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.data import Document


@dataclass(frozen=True)
class SectionChunker(OptionChunker):
    """One chunk for each section: its heading and its own text, without its subsections.

    Its id is the document's and that of the section, as a link would name it: `guide#set-up`. What
    stands before the first heading is a chunk of its own, `guide#`. A section longer than
    `max_size` characters becomes several chunks at ends of lines, as `guide#set-up@0-800`. A
    section of a heading alone is a chunk too, so that nothing is lost, unless `empty="drop"`.
    """

    name: ClassVar[str] = "section"
    summary: ClassVar[str] = "sections of Markdown, by their headings"

    max_size: int | None = option(
        None, Whole(least=1, optional=True), "how many characters a chunk has at most"
    )
    empty: str = option("keep", Choice(words=("keep", "drop")), "sections of a heading alone")

    def pieces(self, document: Document) -> Iterator[Piece]:
        """Where the chunks of the document are, in order."""
        text = document.text
        taken: set[str] = set()
        for section in parse_sections(text):
            start, end = trimmed(text, section.start, section.own_end)
            if self.empty == "drop" and section.level and _is_heading_alone(text[start:end]):
                continue
            whole = not self.max_size or end - start <= self.max_size
            for piece in [(start, end)] if whole else self._cut(text, start, end):
                name = f"#{section.id}" if whole else f"#{section.id}@{piece[0]}-{piece[1]}"
                yield Piece(*piece, section=section.path, name=_distinct(name, piece, taken))

    def _cut(self, text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
        fixed = FixedChunker(size=self.max_size or 1, boundary="line")
        return windows(fixed, text, start, end)


def _is_heading_alone(text: str) -> bool:
    """Whether nothing but the heading is there: a line, or one underlined."""
    lines = [line for line in text.splitlines() if line.strip()]
    underlined = len(lines) == 2 and not lines[1].strip().strip(lines[1].strip()[0]).strip()  # noqa: PLR2004 - a line, a rule
    return len(lines) <= 1 or (underlined and lines[1].strip()[0] in "=-")


def _distinct(name: str, span: tuple[int, int], taken: set[str]) -> str:
    """The name; with its span behind it, if another section gave itself the same one."""
    while name in taken:
        name = f"{name}@{span[0]}-{span[1]}"
    taken.add(name)
    return name
