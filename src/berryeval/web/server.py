"""The server: its socket, the link that opens it, and its end."""

from __future__ import annotations

import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from berryeval._internal.optional import import_optional
from berryeval.errors import ConfigurationError

if TYPE_CHECKING:
    from berryeval.web.site import Site, SiteSettings


@dataclass(frozen=True)
class Serving:
    """A server that is about to start: the link that opens it, and what to tell first."""

    site: Site
    address: str
    link: str
    notes: tuple[str, ...] = ()


def serve(settings: SiteSettings, notify: Callable[[Serving], None]) -> None:
    """Serve a site until it is interrupted.

    Args:
        settings: What to serve.
        notify: Called when the server can be reached.
    """
    uvicorn = import_optional("uvicorn", "berryeval serve", extra="web")
    import_optional("fastapi", "berryeval serve", extra="web")
    from berryeval.web.application import build_application

    site = build_site(settings)
    with listen(settings) as listening:
        port = listening.getsockname()[1]
        address = settings.url.rstrip("/") or f"http://{_show_host(settings.host)}:{port}"
        token = getattr(site.accounts, "token", "")
        link = f"{address}/enter?token={token}" if token else address
        config = uvicorn.Config(
            build_application(site), log_level="warning", access_log=False, server_header=False,
            proxy_headers=False, timeout_graceful_shutdown=5,
        )  # fmt: skip
        notify(Serving(site, address, link))
        uvicorn.Server(config).run(sockets=[listening])


def build_site(settings: SiteSettings) -> Site:
    """Open what the settings name."""
    from berryeval.web.accounts import LocalAccounts
    from berryeval.web.rooms import Rooms
    from berryeval.web.shelf import RunShelf
    from berryeval.web.site import Site

    accounts = LocalAccounts(settings.judge or "me")
    return Site(settings, RunShelf(settings.store), accounts, Rooms(settings))


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
            f"cannot listen on {settings.host}:{settings.port} ({error.strerror or error}); "
            "choose another port with --port, or --port 0 for any that is free"
        ) from None
    return listening


def _show_host(host: str) -> str:
    return f"[{host}]" if ":" in host else host
