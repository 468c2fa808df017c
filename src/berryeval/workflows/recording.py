"""Turn judged answers into the record of a run."""

from __future__ import annotations

import logging
import math
from array import array
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Final

from berryeval._internal import numbers
from berryeval._internal.json import read_json_object
from berryeval._internal.plain import DEEPEST, was_cut
from berryeval._internal.text import pluralize, read_spelled
from berryeval._internal.validate import is_number, is_whole
from berryeval.benchmarks import name_of
from berryeval.errors import DataError, MetricError
from berryeval.metrics import parse_metrics
from berryeval.providers import PROVIDERS
from berryeval.relevance import ANSWER_FIELDS
from berryeval.runner import FAILED
from berryeval.runs import (
    CURVE,
    STANDARD,
    AnswerColumns,
    AnswerRecord,
    AnswersBuilder,
    FoundTarget,
    HitRecord,
    Latency,
    MissedTarget,
    Passage,
    ProviderRecord,
    StageAnswer,
    standard_metrics,
)
from berryeval.scoring import Scores

if TYPE_CHECKING:
    from berryeval.anchors import Target, Targets
    from berryeval.data import Hit, Query
    from berryeval.providers import Disorder
    from berryeval.relevance import Judged
    from berryeval.runner import Answers, Ranking
    from berryeval.workflows.plan import Plan, ProviderSpec
    from berryeval.workflows.scope_tally import ScopeTally


log = logging.getLogger("berryeval")
# Every run logs these three, whatever metrics are asked for.
_QUALITY: Final = {"P@5": "P@5", "P@10": "P@10", "RR": "MRR"}
_EXAMPLES: Final = 2  # after the first of queries that are alike
PASSAGE_LENGTH: Final = 400  # characters of a hit's text that are kept


class Tally:
    """Statistics of the answers of a provider."""

    def __init__(self) -> None:
        self.seconds = array("d")
        self.batch = 1
        self._different = array("q")
        self._available: list[int | None] = []
        self._repeated = self._cut = 0
        self._disorders: Counter[Disorder] = Counter()
        self._costs: dict[str, list[float]] = {}
        self._uncountable: set[str] = set()
        self._failed = 0
        self._last_error = ""

    def add(self, ranking: Ranking, available: int | None = None) -> None:
        """Add an answer; `available` counts the chunks in the scope of its query, if it has one."""
        self.batch = max(self.batch, ranking.batch)
        self._repeated += ranking.repeated
        if ranking.outcome in FAILED:
            self._failed += 1
            self._last_error = ranking.error
        else:
            self.seconds.append(ranking.latency)
            self._cut += any(was_cut(hit.metadata) for hit in ranking.hits)
            self._different.append(ranking.returned - ranking.repeated)
            self._available.append(available)
            for name, amount in ranking.cost.items():
                if is_number(amount):
                    self._costs.setdefault(name, []).append(amount)
                elif is_whole(amount):
                    self._uncountable.add(name)  # of an older run: now it is an error
            if ranking.disorder:
                self._disorders[ranking.disorder] += 1

    @property
    def cost(self) -> dict[str, float]:
        """Mean cost of an answered query; a query without a cost counts as 0."""
        return {
            name: _divide_sum(amounts, len(self.seconds))
            for name, amounts in sorted(self._costs.items())
            if name not in self._uncountable
        }

    def warnings(self, k: int, available: int | None = None) -> list[str]:
        """Return warnings about answers that make a comparison unfair or a score doubtful."""
        found = []
        many = sum(count > k for count in self._different)
        if many:
            found.append(
                f"returned more than the {k} hits asked for in {_queries(many)}; cut to {k}"
            )
        few = sum(
            count < min(k, (available or 0) if there is None else there)
            for count, there in zip(self._different, self._available, strict=True)
        )
        if few:
            found.append(f"returned fewer than the {k} hits asked for in {_queries(few)}")
        if self._repeated:
            found.append(f"returned {self._repeated} hits more than once; the first counts")
        if self._cut:
            found.append(
                f"returned metadata nested deeper than {DEEPEST} levels in {_queries(self._cut)}; "
                "what is deeper was left out"
            )
        found += self._check_order()
        found += [
            f"reported a cost {name!r} too large for a number; it has no mean"
            for name in sorted(self._uncountable)
        ]
        if self._failed:
            verb = "scores" if self._failed == 1 else "score"
            words = f"{_queries(self._failed)} failed and {verb} 0"
            found.append(f"{words}; the last: {self._last_error}")
        return found

    def _check_order(self) -> list[str]:
        queries = _queries(len(self._different))
        tied = self._disorders["tied"]
        wrong = self._disorders.total() - tied
        found = []
        if wrong and self._disorders["reversed"] == wrong:
            found.append(
                f"the hits of {wrong} of {queries} have scores that increase from first to last; "
                "they look like distances: give 1 - distance, or negate them; the highest score "
                "ranks first"
            )
        elif wrong:
            found.append(
                f"the hits of {wrong} of {queries} are not in the order of their scores; the "
                "scores decide: is the score the one that the hits were ranked by?"
            )
        if tied:
            found.append(
                f"hits of equal scores were moved in {tied} of {queries}: they are ordered by id, "
                "the highest first, as trec_eval does; to keep the order of the answer, give "
                "scores that differ, or none"
            )
        return found


