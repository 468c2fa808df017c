"""A server of the web application in a thread of this process, on a free port of loopback."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import httpx
import uvicorn

from berryeval.web.server import build_site, configure, listen
from berryeval.web.site import Site, SiteSettings

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True)
class Served:
    """A site that is served: its address, and the link that signs one browser in."""

    site: Site
    address: str

    @property
    def link(self) -> str:
        """A link that opens a session; every call gives the next one."""
        return f"{self.address}/enter?token={getattr(self.site.accounts, 'token', '')}"

    @contextmanager
    def sign_in(self) -> Iterator[httpx.Client]:
        """Open a client with a session; its posts carry the form token and the origin."""
        with httpx.Client(base_url=self.address, follow_redirects=True, timeout=60) as client:
            page = client.get(self.link).text
            token = page.partition('name="form-token" content="')[2].partition('"')[0]
            client.headers.update({"x-form-token": token, "origin": self.address})
            yield client


@contextmanager
def serve_site(**settings: Any) -> Iterator[Served]:
    """Serve a site until the end of the block."""
    with run_site(build_site(SiteSettings(**settings))) as found:
        yield found


@contextmanager
def run_site(site: Site, port: int = 0) -> Iterator[Served]:
    """Serve a site until the end of the block; a site can be served again on the same port."""
    with listen(replace(site.settings, port=port)) as listening:
        server = uvicorn.Server(configure(site))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started and thread.is_alive():
                time.sleep(0.005)
            yield Served(site, f"http://127.0.0.1:{listening.getsockname()[1]}")
        finally:
            server.should_exit = True
            thread.join(30)
