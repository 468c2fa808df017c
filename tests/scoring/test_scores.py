"""`Scores`: aggregates, intervals, groups, outcomes and conversions."""

from __future__ import annotations

import json
import math
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval import Scores, evaluate
from berryeval._internal.aggregates import aggregate, bootstrap_interval, t_interval
from berryeval.errors import DataError, MissingDependencyError

if TYPE_CHECKING:
    from berryeval.scoring.scores import Outcome

QRELS = {"q1": {"a": 2.0, "b": 1.0, "c": 0.0}, "q2": {"x": 1.0}, "q3": {"z": 0.0}, "q4": {"m": 1.0}}
RUN = {
    "q1": {"a": 3.0, "d": 2.0, "b": 1.0},
    "q2": {"x": 1.0},
    "q3": {"z": 1.0},
    "q9": {"z": 1.0},
}
AP_OF_Q1 = (1 + 2 / 3) / 2


def scored() -> Scores:
    """Score two ordinary queries, one without relevant documents, one missing and one extra."""
    return evaluate(QRELS, RUN, ["P@1", "map"])


def table(values: list[float], how: str = "mean") -> Scores:
    count = len(values)
    outcomes: list[Outcome] = ["ok"] * count
    return Scores(
        metrics=("M",),
        queries=tuple(f"q{place:03}" for place in range(count)),
        values=np.array([values], dtype=np.float64).reshape(1, count),
        aggregates=(how,),
        outcomes=tuple(outcomes),
        counts=np.ones((count, 4), dtype=np.int64),
    )


def test_counts_and_outcomes() -> None:
    scores = scored()
    assert scores.count == len(scores) == 4
    assert scores.outcomes == ("ok", "ok", "no relevant documents", "missing")
    assert scores.outcome_counts == {
        "ok": 2, "empty": 0, "missing": 1, "no relevant documents": 1,
    }  # fmt: skip
    assert scores.with_outcome("missing") == ["q4"]
    assert scores.extra_queries == ("q9",)
    assert (scores.retrieved, scores.unjudged) == (5, 1)


def test_mean_sum_and_standard_deviation() -> None:
    scores = scored()
    assert scores.mean["AP"] == scores.mean["map"] == (AP_OF_Q1 + 1) / 4
    assert scores.sum["P@1"] == 2.0
    assert scores.std["P@1"] == pytest.approx(math.sqrt(1 / 3), abs=1e-15)


@pytest.mark.parametrize(("how", "value"), [("mean", 7 / 3), ("sum", 7.0), ("geometric mean", 2.0)])
def test_aggregates_follow_the_metric(how: str, value: float) -> None:
    assert table([1.0, 2.0, 4.0], how).mean["M"] == pytest.approx(value, abs=1e-15)


@pytest.mark.parametrize("how", ["mean", "sum", "geometric mean"])
@pytest.mark.parametrize("method", ["bootstrap", "t"])
@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5], [0.0, 1.0], [0.0, 0.0]])
def test_intervals_are_never_nan(
    how: str, method: Literal["bootstrap", "t"], values: list[float]
) -> None:
    scores = table(values, how)
    low, high = scores.ci("M", method=method)
    assert math.isfinite(low)
    assert low <= scores.mean["M"] <= high
    assert math.isfinite(scores.std["M"])
    json.dumps(scores.summary(), allow_nan=False)


def test_the_bootstrap_is_deterministic() -> None:
    scores = table([0.1, 0.4, 0.35, 0.8, 0.0, 0.9, 0.62])
    assert (
        scores.ci("M")
        == scores.ci("M", seed=0)
        == table(list(scores.per_query("M").values())).ci("M")
    )
    assert scores.ci("M") != scores.ci("M", seed=1)


def test_the_bootstrap_equals_all_resamples() -> None:
    """Three values have 27 resamples."""
    values = np.array([0.0, 0.3, 0.9])
    means = sorted(float(np.mean([a, b, c])) for a in values for b in values for c in values)
    assert bootstrap_interval("mean", values, 0.95).low == pytest.approx(means[0], abs=1e-12)
    low, high = bootstrap_interval("mean", values, 0.8)
    assert low == pytest.approx(means[2], abs=1e-12)
    assert high == pytest.approx(means[24], abs=1e-12)


