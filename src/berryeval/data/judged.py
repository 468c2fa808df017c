"""What a metric sees: one ranking after the join with its judgments."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from berryeval.data.table import StringColumn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.data.run import RankingRule
    from berryeval.data.table import QueryTable


class JudgedHit(NamedTuple):
    """A document of the ranking that has a line in the judgments."""

    rank: int
    grade: float


@dataclass(frozen=True)
class JudgedRanking:
    """One ranking after the join with its judgments; the only thing a metric sees.

    Attributes:
        hits: the documents of the ranking that the judgments know, best rank first. A negative
            grade means: in the pool, but not judged.
        retrieved: how many documents the ranking holds.
        grades: the grades of all documents in the query's judgments, found or not, highest first.
        also: where judgments name passages rather than ids, one hit may be the first to cover
            several. It is worth the best of them, and that is in `hits`; the others are here. They
            count as found, and gain nothing.
    """

    hits: Sequence[JudgedHit]
    retrieved: int
    grades: Sequence[float]
    also: Sequence[JudgedHit] = ()

    def relevant_ranks(self, rel: float, cutoff: int | None = None) -> list[int]:
        """The ranks, up to `cutoff`, of the documents whose grade reaches `rel`."""
        return [
            hit.rank
            for hit in self.hits
            if hit.grade >= rel and (cutoff is None or hit.rank <= cutoff)
        ]

    def relevant_found(self, rel: float, cutoff: int | None = None) -> int:
        """How many of the relevant judgments the ranking up to `cutoff` covers."""
        also = sum(hit.grade >= rel and (cutoff is None or hit.rank <= cutoff) for hit in self.also)
        return len(self.relevant_ranks(rel, cutoff)) + also

    def found_at(self, rel: float, cutoff: int | None = None) -> list[tuple[int, int]]:
        """The ranks of `relevant_ranks`, each with how many relevant judgments it covers first."""
        also = Counter(hit.rank for hit in self.also if hit.grade >= rel)
        return [(rank, 1 + also[rank]) for rank in self.relevant_ranks(rel, cutoff)]

    def relevant_total(self, rel: float) -> int:
        """How many relevant documents the judgments know."""
        return sum(grade >= rel for grade in self.grades)

    def cut(self, depth: int) -> JudgedRanking:
        """The ranking without what stands below `depth`."""
        hits = [hit for hit in self.hits if hit.rank <= depth]
        also = [hit for hit in self.also if hit.rank <= depth]
        return JudgedRanking(hits, min(self.retrieved, depth), self.grades, also)

    def condensed(self) -> JudgedRanking:
        """The ranking without its unjudged documents, the others moved up."""
        judged = [hit for hit in self.hits if hit.grade >= 0]
        hits = [JudgedHit(rank, hit.grade) for rank, hit in enumerate(judged, start=1)]
        place_of = {hit.rank: rank for rank, hit in enumerate(judged, start=1)}
        also = [JudgedHit(place_of[hit.rank], hit.grade) for hit in self.also if hit.grade >= 0]
        return JudgedRanking(hits, len(hits), self.grades, also)


# What a metric of novelty and diversity sees: a grade for each document and subtopic.


class SubtopicHit(NamedTuple):
    """A document of the ranking that has a line in the judgments, with its grade per subtopic."""

    rank: int
    grades: Mapping[str, float]


@dataclass(frozen=True)
class SubtopicRanking:
    """One ranking after the join with judgments of subtopics.

    Attributes:
        hits: the documents of the ranking that the judgments know, best rank first.
        retrieved: how many documents the ranking holds.
        documents: the grades per subtopic of every document in the judgments, highest id first.
        subtopics: the subtopics of the query, in the order in which the judgments name them.
    """

    hits: Sequence[SubtopicHit]
    retrieved: int
    documents: Sequence[Mapping[str, float]]
    subtopics: Sequence[str]

    def relevant_totals(self, rel: float) -> dict[str, int]:
        """How many relevant documents each subtopic has; one without any is left out."""
        totals = dict.fromkeys(self.subtopics, 0)
        for grades in self.documents:
            for subtopic in answered(grades, rel):
                totals[subtopic] += 1
        return {subtopic: total for subtopic, total in totals.items() if total}

    def answers(self, rel: float, cutoff: int | None = None) -> list[tuple[int, list[str]]]:
        """The ranks, up to `cutoff`, of relevant documents, with the subtopics they answer."""
        found = []
        for rank, grades in self.hits:
            if cutoff is not None and rank > cutoff:
                break
            if subtopics := answered(grades, rel):
                found.append((rank, subtopics))
        return found

    def condensed(self) -> SubtopicRanking:
        """The ranking without its unjudged documents, the others moved up."""
        judged = [hit for hit in self.hits if max(hit.grades.values()) >= 0]
        hits = [SubtopicHit(rank, hit.grades) for rank, hit in enumerate(judged, start=1)]
        return SubtopicRanking(hits, len(hits), self.documents, self.subtopics)


def answered(grades: Mapping[str, float], rel: float) -> list[str]:
    """The subtopics for which the grade reaches `rel`."""
    return [subtopic for subtopic, grade in grades.items() if grade >= rel]


def judge_subtopics(
    qrels: QueryTable, query: int, run: QueryTable, run_query: int | None, rule: RankingRule
) -> SubtopicRanking:
    """The join of one query; judgments without groups have the one subtopic "0"."""
    start, end = int(qrels.offsets[query]), int(qrels.offsets[query + 1])
    group = qrels.labels.get("group")
    groups = (
        [item.decode() for item in group.to_bytes_list(start, end)]
        if isinstance(group, StringColumn)
        else ["0"] * (end - start)
    )
    subtopics = list(dict.fromkeys(groups))
    place_of = {subtopic: place for place, subtopic in enumerate(subtopics)}
    judged: dict[bytes, dict[str, float]] = {}
    for row, document in enumerate(qrels.documents.to_bytes_list(start, end), start=start):
        grades = judged.setdefault(document, {})
        subtopic = groups[row - start]
        if subtopic in grades:
            raise qrels.repeated(row)
        grades[subtopic] = float(qrels.values[row])
    # Subtopics are always added up in one order: sums of floats depend on it.
    known = {
        document: dict(sorted(grades.items(), key=lambda item: place_of[item[0]]))
        for document, grades in judged.items()
    }
    pool = [known[document] for document in sorted(known, reverse=True)]
    ranked = [] if run_query is None else rule.ranked(run, run_query)
    hits = [
        SubtopicHit(rank, known[document])
        for rank, document in enumerate(ranked, start=1)
        if document in known
    ]
    return SubtopicRanking(hits, len(ranked), pool, subtopics)
