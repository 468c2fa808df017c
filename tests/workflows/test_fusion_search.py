"""`optimize_fusion`: honest scores, a deterministic choice, equal bytes on both backends."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import berryeval as be
from berryeval._internal import backend
from berryeval.errors import ConfigurationError, DataError
from berryeval.fusion import METHODS, FusionModel, list_weights
from berryeval.workflows.fusion_search import (
    build_grid,
    choose_model,
    split_queries,
)


def build_data(queries: int = 24) -> tuple[dict[str, dict[str, int]], list[be.Run]]:
    """Build judgments, and two runs that find relevant documents with different noise."""
    drawn = random.Random(5)
    documents = [f"d{place}" for place in range(40)]
    qrels: dict[str, dict[str, int]] = {}
    rows: list[dict[str, dict[str, float]]] = [{}, {}]
    for query in range(queries):
        relevant = drawn.sample(documents, 4)
        qrels[f"q{query}"] = {name: drawn.choice([1, 2]) for name in relevant}
        for run, noise in zip(rows, (1.0, 0.7), strict=True):
            found = drawn.sample(documents, 25)
            run[f"q{query}"] = {
                name: round((name in relevant) + drawn.gauss(0, noise), 3) for name in found
            }
    return qrels, [be.Run.from_dict(rows[0], "bm25"), be.Run.from_dict(rows[1], "dense")]


QRELS, RUNS = build_data()


def test_each_query_is_scored_by_a_model_fitted_without_its_fold() -> None:
    """The held-out value of a query is that of the model of its fold."""
    found = be.optimize_fusion(QRELS, RUNS, "nDCG@10", "wsum", folds=3)
    values = found.held_out.per_query("nDCG@10")
    assert sorted(query for fold in found.folds for query in fold.queries) == sorted(QRELS)
    for fold in found.folds:
        scores = be.evaluate(QRELS, be.fuse(RUNS, fold.model), ["nDCG@10"]).per_query("nDCG@10")
        assert {query: values[query] for query in fold.queries} == {
            query: scores[query] for query in fold.queries
        }
        others = [query for query in QRELS if query not in fold.queries]
        assert fold.training == pytest.approx(np.mean([scores[query] for query in others]))


def test_a_query_does_not_choose_the_model_that_scores_it() -> None:
    """Judgments of one query have no effect on the model of its fold."""
    plain = be.optimize_fusion(QRELS, RUNS, "AP", "posfuse", folds=4)
    fold = plain.folds[0]
    turned = dict(QRELS)
    for query in fold.queries:
        turned[query] = {"d1": 1, "d2": 2}
    assert be.optimize_fusion(turned, RUNS, "AP", "posfuse", folds=4).folds[0].model == fold.model


def test_the_model_is_the_first_of_the_best_on_all_queries() -> None:
    """The returned model has the highest score of the grid, and `training` is its score."""
    found = be.optimize_fusion(QRELS, RUNS, "nDCG@10", "wsum")
    scores = {
        weights: be.evaluate(QRELS, be.fuse(RUNS, "wsum", weights=weights), ["nDCG@10"])
        for weights in list_weights(2)
    }
    best = max(scores, key=lambda weights: scores[weights].mean["nDCG@10"])
    assert found.model.weights == best
    assert found.training.values.tobytes() == scores[best].values.tobytes()
    assert found.tried == 11


def test_the_best_single_run_is_the_rival() -> None:
    """The comparison is paired, against the better run, with interval and p-value."""
    found = be.optimize_fusion(QRELS, RUNS, "AP")
    means = {name: scores.mean["AP"] for name, scores in found.singles.items()}
    assert found.best == max(means, key=means.__getitem__)
    row = found.comparison
    assert (row.baseline, row.n) == (found.best, len(QRELS))
    assert row.system_value == found.held_out.mean["AP"]
    assert row.p is not None
    assert row.interval is not None
    assert set(found.to_dict()["per_query"]) == set(QRELS)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_python_and_native_choose_the_same(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every method gives the same values and the same model on both backends."""
    qrels, runs = build_data(6)
    small: dict[str, list[Any]] = {
        name: [one.default, *one.grid[:2]] for name, one in METHODS[method].parameters.items()
    }
    if METHODS[method].weighting != "no":
        small["weights"] = [(1.0, 1.0), (0.2, 0.8)]
    native = be.optimize_fusion(qrels, runs, "nDCG@5", method, folds=2, grid=small)
    monkeypatch.setattr(backend, "native", None)
    python = be.optimize_fusion(qrels, runs, "nDCG@5", method, folds=2, grid=small)
    assert python.model == native.model
    assert python.held_out.values.tobytes() == native.held_out.values.tobytes()


def test_the_result_depends_on_seed_and_data_only() -> None:
    """The order of queries has no effect; another seed makes other folds."""
    turned = dict(reversed(QRELS.items()))
    one = be.optimize_fusion(QRELS, RUNS, "AP", "rbc", grid={"phi": [0.3, 0.8]})
    two = be.optimize_fusion(turned, RUNS, "AP", "rbc", grid={"phi": [0.3, 0.8]})
    assert one.held_out.per_query("AP") == two.held_out.per_query("AP")
    ids = [query.encode() for query in QRELS]
    assert split_queries(ids, 5, 0).tolist() != split_queries(ids, 5, 1).tolist()
    assert sorted(np.bincount(split_queries(ids, 5, 0)).tolist()) == [4, 5, 5, 5, 5]


