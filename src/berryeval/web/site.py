"""The site of a server: its store, run folders, pools and people."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from berryeval._internal.validate import require
from berryeval.errors import ConfigurationError
from berryeval.web.throttle import Throttle, is_loopback

if TYPE_CHECKING:
    from starlette.requests import Request

    from berryeval.web.accounts import Accounts
    from berryeval.web.rooms import Rooms
    from berryeval.web.shelf import RunShelf

_PORTS: Final = 65535
_TIDY: Final = re.compile(r"(?:/[\w.~-]+)*/?", re.ASCII)  # the path of a site
_ANY: Final = {"0.0.0.0", "::"}  # noqa: S104 - recognized, so that it needs --url


def _is_address(url: str) -> bool:
    """Return whether a text is the address of a site, with a path that needs no quoting."""
    try:
        parts = urlsplit(url)
        named = parts.hostname and parts.port != 0
    except ValueError:
        return False
    tidy = _TIDY.fullmatch(parts.path) and not {".", ".."} & set(parts.path.split("/"))
    extra = parts.query or parts.fragment or "@" in parts.netloc
    return bool(parts.scheme in {"http", "https"} and named and tidy and not extra)


@dataclass(frozen=True)
class SiteSettings:
    """Settings from the command line.

    Attributes:
        store: Store of past runs: a SQLite file or the URL of a PostgreSQL; None for the usual one.
        benchmarks: Benchmarks whose pools are judged; empty for all with a pool in this folder.
        ledger: Folder or store of the votes; None for the folder beside each benchmark, or the
            store if there are `users`.
        judge: Name of the judge without `users`; None for `BERRYEVAL_JUDGE`, else the login.
        users: Whether people sign in with a token of their own.
        host: Address to listen on.
        port: Port to listen on; 0 for any that is free.
        url: Address under which people reach the server behind a proxy, with its path.
    """

    store: str | None = None
    benchmarks: tuple[str, ...] = ()
    ledger: str | None = None
    judge: str | None = None
    users: bool = False
    host: str = "127.0.0.1"
    port: int = 0
    url: str = ""

    def __post_init__(self) -> None:
        require(0 <= self.port <= _PORTS, "port", f"a number from 0 to {_PORTS}", self.port)
        if self.url and not _is_address(self.url):
            raise ConfigurationError(
                "expected the address of the site, such as https://eval.example.org/berry, found "
                f"{self.url!r:.80}"
            )
        if not self.users and not is_loopback(self.host):
            raise ConfigurationError(
                f"other machines could reach {self.host} without signing in; add --users, so that "
                "everyone has a token, or leave out --host"
            )
        if self.host in _ANY and not self.url:
            raise ConfigurationError(
                f"on {self.host} the server must know its own name: add --url, such as "
                f"--url http://eval.example.org:{self.port or 8642}"
            )

    @cached_property
    def netloc(self) -> str:
        """The host and port of `url`, as browsers write them."""
        usual = ":443" if self.url.lower().startswith("https:") else ":80"
        return urlsplit(self.url).netloc.lower().removesuffix(usual)

    @cached_property
    def root(self) -> str:
        """The path in front of every path of the site: "" or "/berry"."""
        return urlsplit(self.url).path.rstrip("/")


@dataclass
class Site:
    """The parts of a running server; pages find it with `site_of`."""

    settings: SiteSettings
    shelf: RunShelf
    accounts: Accounts
    rooms: Rooms
    folder: Path = field(default_factory=Path)
    throttle: Throttle = field(default_factory=Throttle)

    @cached_property
    def cookie(self) -> str:
        """Name of the cookie, which differs for each folder: ports of a host share cookies."""
        return f"berryeval_{hashlib.sha256(self.accounts.key).hexdigest()[:8]}"


def site_of(request: Request) -> Site:
    """Return the site that a request asks for."""
    site: Site = request.app.state.site
    return site
