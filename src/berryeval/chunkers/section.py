"""Sections of Markdown as chunks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from berryeval.anchors import parse_sections
from berryeval.chunkers.base import OptionChunker, Piece, option, trim_span
from berryeval.chunkers.fixed import FixedChunker, windows

if TYPE_CHECKING:
    from berryeval.data import Document


@dataclass(frozen=True)
class SectionChunker(OptionChunker):
    """One chunk per section: the heading and its own text, without subsections.

    The id is a link to the section, as in `guide#set-up`. Text before the first heading is the
    chunk `guide#`. A document that is one chunk keeps its id, `guide`. A section longer than
    `max_size` characters is split at line ends into chunks such as `guide#set-up@0-800`. A section
    that is only a heading is a chunk too, unless `empty="drop"`.
    """

    name: ClassVar[str] = "section"
    summary: ClassVar[str] = "sections of Markdown, by their headings"

    max_size: int | None = option(None, "maximum characters per chunk", least=1)
    empty: str = option("keep", "sections that are only a heading", choices=("keep", "drop"))

    def pieces(self, document: Document) -> Iterator[Piece]:
        """Return the positions of the chunks in text order."""
        text = document.text
        taken: set[str] = set()
        for section in parse_sections(text):
            start, end = trim_span(text, section.start, section.own_end)
            if self.empty == "drop" and section.level and _is_only_heading(text[start:end]):
                continue
            whole = not self.max_size or end - start <= self.max_size
            pieces: Iterable[tuple[int, int]] = [(start, end)]
            if not whole:
                fixed = FixedChunker(size=self.max_size or 1, boundary="line")
                pieces = windows(fixed, text, start, end)
            for piece in pieces:
                span = f"@{piece[0]}-{piece[1]}"
                name = f"#{section.id}" if whole else f"#{section.id}{span}"
                while name in taken:
                    name += span
                taken.add(name)
                yield Piece(*piece, section=section.path, name=name)


def _is_only_heading(text: str) -> bool:
    """Return whether a text is only a heading: one line, or one line with an underline."""
    lines = [line for line in text.splitlines() if line.strip()]
    underlined = len(lines) == 2 and not lines[1].strip().strip(lines[1].strip()[0]).strip()  # noqa: PLR2004 - heading and underline
    return len(lines) <= 1 or (underlined and lines[1].strip()[0] in "=-")
