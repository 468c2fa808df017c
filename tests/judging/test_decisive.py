"""`decisive` asks for the pairs that decide, stops then, and reports a true probability."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from berryeval.data import Anchor
from berryeval.judging import (
    Pair,
    PairChooser,
    Pool,
    Stop,
    Vote,
    build_contests,
    choose_pairs,
    make_pair_id,
    next_pair,
)  # fmt: skip
from berryeval.judging.grade_model import Chance, GradeModel
from tests.judging.test_contest import draw_world

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from simulate_judging import BENCHMARKS, DOCUMENT, HEADER, build_pool, judge_until_decided


def make_world(seed: int = 0, **options: float) -> tuple[Pool, dict[str, float]]:
    """Build a pool with real pairs of a drawn world."""
    drawn, grades = draw_world(seed, **options)  # type: ignore[arg-type]
    pairs: dict[str, Pair] = {}
    for own in drawn.rankings.values():
        for query, hits in own.items():
            for name in hits:
                target = Anchor(document=name)
                pairs[name] = Pair(make_pair_id(query, target), query, target)
    rankings = {
        system: {query: [pairs[name].id for name in hits] for query, hits in own.items()}
        for system, own in drawn.rankings.items()
    }
    pool = replace(drawn, pairs=tuple(pairs.values()), rankings=rankings)
    return pool, {pairs[name].id: grades[name] for name in pairs}


def cast(pair: Pair, grade: float, judge: str = "ann") -> Vote:
    return Vote(pair.query_id, pair.target, grade, judge, time="2026-01-01T00:00:00Z")


def test_a_judge_is_asked_until_the_verdict_is_decided() -> None:
    pool, grades = make_world(2, gap=1.0)
    chooser = PairChooser(pool)
    votes: list[Vote] = []
    while isinstance(found := chooser.next_pair(votes, "ann"), Pair):
        assert found.id not in {make_pair_id(one.query_id, one.target) for one in votes}
        votes.append(cast(found, grades[found.id]))
    assert isinstance(found, Stop)
    assert found.reason.startswith("decided: new is better than old (nDCG@5, probability 9")
    assert 30 <= len(votes) < len(pool.pairs) / 2
    again = next_pair(pool, votes[:-1], "ann")
    assert isinstance(again, Pair)
    assert again.target == votes[-1].target  # the same without the tables of the chooser


def test_a_second_judge_is_not_asked_what_is_decided() -> None:
    pool, grades = make_world(2, gap=1.0)
    votes = [cast(pair, grades[pair.id]) for pair in pool.pairs]
    assert next_pair(pool, votes, "ann") == Stop("ann has judged every pair of the pool")
    other = next_pair(pool, votes, "ben")
    assert isinstance(other, Stop)
    assert "new is better than old (nDCG@5, probability 100%)" in other.reason


def test_pairs_that_move_the_difference_more_come_earlier() -> None:
    places = []
    for seed in range(20):
        pool, _ = make_world(seed)
        (contest,) = build_contests(replace(pool, seed=seed))
        contest.judge({})
        rates = contest.rate()
        order = choose_pairs([contest], len(pool.pairs), seed)
        assert set(order) == {name for name, rate in rates.items() if rate > 0}
        moved = [rates[name] for name in order]
        places.append(np.mean(moved[: len(moved) // 4]) - np.mean(moved[-len(moved) // 4 :]))
    assert min(places) > 0.1


def test_the_judged_pairs_of_a_rank_are_a_random_sample() -> None:
    """The order depends on nothing but the ranks and the seed, so not on grades or queries."""
    pool, grades = make_world(3)
    (contest,) = build_contests(pool)
    contest.judge({})
    before = choose_pairs([contest], len(grades), 3)
    some = {name: grades[name] for name in before[:40]}
    contest.judge(some)
    assert choose_pairs([contest], len(grades), 3) == before[40:]


def test_other_strategies_follow_the_order_of_the_pool() -> None:
    pool, _ = make_world()
    plain = replace(pool, strategy="depth")
    first, second = plain.pairs[:2]
    assert next_pair(plain, [], "ann") == first
    assert next_pair(plain, [cast(first, 1)], "ann") == second
    assert next_pair(plain, [cast(first, 1)], "ben") == first
    assert next_pair(plain, [cast(first, 1)], "ann", [second.id]) == plain.pairs[2]
    everything = next_pair(plain, [], "ann", [pair.id for pair in plain.pairs])
    assert isinstance(everything, Stop)
    assert "were passed over" in everything.reason
    alone = replace(pool, rankings={"old": pool.rankings["old"]})
    assert next_pair(alone, [], "ann") == pool.pairs[0]


def test_the_model_learns_rates_by_rank_system_and_query() -> None:
    chance = np.random.default_rng(0)
    ranks = np.tile(np.vstack([[*range(1, 11), *[0] * 10], [*[0] * 10, *range(1, 11)]]), 60)
    query_of = np.repeat(np.arange(60), 20)
    easy = chance.normal(0, 1, 60)[query_of]
    odds = -1.5 + 2 / np.log2(1 + ranks.max(axis=0)) + 1.0 * (ranks[1] > 0) + easy
    relevant = chance.random(len(odds)) < 1 / (1 + np.exp(-odds))
    levels = relevant * chance.choice([1, 2], size=len(odds), p=[0.7, 0.3])
    model = GradeModel(ranks, query_of, 60, 3)
    judged = np.sort(chance.permutation(len(odds))[:400])
    left = np.setdiff1d(np.arange(len(odds)), judged)
    drawn = model.draw(model.fit(judged, levels[judged]), left, Chance(0, 256, len(odds), 60))
    for group in (ranks[0] > 0, ranks[1] > 0, ranks.max(axis=0) <= 3, ranks.max(axis=0) > 5):
        rates = (drawn[group[left]] > 0).mean(axis=0)
        assert abs(rates.mean() - relevant[left][group[left]].mean()) < 3 * rates.std()
        assert 0.005 < rates.std() < 0.06  # how sure it is
    predicted = (drawn > 0).mean(axis=1)
    assert np.corrcoef(predicted, easy[left])[0, 1] > 0.4  # queries differ
    assert np.mean(drawn == 2) == pytest.approx(np.mean(levels[left] == 2), abs=0.04)


def test_a_small_simulation_is_right_with_a_quarter_of_the_judgments() -> None:
    """`make simulate-judging` does the same on the golden sets with many more queries."""
    chance = np.random.default_rng(1)
    trials = []
    for seed, skill in enumerate([0.25, 0.25, 0.05, 0.05]):
        shared = chance.random(60) < 0.15  # both have one passage at the bottom
        systems = {}
        for name, own in (("old", 0.15), ("new", 0.15 + skill)):
            systems[name] = {
                f"q{query}": [
                    *((f"{name} {rank}", 2.0 * (chance.random() < own)) for rank in range(9)),
                    ("both", 2.0 * shared[query]),
                ]
                for query in range(60)
            }
        pool, grades = build_pool(systems, [f"q{query}" for query in range(60)], seed)
        trials.append(judge_until_decided(pool, grades, seed))
    assert [one.verdict for one in trials] == [one.truth for one in trials]
    assert [one.verdict for one in trials[:2]] == ["better", "better"]
    assert all(one.share <= 0.25 for one in trials[:2])
    assert all(one.probability >= 0.95 for one in trials)


def test_the_page_has_the_table_of_the_simulation() -> None:
    page = DOCUMENT.read_text(encoding="utf-8")
    table = page.partition("<!-- begin decisive -->\n")[2].partition("<!-- end decisive -->")[0]
    header, _, *rows = [line.strip("| ").split(" | ") for line in table.strip().splitlines()]
    assert header == HEADER
    assert {row[0] for row in rows} == {*BENCHMARKS, "all"}
    share, right, error = rows[-1][3], rows[-1][6], rows[-1][8]
    assert f"**{share.replace('%', ' %')}** of the judgments" in page
    assert float(right.strip("%")) + float(error.strip("%")) == pytest.approx(100)
