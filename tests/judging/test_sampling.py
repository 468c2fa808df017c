"""Random pools: probabilities as designed, and estimates without bias."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import berryeval as be
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import Pool, draw_pairs, estimate, find_probabilities
from berryeval.judging.sampling import estimate_queries
from tests.judging.test_pool import make_pair

RANKS = {f"p{place}": 1 + place % 10 for place in range(400)}


def test_probabilities_fall_with_the_rank_and_add_up_to_the_share() -> None:
    found = find_probabilities(RANKS, share=0.3)
    assert sum(found.values()) == pytest.approx(0.3 * 400, abs=1e-9)
    for name, p in found.items():
        assert p == pytest.approx(found["p0"] / math.log2(RANKS[name] + 1))


@pytest.mark.parametrize(("share", "count"), [(1.0, None), (None, 400), (None, 10_000)])
def test_everything_can_be_drawn(share: float | None, count: int | None) -> None:
    found = find_probabilities(RANKS, share=share, count=count)
    assert set(found.values()) == {1.0}
    assert draw_pairs(found, 0) == list(RANKS)


def test_systems_that_never_differ_have_no_interval_of_the_difference() -> None:
    """An interval from 0 to 0 would claim certainty about queries that were not asked."""
    ranked = {f"q{n}": [1.0, float(n % 2)] for n in range(12)}
    pool = Pool("fruit", "sha256:x", "random", 2, 0, (), rankings={"one": ranked, "two": ranked})
    one, two, difference = estimate(pool, {}, "P@2")
    assert one.interval == two.interval
    assert one.interval is not None
    assert (difference.mean, difference.interval) == (0.0, None)


def test_the_top_is_certain_if_the_share_is_large() -> None:
    found = find_probabilities(RANKS, count=200)
    assert sum(found.values()) == pytest.approx(200, abs=1e-9)
    assert found["p0"] == 1.0 > found["p9"] > 0.3


def test_a_draw_has_about_the_expected_size_and_grows_with_the_share() -> None:
    sizes = [len(draw_pairs(find_probabilities(RANKS, share=0.2), seed)) for seed in range(200)]
    assert np.mean(sizes) == pytest.approx(80, abs=4 * 8 / math.sqrt(200))
    smaller, larger = (set(draw_pairs(find_probabilities(RANKS, share=s), 5)) for s in (0.2, 0.4))
    assert smaller < larger


# Two systems share some pairs; one hit of each is judged already.
GRADES = {"a": 2.0, "b": 0.0, "c": 1.0, "d": 3.0, "e": 1.0, "f": 0.0, "g": 2.0}
PAIRS = {name: make_pair("q1" if name in "abcd" else "q2", name) for name in GRADES}
IDS = {name: pair.id for name, pair in PAIRS.items()}
P = dict(zip(GRADES, (0.9, 0.5, 0.4, 0.25, 0.7, 0.3, 0.6), strict=True))


def _rank(*names: str | float) -> list[str | float]:
    return [IDS[one] if isinstance(one, str) else one for one in names]


RANKINGS = {
    "old": {"q1": _rank("a", 2.0, "b", "c"), "q2": _rank("e", "f")},
    "new": {"q1": _rank("d", "a", "c", 1.0), "q2": _rank("g", "e", 0.0)},
}


def _pool(drawn: tuple[str, ...]) -> Pool:
    pairs = tuple(replace(PAIRS[name], probability=P[name]) for name in drawn)
    return Pool("fruit", "sha256:x", "random", 4, 0, pairs, rankings=RANKINGS)


def _true_values(metric: str) -> dict[str, list[float]]:
    """The values if every pair were judged, by the scoring of any run."""
    found = {}
    for system, queries in RANKINGS.items():
        qrels: dict[str, dict[str, float]] = {}
        run = {}
        for query, entries in queries.items():
            names = [one if isinstance(one, str) else f"known-{one}" for one in entries]
            run[query] = {name: -float(rank) for rank, name in enumerate(names)}
            back = {IDS[name]: grade for name, grade in GRADES.items()}
            qrels[query] = {name: back.get(name, 0.0) for name in names}
            qrels[query] |= {f"known-{one}": float(one) for one in entries if one not in back}
        found[system] = list(be.evaluate(qrels, run, [metric]).per_query(metric).values())
    return found


@pytest.mark.parametrize(
    "metric", ["P@4", "P(rel=2)@3", "DCG@4", "DCG(dcg='exp-log2')@2", "RBP@4", "NumRelRet@4"]
)
def test_the_mean_of_all_samples_is_the_true_value(metric: str) -> None:
    """Enumerate all 2^7 samples of the design, each with its probability."""
    expected = {system: np.zeros(2) for system in RANKINGS}
    squared, total = 0.0, 0.0
    for kept in itertools.product((False, True), repeat=len(GRADES)):
        drawn = tuple(name for name, chosen in zip(GRADES, kept, strict=True) if chosen)
        chance = math.prod(P[one] if one in drawn else 1 - P[one] for one in GRADES)
        grades = {IDS[name]: GRADES[name] for name in drawn}
        queries, values = estimate_queries(_pool(drawn), grades, metric)
        assert queries == ["q1", "q2"]
        total += chance
        for system, column in values.items():
            expected[system] += chance * column
        squared += chance * float((values["new"] - values["old"]).mean()) ** 2
    assert total == pytest.approx(1)
    true = _true_values(metric)
    for system, column in expected.items():
        assert column == pytest.approx(true[system], abs=1e-12)
    difference = np.mean(true["new"]) - np.mean(true["old"])
    assert squared > difference**2  # the samples do vary


def test_differences_come_with_intervals() -> None:
    grades = {IDS[name]: grade for name, grade in GRADES.items()}
    whole = replace(_pool(tuple(GRADES)), pairs=tuple(PAIRS.values()))
    found = estimate(whole, grades, "P@4")
    assert [(one.system, one.baseline) for one in found] == [
        ("old", ""), ("new", ""), ("new", "old"),
    ]  # fmt: skip
    true = _true_values("P@4")
    assert found[2].mean == pytest.approx(np.mean(true["new"]) - np.mean(true["old"]))
    assert found[1].interval is not None


def test_pairs_without_a_grade_and_metrics_that_are_no_sums_are_rejected() -> None:
    pool = _pool(("a", "b"))
    with pytest.raises(DataError, match="1 of 2 drawn pairs have no grade yet"):
        estimate(pool, {IDS["a"]: 1.0}, "P@4")
    for metric, instead in {"nDCG@4": "DCG@4", "AP@4": "RBP@4", "R@4": "P@4"}.items():
        with pytest.raises(ConfigurationError, match=f"{metric} is not a sum .* use {instead}"):
            estimate(pool, {IDS["a"]: 1.0, IDS["b"]: 0.0}, metric)
    with pytest.raises(ConfigurationError, match="DCG@20 looks at 20 hits, and 4 are pooled"):
        estimate(pool, {IDS["a"]: 1.0, IDS["b"]: 0.0}, "DCG@20")


@pytest.mark.parametrize("share", [0, -0.1, 1.5, float("nan"), "x"])
def test_a_share_outside_of_0_to_1_is_rejected(share: float) -> None:
    with pytest.raises(ConfigurationError, match="share must be a number above 0 and at most 1"):
        find_probabilities(RANKS, share=share)
