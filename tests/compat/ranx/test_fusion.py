"""Fusion and normalization under the names of ranx, against ranx itself."""

from __future__ import annotations

import inspect
import random
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np
import pytest

from berryeval.compat import ranx
from berryeval.compat.ranx import fusion, normalization
from berryeval.errors import BerryEvalError
from tests.ranx_oracle import load_ranx

Table: TypeAlias = dict[str, dict[str, Any]]
NORMS = ("min-max", "min_max", "min-max-inverted", "max", "sum", "zmuv", "rank")
PARAMS: dict[str, dict[str, Any]] = {
    **{
        method: {}
        for method in (
            "min",
            "max",
            "med",
            "sum",
            "anz",
            "mnz",
            "isr",
            "log_isr",
            "bordafuse",
            "rrf",
        )
    },
    **{method: {"weights": [0.5, 0.3, 0.2]} for method in ("w_bordafuse", "mixed", "wmnz", "wsum")},
    "gmnz": {"gamma": 0.3},
    "logn_isr": {"sigma": 0.1},
    "rbc": {"phi": 0.7},
}
TRAINED = ("bayesfuse", "mapfuse", "posfuse", "segfuse")
pytestmark = pytest.mark.filterwarnings("ignore:unsafe cast from uint64")


def draw(seed: int = 0, systems: int = 3) -> tuple[Table, list[Table]]:
    """Draw judgments and runs without ties."""
    chance = random.Random(seed)
    documents = [f"d{place:02}" for place in range(15)]
    queries = [f"q{place}" for place in range(4)]
    qrels = {
        query: {one: chance.randint(0, 2) for one in chance.sample(documents, 6)}
        for query in queries
    }
    runs = [
        {
            query: {one: chance.uniform(0.1, 9) for one in chance.sample(documents, 8)}
            for query in queries
        }
        for _ in range(systems)
    ]
    return qrels, runs


def check_equal(ours: ranx.Run, theirs: Any) -> None:
    """Require the same documents, scores and name."""
    assert ours.name == theirs.name
    assert ours.get_query_ids() == sorted(theirs.run)
    for query, row in theirs.run.items():
        assert ours[query] == pytest.approx({str(one): row[one] for one in row}, abs=1e-7)


@pytest.mark.parametrize("norm", [None, *NORMS])
def test_fused_runs_equal_ranx(norm: str | None) -> None:
    oracle, (_, rows) = load_ranx(), draw()
    for method, params in PARAMS.items():
        theirs = oracle.fuse([oracle.Run(run) for run in rows], norm, method, params)
        check_equal(ranx.fuse([ranx.Run(run) for run in rows], norm, method, params), theirs)


@pytest.mark.parametrize("norm", [None, "min-max", "min-max-inverted"])
def test_trained_fusion_equals_ranx(norm: str | None) -> None:
    oracle, (qrels, rows) = load_ranx(), draw(1)
    their_runs, our_runs = [oracle.Run(run) for run in rows], [ranx.Run(run) for run in rows]
    for method in TRAINED:
        theirs = oracle.optimize_fusion(oracle.Qrels(qrels), their_runs, norm, method)
        ours = ranx.optimize_fusion(ranx.Qrels(qrels), our_runs, norm, method)
        assert list(ours) == list(theirs)
        for found, expected in zip(*ours.values(), *theirs.values(), strict=True):
            assert found == pytest.approx(expected, abs=1e-12)
        check_equal(
            ranx.fuse(our_runs, norm, method, ours), oracle.fuse(their_runs, norm, method, theirs)
        )


def test_functions_of_training_equal_ranx() -> None:
    theirs = load_ranx("ranx.fusion")
    oracle, (qrels, rows) = load_ranx(), draw(2)
    their_runs, our_runs = [oracle.Run(run) for run in rows], [ranx.Run(run) for run in rows]
    for method, options, more in (("probfuse", (4,), ()), ("slidefuse", (), (2,))):
        expected = getattr(theirs, f"{method}_train")(oracle.Qrels(qrels), their_runs, *options)
        found = getattr(fusion, f"{method}_train")(ranx.Qrels(qrels), our_runs, *options)
        assert [one.tolist() for one in found] == [pytest.approx([*one]) for one in expected]
        check_equal(
            getattr(fusion, method)(our_runs, found, *more),
            getattr(theirs, method)(their_runs, expected, *more),
        )


