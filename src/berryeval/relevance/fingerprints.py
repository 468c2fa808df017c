"""Fingerprints: whether a query means the same in two versions of a benchmark.

The fingerprint of a query has three parts, joined by hyphens: its text and scope; what is judged
relevant, without offsets; and the texts of the targets where they stand now. A target that moves
within its document keeps its fingerprint, one whose text or document is another does not. The
number of targets that are not in the corpus follows after a dot, unless it is 0.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.text import read_spelled
from berryeval.relevance.strategies import ANSWER_FIELDS, ID_FIELDS

if TYPE_CHECKING:
    from berryeval.anchors import Location
    from berryeval.data import Judgment, Query
    from berryeval.relevance.strategies import Judgeable, Relevance

PARTS: Final = ("text", "judgments", "targets")
_SIZE: Final = 5  # bytes of a part: enough to compare two versions of one query
# What an anchor names; its offsets say where that stood when it was judged.
_NAMED: Final = ("chunk", "document", "section", "subsections", "quote")


def fingerprint_questions(benchmark: Judgeable, queries: Sequence[Query]) -> list[str]:
    """Return the first two parts of the fingerprints of these queries."""
    judged: dict[str, list[Judgment]] = defaultdict(list)
    for one in benchmark.judgments:
        judged[one.query_id].append(one)
    return [
        f"{_hash([query.text, query.to_json().get('scope')])}-"
        f"{_hash(_list_judgments(query, judged[query.id], has_pack=bool(benchmark.pack)))}"
        for query in queries
    ]


def _list_judgments(query: Query, judged: Iterable[Judgment], *, has_pack: bool) -> Any:
    """Return what decides the relevance of hits: judgments, else fields of the metadata."""
    found = []
    for one in judged:
        target = one.target.to_json()
        named = {name: target[name] for name in _NAMED if name in target}
        found.append([named, float(one.grade), one.group, one.need])
    if found:
        return sorted(found, key=json.dumps)
    if has_pack:
        return dict(query.metadata)
    return {name: read_spelled(query.metadata, name) for name in (*ID_FIELDS, *ANSWER_FIELDS)}


def fingerprint_queries(
    benchmark: Judgeable, queries: Sequence[Query], relevance: Relevance
) -> tuple[str, ...]:
    """Return the fingerprints of these queries; `relevance` is that of the benchmark."""
    known: dict[int, str] = {}

    def hash_place(place: Location) -> str:
        if id(place) not in known:
            known[id(place)] = _hash(_read_target(relevance, place))
        return known[id(place)]

    def mark_targets(query_id: str) -> str:
        lost = _count_lost(relevance, query_id)
        found = _hash(_list_targets(relevance, query_id, hash_place))
        return f"{found}.{lost}" if lost else found

    return tuple(
        f"{found}-{mark_targets(query.id)}"
        for query, found in zip(queries, fingerprint_questions(benchmark, queries), strict=True)
    )


def _list_targets(
    relevance: Relevance, query_id: str, hash_place: Callable[[Location], str]
) -> list[Any]:
    labels = relevance.labels_of(query_id)
    if labels is not None:
        return sorted([name, relevance.read(span)] for name, span in labels.places.items())
    members = (place for one in relevance.targets.of(query_id) for place in one.members)
    return sorted(map(hash_place, members))


def _count_lost(relevance: Relevance, query_id: str) -> int:
    """Count the targets that are not in the corpus."""
    labels = relevance.labels_of(query_id)
    if labels is not None:
        return len((labels.grades or {}).keys() - labels.places.keys())
    targets = relevance.targets.of(query_id)
    return sum(_is_lost(relevance, place) for one in targets for place in one.members)


def _is_lost(relevance: Relevance, place: Location) -> bool:
    """Whether a target is gone; a chunk is not if its document stays: the chunker may differ."""
    chunk, targets = place.anchor.chunk, relevance.targets
    if not chunk:
        return place.lost is not None
    ends = (found.start() for found in re.finditer(r"[#@]|$", chunk))
    return chunk not in targets.chunks and not any(chunk[:end] in targets.corpus for end in ends)


def _read_target(relevance: Relevance, place: Location) -> Any:
    """Return the documents and texts of a target; nothing if it is not found."""
    anchor, targets = place.anchor, relevance.targets
    if anchor.chunk:
        chunk = targets.chunks.get(anchor.chunk)
        return None if chunk is None else chunk.text
    if not place.resolves:
        return None
    if place.is_document:
        text = targets.corpus.text(anchor.document)
        return None if text is None else [anchor.document, text.text]
    return [[span.document, relevance.read(span)] for span in place.spans]


def find_differences(before: str, after: str) -> tuple[str, ...]:
    """Return the parts that differ between two fingerprints.

    >>> find_differences("aa-bb-cc", "aa-bb-dd")
    ('targets',)
    """
    pairs = zip(PARTS, before.split("-"), after.split("-"), strict=False)
    return tuple(
        name for name, one, other in pairs if one.partition(".")[0] != other.partition(".")[0]
    )


def has_lost_targets(before: str, after: str) -> bool:
    """Whether a query is the same but for targets that are no longer in the corpus.

    >>> has_lost_targets("aa-bb-cc", "aa-bb-dd.1")
    True
    """
    if find_differences(before, after) != ("targets",):
        return False
    was, now = (int(one.rpartition("-")[2].partition(".")[2] or 0) for one in (before, after))
    return now > was


def _hash(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, default=_to_plain)
    return hashlib.blake2b(text.encode(), digest_size=_SIZE).hexdigest()


def _to_plain(value: Any) -> Any:
    return dict(value) if isinstance(value, Mapping) else str(value)
