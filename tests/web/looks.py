"""How pages look: each fits its window and is legible for everybody, light and dark."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

WIDTHS = (390, 1280)
SCHEMES = ("light", "dark")
LOOKED_AT = {(390, "dark"), (1280, "light")}  # by axe, which is slow
CONTEXT = {"exclude": [[".chart svg"]]}  # tests of the report look at the charts
OPTIONS = {"resultTypes": ["violations"]}
SEVERE = {"serious", "critical"}


@cache
def _axe() -> Any:
    package = pytest.importorskip("axe_playwright_python.sync_playwright")
    return package.Axe()


def check_looks(
    page: Any, paths: Iterable[str], prepare: Callable[[], object] | None = None
) -> None:
    """Open pages: each must fit every width, light and dark, without a severe finding of axe.

    Args:
        page: A page of the browser that is signed in, as the fixture `page` gives.
        paths: Paths on its site, such as "/runs".
        prepare: Called when a page is open, before it is looked at: unfold, tick, type.
    """
    address = "/".join(page.url.split("/", 3)[:3])
    for path in paths:
        answer = page.goto(f"{address}{path}")
        assert answer.status == 200, f"{path}: {answer.status}"
        if prepare is not None:
            prepare()
        for width, scheme in product(WIDTHS, SCHEMES):
            page.set_viewport_size({"width": width, "height": 900})
            page.emulate_media(color_scheme=scheme)
            where = f"{path} at {width} pixels, {scheme}"
            wide = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, f"{where}: the page is {wide} pixels wide"
            if (width, scheme) in LOOKED_AT:
                assert list(find_faults(page)) == [], where


def find_faults(page: Any) -> Iterator[str]:
    """Yield the serious and critical findings of axe on a page, with their places."""
    for one in _axe().run(page, context=CONTEXT, options=OPTIONS).response["violations"]:
        if one["impact"] in SEVERE:
            places = ", ".join(str(node["target"]) for node in one["nodes"][:3])
            yield f"{one['id']}: {one['help']}: {places}"
