"""From judged answers to the record of a run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

from berryeval.benchmarks.checks.naming import name_of
from berryeval.errors import DataError, MeasureError
from berryeval.harness.outcomes import FAILED
from berryeval.measures import parse_measures
from berryeval.pipeline.folder import read_json_object
from berryeval.pipeline.tally import Tally
from berryeval.relevance.overlap import ANSWER_FIELDS
from berryeval.results import (
    AnswerColumns,
    AnswerRecord,
    AnswersBuilder,
    HitRecord,
    Latency,
    MissedTarget,
    Passage,
    ProviderRecord,
)
from berryeval.results.standard import CURVE, STANDARD, standard_of
from berryeval.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from berryeval.anchors import Target
    from berryeval.harness.ranking import Ranking
    from berryeval.pipeline.plan import Plan, ProviderSpec
    from berryeval.pipeline.rankings import Answers
    from berryeval.records import Hit, Query
    from berryeval.relevance import Judged

__all__ = ["Passages", "Recorder", "all_measures", "scored_measures"]

log = logging.getLogger("berryeval")
PASSAGE_LENGTH: Final = 400  # characters of a hit's text that are kept


def all_measures(scored: Sequence[str]) -> list[str]:
    """What was asked for, and what every run has; the log says some whatever is recorded."""
    return list(dict.fromkeys((*scored, *STANDARD, *CURVE)))


def scored_measures(plan: Plan, file: Path) -> list[str]:
    """What the plan asks for, and what was added to the scores in this file since.

    A file that is not there, or is damaged, has nothing: all that the plan asks for is made again.
    """
    try:
        before = Scores.from_dict(read_json_object(file), str(file)) if file.exists() else None
    except DataError:
        before = None
    asked = set(map(str, parse_measures(plan.scored)))
    added = [name for name in before.measures if name not in asked] if before else []
    spelled = {name: text for text, name in before.spellings.items()} if before else {}
    return [*plan.scored, *(spelled.get(name, name) for name in added if _is_known(name))]


def _is_known(measure: str) -> bool:
    try:
        parse_measures([measure])
    except MeasureError as error:
        log.warning("%s cannot be computed again, and is not kept: %s", measure, error)
        return False
    return True


class Passages:
    """What hits show to people, each kept once."""

    def __init__(self) -> None:
        self._places: dict[Passage, int] = {}

    def place_of(self, hit: Hit) -> int | None:
        """Where the passage of this hit is kept; None if it has no text."""
        if not hit.text:
            return None
        start = hit.text
        if len(start) > PASSAGE_LENGTH:
            start = f"{start[: PASSAGE_LENGTH - 1]}…"
        name = " > ".join([hit.doc_id, *hit.section]) if hit.doc_id else ""
        return self._places.setdefault(Passage(start, name), len(self._places))

    def __iter__(self) -> Iterator[Passage]:
        """All of them, in their order."""
        return iter(self._places)


class Recorder:
    """Takes the judged answers of a provider one by one, in the order of the queries.

    Attributes:
        strategies: who decided about each query that was answered, be it without hits.
        tally: what is counted of the answers.
    """

    def __init__(self, queries: Sequence[Query], answers: Answers, passages: Passages) -> None:
        self._query_of = {query.id: query for query in queries}
        self._answers = answers
        self._passages = passages
        self._built = AnswersBuilder()
        self.strategies: dict[str, str] = {}
        self.tally = Tally()

    def seen(self, query_id: str, hits: Sequence[Hit], judged: Judged) -> None:
        """Record an answer."""
        ranking = self._answers.ranking(query_id) if query_id in self._answers else None
        if ranking is not None:
            self.tally.add(ranking)
            if ranking.outcome not in FAILED:
                self.strategies[query_id] = judged.strategy
        query = self._query_of[query_id]
        self._built.add(_answer(query, ranking, hits, judged, self._passages))

    def record(
        self, spec: ProviderSpec, depth: int, scored: Sequence[str], everything: Scores
    ) -> ProviderRecord:
        """What the provider did; warnings are added by those who know them."""
        return ProviderRecord(
            name=spec.label,
            type=spec.type,
            chunker=spec.chunker,
            scores=everything.only(scored),
            standard=everything.only(standard_of(depth)),
            curve=tuple(everything.mean[name] for name in CURVE),
            answers=AnswerColumns.of(self._built),
            outcomes=self._answers.outcomes,
            latency=Latency.of(self.tally.seconds, self.tally.batch),
            cost=self.tally.cost,
        )


def _answer(
    query: Query,
    ranking: Ranking | None,
    hits: Sequence[Hit],
    judged: Judged,
    passages: Passages,
) -> AnswerRecord:
    expected = _expected(query) if judged.strategy == "token-fallback" else ""
    missed = tuple(sorted(map(_missed, judged.joined.missed), key=lambda one: -one.grade))
    if ranking is None:
        return AnswerRecord(query.id, "missing", missed=missed, expected=expected)
    grade_of = {hit.rank: hit.grade for hit in judged.ranking.hits if hit.grade >= 0}
    return AnswerRecord(
        query.id,
        ranking.outcome,
        tuple(
            HitRecord(
                hit.id,
                hit.score,
                grade_of.get(place + 1),
                again=place in judged.joined.again,
                passage=passages.place_of(hit),
            )
            for place, hit in enumerate(hits)
        ),
        missed,
        None if ranking.outcome in FAILED else ranking.latency,
        ranking.error,
        expected,
        ranking.cost,
    )


def _missed(target: Target) -> MissedTarget:
    return MissedTarget(
        " or ".join(name_of(member.anchor) for member in target.members), target.grade
    )


def _expected(query: Query) -> str:
    given = (query.metadata.get(name) for name in ANSWER_FIELDS)
    return next((str(value) for value in given if value), "")
