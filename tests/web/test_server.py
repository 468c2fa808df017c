"""Starting and stopping a server: what can be wrong is said in the terminal or on the page."""

from __future__ import annotations

import signal
import socket
import sqlite3
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpx
import pytest

from berryeval.errors import ConfigurationError, DataError
from berryeval.providers.postgres_server import LocalPostgres
from berryeval.web import Serving, SiteSettings, serve
from berryeval.web.accounts import UserAccounts
from berryeval.web.server import hold_store
from berryeval.workflows import open_history
from tests.reports.html_records import run_record
from tests.web.serving import serve_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture(autouse=True)
def _work_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BERRYEVAL_JUDGE", "ann")


def start(**settings: object) -> None:
    """Start a server that must not come up."""

    def fail(serving: Serving) -> None:
        raise AssertionError(f"the server came up at {serving.address}")

    serve(SiteSettings(**settings), fail)  # type: ignore[arg-type]


def test_a_port_that_is_taken_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ConfigurationError, match=rf"127.0.0.1:{port} \(Address already in use"):
            start(port=port)


def test_a_port_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="port must be a number from 0 to 65535"):
        start(port=70_000)


def test_a_path_that_is_a_page_is_an_error_before_a_link_is_shown() -> None:
    with pytest.raises(ConfigurationError, match="also one of the site's own pages"):
        start(url="https://eval.example.org/runs")


def test_a_benchmark_without_a_pool_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"fruit.judged: has no pool .* judge pool RUN"):
        start(benchmarks=("fruit.csv",))


def test_a_reserved_name_of_a_judge_is_an_error() -> None:
    with pytest.raises(ConfigurationError, match="no judge can be called 'human'"):
        start(judge="human")


def test_a_damaged_store_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "runs.db").write_bytes(b"no database " * 100)
    with pytest.raises(DataError, match=r"not a database.*berryeval runs import"):
        start(store="runs.db")


def test_a_store_of_a_newer_version_is_an_error() -> None:
    with open_history("runs.db", make=True):
        pass
    with sqlite3.connect("runs.db") as connection:
        connection.execute("UPDATE berryeval_store SET version = 99")
    connection.close()
    with pytest.raises(DataError, match=r"schema version 99.*pip install --upgrade"):
        start(store="runs.db")


def test_a_second_server_names_the_first(tmp_path: Path) -> None:
    """Also by another spelling of its place; the lease ends with the first."""
    with hold_store("runs.db", "http://127.0.0.1:8642"):
        for place in ("runs.db", f"sqlite:///{tmp_path}/runs.db"):
            with pytest.raises(
                ConfigurationError, match=r"another server at http://127.0.0.1:8642 has the store"
            ):
                start(store=place)
    with hold_store("runs.db", "http://127.0.0.1:9"):
        pass


def test_servers_and_people_share_a_postgresql() -> None:
    """One server at a time; people sign in with tokens that the database keeps as hashes."""
    own = LocalPostgres()
    try:
        with hold_store(own.dsn, "http://127.0.0.1:8642/team"):
            with pytest.raises(
                ConfigurationError, match=r"server at http://127.0.0.1:8642/team has the store"
            ):
                start(store=own.dsn)
            with serve_site(store=own.dsn, users=True) as served:
                accounts = served.site.accounts
                assert isinstance(accounts, UserAccounts)
                token = accounts.add_first("Ann")
                url, headers = f"{served.address}/runs", {"authorization": f"Bearer {token}"}
                assert httpx.get(url, headers=headers, timeout=60).status_code == 200
                assert "Ann" in httpx.get(url, headers=headers, timeout=60).text
        with hold_store(own.dsn, "http://127.0.0.1:9"):
            pass
    finally:
        own.stop()


def test_later_failures_are_reported_on_the_page(tmp_path: Path) -> None:
    """A store that is damaged, or upgraded by a newer version, while the server runs."""
    with open_history("runs.db", make=True) as store:
        store.add(run_record(4, hits=5))
    with serve_site(store="runs.db") as served, served.sign_in() as client:
        assert client.get("/runs").status_code == 200
        with sqlite3.connect("runs.db") as connection:
            connection.execute("UPDATE berryeval_store SET version = 99")
        connection.close()
        newer = client.get("/runs")
        (tmp_path / "runs.db").write_bytes(b"no database " * 100)
        broken = client.get("/runs")
        (tmp_path / "runs.db").unlink()
        gone = client.get("/runs")
    for answer, said in ((newer, "schema version 99"), (broken, "not a database")):
        assert answer.status_code == 422
        assert said in answer.text
        assert "<h1>That did not work</h1>" in answer.text
    assert "Traceback" not in newer.text + broken.text + gone.text
    assert "<h1>" in gone.text


def test_a_broken_store_of_people_admits_no_one(tmp_path: Path) -> None:
    """It is said, and no new store without people takes its place."""
    with serve_site(store="team.db", users=True) as served:
        accounts = served.site.accounts
        assert isinstance(accounts, UserAccounts)
        headers = {"authorization": f"Bearer {accounts.add_first('Ann')}"}
        (tmp_path / "team.db").unlink()
        answer = httpx.get(f"{served.address}/runs", headers=headers, timeout=60)
    assert answer.status_code == 503
    assert "there is no store at team.db" in answer.text
    assert not (tmp_path / "team.db").exists()


def test_a_damaged_run_folder_is_reported_on_the_page(tmp_path: Path) -> None:
    folder = tmp_path / ".berryeval" / "runs" / "broken"
    folder.mkdir(parents=True)
    (folder / "run.json").write_text('{"id": "broken", ', encoding="utf-8")
    with serve_site(store="runs.db") as served, served.sign_in() as client:
        answer = client.get("/runs/broken")
    assert answer.status_code == 422
    assert "run.json" in answer.text
    assert "Traceback" not in answer.text


@contextmanager
def command(*options: str) -> Iterator[subprocess.Popen[str]]:
    """Run `berryeval serve` in another process until the end of the block."""
    line = [sys.executable, "-m", "berryeval", "serve", "--port", "0", *options]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as own:
        try:
            yield own
        finally:
            own.kill()


def read_link(process: subprocess.Popen[str]) -> str:
    """Return the next link that the terminal shows."""
    assert process.stdout is not None
    for line in process.stdout:
        if "http" in line:
            return "http" + line.partition("http")[2].strip()
    raise AssertionError("no link was shown")


def test_a_server_starts_shows_links_and_stops() -> None:
    """A used link is followed by the next; Ctrl-C is its normal end; sessions outlive it."""
    with open_history("runs.db", make=True) as store:
        store.add(run_record(4, hits=5))
    with httpx.Client(timeout=60) as client:
        with command("--store", "runs.db") as first:
            link = read_link(first)
            assert client.get(link).status_code == 303
            following = read_link(first)
            assert following != link
            assert httpx.get(following, timeout=60).status_code == 303
            first.send_signal(signal.SIGINT)
            out, _ = first.communicate(timeout=60)
            assert first.returncode == 0
            assert "Traceback" not in out
        with command("--store", "runs.db") as second:
            address = read_link(second).partition("/enter")[0]
            assert client.get(f"{address}/runs").status_code == 200


def test_the_first_administrator_gets_a_link_once() -> None:
    with command("--store", "runs.db", "--users") as first:
        address, _, token = read_link(first).partition("/sign-in#")
        headers = {"origin": address}
        answer = httpx.post(
            f"{address}/sign-in", data={"token": token}, headers=headers, timeout=60
        )
        assert answer.status_code == 303
    with command("--store", "runs.db", "--users") as second:
        assert "#" not in read_link(second)
