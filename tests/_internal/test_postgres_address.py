"""Addresses of PostgreSQL servers, whose passwords are never shown."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import create_engine

from berryeval._internal.secrets import mask_passwords, parse_address
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.runs.store.database import Place
from berryeval.runs.store.store import open_store
from tests.cli.eval_world import berryeval
from tests.providers.corpus import CHUNKS

if TYPE_CHECKING:
    from pathlib import Path

SCHEMES = ["postgresql", "postgres", "postgresql+psycopg", "POSTGRESQL", "PostgreSQL+Psycopg"]
CANARY = "s3c/R3tpw"
PAIRS = "host=127.0.0.1 port=1 user=joe password=s3cretpw dbname=x"


@pytest.mark.parametrize("encoded", ["s3c%2fR3tpw", "s3c%2FR3tpw", "%733c%2fR3tpw"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_means_the_same_server(scheme: str, encoded: str) -> None:
    dsn = f"{scheme}://u:{encoded}@127.0.0.1:1/x"
    provider = build_provider("postgres", {"dsn": dsn, "mode": "text"})
    with pytest.raises(ProviderError, match=r"PostgreSQL at 127\.0\.0\.1:1: connection") as caught:
        provider.index(CHUNKS)
    shown = f"{caught.value} {provider!r} {Place.of(dsn)!r} {Place.of(dsn).shown}".lower()
    assert "tpw" not in shown
    assert Place.of(dsn).url.password == CANARY


@pytest.mark.parametrize(
    "text", ["postgresql://a:\udc89@db/x", "host=\ud800 user=joe", "postgresql://a:b%99@db/x"]
)
def test_half_a_character_is_no_part_of_an_address(text: str) -> None:
    with pytest.raises(ConfigurationError, match="is not the address of a PostgreSQL server"):
        parse_address("dsn", text)


@given(
    st.text(min_size=4, max_size=12), st.sampled_from(["upper", "lower", "all", "plain", "escaped"])
)
def test_a_password_is_masked_in_every_form(password: str, form: str) -> None:
    forms = {
        "upper": quote(password, safe=""),
        "lower": quote(password, safe="").lower(),
        "all": "".join(f"%{byte:02X}" for byte in password.encode()),
        "plain": password,
        "escaped": "".join(f"\\{sign}" for sign in password),
    }
    found = mask_passwords(f"<{forms[form]}>", {"password": password})
    assert found == "<***>"


@pytest.mark.parametrize("password", ["a", "ab", "%", "x y"])
def test_short_password_hides_the_whole_text(password: str) -> None:
    said = mask_passwords(f"bad {password} in the text", {"password": password})
    assert said == "*** (message hidden: the password is too short to mask)"
    assert mask_passwords("-", {"password": password}) == "-"


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("host=/run dbname=x password='a://b'", {"host": "/run", "password": "a://b"}),
        ("postgresql:///db?host=/run/a%20b", {"host": "/run/a b", "dbname": "db"}),
        ("postgresql://[fe80::1%25eth0]:5/d", {"host": "fe80::1%eth0", "port": "5"}),
        ("postgresql://a:1,b:2/d", {"host": "a,b", "port": "1,2"}),
    ],
)
def test_unusual_addresses_are_parsed(address: str, expected: dict[str, str]) -> None:
    parts = parse_address("it", address)
    assert {name: parts[name] for name in expected} == expected
    url = Place.of(address).url
    (_, given) = create_engine(url).dialect.create_connect_args(url)
    assert {name: str(given[name]) for name in expected} == expected


def test_numbers_of_hosts_and_ports_must_match() -> None:
    with pytest.raises(ConfigurationError, match="not the address of a PostgreSQL"):
        Place.of("host=h port=1,2")
    url = Place.of("host=a,b port=5").url
    (_, given) = create_engine(url).dialect.create_connect_args(url)
    assert (given["host"], given["port"]) == ("a,b", "5,5")


def test_key_value_address_of_a_store_hides_its_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Place.of(PAIRS).shown == "postgresql://joe:***@127.0.0.1:1/x"
    assert berryeval("runs", "list", "--store", PAIRS) == 2
    for faulty in (f"{PAIRS} s3cretpw", PAIRS.replace("password", "PASSWORD"), f"{PAIRS} a='"):
        assert berryeval("runs", "list", "--store", faulty) == 2
        with (
            pytest.raises(ConfigurationError, match="store is not the address"),
            open_store(faulty),
        ):
            pass
    out, err = capsys.readouterr()
    assert "s3cretpw" not in out + err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["user=joe/results.db", "runs/user=joe/x.db", "a=b.db", "x.db"])
def test_path_with_an_equals_sign_is_a_file(name: str) -> None:
    assert str(Place.of(name).file) == name


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://app:{'x' * 100_000}#1@db/prod",
        f"postgresql://app:{'x' * 100_000}@db:port/prod",
        f"postgresql://app:{'x' * 100_000} @db/prod",
        f"postgresql://[{'x' * 100_000}",
        f"postgresql://{':' * 100_000}",
        f"postgresql://{'a,' * 100_000}%",
    ],
)
def test_a_long_faulty_address_is_rejected_at_once(address: str) -> None:
    """A slow parser would not end before the suite is stopped."""
    for parse in (lambda: parse_address("it", address), lambda: Place.of(address)):
        with pytest.raises(ConfigurationError, match="must be percent-encoded") as caught:
            parse()
        assert "xxx" not in str(caught.value)
