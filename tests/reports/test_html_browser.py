"""The HTML report in a real browser: no requests, no overflow, legible, printable."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

import berryeval as be
from berryeval.reports.html.page import render
from berryeval.reports.sections import Report
from berryeval.reports.trend import build_trend_lines, write_trend
from tests.browser import needs_browser
from tests.reports.html_records import changed, nasty_run, run_record
from tests.reports.test_trend import many

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WIDTHS = (380, 800, 1400)
SCHEMES = ("light", "dark")
LEAST_CONTRAST = 4.5

pytestmark = needs_browser

# The contrast of every text that is to be seen, by the rules of WCAG: the colour of the letters
# against the nearest background that is not transparent, or the field of a chart they stand on.
CONTRASTS = """() => {
  const numbers = text => text.match(/[\\d.]+/g).map(Number)
  const light = colour => {
    const [r, g, b] = numbers(colour).slice(0, 3).map(c => {
      c /= 255
      return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const ground = element => {
    for (let one = element; one; one = one.parentElement) {
      const colour = getComputedStyle(one).backgroundColor
      const parts = numbers(colour)
      if (parts.length < 4 || parts[3] > 0) return colour
    }
    return getComputedStyle(document.documentElement).backgroundColor
  }
  const field = (drawing, text) => {
    const box = text.getBoundingClientRect()
    const [x, y] = [(box.left + box.right) / 2, (box.top + box.bottom) / 2]
    const under = [...drawing.querySelectorAll('path[fill]')].filter(one => {
      const its = one.getBoundingClientRect()
      return its.left < x && x < its.right && its.top < y && y < its.bottom
    })
    return under.length ? getComputedStyle(under.at(-1)).fill : ''
  }
  const found = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim()
    const element = walker.currentNode.parentElement
    if (!text || !element.getClientRects().length) continue
    const style = getComputedStyle(element)
    const drawing = element.closest('svg')
    const behind = drawing ? field(drawing, element) || ground(drawing) : ground(element)
    const ink = drawing ? style.fill : style.color
    const [high, low] = [light(ink), light(behind)].sort((a, b) => b - a)
    found.push([(high + 0.05) / (low + 0.05), `${element.tagName} ${ink}: ${text}`])
  }
  return found
}"""


@pytest.fixture(scope="module", params=["usual", "nasty"])
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a report of ordinary texts, and one of texts that break careless pages."""
    run = run_record(8, hits=12) if request.param == "usual" else nasty_run()
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(Report.of([run])), encoding="utf-8")
    return path


class Opened(NamedTuple):
    """A page that is open and unfolded, with its messages and requests so far."""

    page: Any
    noise: list[str]

    def at(self, width: int, scheme: str, media: str = "screen") -> Any:
        """Return the page in a window of this width, or on paper."""
        self.page.set_viewport_size({"width": width, "height": 900})
        self.page.emulate_media(color_scheme=scheme, media=media)
        return self.page

    def check_width(self, width: int, scheme: str) -> None:
        """Nothing of the page is beyond the right edge of its window."""
        wide = self.at(width, scheme).evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{width} pixels, {scheme}: the page is {wide} pixels wide"

    def check_contrasts(self, width: int, scheme: str, *, texts: int = 0) -> None:
        """Find more than this number of texts, each with enough contrast, in charts too."""
        found = self.at(width, scheme).evaluate(CONTRASTS)
        assert len(found) > texts
        pale = [text for contrast, text in found if contrast < LEAST_CONTRAST]
        assert pale == [], f"{width} pixels, {scheme}"


def opened(browser: Any, file: Path) -> Opened:
    """Open the file and unfold it."""
    page = browser.new_page()
    noise: list[str] = []
    page.on("console", lambda message: noise.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: noise.append(f"error: {error}"))
    page.on("request", lambda request: noise.append(request.url))
    page.goto(file.as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    return Opened(page, noise)


@pytest.fixture(scope="module")  # a page takes most of a second: tests that only look share it
def shown(browser: Any, file: Path) -> Iterator[Opened]:
    """Open the report."""
    found = opened(browser, file)
    yield found
    found.page.close()


def test_the_page_logs_nothing_requests_nothing_and_fits_its_window(
    shown: Opened, file: Path
) -> None:
    for width, scheme in product(WIDTHS, SCHEMES):
        shown.check_width(width, scheme)
    assert shown.noise == [file.as_uri()]


def test_every_text_has_enough_contrast(shown: Opened) -> None:
    """At least 4.5 to 1, in charts too."""
    for scheme in SCHEMES:
        shown.check_contrasts(1400, scheme, texts=200)


def test_dark_mode_is_dark(shown: Opened) -> None:
    colours = [
        shown.at(800, scheme).evaluate(
            "['body', '.chart text']"
            ".map(name => getComputedStyle(document.querySelector(name)))"
            ".flatMap(style => [style.backgroundColor, style.fill])"
        )
        for scheme in SCHEMES
    ]
    assert colours[0][0] != colours[1][0]
    assert colours[0][3] != colours[1][3]


def test_no_text_becomes_an_active_element(shown: Opened) -> None:
    page = shown.page
    assert page.locator("img, iframe, object, embed, form").count() == 0
    assert page.locator("script").count() == 1
    assert page.locator("input").count() == page.locator(".tools input").count() == 1


def test_queries_can_be_filtered_and_sorted(browser: Any, tmp_path: Path) -> None:
    run = run_record(8, (0.3, 0.6))
    path = tmp_path / "report.html"
    path.write_text(render(Report.of([run])), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    shown = page.locator("details.query:visible")
    page.fill(".tools input", "Q-003")
    assert shown.count() == 1
    assert page.locator(".tools output").inner_text() == "1 of 8"
    page.fill(".tools input", "factual")
    assert shown.count() == 3
    page.fill(".tools input", "")
    scores = run.benchmarks[0].providers[1].scores
    assert scores is not None
    values = scores.per_query("nDCG@10")
    for word, sign in (("lowest", 1), ("highest", -1)):
        page.select_option(".tools select", f"system-1: {word} first")
        found = page.locator("details.query .id").all_inner_texts()
        assert found == sorted(values, key=lambda query: sign * values[query])
    page.select_option(".tools select", "as in the benchmark")
    assert page.locator("details.query .id").all_inner_texts() == list(values)
    page.close()


def test_the_page_works_without_its_script(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(render(Report.of([run_record(3)])), encoding="utf-8")
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(path.as_uri())
    assert page.locator(".tools").count() == 0
    page.locator("details.query > summary").first.click()
    assert page.locator("details.query .inside").first.is_visible()
    page.locator("details.query .passage > summary").first.click()
    assert page.locator("details.query .passage p").first.is_visible()
    page.close()


def test_the_policy_stops_any_other_script(browser: Any, tmp_path: Path) -> None:
    """Even if a text escaped from its place, it would not run."""
    text = render(Report.of([run_record(3)]))
    path = tmp_path / "report.html"
    evil = "<script>document.title = 'run'</script><img src=x onerror=\"document.title = 'run'\">"
    path.write_text(text.replace("</body>", f"{evil}</body>"), encoding="utf-8")
    page = browser.new_page()
    page.goto(path.as_uri())
    assert page.title() != "run"
    page.close()


def test_a_link_to_a_query_unfolds_it(browser: Any, file: Path) -> None:
    page = browser.new_page(reduced_motion="reduce")
    page.goto(file.as_uri())
    page.locator("ol.worst a").first.click()
    target = page.locator(f"[id='{page.evaluate('location.hash.slice(1)')}']")
    target.wait_for(state="visible")
    assert target.locator("xpath=ancestor::details").get_attribute("open") is not None
    assert 0 <= target.bounding_box()["y"] < page.viewport_size["height"]
    page.close()


def test_a_printed_page_is_light(shown: Opened, tmp_path: Path) -> None:
    page = shown.at(800, "dark")
    path = tmp_path / "report.pdf"
    page.pdf(path=path, format="A4")
    assert path.read_bytes().startswith(b"%PDF")
    page = shown.at(800, "dark", "print")
    found = page.evaluate("getComputedStyle(document.querySelector('h1')).color")
    assert sum(int(part) for part in found.strip("rgb()").split(",")) < 3 * 80


@pytest.fixture(scope="module")
def crowd(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """Open a report of eighteen systems with realistic names."""
    run = run_record(6, tuple(0.2 + place / 40 for place in range(18)))
    named = tuple(
        replace(one, name=f"dense:fixed-{100 * place}-overlap")
        for place, one in enumerate(run.benchmarks[0].providers)
    )
    path = tmp_path_factory.mktemp("crowd") / "report.html"
    path.write_text(render(Report.of([changed(run, providers=named)])), encoding="utf-8")
    found = opened(browser, path)
    yield found
    found.page.close()


def test_no_table_is_wider_than_paper(crowd: Opened) -> None:
    page = crowd.at(672, "light", "print")  # A4 without its margins
    wide = page.evaluate(
        "[...document.querySelectorAll('.scroll')]"
        ".filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.innerText)"
    )
    assert wide == []
    assert page.locator(".scroll.widest").count() > 0
    assert page.evaluate("document.documentElement.scrollWidth") <= 672


def test_significance_and_p_are_visible_on_a_phone(shown: Opened) -> None:
    ends = shown.at(400, "light").evaluate(
        "[...document.querySelectorAll('[id$=t-against] + .scroll thead th')]"
        ".map(one => [one.innerText, one.getBoundingClientRect().right])"
    )
    seen = {name for name, end in ends if end <= 400}
    assert {"Against", "Significant?", "Difference", "p"} <= seen


def test_names_break_only_at_punctuation(crowd: Opened) -> None:
    words = crowd.at(400, "light").evaluate("""() => {
      const name = document.querySelector('[id$=t-best] + .scroll tbody bdi')
      const found = []
      for (const node of name.childNodes) {
        for (const word of (node.textContent || '').matchAll(/[^-:]+/g)) {
          const range = document.createRange()
          range.setStart(node, word.index)
          range.setEnd(node, word.index + word[0].length)
          found.push([word[0], range.getClientRects().length])
        }
      }
      return found
    }""")
    assert [word for word, _ in words][:2] == ["dense", "fixed"]
    assert [word for word, lines in words if lines > 1] == []


def test_wide_tables_use_the_width_of_the_window(crowd: Opened) -> None:
    page = crowd.at(1600, "light")
    widths = page.evaluate(
        "[...document.querySelectorAll('.scroll')].map(one => one.getBoundingClientRect().width)"
    )
    column = page.evaluate("document.querySelector('.verdict').getBoundingClientRect().width")
    assert max(widths) > column + 200
    assert page.evaluate("document.documentElement.scrollWidth") <= 1600


def test_the_trend_page_is_silent_legible_and_fits(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "trend.html"
    write_trend(build_trend_lines(many(10)), path)
    found = opened(browser, path)
    for width, scheme in product((400, 1400), SCHEMES):
        found.check_width(width, scheme)
        found.check_contrasts(width, scheme, texts=100)
    assert found.noise == [path.as_uri()]
    found.page.close()


@pytest.fixture(scope="module")
def comparisons(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Write pages of comparisons: one of ordinary texts, and one that breaks careless pages."""
    folder, paths = tmp_path_factory.mktemp("compared"), []
    for name, run in (("usual", run_record(8, (0.3, 0.6), hits=12)), ("nasty", nasty_run())):
        paths.append(folder / f"{name}.html")
        paths[-1].write_text(render(be.compare_runs(run, by="category")), encoding="utf-8")
    return paths


@pytest.mark.parametrize("place", [0, 1], ids=["usual", "nasty"])
def test_the_page_of_a_comparison_is_silent_legible_and_fits(
    browser: Any, comparisons: list[Path], place: int
) -> None:
    path = comparisons[place]
    found = opened(browser, path)
    for width, scheme in ((390, "light"), (1400, "dark")):
        found.check_width(width, scheme)
        found.check_contrasts(width, scheme)
    assert found.noise == [path.as_uri()]
    found.page.close()


def test_a_comparison_shows_the_verdict_first_and_unfolds_one_query(
    browser: Any, comparisons: list[Path]
) -> None:
    path = comparisons[0]
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(path.as_uri())
    tops = [
        page.locator(f".compared {name}").first.bounding_box()["y"]
        for name in (".verdict", ".scroll", ".figures", ".moved-h", "details.moved")
    ]
    assert tops == sorted(tops)
    assert page.locator(".verdict svg").first.is_visible()
    assert page.locator("details.moved .wanted:visible").count() == 1
    assert page.locator("details.moved .rankings:visible .ranking").count() == 2
    page.locator("details.moved .all a").first.click()
    assert page.evaluate("location.hash").startswith("#s0-q")
    page.close()
