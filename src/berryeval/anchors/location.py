"""`locate`: where the target of an anchor stands in a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from berryeval.anchors.corpus import as_hash
from berryeval.anchors.drift import (
    Located,
    Lost,
    lost_document,
    lost_quote,
    lost_section,
    lost_span,
    shown,
)
from berryeval.anchors.quotes import (
    RATIO,
    Found,
    Match,
    find_nearly,
    find_quote,
    find_same,
    normalise,
)
from berryeval.data import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.anchors.corpus import Corpus, Text
    from berryeval.anchors.markdown import Section
    from berryeval.data import Anchor


def locate(anchor: Anchor, corpus: Corpus) -> Located:
    """Where the target of an anchor stands.

    In this order: a chunk by its id; in the document, the section, the span if it still says what
    it said, the quote. What fails is lost, with a reason, and is not looked for elsewhere.
    """
    if anchor.chunk:
        return Located(anchor)
    if not anchor.document:
        return _quote_anywhere(anchor, corpus)
    if anchor.document not in corpus and corpus.closed:
        return Located(anchor, lost=lost_document(anchor, corpus))
    text = corpus.text(anchor.document)
    return _without_text(anchor) if text is None else _within(anchor, text)


def _within(anchor: Anchor, text: Text) -> Located:
    if anchor.section:
        return _section(anchor, text)
    if anchor.start is not None:
        return _span(anchor, text)
    return _quote(anchor, text) if anchor.quote else Located(anchor)


def _spans(text: Text, places: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
    return tuple(Span(text.document, start, end) for start, end in places)


def _at(anchor: Anchor, text: Text, found: Found) -> Located:
    return Located(anchor, _spans(text, found.places), found.match, found.ratio)


def _quote(anchor: Anchor, text: Text) -> Located:
    found = find_quote(anchor.quote, text)
    return _at(anchor, text, found) if found else Located(anchor, lost=lost_quote(anchor, [text]))


def _without_text(anchor: Anchor) -> Located:
    """Characters need no text; for the rest there is what chunks say of themselves."""
    if anchor.start is None:
        return Located(anchor, path=anchor.section)
    if anchor.unit == "lines":
        reason = f"the text of {anchor.document!r} is not known, so its lines cannot be counted"
        return Located(anchor, lost=Lost(reason))
    return Located(anchor, (Span(anchor.document, anchor.start, anchor.end or 0),))


def _section(anchor: Anchor, text: Text) -> Located:
    sections = text.sections.find(anchor.section)
    if anchor.quote:
        for section in sections:
            found = find_same(anchor.quote, text, section.start, _end(anchor, section))
            if found:
                return _at(anchor, text, found)
        return _quote(anchor, text)
    if not sections:
        return Located(anchor, lost=lost_section(anchor, text))
    if len(sections) > 1:
        choices = (f"{' > '.join(one.path)} (#{one.id})" for one in sections)
        return Located(anchor, choices=tuple(choices))
    (section,) = sections
    span = (section.start, _end(anchor, section))
    return Located(anchor, _spans(text, [span]), path=section.path)


def _end(anchor: Anchor, section: Section) -> int:
    return section.end if anchor.subsections else section.own_end


def _span(anchor: Anchor, text: Text) -> Located:
    problem = _problem(anchor, text)
    if not problem:
        start, end = _characters(anchor, text)
        changed = _has_changed(anchor, text)
        says = not anchor.quote or _says(text.text[start:end], anchor.quote)
        if says and (not changed or anchor.quote.strip()):
            return Located(anchor, _spans(text, [(start, end)]))
        problem = "has changed since, and a span without a quote cannot tell where"
        problem = f"{anchor.document!r} {problem}"
    if anchor.quote:
        return _quote(anchor, text)
    return Located(anchor, lost=lost_span(anchor, text, problem))


def _characters(anchor: Anchor, text: Text) -> tuple[int, int]:
    first, last = anchor.start or 0, anchor.end or 0
    return text.lines(first, last) if anchor.unit == "lines" else (first, last)


def _problem(anchor: Anchor, text: Text) -> str:
    """Why the document cannot have the span; nothing if it can."""
    end = anchor.end or 0
    if anchor.unit == "lines" and not text.complete:
        return f"chunks leave holes in {anchor.document!r}, so its lines cannot be counted"
    size = text.line_count if anchor.unit == "lines" else len(text.text)
    if end > size:
        return f"{anchor.document!r} has {size} {anchor.unit}, and the span ends at {end}"
    return ""


def _has_changed(anchor: Anchor, text: Text) -> bool:
    known = anchor.document_hash and text.hash
    return bool(known) and as_hash(anchor.document_hash) != text.hash


def _says(passage: str, quote: str) -> bool:
    return quote in passage or normalise(quote) in normalise(passage)


def _quote_anywhere(anchor: Anchor, corpus: Corpus) -> Located:
    """A quote without its document: in every document that holds it."""
    needle = normalise(anchor.quote)
    homes = corpus.holding(needle) if needle else []
    found = [(text, find_same(anchor.quote, text)) for text in homes]
    if not homes and needle:
        homes = corpus.most_alike(needle)
        found = [(text, find_nearly(anchor.quote, text, RATIO)) for text in homes]
    known = [(text, places) for text, places in found if places]
    if not known:
        unknown = Located(anchor)
        return Located(anchor, lost=lost_quote(anchor, homes)) if corpus.closed else unknown
    match, best = min(((places.match, places.ratio) for _, places in known), key=_quality)
    known = [one for one in known if (one[1].match, one[1].ratio) == (match, best)]
    spans = [span for text, places in known for span in _spans(text, places.places)]
    choices = [shown(text.document) for text, _ in known] if len(known) > 1 else []
    return Located(anchor, tuple(spans), match, best, choices=tuple(choices))


def _quality(found: tuple[Match, float]) -> tuple[int, float]:
    """For sorting ways to find a quote, the best first."""
    match, ratio = found
    return get_args(Match).index(match), -ratio
