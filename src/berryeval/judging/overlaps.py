"""Votes on passages of several chunkings: what overlaps is one thing to be found."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from berryeval.anchors import Corpus, CoverageRule, locate
from berryeval.data import Anchor

if TYPE_CHECKING:
    from berryeval.data import Judgment, Span


def unite_overlaps(
    judgments: Sequence[Judgment], voted: Collection[int], corpus: Corpus
) -> list[Judgment]:
    """Make one target of relevant passages that cover each other, if one of them was voted on.

    Chunkers cut the same answer in different ways, and judges see all of the pieces. It is one
    answer, found with the first piece. A vote is exact: a hit with the same text has its grade,
    whatever longer passage or document around it is relevant. The judgment of a whole document
    counts for the rest of it, if there is any, unless a passage has as high a grade: this is what
    there was to find.

    Args:
        judgments: Judgments of a benchmark, with decided grades.
        voted: Places of those that judges decided.
        corpus: The documents.
    """
    queries = {judgments[number].query_id for number in voted}
    located = {
        number: locate(one.target, corpus)
        for number, one in enumerate(judgments)
        if one.query_id in queries
    }
    places = {n: one.spans[0] for n, one in located.items() if len(one.spans) == 1}
    exact = {number for number in voted if number in places}
    relevant: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, place in places.items():
        if judgments[number].grade > 0 and judgments[number].need == "any":
            relevant[judgments[number].query_id, place.document].append(number)
    best: dict[tuple[str, str], float] = {}  # of the passages of a document that were voted on
    groups: dict[int, str] = {}
    for key, numbers in relevant.items():
        found = exact.intersection(numbers)
        if found:
            best[key] = max(judgments[number].grade for number in found)
            groups.update(_group(numbers, judgments, places, exact))
    used: dict[tuple[str, str], list[Span]] = defaultdict(list)
    for number in exact:
        used[judgments[number].query_id, places[number].document].append(places[number])
    united: list[Judgment] = []
    for number, judgment in enumerate(judgments):
        home = (judgment.query_id, judgment.target.document)
        coarse = number in located and located[number].is_document and not judgment.group
        if number in voted or judgment.grade <= 0 or not coarse or home not in used:
            group = groups.get(number, judgment.group)
            united.append(replace(judgment, exact=judgment.exact or number in exact, group=group))
        elif judgment.grade > best.get(home, 0):
            united += _cut(judgment, used[home], corpus)
    return united


def _cut(judgment: Judgment, spans: Iterable[Span], corpus: Corpus) -> Iterator[Judgment]:
    """Yield the judgment of a document for its text without these spans, as one target."""
    text = corpus.text(judgment.target.document)
    if text is None:
        yield judgment
        return
    at = 0
    for start, end in (*sorted((one.start, one.end) for one in spans), (len(text.text), 0)):
        if text.text[at:start].strip():
            target = Anchor(document=text.document, start=at, end=start)
            group = f"{text.document} without its judged parts"
            yield replace(judgment, target=target, group=group)
        at = max(at, end)


def _group(
    numbers: Iterable[int],
    judgments: Sequence[Judgment],
    places: dict[int, Span],
    exact: Collection[int],
) -> dict[int, str]:
    """Return the group of each judgment that covers another one, directly or through others."""
    rule = CoverageRule()
    ordered = sorted(numbers, key=lambda number: (places[number].start, -places[number].end))
    clusters: list[list[int]] = []
    for number in ordered:
        span = (places[number].start, places[number].end)
        linked = [
            cluster
            for cluster in clusters
            if any(rule.covers(span, (places[one].start, places[one].end)) for one in cluster)
        ]
        clusters = [one for one in clusters if one not in linked]
        clusters.append([number, *(one for cluster in linked for one in cluster)])
    found = {}
    for cluster in clusters:
        if len(cluster) > 1 and not set(cluster).isdisjoint(exact):
            names = [judgments[one].group for one in cluster if judgments[one].group]
            first = min(cluster, key=lambda one: places[one])
            name = names[0] if names else f"{places[first].document} {places[first].start}"
            found.update(dict.fromkeys(cluster, name))
    return found
