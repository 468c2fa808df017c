"""Texts of runs, corpora and queries are shown and never run: every page, in the browser."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from berryeval.benchmarks import Benchmark, write_benchmark
from berryeval.data import Anchor, Document, Query
from berryeval.judging import Pair, Pool, make_pair_id
from berryeval.workflows import open_history
from tests.browser import needs_browser
from tests.reports.html_records import NASTY, nasty_run
from tests.web.serving import serve_site

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

WRITABLE = [text for text in NASTY if text.isprintable()]
ALIKE = 2  # pages of one kind that are opened
KINDS = {f"/judge/nasty{rest}" for rest in ("", "/status", "/agreement", "/adjudicate")}
KINDS |= {"/runs", "/runs/NAME", "/queries", "/query", "/compare", "/trends", "/judge"}
# What must not be on a page: a script of its own, a picture of another place, a handler.
INJECTED = """() => [...document.querySelectorAll('script:not([src]), img, iframe, base, style')]
    .map(one => one.outerHTML).concat([...document.querySelectorAll('*')]
    .filter(one => one.getAttributeNames().some(name => name.startsWith('on')))
    .map(one => one.outerHTML)).map(text => text.slice(0, 200))"""


def write_nasty_site(folder: Path) -> None:
    """Write two runs and a pool whose texts break careless pages."""
    run = nasty_run()
    run = replace(run, plan={"tags": {NASTY[0]: NASTY[1]}})
    with open_history(folder / "runs.db", make=True) as store:
        store.add(run)
        store.add(replace(run, id=f"{NASTY[1]} 2", created="2026-02-02T03:04:05+00:00"))
    documents = tuple(Document(f"d{n}", text, text) for n, text in enumerate(WRITABLE))
    asked = tuple(Query(f"q{n}", text, description=text) for n, text in enumerate(WRITABLE))
    write_benchmark(Benchmark("nasty", documents, asked), folder / "nasty")
    pairs = tuple(
        Pair(make_pair_id(query.id, target), query.id, target, document.text, document.text)
        for query in asked
        for document in documents
        for target in [Anchor(document=document.id)]
    )
    place = folder / "nasty.judged"
    place.mkdir()
    Pool("nasty", "", "depth", 10, 0, pairs).write(place / "pool.json")


def kind_of(url: str) -> str:
    """Return what makes pages alike: the path, without the name of a run."""
    path = urlsplit(url).path
    return "/runs/NAME" if path.startswith("/runs/") else path


@needs_browser
def test_no_text_runs_on_any_page(
    browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Follow the links of the site, and open some pages of each kind."""
    monkeypatch.chdir(tmp_path)
    write_nasty_site(tmp_path)
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    page = context.new_page()
    noise: list[str] = []
    page.on("dialog", lambda dialog: noise.append(f"dialog: {dialog.message}"))
    page.on("console", lambda message: noise.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noise.append(f"error: {error}"))
    with serve_site(store=str(tmp_path / "runs.db"), judge=NASTY[0]) as served:
        page.goto(served.link)
        names = page.eval_on_selector_all("input[name=run]", "all => all.map(one => one.value)")
        compared = "&".join(f"run={quote(name, safe='')}" for name in names)
        waiting = [f"{served.address}{path}" for path in ("/runs", "/trends", "/judge/nasty")]
        waiting += [f"{served.address}/compare?{compared}"] if names else []
        opened, kinds = set[str](), Counter[str]()
        while waiting:
            url = waiting.pop(0)
            if url in opened or kinds[kind_of(url)] >= ALIKE:
                continue
            opened.add(url)
            kinds[kind_of(url)] += 1
            answer = page.goto(url)
            assert answer.status == 200, url
            page.wait_for_load_state()
            assert page.evaluate(INJECTED) == [], url
            links = page.eval_on_selector_all("a[href]", "all => all.map(one => one.href)")
            waiting += [
                one.partition("#")[0] for one in links if one.startswith(f"{served.address}/")
            ]
            assert noise == [], url
    context.close()
    assert set(kinds) >= KINDS
