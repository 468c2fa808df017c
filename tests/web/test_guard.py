"""The guard: every check that a request must pass."""

from __future__ import annotations

import hmac
import logging
import os
import re
import socket
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

import httpx
import pytest

from berryeval.errors import ConfigurationError
from berryeval.web import accounts
from berryeval.web.accounts import UserAccounts, keep_key, read_session, sign_session
from berryeval.web.application import build_application
from berryeval.web.server import build_site, listen
from berryeval.web.site import SiteSettings
from berryeval.web.throttle import Throttle, address_of
from berryeval.workflows import open_history
from tests.reports.html_records import run_record
from tests.web.serving import Served, serve_site

if TYPE_CHECKING:
    from collections.abc import Iterator

FORM = {"content-type": "application/x-www-form-urlencoded"}
VOTES = "/api/v1/judging/x/votes"
ANY = ("0.0.0.0", "::")  # noqa: S104 - refused
EVERYWHERE = ("/", "/runs", "/sign-in", "/static/app.css", "/nowhere", "/api/v1/openapi.json")


@pytest.fixture
def browser_like(client: httpx.Client) -> httpx.Client:
    """Return a client with a session that sends no form token by itself, as a plain form."""
    client.headers.pop("x-form-token")
    client.follow_redirects = False
    return client


# Forged requests


def test_a_form_without_its_token_is_refused(browser_like: httpx.Client) -> None:
    """A page of another site can post forms; only ours knows the token."""
    for body in ("", "form_token=", "form_token=" + "0" * 64, "x=1&form_token[]=1"):
        answer = browser_like.post("/sign-out", content=body, headers=FORM)
        assert answer.status_code == 403, body
        assert "load it again" in answer.text
    assert browser_like.get("/runs").status_code == 200


def test_a_form_with_its_token_is_accepted(browser_like: httpx.Client) -> None:
    shown = browser_like.get("/runs").text
    token = shown.partition('name="form_token" value="')[2].partition('"')[0]
    answer = browser_like.post("/sign-out", data={"form_token": token})
    assert answer.headers["location"] == "/sign-in"
    assert browser_like.get("/runs").status_code == 303


@pytest.mark.parametrize(
    "headers", [{}, {"x-form-token": "0" * 64}, {"authorization": "Basic eA=="}]
)
def test_the_api_needs_the_form_token_of_a_session(
    browser_like: httpx.Client, headers: dict[str, str]
) -> None:
    """A browser may add a session, and the password of a proxy, to requests of other sites."""
    bodies: list[dict[str, Any]] = [{"json": {}}, {"data": {"x": "1"}}, {"files": {"x": b"1"}}]
    for body in bodies:
        answer = browser_like.post(VOTES, headers=headers, **body)
        assert answer.status_code == 403
        assert answer.json() == {"error": "the page is too old: load it again"}


@pytest.mark.parametrize(
    "origin", [None, "null", "https://evil.example", "http://127.0.0.1:1", "http://127.0.0.1"]
)
def test_requests_of_other_sites_are_refused(client: httpx.Client, origin: str | None) -> None:
    client.headers.pop("origin")
    headers = {} if origin is None else {"origin": origin}
    for path in (VOTES, "/sign-out", "/sign-in"):
        answer = client.post(path, headers=headers)
        assert answer.status_code == 403
        assert "comes from another site" in answer.text


# Host and headers


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example", "192.0.2.1", "[::2]", "x@"]
)
def test_other_host_names_get_no_answer(client: httpx.Client, host: str) -> None:
    """A name that an attacker points at this machine (DNS rebinding) shows nothing."""
    for path in EVERYWHERE:
        answer = client.get(path, headers={"host": host})
        assert answer.status_code == 421
        assert "does not answer to this name" in answer.text


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:99", "[::1]:8642", "127.0.0.1"])
def test_names_of_this_machine_are_known(client: httpx.Client, host: str) -> None:
    assert client.get("/runs", headers={"host": host}).status_code == 200


