"""Rooms: votes of many judges at once, each stored once and before anyone hears of it."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from berryeval.data import Anchor
from berryeval.errors import ConfigurationError, DataError, NotWrittenError
from berryeval.judging import Ledger, Pair, Stop, StoreLedger, Vote
from berryeval.web.rooms import GivenVote, Room, Rooms
from berryeval.web.site import SiteSettings
from berryeval.web.vote_writer import VoteWriter
from berryeval.workflows import PoolRequest, pool_runs
from tests.runs.conftest import place, server  # noqa: F401 - fixtures
from tests.web.judging_world import write_pool
from tests.workflows.judged_world import write_world


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_pool(tmp_path)
    return tmp_path


@pytest.fixture
def rooms(folder: Path) -> Iterator[Rooms]:
    found = Rooms(SiteSettings(store=str(folder / "runs.db")))
    yield found
    found.close()


def give(pair: Pair, grade: float | None, request: str = "", **more: Any) -> GivenVote:
    return GivenVote(request or uuid.uuid4().hex, pair.id, grade, **more)


def list_left(room: Room, judge: str, *, adjudicates: bool = False) -> list[str]:
    found = room.choose(judge, 100, adjudicates=adjudicates)
    return [] if isinstance(found, Stop) else [pair.id for pair in found]


def test_judges_do_not_see_each_other_and_nothing_is_shown_twice(rooms: Rooms) -> None:
    room = rooms.get("drinks")
    first, second = room.pool.pairs[:2]
    (stored,) = room.submit("ann", [give(first, 2)]).result()
    assert Ledger("drinks.judged").votes() == [stored]
    assert first.id not in list_left(room, "ann")
    assert first.id in list_left(room, "ben")
    assert list_left(room, "ann")[0] == second.id
    assert isinstance(room.choose("ann", 1, [pair.id for pair in room.pool.pairs]), Stop)
    assert room.measure_progress("ann") == (12, 1)


def test_a_vote_that_is_sent_twice_counts_once_also_after_a_restart(
    folder: Path,
    place: str,  # noqa: F811
) -> None:
    def send(grade: float, request: str) -> Vote:
        rooms = Rooms(SiteSettings(ledger=place))
        room = rooms.get("drinks")
        votes = [give(room.pool.pairs[0], grade, request)] * 2
        first, again = room.submit("ann", votes).result()
        rooms.close()
        assert first == again
        return first

    stored = send(2, "r1")
    assert send(3, "r1") == stored
    assert send(3, "r2") != stored
    assert [one.grade for one in StoreLedger(place, folder / "drinks").votes()] == [2, 3]


def test_many_judges_at_once_lose_nothing(folder: Path, place: str) -> None:  # noqa: F811
    rooms = Rooms(SiteSettings(ledger=place))
    room = rooms.get("drinks")

    def judge(name: str) -> None:
        while not isinstance(found := room.choose(name, 1), Stop):
            room.submit(name, [give(found[0], 1)]).result()

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(judge, [f"judge{n}" for n in range(8)]))
    rooms.close()
    votes = StoreLedger(place, folder / "drinks").votes()
    assert len(votes) == 8 * 12
    assert len({(one.judge, one.key) for one in votes}) == 8 * 12


def test_votes_of_other_processes_are_noticed(
    rooms: Rooms, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("berryeval.web.rooms._PAUSE", 0.0)
    room = rooms.get("drinks")
    first = room.pool.pairs[0]
    Ledger("drinks.judged").append([Vote(first.query_id, first.target, 1, "ann")])
    assert first.id not in list_left(room, "ann")


def test_a_pair_is_shown_again_after_its_vote_is_withdrawn(rooms: Rooms) -> None:
    room = rooms.get("drinks")
    first = room.pool.pairs[0]
    room.submit("ann", [give(first, 2), give(first, None, withdrawn=True)]).result()
    assert list_left(room, "ann")[0] == first.id


def test_disagreement_is_decided_by_adjudication(rooms: Rooms) -> None:
    room = rooms.get("drinks")
    first, second = room.pool.pairs[:2]
    for name, grade in (("ann", 0), ("ben", 3)):
        room.submit(name, [give(first, grade), give(second, 1)]).result()
    assert list_left(room, "cy", adjudicates=True) == [first.id]
    assert [one.grade for one in room.votes_on(first)] == [0, 3]
    assert room.count_disputed() == 1
    room.submit("cy", [give(first, 2, adjudicates=True)]).result()
    assert isinstance(room.choose("cy", 5, adjudicates=True), Stop)


@pytest.mark.parametrize(
    ("judge", "grade", "words"),
    [
        ("ann", 7, "one of 0, 1, 2, 3, found 7"),
        ("human", 1, "no judge can be called 'human'"),
        ("ANN", 1, "did you mean"),
        ("a\nb", 1, "needs the name of its judge"),
    ],
)
def test_a_vote_that_cannot_be_is_refused_and_stops_no_other(
    rooms: Rooms, judge: str, grade: float, words: str
) -> None:
    room = rooms.get("drinks")
    first = room.pool.pairs[0]
    room.submit("ann", [give(first, 1)]).result()
    with pytest.raises((DataError, ConfigurationError), match=words):
        room.submit(judge, [give(first, grade)])
    with pytest.raises(DataError, match="not in the pool of drinks any more"):
        room.submit("ann", [GivenVote("r", "gone", 1)])
    assert len(Ledger("drinks.judged").votes()) == 1


def test_only_those_hear_of_a_problem_whose_vote_has_it() -> None:
    def store(votes: list[Vote]) -> list[Vote]:
        if any(one.judge == "bad" for one in votes):
            raise ValueError("not storable")
        return votes

    writer = VoteWriter(store)  # type: ignore[arg-type]
    votes = [Vote("q", Anchor(document="d"), 1, name) for name in ("ann", "bad", "ben")]
    results = [writer.submit([one]) for one in votes]
    assert results[0].result() == [votes[0]]
    assert results[2].result() == [votes[2]]
    with pytest.raises(ValueError, match="not storable"):
        results[1].result()
    writer.close()


def test_votes_that_cannot_be_written_are_reported_and_can_be_sent_again(rooms: Rooms) -> None:
    room = rooms.get("drinks")
    given = give(room.pool.pairs[0], 2)
    place = Path("drinks.judged/votes")  # noqa: F811
    place.write_text("in the way")
    with pytest.raises(NotWrittenError, match="were not kept"):
        room.submit("ann", [given]).result()
    assert len(list_left(room, "ann")) == 12
    place.unlink()
    room.submit("ann", [given]).result()
    assert len(Ledger("drinks.judged").votes()) == 1


def test_a_new_pool_is_noticed_and_a_missing_one_is_an_error(folder: Path, rooms: Rooms) -> None:
    assert len(rooms.get("drinks").pool.pairs) == 12
    shutil.rmtree(folder / "drinks.judged")
    shutil.rmtree(folder / "drinks")
    write_pool(folder, 5)
    assert len(rooms.get("drinks").pool.pairs) == 15
    with pytest.raises(DataError, match="no pool 'nuts' here"):
        rooms.get("nuts")


def test_a_hit_of_a_run_can_be_judged_without_and_with_a_pool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_world(tmp_path)
    rooms = Rooms(SiteSettings())
    first = rooms.vote_on_hit("ann", "run", "old", "q3", 2, GivenVote("r1", "", 2))
    assert rooms.vote_on_hit("ann", "run", "old", "q3", 2, GivenVote("r1", "", 3)) == first
    assert rooms.find_pools() == {}
    pool = pool_runs(PoolRequest(("run",), everything=True)).pool
    (pair,) = [one for one in pool.pairs if (one.query_id, one.target) == ("q3", first.target)]
    assert pair.id not in list_left(rooms.get("quiz"), "ann")
    again = rooms.vote_on_hit("ann", "run", "old", "q3", 2, GivenVote("r2", "", 0))
    assert again.target == first.target
    assert [one.grade for one in Ledger("quiz.judged").current()] == [0]
    with pytest.raises(DataError, match="no hit at rank 9"):
        rooms.vote_on_hit("ann", "run", "old", "q3", 9, GivenVote("r3", "", 0))
    with pytest.raises(DataError, match="not a path"):
        rooms.vote_on_hit("ann", "../run", "old", "q3", 1, GivenVote("r4", "", 0))
    rooms.close()
