"""Convert hits and targets to passages of text, for metrics of text."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from berryeval.data import (
    Hit,
    Passage,
    Span,
    SpanIndex,
    SpanRanking,
    TokenCounter,
    Wanted,
    count_tokens,
)

if TYPE_CHECKING:
    from berryeval.anchors import Location, Target, Targets
    from berryeval.data import Chunk
    from berryeval.relevance.strategies import Joined


_LOOSE: Final = "\0"  # prefix of the names of texts that are in no known document


class Texts:
    """Texts and chunks of the corpus, created once per benchmark."""

    def __init__(self, targets: Targets, chunks: Sequence[Chunk] | None) -> None:
        self.targets = targets
        self._chunks = chunks
        self.tokens = TokenCounter(self._text_of)

    def _text_of(self, document: str) -> str | None:
        text = self.targets.corpus.text(document)
        return None if text is None else text.text

    @cached_property
    def chunks(self) -> dict[str, SpanIndex] | None:
        """Spans of the chunks, by document."""
        if self._chunks is None:
            return None
        spans: dict[str, list[tuple[int, int, int]]] = defaultdict(list)
        for number, chunk in enumerate(self._chunks):
            for document, start, end in self.targets.place(chunk):
                spans[document].append((start, end, number))
        return {document: SpanIndex(parts) for document, parts in spans.items()}

    def spans_of(self, member: Location) -> tuple[Span, ...]:
        """Return the known spans of a target."""
        if member.spans:
            return member.spans
        anchor = member.anchor
        if anchor.chunk:
            return self.targets.place(Hit(anchor.chunk))
        return self.whole(anchor.document) if member.is_document else ()

    def whole(self, document: str) -> tuple[Span, ...]:
        """Return the span of a whole document, if its text is known."""
        text = self._text_of(document)
        return () if text is None else (Span(document, 0, len(text)),)


def build_span_ranking(joined: Joined, hits: Sequence[Hit], texts: Texts) -> SpanRanking:
    """Convert the hits and targets of one query to spans."""
    loose: dict[str, str] = {}
    passages = [_make_passage(hit, joined, texts, loose) for hit in hits]
    wanted = [
        part
        for place, target in enumerate(joined.targets)
        for part in _make_wanted(place, target, joined, passages, texts, loose)
    ]

    def tokens(document: str, start: int, end: int) -> int:
        if document in loose:
            return count_tokens(loose[document][start:end])
        return texts.tokens(document, start, end)

    return SpanRanking(joined.ranking, passages, wanted, tokens, texts.chunks)


def _make_passage(hit: Hit, joined: Joined, texts: Texts, loose: dict[str, str]) -> Passage:
    spans = texts.targets.place(hit)
    if not spans and hit.text:
        name = f"{_LOOSE}hit {hit.id}"
        loose[name] = hit.text
        spans = (Span(name, 0, len(hit.text)),)
    if not spans and (hit.doc_id or hit.id) == hit.id:
        spans = texts.whole(hit.id)  # an empty document has an empty span
    if joined.file_of is not None:
        return Passage(hit.id, spans, (joined.file_of(hit),))
    path, section, _ = hit.id.partition("#")
    names = (hit.doc_id, path if section or not hit.doc_id else "")
    return Passage(hit.id, spans, tuple(dict.fromkeys(filter(None, names))) or (hit.id,))


def _make_wanted(
    place: int,
    target: Target,
    joined: Joined,
    passages: Sequence[Passage],
    texts: Texts,
    loose: dict[str, str],
) -> Iterator[Wanted]:
    """Yield the passages of a target: one with any of its places, or one per needed member."""
    if place in joined.hit_of:
        hit = passages[joined.hit_of[place]]
        yield Wanted(f"hit {hit.id!r}", target.grade, hit.spans, frozenset(hit.files))
        return
    members = [(member,) for member in target.members] if target.need == "all" else [target.members]
    for part in members:
        spans = tuple(span for member in part for span in texts.spans_of(member))
        if not spans:
            quotes = [member.anchor.quote for member in part if member.anchor.quote]
            spans = tuple(Span(f"{_LOOSE}quote {quote}", 0, len(quote)) for quote in quotes)
            loose.update((f"{_LOOSE}quote {quote}", quote) for quote in quotes)
        if not spans and not any(member.resolves for member in part):
            spans = (Span(f"{_LOOSE}lost", 0, 0),)  # an unresolved target has no characters
        known = joined.files.get(place)
        found = (file for member in part for file in _files(member, spans, passages))
        files = [known] if known else found
        first = part[0].anchor
        name = repr(first.chunk or first.document or first.quote)
        yield Wanted(name, target.grade, spans, frozenset(files))


def _files(member: Location, spans: tuple[Span, ...], passages: Sequence[Passage]) -> Iterable[str]:
    placed = [span.document for span in spans if not span.document.startswith(_LOOSE)]
    if placed:
        return placed
    if member.anchor.document:
        return [member.anchor.document]
    chunk = member.anchor.chunk
    found = (passage.files for passage in passages if passage.id == chunk)
    return next(found, (chunk.partition("#")[0],)) if chunk else []
