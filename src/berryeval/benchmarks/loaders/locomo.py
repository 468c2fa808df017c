"""LoCoMo: long conversations with questions about them (`locomo10.json`).

A document is a turn, or a session with the spans of its turns in `metadata["turns"]`. The scope of
a query is its conversation: documents of the others cannot be hits. The `evidence` stays unchanged
in the query's metadata, from which the pack `locomo` derives relevance. The published file has
oddities, which become remarks: several ids in one string, "D:11:26", "D30:05", ids of missing
turns, empty lists, dates of missing sessions.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.validate import require, require_choice
from berryeval.benchmarks.benchmark import Benchmark, BenchmarkBuilder
from berryeval.benchmarks.build import join_turns, read_items, read_optional_text
from berryeval.benchmarks.loading import Loader, Source
from berryeval.data import Document, Query
from berryeval.errors import DataError

if TYPE_CHECKING:
    from berryeval._internal.json import Node


CATEGORIES: Final = {
    1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"
}  # fmt: skip
ADVERSARIAL: Final = 5
_SESSION: Final = re.compile(r"session_([0-9]+)")
_DATE: Final = re.compile(r"(session_[0-9]+)_date_time")
_KNOWN: Final = ("question", "answer", "evidence", "category", "adversarial_answer")


def load(
    source: Source, *, granularity: str = "turn", categories: Collection[int] | None = None
) -> Benchmark:
    """Load the file.

    Args:
        source: The file.
        granularity: Unit of a document, "turn" or "session".
        categories: Categories of questions to load (1 multi-hop, 2 temporal, 3 open-domain,
            4 single-hop, 5 adversarial); all by default.
    """
    require_choice("granularity", granularity, ("turn", "session"))
    if categories is not None:
        listed = isinstance(categories, list | tuple | set | frozenset | range)
        ok = listed and set(categories) <= set(CATEGORIES)
        require(ok, "categories", "numbers from 1 to 5, such as [1, 4]", categories)
    builder = BenchmarkBuilder(source)
    node = source.json
    for sample in [node] if isinstance(node.value, dict) else node.items():
        identity = sample["sample_id"].id()
        turns = _add_conversation(builder, sample["conversation"], identity, granularity)
        for place, entry in enumerate(sample["qa"].items()):
            if categories is None or entry["category"].whole() in categories:
                query = _build_query(builder, entry, f"{identity}/q{place}", identity, turns)
                builder.add_query(query, entry.where)
    return builder.build(pack="locomo", metadata={"granularity": granularity})


def _add_conversation(
    builder: BenchmarkBuilder, conversation: Node, identity: str, granularity: str
) -> set[str]:
    """Add the documents of a conversation; return the ids of its turns."""
    turns: set[str] = set()
    names = conversation.object()
    sessions = [match for name in names if (match := _SESSION.fullmatch(name))]
    for match in sorted(sessions, key=lambda match: int(match[1])):
        session = conversation[match[0]]
        about = {
            "conversation": identity,
            "session": int(match[1]),
            "date": read_optional_text(conversation, f"{match[0]}_date_time"),
        }
        turns.update(turn["dia_id"].id() for turn in session.items())
        if granularity == "turn":
            _add_turns(builder, session, about)
        else:
            _add_session(builder, session, match[0], about)
    dates = [match for name in names if (match := _DATE.fullmatch(name)) and match[1] not in names]
    if dates:
        builder.add_remark(f"{conversation.where}: {len(dates)} dates of missing sessions")
    return turns


def _add_turns(builder: BenchmarkBuilder, session: Node, about: dict[str, Any]) -> None:
    for turn in session.items():
        name = turn["dia_id"].id()
        document = Document(
            id=f"{about['conversation']}/{name}",
            text=_format_turn(turn),
            metadata={**about, "dia_id": name, "speaker": turn["speaker"].text()},
            extra=turn.besides("speaker", "dia_id", "text"),
        )
        builder.add_document(document, turn.where)


def _add_session(
    builder: BenchmarkBuilder, session: Node, name: str, about: dict[str, Any]
) -> None:
    text, places = join_turns(map(_format_turn, session.items()))
    pairs = zip(session.items(), places, strict=True)
    metadata = {**about, "turns": [{"id": turn["dia_id"].id(), **place} for turn, place in pairs]}
    identity = f"{about['conversation']}/{name}"
    document = Document(identity, text, title=about["date"], metadata=metadata)
    builder.add_document(document, session.where)


def _format_turn(turn: Node) -> str:
    """Format a turn: the speaker, the words, and the caption of a shared picture."""
    caption = turn.get("blip_caption")
    picture = "" if caption is None else f" [shares a picture: {caption.text()}]"
    return f"{turn['speaker'].text()}: {turn['text'].text()}{picture}"


def _build_query(
    builder: BenchmarkBuilder, entry: Node, identity: str, conversation: str, turns: set[str]
) -> Query:
    number = entry["category"].whole()
    if number not in CATEGORIES:
        raise DataError(
            f"{entry['category'].where}: expected a category from 1 to 5, found {number}"
        )
    metadata: dict[str, Any] = {
        "conversation": conversation,
        "category_number": number,
        "evidence": _read_evidence(builder, entry, turns),
    }
    for name in ("answer", "adversarial_answer"):
        if (found := entry.get(name)) is not None:
            metadata[name] = found.plain()
    if "answer" not in metadata and number != ADVERSARIAL:
        builder.add_remark(f"{entry.where}: has no answer")
    return Query(
        id=identity,
        text=entry["question"].text(),
        category=CATEGORIES[number],
        metadata=metadata,
        scope={"conversation": conversation},
        extra=entry.besides(*_KNOWN),
    )


def _read_evidence(builder: BenchmarkBuilder, entry: Node, turns: set[str]) -> list[str]:
    """Return the evidence unchanged; add a remark for each entry that is not a turn id."""
    items = read_items(entry, "evidence")
    for item in items:
        if item.text() not in turns:
            builder.add_remark(f"{item.where}: {item.value!r:.80} is not a turn id")
    if not items:
        builder.add_remark(f"{entry.where}: has no evidence")
    return [item.text() for item in items]


LOADER = Loader(
    summary="LoCoMo conversations",
    signs="a .json array whose samples have conversation and qa",
    recognises=lambda source: (
        source.rows_have("conversation", "qa") or source.json_has("conversation", "qa")
    ),
    load=load,
)
