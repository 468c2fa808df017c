"""`fuse` and `FusionModel`: what they accept, what they refuse, what they give back."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import berryeval as be
from berryeval._internal import backend
from berryeval.data import Run
from berryeval.errors import ConfigurationError, DataError
from berryeval.fusion.methods import METHODS
from berryeval.fusion.model import FusionModel, fuse, train_fusion

ONE = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"x": 1.0}}
TWO = {"q1": {"b": 9.0, "d": 4.0}, "q3": {"y": 5.0, "z": 4.0}}
QRELS = {"q1": {"b": 1, "d": 1}, "q2": {"x": 1}, "q3": {"z": 2}}


@pytest.fixture(params=["native", "python"])
def each_backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a test on both backends."""
    if request.param == "python":
        monkeypatch.setattr(backend, "native", None)
    elif backend.native is None:
        pytest.skip("the native module is not installed")


@pytest.mark.usefixtures("each_backend")
def test_a_query_missing_in_a_run_is_ranked_by_the_others() -> None:
    """The result has the queries of all runs; a run without the query contributes nothing."""
    fused = be.fuse([ONE, TWO], "sum")
    assert isinstance(fused, be.Run)
    assert fused.name == "sum"
    assert fused.to_dict() == {
        "q1": {"b": 1.5, "a": 1.0, "d": 0.0, "c": 0.0},
        "q2": {"x": 1.0},
        "q3": {"y": 1.0, "z": 0.0},
    }


@pytest.mark.usefixtures("each_backend")
@pytest.mark.parametrize("method", ["bordafuse", "sum", "bayesfuse", "rrf", "condorcet"])
def test_an_empty_ranking_contributes_nothing(method: str) -> None:
    """A run that has the query without documents counts like one that lacks it."""
    trained = ((0.5,),) * 3 if METHODS[method].train else ()
    model = FusionModel(method, trained=trained)
    missing = model.fuse([ONE, TWO, {}]).to_dict()
    assert model.fuse([ONE, TWO, {"q1": {}}]).to_dict() == missing


def test_equal_scores_are_ordered_by_id_descending() -> None:
    """Ties follow the rule of the house: the highest id by bytes comes first."""
    runs = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0, "a": 1.0}}]
    assert list(fuse(runs, "rrf").to_dict()["q"]) == ["b", "a"]
    assert list(fuse([{"q": {"é": 1.0, "z": 1.0}}] * 2, "sum").to_dict()["q"]) == ["é", "z"]


@pytest.mark.parametrize(
    ("norm", "wanted"),
    [("min-max", 1.0), ("min-max-inverted", 1.0), ("max", 1.0), ("sum", 0.5), ("zmuv", 0.0)],
)
def test_norms_of_equal_scores(norm: str, wanted: float) -> None:
    """Equal scores are all best; no norm divides by zero or by noise."""
    found = fuse(
        [{"q": {"a": 0.1, "b": 0.1}}, {"p": {"a": 1.0}, "q": {}}, {"p": {"a": 1.0}}], "sum", norm
    )
    assert found.to_dict()["q"] == {"b": wanted, "a": wanted}


def test_the_norm_max_keeps_the_order_of_negative_scores() -> None:
    """Negative scores are divided by the size of the highest, zero leaves them alone."""
    runs = [{"q": {"a": -1.0, "b": -4.0}, "p": {"a": 0.0, "b": -2.0}}] * 2
    found = fuse(runs, "max", "max").to_dict()
    assert found == {"q": {"a": -1.0, "b": -4.0}, "p": {"a": 0.0, "b": -2.0}}


def test_depth_keeps_the_best() -> None:
    """`depth` limits the documents of each query."""
    assert fuse([ONE, TWO], depth=1).to_dict() == {
        query: dict(list(rows.items())[:1]) for query, rows in fuse([ONE, TWO]).to_dict().items()
    }


@pytest.mark.usefixtures("each_backend")
def test_any_depth_is_a_limit() -> None:
    """A depth beyond all machine words keeps everything."""
    assert fuse([ONE, TWO], depth=10**30).to_dict() == fuse([ONE, TWO]).to_dict()


@pytest.mark.usefixtures("each_backend")
def test_scores_beyond_all_numbers_are_an_error() -> None:
    """Weights that are too large are refused, also by methods that read only ranks."""
    with pytest.raises(DataError, match="not a finite number, found inf; the scores or weights"):
        fuse([ONE, TWO], "w_bordafuse", weights=[1e308, 1e308])


