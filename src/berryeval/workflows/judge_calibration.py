"""`calibrate_judge`: whether a model may judge a benchmark in place of humans."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import HUMAN, OWN, Question, calibrate, find_scale, key_of, read_both
from berryeval.workflows.judge_agreement import (
    JudgedPairs,
    find_systems,
    read_judges,
    score_systems,
)

if TYPE_CHECKING:
    from berryeval.judging import Calibration, PairKey, Vote
    from berryeval.scoring import Scores
    from berryeval.workflows.systems import Candidate


@dataclass(frozen=True)
class JudgeCalibrated:
    """A calibration, the benchmark that it is about, and remarks."""

    benchmark: str
    calibration: Calibration
    notes: tuple[str, ...] = ()


def calibrate_judge(
    judge: str | None = None,
    benchmark: str | None = None,
    ledger: str | None = None,
    *,
    against: str = HUMAN,
    what: Question = "relevance",
    runs: Sequence[str] = (),
    metric: str = "",
    seed: int = 0,
) -> JudgeCalibrated:
    """Compare the votes of a model with those of humans, and say whether to use the model.

    Args:
        judge: The model judge; by default the only one there is.
        benchmark: The benchmark; by default that of the only ledger in the current folder.
        ledger: Folder or store with the votes; by default beside the benchmark.
        against: "human" for what humans decided; the name of a judge; "benchmark" for the
            benchmark's own judgments.
        what: Votes on the relevance of passages, or on the "faithfulness" of answers, or how far an
            "answer" agrees with the expected one.
        runs: Runs whose systems are scored under both; by default those of the pool.
        metric: Metric of these scores; by default that of the pool, else nDCG@10.
        seed: Random seed.
    """
    data = read_judges(benchmark, ledger, what)
    model = judge or find_model(data)
    votes = select_votes(data, against)
    if what != "relevance" and against == HUMAN and all(one.kind != "human" for one in votes):
        raise DataError(
            f"no human has judged an answer, so {model!r} cannot be compared with humans; add "
            "their votes in Python with Ledger.append (docs/judging.md), or name another judge "
            "with --against"
        )
    human, graded = read_both(votes, model, against)
    shared = human.keys() & graded.keys()
    if not shared:
        who = "humans" if against == HUMAN else against
        raise DataError(f"{model} and {who} have no pair in common, so they cannot be compared")
    if what != "relevance":
        scores = _score_answers(data.votes, model, human, graded)
        found = calibrate(
            votes, model, against=against, scores=scores, metric="the mean grade",
            categories={query.id: query.category for query in data.benchmark.queries},
            scale=tuple(find_scale(what)), seed=seed,
        )  # fmt: skip
        return JudgeCalibrated(data.benchmark.name, found)
    systems, notes = find_systems(data, runs)
    name = data.choose_metric(metric)
    scores = {}
    if systems:
        queries = {key[0] for key in shared}
        tables = score_twice(
            replace(data, votes=tuple(votes)), systems, [name], model, against, shared
        )
        scores = {
            label: (_pick(one, name, queries), _pick(other, name, queries))
            for label, (one, other) in tables.items()
        }
    found = calibrate(
        votes,
        model,
        against=against,
        categories={query.id: query.category for query in data.benchmark.queries},
        scores=scores,
        metric=name,
        scale=data.grades,
        seed=seed,
    )
    return JudgeCalibrated(data.benchmark.name, found, (*data.notes, *notes))


def _score_answers(
    votes: Sequence[Vote],
    model: str,
    human: Mapping[PairKey, float],
    graded: Mapping[PairKey, float],
) -> dict[str, tuple[dict[str, float], dict[str, float]]]:
    """Return the grades of each system's answers by query, by humans and by the model."""
    scores: dict[str, tuple[dict[str, float], dict[str, float]]] = {}
    for vote in votes:
        key, system = key_of(vote.query_id, vote.target), vote.extra.get("system")
        if vote.judge == model and system and key in human and key in graded:
            given, own = scores.setdefault(str(system), ({}, {}))
            given[vote.query_id], own[vote.query_id] = human[key], graded[key]
    return scores


def find_model(data: JudgedPairs) -> str:
    """Return the only model that has judged; reject none and several."""
    models = list(dict.fromkeys(vote.judge for vote in data.votes if vote.kind == "llm"))
    if len(models) == 1:
        return models[0]
    found = f"there are {', '.join(models)}" if models else "no model has judged"
    raise ConfigurationError(f"name the model judge with --judge NAME; {found}")


def select_votes(data: JudgedPairs, against: str) -> list[Vote]:
    """Return the votes; the benchmark's own judgments count only if they are asked for."""
    return [vote for vote in data.votes if vote.judge != OWN or against == OWN]


def score_twice(
    data: JudgedPairs,
    systems: Sequence[Candidate],
    metrics: Sequence[str],
    model: str,
    against: str,
    keys: Collection[PairKey] | None = None,
) -> dict[str, tuple[Scores, Scores]]:
    """Score systems under human and under model judgments, of these pairs only."""
    own = [vote for vote in data.votes if vote.judge == model]
    others = [vote for vote in data.votes if vote.judge != model]
    if against == HUMAN:
        others = [vote for vote in others if vote.kind == "human"]
    else:
        others = [vote for vote in others if vote.judge == against]
    one = score_systems(systems, data.apply_votes(others, keys), metrics)
    other = score_systems(systems, data.apply_votes(own, keys), metrics)
    return {label: (one[label], other[label]) for label in one}


def _pick(scores: Scores, metric: str, queries: Collection[str]) -> dict[str, float]:
    return {query: value for query, value in scores.per_query(metric).items() if query in queries}
