"""Runs that other machines push."""

from __future__ import annotations

import gzip
import json
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from berryeval.cli.app import build_app, run
from berryeval.errors import BerryEvalError, ConfigurationError
from berryeval.web.accounts import UserAccounts
from berryeval.workflows import open_history, push_run
from tests.reports.html_records import run_record
from tests.web.serving import serve_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RECORD = run_record(4, hits=5)


@pytest.fixture(scope="module")
def team(folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Serve an empty store; return the address and tokens by role."""
    with serve_site(store=str(folder / "pushed.db"), users=True) as found:
        accounts = found.site.accounts
        assert isinstance(accounts, UserAccounts)
        tokens = {"administer": accounts.add_first("Ann")}
        tokens |= {role: accounts.add(role, role)[1] for role in ("look", "judge")}
        with open_history("own.db", make=True) as store:
            store.add(RECORD)
        yield found.address, tokens


@pytest.fixture
def token(team: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> str:
    """Set the token of a judge as CI does."""
    monkeypatch.setenv("BERRYEVAL_TOKEN", team[1]["judge"])
    return team[1]["judge"]


def test_a_pushed_run_is_there_once(team: tuple[str, dict[str, str]], token: str) -> None:
    """The same bytes arrive; pushing again changes nothing; other content needs --replace."""
    address, _ = team
    first = push_run(address, RECORD.id, "own.db")
    assert (first.run, first.how) == (RECORD.id, "added")
    assert push_run(f"{address}/", RECORD.id, "own.db").how == "there already"
    with open_history("pushed.db") as store:
        assert store.names() == [RECORD.id]
        assert store.get(RECORD.id) == RECORD
    with open_history("own.db") as store:
        store.add(replace(RECORD, versions={"x": "2"}), replace_content=True)
    with pytest.raises(BerryEvalError, match=r"other content; push it with --replace"):
        push_run(address, RECORD.id, "own.db")
    assert push_run(address, RECORD.id, "own.db", replace=True).how == "replaced"
    answer = httpx.get(
        first.url.replace("/runs/", "/api/v1/runs/"),
        headers={"authorization": f"Bearer {token}"},
        timeout=60,
    )
    assert answer.status_code == 200


@pytest.mark.usefixtures("token")
def test_the_command_says_where_the_run_is(
    team: tuple[str, dict[str, str]], capsys: pytest.CaptureFixture[str]
) -> None:
    address, _ = team
    with open_history("own.db") as store:
        store.add(replace(RECORD, id="second", created="2026-03-04T05:06:07+00:00"))
    for how in ("added", "there already"):
        assert run(build_app(), ["runs", "push", address, "latest", "--store", "own.db"]) == 0
        assert capsys.readouterr().out == f"second: {how}; see {address}/runs/second\n"
    assert run(build_app(), ["runs", "push", address, "--store", "own.db", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["command"] == "runs push"
    assert "there already" in json.dumps(data)
    assert run(build_app(), ["runs", "push", address, "nothing", "--store", "own.db"]) == 2
    assert "nothing" in capsys.readouterr().err


def test_only_judges_may_push(
    team: tuple[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    address, tokens = team
    path = tmp_path / "token"
    path.write_text(f"{tokens['look']}\n", encoding="utf-8")
    with pytest.raises(BerryEvalError, match="this needs the role judge"):
        push_run(address, RECORD.id, "own.db", token_file=path)
    monkeypatch.setenv("BERRYEVAL_TOKEN", "wrong")
    with pytest.raises(BerryEvalError, match=r"does not know the token; set BERRYEVAL_TOKEN"):
        push_run(address, RECORD.id, "own.db")


@pytest.mark.parametrize("given", ["", "two words", "ümlaut"])
def test_bad_tokens_are_errors_before_anything_is_sent(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("BERRYEVAL_TOKEN", given)
    with pytest.raises(ConfigurationError, match="expected the token of a person") as error:
        push_run("http://127.0.0.1:1", RECORD.id)
    assert not given or given not in str(error.value)


@pytest.mark.parametrize("url", ["", "ftp://x", "https://", "https://me:secret@x", "x?y=1"])
@pytest.mark.usefixtures("token")
def test_bad_addresses_are_errors(url: str) -> None:
    with pytest.raises(ConfigurationError, match="expected the address of a server") as error:
        push_run(url, RECORD.id)
    assert "secret" not in str(error.value)


BAD_BODIES = {
    "empty": (b"", 422),
    "no JSON": (b"{", 422),
    "no object": (b"[]", 422),
    "no record": (b"{}", 422),
    "newer": (json.dumps({**RECORD.to_json(), "schema_version": 99}).encode(), 422),
    "cut": (gzip.compress(RECORD.dumps().encode())[:-20], 422),
    "bomb": (gzip.compress(b" " * 100_000_000), 422),
    "deep": (b"[" * 100_000, 422),
    "latin": (b'{"id": "\xff"}', 422),
    "a name that means another": (replace(RECORD, id="latest").dumps().encode(), 422),
}


@pytest.mark.parametrize("name", BAD_BODIES)
def test_a_damaged_body_is_refused_and_nothing_is_stored(
    team: tuple[str, dict[str, str]], name: str
) -> None:
    address, tokens = team
    with open_history("pushed.db") as store:
        before = store.names()
    body, status = BAD_BODIES[name]
    headers = {"authorization": f"Bearer {tokens['judge']}"}
    answer = httpx.post(f"{address}/api/v1/runs", content=body, headers=headers, timeout=60)
    assert answer.status_code == status
    assert "the request" in answer.json()["error"]
    with open_history("pushed.db") as store:
        assert store.names() == before


@pytest.mark.parametrize(
    "name",
    ["..", ".", "../../x", "/etc", "a/queries", "a\\b", "a\nb", "a\0", "turned \u202e", "x" * 201],
)
def test_a_name_that_is_no_name_of_a_folder_is_refused(
    team: tuple[str, dict[str, str]], name: str
) -> None:
    """Addresses and run folders are made of names; one of another machine leads nowhere else."""
    address, tokens = team
    headers = {"authorization": f"Bearer {tokens['judge']}"}
    body = replace(RECORD, id=name).dumps().encode()
    answer = httpx.post(f"{address}/api/v1/runs", content=body, headers=headers)
    assert answer.status_code == 422
    assert "expected the name of a run" in answer.json()["error"]
    with open_history("pushed.db") as store:
        assert name not in store.names()


@contextmanager
def other_server(status: int, body: bytes, **headers: str) -> Iterator[tuple[str, list[Any]]]:
    """Serve the same answer to everything; yield its address and the requests."""
    asked: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            asked.append((self.path, dict(self.headers)))
            self.send_response(status if len(asked) > 1 or status != 503 else 503)
            for name, value in {**headers, "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.usefixtures("token")
def test_the_token_follows_no_redirect() -> None:
    with (
        other_server(200, b"{}") as (elsewhere, asked),
        other_server(302, b"", location=elsewhere) as (address, _),
    ):
        with pytest.raises(BerryEvalError, match=f"it redirects to '{elsewhere}'"):
            push_run(address, RECORD.id, "own.db")
        assert asked == []


@pytest.mark.parametrize(
    ("status", "body"), [(404, b"<h1>no</h1>"), (200, b"<html>"), (200, b"[1]")]
)
@pytest.mark.usefixtures("token")
def test_another_kind_of_server_is_recognized(status: int, body: bytes) -> None:
    with (
        other_server(status, body) as (address, _),
        pytest.raises(BerryEvalError, match="no BerryEval server answers there"),
    ):
        push_run(address, RECORD.id, "own.db")


@pytest.mark.usefixtures("token")
def test_a_busy_server_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda _: None)
    with other_server(503, b'{"error": "busy"}') as (address, asked):
        with pytest.raises(BerryEvalError, match=r"not taken \(busy\); push it again later"):
            push_run(address, RECORD.id, "own.db")
        assert len(asked) == 4
    with pytest.raises(BerryEvalError, match=r"refused.*push it again later"):
        push_run(address, RECORD.id, "own.db")