@pytest.mark.parametrize("rel", ["1", math.nan])
def test_the_lowest_grade_is_a_number(rel: Any) -> None:
    """A grade that is not a number would make nothing relevant, or everything."""
    with pytest.raises(ConfigurationError, match="rel must be a finite number, found"):
        train_fusion(QRELS, [ONE, TWO], "posfuse", rel=rel)


def test_a_model_can_be_kept() -> None:
    """A trained model survives JSON and fuses other queries of the same systems."""
    model = be.train_fusion(QRELS, [ONE, TWO], "probfuse", segments=2)
    kept = be.FusionModel.from_dict(json.loads(json.dumps(model.to_dict())))
    assert kept == model
    assert (
        be.fuse([ONE, TWO], kept).to_dict()
        == be.fuse([ONE, TWO], "probfuse", qrels=QRELS, segments=2).to_dict()
    )


@pytest.mark.usefixtures("each_backend")
def test_trained_numbers_by_hand() -> None:
    """Each run is trained on the judged queries for which it has documents."""

    def train(method: str, **given: Any) -> list[list[float]]:
        return [[*numbers] for numbers in train_fusion(QRELS, [ONE, TWO], method, **given).trained]

    assert train("posfuse") == [[1 / 2, 1 / 1, 0.0], [1 / 2, 2 / 2]]
    assert train("mapfuse") == [[(1 / 2 / 2 + 1) / 2], [(1 + 1 / 2) / 2]]
    assert train("probfuse", segments=2) == [[(1 / 2 + 1) / 2, 0.0], [1 / 2, 1.0]]
    assert train("segfuse")[0][:2] == [2 / 5 / 2, 0.0]
    odds = train("bayesfuse")[0]
    assert (odds[0], odds[4]) == (math.log(0.2 / 0.8), math.log(0.2 / 0.8))
    assert odds[5] == odds[-1] == math.log(0.001 / 0.999)
    assert len(odds) == 1000


