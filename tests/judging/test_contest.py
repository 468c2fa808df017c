"""A contest says what a comparison will say, how sure that is, and how far it can still move."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

import berryeval as be
from berryeval.data import Anchor
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import Pair, Pool, build_contests
from berryeval.judging.contest import find_certain, verdicts_of
from berryeval.stats import paired_test

Rankings = Mapping[str, Mapping[str, list[str | float]]]


def make_pool(rankings: Rankings, *, highest: float = 2.0, **fields: object) -> Pool:
    """Build a pool of these rankings, whose pairs are named by query and document."""
    return Pool("fruit", "sha256:x", "decisive", 5, 0, highest=highest, rankings=rankings, **fields)  # type: ignore[arg-type]


def draw_world(seed: int, queries: int = 30, gap: float = 0.4) -> tuple[Pool, dict[str, float]]:
    """Draw two systems over the same documents, of which the second is better."""
    chance = np.random.default_rng(seed)
    rankings: dict[str, dict[str, list[str | float]]] = {"old": {}, "new": {}}
    grades: dict[str, float] = {}
    for query in range(queries):
        names = [f"q{query:02} d{number:02}" for number in range(20)]
        relevant = chance.random(20) < chance.beta(1, 3)
        grades |= {
            n: float(g * chance.integers(1, 3)) for n, g in zip(names, relevant, strict=True)
        }
        for system, skill in (("old", 0.5), ("new", 0.5 + gap)):
            score = chance.normal(size=20) + skill * 3 * relevant
            best = np.argsort(-score)[:5]
            rankings[system][f"q{query:02}"] = [names[place] for place in best]
    return make_pool(rankings), grades


def score(pool: Pool, grades: Mapping[str, float], metric: str) -> dict[str, list[float]]:
    """Score the rankings by the scoring of any run; only pairs of the rankings are judged."""
    shown = {one for own in pool.rankings.values() for hits in own.values() for one in hits}
    found = {}
    for system, own in pool.rankings.items():
        qrels = {
            query: {name: grades[name] for name in shown if name.startswith(query)} for query in own
        }
        run = {
            query: {name: -float(rank) for rank, name in enumerate(hits)}
            for query, hits in own.items()
        }
        found[system] = list(be.evaluate(qrels, run, [metric]).per_query(metric).values())
    return found


METRICS = ["nDCG@5", "nDCG(dcg='exp-log2')@3", "DCG@5", "P@3", "P(rel=2)@5", "RBP@5"]


@pytest.mark.parametrize("metric", METRICS)
def test_with_all_grades_the_contest_is_the_comparison(metric: str) -> None:
    for seed in range(4):
        pool, grades = draw_world(seed, gap=seed / 4)
        (contest,) = build_contests(pool, [metric])
        contest.judge(grades)
        found = contest.look()
        true = score(pool, grades, metric)
        difference = np.mean(true["new"]) - np.mean(true["old"])
        assert found.difference == pytest.approx(difference, abs=1e-12)
        assert (found.low, found.high) == pytest.approx((difference, difference), abs=1e-12)
        test = paired_test("randomization", true["old"], true["new"])
        significant = test.p is not None and test.p < 0.05
        word = ("better" if difference > 0 else "worse") if significant else ""
        assert found.verdict == (word or "no significant difference")
        assert (found.probability, found.is_certain, found.is_decided) == (1.0, True, True)


@pytest.mark.parametrize("metric", ["nDCG@5", "nDCG(dcg='exp-log2')@4", "DCG@3", "P(rel=2)@5"])
def test_bounds_are_the_extremes_over_all_grades(metric: str) -> None:
    rankings: Rankings = {
        "old": {"q0": ["q0 a", "q0 b", 1.0, "q0 c"], "q1": ["q1 a", "q1 b"]},
        "new": {"q0": ["q0 d", "q0 a", "q0 c", 2.0], "q1": ["q1 b", "q1 a", "q1 c"]},
    }
    pool = make_pool(rankings, known={"q0": [2.0, 1.0, 1.0], "q1": [1.0]})
    (contest,) = build_contests(pool, [metric])
    known = {"q0 b": 1.0, "q1 c": 0.0}
    contest.judge(known)
    left = ["q0 a", "q0 c", "q0 d", "q1 a", "q1 b"]
    values = []
    for drawn in itertools.product((0.0, 1.0, 2.0), repeat=len(left)):
        contest.judge({**known, **dict(zip(left, drawn, strict=True))})
        values.append(contest.look().difference)
    contest.judge(known)
    found = contest.look()
    assert (found.low, found.high) == pytest.approx((min(values), max(values)), abs=1e-12)
    assert min(values) <= found.difference < max(values)
    assert (found.pairs, found.judged) == (
        (7, 2) if "nDCG" in metric else (found.pairs, found.judged)
    )


def test_a_pair_that_both_rank_alike_changes_no_sum() -> None:
    rankings: Rankings = {"old": {"q0": ["a", "b"]}, "new": {"q0": ["a", "c"]}}
    sums, ratio = build_contests(make_pool(rankings), ["DCG@5", "nDCG@5"])
    for contest, pairs in ((sums, 2), (ratio, 3)):
        contest.judge({})
        assert contest.look().pairs == pairs
        rates = contest.rate()
        assert min(rates["b"], rates["c"]) > rates["a"]
        assert (rates["a"] > 0) == (contest is ratio)  # it moves the ideal ranking


def test_grades_of_other_systems_count_in_the_ideal_ranking() -> None:
    target = Anchor(document="c")
    other = Pair("q0 c", "q0", target)
    rankings: Rankings = {
        "old": {"q0": ["q0 a", "q0 b"]},
        "new": {"q0": ["q0 b", "q0 a"]},
        "third": {"q0": ["q0 c"]},
    }
    first, second = build_contests(make_pool(rankings, pairs=(other,)))
    assert (first.system, second.system) == ("new", "third")
    first.judge({"q0 a": 0.0, "q0 b": 2.0})
    alone = first.look().difference
    first.judge({"q0 a": 0.0, "q0 b": 2.0, "q0 c": 2.0})
    both = first.look().difference
    assert alone == pytest.approx(1 - 1 / np.log2(3))
    assert both == pytest.approx(alone / (1 + 1 / np.log2(3)))


def test_rankings_without_unjudged_hits_have_a_verdict() -> None:
    hits: dict[str, list[str | float]] = {"old": [0.0, 1.0], "new": [1.0, 0.0]}
    rankings = {name: {f"q{n}": [*own] for n in range(8)} for name, own in hits.items()}
    pool = make_pool(rankings, known={f"q{n}": [1.0, 0.0] for n in range(8)})
    (contest,) = build_contests(pool)
    contest.judge({})
    found = contest.look()
    assert (found.verdict, found.is_certain, found.pairs) == ("better", True, 0)
    assert found.difference == pytest.approx(1 - 1 / np.log2(3))


@pytest.mark.parametrize("seed", range(3))
def test_verdicts_are_those_of_the_t_test(seed: int) -> None:
    chance = np.random.default_rng(seed)
    values = chance.normal(0.15, 0.5, size=(25, 40))
    for column, verdict in zip(values.T, verdicts_of(values), strict=True):
        found = paired_test("t", np.zeros(25), column)
        assert found.p is not None
        assert verdict == (np.sign(column.mean()) if found.p < 0.05 else 0)
    few = np.zeros((25, 1))
    few[:5] = 1.0
    assert verdicts_of(few) == [0]  # five queries can never be significant


def test_a_certain_verdict_holds_for_everything_between_the_bounds() -> None:
    chance = np.random.default_rng(7)
    found = set()
    for _ in range(300):
        middle = chance.normal(chance.normal(0, 0.3), 0.3, size=12)
        reach = chance.random(12) * chance.choice([0.02, 0.1, 0.5])
        low, high = middle - reach, middle + reach
        certain = find_certain(low, high)
        found.add(certain)
        if certain is not None:
            inside = low[:, None] + (high - low)[:, None] * chance.random((12, 200))
            assert set(verdicts_of(np.column_stack([low, high, inside]))) == {certain}
    assert found == {-1, 0, 1, None}


def test_the_probability_of_a_verdict_grows_and_is_the_same_again() -> None:
    pool, grades = draw_world(3, queries=40, gap=1.0)
    (contest,) = build_contests(pool)
    names = sorted(contest.ids)[::2]
    contest.judge({name: grades[name] for name in names[:40]})
    few = contest.weigh()
    contest.judge({name: grades[name] for name in names})
    many = contest.weigh()
    assert many[0] == "better"
    assert many[1] > max(0.8, few[1] - 0.05)
    (again,) = build_contests(pool)
    again.judge({name: grades[name] for name in names})
    assert again.weigh() == many


def test_without_judgments_no_system_is_favoured() -> None:
    pool, _ = draw_world(5)
    turned = replace(pool, rankings={name: pool.rankings[name] for name in ("new", "old")})
    for one in (pool, turned):
        (contest,) = build_contests(one)
        contest.judge({})
        found = contest.look()
        assert not found.is_decided
        assert found.low == pytest.approx(-found.high, abs=0.25)


def test_pools_of_one_system_and_other_metrics_are_rejected() -> None:
    pool = make_pool({"old": {"q0": ["a"]}})
    with pytest.raises(DataError, match="the pool has 1 system; a comparison needs two"):
        build_contests(pool)
    two = replace(pool, rankings={"old": {"q0": ["a"]}, "new": {"q0": ["b"]}})
    with pytest.raises(ConfigurationError, match=r"RR is not a sum .* use RBP@5"):
        build_contests(two, ["RR"])


def test_the_model_is_not_trusted_with_systems_that_chunk_differently() -> None:
    pool, grades = draw_world(3, queries=40, gap=1.0)
    other = {q: [f"{name} piece" for name in hits] for q, hits in pool.rankings["new"].items()}
    pieces = replace(pool, rankings={"old": pool.rankings["old"], "new": other})
    grades |= {f"{name} piece": grade for name, grade in grades.items()}
    alike, (contest,) = build_contests(pool), build_contests(pieces)
    assert alike[0].enough == 30
    assert contest.enough == len(contest.ids)
    contest.judge({name: grades[name] for name in contest.ids[:-20]})
    assert not contest.is_decided()
    contest.judge(grades)
    assert contest.is_decided()