def test_weights_begin_with_the_most_even() -> None:
    """All weights in steps that add up to 1, the most even first."""
    assert list_weights(2, 0.25, even_first=True) == [
        (0.5, 0.5), (0.75, 0.25), (0.25, 0.75), (1.0, 0.0), (0.0, 1.0)
    ]  # fmt: skip
    assert len(list_weights(3)) == 66
    assert all(abs(sum(weights) - 1) < 1e-12 for weights in list_weights(4))


def test_equal_scores_keep_the_defaults() -> None:
    """Where every parameter scores the same, the first wins: the default."""
    runs = [{f"q{place}": {"a": 2.0, "b": 1.0} for place in range(4)}] * 2
    qrels = {f"q{place}": {"a": 1} for place in range(4)}
    assert be.optimize_fusion(qrels, runs, "RR", "rrf", folds=2).model.parameters == {"k": 60}
    found = be.optimize_fusion(qrels, runs, "RR", "wsum", folds=2)
    assert found.model.weights == (0.5, 0.5)
    assert sorted(found.singles) == ["run 1", "run 2"]


def test_no_run_is_lost_to_an_equal_name() -> None:
    """Every run has a name of its own, also if the number of one makes the name of another."""
    runs = [run.named(name) for run, name in zip([*RUNS, RUNS[0]], ["x", "x", "x 1"], strict=True)]
    found = be.optimize_fusion(QRELS, runs, "AP", "sum", folds=2)
    assert len(found.singles) == 3


def test_runs_by_chance_gain_nothing_on_queries_held_out() -> None:
    """Parameters fitted to noise score higher on the queries they saw, not on the others."""
    drawn = random.Random(3)
    documents = [f"d{place}" for place in range(30)]
    qrels = {f"q{query}": dict.fromkeys(drawn.sample(documents, 6), 1) for query in range(60)}
    runs = [
        {query: {name: drawn.random() for name in documents} for query in qrels} for _ in range(3)
    ]
    seen, honest = [], []
    for seed in range(6):
        found = be.optimize_fusion(qrels, runs, "AP", "wsum", seed=seed)
        seen.append(found.training.mean["AP"])
        honest.append(found.held_out.mean["AP"])
    plain = be.evaluate(qrels, be.fuse(runs, "sum"), ["AP"]).mean["AP"]
    assert min(seen) > plain
    assert np.mean(honest) < np.mean(seen) - 0.01


def test_the_first_of_the_best_models_wins() -> None:
    """The highest mean wins, the lowest for metrics that should fall, the first among equals."""
    values = np.array([[0.5, 0.1], [0.1, 0.5], [0.3, 0.4], [0.4, 0.3]])
    assert choose_model(values, "mean", "higher") == 2
    assert choose_model(values, "mean", "lower") == 0


def test_the_grid_begins_with_the_defaults() -> None:
    """Fixed parameters and weights are not varied."""
    models = build_grid(FusionModel("gmnz"), 2, set(), {})
    assert [models[0].parameters["gamma"], len(models)] == [1.0, 100]
    assert len(build_grid(FusionModel("rrf", parameters={"k": 5}), 2, {"k"}, {})) == 1
    assert len(build_grid(FusionModel("wsum", weights=(1, 2)), 2, set(), {})) == 1
    assert len(build_grid(FusionModel("med"), 2, set(), {})) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"folds": 1}, "folds must be a whole number of at least 2, found 1"),
        ({"folds": 50}, "24 judged queries cannot be split into 50 folds; use fewer folds"),
        ({"method": "rff"}, "unknown method of fusion 'rff'"),
        ({"grid": {"phi": [1]}}, "the grid must be over weights, found"),
        ({"step": 0.3}, "step must be a fraction that divides 1"),
        ({"step": 1e-320}, "step must be a fraction that divides 1"),
        ({"step": 0.0001}, "10001 models to try, more than 5000"),
        ({"step": 1e-9}, "1000000001 models to try, more than 5000"),
        ({"runs": RUNS * 20}, "models to try, more than 5000; choose fewer runs"),
        ({"grid": {"weights": []}}, "the grid of weights must be a list of values to try"),
        ({"grid": {"weights": [1, 2]}}, "weights of wsum must be a list of numbers, found 1"),
        ({"method": "rrf", "grid": {"k": 3}}, "the grid of k must be a list of values to try"),
        ({"method": "rrf", "grid": {"k": []}}, "the grid of k must be a list of values to try"),
        ({"seed": "x"}, "seed must be a whole number, found 'x'"),
    ],
)
def test_wrong_settings_are_refused(arguments: dict[str, Any], message: str) -> None:
    """One line says what was found and what is possible."""
    with pytest.raises(ConfigurationError, match=message):
        be.optimize_fusion(QRELS, **{"runs": RUNS, "metric": "AP", **arguments})


def test_one_judged_query_cannot_be_split() -> None:
    query = next(iter(QRELS))
    with pytest.raises(ConfigurationError, match=r"1 judged query .*; judge more queries"):
        be.optimize_fusion({query: QRELS[query]}, RUNS, "AP")


def test_judgments_of_other_queries_are_refused() -> None:
    """Zeros that come from ids that do not fit are no result."""
    with pytest.raises(DataError, match="no query of the runs is judged"):
        be.optimize_fusion({"other": {"a": 1}, "more": {"b": 1}}, RUNS, "AP", folds=2)
