"""`evaluate` and `compare` under the names of ranx, against ranx itself."""

from __future__ import annotations

import importlib
import random
import subprocess
import sys
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

from berryeval.compat import ranx
from berryeval.errors import BerryEvalError
from tests.ranx_oracle import load_ranx

METRICS = (
    "hits", "hits@3", "hit_rate", "hit_rate@3", "precision", "precision@5", "precision@0", "recall",
    "recall@3", "f1", "f1@3", "r-precision", "mrr", "mrr@3", "map", "map@100", "map@100-l2", "dcg",
    "dcg@3", "dcg_burges", "dcg_burges@3", "ndcg", "ndcg@10", "ndcg@3-l2", "ndcg_burges",
    "ndcg_burges@3", "bpref", "bpref-l2", "bpref@3", "r-precision@3", "rbp.95", "rbp.5-l2",
    "rbp@80",
)  # fmt: skip
Table: TypeAlias = dict[str, dict[str, Any]]


def draw(seed: int, *, queries: int = 12, lowest: int = -1) -> tuple[Table, Table]:
    """Draw judgments and a run without ties, both with relevant and nonrelevant documents."""
    chance = random.Random(seed)
    names = [f"q{place}" for place in range(queries)]
    documents = [f"d{place:02}" for place in range(40)]
    qrels: Table = {}
    run: Table = {}
    for name in names:
        judged = chance.sample(documents, 14)
        qrels[name] = {one: chance.randint(lowest, 3) for one in judged} | {
            judged[0]: 3,
            judged[1]: 0,
        }
        found = chance.sample(documents, chance.randint(1, 30))
        run[name] = {one: -float(place) for place, one in enumerate(found)}
    return qrels, run


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")
@pytest.mark.parametrize("seed", range(5))
def test_values_equal_ranx_for_every_query(seed: int) -> None:
    qrels, run = draw(seed)
    oracle = load_ranx()
    theirs = oracle.evaluate(oracle.Qrels(qrels), oracle.Run(run), [*METRICS], return_mean=False)
    ours = ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), [*METRICS], return_mean=False)
    assert list(ours) == list(theirs)
    for name in METRICS:
        assert isinstance(ours[name], np.ndarray)
        assert ours[name].dtype == theirs[name].dtype
        assert ours[name] == pytest.approx(theirs[name], rel=1e-12, abs=1e-12), name


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")
@pytest.mark.parametrize("names", ["ndcg@3", ["ndcg@3"], ["ndcg@3", "mrr"]])
@pytest.mark.parametrize("options", [{}, {"return_std": True}, {"return_mean": False}])
def test_results_have_the_shapes_and_types_of_ranx(names: Any, options: dict[str, bool]) -> None:
    qrels, run = draw(7)

    def shape(found: Any) -> Any:
        return (
            {key: shape(one) for key, one in found.items()}
            if isinstance(found, dict)
            else type(found)
        )

    oracle = load_ranx()
    their_run, our_run = oracle.Run(run), ranx.Run(run)
    theirs = oracle.evaluate(oracle.Qrels(qrels), their_run, names, **options)
    ours = ranx.evaluate(ranx.Qrels(qrels), our_run, names, **options)
    assert shape(ours) == shape(theirs)
    assert our_run.mean_scores == pytest.approx(their_run.mean_scores, abs=1e-12)
    assert our_run.std_scores == pytest.approx(their_run.std_scores, abs=1e-12)
    assert list(our_run.scores) == list(their_run.scores)
    for name, values in their_run.scores.items():
        assert our_run.scores[name] == pytest.approx(values, abs=1e-12)
        assert list(our_run.scores[name]) == list(values)


def test_ties_stay_in_the_given_order() -> None:
    qrels = ranx.Qrels({"q": {"b": 1}})
    first = ranx.Run({"q": {"b": 1.0, "a": 1.0, "c": 1.0}})
    last = ranx.Run({"q": {"c": 1.0, "a": 1.0, "b": 1.0}})
    assert ranx.evaluate(qrels, first, "mrr") == 1.0
    assert ranx.evaluate(qrels, last, "mrr") == pytest.approx(1 / 3)
    assert list(last.run["q"]) == ["c", "a", "b"]


