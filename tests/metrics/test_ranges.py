"""Between which ends metrics lie: what each declares holds for any ranking."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval._internal.intervals import Interval
from berryeval.data.qrels import Qrels
from berryeval.data.run import RankingRule, Run
from berryeval.metrics.catalogue import definitions, register
from berryeval.metrics.grammar import parse_metric
from berryeval.metrics.ranges import cut_to_range, range_of
from berryeval.scoring import engine
from tests.metrics.rankings import Rows, judged_runs, metrics_of

OF_RANKINGS = [name for name, one in definitions().items() if one.kind == "ranking"]
ROUNDING = 1e-9


@pytest.mark.parametrize("name", OF_RANKINGS)
@settings(max_examples=20)
@given(data=st.data(), rows=judged_runs())
def test_no_value_lies_beyond(name: str, data: Any, rows: tuple[Rows, Rows]) -> None:
    """Whatever the grades, the ranking and the parameters are."""
    qrels, run = rows
    metric = data.draw(metrics_of(definitions()[name]))
    low, high = metric.range
    judgments, results = Qrels.from_dict(qrels).table, Run.from_dict(run).table
    places = {query: place for place, query in enumerate(run)}
    for index, query in enumerate(qrels):
        judged = engine.judge(judgments, index, results, places.get(query), RankingRule())
        assert low - ROUNDING <= metric(judged) <= high + ROUNDING


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("ndcg_cut_10", (0, 1)),
        ("Unjudged@10", (0, 1)),
        ("RBP", (0, 1)),
        ("rbp.95", (-math.inf, math.inf)),
        ("nDCG(gains={1:-1})", (-math.inf, math.inf)),
        ("TokensToHit(budget=500)", (0, 500)),
        ("NumRelRet", (0, math.inf)),
        ("GMAP", (1e-5, 1)),
        ("NobodyKnows", (-math.inf, math.inf)),
    ],
)
def test_ends_follow_the_parameters(name: str, ends: tuple[float, float]) -> None:
    """Where a parameter may move the value out of the usual ends, they are others."""
    assert range_of(name) == ends


def test_a_metric_of_your_own_may_have_ends() -> None:
    """As it is declared; without, it has none."""
    register("HalfAsGood", within=(0.0, 0.5))(lambda judged: 0.5 * bool(judged.hits))
    assert parse_metric("HalfAsGood").range == (0.0, 0.5)


def test_a_sum_is_cut_to_the_range_of_a_run() -> None:
    """The ends are of the value of a run, as where a rule is refused; what was found is in it."""
    register("SumToTen", aggregate="sum", within=(0.0, 10.0))(lambda judged: float(judged.hits))
    wide = Interval(-3.0, 14.0)
    assert cut_to_range(wide, "SumToTen", "sum", np.array([2.0, 4.0])) == (0.0, 10.0)
    assert cut_to_range(wide, "SumToTen", "sum", np.array([6.0, 6.0])) == (0.0, 12.0)
