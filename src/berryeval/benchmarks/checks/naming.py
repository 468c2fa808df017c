"""Targets in a few words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from berryeval.io.words import cut

if TYPE_CHECKING:
    from berryeval.records import Anchor

__all__ = ["name_of"]


def name_of(anchor: Anchor) -> str:
    """A target in a few words."""
    if anchor.chunk:
        return f"chunk {anchor.chunk!r}"
    parts = [repr(anchor.document)] if anchor.document else []
    if anchor.section:
        parts.append(f"section {' > '.join(anchor.section)!r}")
    if anchor.start is not None:
        parts.append(f"{anchor.unit} {anchor.start} to {anchor.end}")
    elif anchor.quote:
        parts.append(f"quote {cut(anchor.quote, 50)!r}")
    return ", ".join(parts)
