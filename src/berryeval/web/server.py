"""The server: its socket, the link that opens it, and its end."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from berryeval._internal.optional import import_optional
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    import uvicorn

    from berryeval.web.accounts import Accounts
    from berryeval.web.site import Site, SiteSettings

_WAITING: Final = 128  # connections that wait to be accepted


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
    from berryeval.web.lease import hold_store
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
    """Open the store once, so that a damaged one is an error; return what to tell about it."""
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
