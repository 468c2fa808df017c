"""LoCoMo: the evidence of a question lists turns of its conversation, such as `D1:3`.

Maharana et al., "Evaluating Very Long-Term Conversational Memory of LLM Agents", ACL 2024. The
released file has irregular entries: `D8:6; D9:17` and `D9:1 D4:4 D4:6` are several turns, `D:11:26`
is `D11:26`, `D30:05` is `D30:5`, and a bare `D` is no turn, which is reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.serial import type_mismatch
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

CONVERSATION_FIELDS: Final = ("conversation", "conversation_id", "sample_id")
TURN_FIELDS: Final = ("dia_id", "dia_ids", "turn_id", "turn_ids")
_EVIDENCE: Final = re.compile(r"\bD:?(\d{1,9}):(\d{1,9})\b")
_IN_ID: Final = re.compile(r"(?:^|[^0-9A-Za-z])(D\d+:\d+)(?![0-9A-Za-z:])")
_SESSION: Final = re.compile(r"(?:^|[^0-9A-Za-z])session_(\d{1,9})$")
_SEPARATOR: Final = re.compile(r"[/:#|]")
_BLANKS: Final = str.maketrans(";,", "  ")


def read_evidence(value: Any, where: str) -> tuple[list[str], list[str]]:
    """Return the distinct turns in an `evidence` field, and the parts that are not turns.

    >>> read_evidence(["D8:6; D9:17", "D:11:26", "D30:05", "D"], "evidence")
    (['D8:6', 'D9:17', 'D11:26', 'D30:5'], ['D'])
    """
    if not isinstance(value, str | list | tuple):
        raise type_mismatch(where, "a string or an array of strings", value)
    turns: list[str] = []
    unread: list[str] = []
    for place, text in enumerate([value] if isinstance(value, str) else value):
        if not isinstance(text, str):
            at = f"{where}[{place}]"
            raise type_mismatch(at, "a string", text)
        turns.extend(f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(text))
        unread.extend(_EVIDENCE.sub(" ", text).translate(_BLANKS).split())
    return list(dict.fromkeys(turns)), unread


class _Conversations:
    def __init__(self, corpus: PackCorpus) -> None:
        self.corpus = corpus
        self.places: dict[tuple[str, str], Span] = {}
        self.sessions: dict[str, list[Turn]] = {}
        self.known: set[str] = set()
        for document in corpus.documents.values():
            conversation = _conversation(document.metadata) or _prefix(document.id)
            self.known.update([conversation] if conversation else [])
            turns = turns_of(document)
            if turns:
                self.sessions[document.id] = turns
            whole = Span(document.id, 0, len(document.text))
            spans = [(turn.id, turn.span) for turn in turns] or [
                (name, whole) for name in _turn_ids(document.id, document.metadata)
            ]
            for name, span in spans:
                self.places.setdefault((conversation, name), span)

    def rules_for(self, query: Query) -> _Rules:
        where = f"metadata.evidence of query {query.id!r}"
        given = query.metadata.get("evidence")
        turns, unread = read_evidence([] if given is None else given, where)
        conversation = _conversation(query.metadata)
        notes = [f"{text!r} in its evidence is not a turn" for text in unread]
        places = {
            turn: self.places[conversation, turn]
            for turn in turns
            if (conversation, turn) in self.places
        }
        if self.places:
            lost = [turn for turn in turns if turn not in places]
            notes += [f"the corpus has no turn {turn} of its evidence" for turn in lost]
        return _Rules(self, conversation, Labels(dict.fromkeys(turns, 1.0), places, notes=notes))


@dataclass(frozen=True)
class _Rules:
    conversations: _Conversations
    conversation: str
    labels: Labels
    doubts: list[str] = field(default_factory=list)

    def covered(self, hit: Hit) -> Mapping[str, float]:
        if not self._may_be_in_conversation(hit):
            return {}
        held = set(_turn_ids(hit.id, hit.metadata) or _turn_ids(hit.doc_id, {}))
        known = self.conversations
        held.update(turn.id for turn in find_covered_turns(hit, known.sessions, known.corpus))
        grades = self.labels.grades or {}
        session = _SESSION.search(hit.id)
        if session and not held:
            held = {turn for turn in grades if turn.startswith(f"D{int(session[1])}:")}
        return {turn: grade for turn, grade in grades.items() if turn in held}

    def _may_be_in_conversation(self, hit: Hit) -> bool:
        document = self.conversations.corpus.documents.get(hit.doc_id or hit.id)
        claimed = _conversation(hit.metadata) or _conversation(
            document.metadata if document else {}
        )
        if claimed or not self.conversation:
            return claimed in {"", self.conversation} or not self.conversation
        prefix = _prefix(hit.id) or _prefix(hit.doc_id)
        if prefix in {"", self.conversation}:
            return True
        if self.conversations.known:  # other prefixes are possible: `chunk-D1:3`
            return prefix not in self.conversations.known
        self.doubts.append(
            f"hit {hit.id!r}: without a corpus, {prefix!r} is treated as another conversation "
            f"than {self.conversation!r}"
        )
        return False


def _turn_ids(identity: str, metadata: Mapping[str, Any]) -> list[str]:
    for name in TURN_FIELDS:
        named = [turn for text in texts_of(metadata.get(name)) for turn in _IN_ID.findall(text)]
        if named:
            return named
    return _IN_ID.findall(identity)


def _prefix(identity: str) -> str:
    """Return the part of an id before a turn or session: `conv-26` of `conv-26/D1:3`."""
    found = _IN_ID.search(identity) or _SESSION.search(identity)
    return _SEPARATOR.split(identity[: found.start()])[-1] if found else ""


def _conversation(metadata: Mapping[str, Any]) -> str:
    found = (text for name in CONVERSATION_FIELDS for text in texts_of(metadata.get(name)) if text)
    return next(found, "")


_RULES: Final = {
    "labels": "metadata.evidence: every D<session>:<turn> in it, each once, of grade 1",
    "readings": {"D:11:26": "D11:26", "D30:05": "D30:5", "D": "nothing, reported"},
    "total": "the number of turns in the evidence, whether the corpus has them or not",
    "covers": [
        "a hit whose dia_id, dia_ids, turn_id or turn_ids, or else id or document, is the turn",
        "a piece of a session document that covers the turn's place in it",
        "a whole session (id ending in session_<n>): all its turns",
    ],
    "conversation": [
        "a hit of another conversation covers nothing",
        "what stands in front of a turn is a conversation if the corpus has it",
        "without a corpus, anything but the question's own is another, and reported",
    ],
    "coverage": "the overlap is at least half of the shorter of both",
    "no evidence": "nothing is relevant",
}

PACK: Final = SealedPack("locomo", "2", _RULES, _Conversations)
