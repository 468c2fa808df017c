"""Passwords in addresses: an ambiguous address is rejected, and no password is shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from berryeval._internal.secrets import mask_passwords, parse_address
from berryeval.errors import ConfigurationError
from berryeval.providers.web import check_url
from tests.cli.eval_world import berryeval

CANARY = "wCANARY"
# The port is closed: what is not refused could not connect.
HOST = "127.0.0.1:1/rev"
AMBIGUOUS = [
    f"postgresql://postgres:p@{CANARY}tail@{HOST}",
    f"postgresql://postgres:p#{CANARY}/tail@{HOST}",
    f"postgresql://postgres:p#{CANARY}@{HOST}",
    f"postgresql://postgres:12/{CANARY}@{HOST}",
    f"postgresql://postgres:{CANARY}/tail@{HOST}",
    f"postgresql://postgres:12?{CANARY}@{HOST}",
    f"postgres://postgres:p@@{CANARY}@{HOST}",
    f"postgresql://postgres:p%{CANARY}@{HOST}",
    f"postgresql://postgres:%00{CANARY}@{HOST}",
    f"postgresql://postgres:p [{CANARY}]@{HOST}",
    f"postgresql://postgres:p {CANARY}@{HOST}",
    f"postgresql://{HOST}?password=p@{CANARY}",
    f"postgresql://{HOST}?password=p&{CANARY}",
    f"postgresql://{HOST}?password=p#{CANARY}",
    f"postgresql://{HOST}?pasword={CANARY}",
    f"postgresql:/postgres:{CANARY}@{HOST}",
]
NO_ADDRESS = [
    f"host=127.0.0.1 port=1 password=p {CANARY}",
    f"host=127.0.0.1 port=1 password='p'{CANARY}'",
    f"host=127.0.0.1 port=1 password='{CANARY}",
    f"host=127.0.0.1 port=1 password=p {CANARY}=x",
    f"host=127.0.0.1 port={CANARY}",
    f"host=postgres:{CANARY}@127.0.0.1",
    f"dbname=postgresql://postgres:{CANARY}@{HOST}",
    f"mysql://root:{CANARY}@host/db",
    f"not a dsn {CANARY}",
    CANARY,
]
FINE = [
    f"postgresql://postgres:p%40{CANARY}@{HOST}",
    f"postgresql://postgres:{CANARY}:x,y;z!@{HOST}",
    f"postgresql:///rev?host=127.0.0.1&port=1&password={CANARY}",
    f"host=127.0.0.1 port=1 dbname=rev password='p@#/ {CANARY}'",
    f"host=127.0.0.1 port=1 password=p@#/{CANARY}",
]

AT = "error: berryeval.yaml:6: "  # where the option stands
pytestmark = pytest.mark.usefixtures("drinks_folder")


def evaluated(options: dict[str, Any], *more: str, kind: str = "postgres") -> int:
    """Return the exit code of a run with one provider."""
    plan = {
        "benchmarks": ["drinks"],
        "providers": [{"type": kind, "name": "one", "options": options}],
        "run": {"attempts": 1},
    }
    Path("berryeval.yaml").write_text(yaml.safe_dump(plan), encoding="utf-8")
    code = berryeval("eval", "--output", "run", *more)
    Path("berryeval.yaml").unlink()
    return code


def unseen(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the output if neither it nor any file has the canary."""
    out, err = capsys.readouterr()
    assert CANARY not in out + err
    for path in Path().rglob("*"):
        assert CANARY not in str(path)
        assert not path.is_file() or CANARY.encode() not in path.read_bytes()
    return err


