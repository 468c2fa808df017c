"""Calibration of a model judge: bias, its significance, and the verdict."""

from __future__ import annotations

from dataclasses import replace

import pytest

from berryeval.data import Anchor
from berryeval.judging import TRUST, Vote, agreement, calibrate


def list_pairs(
    shift: float, queries: int = 30, pairs: int = 3, grades: tuple[int, ...] = (0, 1, 2)
) -> list[Vote]:
    """Votes of a person, and of a model that is higher by the same shift everywhere."""
    votes = []
    for place in range(queries * pairs):
        query, target = f"q{place // pairs}", Anchor(document=f"d{place}")
        grade = grades[place * 7 % len(grades)]
        votes.append(Vote(query, target, grade, "ann"))
        votes.append(Vote(query, target, grade + shift, "bot", "llm"))
    return votes


def test_a_constant_bias_is_significant() -> None:
    """A model that is always one grade higher does not vary, and its bias is certain."""
    found = calibrate(list_pairs(1), "bot", metric="nDCG@10")
    assert found.overall.value == 1
    assert found.overall.significant
    assert found.overall.interval is None
    assert found.advice == "use it with correction"
    assert [one.value for one in found.grades] == [1, 1, 1]


def test_no_bias_is_not_significant() -> None:
    """A model that gives the same grades has no bias, and may be used if no system is favoured."""
    same = {f"q{place}": (place % 5) / 4 for place in range(30)}
    scores = {"old": (same, same), "new": (same, same)}
    found = calibrate(list_pairs(0), "bot", scores=scores, metric="nDCG@10")
    assert found.overall.p == 1
    assert [one.significant for one in found.favours] == [False]
    assert found.advice == "use it"


def test_few_pairs_that_differ_alike_prove_nothing() -> None:
    """Two queries with the same difference have no p-value."""
    found = calibrate(list_pairs(1, queries=2), "bot")
    assert found.overall.p is None
    assert not found.overall.significant


def test_pairs_of_one_query_are_dependent() -> None:
    """The interval of three queries with many pairs is that of three, not of sixty."""
    votes = []
    for place in range(60):
        query, target = f"q{place // 20}", Anchor(document=f"d{place}")
        votes.append(Vote(query, target, place % 3, "ann"))
        votes.append(Vote(query, target, place % 3 + place // 20, "bot", "llm"))
    found = calibrate(votes, "bot").overall
    assert found.value == 1
    assert found.interval is not None
    # Means of the queries are 0, 1 and 2: a standard error of 1 / sqrt(3), and t with 2 degrees.
    assert found.interval.high == pytest.approx(1 + 4.302653 / 3**0.5, abs=1e-4)
    assert not found.significant


def build_scores(
    queries: int, gaps: list[float]
) -> dict[str, tuple[dict[str, float], dict[str, float]]]:
    """Scores of two systems; the model is off by these, in turn, for the second."""
    human = {f"q{place}": 0.2 for place in range(queries)}
    model = {f"q{place}": 0.2 + gaps[place % len(gaps)] for place in range(queries)}
    return {"old": (human, human), "new": (human, model)}


@pytest.mark.parametrize(
    ("queries", "pairs", "advice", "reason"),
    [
        (1, 60, "do not use it", "fewer than 10 queries"),
        (4, 15, "do not use it", "fewer than 10 queries"),
        (12, 10, "use it with correction", "only 12 queries judged by both, and 20 are needed"),
    ],
)
def test_few_queries_do_not_prove_a_model(
    queries: int, pairs: int, advice: str, reason: str
) -> None:
    """Many pairs of few queries, on which the model is right, are not enough to use it."""
    votes = list_pairs(0, queries=queries, pairs=pairs)
    found = calibrate(votes, "bot", scores=build_scores(queries, [0]), metric="nDCG@10")
    assert found.advice == advice
    assert reason in found.sentence


def test_few_relevant_pairs_do_not_prove_a_model() -> None:
    """A model that agrees on 195 pairs without relevance is not known to see relevance."""
    votes = list_pairs(0, queries=20, pairs=10, grades=(0,) * 39 + (3,))
    found = calibrate(votes, "bot", scores=build_scores(20, [0]), metric="nDCG@10")
    assert found.advice == "use it with correction"
    assert "only 5 pairs with another grade than the most common one" in found.sentence


def test_a_model_that_may_be_biased_needs_the_correction() -> None:
    """Biases that are not significant, but may be large, need the correction."""
    found = calibrate(
        list_pairs(0), "bot", scores=build_scores(30, [0.5, -0.4, -0.05]), metric="nDCG@10"
    )
    assert not found.favours[0].significant
    assert found.advice == "use it with correction"
    assert "it may favour new over old by nDCG@10 more than 0.05" in found.sentence
    votes = [
        replace(vote, grade=vote.grade + (2, 0, -2)[int(vote.query_id[1:]) % 3])
        if vote.kind == "llm" and vote.grade is not None
        else vote
        for vote in list_pairs(0, grades=(2, 4, 6))
    ]
    found = calibrate(votes, "bot", scores=build_scores(30, [0]), metric="nDCG@10", scale=range(9))
    assert "its grades may be more than 5 % of the scale off on average" in found.sentence


def test_the_interval_of_kappa_counts_queries() -> None:
    """A model that misreads whole queries: the interval is wider than with pairs at random."""
    votes = []
    for place in range(300):
        query, target, grade = f"q{place // 10}", Anchor(document=f"d{place}"), place % 4
        wrong = place // 10 % 5 == 0
        votes.append(Vote(query, target, grade, "ann"))
        votes.append(Vote(query, target, 3 - grade if wrong else grade, "bot", "llm"))
    kappa = calibrate(votes, "bot").agreement.measures["kappa quadratic"].interval
    plain = agreement(votes).measures["kappa quadratic"].interval
    assert kappa is not None
    assert plain is not None
    assert kappa.high - kappa.low > 1.5 * (plain.high - plain.low)


def test_the_thresholds_are_in_one_place() -> None:
    """The page that explains the verdict has the thresholds of the rule."""
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "judging.md").read_text(encoding="utf-8")
    assert f"fewer than {TRUST.pairs} pairs of {TRUST.fewest} queries" in page
    assert f"{TRUST.queries} queries or more" in page
    assert f"{TRUST.unlike} pairs or more" in page
    assert f"more than {TRUST.favour:g}" in page
    assert f"reaches below {TRUST.fair:g}" in page
    assert f"stays above {TRUST.good:g}" in page
    assert f"less than {TRUST.bias:.0%}".replace("%", " %") in page
