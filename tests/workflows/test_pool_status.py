"""`read_status` says what is judged and what is left to decide."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.judging import Ledger, Pool, Vote
from berryeval.workflows import read_status
from tests.judging.test_decisive import make_world

FOLDER = Path("fruit.judged")


@pytest.fixture(autouse=True)
def _inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(pool: Pool, grades: dict[str, float], count: int, judge: str = "ann") -> None:
    """Write a pool, and judge its first pairs."""
    FOLDER.mkdir(exist_ok=True)
    pool.write(FOLDER / "pool.json")
    Ledger(FOLDER).append(
        Vote(pair.query_id, pair.target, grades[pair.id], judge) for pair in pool.pairs[:count]
    )


def test_every_comparison_has_its_share_bounds_and_verdict() -> None:
    pool, grades = make_world(1, gap=0.6)
    write(pool, grades, 60)
    found = read_status()
    assert (found.judged, found.path) == (60, FOLDER / "pool.json")
    ((outlook, needed),) = found.outlooks
    assert (outlook.metric, outlook.baseline, outlook.system) == ("nDCG@5", "old", "new")
    assert 0 < outlook.judged <= 60 < outlook.pairs
    assert outlook.low < outlook.difference < outlook.high
    assert not outlook.is_decided
    assert needed is not None
    assert 0 < needed <= len(pool.pairs) - 60
    assert found.to_json()["comparisons"][0]["needed"] == needed


def test_a_pool_that_is_judged_needs_nothing_more() -> None:
    pool, grades = make_world(1, gap=0.6)
    write(pool, grades, len(pool.pairs))
    found = read_status(metrics=["P@5", "nDCG@3"])
    assert [(one.metric, needed) for one, needed in found.outlooks] == [("P@5", 0), ("nDCG@3", 0)]
    assert all(one.is_certain for one, _ in found.outlooks)


def test_the_votes_of_every_judge_are_counted() -> None:
    pool, grades = make_world(1)
    write(pool, grades, 5)
    write(pool, grades, 8, judge="ben")
    first = pool.pairs[0]
    Ledger(FOLDER).append(
        [
            Vote(first.query_id, first.target, 0, "robot", "llm"),
            Vote("elsewhere", first.target, 0, "robot", "llm"),
            Vote(first.query_id, first.target, None, "ann", withdrawn=True),
        ]
    )
    found = [(one.judge, one.kind, one.votes, one.in_pool) for one in read_status().judges]
    assert found == [("ben", "human", 8, 8), ("ann", "human", 4, 4), ("robot", "llm", 2, 1)]


def test_a_random_pool_gives_estimates_once_it_is_judged() -> None:

    pool, grades = make_world(1)
    drawn = tuple(replace(pair, probability=0.5) for pair in pool.pairs[::2])
    some = replace(pool, pairs=drawn, strategy="random", metrics=("P@5",))
    write(some, grades, 3)
    left = f"{len(drawn) - 3} of {len(drawn)} drawn pairs are not judged: no estimates yet"
    assert read_status().notes == (left,)
    write(some, grades, len(drawn))
    found = read_status()
    assert [(one.system, one.baseline) for one in found.estimates] == [
        ("old", ""), ("new", ""), ("new", "old"),
    ]  # fmt: skip
    with pytest.raises(ConfigurationError, match=r"nDCG@5 is not a sum .* use DCG@5"):
        read_status(metrics=["nDCG@5"])


def test_one_system_has_nothing_to_be_compared_with() -> None:

    pool, grades = make_world(1)
    write(replace(pool, rankings={"old": pool.rankings["old"]}), grades, 3)
    found = read_status()
    assert found.outlooks == ()
    assert "nothing to be compared with" in found.notes[0]


def test_a_missing_pool_and_a_metric_that_is_no_sum_are_named() -> None:
    with pytest.raises(BerryEvalError, match="begin with: berryeval judge pool RUN"):
        read_status()
    with pytest.raises(DataError, match=r"there is no pool in fruit\.judged; begin with"):
        read_status("fruit")
    pool, grades = make_world(1)
    write(pool, grades, 1)
    with pytest.raises(ConfigurationError, match=r"AP is not a sum .* use RBP@5"):
        read_status(metrics=["AP"])