def test_results_are_not_kept_on_request() -> None:
    qrels, run = draw(1)
    found = ranx.Run(run)
    ranx.evaluate(ranx.Qrels(qrels), found, "mrr", save_results_in_run=False)
    assert not found.scores
    assert not found.mean_scores


def test_dicts_are_paired_by_query() -> None:
    """Where ranx pairs them by position, and scores this run 0."""
    qrels = {"q2": {"a": 1}, "q1": {"b": 1}}
    run = {"q1": {"b": 1.0}, "q2": {"x": 2.0, "a": 1.0}}
    assert ranx.evaluate(qrels, run, "mrr", return_mean=False).tolist() == [0.5, 1.0]


def test_fractional_grades_count_in_a_dict() -> None:
    values = ranx.evaluate({"q": {"a": 1.5}}, {"q": {"b": 2.0, "a": 1.0}}, "dcg")
    assert values == pytest.approx(1.5 / np.log2(3))


def test_different_queries_are_rejected_with_an_assertion() -> None:
    qrels, run = ranx.Qrels({"q1": {"a": 1}}), ranx.Run({"q2": {"a": 1.0}})
    with pytest.raises(AssertionError, match="'q1' is missing from the run, 'q2' is not judged"):
        ranx.evaluate(qrels, run, "mrr")
    with pytest.raises(BerryEvalError, match="make_comparable=True"):
        ranx.compare(qrels, [run], "mrr")


def test_make_comparable_counts_missing_queries_and_changes_the_run() -> None:
    qrels = ranx.Qrels({"q1": {"a": 1}, "q2": {"a": 1}})
    run = ranx.Run({"q3": {"a": 1.0}, "q2": {"a": 1.0}})
    assert ranx.evaluate(qrels, run, "mrr", make_comparable=True) == 0.5
    assert run.to_dict() == {"q1": {}, "q2": {"a": 1.0}}
    assert ranx.evaluate(qrels, run, "mrr") == 0.5


def test_arrays_are_paired_by_place_and_copies_count_once() -> None:
    qrels = [np.array([[1, 1], [4, 2]]), np.array([[9, 1]])]
    run = [np.array([[7, 0], [4, 0], [4, 0], [1, 0]]), np.array([[1, 0]])]
    found = ranx.evaluate(qrels, run, ["hits", "map", "mrr"], return_mean=False)
    assert found["hits"].tolist() == [2.0, 0.0]
    assert found["map"].tolist() == [(1 / 2 + 2 / 4) / 2, 0.0]
    with pytest.raises(BerryEvalError, match="has 1; arrays are paired by their place"):
        ranx.evaluate(qrels, run[:1], "mrr")
    with pytest.raises(BerryEvalError, match=r"query 0: expected rows of \(document id, number\)"):
        ranx.evaluate(qrels[:1], [np.array([1, 2])], "mrr")


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("ndgc@10", "did you mean"),
        ("rbp", "rbp.95"),
        ([], "at least one"),
        ([3], "named by a str"),
        ("ndcg@ten", "must be an integer"),
    ],
)
def test_unknown_metrics_are_rejected(metrics: Any, message: str) -> None:
    qrels, run = ranx.Qrels({"q": {"a": 1}}), ranx.Run({"q": {"a": 1.0}})
    with pytest.raises(ValueError, match=message):
        ranx.evaluate(qrels, run, metrics)


