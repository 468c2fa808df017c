"""A pool holds pairs in a blind order and loses none when it grows."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import pytest

from berryeval.data import Anchor
from berryeval.errors import DataError
from berryeval.judging import Pair, Pool, Vote, make_pair_id, shuffle_pairs
from berryeval.judging.pool import draw_number, order_pairs, read_rankings


def make_pair(query: str, document: str, **fields: object) -> Pair:
    target = Anchor(document=document)
    return Pair(make_pair_id(query, target), query, target, **fields)  # type: ignore[arg-type]


PAIRS = [make_pair(f"q{q}", f"d{d}", text=f"Text {d}.") for q in range(4) for d in range(5)]
POOL = Pool("fruit", "sha256:x", "depth", 5, 0, shuffle_pairs(PAIRS, 0))


def test_a_pool_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    pool = replace(POOL, rankings={"a": {"q0": [PAIRS[0].id, 2.0]}}, known={"q0": [2.0, 1.0]})
    pool.write(tmp_path / "pool.json")
    assert Pool.read(tmp_path / "pool.json") == pool


def test_the_order_depends_on_the_seed_only_and_keeps_queries_together() -> None:
    order = shuffle_pairs(PAIRS, 3)
    assert shuffle_pairs(reversed(PAIRS), 3) == order
    assert shuffle_pairs(PAIRS, 4) != order
    assert set(order) == set(PAIRS)
    queries = [pair.query_id for pair in order]
    assert sum(one != other for one, other in itertools.pairwise(queries)) == 3
    assert queries[::5] != ["q0", "q1", "q2", "q3"]


def test_random_numbers_of_pairs_are_uniform() -> None:
    drawn = [draw_number(0, str(number)) for number in range(4000)]
    counts = [sum(low <= one < low + 0.25 for one in drawn) for low in (0, 0.25, 0.5, 0.75)]
    assert sum(counts) == 4000
    assert all(900 < count < 1100 for count in counts)


def test_a_pool_that_grows_keeps_its_pairs_and_their_order() -> None:
    first = replace(POOL, pairs=POOL.pairs[:8], rankings={"a": {}}, known={"q0": [1.0]})
    more = replace(POOL, rankings={"b": {}}, depth=3, seed=9)
    both = first.add(more)
    assert both.pairs[:8] == first.pairs
    assert set(both.pairs) == set(PAIRS)
    assert set(both.rankings) == {"a", "b"}
    assert (both.depth, both.seed, both.known) == (5, 9, {"q0": [1.0]})


def test_a_pair_that_was_drawn_twice_has_the_larger_probability() -> None:
    drawn = [replace(pair, probability=0.25) for pair in POOL.pairs[:3]]
    first = replace(POOL, pairs=tuple(drawn))
    again = replace(POOL, pairs=(replace(drawn[0], probability=0.5), *drawn[1:2]))
    assert [pair.probability for pair in first.add(again).pairs] == [0.5, 0.25, 0.25]


def test_a_judge_sees_the_pairs_without_own_votes_in_the_order_of_the_pool() -> None:
    first, second, third, *others = POOL.pairs
    votes = [
        Vote(first.query_id, first.target, 1, "ann", time="2026-01-01T00:00:00Z"),
        Vote(second.query_id, second.target, 1, "ben", time="2026-01-01T00:00:00Z"),
    ]
    assert list(order_pairs(POOL, votes, "ann")) == [second, third, *others]
    assert list(order_pairs(POOL, votes, "ann", {third.id})) == [second, *others]
    back = replace(votes[0], grade=None, withdrawn=True, time="2026-01-02T00:00:00Z")
    assert list(order_pairs(POOL, [*votes, back], "ann")) == list(POOL.pairs)


@pytest.mark.parametrize("entries", [[None], [True], "x", [[1]], {"a": 1}])
def test_a_damaged_ranking_is_an_error(entries: object) -> None:
    with pytest.raises(DataError, match="ranking of 'q0' by 'a' must list pairs and grades"):
        read_rankings(replace(POOL, rankings={"a": {"q0": entries}}))
    with pytest.raises(DataError, match="no queries of 'a'"):
        read_rankings(
            replace(POOL, rankings={"a": entries})
            if not isinstance(entries, dict)
            else replace(POOL, rankings={"a": 3})
        )


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"depth": 0}, "depth must be at least 1, found 0"),
        ({"highest": 0}, "highest must be above 0, found 0"),
        ({"pairs": [{**PAIRS[0].to_json(), "probability": 0}]}, "probability must be above 0"),
        ({"pairs": [{"id": "x"}]}, "has no 'query_id'"),
        ({"schema_version": 9}, "expected a pool of schema version 1, found 9"),
    ],
)
def test_a_damaged_file_is_an_error_that_names_it(
    tmp_path: Path, fields: dict[str, object], message: str
) -> None:
    path = tmp_path / "pool.json"
    path.write_text(json.dumps({"schema_version": 1, **POOL.to_json(), **fields}), encoding="utf-8")
    with pytest.raises(DataError, match=message) as caught:
        Pool.read(path)
    assert "pool.json" in str(caught.value)


@pytest.mark.parametrize("grades", [3, ["x"], [None], {"a": 1}])
def test_damaged_known_grades_are_an_error(grades: object) -> None:
    with pytest.raises(DataError, match="known grades of 'q0' must be a list of numbers"):
        read_rankings(replace(POOL, known={"q0": grades}))
