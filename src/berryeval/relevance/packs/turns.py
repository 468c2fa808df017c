"""Conversations in a corpus: where in a document each turn stands.

A document may be a turn, or a session that says in `metadata["turns"]` where its turns stand:
`[{"id": "D1:3", "start": 0, "end": 51, "has_answer": true}, ...]`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from berryeval.anchors import Span
from berryeval.json_record import refused

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.records import Document, Hit
    from berryeval.relevance.packs.base import PackCorpus

__all__ = ["Turn", "texts_of", "turns_covered", "turns_of"]


class Turn(NamedTuple):
    """A turn of a conversation, and where it stands."""

    id: str
    span: Span
    has_answer: bool


def turns_of(document: Document) -> list[Turn]:
    """The turns that a document says it holds."""
    given = document.metadata.get("turns")
    if given is None:
        return []
    where = f"metadata.turns of document {document.id!r}"
    if not isinstance(given, list | tuple):
        raise refused(where, "an array of turns", given)
    return [_turn(turn, document, f"{where}, place {place}") for place, turn in enumerate(given)]


def _turn(value: Any, document: Document, where: str) -> Turn:
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str):
        raise refused(where, "an object with id, start and end", value)
    start, end = value.get("start"), value.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(document.text):
        raise refused(where, f"start and end within the {len(document.text)} characters", value)
    return Turn(value["id"], Span(document.id, start, end), value.get("has_answer") is True)


def turns_covered(hit: Hit, turns: Mapping[str, list[Turn]], corpus: PackCorpus) -> list[Turn]:
    """The turns of a session that a hit holds: all of them, if the hit is the whole session.

    Args:
        hit: what was found.
        turns: the turns of each session, by the id of its document.
        corpus: finds the hit in its document.
    """
    whole = hit.id if hit.id in turns else hit.doc_id
    if whole not in turns:
        return []
    if hit.id == whole and hit.start is None:
        return turns[whole]
    places = [span for span in corpus.place(hit) if span.document == whole]
    return [
        turn
        for turn in turns[whole]
        if any(corpus.rule.covers(span[1:], turn.span[1:]) for span in places)
    ]


def texts_of(value: Any) -> Iterator[str]:
    """The strings of a field that may hold one, or a list of them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, str))
