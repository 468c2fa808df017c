"""What to say, and what to offer, when an anchor no longer resolves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval.anchors.normalised import normalise
from berryeval.anchors.quotes import NEAR, find_nearly, find_same

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.anchors.corpus import Corpus, Text
    from berryeval.records import Anchor

__all__ = ["Lost", "lost_document", "lost_quote", "lost_section", "lost_span", "shown"]

_LONGEST: Final = 80


class Lost(NamedTuple):
    """Why an anchor does not resolve; the text nearest to it, how near, and a better anchor."""

    reason: str
    nearest: str = ""
    ratio: float = 0.0
    repaired: Anchor | None = None


def shown(text: str) -> str:
    """A text in messages: on one line, and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"


def lost_document(anchor: Anchor, corpus: Corpus) -> Lost:
    """The document is not there; perhaps under another name, or what it said is elsewhere."""
    reason = f"there is no document {anchor.document!r}"
    same = corpus.with_hash(anchor.document_hash)
    if len(same) == 1:
        (name,) = same
        text = corpus.text(name)
        nearest = shown(text.text) if text else ""
        return Lost(
            f"{reason}; {name!r} has its text", nearest, 1.0, replace(anchor, document=name)
        )
    needle = normalise(anchor.quote)
    homes = corpus.holding(needle) if needle else []
    if len(homes) != 1:
        return Lost(reason)
    found = find_same(anchor.quote, homes[0])
    if not found:
        return Lost(reason)
    repaired = _quoting(anchor, homes[0], *found.places[0])
    return Lost(f"{reason}; {homes[0].document!r} has the quote", anchor.quote, 1.0, repaired)


def lost_section(anchor: Anchor, text: Text) -> Lost:
    """The section is not there; perhaps its heading was changed."""
    reason = f"{anchor.document!r} has no section {' > '.join(anchor.section)!r}"
    near = text.sections.nearest(anchor.section)
    if near is None:
        return Lost(reason)
    section, ratio = near
    passage = shown(text.text[section.start : section.end])
    unique = len(text.sections.find(section.path)) == 1
    path = section.path if unique else (section.id,)
    repaired = replace(anchor, section=path, document_hash=text.hash)
    return Lost(f"{reason}; nearest is {' > '.join(section.path)!r}", passage, ratio, repaired)


def lost_span(anchor: Anchor, text: Text, reason: str) -> Lost:
    """The span cannot be trusted; what stands there now may help who made it."""
    start, end = anchor.start or 0, anchor.end or 0
    if anchor.unit == "lines":
        if not text.complete or start > text.line_count:
            return Lost(reason)
        start, end = text.lines(start, min(end, text.line_count))
    return Lost(reason, shown(text.text[start:end]))


def lost_quote(anchor: Anchor, texts: Iterable[Text]) -> Lost:
    """The quote is not there; perhaps it was rewritten."""
    where = f"{anchor.document!r} does not hold" if anchor.document else "no document holds"
    reason = f"{where} the quote {shown(anchor.quote)!r}"
    best: Lost | None = None
    for text in texts:
        found = find_nearly(anchor.quote, text, NEAR)
        if found and (best is None or found.ratio > best.ratio):
            start, end = found.places[0]
            passage = text.text[start:end]
            best = Lost(reason, passage, found.ratio, _quoting(anchor, text, start, end))
    return best or Lost(reason)


def _quoting(anchor: Anchor, text: Text, start: int, end: int) -> Anchor:
    """The anchor, moved to a passage: by its place, and by what it says."""
    return replace(
        anchor,
        document=text.document,
        section=(),
        start=start,
        end=end,
        unit="characters",
        quote=text.text[start:end],
        document_hash=text.hash,
    )
