"""Check of the built site: every link leads somewhere, and no page asks for anything elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

LOADED: Final = {"img": "src", "script": "src", "iframe": "src", "source": "srcset", "link": "href"}


@dataclass
class Page(HTMLParser):
    """Ids, links and requests of a page.

    Attributes:
        ids: Anchors that other pages may link to.
        links: Addresses that a reader may follow.
        loaded: Addresses that the browser loads by itself.
    """

    ids: set[str] = field(default_factory=set)
    links: set[str] = field(default_factory=set)
    loaded: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> Page:
        """Read a file."""
        page = cls()
        HTMLParser.__init__(page)
        page.feed(path.read_text(encoding="utf-8"))
        return page

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect what the element has."""
        found = {name: value or "" for name, value in attrs}
        self.ids |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and "href" in found:
            self.links.add(found["href"])
        if tag in LOADED and LOADED[tag] in found:
            canonical = found.get("rel") in {"canonical", "next", "prev"}
            (self.links if canonical else self.loaded).add(found[LOADED[tag]])


def find_broken_links(site: Path) -> list[str]:
    """Return a line for each link that leads nowhere, and for what is loaded from outside."""
    pages = {path: Page.read(path) for path in sorted(site.rglob("*.html"))}
    return [
        f"{path.relative_to(site).as_posix()}: {problem}"
        for path, page in pages.items()
        if path.name != "404.html"  # its links begin at the root of the server of SITE_URL
        for address in sorted(page.links | page.loaded)
        if (problem := _check(address, path, pages, is_loaded=address in page.loaded))
    ]


def _check(address: str, path: Path, pages: dict[Path, Page], *, is_loaded: bool) -> str:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        if is_loaded and parts.scheme != "data":
            return f"loads {address}, which is not part of the site"
        well_formed = parts.scheme in {"http", "https"} and "." in (parts.hostname or "")
        return "" if well_formed or parts.scheme in {"data", "mailto"} else f"odd link {address}"
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        return f"broken link {address}"
    known = pages[target].ids if target in pages else set()
    wanted = unquote(parts.fragment)
    return f"no anchor for {address}" if wanted and wanted not in known else ""