@pytest.mark.parametrize("from_environment", [False, True])
@pytest.mark.parametrize("dsn", [*AMBIGUOUS, *NO_ADDRESS])
def test_an_ambiguous_address_is_rejected(
    dsn: str,
    from_environment: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One line names the provider, the option and the scheme alone."""
    monkeypatch.setenv("ADDRESS", dsn)
    assert evaluated({"dsn": "${ADDRESS}" if from_environment else dsn}, "--debug") == 2
    error = unseen(capsys)
    line = error.strip().splitlines()[-1]
    assert line.startswith(f"{AT}dsn of postgres is not the address of a PostgreSQL server")
    assert "must be percent-encoded" in line


@pytest.mark.parametrize("dsn", FINE)
def test_a_clear_address_shows_no_password(dsn: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert evaluated({"dsn": dsn, "mode": "text"}) == 3
    assert "PostgreSQL at 127.0.0.1:1: connection" in unseen(capsys)


@pytest.mark.parametrize("url", [one for one in AMBIGUOUS if "127" in one])
def test_an_ambiguous_store_address_is_rejected(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """By flag, by variable, and in commands about past runs."""
    bm25 = ("eval", "--benchmarks", "drinks", "--providers", "bm25", "--output", "run")
    assert berryeval(*bm25, "--store", url) == 2
    assert "the store is not the address of a PostgreSQL server" in unseen(capsys)
    monkeypatch.setenv("BERRYEVAL_STORE", url)
    assert berryeval(*bm25) == 2
    assert berryeval("runs", "list") == 2
    unseen(capsys)


@pytest.mark.parametrize(
    "url",
    [
        f"http://me:p@{CANARY}@127.0.0.1:1/",
        f"http://me:p#{CANARY}/tail@127.0.0.1:1/",
        f"http://me:12a#{CANARY}@127.0.0.1:1/",
        f"http://me:p/{CANARY}@127.0.0.1:1/",
        f"http://me:p?{CANARY}@127.0.0.1:1/",
        f"http://me:[{CANARY}@127.0.0.1:1/",
        f"http://me:a12/{CANARY}@127.0.0.1:1/",
        f"http://me:1:2/x?{CANARY}@127.0.0.1:1/",
    ],
)
def test_an_ambiguous_web_address_is_rejected(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is sent before the rejection."""
    assert evaluated({"url": url}, kind="http") == 2
    assert f"{AT}url of http is ambiguous, found http://...;" in unseen(capsys)


def test_a_web_address_may_have_an_at_sign_in_its_path(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert evaluated({"url": f"http://me:{CANARY}@127.0.0.1:1/@user"}, kind="http") == 3
    assert "POST http://127.0.0.1:1/" in unseen(capsys)


@pytest.mark.parametrize(
    "url",
    [
        "http://localhost:8080/search?user=me@x.org",
        "https://api.example.com:443/v1/{query}?tag=@all",
        "http://h:9200/a@b",
        "http://h:9200#@b",
        "http://[::1]:9200/a@b",
        "http://h:/a@b",
    ],
)
def test_digits_behind_a_host_are_a_port(url: str) -> None:
    check_url("it", url)


def test_addresses_are_parsed_as_libpq_does() -> None:
    """Several hosts, IPv6 addresses, sockets, and percent codes."""
    assert parse_address("it", "postgresql://u:a%40b@[::1]:5433,h2:5434/db?sslmode=disable") == {
        "user": "u", "password": "a@b", "host": "::1,h2", "port": "5433,5434", "dbname": "db",
        "sslmode": "disable",
    }  # fmt: skip
    assert parse_address("it", "postgresql://%2Frun%2Fx/db")["host"] == "/run/x"
    assert parse_address("it", "postgres://") == {}
    with pytest.raises(ConfigurationError, match="it must be a string, found int"):
        parse_address("it", 5)


def test_a_password_is_masked_in_every_form() -> None:
    text = f"no {CANARY}@/ and no {CANARY}%40%2F"
    assert mask_passwords(text, {"password": f"{CANARY}@/"}) == "no *** and no ***"


def test_an_empty_variable_is_rejected(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """An empty default is accepted."""
    monkeypatch.setenv("DATABASE_URL", "")
    assert evaluated({"dsn": "${DATABASE_URL}"}) == 2
    assert f"{AT}the environment variable DATABASE_URL is empty; set it" in unseen(capsys)
    monkeypatch.setenv("BERRYEVAL_LOG", "info")
    assert evaluated({"dsn": "${DATABASE_URL:-}", "mode": "text"}) == 0
    assert "info: postgres: PostgreSQL 1" in unseen(capsys)
