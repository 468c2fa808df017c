"""Judging in a real browser: a session by keyboard alone, a lost connection, and the pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from berryeval.judging import Ledger, Pool, Vote
from berryeval.web.server import build_site
from berryeval.web.site import Site, SiteSettings
from tests.browser import needs_browser
from tests.web.judging_world import write_pool
from tests.web.looks import check_looks
from tests.web.serving import run_site

pytestmark = needs_browser


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Pool:
    monkeypatch.chdir(tmp_path)
    return write_pool(tmp_path, 2)


@pytest.fixture
def site(pool: Pool) -> Site:
    assert pool.pairs
    return build_site(SiteSettings(judge="ann"))


@pytest.fixture
def window(browser: Any) -> Iterator[Any]:
    """Return a page; an error of a script fails the test."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    yield opened
    context.close()
    assert errors == []


def read_grades() -> list[float | None]:
    return [one.grade for one in Ledger("drinks.judged").current()]


def tab_to(page: Any, text: str) -> None:
    """Press Tab until the element with this text has the focus."""
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == text:
            return
    raise AssertionError(f"Tab never reaches {text}")


def press(page: Any, key: str, judged: int, *, of: int = 6) -> None:
    page.keyboard.press(key)
    page.wait_for_function(
        "wanted => document.getElementById('progress').textContent === wanted",
        arg=f"{judged} of {of}",
    )


def test_a_whole_session_by_keyboard_alone(window: Any, site: Site) -> None:
    with run_site(site) as served:
        window.goto(served.link)
        for text in ("Judge", "Start judging"):
            tab_to(window, text)
            with window.expect_navigation():
                window.keyboard.press("Enter")
        window.wait_for_selector("#pair:not([hidden])")
        first = window.inner_text("#passage")
        assert window.inner_text("#query") == "How long is green tea steeped, 0?"
        assert window.locator("#passage mark").all_inner_texts() == ["Green", "tea", "steeped"]
        press(window, "3", 1)
        assert window.inner_text("#passage") != first
        press(window, "u", 0)
        assert window.inner_text("#passage") == first
        window.keyboard.press("n")
        window.keyboard.type("two, not 3")  # digits of a note are no grades
        window.keyboard.press("Enter")
        press(window, "2", 1)
        (vote,) = Ledger("drinks.judged").current()
        assert (vote.judge, vote.grade, vote.note) == ("ann", 2, "two, not 3")
        skipped = window.inner_text("#passage")
        window.keyboard.press("s")
        window.wait_for_function(
            "before => document.getElementById('passage').textContent !== before", arg=skipped
        )
        for number in range(2, 6):
            press(window, "?" if number == 3 else "0", number)
        window.wait_for_selector("#ending:not([hidden])")
        ending = "You have judged or skipped every pair of the pool; 1 skipped."
        assert window.inner_text("#ending") == ending
        tab_to(window, "Show the skipped pairs again")
        window.keyboard.press("Enter")
        window.wait_for_selector("#pair:not([hidden])")
        assert window.inner_text("#passage") == skipped
        press(window, "1", 6)
        window.wait_for_selector("#ending:not([hidden])")
        assert window.inner_text("#ending") == "You have judged every pair of the pool."
        window.reload()
        window.wait_for_selector("#ending:not([hidden])")
    assert Counter(read_grades()) == Counter([2, 0, 0, 0, None, 1])


def test_two_windows_of_a_judge_ask_for_no_grade_twice(window: Any, site: Site) -> None:
    """What is judged in one window goes away in the other, also if it shows there."""
    with run_site(site) as served:
        window.goto(served.link)
        other = window.context.new_page()
        for page in (window, other):
            page.goto(f"{served.address}/judge/drinks")
            page.wait_for_selector("#pair:not([hidden])")
        before = other.inner_text("#passage")
        assert window.inner_text("#passage") == before
        press(window, "1", 1)
        other.wait_for_function(
            "before => document.getElementById('passage').textContent !== before", arg=before
        )
        assert other.inner_text("#line") == "You judged the last pair in another window."
        press(window, "2", 2)
        press(window, "3", 3)
        for number in range(4, 7):
            press(other, "0", number)
        other.wait_for_selector("#ending:not([hidden])")
    assert [one.grade for one in Ledger("drinks.judged").votes()] == [1, 2, 3, 0, 0, 0]