def test_inverted_runs_are_trained_by_their_lowest_scores() -> None:
    """Distances rank the lowest first, also when a method is trained."""
    runs = [{q: {d: -s for d, s in rows.items()} for q, rows in run.items()} for run in (ONE, TWO)]
    plain = train_fusion(QRELS, [ONE, TWO], "posfuse")
    assert train_fusion(QRELS, runs, "posfuse", "min-max-inverted").trained == plain.trained
    assert fuse(runs, "rrf", "min-max-inverted").to_dict() == fuse([ONE, TWO]).to_dict()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "rff"}, "unknown method of fusion 'rff'; did you mean 'rrf'"),
        ({"method": 3}, "unknown method of fusion 3"),
        ({"norm": "min_max"}, "unknown normalization 'min_max'; did you mean 'min-max'"),
        ({"profile": "rank"}, "unknown profile 'rank'; did you mean 'ranx'"),
        ({"weights": [1]}, "rrf has 1 weight for 2 runs; one per run is needed"),
        ({"weights": [0, 0]}, "weights of rrf must be numbers of 0 or more"),
        ({"weights": [1, -1]}, "and not all 0; found"),
        ({"method": "sum", "weights": [1, 2]}, "sum takes no weights; use wsum"),
        ({"method": "bordafuse", "weights": [1, 2]}, "takes no weights; use w_bordafuse"),
        ({"method": "med", "weights": [1, 2]}, "med takes no weights$"),
        ({"method": "posfuse"}, "posfuse is trained on judgments: give qrels"),
        ({"kk": 3}, "rrf has no parameter 'kk'; did you mean 'k'"),
        ({"k": -1}, "k of rrf must be a number from 0 up, found -1"),
        ({"method": "rbc", "phi": 1.5}, "phi of rbc must be a number from 0 to below 1, found"),
        ({"method": "rbc", "phi": 1}, "phi of rbc must be a number from 0 to below 1, found 1"),
        ({"method": "probfuse", "segments": 2.5}, "segments of probfuse must be a whole number"),
        ({"depth": 0}, "depth must be a whole number of at least 1"),
        ({"method": FusionModel(), "k": 3}, "a fusion model has its own weights"),
        ({"method": "gmnz", "gamma": 2000}, "gamma of gmnz must be a number from 0 to 100"),
        ({"method": "slidefuse", "window": 2**64 - 1}, "window of slidefuse must be a whole"),
        ({"method": "probfuse", "segments": 10**12}, "segments of probfuse must be a whole"),
        ({"method": "wsum", "weights": 3}, "weights of wsum must be a list of numbers, found 3"),
    ],
)
def test_wrong_settings_are_refused(arguments: dict[str, Any], message: str) -> None:
    """One line says what was found and what is possible."""
    with pytest.raises(ConfigurationError, match=message):
        fuse([ONE, TWO], **arguments)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ({"method": "sum", "trained": [[1.0], [1.0]]}, "sum is not trained, but has trained"),
        ({"method": "bayesfuse", "trained": [[], [1.0]]}, "needs finite trained numbers for each"),
        ({"method": "posfuse", "trained": [[math.nan], [1.0]]}, "needs finite trained numbers"),
        ({"method": "posfuse", "trained": [["x"], [1.0]]}, "needs finite trained numbers"),
        ({"method": "posfuse", "trained": [3, 4]}, "trained numbers of posfuse must be a list"),
        ({"method": "posfuse", "trained": None}, "trained numbers of posfuse must be a list"),
        ({"method": "wsum", "weights": 3}, "weights of wsum must be a list of numbers, found 3"),
        ({"method": "rrf", "parameters": None}, "parameters of rrf must be a mapping"),
        ({"method": "rrf", "profile": ["ranx"]}, "unknown profile"),
        ({"method": "rrf", "wieghts": [1]}, "a fusion model has no field 'wieghts'; did you mean"),
    ],
)
def test_damaged_models_are_refused(model: dict[str, Any], message: str) -> None:
    """A model from a file is checked like one that was trained."""
    with pytest.raises(ConfigurationError, match=message):
        FusionModel.from_dict(model)


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ([ONE], "fusion needs two runs or more, found 1"),
        (ONE, "runs must be a list of runs, found dict"),
        ("bm25.run", "runs must be a list of runs, found str"),
        ([{"q": {"a": 1.0}}, {"p": {"a": 1.0}}], "no query is in two of the runs.* found 'q' in"),
        ([ONE, {}], "no query is in two of the runs"),
        ([ONE, {"q1": {"a": float("nan")}}], "must not be NaN"),
    ],
)
def test_wrong_runs_are_refused(runs: Any, message: str) -> None:
    """One run, runs without a common query, and scores that are not numbers are errors."""
    with pytest.raises((ConfigurationError, DataError), match=message):
        fuse(runs)


def test_infinite_scores_need_a_method_of_ranks() -> None:
    """An infinite score has a rank, but no size."""
    run = Run.from_dict({"q1": {"a": math.inf, "b": 1.0}}, name="bm25")
    assert fuse([run, TWO]).to_dict()["q1"]["a"] == 1 / 61
    with pytest.raises(DataError, match="bm25: the score of document 'a' for query 'q1' must be a"):
        fuse([run, TWO], "sum")
    huge = {"q1": {"a": 1e308, "b": -1e308}}
    with pytest.raises(DataError, match="is not a finite number"):
        fuse([huge, huge], "sum", "none")


@pytest.mark.parametrize("method", ["mapfuse", "bayesfuse", "probfuse"])
def test_judgments_without_a_relevant_document_cannot_train(method: str) -> None:
    """Nothing is learned from them, and every fused score would be the same."""
    runs = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 2.0}}]
    with pytest.raises(DataError, match="no grade is 2 or higher, the highest is 1; rel sets"):
        be.train_fusion({"q": {"a": 1}}, runs, method, rel=2)
    with pytest.raises(DataError, match="nothing to learn from: none of the relevant documents is"):
        be.fuse(runs, method, qrels={"q": {"A": 1}})


def test_judgments_of_other_queries_cannot_train() -> None:
    """The message names a query of each side."""
    with pytest.raises(DataError, match="no query of the run 'run' is judged, so mapfuse cannot"):
        fuse([ONE, TWO], "mapfuse", qrels={"other": {"a": 1}})


def test_results_are_tables_in_rank_order() -> None:
    """Rows are sorted, known to be distinct, and read-only."""
    table = fuse([ONE, TWO]).table
    assert table.distinct
    assert not table.values.flags.writeable
    first = table.values[table.offsets[0] : table.offsets[1]]
    assert np.all(first[1:] <= first[:-1])
