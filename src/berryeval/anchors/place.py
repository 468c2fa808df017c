"""Where a chunk or a hit stands in its document, and an anchor at that place."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from berryeval.anchors.normalised import normalise
from berryeval.anchors.quotes import find_same
from berryeval.errors import DataError
from berryeval.records import Anchor, Chunk, Hit

if TYPE_CHECKING:
    from berryeval.anchors.corpus import Corpus, Text
    from berryeval.records import Document

__all__ = ["Piece", "Placed", "anchor_of", "place"]

Piece: TypeAlias = Hit | Chunk


class Placed(NamedTuple):
    """The document of a piece, and the spans where it stands or may stand."""

    document: str
    spans: tuple[tuple[int, int], ...] = ()


def place(piece: Piece, corpus: Corpus) -> Placed:
    """Where a piece stands: at its offsets, or else wherever its document holds its text.

    A piece without a document is the document whose id it has, if there is one. Offsets that do
    not fit the document's text, or at which it says something else, are not believed: a piece that
    says what its document does not say anywhere was cut from another version of it.
    """
    document = piece.doc_id or (piece.id if piece.id in corpus else "")
    text = corpus.text(document)
    offsets = (piece.start, piece.end or 0) if piece.start is not None else None
    if text is None:
        return Placed(document, (offsets,) if offsets and document else ())
    if offsets and _fits(piece.text, text, *offsets):
        return Placed(document, (offsets,))
    if piece.text:
        found = find_same(piece.text, text)
        return Placed(document, found.places if found else ())
    whole = piece.id == document and offsets is None and text.text
    return Placed(document, ((0, len(text.text)),) if whole else ())


def _fits(said: str, text: Text, start: int, end: int) -> bool:
    """Whether the text at these offsets is what the piece says, as far as it says anything."""
    if end > len(text.text):
        return False
    passage = text.text[start:end]
    if not said or said == passage:
        return True
    ours, theirs = normalise(said), normalise(passage)
    return bool(ours and theirs) and (ours in theirs or theirs in ours)


def anchor_of(chunk: Chunk, document: Document | None = None) -> Anchor:
    """An anchor at the text of a chunk, which other chunkings will find again.

    >>> from berryeval.records import Chunk
    >>> anchor_of(Chunk("c1", "d1", "Cats purr.", 11, 21)).to_json()
    {'document': 'd1', 'start': 11, 'end': 21, 'quote': 'Cats purr.'}
    """
    if not chunk.text and chunk.start is None:
        msg = f"the chunk {chunk.id!r} has neither a text nor a place, so nothing can point at it"
        raise DataError(msg)
    return Anchor(
        document=chunk.doc_id,
        start=chunk.start,
        end=chunk.end,
        quote=chunk.text,
        document_hash=document.content_hash if document else "",
    )
