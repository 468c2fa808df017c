"""What a server shows: the store, the run folders, the pools, and who may see them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from starlette.requests import Request

    from berryeval.web.accounts import Accounts
    from berryeval.web.rooms import Rooms
    from berryeval.web.shelf import RunShelf


@dataclass(frozen=True)
class SiteSettings:
    """What was asked for on the command line.

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
        parts = urlsplit(self.url)
        if self.url and (parts.scheme not in {"http", "https"} or not parts.hostname):
            raise ConfigurationError(
                "expected the address of the site, such as https://eval.example.org/berry, found "
                f"{self.url!r:.80}"
            )

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


def site_of(request: Request) -> Site:
    """Return the site that a request asks for."""
    site: Site = request.app.state.site
    return site