def test_t_interval_by_hand() -> None:
    """Mean 2, standard error 1/sqrt(3), t(0.975, 2) = 4.302652729911275."""
    low, high = table([1.0, 2.0, 3.0]).ci("M", method="t")
    reach = 4.302652729911275 / math.sqrt(3)
    assert [low, high] == pytest.approx([2 - reach, 2 + reach])
    low_sum, high_sum = t_interval("sum", np.array([1.0, 2.0, 3.0]), 0.95)
    assert [low_sum, high_sum] == pytest.approx([6 - 3 * reach, 6 + 3 * reach])


def test_the_t_interval_is_clipped_to_the_range() -> None:
    unknown = table([0.0, 1.0, 0.25])
    low, high = unknown.ci("M", method="t")
    assert low < 0.0
    assert high > 1.0
    known = replace(unknown, metrics=("RR",))
    assert known.ci("RR", method="t") == (0.0, 1.0)
    assert replace(known, aggregates=("sum",)).ci("RR", method="t") == (0.0, 3.0)
    assert replace(table([5.0, 7.0]), metrics=("RR",)).ci("RR", method="t") == (0.0, 7.0)


def test_t_interval_of_a_geometric_mean() -> None:
    logs = table([0.0, 1.0, 2.0]).ci("M", method="t")
    low, high = table([1.0, math.e, math.e**2], "geometric mean").ci("M", method="t")
    assert [math.log(low), math.log(high)] == pytest.approx([logs.low, logs.high])


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.floats(0.5, 0.95))
def test_a_higher_level_widens_the_interval(values: list[float], level: float) -> None:
    numbers = np.array(values)
    inner = bootstrap_interval("mean", numbers, level)
    outer = bootstrap_interval("mean", numbers, (1 + level) / 2)
    slack = 1e-12
    assert min(values) - slack <= outer.low <= inner.low + slack
    assert inner.high - slack <= outer.high <= max(values) + slack


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, math.nan])
def test_an_invalid_level_is_rejected(level: float) -> None:
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        scored().ci("AP", level)


def test_unknown_choices_are_rejected() -> None:
    with pytest.raises(ValueError, match="must be 'bootstrap' or 't', found 'z'"):
        scored().ci("AP", method="z")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be 'pandas' or 'polars', found 'arrow'"):
        scored().to_frame("arrow")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match=r"'RR' was not computed; computed are P@1, AP"):
        scored().ci("RR")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.stats", None)
    with pytest.raises(MissingDependencyError, match='needs scipy: pip install "scipy>='):
        scored().ci("AP", method="t")
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(ImportError, match=r'needs polars: pip install "polars"$'):
        scored().to_frame("polars")


def test_groups_hold_every_query_once() -> None:
    groups = scored().by({"q1": "fact", "q4": "fact", "q3": "code", "nobody": "x"})
    assert {label: part.queries for label, part in groups.items()} == {
        "code": ("q3",), "fact": ("q1", "q4"), "unspecified": ("q2",),
    }  # fmt: skip
    assert groups["fact"].mean["map"] == AP_OF_Q1 / 2
    assert groups["fact"].outcome_counts["missing"] == 1
    assert groups["unspecified"].mean["P@1"] == 1.0


def test_a_metric_can_be_removed() -> None:
    scores = scored().without("map")
    assert scores == evaluate(QRELS, RUN, ["P@1"])
    with pytest.raises(KeyError, match="'map' was not computed; computed are P@1"):
        scores.row_of("map")


def test_a_table_is_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        scored().counts[0, 0] = 1


def test_a_table_round_trips_through_json() -> None:
    scores = scored()
    again = Scores.from_dict(json.loads(scores.to_json()))
    assert again == scores
    assert again.to_json() == scores.to_json()
    assert again.mean["map"] == scores.mean["map"]
    assert scored().to_json() == scores.to_json()


def test_equality_compares_bytes() -> None:
    scores = scored()
    data = scores.to_dict()
    data["values"]["AP"][0] = math.nextafter(data["values"]["AP"][0], 1)
    assert Scores.from_dict(data) != scores
    assert scores != evaluate(QRELS, RUN, ["P@1"])
    assert scores != "scores"
    with pytest.raises(TypeError, match="unhashable"):
        hash(scores)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_have_a_row_per_query(library: Literal["pandas", "polars"]) -> None:
    frame = scored().to_frame(library)
    assert isinstance(frame, pd.DataFrame if library == "pandas" else pl.DataFrame)
    assert list(frame.columns) == ["query", "outcome", "P@1", "AP"]
    assert list(frame["query"]) == ["q1", "q2", "q3", "q4"]
    assert list(frame["AP"]) == [AP_OF_Q1, 1.0, 0.0, 0.0]


