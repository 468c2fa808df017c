"""Take the pictures of docs/images from reports and the site in a headless Chromium.

Run with `make pictures`, and look at what changed before you commit it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import sync_playwright

import berryeval as be

IMAGES: Final = Path(__file__).parents[1] / "docs" / "images"
PROVIDERS: Final = ["bm25", "dense", "hybrid", "sqlite"]
COMPARED: Final = ["bm25", "hybrid"]
QUERY: Final = "td-006"
SHOWN: Final = "Which scope does a key need"
BROWSERS: Final = ("chromium", "chromium-browser", "google-chrome")
WIDE: Final = {"width": 1280, "height": 1440}
PHONE: Final = {"width": 380, "height": 900}


def open_page(browser: Any, path: Path, size: dict[str, int], scheme: str, scale: int = 1) -> Any:
    """Open a report in a window of this size."""
    page = browser.new_page(viewport=size, color_scheme=scheme, device_scale_factor=scale)
    page.goto(path.as_uri())
    return page


def take_pictures(browser: Any, report: Path, compared: Path) -> None:
    """Write every picture."""
    for path, name in ((report, "report-light"), (compared, "compare-light")):
        open_page(browser, path, WIDE, "light").screenshot(path=IMAGES / f"{name}.png")
    phone = open_page(browser, report, PHONE, "light", scale=2)
    phone.screenshot(path=IMAGES / "report-phone.png")
    page = open_page(browser, report, {"width": 1280, "height": 1200}, "dark")
    query = page.locator("details.query", has_text=QUERY).first
    query.evaluate("one => { one.open = true; scrollTo(0, one.offsetTop - 150) }")
    page.wait_for_timeout(1000)  # the page scrolls smoothly
    page.screenshot(path=IMAGES / "report-query-dark.png")


@contextmanager
def serve_run(folder: str) -> Iterator[str]:
    """Serve a run of the benchmark from a folder; the link opens the site."""
    command = [sys.executable, "-m", "berryeval"]
    asked = [*command, "eval", "technical-docs", "--providers", *PROVIDERS, "--quiet"]
    subprocess.run(asked, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    known = os.environ | {"BERRYEVAL_JUDGE": "ann"}
    with subprocess.Popen(
        [*command, "serve", "--port", "0"], cwd=folder, env=known, stdout=subprocess.PIPE, text=True
    ) as server:
        lines = server.stdout or ()
        yield next(line.split()[1] for line in lines if line.startswith("open http"))
        server.terminate()


def take_site_pictures(browser: Any, link: str) -> None:
    """Write the picture of the site: the page of a query."""
    page = browser.new_page(viewport={"width": 1280, "height": 1120}, color_scheme="light")
    page.goto(link)
    page.locator("main a[href*='/runs/']").first.click()
    page.get_by_role("link", name="All queries").click()
    page.locator("main a[href*='query?']", has_text=SHOWN).click()
    page.locator("h1", has_text=SHOWN).wait_for()
    page.screenshot(path=IMAGES / "site-query.png")


def main() -> int:
    """Run the benchmark, write both pages and take the pictures."""
    chromium = next(filter(None, map(shutil.which, BROWSERS)), None)
    if chromium is None:
        print("no Chromium on this machine; scripts/browser.sh installs one", file=sys.stderr)
        return 1
    found = be.run_benchmark("technical-docs", PROVIDERS)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        report, compared = Path(folder, "report.html"), Path(folder, "compare.html")
        be.write_report(found, report)
        pair = be.run_benchmark("technical-docs", COMPARED)
        be.write_report(be.compare_runs(pair), compared)
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        take_pictures(browser, report, compared)
        with serve_run(folder) as link:
            take_site_pictures(browser, link)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
