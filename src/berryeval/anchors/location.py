"""`locate`: find the target of an anchor in a corpus."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from berryeval._internal.text import truncate
from berryeval.anchors.corpus import format_hash
from berryeval.anchors.drift import (
    Location,
    Lost,
    explain_changed_span,
    explain_missing_document,
    explain_missing_quote,
    explain_missing_section,
)
from berryeval.anchors.quotes import RATIO, Found, Match, find_nearly, find_same, normalise
from berryeval.data import Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from berryeval.anchors.corpus import Corpus, Text
    from berryeval.data import Anchor


def locate(anchor: Anchor, corpus: Corpus) -> Location:
    """Find the target of an anchor.

    A chunk is found by its id. In a document the section, the span (if its text has not changed)
    and the quote are tried in this order. A target that is not found has a reason.
    """
    if anchor.chunk:
        return Location(anchor)
    if not anchor.document:
        return _locate_quote_anywhere(anchor, corpus)
    if anchor.document not in corpus and corpus.closed:
        return Location(anchor, lost=explain_missing_document(anchor, corpus))
    text = corpus.text(anchor.document)
    if text is None:
        return _locate_without_text(anchor)
    if anchor.section or anchor.start is not None:
        return (_locate_section if anchor.section else _locate_span)(anchor, text)
    return _locate_quote(anchor, text) if anchor.quote else Location(anchor)


def _make_spans(text: Text, places: Iterable[tuple[int, int]]) -> tuple[Span, ...]:
    return tuple(Span(text.document, start, end) for start, end in places)


def _at(anchor: Anchor, text: Text, found: Found) -> Location:
    return Location(anchor, _make_spans(text, found.places), found.match, found.ratio)


def _locate_quote(anchor: Anchor, text: Text) -> Location:
    found = find_same(anchor.quote, text) or find_nearly(anchor.quote, text, RATIO)
    if found:
        return _at(anchor, text, found)
    return Location(anchor, lost=explain_missing_quote(anchor, [text]))


def _locate_without_text(anchor: Anchor) -> Location:
    """Locate characters, which need no text; sections are found by the metadata of chunks."""
    if anchor.start is None:
        return Location(anchor, path=anchor.section)
    if anchor.unit == "lines":
        reason = f"the text of {anchor.document!r} is unknown, so its lines cannot be counted"
        return Location(anchor, lost=Lost(reason))
    return Location(anchor, (Span(anchor.document, anchor.start, anchor.end or 0),))


def _locate_section(anchor: Anchor, text: Text) -> Location:
    sections = text.sections.find(anchor.section)
    spans = [(one.start, one.end if anchor.subsections else one.own_end) for one in sections]
    if anchor.quote:
        for span in spans:
            found = find_same(anchor.quote, text, *span)
            if found:
                return _at(anchor, text, found)
        return _locate_quote(anchor, text)
    if not sections:
        return Location(anchor, lost=explain_missing_section(anchor, text))
    if len(sections) > 1:
        choices = (f"{' > '.join(one.path)} (#{one.id})" for one in sections)
        return Location(anchor, choices=tuple(choices))
    return Location(anchor, _make_spans(text, spans), path=sections[0].path)


def _locate_span(anchor: Anchor, text: Text) -> Location:
    problem = _find_problem(anchor, text)
    if not problem:
        start, end = anchor.start or 0, anchor.end or 0
        if anchor.unit == "lines":
            start, end = text.lines(start, end)
        passage, quote, known = text.text[start:end], anchor.quote, anchor.document_hash
        changed = known and text.hash and format_hash(known) != text.hash
        matches = quote in passage or normalise(quote) in normalise(passage)
        if matches and (not changed or quote.strip()):
            return Location(anchor, _make_spans(text, [(start, end)]))
        problem = f"{anchor.document!r} has changed, and a span without a quote cannot be verified"
    if anchor.quote:
        return _locate_quote(anchor, text)
    return Location(anchor, lost=explain_changed_span(anchor, text, problem))


def _find_problem(anchor: Anchor, text: Text) -> str:
    """Return why the document cannot have the span, or an empty string."""
    end = anchor.end or 0
    if anchor.unit == "lines" and not text.complete:
        return f"the chunks of {anchor.document!r} leave gaps, so its lines cannot be counted"
    size = text.line_count if anchor.unit == "lines" else len(text.text)
    if end > size:
        return f"{anchor.document!r} has {size} {anchor.unit}, but the span ends at {end}"
    return ""


def _locate_quote_anywhere(anchor: Anchor, corpus: Corpus) -> Location:
    needle = normalise(anchor.quote)
    homes = corpus.find_containing(needle) if needle else []
    found = [(text, find_same(anchor.quote, text)) for text in homes]
    if not homes and needle:
        homes = corpus.find_similar(needle)
        found = [(text, find_nearly(anchor.quote, text, RATIO)) for text in homes]
    known = [(text, places) for text, places in found if places]
    if not known:
        lost = explain_missing_quote(anchor, homes) if corpus.closed else None
        return Location(anchor, lost=lost)
    match, best = min(((places.match, places.ratio) for _, places in known), key=_quality)
    known = [one for one in known if (one[1].match, one[1].ratio) == (match, best)]
    spans = [span for text, places in known for span in _make_spans(text, places.places)]
    choices = [truncate(text.document) for text, _ in known] if len(known) > 1 else []
    return Location(anchor, tuple(spans), match, best, choices=tuple(choices))


def _quality(found: tuple[Match, float]) -> tuple[int, float]:
    match, ratio = found
    return get_args(Match).index(match), -ratio
