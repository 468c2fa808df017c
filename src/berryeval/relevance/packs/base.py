"""Packs: a benchmark's own relevance rules, with a name, a version and a hash."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
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

from berryeval._internal.registry import Registry
from berryeval._internal.serial import type_mismatch
from berryeval.anchors import Corpus, CoverageRule
from berryeval.data import Span
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from berryeval.data import Document, Hit, Query

Part: TypeAlias = Literal["relevance", "prompts", "scoring"]


@dataclass(frozen=True)
class Labels:
    """The labels of a dataset for one query.

    Without grades the dataset does not list the labels: only what the hits cover counts.
    """

    grades: Mapping[str, float] | None
    places: Mapping[str, Span] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)  # if the place does not tell
    notes: Sequence[str] = ()  # remarks on labels that could not be used


@dataclass(frozen=True)
class PackCorpus:
    """The corpus as packs see it; `place` returns the spans of a hit."""

    documents: Mapping[str, Document] = field(default_factory=dict)
    texts: Corpus = field(default_factory=lambda: Corpus(None, None))
    place: Callable[[Hit], Sequence[Span]] = lambda _: ()
    rule: CoverageRule = field(default_factory=CoverageRule)


class PackRules(Protocol):
    """The rules of a pack for the hits of one query."""

    @property
    def labels(self) -> Labels:
        """Labels of the query."""

    @property
    def doubts(self) -> Sequence[str]:
        """Remarks on unclear hits so far, one line each."""

    def covered(self, hit: Hit) -> Mapping[str, float]:
        """Return the labels that a hit covers, with their grades."""


@runtime_checkable
class KnowsFiles(Protocol):
    """Rules that know the file of a hit."""

    def file_of(self, hit: Hit) -> str:
        """Return the file of a hit, as named by the labels."""


class BoundPack(Protocol):
    """A pack bound to the corpus of a benchmark."""

    def rules_for(self, query: Query) -> PackRules:
        """Return the rules for one query."""


@runtime_checkable
class Pack(Protocol):
    """A benchmark's own rules.

    Attributes:
        name: Name in the registry.
        version: Version, which changes with every rule.
        seals: Parts that no configuration may change. A pack decides relevance only if it seals
            "relevance".
        rules: Description of the rules as JSON; its hash is recorded with every result.
    """

    name: str
    version: str
    seals: frozenset[Part]
    rules: Mapping[str, Any]

    def bound(self, corpus: PackCorpus) -> BoundPack:
        """Bind the pack to a corpus, which is indexed once."""


@dataclass
class SealedPack:
    """A pack that decides relevance and allows no configuration of it."""

    name: str
    version: str
    rules: Mapping[str, Any]
    bind: Callable[[PackCorpus], BoundPack]
    seals: frozenset[Part] = frozenset({"relevance"})

    def bound(self, corpus: PackCorpus) -> BoundPack:
        """Bind the pack to a corpus."""
        return self.bind(corpus)


def rules_hash(pack: Pack) -> str:
    """Return the hash of a pack's rules, the same on every version of Python."""
    content = {name: getattr(pack, name) for name in ("name", "version", "rules")}
    content["seals"] = sorted(pack.seals)
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


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
    """Return the pack with this name; `name@version` requires that version."""
    known, _, version = name.partition("@")
    pack = PACKS.get(known)
    if not isinstance(pack, Pack) or not pack.seals <= set(get_args(Part)):
        raise ConfigurationError(
            f"the pack {known!r} must have name, version, rules, bound and seals "
            f"(of {', '.join(get_args(Part))}); found {type(pack).__name__}"
        )
    if version and version != pack.version:
        raise ConfigurationError(
            f"the pack {known!r} has version {pack.version}, requested {version}"
        )
    return pack


def check_sealed(pack: Pack, configuration: Mapping[str, Any]) -> None:
    """Reject configuration of parts that a pack seals, such as `{"relevance": {"coverage": 1}}`.

    Keys may also be written with dots: `{"relevance.coverage": 1}`.
    """
    for key in _flatten_keys(configuration):
        part = key.partition(".")[0]
        if part in pack.seals:
            raise ConfigurationError(
                f"the pack {pack.name!r} (version {pack.version}) seals {part}: {key!r} cannot be "
                "set. Remove it, or use the benchmark without its pack"
            )


def _flatten_keys(configuration: Mapping[str, Any]) -> Iterator[str]:
    for name, value in configuration.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{key}" for key in _flatten_keys(value))
        else:
            yield str(name)


class Turn(NamedTuple):
    """A turn of a conversation and its place."""

    id: str
    span: Span
    has_answer: bool


def turns_of(document: Document) -> list[Turn]:
    """Return the turns in a document's metadata."""
    given = document.metadata.get("turns")
    if given is None:
        return []
    where = f"metadata.turns of document {document.id!r}"
    if not isinstance(given, list | tuple):
        raise type_mismatch(where, "an array of turns", given)
    return [_read_turn(turn, document, f"{where}, place {n}") for n, turn in enumerate(given)]


def _read_turn(value: Any, document: Document, where: str) -> Turn:
    if not isinstance(value, Mapping) or not isinstance(value.get("id"), str):
        raise type_mismatch(where, "an object with id, start and end", value)
    start, end = value.get("start"), value.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(document.text):
        wanted = f"start and end within the {len(document.text)} characters"
        raise type_mismatch(where, wanted, value)
    return Turn(value["id"], Span(document.id, start, end), value.get("has_answer") is True)


def find_covered_turns(hit: Hit, turns: Mapping[str, list[Turn]], corpus: PackCorpus) -> list[Turn]:
    """Return the turns of a session that a hit covers; all of them if it is the whole session."""
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
    """Yield the strings of a field that has one string or a list of strings."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple):
        yield from (item for item in value if isinstance(item, str))