def _divide_sum(amounts: list[float], count: int) -> float:
    try:
        return math.fsum(amounts) / count
    except OverflowError:  # only the sum overflows: the quotient is at most the largest amount
        return float(sum(map(Fraction, amounts)) / count)


def _queries(count: int) -> str:
    return pluralize(count, "query")


def all_metrics(scored: Sequence[str]) -> list[str]:
    """Return the requested metrics and those that every run has or logs."""
    return list(dict.fromkeys((*scored, *STANDARD, *CURVE)))


def scored_metrics(plan: Plan, file: Path) -> list[str]:
    """Return the metrics of the plan, and those added to this file of scores since.

    A missing or damaged file adds nothing.
    """
    try:
        before = Scores.from_dict(read_json_object(file), str(file)) if file.exists() else None
    except DataError:
        before = None
    asked = set(map(str, parse_metrics(plan.scored)))
    added = [name for name in before.metrics if name not in asked] if before else []
    spelled = {name: text for text, name in before.spellings.items()} if before else {}
    return [*plan.scored, *(spelled.get(name, name) for name in added if _is_known(name))]


def _is_known(metric: str) -> bool:
    try:
        parse_metrics([metric])
    except MetricError as error:
        log.warning("%s cannot be computed again and is dropped: %s", metric, error)
        return False
    return True


class Passages:
    """The texts of hits and of missed targets for display, each kept once."""

    def __init__(self) -> None:
        self._places: dict[Passage, int] = {}
        self._targets: set[str] = set()

    def add(self, hit: Hit) -> int | None:
        """Add the passage of a hit and return its index; None if the hit has no text."""
        if not hit.text:
            return None
        return self._keep(hit.text, " > ".join([hit.doc_id, *hit.section]) if hit.doc_id else "")

    def add_target(self, target: Target, targets: Targets) -> None:
        """Add the text of a target by its name, if it is known."""
        name = name_target(target)
        if name in self._targets:
            return
        self._targets.add(name)
        if text := next(filter(None, map(targets.read, target.members)), ""):
            self._keep(text, name)

    def _keep(self, text: str, name: str) -> int:
        if len(text) > PASSAGE_LENGTH:
            text = f"{text[: PASSAGE_LENGTH - 1]}…"
        return self._places.setdefault(Passage(text, name), len(self._places))

    def __iter__(self) -> Iterator[Passage]:
        return iter(self._places)


