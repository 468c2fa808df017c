"""`Located`: where the target of an anchor stands, or why nobody can tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from berryeval.anchors.lost import Lost
    from berryeval.anchors.quotes import Match
    from berryeval.anchors.spans import Span
    from berryeval.records import Anchor
    from berryeval.records import Section as Path

__all__ = ["Located"]


@dataclass(frozen=True)
class Located:
    """Where the target of an anchor stands, or why nobody can tell.

    Attributes:
        anchor: the anchor.
        spans: its places, each as good as the others. None for a chunk or a whole document, nor
            where the text of the document is not known, nor where the anchor is lost.
        match: how a quote was found.
        ratio: how like the quote the text there is.
        path: the headings of a section, as the text has them.
        choices: the places among which an ambiguous anchor does not tell.
        lost: why it does not resolve.
    """

    anchor: Anchor
    spans: tuple[Span, ...] = ()
    match: Match = "exact"
    ratio: float = 1.0
    path: Path = ()
    choices: tuple[str, ...] = field(default=(), repr=False)
    lost: Lost | None = None

    @property
    def is_document(self) -> bool:
        """Whether the target is a whole document."""
        anchor = self.anchor
        narrower = anchor.chunk or anchor.section or anchor.quote or anchor.start is not None
        return not narrower

    @property
    def resolves(self) -> bool:
        """Whether something can cover it."""
        return self.lost is None and (not self.choices or bool(self.spans))
