"""Fusion of tables: Python and native give the same bytes, on any number of threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal import backend
from berryeval.data.run import Run
from berryeval.errors import RepeatedDocumentError
from berryeval.fusion.methods import METHODS
from berryeval.fusion.model import FusionModel
from berryeval.fusion.recipe import NORMS, PROFILES
from berryeval.fusion.table_fusion import align_queries, fuse_tables

if TYPE_CHECKING:
    from berryeval.data.table import QueryTable

needs_native = pytest.mark.skipif(backend.native is None, reason="compares Python with native code")

ids = st.sampled_from(["a", "b", "c", "d", "e", "é", "d10", "d9", "a-much-longer-document-id"])
# Few values, so that many are equal; also negative and tiny ones, and both zeros.
scores = st.sampled_from([0.0, -0.0, 1.0, 2.0, 0.1, 0.3, -1.5, 1e-12, 7.25, 1e6])
rankings = st.dictionaries(ids, scores, max_size=9)
runs_of_queries = st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), rankings, max_size=3)
some_runs = st.lists(runs_of_queries, min_size=1, max_size=4)


@st.composite
def models(draw: Any, count: int) -> FusionModel:
    """A model of any method for this many runs, with random weights and trained numbers."""
    method = METHODS[draw(st.sampled_from(sorted(METHODS)))]
    weights: tuple[float, ...] = ()
    if method.weighting != "no" and draw(st.booleans()):
        weights = tuple(draw(st.sampled_from([0.0, 0.1, 0.5, 1.0])) for _ in range(count))
        weights = weights if any(weights) else ()
    parameters = {
        name: draw(st.sampled_from([one.default, *one.grid]))
        for name, one in method.parameters.items()
    }
    trained: tuple[tuple[float, ...], ...] = ()
    if method.train is not None:
        width = int(parameters.get("segments", draw(st.integers(1, 12))))
        numbers = st.lists(
            st.sampled_from([0.0, 0.1, 0.2, 0.7, 1.0]), min_size=width, max_size=width
        )
        trained = tuple(tuple(draw(numbers)) for _ in range(count))
    return FusionModel(
        method.name, draw(st.sampled_from(sorted(NORMS))), weights, parameters, trained,
        draw(st.sampled_from(sorted(PROFILES))),
    )  # fmt: skip


def fuse_on(
    monkeypatch: pytest.MonkeyPatch,
    native: Any,
    tables: list[QueryTable],
    model: FusionModel,
    *,
    threads: int = 2,
    depth: int | None = None,
) -> tuple[bytes, ...]:
    """Return the columns of a fusion on one of the backends."""
    with monkeypatch.context() as patched:
        patched.setattr(backend, "native", native)
        patched.setenv("BERRYEVAL_THREADS", str(threads))
        queries, places = align_queries(tables)
        fused = fuse_tables(tables, queries, places, model.build(tables), depth=depth)
    return (
        fused.queries.data.tobytes(), fused.offsets.tobytes(), fused.documents.data.tobytes(),
        fused.documents.offsets.tobytes(), fused.values.tobytes(),
    )  # fmt: skip


@needs_native
@given(st.data())
def test_python_and_native_give_the_same_bytes(data: Any) -> None:
    """Every method and norm: ties, missing queries and documents, one run, empty rankings."""
    runs = data.draw(some_runs)
    model = data.draw(models(len(runs)))
    depth = data.draw(st.sampled_from([None, 1, 3]))
    tables = [Run.from_dict(run).table for run in runs]
    with pytest.MonkeyPatch.context() as monkeypatch:
        native = fuse_on(monkeypatch, backend.native, tables, model, depth=depth)
        assert native == fuse_on(monkeypatch, None, tables, model, depth=depth)
        assert native == fuse_on(monkeypatch, backend.native, tables, model, threads=1, depth=depth)


@needs_native
def test_both_zeros_are_the_same_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sign of a zero has no effect, not even on the bits of a result."""
    tables = [Run.from_dict({"q": {"a": 0.0, "b": -0.0, "c": 1.0}}).table] * 2
    model = FusionModel("max")
    native = fuse_on(monkeypatch, backend.native, tables, model)
    assert native == fuse_on(monkeypatch, None, tables, model)
    assert native[-1] == np.array([1.0, 0.0, 0.0]).tobytes()


@needs_native
@pytest.mark.parametrize("method", sorted(METHODS))
def test_long_rankings_give_the_same_bytes(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rankings long enough for every path of the native sort, in and out of order."""
    random = np.random.default_rng(1)
    runs = []
    for _ in range(3):
        found = {}
        for query in range(5):
            documents = random.permutation(900)[: random.integers(300, 700)]
            values = random.choice([random.normal(), 1.0, *random.normal(size=200)], len(documents))
            rows = {f"d{name}": float(value) for name, value in zip(documents, values, strict=True)}
            found[f"q{query}"] = dict(sorted(rows.items(), key=lambda row: -row[1])[:600])
        runs.append(Run.from_dict(found))
    trained: tuple[tuple[float, ...], ...] = ()
    if METHODS[method].train is not None:
        trained = (tuple(random.random(25).tolist()),) * 3
    model = FusionModel(method, "zmuv", trained=trained)
    tables = [run.table for run in runs]
    native = fuse_on(monkeypatch, backend.native, tables, model)
    assert native == fuse_on(monkeypatch, None, tables, model)


@pytest.mark.parametrize("python", [False, True])
def test_a_repeated_document_is_an_error(python: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message names the first repeated row in the order of the file."""
    if python:
        monkeypatch.setattr(backend, "native", None)
    good = Run.from_dict({"q": {"a": 1.0, "b": 2.0}})
    rows = [("q", "a", 3.0, ""), ("q", "b", 2.0, ""), ("q", "b", 9.0, ""), ("q", "a", 1.0, "")]
    table = type(good.table).from_records(rows, kind="run")
    queries, places = align_queries([good.table, table])
    recipe = FusionModel("rrf").build([good.table, table])
    with pytest.raises(RepeatedDocumentError, match="document 'b' appears twice in query 'q'"):
        fuse_tables([good.table, table], queries, places, recipe)


def test_queries_of_all_runs_in_order_of_appearance() -> None:
    """A query that a run lacks has the place -1."""
    runs = [{"b": {"d": 1.0}, "a": {"d": 1.0}}, {"c": {"d": 1.0}, "a": {"d": 1.0}}]
    queries, places = align_queries([Run.from_dict(run).table for run in runs])
    assert list(queries) == ["b", "a", "c"]
    assert places.tolist() == [[0, 1, -1], [-1, 1, 0]]