def test_normalized_runs_equal_ranx() -> None:
    oracle, (_, rows) = load_ranx(), draw(3)
    for norm in NORMS:
        theirs = oracle.normalize(oracle.Run(rows[0], name="a"), norm)
        check_equal(ranx.normalize(ranx.Run(rows[0], name="a"), norm), theirs)
    expected = oracle.normalize([oracle.Run(run) for run in rows], "borda")
    for ours, theirs in zip(
        normalization.borda_norm([ranx.Run(run) for run in rows]), expected, strict=True
    ):
        check_equal(ours, theirs)


def test_condorcet_orders_by_majorities() -> None:
    """The sort of ranx depends on the order of a set, where majorities are not transitive."""
    runs = [ranx.Run({"q": {"a": 3.0, "b": 2.0, "c": 1.0}}) for _ in range(2)]
    runs.append(ranx.Run({"q": {"c": 3.0, "b": 2.0, "a": 1.0}}))
    assert fusion.condorcet(runs).to_dict() == {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    fused = fusion.weighted_condorcet(runs, weights=[1, 1, 5])
    assert list(fused["q"]) == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("method", "options"),
    [("wsum", {}), ("wsum", {"step": 0.25}), ("gmnz", {"max_gamma": 0.1}), ("mixed", {})],
)
def test_optimization_equals_ranx(method: str, options: dict[str, Any]) -> None:
    """Without a normalization no scores are equal, unless a weight is 0."""
    oracle, (qrels, rows) = load_ranx(), draw(4, systems=2)
    theirs, their_report = oracle.optimize_fusion(
        oracle.Qrels(qrels), [oracle.Run(run) for run in rows], None, method, "ndcg@5",
        return_optimization_report=True, show_progress=False, **options,
    )  # fmt: skip
    ours, report = ranx.optimize_fusion(
        ranx.Qrels(qrels), [ranx.Run(run) for run in rows], None, method, "ndcg@5",
        return_optimization_report=True, show_progress=False, **options,
    )  # fmt: skip
    assert len(report.configs) == len(their_report.configs)
    inner = slice(1, -1) if "weights" in ours else slice(None)
    assert report.results[inner] == pytest.approx(their_report.results[inner], abs=1e-12)
    assert list(ours) == list(theirs)
    if max(report.results) == max(report.results[inner]):
        assert [*ours.values()] == [*theirs.values()]


@pytest.mark.parametrize(
    ("method", "options", "configs", "keys"),
    [
        ("rrf", {}, 10, {"k"}),
        ("rbc", {"min_phi": 0.5, "step": 0.1}, 6, {"phi"}),
        ("logn_isr", {}, 100, {"sigma"}),
        ("probfuse", {"max_n_segments": 5}, 5, {"probs"}),
        ("slidefuse", {"max_w": 3}, 3, {"probs", "w"}),
        ("w_condorcet", {"step": 0.5}, 6, {"weights"}),
        ("wmnz", {}, 66, {"weights"}),
    ],
)
def test_every_configuration_is_tried(
    method: str, options: dict[str, Any], configs: int, keys: set[str]
) -> None:
    """Including the weights that ranx drops because their floats do not add up to 1."""
    qrels, rows = draw(5)
    judged, runs = ranx.Qrels(qrels), [ranx.Run(run) for run in rows]
    best, report = ranx.optimize_fusion(
        judged, runs, method=method, metric="map", return_optimization_report=True, **options
    )
    assert (set(best), len(report.configs)) == (keys, configs)
    fused = ranx.fuse(runs, method=method, params=best)
    assert ranx.evaluate(judged, fused, "map") == pytest.approx(max(report.results))
    again = ranx.optimize_fusion(judged, runs, method=method, metric="map", **options)
    assert str(again) == str(best)


def test_the_last_best_configuration_wins() -> None:
    qrels, runs = ranx.Qrels({"q": {"a": 1}}), [ranx.Run({"q": {"a": 2.0, "b": 1.0}})] * 2
    assert ranx.optimize_fusion(qrels, runs, method="rrf", metric="mrr") == {"k": 100}