def test_summary_of_a_table() -> None:
    summary = scored().summary()
    assert summary["metrics"]["P@1"] == {
        "value": 0.5, "aggregate": "mean", "std": pytest.approx(math.sqrt(1 / 3)),
        "ci": [0.0, 1.0], "n": 4,
    }  # fmt: skip
    assert summary["outcomes"]["missing"] == 1
    assert (summary["missing_queries"], summary["extra_queries"]) == (["q4"], ["q9"])
    assert (summary["retrieved"], summary["unjudged"], summary["dropped_rows"]) == (5, 1, 0)


def test_a_geometric_mean_of_nothing_or_zero_is_0() -> None:
    assert aggregate("geometric mean", np.array([])) == 0.0
    assert aggregate("geometric mean", np.array([0.0, 1.0])) == 0.0


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (math.nan, "number nan"),
        (math.inf, "number inf"),
        (10**400, "number 1000"),
        (None, "null"),
        ("0.5", "string '0.5'"),
        (True, "true"),
        ([0.5], "array"),
    ],
)
def test_a_value_that_is_not_finite_is_rejected(value: Any, shown: str) -> None:
    data = scored().to_dict()
    data["values"]["AP"][1] = value
    words = rf"here\.values: AP of query 'q2': expected a finite number, found {shown}"
    with pytest.raises(DataError, match=words):
        Scores.from_dict(data, "here")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("values", [], r"^values: expected an object with an array per metric, found array"),
        ("values", {"P@1": [0, 0, 0, 0]}, r"^values\.AP: expected an array of numbers, found null"),
        (
            "values",
            {"P@1": [0.5], "AP": []},
            r"^values\.P@1: expected an array of length 4, found length 1",
        ),
        ("counts", 4, "^counts: expected an array of four whole numbers per query"),
        ("counts", [[1, 1, 1, 1]], "^counts: expected an array of length 4, found length 1"),
        ("counts", [[1, 1, 1, 1]] * 3 + [[1, 1, 1, "1"]], "^counts of query 'q4': expected four"),
        ("counts", [[1, 1, 1, 1]] * 3 + [[1, -1, 1, 1]], "^counts of query 'q4': expected four"),
        ("counts", [[1, 1, 1]] * 4, "^counts of query 'q1': expected four whole numbers"),
        ("counts", [[1, 1, 1, 2**63]] * 4, "^counts of query 'q1': expected four whole numbers"),
        ("outcomes", ["ok", "ok", "ok", "fine"], r"^outcomes\[3\]: expected 'ok' or 'empty'"),
        ("outcomes", ["ok"], "^outcomes: expected an array of length 4, found length 1"),
        ("outcomes", "ok", "^outcomes: expected an array of strings"),
        ("aggregates", ["mean", "median"], r"^aggregates\[1\]: expected 'mean' or 'sum'"),
        ("metrics", ["AP", "AP"], "^metrics: found 'AP' twice"),
        ("queries", ["q1", "q2", "q4", "q3"], r"^queries\[3\]: found 'q3' after 'q4'"),
        ("queries", ["q1", "q2", "q3", 4], r"^queries\[3\]: expected a string, found number 4"),
        ("strategies", ["qrels"], "^strategies: expected an array of length 4, found length 1"),
        ("dropped_rows", "none", "^dropped_rows: expected a whole number"),
        ("token_threshold", math.nan, "^token_threshold: expected a number"),
        ("spellings", [], "^spellings: expected an object"),
        ("run", None, "^run: expected a string, found null"),
    ],
)
def test_an_invalid_table_is_rejected_with_its_place(name: str, value: Any, words: str) -> None:
    with pytest.raises(DataError, match=words):
        Scores.from_dict({**scored().to_dict(), name: value})


def test_a_missing_field_is_named() -> None:
    data = scored().to_dict()
    del data["counts"]
    with pytest.raises(DataError, match=r"^here: these scores have no 'counts'; found 'run', "):
        Scores.from_dict(data, "here")
    with pytest.raises(DataError, match=r"^expected an object with scores, found array"):
        Scores.from_dict([])  # type: ignore[arg-type]
