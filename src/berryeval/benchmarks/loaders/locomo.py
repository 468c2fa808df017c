"""LoCoMo: long conversations with questions about them (`locomo10.json`).

An array of samples with `sample_id`, `conversation` (`session_<n>`, an array of turns with
`speaker`, `dia_id` and `text`, and `session_<n>_date_time`) and `qa` (`question`, `answer`,
`evidence`, `category`, and `adversarial_answer` in category 5). Summaries, observations and events
are not taken.

A document is a turn, or a whole session that says in `metadata["turns"]` where its turns stand. The
`evidence` stays in the metadata of the query as the file has it; the pack `locomo` decides by it
what is relevant. The published file has oddities: several ids in one string, "D:11:26", "D30:05",
ids of turns that do not exist, empty lists, dates of sessions that are not there. They are in the
remarks.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from berryeval.benchmarks.build import Gather, joined, one_choice
from berryeval.benchmarks.loaders.catalogue import Loader
from berryeval.data import Document, Query
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from collections.abc import Collection

    from berryeval._internal.json import Node
    from berryeval.benchmarks.benchmark import Benchmark
    from berryeval.benchmarks.loading import Source


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
    """Read the file.

    Args:
        source: the file.
        granularity: what a document is, "turn" or "session".
        categories: the numbers of the questions to take (1 multi-hop, 2 temporal, 3 open-domain,
            4 single-hop, 5 adversarial); all, unless given.
    """
    one_choice("granularity", granularity, ("turn", "session"))
    _check_categories(categories)
    gather = Gather(source)
    node = source.json
    for sample in [node] if isinstance(node.value, dict) else node.items():
        identity = sample["sample_id"].id()
        turns = _add_conversation(gather, sample["conversation"], identity, granularity)
        for place, entry in enumerate(sample["qa"].items()):
            if categories is None or entry["category"].whole() in categories:
                query = _query(gather, entry, f"{identity}/q{place}", identity, turns)
                gather.query(query, entry.where)
    return gather.benchmark(pack="locomo", metadata={"granularity": granularity})


def _check_categories(categories: Collection[int] | None) -> None:
    known = isinstance(categories, list | tuple | set | frozenset | range)
    if categories is not None and not (known and set(categories) <= set(CATEGORIES)):
        msg = f"categories must be numbers from 1 to 5, as [1, 4], found {categories!r:.80}"
        raise ConfigurationError(msg)


def _add_conversation(
    gather: Gather, conversation: Node, identity: str, granularity: str
) -> set[str]:
    """Add the documents of a conversation; the ids of its turns."""
    turns: set[str] = set()
    names = conversation.object()
    sessions = [match for name in names if (match := _SESSION.fullmatch(name))]
    for match in sorted(sessions, key=lambda match: int(match[1])):
        session, date = conversation[match[0]], conversation.get(f"{match[0]}_date_time")
        about = {
            "conversation": identity,
            "session": int(match[1]),
            "date": "" if date is None else date.text(),
        }
        turns.update(turn["dia_id"].id() for turn in session.items())
        if granularity == "turn":
            _add_turns(gather, session, about)
        else:
            _add_session(gather, session, match[0], about)
    dates = [match for name in names if (match := _DATE.fullmatch(name)) and match[1] not in names]
    if dates:
        gather.remark(f"{conversation.where}: {len(dates)} dates of sessions that are not there")
    return turns


def _add_turns(gather: Gather, session: Node, about: dict[str, Any]) -> None:
    for turn in session.items():
        name = turn["dia_id"].id()
        document = Document(
            id=f"{about['conversation']}/{name}",
            text=_said(turn),
            metadata={**about, "dia_id": name, "speaker": turn["speaker"].text()},
            extra=turn.besides("speaker", "dia_id", "text"),
        )
        gather.document(document, turn.where)


def _add_session(gather: Gather, session: Node, name: str, about: dict[str, Any]) -> None:
    text, places = joined(map(_said, session.items()))
    turns = [
        {"id": turn["dia_id"].id(), **place}
        for turn, place in zip(session.items(), places, strict=True)
    ]
    document = Document(
        id=f"{about['conversation']}/{name}",
        text=text,
        title=about["date"],
        metadata={**about, "turns": turns},
    )
    gather.document(document, session.where)


def _said(turn: Node) -> str:
    """What a turn says: the speaker, the words, and what a shared picture shows."""
    caption = turn.get("blip_caption")
    picture = "" if caption is None else f" [shares a picture: {caption.text()}]"
    return f"{turn['speaker'].text()}: {turn['text'].text()}{picture}"


def _query(gather: Gather, entry: Node, identity: str, conversation: str, turns: set[str]) -> Query:
    number = entry["category"].whole()
    if number not in CATEGORIES:
        msg = f"{entry['category'].where}: expected a category from 1 to 5, found {number}"
        raise DataError(msg)
    metadata: dict[str, Any] = {
        "conversation": conversation,
        "category_number": number,
        "evidence": _evidence(gather, entry, turns),
    }
    for name in ("answer", "adversarial_answer"):
        found = entry.get(name)
        if found is not None:
            metadata[name] = found.plain()
    if "answer" not in metadata and number != ADVERSARIAL:
        gather.remark(f"{entry.where}: has no answer")
    return Query(
        id=identity,
        text=entry["question"].text(),
        category=CATEGORIES[number],
        metadata=metadata,
        extra=entry.besides(*_KNOWN),
    )


def _evidence(gather: Gather, entry: Node, turns: set[str]) -> list[str]:
    """The evidence as it stands; what is not the id of a turn is remarked."""
    found = entry.get("evidence")
    items = [] if found is None else found.items()
    for item in items:
        if item.text() not in turns:
            gather.remark(f"{item.where}: {item.value!r:.80} is not the id of a turn")
    if not items:
        gather.remark(f"{entry.where}: has no evidence")
    return [item.text() for item in items]


LOADER = Loader(
    summary="LoCoMo conversations",
    signs="a .json array whose samples have conversation and qa",
    recognises=lambda source: (
        source.rows_have("conversation", "qa") or source.json_has("conversation", "qa")
    ),
    load=load,
)
