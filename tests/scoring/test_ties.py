"""The range of a metric covers all orders of tied documents."""

from __future__ import annotations

import itertools
import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval import audit, evaluate
from berryeval.data.run import RankingRule
from berryeval.metrics.profiles import Conventions
from berryeval.scoring import ties

AS_GIVEN = Conventions(RankingRule("given order"))
METRICS = ["P@2", "AP", "nDCG@3", "Success@1"]


def all_orders(row: dict[str, float]) -> list[dict[str, float]]:
    """Return the ranking in every order of its ties."""
    groups = [
        [document for document in row if row[document] == score]
        for score in sorted(set(row.values()), reverse=True)
    ]
    orders = itertools.product(*(itertools.permutations(group) for group in groups))
    return [{document: row[document] for group in order for document in group} for order in orders]


@settings(max_examples=40)
@given(
    st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([1.0, 2.0]), min_size=2, max_size=5),
    st.dictionaries(st.sampled_from("abcdefg"), st.integers(-1, 2), min_size=1),
)
def test_the_range_equals_all_permutations(row: dict[str, float], grades: dict[str, int]) -> None:
    report = audit({"q": grades}, {"q": row}, METRICS)
    for name in METRICS:
        values = [
            evaluate({"q": grades}, {"q": order}, [name], profile=AS_GIVEN).mean[name]
            for order in all_orders(row)
        ]
        found = report.tie_ranges[name]
        assert found.exact
        assert (found.worst, found.best) == (min(values), max(values))
        assert found.expected == pytest.approx(statistics.fmean(values), abs=1e-12)
        assert found.value == evaluate({"q": grades}, {"q": row}, [name]).mean[name]


def test_many_orders_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    row = {f"d{place:02}": 1.0 for place in range(16)}
    grades = {"d00": 1, "d01": 1, "d02": 2, "d15": 0}
    first = audit({"q": grades}, {"q": row}, ["nDCG@3", "P@3"])
    again = audit({"q": grades}, {"q": row}, ["nDCG@3", "P@3"])
    other = audit({"q": grades}, {"q": row}, ["nDCG@3", "P@3"], seed=1)
    found = first.tie_ranges["P@3"]
    assert not found.exact
    assert (found.worst, found.best) == (0.0, 1.0)
    assert found.expected == pytest.approx(3 / 16, abs=0.05)
    assert first.to_dict() == again.to_dict()
    assert found.expected != other.tie_ranges["P@3"].expected
    monkeypatch.setattr(ties, "EXACT_LIMIT", 10**6)
    exact = audit({"q": grades}, {"q": row}, ["P@3"]).tie_ranges["P@3"]
    assert exact.exact
    assert exact.expected == pytest.approx(3 / 16, abs=1e-12)


def test_ties_that_begin_in_the_top_k_are_listed() -> None:
    row = {"a": 5.0, "b": 4.0, "c": 4.0, "d": 3.0, "e": 3.0, "f": 3.0, "g": 1.0, "h": 1.0}
    report = audit({"q": {"b": 1, "d": 2, "f": 0, "e": 1}}, {"q": row}, k=4)
    assert [(tie.score, tie.ranks, tie.relevant, tie.crosses) for tie in report.ties] == [
        (4.0, (2, 3), 1, False),
        (3.0, (4, 6), 2, True),
    ]


def test_the_precision_of_the_profile_decides_ties() -> None:
    qrels, run = {"q": {"b": 1}}, {"q": {"a": 1.00000001, "b": 1.00000002}}
    assert not audit(qrels, run).ties
    (tie,) = audit(qrels, run, profile="trec_eval-9").ties
    assert tie.ranks == (1, 2)


def test_ties_of_equal_grades_have_no_effect() -> None:
    report = audit({"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "b": 1.0, "x": 0.5, "y": 0.5}})
    assert len(report.ties) == 2
    assert not report.tie_effects
    assert "nDCG@10 1.0000: ties change nothing" in report.text()
    assert report.tie_ranges["nDCG@10"].worst == report.tie_ranges["nDCG@10"].best == 1.0
