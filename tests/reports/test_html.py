"""The HTML report as a file: what it says, that texts stay texts, and what it never holds."""

from __future__ import annotations

import base64
import hashlib
import re
import sys
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data.records import Query
from berryeval.gates import Verdict
from berryeval.reports.html.certainty import contrasts_of
from berryeval.reports.html.page import render
from berryeval.reports.html.words import ROOM, short_names
from berryeval.reports.report import Report
from berryeval.runs.record import ProviderRecord, RunRecord
from tests.reports.html_records import NASTY, SENTENCE, changed, nasty_run, run_record

MOST_BYTES = 1_500_000


class Page(HTMLParser):
    """A page, taken apart: its elements with their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.parts: list[str] = []
        self.styles: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        """Note a text."""
        (self.styles if self._inside == "style" else self.parts).append(data)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        self._inside = "" if tag == self._inside else self._inside

    @property
    def text(self) -> str:
        """All that is to be read, on one line."""
        return " ".join(" ".join(self.parts).split())

    def having(self, name: str) -> list[str]:
        """All values of an attribute."""
        return [attributes[name] for _, attributes in self.elements if name in attributes]


@pytest.fixture(scope="module")
def usual() -> Page:
    """The page of a run in which all is as usual."""
    return page_of(run_record())


def page_of(*runs: RunRecord) -> Page:
    """The page of these runs."""
    return Page(render(Report.of(runs)))


def test_texts_of_anybody_are_shown_as_text() -> None:
    """Whatever a query, passage, id, name or error holds, it is read and never acts."""
    report = Report.of([nasty_run()], title=NASTY[0], verdicts=[Verdict("fail", *NASTY[:2])])
    page = Page(render(report))
    tags = {tag for tag, _ in page.elements}
    assert not tags & {"script", "img", "iframe", "object", "link", "form"}
    names = {name for _, attributes in page.elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name in {"style", "src"}]
    for text in NASTY[:5]:
        assert " ".join(text.split()) in page.text
    assert "{{ 7 * 7 }}" in page.text


def test_what_no_page_can_hold_becomes_a_sign() -> None:
    """Control characters and halves of characters are shown as symbols; the file can be written."""
    text = render(Report.of([nasty_run()]))
    text.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u2028\u2029]", text)
    assert "nul ␀ escape ␛ half \N{REPLACEMENT CHARACTER} separators ␤" in Page(text).text


def test_a_text_of_any_length_is_cut_and_says_so() -> None:
    """Of a line of 100,000 characters the first 2,000 are shown, and how many follow."""
    page = page_of(run_record(2, query_text="x" * 100_000))
    assert "x" * 2_000 in page.text
    assert "x" * 2_001 not in page.text
    assert "… 98,000 more characters" in page.text


def test_the_policy_lets_nothing_in_but_the_pages_own_style(usual: Page) -> None:
    """The hash of the policy is that of the one style sheet; nothing else is allowed."""
    (policy,) = [
        attributes["content"]
        for tag, attributes in usual.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    digest = hashlib.sha256("".join(usual.styles).encode()).digest()
    assert f"style-src 'sha256-{base64.b64encode(digest).decode()}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert [tag for tag, _ in usual.elements].count("style") == 1


def test_nothing_points_out_of_the_file(usual: Page) -> None:
    """Every address is an anchor in the page, and every anchor is there."""
    ids = usual.having("id")
    assert len(ids) == len(set(ids))
    assert usual.having("href")
    assert {address.removeprefix("#") for address in usual.having("href")} <= set(ids)
    assert set(usual.having("aria-labelledby")) <= set(ids)
    assert "url(" not in "".join(usual.styles)
    assert "@import" not in "".join(usual.styles)


def test_headings_go_down_step_by_step() -> None:
    """There is one h1, and no level is left out."""
    page = page_of(run_record(), changed(run_record(3, (0.5,)), name="other"))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(low - high <= 1 for high, low in pairwise(levels))


def test_every_chart_has_words(usual: Page) -> None:
    """Each drawing has a text that says what it shows; and all eight are there."""
    drawings = [attributes for tag, attributes in usual.elements if tag == "svg"]
    assert len(drawings) == 8
    for attributes in drawings:
        assert attributes["role"] == "img"
        assert len(attributes["aria-label"]) > 60


@pytest.mark.parametrize("passage", [SENTENCE * 5, "😀" * 400, '"&<' * 140])
def test_fifty_queries_and_four_providers_stay_small(passage: str) -> None:
    """The file is below 1.5 MB, also where a character takes many bytes."""
    run = run_record(50, hits=20, passage=passage, query_text=passage)
    assert len(render(Report.of([run])).encode()) < MOST_BYTES


def test_the_same_record_gives_the_same_bytes() -> None:
    """Also when it was written and read in between."""
    run = run_record()
    again = RunRecord.from_json(run.to_json())
    assert render(Report.of([run])) == render(Report.of([again]))


def test_a_lead_that_is_shown_is_called_significant() -> None:
    """Much better on many queries: the first sentence says so, with difference and chance."""
    page = page_of(run_record(40, (0.15, 0.8)))
    assert "system-1 is best, and that is statistically significant." in page.text
    assert re.search(r"Against system-0 the difference is \+0\.\d+ \(95 % interval \+", page.text)
    assert "p < 0.001" in page.text


def test_intervals_of_pairs_are_told_from_corrected_p() -> None:
    """Of several rivals the chart and the table say it; of one there is nothing to correct."""
    words = "Each interval is for its pair alone; p is corrected for 3 comparisons."
    several, alone = page_of(run_record(40, (0.15, 0.5, 0.8))), page_of(run_record(40, (0.15, 0.8)))
    assert words in several.text
    assert "Student's t, each for its pair alone; p of the" in several.text
    assert "for its pair alone" not in alone.text


def test_a_lead_by_chance_is_not_called_significant() -> None:
    """Two alike: they cannot be told apart, and the page says what could be shown."""
    page = page_of(run_record(10, (0.4, 0.42)))
    assert re.search(r"is ahead, but cannot be told apart from system-\d\.", page.text)
    assert "would be shown four times in five" in page.text


def test_equals_are_called_equal() -> None:
    """The same answers twice: nobody is ahead."""
    run = run_record(6, (0.4,))
    one = run.benchmarks[0].providers[0]
    page = page_of(changed(run, providers=(one, replace(one, name="twin"))))
    assert "system-0 and twin score the same." in page.text


def test_one_provider_alone() -> None:
    """There is nothing to compare with, and the page says so."""
    page = page_of(run_record(5, (0.5,)))
    assert "system-0 is the only one with scores." in page.text
    assert "Against" not in page.text


def test_nobody_has_scores() -> None:
    """All failed: the page says why, for each."""
    run = run_record(3, (0.5,))
    failed = ProviderRecord("broken", "http", failure="the server refused: 403")
    page = page_of(changed(run, providers=(failed,)))
    assert "No provider has scores." in page.text
    assert "the server refused: 403" in page.text
    assert "Nobody timed these answers." in page.text


def test_one_query_tells_nothing() -> None:
    """One query is shown, and not taken for more than it is."""
    page = page_of(run_record(1))
    assert "cannot be told apart from" in page.text
    assert "One query is not enough for a test. Ask more queries." in page.text


def test_a_report_without_benchmarks() -> None:
    """An empty report is a page too."""
    assert "There is no benchmark in this report." in page_of().text


def test_queries_without_kinds_have_no_breakdown() -> None:
    """Without categories and difficulties the question is left out."""
    run = run_record(6)
    bare = tuple(Query(one.id, one.text) for one in run.benchmarks[0].queries)
    assert "on which kind of query" not in page_of(changed(run, queries=bare)).text
    assert "on which kind of query" in page_of(run).text


def test_several_runs_and_benchmarks() -> None:
    """Each benchmark has its part; the same provider of two runs is told apart."""
    first, second = run_record(4, (0.4,)), run_record(4, (0.6,), seed=1)
    second = replace(second, id="later")
    other = changed(run_record(4, (0.4, 0.5)), name="other")
    page = page_of(first, second, other)
    assert "system-0 (later)" in page.text
    assert "2 benchmarks" in page.text
    assert {"#s0", "#s1"} <= set(page.having("href"))
    assert "3 runs" in page.text


def test_of_very_many_queries_the_telling_ones_are_shown() -> None:
    """The worst are among them, the others are counted."""
    run = run_record(300, (0.3, 0.5))
    page = page_of(run)
    shown = sum(tag == "details" and "query" in a.get("class", "") for tag, a in page.elements)
    assert shown == 200
    assert "Of 300 queries, the 200 most telling are here" in page.text
    assert "The other 100 are in the JSON record" in page.text
    scores = run.benchmarks[0].providers[0].scores
    assert scores is not None
    values = scores.per_query("nDCG@10")
    number = int(min(values, key=lambda query: values[query])[2:])
    assert f"#s0-q{number}" in page.having("href")


def test_rankings_show_grades_repeats_and_what_was_missed() -> None:
    """A hit that nobody judged is a question mark; relevant hits far down are listed too."""
    page = page_of(run_record(3, (0.5,), hits=20))
    classes = page.having("class")
    assert {"g0 unjudged", "g1", "g2", "g3"} <= set(classes)
    assert "repeat" in page.text
    assert "guide-q-001 > Tokens > Renewal" in page.text
    assert re.search(r"\d+ more hits?, none of them relevant", page.text)


def test_gates_are_on_top() -> None:
    """The verdicts of gates come with their status in words."""
    verdicts = [Verdict("fail", "nDCG@10 >= 0.9", "too low"), Verdict("pass", "RR >= 0", "fine")]
    text = Page(render(Report.of([run_record(3)], verdicts=verdicts))).text
    assert "✗ fail too low nDCG@10 >= 0.9" in text
    assert "✓ pass fine" in text
    assert text.index("Gates") < text.index("Which is best")


def test_gates_say_of_whom_and_where() -> None:
    """Every verdict stands under its provider and benchmark, with its group and its own status."""
    verdicts = [
        Verdict("pass", "RR >= 0.1", "fine", "docs", "bm25"),
        Verdict("inconclusive", "latency p95 <= 500 ms", "none was answered", "docs", "dense"),
        Verdict("fail", "RR >= 0.9", "too low", "docs", "bm25", group="category=factual"),
    ]
    text = Page(render(Report.of([run_record(3)], verdicts=verdicts))).text
    assert "bm25 on docs ✓ pass fine RR >= 0.1 ✗ fail category=factual : too low RR >= 0.9" in text
    assert "dense on docs ? inconclusive none was answered latency p95 <= 500 ms" in text


def test_without_the_drawing_library_the_page_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """It has all numbers, no chart, and the line to type."""
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    page = page_of(run_record())
    assert not [tag for tag, _ in page.elements if tag == "svg"]
    assert "pip install 'berryeval[report]'" in page.text
    assert "nDCG@10 by category, with intervals" in page.text
    assert "cannot be told apart" in page.text or "statistically significant" in page.text


def test_the_questions_come_in_their_order(usual: Page) -> None:
    """Best and significant, by how much, where it fails, how fast, then query by query."""
    text = usual.text
    questions = [
        "Which is best, and is that significant?", "By how much, on which kind of query?",
        "Where does each fail?", "How fast?", "Query by query", "Where this comes from",
    ]  # fmt: skip
    places = [text.index(question) for question in questions]
    assert places == sorted(places)


def test_where_the_numbers_come_from(usual: Page) -> None:
    """Run, time, hashes, versions and depth are at the end."""
    text = usual.text
    end = text[text.index("Where this comes from") :]
    for fact in (
        "2026-01-02-run",
        "2026-01-02 03:04 UTC",
        "sha256:1111",
        "k = 10",
        "berryeval 0.1.0",
    ):
        assert fact in end


def test_what_nobody_judged_is_said() -> None:
    """The share of hits without a judgment is among what a reader should know."""
    run = run_record(4, (0.5,))
    one = run.benchmarks[0].providers[0]
    scores = one.scores
    assert scores is not None
    half = scores.counts.copy()
    half[:, 1] = half[:, 0] // 2
    page = page_of(changed(run, providers=(replace(one, scores=replace(scores, counts=half)),)))
    assert "Hits that nobody judged count as not relevant: system-0 50%." in page.text
    assert "on how far to trust this" in page.text


def test_a_lead_on_other_queries_is_no_lead() -> None:
    """Higher on its own queries, lower on the shared ones: the page says so."""
    run = run_record(30, (0.5, 0.6))
    first, second = run.benchmarks[0].providers
    assert first.scores is not None
    assert second.scores is not None
    few = first.scores.select(first.scores.queries[:8])
    high, low = np.full_like(few.values, 0.5), np.zeros_like(second.scores.values)
    low[:, :8] = 0.9
    picked = replace(first, scores=replace(few, values=high))
    other = replace(second, scores=replace(second.scores, values=low))
    text = page_of(changed(run, providers=(picked, other))).text
    assert "system-0 has the best nDCG@10, but not on the queries it shares with system-1." in text
    assert "Excluded 22 queries of system-1 that system-0 does not have" in text


def renamed(run: RunRecord, metric: str, factor: float = 1.0) -> RunRecord:
    """The run with its values, times a factor, called by another metric."""
    providers = tuple(
        replace(
            one,
            scores=replace(
                one.scores, metrics=(metric,), values=one.scores.values[:1] * factor,
                aggregates=("mean",), spellings={},
            ),
        )
        for one in run.benchmarks[0].providers
        if one.scores is not None
    )  # fmt: skip
    return changed(run, providers=providers)


def test_less_may_be_better() -> None:
    """Of tokens that must be read, the fewest win, and a lead is positive all the same."""
    page = page_of(renamed(run_record(30, (0.15, 0.8)), "TokensToHit", 1000))
    assert "system-0 is best, and that is statistically significant." in page.text
    assert re.search(r"Against system-1 the difference is \+\d+\.\d \(95 % interval \+", page.text)
    assert "less is better" in page.text


def test_a_count_makes_nobody_the_best() -> None:
    """A metric without better and worse is shown, and not judged by."""
    page = page_of(renamed(run_record(5, (0.2, 0.5)), "NumRet"))
    assert "NumRet says not who is better." in page.text
    assert "★" not in page.text
    assert not [one for one in page.having("class") if one == "star"]


def test_the_page_finds_what_all_other_formats_find() -> None:
    """The p-values of the best against every other are those of all pairs, also in Markdown."""
    report = Report.of([run_record(30, (0.2, 0.3, 0.4, 0.5))])
    (section,) = report.sections
    assert section.comparison is not None
    contrasts = contrasts_of(section, "nDCG@10")
    rows = [row for row in section.comparison.rows if row.metric == "nDCG@10"]
    for one in contrasts:
        (row,) = [row for row in rows if {row.baseline, row.system} == {one.best, one.other}]
        assert row.comparisons == 6
        assert one.p == row.p_corrected
        assert one.difference == pytest.approx(abs(row.difference))
        assert one.certain == row.significant
        assert one.wins + one.ties + one.losses == 30
        assert one.wins > one.losses
        assert one.interval is not None
        assert one.difference is not None
        assert one.interval.low < one.difference < one.interval.high
    assert "corrected (holm) for 6 comparisons" in Page(render(report)).text


def test_the_page_says_how_each_row_was_tested() -> None:
    """One pair differs in few queries, and has an exact p; the other in many."""
    run = run_record(45, (0.2, 0.8))
    weak, best = run.benchmarks[0].providers
    assert best.scores is not None
    values = best.scores.values.copy()
    values[:, :5] = 0.0
    near = replace(best, name="near", scores=replace(best.scores, values=values))
    text = page_of(changed(run, providers=(weak, best, near))).text
    words = "randomisation test, 100,000 random samples, and exact in 1 of 2 rows"
    assert f"p of the {words}, corrected (holm) for 3 comparisons" in text


def test_a_metric_that_not_all_have_is_compared_by_those_that_have_it() -> None:
    """Two of three share the first metric: they are compared, for one comparison."""
    run = run_record(30, (0.15, 0.8, 0.5))
    first, second, third = run.benchmarks[0].providers
    assert third.scores is not None
    other = replace(third, scores=third.scores.only(["RR"]))
    (section,) = Report.of([changed(run, providers=(first, second, other))]).sections
    (contrast,) = contrasts_of(section, "nDCG@10")
    assert contrast.best == "system-1"
    assert contrast.certain
    assert contrast.row is not None
    assert contrast.row.comparisons == 1


def test_one_query_has_no_interval() -> None:
    """Neither in tables nor in words, nor a category of one."""
    page = page_of(run_record(1))
    assert "95 % interval 0" not in page.text
    assert "ci" not in page.having("class")
    assert "ci" in page_of(run_record(6)).having("class")


def test_nothing_turns_the_direction_of_reading() -> None:
    """An override in a text is named, not obeyed."""
    text = render(Report.of([nasty_run()]))
    assert "\u202e" not in text
    assert "override [U+202E] end" in text


def test_several_runs_of_one_provider_differ_in_charts() -> None:
    """No legend and no column reads the same as another."""
    first = replace(run_record(6, (0.4,)), id="2026-11-15T15-16-02-manual-of-tokens")
    runs = [
        first,
        replace(run_record(6, (0.6,), seed=1), id="2026-11-15T15-16-09-manual-of-tokens"),
    ]
    text = render(Report.of(runs))
    assert "system…02-manual…</text>" in text
    assert "system…09-manual…</text>" in text
    assert "(2026-11-15T15-16-02-manual-of-tokens)" in text


@given(st.lists(st.text(max_size=60), min_size=2, max_size=8, unique=True))
def test_short_names_differ(labels: list[str]) -> None:
    """Whatever they are of, as far as charts have room for them."""
    names = short_names(labels)
    shown = [names.get(label, label)[:ROOM] for label in labels]
    assert len(set(shown)) == len(shown)
    assert all(len(name) <= ROOM for name in names.values())


def test_the_status_of_a_verdict_is_not_broken() -> None:
    """Its sign and its word stand in one line."""
    page = render(Report.of([run_record()], verdicts=[Verdict("inconclusive", "RR >= 1", "?")]))
    (rule,) = re.findall(r"\.gate \.status ?\{([^}]*)\}", page)
    assert "nowrap" in rule
