"""Searches in a database end with the timeout of their query, and so do their threads."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from berryeval.data.records import Query
from berryeval.providers.base import Provider
from berryeval.providers.postgres_server import PostgresServer
from berryeval.providers.sqlite import SqliteDatabase
from berryeval.runner.asking import ask_all
from berryeval.runner.attempts import Policy

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from berryeval.runner.outcome import Ranking

SHORT = Policy(timeout=1.0, attempts=1, error_budget=1.0, warm_up=0)
COUNT = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"


class Slow(Provider):
    """A provider whose statement does not end."""

    def __init__(self, database: Any, statement: str) -> None:
        self._database = database
        self._statement = statement

    def search(self, query: Query, k: int) -> Any:
        del query, k
        opened: AbstractContextManager[Any] = self._database.connection()
        with opened as connection:
            return connection.execute(self._statement).fetchall()

    def close(self) -> None:
        self._database.close()


def check_that_searches_stop(provider: Provider) -> None:
    found: list[Ranking] = []
    before = set(threading.enumerate())  # other tests leave searches that never end
    with provider:
        ask_all(provider, [Query("q0", "tea"), Query("q1", "tea")], 5, found.append, SHORT)
        for thread in set(threading.enumerate()) - before:
            if thread.name == "berryeval worker":
                thread.join(60)
                assert not thread.is_alive()
    assert {one.error for one in found} == {"no answer within 1 s"}


def test_sqlite_stops_a_search() -> None:
    check_that_searches_stop(Slow(SqliteDatabase("", with_vectors=False), COUNT))


def test_postgres_stops_a_search(dsn: str) -> None:
    check_that_searches_stop(Slow(PostgresServer(dsn), "SELECT pg_sleep(1000)"))


def test_a_shorter_timeout_of_the_server_stays(dsn: str) -> None:
    patient = Policy(attempts=1, error_budget=1.0, warm_up=0)
    server = PostgresServer(f"{dsn}&options=-cstatement_timeout%3D100")
    found: list[Ranking] = []
    with Slow(server, "SELECT pg_sleep(1000)") as provider:
        ask_all(provider, [Query("q0", "tea")], 5, found.append, patient)
    assert "canceling statement due to statement timeout" in found[0].error