def test_a_lost_connection_loses_and_doubles_nothing(window: Any, site: Site) -> None:
    with run_site(site) as served:
        window.goto(served.link)
        window.goto(f"{served.address}/judge/drinks")
        window.wait_for_selector("#pair:not([hidden])")
        press(window, "3", 1)
        port = int(served.address.rpartition(":")[2])
    window.keyboard.press("2")  # to a server that is gone
    window.wait_for_selector("#line.lost")
    press(window, "1", 3)
    press(window, "u", 2)
    press(window, "0", 3)
    assert "votes are kept in this browser" in window.inner_text("#line")
    assert read_grades() == [3]
    with run_site(site, port):
        window.evaluate("dispatchEvent(new Event('online'))")
        window.wait_for_selector("#line.back")
        assert read_grades() == [3, 2, 0]
        assert len(Ledger("drinks.judged").votes()) == 5  # with the one that was taken back
        press(window, "1", 4)
    assert read_grades() == [3, 2, 0, 1]


def test_votes_of_a_closed_window_are_sent_by_the_next_one(window: Any, site: Site) -> None:
    with run_site(site) as served:
        window.goto(served.link)
        window.goto(f"{served.address}/judge/drinks")
        window.wait_for_selector("#pair:not([hidden])")
        port = int(served.address.rpartition(":")[2])
    window.keyboard.press("2")  # to a server that is gone
    window.wait_for_selector("#line.lost")
    window.close()
    assert read_grades() == []
    with run_site(site, port) as served:
        other = window.context.new_page()
        other.goto(f"{served.address}/judge/drinks")
        other.wait_for_selector("#pair:not([hidden])")
        assert other.inner_text("#progress") == "1 of 6"
        assert read_grades() == [2]


def test_a_vote_that_can_never_be_stored_does_not_stop_the_others(
    window: Any, site: Site, tmp_path: Path
) -> None:
    with run_site(site) as served:
        window.goto(served.link)
        window.goto(f"{served.address}/judge/drinks")
        window.wait_for_selector("#pair:not([hidden])")
        gone = Pool.read(tmp_path / "drinks.judged/pool.json")
        Pool(gone.benchmark, "", "depth", 9, 0, gone.pairs[1:]).write("drinks.judged/pool.json")
        served.site.rooms.get("drinks")
        window.keyboard.press("2")
        window.wait_for_function(
            "() => document.getElementById('line').textContent.includes('refused')"
        )
        window.keyboard.press("1")
        window.wait_for_function(
            "() => document.getElementById('progress').textContent === '1 of 5'"
        )
    assert read_grades() == [1]


def test_an_adjudicator_sees_who_disagrees(window: Any, site: Site, pool: Pool) -> None:
    pairs = pool.pairs
    for name, grades in (("ben", (0, 1, 2)), ("cy", (3, 1, 2))):
        votes = [
            Vote(one.query_id, one.target, grade, name)
            for one, grade in zip(pairs, grades, strict=False)
        ]
        Ledger("drinks.judged").append(votes)
    with run_site(site) as served:
        window.goto(served.link)
        window.goto(f"{served.address}/judge/drinks/agreement")
        assert "67%" in window.inner_text(".headline")
        window.click("text=Adjudicate 1 pair")
        window.wait_for_selector("#pair:not([hidden])")
        assert window.locator("#votes li").all_inner_texts() == ["ben 0", "cy 3"]
        press(window, "2", 1, of=1)
        window.wait_for_selector("#ending:not([hidden])")
        window.goto(f"{served.address}/judge/drinks/status")
        assert "3 of 6 pairs decided" in window.inner_text(".headline")
    (decided,) = [one for one in Ledger("drinks.judged").votes() if one.adjudicates]
    assert (decided.judge, decided.grade) == ("ann", 2)


def test_every_page_fits_and_is_legible(window: Any, site: Site, pool: Pool) -> None:
    for name, grades in (("ben", (0, 1, 2)), ("cy", (3, 1, 2)), ("dee", (3, 0, 2))):
        votes = [
            Vote(one.query_id, one.target, grade, name, note="because " * 20)
            for one, grade in zip(pool.pairs, grades, strict=False)
        ]
        Ledger("drinks.judged").append(votes)
    with run_site(site) as served:
        window.goto(served.link)
        check_looks(window, ("/judge", "/judge/drinks/status", "/judge/drinks/agreement"))

        def unfold() -> None:
            window.wait_for_selector("#pair:not([hidden])")
            window.keyboard.press("n")

        check_looks(window, ["/judge/drinks/adjudicate"], unfold)  # has all that a session has