def test_every_answer_has_safe_headers(served: Served, client: httpx.Client) -> None:
    """Also redirects, errors and files; no policy allows inline script or style."""
    client.follow_redirects = False
    with httpx.Client(base_url=served.address, timeout=60) as stranger:
        answers = [one.get(path) for one in (client, stranger) for path in EVERYWHERE]
        answers += [stranger.post("/sign-in"), client.get("/runs/none")]
    for answer in answers:
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "server" not in answer.headers
    assert {answer.status_code for answer in answers} == {200, 303, 401, 403, 404}


def test_pages_have_no_inline_script_or_style(client: httpx.Client) -> None:
    name = run_record(8).id
    for path in ("/runs", f"/runs/{name}", "/judge", "/trends", "/sign-in", "/nowhere"):
        text = client.get(path).text
        assert not re.findall(r"<script(?![^>]*\ssrc=)|<style|\son\w+=|\sstyle=|hx-on", text), path


# Files


def ask_raw(address: str, path: str, cookie: str = "") -> bytes:
    """Send a path as it is; other clients would tidy it."""
    parts = urlsplit(address)
    with socket.create_connection((parts.hostname, parts.port or 80), timeout=30) as line:
        sent = f"GET {path} HTTP/1.1\r\nhost: {parts.netloc}\r\ncookie: {cookie}\r\n"
        line.sendall(f"{sent}connection: close\r\n\r\n".encode())
        return b"".join(iter(lambda: line.recv(65536), b""))


@pytest.mark.parametrize(
    "up", ["..", "%2e%2e", "..%2f..", "%2e%2e%2f%2e%2e", "..%5c..", "%252e%252e"]
)
@pytest.mark.parametrize("base", ["/static/", "/static/x/", "/runs/"])
def test_no_path_leads_out_of_the_folder_of_static_files(
    served: Served, client: httpx.Client, base: str, up: str
) -> None:
    cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
    for rest in ("guard.py", "__init__.py", "../../../../../../etc/passwd"):
        found = ask_raw(served.address, f"{base}{up}/{rest}", cookie)
        assert b" 200 " not in found.partition(b"\r\n")[0]
        assert b"root:" not in found
        assert b"import annotations" not in found


def test_no_run_outside_the_store_and_the_run_folders_is_read(
    client: httpx.Client, folder: Path, tmp_path: Path
) -> None:
    """Names of runs are no paths, neither in an address nor in a parameter."""
    hidden = run_record(3, hits=2).dumps().replace('"id":', '"secret-mark": 1, "id":', 1)
    places = [tmp_path / "outside", folder / "beside"]
    for place in places:
        place.mkdir()
        (place / "run.json").write_text(hidden, encoding="utf-8")
    (folder / "record.json").write_text(hidden, encoding="utf-8")
    names = [
        str(places[0]),
        str(places[0] / "run.json"),
        "beside",
        "beside/run.json",
        "record.json",
    ]
    names += ["./record.json", f"../../{tmp_path.name}/outside", "runs.db", "\0", "..%2Fx"]
    for name in names:
        for path in ("/runs/{}", "/queries?run={}", "/compare?run={}", "/compare?run={}&run={}"):
            answer = client.get(path.replace("{}", quote(name, safe="")))
            assert answer.status_code in {400, 404, 422}, (path, name)
            assert "secret" not in answer.text
        answer = client.get(f"/runs/{quote(name)}")
        assert answer.status_code in {400, 404, 422} or answer.url.path == "/runs"


def test_a_stored_name_that_is_a_path_reads_no_other_folder(
    client: httpx.Client, folder: Path, tmp_path: Path
) -> None:
    """Also one too long for a folder: the store has the record."""
    (tmp_path / "run.json").write_text(
        run_record(3, hits=2, query_text="secret").dumps(), encoding="utf-8"
    )
    up = "../" * len((folder / ".berryeval" / "runs").parts)
    names = [str(tmp_path), up + str(tmp_path)[1:], "x" * 300]
    with open_history(folder / "runs.db") as store:
        for name in names:
            store.add(replace(run_record(3, hits=2, query_text="own words"), id=name))
    try:
        for name in names:
            answer = client.get("/queries", params={"run": name})
            assert answer.status_code == 200
            assert "own words" in answer.text
            assert "secret" not in answer.text
    finally:
        with open_history(folder / "runs.db") as store:
            store.delete(names)


