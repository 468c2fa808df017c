"""LongMemEval: a question lists the sessions with its answer, such as `answer_4be1b6b4_2`.

Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025.
A session is found if a hit is the whole session or a turn with the answer. Nothing is relevant to
questions whose id ends in `_abs`. The authors' script searches ids for the word "answer" and
indexes user turns only, so sessions answered by the assistant are not relevant there; here labels
decide.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from berryeval._internal.serial import read_strings
from berryeval._internal.text import find_field
from berryeval.data import Span
from berryeval.relevance.packs.base import (
    Labels,
    PackCorpus,
    SealedPack,
    Turn,
    find_covered_turns,
    texts_of,
    turns_of,
)

if TYPE_CHECKING:
    from berryeval.data import Hit, Query

LABEL_FIELDS: Final = ("answer_corpus_ids", "answer_session_ids")
ID_FIELDS: Final = ("corpus_id", "turn_id", "session_id")
_TURN: Final = re.compile(r"(.+)_\d+")


class _Sessions:
    """The sessions of the corpus and their turns; an id may have several texts."""

    def __init__(self, corpus: PackCorpus) -> None:
        self.corpus = corpus
        self.turns: dict[str, list[Turn]] = {}
        self._places: dict[str, list[Span]] = defaultdict(list)
        for document in corpus.documents.values():
            whole = Span(document.id, 0, len(document.text))
            self._places[_name(document.id)].append(whole)
            turns = turns_of(document)
            if turns:
                self.turns[document.id] = turns
                for turn in turns:
                    self._places[turn.id].append(turn.span)

    def rules_for(self, query: Query) -> _Rules:
        given = find_field(query.metadata, *LABEL_FIELDS) or ""
        where = f"metadata.{given} of query {query.id!r}"
        if query.id.endswith("_abs"):
            return _Rules(self, Labels({}))
        if not given:
            note = "it has neither answer_corpus_ids nor answer_session_ids"
            return _Rules(self, Labels({}, notes=(note,)))
        labels = dict.fromkeys(filter(None, read_strings(query.metadata[given], where)), 1.0)
        history = self.corpus.documents.keys() & set(texts_of(query.metadata.get("haystack")))
        found = {label: self._place(label, history) for label in labels}
        places = {label: place for label, place in found.items() if place is not None}
        lost = [label for label in labels if self._places and label not in places]
        notes = [f"the corpus has no {label!r}, which is labelled relevant" for label in lost]
        answering = {label: self._answering(label, place) for label, place in places.items()}
        return _Rules(self, Labels(labels, places, notes=notes), history, answering)

    def _place(self, label: str, history: AbstractSet[str]) -> Span | None:
        """Return the place of a label in the history of its question, or in the corpus."""
        places = self._places.get(label, [])
        return next((one for one in places if not history or one.document in history), None)

    def _answering(self, label: str, place: Span) -> frozenset[str]:
        """Return the turns of a labelled session that contain the answer, if known."""
        if _name(place.document) != label:
            return frozenset()
        return frozenset(turn.id for turn in self.turns.get(place.document, ()) if turn.has_answer)


@dataclass(frozen=True)
class _Rules:
    sessions: _Sessions
    labels: Labels
    history: AbstractSet[str] = frozenset()
    answering: Mapping[str, frozenset[str]] = field(default_factory=dict)
    doubts: list[str] = field(default_factory=list)

    def covered(self, hit: Hit) -> Mapping[str, float]:
        document = hit.doc_id or hit.id
        known = document in self.sessions.corpus.documents
        if known and self.history and document not in self.history:
            return {}
        turns = find_covered_turns(hit, self.sessions.turns, self.sessions.corpus)
        held = {turn.id for turn in turns}
        names = set(_names(hit))
        grades = self.labels.grades or {}
        return {
            label: grade
            for label, grade in grades.items()
            if label in held or self._is_piece(label, names, held) or self._is_turn(label, hit)
        }

    def _is_piece(self, label: str, names: set[str], held: set[str]) -> bool:
        """Return whether a hit is the labelled session or a piece with an answer."""
        answering = self.answering.get(label)
        return label in names and (not answering or not held.isdisjoint(answering))

    def _is_turn(self, label: str, hit: Hit) -> bool:
        """Return whether a hit is a turn of the labelled session that may have an answer."""
        for name in _names(hit):
            turn = _TURN.fullmatch(name)
            if turn and turn[1] == label:
                answering = self.answering.get(label)
                if answering:
                    return name in answering
                document = self.sessions.corpus.documents.get(hit.doc_id or hit.id)
                return (document or hit).metadata.get("has_answer") is not False
        return False


def _names(hit: Hit) -> Iterator[str]:
    """Yield the ids of a hit, without the part before the last slash."""
    for name in ID_FIELDS:
        yield from map(_name, texts_of(hit.metadata.get(name)))
    yield from (_name(identity) for identity in (hit.doc_id, hit.id) if identity)


def _name(identity: str) -> str:
    return identity.rpartition("/")[2]


_RULES: Final = {
    "labels": "metadata.answer_corpus_ids, or else answer_session_ids: each once, of grade 1",
    "total": "the number of labels, whether the corpus has them or not",
    "covers": [
        "a hit whose corpus_id, turn_id, session_id, document or id is the label",
        "a session: a turn <session>_<n> of it, or a piece of its document, that holds an answer",
        "a session of which nobody says which turns hold an answer: any turn or piece",
        "a turn: a piece of the session's document that covers the turn's place in it",
    ],
    "history": "a document that is not in metadata.haystack of the question covers nothing",
    "coverage": "the overlap is at least half of the shorter of both",
    "abstention": "nothing is relevant to a question whose id ends in _abs",
}

PACK: Final = SealedPack("longmemeval", "2", _RULES, _Sessions)
