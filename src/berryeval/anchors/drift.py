"""Judgments that no longer say where their target stands, and what can be done about them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval.json_record import JsonRecord, Reader
from berryeval.records import Anchor, Judgment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["ALIKE", "Ambiguity", "Drift", "repair"]

ALIKE: Final = 0.6  # what is less like its original should be looked at before it takes its place


@dataclass(frozen=True)
class Drift(JsonRecord):
    """A judgment whose anchor does not resolve. It goes to JSON and back, to be looked at.

    Attributes:
        judgment: which one.
        reason: what was looked for, and what was found instead.
        nearest: the text most like what the anchor meant; empty if there is none.
        ratio: how like it is, from 0 to 1.
        repaired: an anchor that resolves, if one can be offered.
    """

    readers: ClassVar[Mapping[str, Reader]] = {
        "Judgment": Judgment.from_json,
        "Anchor": Anchor.from_json,
    }

    judgment: Judgment
    reason: str
    nearest: str = ""
    ratio: float = 0.0
    repaired: Anchor | None = None
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


@dataclass(frozen=True)
class Ambiguity(JsonRecord):
    """Something that may mean several places.

    Attributes:
        what: "section": nothing is chosen. "quote", in several documents, or "chunk", whose text
            stands at several places of its document: each of the places counts.
        name: the section, the quote or the id of the chunk.
        choices: the places.
        query_id: the query of the judgment, if it is one that is ambiguous.
    """

    what: str
    name: str
    choices: tuple[str, ...]
    query_id: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)


def repair(
    judgments: Iterable[Judgment], drift: Iterable[Drift], *, least: float = ALIKE
) -> list[Judgment]:
    """The judgments, with repaired anchors where there are any that are like enough.

    Args:
        judgments: those that were resolved.
        drift: what `resolve` said of them.
        least: the ratio from which on a repair is accepted; look at `Drift.nearest` first.
    """
    repaired = {
        _key(found.judgment): found.repaired
        for found in drift
        if found.repaired is not None and found.ratio >= least
    }
    return [
        replace(judgment, target=repaired[_key(judgment)])
        if _key(judgment) in repaired
        else judgment
        for judgment in judgments
    ]


def _key(judgment: Judgment) -> tuple[str, str, Anchor]:
    return judgment.query_id, judgment.group, judgment.target