def test_wrong_calls_are_rejected() -> None:
    qrels, rows = draw()
    runs = [ranx.Run(run) for run in rows]
    other = ranx.Run({"x": {"a": 1.0}})
    with pytest.raises(AssertionError, match="two runs or more, found 1"):
        ranx.fuse(runs[:1])
    with pytest.raises(
        AssertionError, match=r"runs 0 and 1 have different queries.*berryeval\.fuse"
    ):
        ranx.fuse([runs[0], other], method="sum")
    with pytest.raises(AssertionError, match="run 0 and the judgments have different queries"):
        ranx.optimize_fusion(ranx.Qrels(qrels), [other, other])
    with pytest.raises(BerryEvalError, match="no fusion method 'rff'; did you mean"):
        ranx.fuse(runs, method="rff")
    with pytest.raises(BerryEvalError, match="no normalization 'minmax'"):
        ranx.fuse(runs, norm="minmax", method="sum")
    with pytest.raises(TypeError, match="wsum needs the argument 'weights'"):
        ranx.fuse(runs)
    with pytest.raises(TypeError, match="rrf has no argument 'x'"):
        ranx.fuse(runs, method="rrf", params={"x": 1})
    with pytest.raises(TypeError, match="rrf takes k, name; found 3 arguments"):
        fusion.rrf(runs, 60, "name", 3)
    with pytest.raises(TypeError, match="has no option 'min_q'"):
        ranx.optimize_fusion(ranx.Qrels(qrels), runs, method="rrf", min_q=1)
    with pytest.raises(BerryEvalError, match="step must"):
        ranx.optimize_fusion(ranx.Qrels(qrels), runs, step=0.3)
    with pytest.raises(BerryEvalError, match="supports no optimization"):
        ranx.optimize_fusion(ranx.Qrels(qrels), runs, method="sum")
    with pytest.raises(BerryEvalError, match="supports no optimization report"):
        ranx.optimize_fusion(
            ranx.Qrels(qrels), runs, method="mapfuse", return_optimization_report=True
        )


def test_functions_are_found_by_name_and_by_module() -> None:
    theirs = load_ranx("ranx.fusion")
    assert all(callable(getattr(fusion, name)) for name in theirs.__all__)
    for method, name in (("sum", "comb_sum"), ("w_condorcet", "weighted_condorcet")):
        module = import_module(f"berryeval.compat.ranx.fusion.{name}")
        assert fusion.fusion_switch(method) is getattr(module, name)
        assert getattr(module, name).__name__ == name


@pytest.mark.parametrize("name", ["fuse", "optimize_fusion", "normalize", *sorted(fusion._METHODS)])
def test_functions_take_the_arguments_of_ranx(name: str) -> None:
    """Also as `help` shows them."""
    if name in fusion._METHODS:
        mine, theirs = fusion.fusion_switch(name), load_ranx("ranx.fusion").fusion_switch(name)
    else:
        mine, theirs = getattr(ranx, name), getattr(load_ranx(), name)
    shown = inspect.signature(mine).parameters.values()
    wanted = inspect.signature(theirs).parameters.values()
    assert [(one.name, one.default) for one in shown] == [(one.name, one.default) for one in wanted]


@pytest.mark.parametrize(
    "name", ["bayesfuse", "mapfuse", "posfuse", "probfuse", "segfuse", "slidefuse"]
)
def test_functions_of_training_take_the_arguments_of_ranx(name: str) -> None:
    theirs = getattr(load_ranx("ranx.fusion"), f"{name}_train")
    mine = getattr(fusion, f"{name}_train")
    assert [*inspect.signature(mine).parameters] == [*inspect.signature(theirs).parameters]


def test_runs_are_not_changed() -> None:
    _, rows = draw()
    runs = [ranx.Run(run) for run in rows]
    ranx.fuse(runs, method="sum")
    assert [run.to_dict() for run in runs] == rows


def test_parts_of_condorcet_and_bayesfuse() -> None:
    """The functions inside ranx that its own tests call."""
    rows: list[Table] = [{"q": {"b": 2.0, "a": 1.0}}, {"q": {"c": 1.0}}]
    assert [one.tolist() for one in fusion.get_candidates(rows)] == [["a", "b", "c"]]
    assert fusion.get_results(rows) == [[["b", "a"], ["c"]]]
    hits = [np.array([1.0, 0.0, 1.0]), np.array([0.0, 0.0, 1.0])]
    theirs = load_ranx("ranx.fusion.bayesfuse")._estimate_log_odds(hits, [0, 2, 5])
    assert fusion._estimate_log_odds(hits, [0, 2, 5]) == pytest.approx(theirs)
