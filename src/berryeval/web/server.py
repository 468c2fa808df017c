"""The server: its socket, the link that opens it, and the lease of its store."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from berryeval._internal.files import try_lock
from berryeval._internal.optional import import_optional
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

    import uvicorn

    from berryeval.runs import Place
    from berryeval.web.accounts import Accounts
    from berryeval.web.site import Site, SiteSettings

_WAITING: Final = 128  # connections that wait to be accepted
_LOCK: Final = 0x62657273  # "bers"; PostgreSQL identifies locks by number
_LONGEST: Final = 63  # bytes of a name in PostgreSQL
_NAME: Final = "serve "


@dataclass(frozen=True)
class Serving:
    """A server that can be reached.

    Attributes:
        address: Its address.
        link: The link that signs someone in, which works once or is shown once; "" if people have
            their tokens already.
        who: The person whom the link signs in.
        is_first: Whether the server has just started; later, a link was used and this is the next.
        notes: What to tell first.
    """

    address: str
    link: str = ""
    who: str = ""
    is_first: bool = True
    notes: tuple[str, ...] = ()


def serve(settings: SiteSettings, notify: Callable[[Serving], None]) -> None:
    """Serve a site until it is interrupted.

    Args:
        settings: What to serve.
        notify: Called when the server can be reached, and for every further link.
    """
    uvicorn = import_optional("uvicorn", "berryeval serve", extra="web")
    for name in ("fastapi", "python_multipart"):
        import_optional(name, "berryeval serve", extra="web")
    from berryeval.reports import warm_up
    from berryeval.workflows import choose_store

    notes = check_store(settings)
    with listen(settings) as listening:
        address = settings.url.rstrip("/")
        if not address:
            address = f"http://{_show_host(settings.host)}:{listening.getsockname()[1]}"
        with hold_store(choose_store(settings.store), address):
            site = build_site(settings)
            server = uvicorn.Server(configure(site))
            threading.Thread(target=warm_up, daemon=True).start()
            listening.listen(_WAITING)
            notify(replace(_make_link(site, address, notify), notes=notes))
            with suppress(KeyboardInterrupt):
                server.run(sockets=[listening])


def configure(site: Site) -> uvicorn.Config:
    """Return how uvicorn serves a site: no access log, which would keep links."""
    import uvicorn

    from berryeval.web.application import build_application

    return uvicorn.Config(
        build_application(site), log_level="warning", access_log=False, server_header=False,
        proxy_headers=False, timeout_graceful_shutdown=5,
    )  # fmt: skip


def check_store(settings: SiteSettings) -> tuple[str, ...]:
    """Open the store once, so that a damaged one is an error; return a note about it."""
    from berryeval.runs import NoStoreError
    from berryeval.workflows import choose_store, open_history

    if choose_store(settings.store) is None and not settings.users:
        return ("the store is turned off: only run folders are shown",)
    try:
        with open_history(settings.store, make=settings.users):
            return ()
    except NoStoreError as error:
        return (str(error),)


def build_site(settings: SiteSettings) -> Site:
    """Open what the settings name."""
    from berryeval.judging import check_judge
    from berryeval.web.accounts import LocalAccounts, UserAccounts, keep_key
    from berryeval.web.rooms import Rooms
    from berryeval.web.shelf import RunShelf
    from berryeval.web.site import Site
    from berryeval.workflows import read_judge

    rooms = Rooms(settings)
    rooms.check()
    key = keep_key()
    accounts: Accounts = (
        UserAccounts(settings.store, key)
        if settings.users
        else LocalAccounts(check_judge(read_judge(settings.judge)), key)
    )
    return Site(settings, RunShelf(settings.store), accounts, rooms)


def _make_link(site: Site, address: str, notify: Callable[[Serving], None]) -> Serving:
    """Return the first link: of the only person, or of the first administrator."""
    from berryeval.web.accounts import LocalAccounts, UserAccounts
    from berryeval.workflows import read_judge

    accounts = site.accounts
    if isinstance(accounts, UserAccounts):
        name = read_judge(site.settings.judge)
        token = accounts.add_first(name)
        return Serving(address, f"{address}/sign-in#{token}", name) if token else Serving(address)
    if not isinstance(accounts, LocalAccounts):
        return Serving(address)

    def show_next() -> None:
        notify(replace(first, link=f"{address}/enter?token={accounts.token}", is_first=False))

    first = Serving(address, f"{address}/enter?token={accounts.token}", accounts.name)
    accounts.when_used = show_next
    return first


def listen(settings: SiteSettings) -> socket.socket:
    """Return a socket that is bound to the address of a site."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((settings.host, settings.port))
    except OSError as error:
        listening.close()
        raise ConfigurationError(
            f"cannot listen on {_show_host(settings.host)}:{settings.port} "
            f"({error.strerror or error}); choose another port with --port, or --port 0 for any "
            "that is free"
        ) from None
    return listening


def _show_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


@contextmanager
def hold_store(place: str | None, address: str) -> Iterator[None]:
    """Hold the lease of a store during the block; an error names the server that has it.

    The lease ends with the process, however it ends.

    Args:
        place: Place of the store; None for no store.
        address: Address of this server.
    """
    if place is None:
        yield
        return
    from berryeval.runs import Place

    found = Place.of(place)
    with _lock_file(found, address) if found.file else _lock_database(found, address):
        yield


@contextmanager
def _lock_file(place: Place, address: str) -> Iterator[None]:
    path: Path = place.file.with_name(f"{place.file.name}.serve")  # type: ignore[union-attr]
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError:  # no one can judge on a read-only disk, so it needs no lease
        yield
        return
    try:
        if not try_lock(file):
            raise _describe(place, os.read(file, 1000).decode(errors="replace"))
        os.ftruncate(file, 0)
        os.write(file, address.encode())
        yield
    finally:
        os.close(file)


@contextmanager
def _lock_database(place: Place, address: str) -> Iterator[None]:
    from sqlalchemy import create_engine, text
    from sqlalchemy.exc import SQLAlchemyError
    from sqlalchemy.pool import NullPool

    name = f"{_NAME}{address}".encode()[:_LONGEST].decode(errors="ignore")
    options = {"connect_timeout": 10, "application_name": name}
    engine = create_engine(place.url, connect_args=options, poolclass=NullPool)
    try:
        connection = engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    except SQLAlchemyError as error:
        problem = place.mask_text(str(getattr(error, "orig", None) or error))
        raise ConfigurationError(f"the store {place.shown} cannot be read ({problem})") from None
    with connection:
        if not connection.scalar(text("SELECT pg_try_advisory_lock(:key)"), {"key": _LOCK}):
            holder = (
                "SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid) "
                "WHERE locktype = 'advisory' AND objid = :key AND granted AND "
                "pg_locks.database = (SELECT oid FROM pg_database WHERE datname = "
                "current_database())"
            )
            other = connection.scalar(text(holder), {"key": _LOCK}) or ""
            raise _describe(place, str(other).removeprefix(_NAME))
        yield


def _describe(place: Place, other: str) -> ConfigurationError:
    where = f" at {other}" if other else ""
    return ConfigurationError(
        f"another server{where} has the store {place.shown} open; use that one, stop it, or serve "
        "another store with --store"
    )
