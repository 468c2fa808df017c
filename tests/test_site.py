"""The documentation site: builds, links lead somewhere, examples ran, and it works offline."""

from __future__ import annotations

import doctest
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from scripts.website.links import find_broken_links
from scripts.website.pages import check_navigation, move_repository_links
from tests.browser import needs_browser

ROOT = Path(__file__).parents[1]
REFERENCE = ("metrics.md", "providers.md", "chunkers.md", "formats.md", "conventions.md")
SHOWN = (
    "index", "metrics", "statistics", "formats", "reference/commands", "reference/configuration",
    "reference/http", "reference/loaders", "reference/python/berryeval",
)  # fmt: skip
WIDTHS = (390, 1280)
LIST_BUNDLED = """
import json
from berryeval.benchmarks import LOADERS
from berryeval.metrics import definitions
from berryeval.providers import PROVIDERS
from berryeval.reports.exports import EXPORTERS
tables = {"metrics": definitions(), "providers": PROVIDERS}
tables |= {"loaders": LOADERS, "exporters": EXPORTERS}
print(json.dumps({kind: list(table) for kind, table in tables.items()}))
"""


class Site(NamedTuple):
    """A site that was built: its pages in Markdown and HTML, and what the command printed."""

    pages: Path
    html: Path
    printed: str


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Build the site with the command of `make site`."""
    pytest.importorskip("zensical", reason="the generator comes with the group site")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "scripts.website", str(folder)],
        cwd=ROOT, capture_output=True, text=True, encoding="utf-8", check=False,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "SITE_URL": ""},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return Site(folder / "pages", folder / "html", done.stdout + done.stderr)


@pytest.fixture(scope="module")
def bundled() -> dict[str, list[str]]:
    """Return the names of everything bundled, from a process without what other tests register."""
    done = subprocess.run(
        [sys.executable, "-c", LIST_BUNDLED], capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)  # type: ignore[no-any-return]


def indent(block: re.Match[str]) -> str:
    """Keep the lines of a block of code from looking like titles."""
    return block[0].replace("\n#", "\n #")


def sections(page: Path, level: int = 2) -> dict[str, str]:
    """Return the sections of a page by title."""
    text = page.read_text(encoding="utf-8")
    text = re.sub(r"^(````?)\w+\n.*?\n\1$", indent, text, flags=re.MULTILINE | re.DOTALL)
    _, *found = re.split(rf"^{'#' * level} ", text, flags=re.MULTILINE)
    return {one.partition("\n")[0].partition(" {#")[0]: one for one in found}


def test_the_site_builds_without_a_warning_and_without_broken_links(site: Site) -> None:
    assert site.printed.splitlines() == [f"site: {site.html / 'index.html'}"]
    assert find_broken_links(site.html) == []
    written = {
        path.relative_to(site.pages).with_suffix(".html") for path in site.pages.rglob("*.md")
    }
    assert len(written) > 50
    assert {path.relative_to(site.html) for path in site.html.rglob("*.html")} == written


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    """And so are an anchor that is missing, and what a page loads from elsewhere."""
    (tmp_path / "good.html").write_text('<p id="here"><a href="#here">', "utf-8")
    (tmp_path / "bad.html").write_text(
        '<a href="good.html#here"><a href="good.html#gone"><a href="gone.html">'
        '<a href="https://example.org/"><a href="https://nowhere"><img src="data:,">'
        '<source srcset="gone.png">'
        '<script src="https://cdn.example.org/a.js">',
        "utf-8",
    )
    assert sorted(find_broken_links(tmp_path)) == [
        "bad.html: broken link gone.html",
        "bad.html: broken link gone.png",
        "bad.html: loads https://cdn.example.org/a.js, which is not part of the site",
        "bad.html: no anchor for good.html#gone",
        "bad.html: odd link https://nowhere",
    ]


def test_files_of_the_repository_are_shown_and_missing_ones_are_named(tmp_path: Path) -> None:
    (tmp_path / "one.md").write_text(
        "[made](../Makefile) [gone](../gone.py) [all](../README.md) [other](eval.md#limits)\n"
        "```\n[code](../gone.py)\n```\n",
        "utf-8",
    )
    assert list(move_repository_links(tmp_path)) == ["one.md: there is no file ../gone.py"]
    text = (tmp_path / "one.md").read_text(encoding="utf-8")
    assert "[made](repository.md#makefile)" in text
    assert "[all](index.md) [other](eval.md#limits)" in text
    assert ".PHONY" in (tmp_path / "repository.md").read_text(encoding="utf-8")


def test_every_page_must_be_in_the_navigation(tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "new.md").write_text("# New", "utf-8")
    (tmp_path / "mkdocs.yml").write_text("a: 1\nnav:\n  - Part:\n      - Old: old.md\n", "utf-8")
    assert list(check_navigation(tmp_path)) == [
        "new.md is not in the navigation: add it to nav in docs/site/mkdocs.yml",
        "docs/site/mkdocs.yml: nav names old.md, which does not exist",
    ]


def test_every_page_of_the_reference_has_an_example(site: Site) -> None:
    pages = [*(site.pages / name for name in REFERENCE), *site.pages.rglob("reference/**/*.md")]
    assert len(pages) > 20
    for page in pages:
        text = page.read_text(encoding="utf-8")
        assert re.search(r"^(>>>|\$ berryeval|providers:|GET|`be\.)", text, re.MULTILINE), page


def test_every_metric_has_its_source_and_an_example_that_runs(
    site: Site, bundled: dict[str, list[str]]
) -> None:
    page = site.pages / "metrics.md"
    found = sections(page)
    assert set(found) - {"The examples"} == set(bundled["metrics"])
    for name in bundled["metrics"]:
        assert re.search(r"\b(19|20)\d\d\b|^\| source \|", found[name], re.MULTILINE), name
        assert ">>> score" in found[name], name
    results = doctest.testfile(str(page), module_relative=False, encoding="utf-8")
    assert (results.failed, results.attempted >= len(bundled["metrics"])) == (0, True)


def test_every_provider_loader_and_exporter_has_an_example(
    site: Site, bundled: dict[str, list[str]]
) -> None:
    providers = sections(site.pages / "providers.md", 3)
    assert all("```yaml\nproviders:" in providers[name] for name in bundled["providers"])
    loaders = sections(site.pages / "reference" / "loaders.md")
    assert all(
        "load_benchmark(" in loaders[name] for name in set(bundled["loaders"]) - {"ir_datasets"}
    )
    exporters = sections(site.pages / "reference" / "exporters.md")
    shown = ("be.write_report(", "berryeval report", "![")
    assert all(any(one in exporters[name] for one in shown) for name in bundled["exporters"])


def test_every_command_is_listed_with_an_example(site: Site) -> None:
    page = site.pages / "reference" / "commands.md"
    found = sections(page) | sections(page, 3)
    assert len(found) > 40
    for name in found:
        is_group = any(other.startswith(f"{name} ") for other in found)
        assert is_group or f"berryeval {name}" in found[name].partition("```")[2], name
    assert "| `--seed` | `0` |" in found["compare"]  # a default of 0 is shown


@needs_browser
@pytest.mark.parametrize("width", WIDTHS)
def test_search_answers_from_the_disk(browser: Any, site: Site, width: int) -> None:
    """It searches for all that was typed, letter by letter, and shows it."""
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((site.html / "index.html").as_uri())
    page.locator(".md-search__button:visible, label[for=__search]:visible").first.click()
    field = page.get_by_role("combobox")
    field.press_sequentially("RR", delay=50)
    page.get_by_role("option").first.wait_for()
    assert field.input_value() == "RR"
    link = page.locator("a[href*='metrics.html'][href*='#rr']").first
    link.wait_for()
    link.click()
    page.locator("h2#rr").wait_for(state="visible")
    page.close()


@needs_browser
def test_tables_that_scroll_are_reached_with_the_keyboard(browser: Any, site: Site) -> None:
    """And only those: in a wide window the same table is no stop."""
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto((site.html / "reference" / "http.html").as_uri())
    tables = page.locator(".md-typeset__scrollwrap")
    tables.and_(page.locator("[tabindex='0']")).first.wait_for()
    wide = "all => all.map(one => [one.tabIndex, one.scrollWidth > one.clientWidth])"
    assert {tuple(one) for one in tables.evaluate_all(wide)} == {(0, True), (-1, False)}
    page.set_viewport_size({"width": 1280, "height": 900})
    page.wait_for_function("!document.querySelector('.md-typeset__scrollwrap[tabindex]')")
    page.close()


@needs_browser
def test_pages_fit_phones_and_desktops_and_ask_nobody_else(browser: Any, site: Site) -> None:
    page = browser.new_page()
    noise: list[str] = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    left = "net::ERR_ABORTED"  # the page was left while an image still loaded
    page.on("requestfailed", lambda one: noise.append(one.url) if one.failure != left else None)
    page.on("request", lambda one: None if one.url.startswith("file:") else noise.append(one.url))
    for name in SHOWN:
        page.goto((site.html / f"{name}.html").as_uri())
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, (name, width)
    assert noise == []
    page.close()
