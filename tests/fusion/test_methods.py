"""Methods of fusion: ranx agrees, and majorities decide where ranx depends on chance."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from berryeval.fusion.methods import METHODS
from berryeval.fusion.model import fuse
from tests.ranx_oracle import load_ranx

NORMS = ["min-max", "min-max-inverted", "max", "sum", "zmuv", "rank", "borda", None]
WEIGHTS = [0.5, 0.3, 0.2]
PARAMETERS: dict[str, dict[str, Any]] = {
    "gmnz": {"gamma": 0.4},
    "logn_isr": {"sigma": 0.2},
    "rbc": {"phi": 0.7},
}
# Ours and those of ranx, where the names differ.
OURS: dict[str, dict[str, Any]] = {"probfuse": {"segments": 4}, "slidefuse": {"window": 3}}
THEIRS: dict[str, dict[str, Any]] = {"slidefuse": {"w": 3}}
TABLES = {"bayesfuse": "log_odds", "mapfuse": "map_scores"}


def build_runs(lengths: tuple[int, ...]) -> list[dict[str, dict[str, float]]]:
    """Build runs of four queries without ties."""
    drawn = random.Random(7)
    scores = [number / 7 for number in range(1, 400)]
    return [
        {
            f"q{query}": dict(
                zip(
                    [f"d{place}" for place in drawn.sample(range(30), length)],
                    drawn.sample(scores, length),
                    strict=True,
                )
            )
            for query in range(4)
        }
        for length in lengths
    ]


RUNS = build_runs((24, 15, 20))
QRELS = {
    f"q{query}": {f"d{place}": place % 3 for place in range(query, 30, 2)} for query in range(4)
}


def fuse_with_ranx(method: str, norm: str | None) -> dict[str, dict[str, float]]:
    """Normalize, train and fuse with ranx."""
    fusion, normalization = load_ranx("ranx.fusion"), load_ranx("ranx.normalization")
    ranx = load_ranx()
    runs = [ranx.Run(run) for run in RUNS]
    if norm == "borda":
        runs = normalization.norm_switch(norm)(runs)
    elif norm is not None:
        runs = [normalization.norm_switch(norm)(run) for run in runs]
    given = {**PARAMETERS.get(method, {}), **THEIRS.get(method, {})}
    if METHODS[method].weighting != "no" and method != "rrf":
        given["weights"] = WEIGHTS
    if METHODS[method].train is not None:
        segments = [4] if method == "probfuse" else []
        train = getattr(fusion, f"{method}_train")
        given[TABLES.get(method, "probs")] = train(ranx.Qrels(QRELS), runs, *segments)
    fused = fusion.fusion_switch(method)(runs, **given)
    return {query: dict(rows) for query, rows in fused.run.items()}


# Majorities have tests of their own; after the norm borda ranx ranks by chance.
PAIRS = [
    (method, norm)
    for method in METHODS
    for norm in NORMS
    if METHODS[method].combine != "condorcet"
    and (norm != "borda" or METHODS[method].points == "score")
]


@pytest.mark.parametrize(("method", "norm"), PAIRS)
def test_ranx_agrees(method: str, norm: str | None) -> None:
    """Every method after every norm, apart from majorities, gives the scores of ranx."""
    weighted = METHODS[method].weighting != "no" and method != "rrf"
    ours = fuse(
        RUNS, method, norm,
        weights=WEIGHTS if weighted else None,
        qrels=QRELS if METHODS[method].train is not None else None,
        **PARAMETERS.get(method, {}), **OURS.get(method, {}),
    ).table.to_dict()  # fmt: skip
    theirs = fuse_with_ranx(method, norm)
    assert {*ours} == {*theirs}
    for query, rows in theirs.items():
        assert ours[query] == pytest.approx(rows, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("norm", ["min-max", "min-max-inverted", "max", "sum", "zmuv"])
def test_the_profile_of_ranx_divides_by_at_least_a_billionth(norm: str) -> None:
    """Equal scores, negative scores and a single document give the numbers of ranx."""
    ranx, normalization = load_ranx(), load_ranx("ranx.normalization")
    runs = [{"q": {"a": 2.5, "b": 2.5}, "p": {"a": -1.0, "b": -3.0}}, {"q": {"c": 4.0}, "p": {}}]
    theirs = ranx.Run(dict(runs[0]))
    wanted = normalization.norm_switch(norm)(theirs).run
    ours = fuse(runs, "sum", norm, profile="ranx").table.to_dict()
    for query, rows in wanted.items():
        found = {name: score for name, score in ours[query].items() if name != "c"}
        assert found == pytest.approx(dict(rows))


@pytest.mark.parametrize("method", ["condorcet", "w_condorcet"])
def test_majorities_without_circles_are_those_of_ranx(method: str) -> None:
    """Where majorities order all documents, ranx finds the same order."""
    order = [f"d{place}" for place in range(12)]
    runs = []
    for swapped in range(3):  # each run swaps one other pair
        names = order.copy()
        names[swapped * 4 : swapped * 4 + 2] = names[swapped * 4 : swapped * 4 + 2][::-1]
        runs.append({"q": {name: 1.0 / (1 + place) for place, name in enumerate(names)}})
    weights = [0.4, 0.3, 0.3] if method == "w_condorcet" else None
    ours = fuse(runs, method, weights=weights).table.to_dict()
    given = {} if weights is None else {"weights": weights}
    ranx, fusion = load_ranx(), load_ranx("ranx.fusion")
    theirs = fusion.fusion_switch(method)([ranx.Run(run) for run in runs], **given).run
    assert ours["q"] == dict(theirs["q"])
    assert list(ours["q"]) == order


def test_no_document_is_beaten_by_the_next() -> None:
    """Majorities may form circles; the order never contradicts one between neighbors."""
    fused = fuse(RUNS, "condorcet").table.to_dict()
    for query, rows in fused.items():
        rankings = [sorted(run[query], key=run[query].__getitem__, reverse=True) for run in RUNS]
        places = [{name: place for place, name in enumerate(names)} for names in rankings]
        for one, after in itertools.pairwise(rows):
            votes = [place.get(one, 99) - place.get(after, 99) for place in places]
            assert sum(vote > 0 for vote in votes) <= sum(vote < 0 for vote in votes)


def test_runs_without_a_majority_fall_back_on_borda() -> None:
    """Two runs that disagree leave pairs undecided; then the Borda count decides, then the id."""
    runs = [{"q": {"a": 3.0, "b": 2.0, "c": 1.0}}, {"q": {"c": 3.0, "a": 2.0, "b": 1.0}}]
    assert list(fuse(runs, "condorcet").table.to_dict()["q"]) == ["a", "c", "b"]


def test_every_method_of_ranx_is_there() -> None:
    """The names are those of ranx."""
    names = set()
    for name in METHODS:
        load_ranx("ranx.fusion").fusion_switch(name)
        names.add(name)
    assert len(names) == 25


def test_weights_of_rrf() -> None:
    """Weighted reciprocal ranks: weight / (k + rank)."""
    runs = [{"q": {"a": 2.0, "b": 1.0}}, {"q": {"b": 5.0}}]
    fused = fuse(runs, "rrf", weights=[0.25, 1], k=10).table.to_dict()["q"]
    assert fused == {"b": 0.25 / 12 + 1 / 11, "a": 0.25 / 11}