class Recorder:
    """Builds the record of a provider from its judged answers, in the order of the queries."""

    def __init__(
        self,
        queries: Sequence[Query],
        answers: Answers,
        passages: Passages,
        scopes: ScopeTally,
        targets: Targets,
    ) -> None:
        self._targets = targets
        self._query_of = {query.id: query for query in queries}
        self._answers = answers
        self._passages = passages
        self._scopes = scopes
        self._built = AnswersBuilder()
        self.strategies: dict[str, str] = {}
        self.tally = Tally()

    def add(self, query_id: str, hits: Sequence[Hit], judged: Judged) -> None:
        """Add an answer."""
        ranking = self._answers.ranking(query_id) if query_id in self._answers else None
        query = self._query_of[query_id]
        if ranking is not None:
            self.tally.add(ranking, self._scopes.count_chunks(query))
            self._scopes.add(query, hits)
            if ranking.outcome not in FAILED:
                self.strategies[query_id] = judged.strategy
        for one in judged.joined.missed:
            self._passages.add_target(one, self._targets)
        self._built.add(_build_answer(query, ranking, hits, judged, self._passages))

    def build_record(
        self, spec: ProviderSpec, depth: int, scored: Sequence[str], everything: Scores
    ) -> ProviderRecord:
        """Build the record of the provider, without warnings."""
        return ProviderRecord(
            name=spec.label,
            type=spec.type,
            chunker=spec.chunker,
            scores=everything.only(scored),
            standard=everything.only(standard_metrics(depth)),
            curve=tuple(everything.mean[name] for name in CURVE),
            answers=AnswerColumns.of(self._built),
            outcomes=self._answers.outcomes,
            latency=Latency.of(self.tally.seconds, self.tally.batch),
            cost=self.tally.cost,
            out_of_scope=self._scopes.share,
        )


def _build_answer(
    query: Query, ranking: Ranking | None, hits: Sequence[Hit], judged: Judged, passages: Passages
) -> AnswerRecord:
    given = (read_spelled(query.metadata, name) for name in ANSWER_FIELDS)
    known = next((str(value) for value in given if value), "")
    expected = known if judged.strategy == "token-fallback" else ""
    missed = tuple(
        MissedTarget(name_target(one), one.grade)
        for one in sorted(judged.joined.missed, key=lambda one: -one.grade)
    )
    found = tuple(
        FoundTarget(name_target(one), one.grade, rank)
        for one, rank in sorted(judged.joined.found, key=lambda one: (-one[0].grade, one[1]))
    )
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
                passage=passages.add(hit),
            )
            for place, hit in enumerate(hits)
        ),
        missed,
        None if ranking.outcome in FAILED else ranking.latency,
        ranking.error,
        expected,
        ranking.cost,
        found,
        ranking.answer,
        tuple(
            StageAnswer(
                one.name, tuple(hit.id for hit in one.hits), tuple(hit.score for hit in one.hits),
                one.latency, one.cost,
            )
            for one in ranking.stages
        ),
    )  # fmt: skip


def name_target(target: Target) -> str:
    """Return the name of a target in records."""
    return " or ".join(name_of(member.anchor) for member in target.members)


# Log lines and warnings about the scores.


def log_quality(scores: Scores, strategies: Mapping[str, str]) -> None:
    """Log the standard metrics, and in one line the queries without a relevant hit."""
    means = ", ".join(
        f"{shown}={numbers.format_metric(scores.mean[name])}" for name, shown in _QUALITY.items()
    )
    log.info("Quality metrics: %s", means)
    first = scores.per_query("RR")
    # With the token fallback, the relevant documents are unknown.
    wrong = [
        query
        for query, outcome in zip(scores.queries, scores.outcomes, strict=True)
        if query in strategies
        and first[query] == 0
        and (outcome != "no relevant documents" or strategies[query] == "token-fallback")
    ]
    if not wrong:
        return
    others = wrong[1:]
    named = ", ".join([*others[:_EXAMPLES], *["…"] * (len(others) > _EXAMPLES)])
    rest = f" (and {len(others):,} more like it: {named})" if others else ""
    text = "%s: Query %s returned no relevant results%s"
    log.warning(text, scores.run_name, wrong[0], rest)
    for query in others:
        log.debug(text, scores.run_name, query, "")


def warn_about_relevance(scores: Scores) -> list[str]:
    """Warn of queries without anything to find."""
    nothing = scores.outcome_counts["no relevant documents"]
    if not nothing:
        return []
    verbs = ("has", "scores") if nothing == 1 else ("have", "score")
    return [f"{_queries(nothing)} {verbs[0]} no relevant documents and {verbs[1]} 0"]


def warn_about_run_file(spec: ProviderSpec, outcomes: Mapping[str, int]) -> list[str]:
    """Warn of queries that a run file lacks: they look like queries without hits."""
    empty = outcomes.get("empty", 0) if PROVIDERS.canonical(spec.type) == "run-file" else 0
    if not empty:
        return []
    verbs = ("has", "scores") if empty == 1 else ("have", "score")
    queries = _queries(sum(outcomes.values()))
    return [f"{empty} of {queries} {verbs[0]} no hits in the run file and {verbs[1]} 0"]
