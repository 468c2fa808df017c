"""Judgments that no longer say where their target stands, and what can be done about them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from berryeval._internal.records import JsonRecord, Reader
from berryeval.anchors.quotes import NEAR, find_nearly, find_same, normalise
from berryeval.data import Anchor, Judgment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from berryeval.anchors.corpus import Corpus, Text
    from berryeval.anchors.quotes import Match
    from berryeval.data import Section as Path
    from berryeval.data import Span


ALIKE: Final = 0.6  # what is less like its original should be looked at before it takes its place


@dataclass(frozen=True)
class Drift(JsonRecord):
    """A judgment whose anchor does not resolve. It goes to JSON and back, to be looked at.

    Attributes:
        judgment: which one.
        reason: what was looked for, and what was found instead.
        nearest: the text most like what the anchor meant; empty if there is none.
        ratio: how like it is, from 0 to 1.
        repaired: an anchor that resolves, if one can be offered.
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
    """Something that may mean several places.

    Attributes:
        what: "section": nothing is chosen. "quote", in several documents, or "chunk", whose text
            stands at several places of its document: each of the places counts.
        name: the section, the quote or the id of the chunk.
        choices: the places.
        query_id: the query of the judgment, if it is one that is ambiguous.
    """

    what: str
    name: str
    choices: tuple[str, ...]
    query_id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


def repair(
    judgments: Iterable[Judgment], drift: Iterable[Drift], *, least: float = ALIKE
) -> list[Judgment]:
    """The judgments, with repaired anchors where there are any that are like enough.

    Args:
        judgments: those that were resolved.
        drift: what `resolve` said of them.
        least: the ratio from which on a repair is accepted; look at `Drift.nearest` first.
    """
    repaired = {
        _key(found.judgment): found.repaired
        for found in drift
        if found.repaired is not None and found.ratio >= least
    }
    return [
        replace(judgment, target=repaired[_key(judgment)])
        if _key(judgment) in repaired
        else judgment
        for judgment in judgments
    ]


def _key(judgment: Judgment) -> tuple[str, str, Anchor]:
    return judgment.query_id, judgment.group, judgment.target


# `Located`: where the target of an anchor stands, or why nobody can tell.


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


# What to say, and what to offer, when an anchor no longer resolves.

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
