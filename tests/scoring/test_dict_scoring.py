"""Dicts and tuples of one run have the same scores, and scorers keep nothing of them."""

from __future__ import annotations

import contextlib
import gc
import random
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from berryeval._internal import backend
from berryeval.data import RankingRule
from berryeval.metrics import parse_metrics
from berryeval.scoring import DictPlan, DictScorer, TupleRows

FIELDS = (0, 1, 2)
METRICS = {str(one): one for one in parse_metrics(["nDCG@10", "AP", "P@10", "RR", "NumRet"])}
RULES = [
    RankingRule(single_precision=True),
    RankingRule("document ascending"),
    RankingRule("given order", depth=7),
]


def draw(seed: int, documents: int) -> tuple[list[Any], list[Any]]:
    """Return rows of judgments and of a run, with ties; odd seeds mix queries and repeat rows."""
    chance = random.Random(seed)
    names = [f"d{number}é" if number % 7 == 0 else f"d{number}" for number in range(documents)]
    qrels = [(f"q{q}", name, chance.randint(-1, 40)) for q in range(4) for name in names[::2]]
    run = [(f"q{q}", name, chance.randint(0, 9) / 4) for q in range(1, 5) for name in names]
    if seed % 2:
        run += chance.choices(run, k=3)
        qrels += chance.choices(qrels, k=3)
        chance.shuffle(run)
        chance.shuffle(qrels)
    return qrels, run


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("documents", [2, 12, 30, 90, 300])
@pytest.mark.parametrize("seed", [0, 1])
def test_tuples_have_the_scores_of_dicts(rule: RankingRule, documents: int, seed: int) -> None:
    """Also for queries in any order, repeated documents, few and many rows."""
    plan = DictPlan(METRICS, rule)
    qrels, run = (TupleRows(rows, FIELDS) for rows in draw(seed, documents))
    scorer = DictScorer(qrels, plan)
    grouped = DictScorer(qrels.group(), plan)
    found = scorer.score(run)
    assert repr(found) == repr(grouped.score(run.group()))
    assert list(found) == [query for query in run.group() if query in qrels.group()]
    assert sorted(scorer.queries) == sorted(qrels.group())


@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("documents", [2, 12, 30, 90, 300])
def test_the_backends_give_the_same_bytes(
    rule: RankingRule, documents: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = DictPlan(METRICS, rule)
    with monkeypatch.context() as python:
        python.setattr(backend, "native", None)
        reference = DictPlan(METRICS, rule)
    for seed in (2, 3):
        qrels, run = (TupleRows(rows, FIELDS).group() for rows in draw(seed, documents))
        found = DictScorer(qrels, plan).score(run)
        expected = DictScorer(qrels, reference)
        assert expected._native is None
        assert repr(found) == repr(expected.score(run))


def test_a_scorer_keeps_no_reference_to_what_it_read() -> None:
    qrels, run = draw(0, 20)
    plan = DictPlan(METRICS, RULES[0])
    watched = [qrels[0][0], qrels[0][1], run[0][0], run[0][1], run, qrels, plan]

    def count() -> list[int]:
        return [sys.getrefcount(one) for one in watched]

    def score(rows: Any) -> None:
        scorer = DictScorer(rows, plan)
        scorer.score(TupleRows(run, FIELDS))
        scorer.score(TupleRows(run, FIELDS).group())
        with contextlib.suppress(TypeError):
            DictScorer({"q": {qrels[0][1]: 1, "x": None}}, plan)  # type: ignore[dict-item]

    before = count()
    for _ in range(50):
        score(TupleRows(qrels, FIELDS))
        score(TupleRows(qrels, FIELDS).group())
    gc.collect()
    assert count() == before


@pytest.mark.parametrize("rows", [[("q", "d")], [("q", "d", "x")], [("q", 1, 1)], [["q", "d", 1]]])
def test_faulty_tuples_are_errors(rows: Any) -> None:
    plan = DictPlan(METRICS, RULES[0])
    with pytest.raises((TypeError, ValueError, IndexError)):
        DictScorer(TupleRows(rows, FIELDS), plan)
    with pytest.raises((TypeError, ValueError, IndexError)):
        DictScorer({"q": {"d": 1}}, plan).score(TupleRows(rows, FIELDS))


def test_threads_share_a_scorer() -> None:
    qrels, run = (TupleRows(rows, FIELDS) for rows in draw(4, 200))
    scorer = DictScorer(qrels, DictPlan(METRICS, RULES[0]))
    expected = scorer.score(run)
    with ThreadPoolExecutor(4) as pool:
        assert all(found == expected for found in pool.map(scorer.score, [run, run.group()] * 20))
