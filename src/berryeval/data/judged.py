"""Judged rankings: the input of metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, get_args

from berryeval.data.table import StringColumn

if TYPE_CHECKING:
    from berryeval.data.run import RankingRule
    from berryeval.data.table import QueryTable


# How relevance was decided: by judgments, by the pack, by the words of the expected answer, or not.
Strategy: TypeAlias = Literal["qrels", "pack", "token-fallback", "none"]
STRATEGIES: Final[tuple[Strategy, ...]] = get_args(Strategy)
TOKEN_THRESHOLD: Final = 0.3  # least overlap of a relevant chunk with the expected answer


class JudgedHit(NamedTuple):
    """A judged document of a ranking."""

    rank: int
    grade: float


@dataclass(frozen=True)
class JudgedRanking:
    """One ranking joined with its judgments; a metric sees nothing else.

    Attributes:
        hits: Documents of the ranking that have judgments, best rank first. A negative grade
            means: in the pool, but not judged.
        retrieved: Number of documents in the ranking.
        grades: Grades of all judged documents of the query, retrieved or not, highest first.
        also: Further judgments covered first by a hit, where judgments name passages. The best
            judgment of the hit is in `hits`; these count as found but add no gain.
    """

    hits: Sequence[JudgedHit]
    retrieved: int
    grades: Sequence[float]
    also: Sequence[JudgedHit] = ()

    def relevant_ranks(self, rel: float, cutoff: int | None = None) -> list[int]:
        """Return the ranks up to `cutoff` of documents with a grade of at least `rel`."""
        return [
            hit.rank
            for hit in self.hits
            if hit.grade >= rel and (cutoff is None or hit.rank <= cutoff)
        ]

    def relevant_found(self, rel: float, cutoff: int | None = None) -> int:
        """Return the number of relevant judgments covered by the ranks up to `cutoff`."""
        also = sum(hit.grade >= rel and (cutoff is None or hit.rank <= cutoff) for hit in self.also)
        return len(self.relevant_ranks(rel, cutoff)) + also

    def found_at(self, rel: float, cutoff: int | None = None) -> list[tuple[int, int]]:
        """Return `relevant_ranks`, each with the number of relevant judgments it covers first."""
        also = Counter(hit.rank for hit in self.also if hit.grade >= rel)
        return [(rank, 1 + also[rank]) for rank in self.relevant_ranks(rel, cutoff)]

    def relevant_total(self, rel: float) -> int:
        """Return the number of relevant documents in the judgments."""
        return sum(grade >= rel for grade in self.grades)

    def cut(self, depth: int) -> JudgedRanking:
        """Return the ranking cut at `depth`."""
        hits = [hit for hit in self.hits if hit.rank <= depth]
        also = [hit for hit in self.also if hit.rank <= depth]
        return JudgedRanking(hits, min(self.retrieved, depth), self.grades, also)

    def condensed(self) -> JudgedRanking:
        """Return the ranking without its unjudged documents."""
        judged = [hit for hit in self.hits if hit.grade >= 0]
        hits = [JudgedHit(rank, hit.grade) for rank, hit in enumerate(judged, start=1)]
        place_of = {hit.rank: rank for rank, hit in enumerate(judged, start=1)}
        also = [JudgedHit(place_of[hit.rank], hit.grade) for hit in self.also if hit.grade >= 0]
        return JudgedRanking(hits, len(hits), self.grades, also)


class SubtopicHit(NamedTuple):
    """A judged document of a ranking, with its grade for each subtopic."""

    rank: int
    grades: Mapping[str, float]


@dataclass(frozen=True)
class SubtopicRanking:
    """One ranking joined with judgments of subtopics; the input of diversity metrics.

    `documents` holds the grades by subtopic of every judged document, highest id first.
    """

    hits: Sequence[SubtopicHit]
    retrieved: int
    documents: Sequence[Mapping[str, float]]
    subtopics: Sequence[str]

    def relevant_totals(self, rel: float) -> dict[str, int]:
        """Return the number of relevant documents by subtopic, without subtopics that have none."""
        totals = dict.fromkeys(self.subtopics, 0)
        for grades in self.documents:
            for subtopic in select_answered(grades, rel):
                totals[subtopic] += 1
        return {subtopic: total for subtopic, total in totals.items() if total}

    def answers(self, rel: float, cutoff: int | None = None) -> list[tuple[int, list[str]]]:
        """Return the ranks up to `cutoff` of relevant documents, with their subtopics."""
        found = []
        for rank, grades in self.hits:
            if cutoff is not None and rank > cutoff:
                break
            if subtopics := select_answered(grades, rel):
                found.append((rank, subtopics))
        return found

    def condensed(self) -> SubtopicRanking:
        """Return the ranking without its unjudged documents."""
        judged = [hit for hit in self.hits if max(hit.grades.values()) >= 0]
        hits = [SubtopicHit(rank, hit.grades) for rank, hit in enumerate(judged, start=1)]
        return SubtopicRanking(hits, len(hits), self.documents, self.subtopics)


def select_answered(grades: Mapping[str, float], rel: float) -> list[str]:
    """Return the subtopics with a grade of at least `rel`."""
    return [subtopic for subtopic, grade in grades.items() if grade >= rel]


def judge_documents(
    qrels: QueryTable, query: int, run: QueryTable, run_query: int | None, rule: RankingRule
) -> JudgedRanking:
    """Join the judgments and ranking of one query; the native twin is `QueryJudge`."""
    start, end = int(qrels.offsets[query]), int(qrels.offsets[query + 1])
    grade_of: dict[bytes, float] = {}
    for row, document in enumerate(qrels.documents.to_bytes_list(start, end), start=start):
        if document in grade_of:
            raise qrels.repeated_error(row)
        grade_of[document] = float(qrels.values[row])
    grades = sorted(grade_of.values(), reverse=True)
    if run_query is None:
        return JudgedRanking((), 0, tuple(grades))
    ranked = rule.ranked(run, run_query)
    hits = [
        JudgedHit(rank, grade_of[document])
        for rank, document in enumerate(ranked, start=1)
        if document in grade_of
    ]
    return JudgedRanking(tuple(hits), len(ranked), tuple(grades))


def judge_subtopics(
    qrels: QueryTable, query: int, run: QueryTable, run_query: int | None, rule: RankingRule
) -> SubtopicRanking:
    """Join the judgments and ranking of one query; without groups the only subtopic is "0"."""
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
            raise qrels.repeated_error(row)
        grades[subtopic] = float(qrels.values[row])
    # Sums of floats depend on the order, so subtopics always have the same one.
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


def judge_all(
    qrels: QueryTable, run: QueryTable, rule: RankingRule, *, missing: bool = True
) -> Iterator[tuple[str, int | None, JudgedRanking]]:
    """Yield each judged query, sorted by bytes, its place in the run, and its judged ranking.

    `missing` is whether to yield queries that are not in the run.
    """
    place_of = {query: place for place, query in enumerate(run.queries)}
    ids = list(qrels.queries)
    for place in sorted(range(len(ids)), key=lambda place: ids[place].encode()):
        match = place_of.get(ids[place])
        if missing or match is not None:
            yield ids[place], match, judge_documents(qrels, place, run, match, rule)
