"""What a pack is: a benchmark's own rules, under a name, a version and a hash."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from berryeval.anchors import Corpus, CoverageRule

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from berryeval.anchors import Span
    from berryeval.records import Document, Hit, Query

__all__ = [
    "BoundPack",
    "KnowsFiles",
    "Labels",
    "Pack",
    "PackCorpus",
    "PackRules",
    "Part",
    "rules_hash",
]

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
