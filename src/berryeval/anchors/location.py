"""`locate`: find the target of an anchor in a corpus, or explain why it is not found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, get_args

from berryeval._internal.serial import JsonRecord, Reader
from berryeval._internal.text import truncate
from berryeval.anchors.corpus import format_hash
from berryeval.anchors.quotes import NEAR, RATIO, Found, Match, find_nearly, find_same, normalise
from berryeval.data import Anchor, Judgment, Span

if TYPE_CHECKING:
    from berryeval.anchors.corpus import Corpus, Text
    from berryeval.data import Section as Path

ALIKE: Final = 0.6  # minimum similarity of a repair that needs no review


@dataclass(frozen=True)
class Drift(JsonRecord):
    """A judgment whose anchor does not resolve.

    Attributes:
        judgment: The judgment.
        reason: What was expected and what was found.
        nearest: Most similar text, or an empty string.
        ratio: Its similarity, from 0 to 1.
        repaired: Anchor that resolves, if there is a candidate.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Judgment": Judgment.from_json,
        "Anchor": Anchor.from_json,
    }

    judgment: Judgment
    reason: str
    nearest: str = ""
    ratio: float = 0.0
    repaired: Anchor | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True)
class Ambiguity(JsonRecord):
    """A section, quote or chunk with several possible places.

    Attributes:
        what: "section" (none of the places counts), or "quote" in several documents, or "chunk"
            whose text occurs several times in its document (all places count).
        name: Section, quote or chunk id.
        choices: Possible places.
        query_id: Query of an ambiguous judgment.
    """

    what: str
    name: str
    choices: tuple[str, ...]
    query_id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


def repair(
    judgments: Iterable[Judgment], drift: Iterable[Drift], *, least: float = ALIKE
) -> list[Judgment]:
    """Return the judgments with the repaired anchors of the drift that `resolve` reports.

    Repairs must be at least `least` alike; review `Drift.nearest` before lowering it.
    """
    repaired = {
        _key(found.judgment): found.repaired
        for found in drift
        if found.repaired is not None and found.ratio >= least
    }
    return [replace(one, target=repaired.get(_key(one), one.target)) for one in judgments]


def _key(judgment: Judgment) -> tuple[str, str, Anchor]:
    return judgment.query_id, judgment.group, judgment.target


@dataclass(frozen=True)
class Location:
    """The location of an anchor's target, or the reason why it has none.

    The spans are equally good places, empty for a chunk or a whole document, if the text
    of the document is unknown, or if the anchor does not resolve.
    """

    anchor: Anchor
    spans: tuple[Span, ...] = ()
    match: Match = "exact"
    ratio: float = 1.0  # similarity of the text and the quote
    path: Path = ()  # headings of a section, as written in the text
    choices: tuple[str, ...] = field(default=(), repr=False)
    lost: Lost | None = None

    @property
    def is_document(self) -> bool:
        """Whether the target is a whole document."""
        anchor = self.anchor
        return not (anchor.chunk or anchor.section or anchor.quote or anchor.start is not None)

    @property
    def resolves(self) -> bool:
        """Whether the target can be covered."""
        return self.lost is None and (not self.choices or bool(self.spans))


class Lost(NamedTuple):
    """Reason why an anchor does not resolve, with the most similar text and a repair."""

    reason: str
    nearest: str = ""
    ratio: float = 0.0
    repaired: Anchor | None = None


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
        return Location(anchor, lost=_explain_missing_document(anchor, corpus))
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
    return Location(anchor, lost=_explain_missing_quote(anchor, [text]))


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
        return Location(anchor, lost=_explain_missing_section(anchor, text))
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
    return Location(anchor, lost=_explain_changed_span(anchor, text, problem))


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
        lost = _explain_missing_quote(anchor, homes) if corpus.closed else None
        return Location(anchor, lost=lost)
    match, best = min(
        ((places.match, places.ratio) for _, places in known),
        key=lambda found: (get_args(Match).index(found[0]), -found[1]),
    )
    known = [one for one in known if (one[1].match, one[1].ratio) == (match, best)]
    spans = [span for text, places in known for span in _make_spans(text, places.places)]
    choices = [truncate(text.document) for text, _ in known] if len(known) > 1 else []
    return Location(anchor, tuple(spans), match, best, choices=tuple(choices))


def _explain_missing_document(anchor: Anchor, corpus: Corpus) -> Lost:
    """Explain a missing document; look for its text under another id and for the quote."""
    reason = f"there is no document {anchor.document!r}"
    same = corpus.with_hash(anchor.document_hash)
    if len(same) == 1:
        text = corpus.text(same[0])
        nearest = truncate(text.text) if text else ""
        repaired = replace(anchor, document=same[0])
        return Lost(f"{reason}; {same[0]!r} has the same text", nearest, 1.0, repaired)
    needle = normalise(anchor.quote)
    homes = corpus.find_containing(needle) if needle else []
    found = find_same(anchor.quote, homes[0]) if len(homes) == 1 else None
    if not found:
        return Lost(reason)
    repaired = _move_anchor(anchor, homes[0], *found.places[0])
    return Lost(f"{reason}; {homes[0].document!r} has the quote", anchor.quote, 1.0, repaired)


def _explain_missing_section(anchor: Anchor, text: Text) -> Lost:
    """Explain a missing section; suggest the one with the most similar path."""
    reason = f"{anchor.document!r} has no section {' > '.join(anchor.section)!r}"
    near = text.sections.nearest(anchor.section)
    if near is None:
        return Lost(reason)
    section, ratio = near
    passage = truncate(text.text[section.start : section.end])
    path = section.path if len(text.sections.find(section.path)) == 1 else (section.id,)
    repaired = replace(anchor, section=path, document_hash=text.hash)
    return Lost(f"{reason}; the closest is {' > '.join(section.path)!r}", passage, ratio, repaired)


def _explain_changed_span(anchor: Anchor, text: Text, reason: str) -> Lost:
    """Explain a span that is not reliable; show the text at its place."""
    start, end = anchor.start or 0, anchor.end or 0
    if anchor.unit == "lines":
        if not text.complete or start > text.line_count:
            return Lost(reason)
        start, end = text.lines(start, min(end, text.line_count))
    return Lost(reason, truncate(text.text[start:end]))


def _explain_missing_quote(anchor: Anchor, texts: Iterable[Text]) -> Lost:
    """Explain a missing quote; suggest the most similar passage."""
    where = f"{anchor.document!r} does not contain" if anchor.document else "no document contains"
    reason = f"{where} the quote {truncate(anchor.quote)!r}"
    best: Lost | None = None
    for text in texts:
        found = find_nearly(anchor.quote, text, NEAR)
        if found and (best is None or found.ratio > best.ratio):
            start, end = found.places[0]
            passage = text.text[start:end]
            best = Lost(reason, passage, found.ratio, _move_anchor(anchor, text, start, end))
    return best or Lost(reason)


def _move_anchor(anchor: Anchor, text: Text, start: int, end: int) -> Anchor:
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
