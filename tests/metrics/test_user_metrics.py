"""Registered metrics mixed with built-in ones."""

# No `from __future__ import annotations`: users' annotations may be types or strings.

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import berryeval as be
from berryeval.data.judged import JudgedRanking
from berryeval.errors import MetricError
from berryeval.metrics import catalogue

QRELS = {"q1": {"a": 1.0, "b": 2.0}, "q2": {"x": 1.0}}
RUN = {"q1": {"z": 3.0, "b": 2.0, "a": 1.0}, "q2": {"y": 1.0}}


@pytest.fixture(autouse=True)
def no_registrations_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalogue, "_registered", {})


def register_share() -> None:
    """Register a metric with a cutoff and two parameters."""

    @be.metric("Share", text="relevant in the top k, by weight", aliases=["quota"])
    def share(
        judged: JudgedRanking, *, cutoff: int, rel: float = 1.0, weight: float = 1.0
    ) -> float:
        return weight * len(judged.relevant_ranks(rel, cutoff)) / cutoff


def test_a_registered_metric_mixes_with_native_ones() -> None:
    register_share()
    scores = be.evaluate(QRELS, RUN, ["P@2", "Share@2", "quota_2", "Share(rel=2,weight=4)@2", "AP"])
    assert scores.metrics == ("P@2", "Share@2", "Share(rel=2,weight=4)@2", "AP")
    assert scores.per_query("Share@2") == scores.per_query("P@2") == {"q1": 0.5, "q2": 0.0}
    assert scores.per_query("Share(rel=2,weight=4)@2") == {
        "q1": 2.0,
        "q2": 0.0,
    }
    assert scores.mean["quota_2"] == 0.25
    assert scores.mean["AP"] == (1 / 2 + 2 / 3) / 2 / 2


def test_a_registered_metric_scores_a_file(tmp_path: Path) -> None:
    register_share()
    lines = ["q1 Q0 z 1 3 t", "q1 Q0 b 2 2 t", "q1 Q0 a 3 1 t", "q2 Q0 y 1 1 t", ""]
    path = tmp_path / "run"
    path.write_text("\n".join(lines))
    assert be.evaluate(QRELS, path, ["Share@2", "AP"]).values.tolist() == (
        be.evaluate(QRELS, RUN, ["Share@2", "AP"]).values.tolist()
    )


@pytest.mark.parametrize("aggregate", ["mean", "sum", "geometric mean"])
def test_a_registered_metric_declares_its_aggregate(aggregate: Any) -> None:
    @be.metric("Grades", aggregate=aggregate)
    def grades(judged: JudgedRanking) -> int:
        return len(judged.grades)

    expected = {"mean": 1.5, "sum": 3.0, "geometric mean": math.sqrt(2)}
    assert be.evaluate(QRELS, RUN, ["Grades"]).mean["Grades"] == pytest.approx(expected[aggregate])


@pytest.mark.parametrize(
    ("formula", "said"),
    [
        (lambda judged: 1 / len(judged.hits), "failed for query 'q2': ZeroDivisionError: division"),
        (lambda _: math.nan, "of query 'q1' must be a finite number, found nan"),
        (lambda _: math.inf, "of query 'q1' must be a finite number, found inf"),
        (lambda _: "0.5", ("failed for query 'q1': TypeError: a metric must return a number, "
                          "found str '0.5'")),
        (lambda _: None, "a metric must return a number, found NoneType None"),
    ],
)  # fmt: skip
def test_a_failing_metric_is_named_with_its_query(
    formula: Callable[[JudgedRanking], float], said: str
) -> None:
    be.metric("Mine")(formula)
    with pytest.raises(MetricError, match=r"^Mine ") as caught:
        be.evaluate(QRELS, RUN, ["P@2", "Mine"])
    assert said in str(caught.value)


def test_names_and_aliases_cannot_be_replaced() -> None:
    register_share()
    for name, aliases in [("ndcg", []), ("Share", []), ("New", ["MAP"]), ("QUOTA", [])]:
        with pytest.raises(MetricError, match=r"a metric .* already exists"):
            be.metric(name, aliases=aliases)


def test_an_unknown_annotation_is_rejected() -> None:
    with pytest.raises(MetricError, match="the parameter 'table' of Mine must be annotated with"):

        @be.metric("Mine")
        def mine(judged: JudgedRanking, *, table: dict[str, int]) -> float:
            return float(judged.retrieved + len(table))


def test_parameters_of_a_registered_metric_are_checked() -> None:
    register_share()
    with pytest.raises(
        MetricError, match="cutoff of Share must be an integer from 1 to 10000000, found 0"
    ):
        be.parse_metric("Share@0")
    with pytest.raises(MetricError, match="Share needs a cutoff, as in Share@10"):
        be.parse_metric("Share")
