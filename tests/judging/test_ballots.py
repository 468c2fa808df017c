"""Ballots take votes in one by one and know the same as the whole ledger."""

from __future__ import annotations

import itertools
from dataclasses import replace

from berryeval.data import Anchor
from berryeval.judging import Ballots, Pair, Pool, Vote, make_pair_id

TARGET = Anchor(document="d1")
PAIR = Pair(make_pair_id("q1", TARGET), "q1", TARGET, "text")
POOL = Pool("drinks", "", "depth", 10, 0, (PAIR,))


def cast(grade: float | None, judge: str, second: int, **fields: object) -> Vote:
    time = f"2026-01-01T00:00:{second:02}+00:00"
    return Vote("q1", TARGET, grade, judge, time=time, **fields)  # type: ignore[arg-type]


def test_votes_may_come_in_any_order_and_twice() -> None:
    votes = [cast(1, "ann", 1), cast(2, "ann", 2), cast(3, "ben", 3), cast(2, "cy", 4)]
    for order in itertools.permutations(votes):
        ballots = Ballots(POOL)
        for one in (*order, *votes):
            ballots.add([one])
        assert ballots.votes_on(PAIR.id) == votes[1:]
        assert ballots.grades == {PAIR.id: 2}
        assert ballots.disputed == {PAIR.id: True}


def test_a_vote_that_is_taken_back_does_not_count() -> None:
    ballots = Ballots(POOL)
    ballots.add([cast(1, "ann", 1)])
    assert ballots.judged_by("ann") == {PAIR.id}
    back = cast(None, "ann", 2, withdrawn=True)
    ballots.add([back])
    assert ballots.judged_by("ann") == set()
    assert ballots.grades == {}
    ballots.add([cast(1, "ann", 1)])  # the same as at first, read again
    assert ballots.judged_by("ann") == set()


def test_votes_on_another_text_or_for_another_question_do_not_count() -> None:
    ballots = Ballots(POOL, {"q1": "how?"})
    ballots.add([cast(1, "ann", 1, content="sha256:0"), cast(2, "ben", 1, asked="sha256:1")])
    assert ballots.votes_on(PAIR.id) == []
    assert ballots.judges == {"ann", "ben"}
    made = replace(ballots.make_vote(PAIR, 3, "cy"), time="2026-01-01T00:00:09+00:00")
    ballots.add([made])
    assert ballots.votes_on(PAIR.id) == [made]