def test_nothing_to_score_is_an_error() -> None:
    for qrels, run in ((ranx.Qrels(), ranx.Run()), ({}, {}), ([], [])):
        with pytest.raises(BerryEvalError, match="the judgments have no queries"):
            ranx.evaluate(qrels, run, "mrr")


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    code = (
        "import sys, berryeval.compat.ranx as ranx\n"
        "ranx.evaluate(ranx.Qrels({'q': {'a': 1}}), ranx.Run({'q': {'a': 1.0}}), 'mrr')\n"
        "print({'pandas', 'scipy', 'numba', 'pyarrow', 'ranx'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def three_runs() -> tuple[Table, list[tuple[str, Table]]]:
    qrels, _ = draw(0, queries=60, lowest=0)
    return qrels, [(name, draw(seed, queries=60)[1]) for seed, name in enumerate("xyz", 1)]


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")
@pytest.mark.parametrize("test", ["student", "tukey", "fisher"])
def test_comparisons_equal_ranx(test: str) -> None:
    qrels, runs = three_runs()
    oracle, names = load_ranx(), ["ndcg@10", "map", "rbp.95", "recall@5-l2"]
    options: dict[str, Any] = {"stat_test": test, "max_p": 0.3, "n_permutations": 100}
    theirs = oracle.compare(
        oracle.Qrels(qrels), [oracle.Run(run, name=name) for name, run in runs], names, **options
    )
    ours = ranx.compare(
        ranx.Qrels(qrels), [ranx.Run(run, name=name) for name, run in runs], names, **options
    )
    found, expected = ours.to_dict(), theirs.to_dict()
    assert list(found) == list(expected)
    for model in ours.model_names:
        assert found[model]["scores"] == pytest.approx(expected[model]["scores"], abs=1e-12)
        assert found[model]["win_tie_loss"] == expected[model]["win_tie_loss"]
        for other, values in expected[model]["comparisons"].items():
            error = 0.2 if test == "fisher" else 1e-9  # of 100 random samples
            assert found[model]["comparisons"][other] == pytest.approx(values, abs=error)
    if test != "fisher":
        assert str(ours) == str(theirs)
        assert ours.to_dataframe().round(9).equals(theirs.to_dataframe().round(9))


def test_fisher_follows_its_seed() -> None:
    qrels, runs = three_runs()
    judged, objects = ranx.Qrels(qrels), [ranx.Run(run, name=name) for name, run in runs]

    def values(seed: int) -> Any:
        options: dict[str, Any] = {"stat_test": "fisher", "random_seed": seed}
        return ranx.compare(judged, objects, "map", **options).to_dict()["x"]["comparisons"]

    assert values(42) == values(42)
    assert values(42) != values(43)


def test_equal_runs_do_not_differ() -> None:
    """Where ranx returns NaN."""
    qrels, run = draw(3)
    judged, runs = ranx.Qrels(qrels), [ranx.Run(run), ranx.Run(run)]
    for test in ("student", "fisher"):
        report = ranx.compare(judged, runs, "map", stat_test=test)
        assert report.comparisons["run_1", "run_2"]["map"] == {"p_value": 1.0, "significant": False}
        assert report.win_tie_loss["run_2", "run_1"]["map"] == {"W": 0, "T": 12, "L": 0}


def test_runs_of_one_name_and_unknown_tests_are_rejected() -> None:
    qrels, run = draw(3)
    judged, runs = ranx.Qrels(qrels), [ranx.Run(run, name="a"), ranx.Run(run, name="a")]
    with pytest.raises(BerryEvalError, match=r"two runs are named 'a'; set run\.name"):
        ranx.compare(judged, runs, "map")
    with pytest.raises(BerryEvalError, match="stat_test"):
        ranx.compare(judged, runs[:1], "map", stat_test="wilcoxon")


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")
def test_plot_returns_its_data_and_draws_nothing() -> None:
    qrels, run = draw(5)
    oracle = load_ranx()
    theirs = oracle.plot(oracle.Qrels(qrels), oracle.Run(run), return_graph=False)
    ours = ranx.plot(ranx.Qrels(qrels), ranx.Run(run), return_graph=False)
    assert list(ours.columns) == list(theirs.columns)
    assert ours["Model"].tolist() == theirs["Model"].tolist()
    for name in ("recall", "precision"):
        assert ours[name].to_numpy() == pytest.approx(theirs[name].to_numpy(), abs=1e-12)
    with pytest.raises(BerryEvalError, match=r"berryeval\.write_report"):
        ranx.plot(ranx.Qrels(qrels), [ranx.Run(run)])


@pytest.mark.filterwarnings("ignore:unsafe cast from uint64")
def test_the_benchmark_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its calls give the same means and p-values with both modules."""
    load_ranx()
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks"))
    benchmark = importlib.import_module("bench_compat_ranx")
    rows = benchmark.draw_rows(12, 3, 5)
    theirs, ours = (benchmark.bench_ranx(module, rows, 1) for module in benchmark.MODULES)
    assert list(ours) == list(theirs)
    for name, (seconds, answer) in ours.items():
        assert seconds > 0
        if "fisher" not in name:  # too few queries for equal p-values
            benchmark.check_results(name, answer, theirs[name][1])
