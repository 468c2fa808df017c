"""What a pack is: a benchmark's own rules, under a name, a version and a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Literal,
    NamedTuple,
    Protocol,
    TypeAlias,
    get_args,
    runtime_checkable,
)

from berryeval._internal.records import refused
from berryeval._internal.registry import Registry
from berryeval.anchors import Corpus, CoverageRule
from berryeval.data import Span
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from berryeval.data import Document, Hit, Query


Part: TypeAlias = Literal["relevance", "prompts", "scoring"]


@dataclass(frozen=True)
class Labels:
    """What a dataset says is relevant to one query.

    Attributes:
        grades: what there is to be found, by label. None where the dataset does not say: then what
            the hits turn out to cover is all there is.
        places: where a label stands in the corpus, as far as that is known.
        files: the file a label is of, where the place does not tell.
        notes: what could not be read or used, a line each.
    """

    grades: Mapping[str, float] | None
    places: Mapping[str, Span] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class PackCorpus:
    """What a pack may know of the corpus.

    Attributes:
        documents: by id.
        texts: their texts, with the lines of each.
        place: where a hit stands: by its offsets, or because its text was found in its document.
        rule: how much of a target a hit must hold to cover it.
    """

    documents: Mapping[str, Document] = field(default_factory=dict)
    texts: Corpus = field(default_factory=lambda: Corpus(None, None))
    place: Callable[[Hit], Sequence[Span]] = lambda _: ()
    rule: CoverageRule = field(default_factory=CoverageRule)


class PackRules(Protocol):
    """The rules of a pack for the hits of one query."""

    @property
    def labels(self) -> Labels:
        """What there is to be found."""
        ...

    @property
    def doubts(self) -> Sequence[str]:
        """What was unclear about the hits so far, a line each."""
        ...

    def covered(self, hit: Hit) -> Mapping[str, float]:
        """The labels that a hit covers, with the grade of each; empty if it is not relevant."""
        ...


@runtime_checkable
class KnowsFiles(Protocol):
    """Rules that know better than anyone which file a hit is of."""

    def file_of(self, hit: Hit) -> str:
        """The file, under the name that the labels use."""
        ...


class BoundPack(Protocol):
    """A pack that has seen the corpus of a benchmark."""

    def rules_for(self, query: Query) -> PackRules:
        """The rules for one query."""
        ...


@runtime_checkable
class Pack(Protocol):
    """A benchmark's own rules.

    Attributes:
        name: what people call it; the name in the registry.
        version: changes when a rule changes.
        seals: the parts that belong to the pack and that no configuration may change. A pack that
            seals "relevance" decides what is relevant; one that does not has nothing to say there.
        rules: the rules in words and numbers, as JSON; their hash is recorded with every result.
    """

    name: str
    version: str
    seals: frozenset[Part]
    rules: Mapping[str, Any]

    def bound(self, corpus: PackCorpus) -> BoundPack:
        """The pack for this corpus: whatever it wants to look up is looked up once, here."""
        ...


def rules_hash(pack: Pack) -> str:
    """The hash of what a pack says: the same for the same rules, on every version of Python."""
    said = {
        "name": pack.name,
        "version": pack.version,
        "seals": sorted(pack.seals),
        "rules": pack.rules,
    }
    text = json.dumps(said, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


# Which pack a benchmark has, and what configuration may not touch.

_HOME: Final = "berryeval.relevance.packs"
PACKS: Final[Registry[Pack]] = Registry(
    "pack",
    {
        "locomo": f"{_HOME}.locomo:PACK",
        "longmemeval": f"{_HOME}.longmemeval:PACK",
        "code-retrieval": f"{_HOME}.code_retrieval:PACK",
        "generic": f"{_HOME}.generic:PACK",
    },
)


def find_pack(name: str) -> Pack:
    """The pack of this name; `name@version` asks for a version, and no other will do."""
    known, _, version = name.partition("@")
    pack = PACKS.get(known)
    if not isinstance(pack, Pack) or not pack.seals <= set(get_args(Part)):
        msg = (
            f"the pack {known!r} must have name, version, rules, bound and seals "
            f"(of {', '.join(get_args(Part))}); found {type(pack).__name__}"
        )
        raise ConfigurationError(msg)
    if version and version != pack.version:
        msg = f"the pack {known!r} is here in version {pack.version}, asked for was {version}"
        raise ConfigurationError(msg)
    return pack


def check_sealed(pack: Pack, configuration: Mapping[str, Any]) -> None:
    """Refuse configuration that would change what a pack seals.

    Args:
        pack: whose rules are to stay as they are.
        configuration: settings by part, `{"relevance": {"threshold": 0.5}}`, or with dots,
            `{"relevance.threshold": 0.5}`. Other settings are none of the pack's business.
    """
    for key in _keys(configuration):
        part = key.partition(".")[0]
        if part in pack.seals:
            msg = (
                f"the pack {pack.name!r} (version {pack.version}) seals {part}: {key!r} cannot be "
                "set. Remove it, or take the benchmark without its pack and judge it your own way"
            )
            raise ConfigurationError(msg)


def _keys(configuration: Mapping[str, Any]) -> Iterable[str]:
    def walk(name: str, value: Any) -> Iterator[str]:
        if isinstance(value, Mapping) and value:
            for key, inner in value.items():
                yield from walk(f"{name}.{key}", inner)
        else:
            yield name

    for name, value in configuration.items():
        yield from walk(str(name), value)


# Conversations in a corpus: where in a document each turn stands.


class Turn(NamedTuple):
    """A turn of a conversation, and where it stands."""

    id: str
    span: Span
    has_answer: bool


def turns_of(document: Document) -> list[Turn]:
    """The turns that a document says it holds."""
    given = document.metadata.get("turns")
    if given is None:
        return []
    where = f"metadata.turns of document {document.id!r}"
    if not isinstance(given, list | tuple):
        raise refused(where, "an array of turns", given)
    return [_turn(turn, document, f"{where}, place {place}") for place, turn in enumerate(given)]


def _turn(value: Any, document: Document, where: str) -> Turn:
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str):
        raise refused(where, "an object with id, start and end", value)
    start, end = value.get("start"), value.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(document.text):
        raise refused(where, f"start and end within the {len(document.text)} characters", value)
    return Turn(value["id"], Span(document.id, start, end), value.get("has_answer") is True)


def turns_covered(hit: Hit, turns: Mapping[str, list[Turn]], corpus: PackCorpus) -> list[Turn]:
    """The turns of a session that a hit holds: all of them, if the hit is the whole session.

    Args:
        hit: what was found.
        turns: the turns of each session, by the id of its document.
        corpus: finds the hit in its document.
    """
    whole = hit.id if hit.id in turns else hit.doc_id
    if whole not in turns:
        return []
    if hit.id == whole and hit.start is None:
        return turns[whole]
    places = [span for span in corpus.place(hit) if span.document == whole]
    return [
        turn
        for turn in turns[whole]
        if any(corpus.rule.covers(span[1:], turn.span[1:]) for span in places)
    ]


def texts_of(value: Any) -> Iterator[str]:
    """The strings of a field that may hold one, or a list of them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, str))
