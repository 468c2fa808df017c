"""Targets of judgments that are not in the corpus: find them, and suggest a remedy."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from berryeval._internal.text import pluralize
from berryeval.data import Hit
from berryeval.relevance.foreign_ids import explain_ids, find_cure
from berryeval.relevance.matching import IdMatcher

if TYPE_CHECKING:
    from berryeval.anchors import Targets
    from berryeval.data import Chunk, Judgment


_SEPARATOR: Final = re.compile("[;,|\n]")
_DOCUMENTS: Final = ("judged", "there is", "are these the documents that were judged?")
_ANCHORS: Final = (
    "ids of chunks change with the chunker: choose the one that was judged, or judge documents, "
    "sections or quotes (docs/relevance.md)"
)
_CHUNKS: Final = ("judged", "there is the chunk", _ANCHORS)


class LostTargets(NamedTuple):
    """The number of targets that are not in the corpus, the number of all, and the reason."""

    lost: int
    total: int
    explanation: str

    def describe(self) -> str:
        """Describe the targets in one line, or in none if nothing is lost."""
        if not self.lost:
            return ""
        targets = pluralize(self.total, "target")
        verb = "is" if self.lost == 1 else "are"
        return f"{self.lost} of {targets} {verb} not in the documents: {self.explanation}"


def find_lost(
    judgments: Iterable[Judgment], targets: Targets, chunks: Sequence[Chunk] = ()
) -> LostTargets:
    """Find the relevant targets of judgments that are not there.

    `chunks` are all that a system can find; without them, ids of chunks are not checked.
    """
    wanted = [one for one in judgments if one.grade > 0]
    lost = [one for one in targets.drift if one.judgment.grade > 0]
    named = [one.judgment.target.document for one in lost]
    documents = [name for name in named if name and name not in targets.corpus]
    ids = [one.target.chunk for one in wanted if one.target.chunk] if chunks else []
    unknown = find_unknown_chunks(ids, chunks)
    missing = [name for name in ids if name in unknown]
    parts = [explain_documents(documents, [*targets.corpus.ids])] if documents else []
    parts += [explain_chunks(missing, [chunk.id for chunk in chunks])] if missing else []
    others = [one for one in lost if one.judgment.target.document not in documents]
    if others:
        parts.append(f"query {others[0].judgment.query_id!r:.80}: {others[0].reason}")
    return LostTargets(len(lost) + len(missing), len(wanted), "; ".join(filter(None, parts)))


def find_unknown_chunks(names: Iterable[str], chunks: Sequence[Chunk]) -> set[str]:
    """Return the judged ids that no chunk has, neither as its id nor by its document or section."""
    unknown = set(names)
    if unknown:
        unknown.difference_update(chunk.id for chunk in chunks)
    matcher = IdMatcher(unknown)
    for chunk in chunks if unknown else ():
        hit = Hit(chunk.id, doc_id=chunk.doc_id, section=chunk.section, metadata=chunk.metadata)
        match = matcher.match(hit, contained=False)
        unknown.difference_update((match.id, *match.choices))
    return unknown


def explain_documents(missing: Iterable[str], known: Collection[str]) -> str:
    """Explain which judged documents are missing from the benchmark, if any."""
    names = list(dict.fromkeys(missing))
    for name in names:
        parts = [part.strip() for part in _SEPARATOR.split(name)]
        if len(parts) > 1 and all(part in known for part in parts):
            return f"{name!r:.60} judged; there is {parts[0]!r:.60}; write one document per row"
    text = explain_ids(names, known, sides=_DOCUMENTS) if names else ""
    cure, _, ours = find_cure(names, known)
    return f"{text}: write {ours!r:.60}" if cure and "the ids have" in text else text


def explain_chunks(missing: Iterable[str], known: Collection[str]) -> str:
    """Explain which judged chunks are missing from a chunking, if any."""
    names = list(dict.fromkeys(missing))
    text = explain_ids(names, known, sides=_CHUNKS) if names else ""
    return f"{text}; {_ANCHORS}" if text and not text.endswith(_ANCHORS) else text
