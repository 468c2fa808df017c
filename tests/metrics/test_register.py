"""Registered metrics."""

from __future__ import annotations

from typing import Any

import pytest

from berryeval.data.judged import JudgedRanking
from berryeval.errors import MetricError
from berryeval.metrics.catalogue import definitions, register
from berryeval.metrics.grammar import parse_metric
from berryeval.scoring.engine import evaluate


def last_rank(judged: JudgedRanking, *, rel: Any = 1.0, cutoff: Any = None) -> float:
    """Return the rank of the last relevant document."""
    return max(judged.relevant_ranks(rel, cutoff), default=0)


def test_a_registered_function_is_a_metric() -> None:
    # As in a file without `from __future__ import annotations`: types instead of texts.
    last_rank.__annotations__.update({"rel": float, "cutoff": int | None})
    register("LastRankOfTest", text="rank of the last relevant document", aggregate="sum")(
        last_rank
    )
    assert str(parse_metric("lastrankoftest(rel=2)@5")) == "LastRankOfTest(rel=2)@5"
    assert not definitions()["LastRankOfTest"].native
    qrels = {"q": {"a": 1, "b": 2, "c": 1}, "r": {"a": 1}}
    run = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}, "r": {"a": 1.0}}
    scores = evaluate(qrels, run, ["LastRankOfTest", "LastRankOfTest(rel=2)", "P@1"])
    assert dict(scores.mean) == {"LastRankOfTest": 4, "LastRankOfTest(rel=2)": 2, "P@1": 1}


def test_a_parameter_without_annotation_has_the_type_of_its_default() -> None:
    def share(judged: JudgedRanking, *, weight=0.5) -> float:  # type: ignore[no-untyped-def] # noqa: ANN001
        return float(weight * judged.retrieved)

    register("WeightOfTest")(share)
    assert parse_metric("WeightOfTest(weight=2)")(JudgedRanking([], 3, [])) == 6
    with pytest.raises(MetricError, match="weight of WeightOfTest must be a number, found 'x'"):
        parse_metric("WeightOfTest(weight=x)")


def test_an_existing_name_is_rejected() -> None:
    with pytest.raises(MetricError, match=r"a metric 'NDCG' already exists \(nDCG\)"):
        register("NDCG")


@pytest.mark.parametrize("name", ["", "a b", "X@5", "top_5", "9x", "query", "Outcome"])
def test_invalid_names_are_rejected(name: str) -> None:
    with pytest.raises(MetricError, match=r"cannot be the name of a metric"):
        register(name)


def test_an_unknown_aggregate_is_rejected() -> None:
    with pytest.raises(MetricError, match=r"^aggregate must be one of mean, sum, geometric mean"):
        register("Middle", aggregate="median")  # type: ignore[arg-type]


def test_an_unknown_direction_is_rejected() -> None:
    with pytest.raises(MetricError, match=r"^better must be one of higher, lower, neither, found"):
        register("Sideways", better="left")  # type: ignore[arg-type]