# Sessions and tokens


def test_sessions_are_signed_and_end(served: Served) -> None:
    key = served.site.accounts.key
    good = sign_session("ann", key)
    assert read_session(good, key)
    name, end, signature = good.split(".")
    forged = [
        f"{name}.{int(end) + 1}.{signature}", f"{b'eve'.hex()}.{end}.{signature}", f"{name}.{end}.",
        sign_session("ann", b"other"), "", ".", "..", "x", "\udcff.1.2", f"{name}.{end}",
    ]  # fmt: skip
    assert not [one for one in forged if read_session(one, key)]
    for one in forged[:-2]:
        cookies = {served.site.cookie: one}
        answer = httpx.get(f"{served.address}/runs", cookies=cookies, timeout=60)
        assert answer.headers["location"] == "/sign-in"


def test_old_sessions_end(monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = sign_session("ann", b"key")
    now = time.time()
    monkeypatch.setattr("berryeval.web.accounts.time.time", lambda: now + accounts.LIFETIME + 1)
    assert not read_session(cookie, b"key")


def test_a_link_works_once_and_the_cookie_is_closed_to_scripts(served: Served) -> None:
    link = served.link
    answer = httpx.get(link, timeout=60)
    assert answer.status_code == 303
    assert "token" not in answer.headers["location"]
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    again = httpx.get(link, timeout=60)
    assert again.status_code == 403
    assert "The terminal of the server shows the next one" in again.text


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_the_key_of_sessions_is_kept_private(tmp_path: Path) -> None:
    """It survives a restart; one that others can read, or a link, is replaced."""
    path = tmp_path / ".berryeval" / "serve.key"
    key = keep_key(path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert keep_key(path) == key
    path.chmod(0o644)
    other = keep_key(path)
    assert other != key
    assert path.stat().st_mode & 0o777 == 0o600
    target = tmp_path / "elsewhere"
    path.rename(target)
    path.symlink_to(target)
    assert keep_key(path) != other
    assert target.read_bytes() == other
    path.write_bytes(b"short")
    assert len(keep_key(path)) == 32


@pytest.fixture(scope="module")
def team(folder: Path) -> Iterator[tuple[Served, str]]:
    """Serve to named people behind a proxy that adds addresses; return a token too."""
    url = "https://eval.example.org/berry"
    with serve_site(store=str(folder / "guarded.db"), users=True, url=url) as found:
        own = found.site.accounts
        assert isinstance(own, UserAccounts)
        yield found, own.add_first("Ann")


def test_tokens_are_compared_in_constant_time(
    team: tuple[Served, str], served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every comparison of a token, a signature or a form token goes through one function."""
    compared: list[bytes] = []
    real = hmac.compare_digest

    def record(given: Any, right: Any) -> bool:
        compared.append(right)
        return real(given, right)

    monkeypatch.setattr(hmac, "compare_digest", record)
    site, token = team[0].site, team[1]
    site.accounts.refresh()
    for given in (token, token[:-1], ""):
        compared.clear()
        assert (site.accounts.find_by_token(given) is not None) == (given == token)
        assert compared == [accounts.hash_token(token).encode()]
    compared.clear()
    served.site.accounts.sign_in("wrong")
    read_session("a.1.b", b"key")
    assert len(compared) == 2


def test_tokens_are_never_logged(
    team: tuple[Served, str], served: Served, caplog: pytest.LogCaptureFixture, capfd: Any
) -> None:
    caplog.set_level(logging.DEBUG)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "berryeval"):
        caplog.set_level(logging.DEBUG, logger=name)
    team_served, token = team
    host = {"host": "eval.example.org", "origin": "https://eval.example.org"}
    link, secret = served.link, "wrong-token-wrong-token"
    with httpx.Client(timeout=60) as client:
        logging.getLogger("httpx").setLevel(logging.WARNING)
        logging.getLogger("httpcore").setLevel(logging.WARNING)
        client.get(link)
        client.get(f"{served.address}/enter?token={secret}")
        for given in (token, secret):
            client.post(f"{team_served.address}/sign-in", data={"token": given}, headers=host)
            bearer = {**host, "authorization": f"Bearer {given}"}
            for path in ("/runs", "/api/v1/runs/none", "/nowhere"):
                client.get(f"{team_served.address}{path}", headers=bearer)
            client.post(f"{team_served.address}/api/v1/runs", headers=bearer, content=b"{")
    said = caplog.text + "".join(capfd.readouterr())
    for one in (token, secret, link.partition("token=")[2]):
        assert one not in said


# Pace and size


def test_too_many_wrong_tokens_must_wait(team: tuple[Served, str]) -> None:
    """Ten in a minute by the form or the header; others are not held up."""
    served, token = team
    headers = {"host": "eval.example.org", "origin": "https://eval.example.org"}
    with httpx.Client(base_url=served.address, headers=headers, timeout=60) as client:
        client.headers["x-forwarded-for"] = "1.2.3.4, 203.0.113.9"
        wrong = {"authorization": "Bearer x"}
        for _ in range(5):
            assert client.post("/sign-in", data={"token": "x"}).status_code == 403
            assert client.get("/api/v1/openapi.json", headers=wrong).status_code == 401
        answer = client.post("/sign-in", data={"token": token})
        assert answer.status_code == 429
        assert 0 < int(answer.headers["retry-after"]) <= 61
        assert "too many wrong tokens; try again in" in answer.text
        assert client.get("/api/v1/openapi.json", headers=wrong).status_code == 429
        right = {"authorization": f"Bearer {token}"}  # a program at the same address goes on
        assert client.get("/api/v1/openapi.json", headers=right).status_code == 200
        client.headers["x-forwarded-for"] = "203.0.113.9, 198.51.100.7"
        assert client.post("/sign-in", data={"token": token}).status_code == 303


def test_addresses_cannot_be_made_up() -> None:
    """Only a proxy on this machine is believed, and only its own addition."""
    sent = [(b"x-forwarded-for", b"6.6.6.6, 203.0.113.9")]

    def find(peer: str, *, behind_proxy: bool) -> str:
        scope = {"type": "http", "client": (peer, 1), "headers": sent}
        return address_of(scope, behind_proxy=behind_proxy)

    assert find("127.0.0.1", behind_proxy=True) == "203.0.113.9"
    assert find("127.0.0.1", behind_proxy=False) == "127.0.0.1"
    assert find("192.0.2.1", behind_proxy=True) == "192.0.2.1"
    assert find("2001:db8::1:2", behind_proxy=True) == find("2001:db8::9:9", behind_proxy=True)


@pytest.mark.parametrize("given", [b"203.0.113.9:443", b"[2001:db8::1]:443", b"2001:db8::1"])
def test_a_proxy_may_add_the_port_of_an_address(given: bytes) -> None:
    scope = {"type": "http", "client": ("127.0.0.1", 1), "headers": [(b"x-forwarded-for", given)]}
    found = address_of(scope, behind_proxy=True)
    assert found in {"203.0.113.9", "2001:db8::/64"}


def test_files_are_asked_for_again_after_an_upgrade(client: httpx.Client) -> None:
    """A browser that keeps an old script would not understand new pages."""
    for name in ("app.js", "report.css", "htmx.min.js"):
        assert client.get(f"/static/{name}").headers["cache-control"] == "no-cache"


def test_the_memory_of_wrong_tokens_is_bounded() -> None:
    throttle = Throttle()
    for number in range(10_050):
        throttle.count_wrong(str(number))
    assert len(throttle._times) == 10_000


def test_large_bodies_are_refused(client: httpx.Client) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(20):
            yield b"x" * 100_000

    answers = [client.post(VOTES, content=pieces())]
    client.headers.pop("x-form-token")
    answers += [
        client.post(path, content=pieces(), headers=FORM) for path in ("/sign-out", "/api/v1/runs")
    ]
    for answer in answers:
        assert answer.status_code == 413
        assert "larger than 1 MB" in answer.text


# Where it listens, and proxies


def test_only_this_machine_can_reach_the_default() -> None:
    with listen(SiteSettings()) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"


@pytest.mark.parametrize("host", [*ANY, "192.168.1.5", "eval.example.org"])
def test_other_machines_need_users_and_a_name(host: str) -> None:
    with pytest.raises(ConfigurationError, match=r"without signing in; add --users"):
        SiteSettings(host=host)
    if host in ANY:
        with pytest.raises(ConfigurationError, match=r"must know its own name: add --url"):
            SiteSettings(host=host, users=True)
    assert SiteSettings(host=host, users=True, url="https://eval.example.org").root == ""


@pytest.mark.parametrize(
    "url",
    [
        "eval.example.org", "ftp://x", "https://", "https://x?y", "/berry", "https://x//evil.com",
        "https://x/a/../b", "https://me:pw@x/berry", "https://x/berry#y", "https://x/ber%20ry",
        "https://x/ber ry", "https://x:99999/berry", "https://[::1/berry", 'https://x/"><b>',
    ],
)  # fmt: skip
def test_bad_addresses_of_the_site_are_errors(url: str) -> None:
    with pytest.raises(ConfigurationError, match="expected the address of the site"):
        SiteSettings(url=url)


def test_the_address_of_the_site_may_be_spelled_in_other_ways(tmp_path: Path) -> None:
    """Browsers send the origin in small letters and without the usual port."""
    url = "https://Eval.Example.org:443/berry/"
    with serve_site(store=str(tmp_path / "x.db"), judge="ann", url=url) as found:
        for origin, said in (("https://eval.example.org", 303), ("https://example.org", 403)):
            token = getattr(found.site.accounts, "token", "")
            answer = httpx.post(
                f"{found.address}/sign-in", data={"token": token}, headers={"origin": origin},
                timeout=60,
            )  # fmt: skip
            assert answer.status_code == said


@pytest.mark.parametrize("path", ["/runs", "/api/x", "/static"])
def test_the_path_of_a_proxy_is_no_page_of_the_site(tmp_path: Path, path: str) -> None:
    site = build_site(SiteSettings(store=str(tmp_path / "x.db"), url=f"https://x.example{path}"))
    with pytest.raises(ConfigurationError, match=f"the path {path} of --url is also one of"):
        build_application(site)


@pytest.mark.parametrize("prefix", ["/berry", ""])
def test_a_proxy_may_keep_or_strip_the_path(team: tuple[Served, str], prefix: str) -> None:
    """Pages link, redirect and set cookies under the path of the proxy either way."""
    served, token = team
    headers = {"host": "eval.example.org", "origin": "https://eval.example.org"}
    with httpx.Client(base_url=served.address + prefix, headers=headers, timeout=60) as client:
        answer = client.post("/sign-in", data={"token": token})
        assert answer.headers["location"] == "/berry/"
        cookie = answer.headers["set-cookie"]
        assert "Path=/berry/" in cookie
        assert "Secure" in cookie
        client.headers["cookie"] = cookie.partition(";")[0]
        assert client.get("/").headers["location"] == "/berry/runs"
        page = client.get("/runs").text
        links = re.findall(r'(?:href|src|action)="([^"#]*)"', page)
        assert [one for one in links if not one.startswith(("/berry/", "https:", "?"))] == [""][:0]
        for path in set(links):
            if "/static/" in path:
                found = client.get(path.removeprefix("/berry"))
                assert found.status_code == 200, path
    assert (
        httpx.get(f"{served.address}/berry", headers=headers, timeout=60).headers["location"]
        == "/berry/"
    )
