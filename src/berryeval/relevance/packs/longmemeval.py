"""LongMemEval: a question names the sessions that hold its answer, as `answer_4be1b6b4_2`.

Wu et al., "LongMemEval: Benchmarking Chat Assistants on Long-Term Interactive Memory", ICLR 2025.
A session counts as found when it is retrieved whole, or by a turn that holds the answer. Questions
whose id ends in `_abs` have no answer: nothing is relevant to them.

Their own script looks for the word "answer" in ids, and indexes what users say only, so that a
session answered by the assistant alone is not relevant there; here the labels decide.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.records import read_texts
from berryeval.data import Span
from berryeval.relevance.packs.base import (
    Labels,
    PackCorpus,
    Turn,
    texts_of,
    turns_covered,
    turns_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from collections.abc import Set as AbstractSet

    from berryeval.data import Hit, Query
    from berryeval.relevance.packs.base import Part


LABEL_FIELDS: Final = ("answer_corpus_ids", "answer_session_ids")
ID_FIELDS: Final = ("corpus_id", "turn_id", "session_id")
_TURN: Final = re.compile(r"(.+)_\d+")


class _Sessions:
    """The sessions of the corpus, with their turns; one id may stand for several texts."""

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
        """The sessions or turns that answer a question."""
        given = next((name for name in LABEL_FIELDS if query.metadata.get(name) is not None), "")
        where = f"metadata.{given} of query {query.id!r}"
        if query.id.endswith("_abs"):
            return _Rules(self, Labels({}))
        if not given:
            return _Rules(
                self, Labels({}, notes=("it has neither answer_corpus_ids nor answer_session_ids",))
            )
        labels = dict.fromkeys(filter(None, read_texts(query.metadata[given], where)), 1.0)
        history = self.corpus.documents.keys() & set(texts_of(query.metadata.get("haystack")))
        found = {label: self._place(label, history) for label in labels}
        places = {label: place for label, place in found.items() if place is not None}
        lost = [label for label in labels if self._places and label not in places]
        notes = [f"the corpus has no {label!r}, which answers it" for label in lost]
        answering = {label: self._answering(label, place) for label, place in places.items()}
        return _Rules(self, Labels(labels, places, notes=notes), history, answering)

    def _place(self, label: str, history: AbstractSet[str]) -> Span | None:
        """Where a label stands in the history of its question, or, without one, in the corpus."""
        places = self._places.get(label, [])
        return next((one for one in places if not history or one.document in history), None)

    def _answering(self, label: str, place: Span) -> frozenset[str]:
        """The turns of a labelled session that hold the answer, if it is known which do."""
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
        """The labels that a hit is, or holds."""
        if self._is_of_another_history(hit):
            return {}
        held = {turn.id for turn in turns_covered(hit, self.sessions.turns, self.sessions.corpus)}
        names = set(_names(hit))
        grades = self.labels.grades or {}
        return {
            label: grade
            for label, grade in grades.items()
            if label in held or self._is_piece(label, names, held) or self._is_turn(label, hit)
        }

    def _is_of_another_history(self, hit: Hit) -> bool:
        """Whether a hit is of a document that only other questions know."""
        document = hit.doc_id or hit.id
        known = document in self.sessions.corpus.documents
        return known and bool(self.history) and document not in self.history

    def _is_piece(self, label: str, names: set[str], held: set[str]) -> bool:
        """Whether a hit is the labelled session, or a piece of it that holds an answer."""
        answering = self.answering.get(label)
        return label in names and (not answering or not held.isdisjoint(answering))

    def _is_turn(self, label: str, hit: Hit) -> bool:
        """Whether a hit is a turn of the labelled session, and not one without an answer."""
        for name in _names(hit):
            turn = _TURN.fullmatch(name)
            if turn and turn[1] == label:
                answering = self.answering.get(label)
                if answering:
                    return name in answering
                document = self.sessions.corpus.documents.get(hit.doc_id or hit.id)
                said = (document or hit).metadata.get("has_answer")
                return said is not False
        return False


def _names(hit: Hit) -> Iterator[str]:
    """The ids a hit goes by, without what stands before the last slash."""
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


class LongMemEvalPack:
    """LongMemEval's answer sessions decide what is relevant, and nothing else does."""

    name = "longmemeval"
    version = "2"
    seals: frozenset[Part] = frozenset({"relevance"})
    rules: Mapping[str, Any] = _RULES

    def bound(self, corpus: PackCorpus) -> _Sessions:
        """The pack for a corpus of sessions."""
        return _Sessions(corpus)


PACK: Final = LongMemEvalPack()
