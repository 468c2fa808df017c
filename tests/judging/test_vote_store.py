"""Votes in a store, on SQLite and on a real PostgreSQL server."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from berryeval.data import Anchor
from berryeval.errors import DataError, NotWrittenError
from berryeval.judging import Ledger, StoreLedger, Vote, open_ledger
from berryeval.runs import Place, open_store
from tests.judging.processes import finish, start
from tests.runs.conftest import place, server  # noqa: F401 - fixtures
from tests.runs.kept import run_of

SPAN = Anchor(document="tea", start=0, end=4, quote="Tea\n")


def vote(query: str = "q1", grade: float | None = 1, judge: str = "Ann", **fields: object) -> Vote:
    return Vote(query, SPAN, grade, judge, **fields)  # type: ignore[arg-type]


def change(place: str, statement: str) -> None:  # noqa: F811 - not the fixture
    engine = create_engine(Place.of(place).url)
    with engine.begin() as connection:
        connection.execute(text(statement))
    engine.dispose()


def test_votes_are_read_back_as_they_were_given(place: str) -> None:  # noqa: F811
    ledger = open_ledger(place, "sets/fruit.csv")
    assert isinstance(ledger, StoreLedger)
    assert (ledger.votes(), ledger.exists) == ([], False)
    added = ledger.append([vote(note="a\0b \ud800 ☕"), vote(judge="Bén", grade=None)])
    assert ledger.votes() == added
    assert open_ledger(place, "elsewhere/fruit").votes() == added
    assert open_ledger(place, "nuts").votes() == []
    assert ledger.exists
    assert ledger.folder == Path("sets/fruit.judged")


def test_a_vote_that_is_sent_twice_is_there_once(place: str) -> None:  # noqa: F811
    ledger = open_ledger(place, "fruit")
    first = ledger.append([vote(), vote("q2", 2)])
    ledger.append([*first, first[0]])
    assert ledger.votes() == first
    ledger.append([vote("q2", 3)])
    assert [one.grade for one in ledger.current()] == [1, 3]


def test_runs_and_votes_share_a_store(place: str) -> None:  # noqa: F811
    with open_store(place) as store:
        store.add(run_of(1))
    open_ledger(place, "fruit").append([vote()])
    with open_store(place) as store:
        assert store.names() == ["run-0001"]
        store.delete(["run-0001"])
    assert len(open_ledger(place, "fruit").votes()) == 1


def test_a_store_without_votes_is_upgraded(place: str) -> None:  # noqa: F811
    with open_store(place) as store:
        store.add(run_of(1))
    for statement in (
        "DROP TABLE berryeval_votes",
        "DROP TABLE berryeval_users",
        "ALTER TABLE berryeval_runs DROP COLUMN tags",
        "UPDATE berryeval_store SET version = 3",
    ):
        change(place, statement)
    ledger = open_ledger(place, "fruit")
    assert ledger.votes() == []
    assert len(ledger.append([vote()])) == 1
    with open_store(place) as store:
        assert store.get("run-0001") == run_of(1)


def write_numbers(place: str, name: str) -> None:  # noqa: F811
    ledger = open_ledger(place, "fruit")
    for number in range(8):
        for judge in ("shared", name):
            ledger.append([vote(f"{name}-{number}", 1, judge)])


def test_several_processes_write_at_once(place: str) -> None:  # noqa: F811
    own = [f"own{n}" for n in range(3)]
    finish(*(start(write_numbers, place, name) for name in own))
    found = [(one.judge, one.query_id) for one in open_ledger(place, "fruit").votes()]
    expected = [(j, f"{n}-{k}") for n in own for k in range(8) for j in ("shared", n)]
    assert sorted(found) == sorted(expected)


def test_damaged_rows_do_not_count(place: str, caplog: pytest.LogCaptureFixture) -> None:  # noqa: F811
    ledger = open_ledger(place, "fruit")
    ledger.append([vote(), vote("q2", 2)])
    change(place, "UPDATE berryeval_votes SET line = replace(line, ': 2', ': 3')")
    with caplog.at_level(logging.WARNING, logger="berryeval"):
        assert [one.query_id for one in ledger.votes()] == ["q1"]
    assert "1 votes are damaged" in caplog.text


def test_another_database_is_an_error_and_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    file.write_bytes(b"SQLite? No.\n" * 100)
    with pytest.raises(NotWrittenError, match=r"not a database.*the votes were not kept"):
        open_ledger(file, "fruit").append([vote()])
    with pytest.raises(DataError, match="not a database"):
        open_ledger(file, "fruit").votes()
    assert file.read_bytes() == b"SQLite? No.\n" * 100


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ("", Ledger), ("fruit.judged", Ledger), ("a=b", StoreLedger), ("votes.db", StoreLedger),
        ("sqlite:///x", StoreLedger), ("postgresql://u@h/n", StoreLedger),
    ],
)  # fmt: skip
def test_the_place_decides(given: str, kind: type) -> None:
    assert type(open_ledger(given, "fruit")) is kind
