"""Fixtures of the web tests: a folder with runs, and a server over it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.workflows import open_history
from tests.reports.html_records import run_record
from tests.web.serving import Served, serve_site

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Work in a folder whose store has one run of 8 queries."""
    place, before = tmp_path_factory.mktemp("site"), os.getcwd()  # noqa: PTH109 - goes to chdir
    os.chdir(place)
    try:
        with open_history("runs.db", make=True) as store:
            store.add(run_record(8, hits=12))
        yield place
    finally:
        os.chdir(before)


@pytest.fixture(scope="module")
def served(folder: Path) -> Iterator[Served]:
    """Serve that folder to one person, without users."""
    with serve_site(store=str(folder / "runs.db"), judge="ann") as found:
        yield found


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    """Return a client that is signed in."""
    with served.sign_in() as found:
        yield found


@pytest.fixture
def page(browser: Any, served: Served) -> Iterator[Any]:
    """Return a page of the browser that is signed in; what its console says fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    noise: list[str] = []
    opened.on("console", lambda message: noise.append(f"console: {message.text}"))
    opened.on("pageerror", lambda error: noise.append(f"error: {error}"))
    opened.goto(served.link)
    yield opened
    context.close()
    assert noise == []
