"""LongMemEval: questions about long chat histories (`longmemeval_s.json` and its siblings).

A document is a session, with the spans of its turns in `metadata["turns"]`, or a turn. Histories
share sessions: each is in the corpus once, and `metadata["haystack"]` of a query lists its own
documents. They are also its scope: no others can be hits. A session id that recurs with a different
text gets the question id as a prefix. The labels stay in the query's metadata, from which the pack
`longmemeval` derives relevance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.validate import require_choice
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder
from berryeval.benchmarks.build import join_turns, read_items, read_optional_text
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Document, Query
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.json import Node


ABSTENTION: Final = "_abs"
_KNOWN: Final = (
    "question_id", "question_type", "question", "answer", "question_date",
    "haystack_session_ids", "haystack_dates", "haystack_sessions", "answer_session_ids",
)  # fmt: skip


def load(source: Source, *, granularity: str = "session") -> Benchmark:
    """Load the file.

    Args:
        source: The file.
        granularity: Unit of a document, "session" or "turn".
    """
    require_choice("granularity", granularity, ("session", "turn"))
    builder = BenchmarkBuilder(source)
    corpus = _Corpus(builder, granularity)
    for entry in source.json.items():
        _add_question(builder, corpus, entry)
    return builder.build(pack="longmemeval", metadata={"granularity": granularity})


class _Corpus:
    """Sessions of all histories, each once."""

    def __init__(self, builder: BenchmarkBuilder, granularity: str) -> None:
        self.builder = builder
        self.granularity = granularity
        self._known: dict[str, tuple[str, list[Document]]] = {}

    def add(self, name: str, session: Node, question: str) -> list[Document]:
        """Return the documents of a session, and add them unless they are known."""
        text, places = join_turns(
            f"{turn['role'].text()}: {turn['content'].text()}" for turn in session.items()
        )
        known = self._known.get(name)
        if known is not None and known[0] != text:
            first, name = name, f"{question}/{name}"
            self.builder.add_remark(
                f"{session.where}: {first!r} has a different text than before: {name!r}"
            )
            known = self._known.get(name)
        if known is None:
            known = self._known[name] = text, self._documents(name, session, text, places)
            for document in known[1]:
                self.builder.add_document(document, session.where)
        else:
            _mark_answers(known[1], session)
        return known[1]

    def _documents(
        self, name: str, session: Node, text: str, places: list[dict[str, int]]
    ) -> list[Document]:
        turns: list[dict[str, Any]] = []
        for number, (turn, place) in enumerate(zip(session.items(), places, strict=True), start=1):
            label = {"id": f"{name.rpartition('/')[2]}_{number}", "role": turn["role"].text()}
            turns.append({**label, **place, "has_answer": _has_answer(turn)})
        if self.granularity == "session":
            return [Document(name, text, metadata={"turns": turns})]
        return [
            Document(
                f"{name}_{number}",
                text[turn["start"] : turn["end"]],
                metadata={"session_id": name, "turn_id": turn["id"]}
                | {key: turn[key] for key in ("role", "has_answer")},
            )
            for number, turn in enumerate(turns, start=1)
        ]


def _has_answer(turn: Node) -> bool:
    flag = turn.get("has_answer")
    return flag is not None and flag.flag()


def _mark_answers(documents: list[Document], session: Node) -> None:
    """Mark the turns that this history labels as answers; an earlier history may not have."""
    given = documents[0].metadata.get("turns") if documents else None
    turns = [document.metadata for document in documents] if given is None else given
    for turn, node in zip(turns, session.items(), strict=True):
        if _has_answer(node):
            turn["has_answer"] = True


def _add_question(builder: BenchmarkBuilder, corpus: _Corpus, entry: Node) -> None:
    identity = entry["question_id"].id()
    labels = [label.id() for label in entry["answer_session_ids"].items()]
    names, haystack = _add_haystack(corpus, entry, identity)
    if identity.endswith(ABSTENTION):
        labels_of_turns = []
    else:
        for missing in sorted(set(labels) - set(names)):
            builder.add_remark(f"{entry.where}: answer session {missing!r} is not in the history")
        labels_of_turns = _find_answering_turns(entry, names, labels)
    metadata = {
        "answer": entry["answer"].plain(),
        "question_date": read_optional_text(entry, "question_date"),
        "abstention": identity.endswith(ABSTENTION),
        "answer_session_ids": labels,
        "haystack": haystack,
        "haystack_session_ids": names,
        "haystack_dates": [date.text() for date in read_items(entry, "haystack_dates")],
    }
    if corpus.granularity == "turn":
        metadata["answer_corpus_ids"] = labels_of_turns
    query = Query(
        id=identity,
        text=entry["question"].text(),
        category=entry["question_type"].text(),
        metadata=metadata,
        scope={"doc_id": haystack} if haystack else {},
        extra=entry.besides(*_KNOWN),
    )
    builder.add_query(query, entry.where)


def _add_haystack(corpus: _Corpus, entry: Node, question: str) -> tuple[list[str], list[str]]:
    """Add the documents of a history; return its session ids and document ids."""
    names = [name.id() for name in entry["haystack_session_ids"].items()]
    sessions, dates = entry["haystack_sessions"].items(), entry.get("haystack_dates")
    days = len(names) if dates is None else len(dates.texts())
    if not len(names) == len(sessions) == days:
        raise DataError(
            f"{entry.where}: found {len(names)} haystack_session_ids, {len(sessions)} "
            f"haystack_sessions and {days} haystack_dates; expected the same number of each"
        )
    documents: dict[str, None] = {}
    for name, session in zip(names, sessions, strict=True):
        found = corpus.add(name, session, question)
        documents.update(dict.fromkeys(document.id for document in found))
    return names, list(documents)


def _find_answering_turns(entry: Node, names: list[str], labels: list[str]) -> list[str]:
    """Return the ids of the turns with the answer in the answer sessions."""
    found = (
        f"{name}_{number}"
        for name, session in zip(names, entry["haystack_sessions"].items(), strict=True)
        for number, turn in enumerate(session.items(), start=1)
        if name in labels and _has_answer(turn)
    )
    return list(dict.fromkeys(found))


LOADER = Loader(
    summary="LongMemEval chat histories",
    signs="a .json array whose instances have question_id and haystack_sessions",
    recognises=lambda source: source.rows_have("question_id", "haystack_sessions"),
    load=load,
)
