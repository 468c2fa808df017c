"""The HTML report as a file: its sentences, escaping and structure."""

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
from berryeval.reports.html.contrasts import build_contrasts
from berryeval.reports.html.page import render
from berryeval.reports.html.typography import ROOM, shorten_names
from berryeval.reports.sections import Report, assign_places
from berryeval.runs.answers import AnswerRecord, FoundTarget, HitRecord, MissedTarget
from berryeval.runs.record import ProviderRecord, RunRecord
from tests.reports.html_records import NASTY, SENTENCE, changed, nasty_run, run_record

MOST_BYTES = 2_500_000


class Page(HTMLParser):
    """A parsed page: elements with their attributes, and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str]]] = []
        self.parts: list[str] = []
        self.styles: list[str] = []
        self.scripts: list[str] = []
        self._inside = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record an element."""
        self.elements.append((tag, {name: value or "" for name, value in attrs}))
        self._inside = tag

    def handle_data(self, data: str) -> None:
        """Record a text."""
        special = {"style": self.styles, "script": self.scripts}
        special.get(self._inside, self.parts).append(data)

    def handle_endtag(self, tag: str) -> None:
        """Leave an element."""
        self._inside = "" if tag == self._inside else self._inside

    @property
    def text(self) -> str:
        """The whole text on one line."""
        return " ".join(" ".join(self.parts).split())

    def having(self, name: str) -> list[str]:
        """Return all values of an attribute."""
        return [attributes[name] for _, attributes in self.elements if name in attributes]


@pytest.fixture(scope="module")
def usual() -> Page:
    """Return the page of an ordinary run."""
    return page_of(run_record())


def page_of(*runs: RunRecord) -> Page:
    """Return the page of these runs."""
    return Page(render(Report.of(runs)))


def test_untrusted_texts_are_shown_as_text() -> None:
    report = Report.of([nasty_run()], title=NASTY[0], verdicts=[Verdict("fail", *NASTY[:2])])
    page = Page(render(report))
    tags = [tag for tag, _ in page.elements]
    assert not {"img", "iframe", "object", "link", "form", "input"} & set(tags)
    assert tags.count("script") == 1
    assert page.scripts == page_of(run_record(3)).scripts  # our own, without a word of the data
    names = {name for _, attributes in page.elements for name in attributes}
    assert not [name for name in names if name.startswith("on") or name in {"style", "src"}]
    for text in NASTY[:5]:
        assert " ".join(text.split()) in page.text
    assert "{{ 7 * 7 }}" in page.text


def test_control_characters_become_symbols() -> None:
    text = render(Report.of([nasty_run()]))
    text.encode("utf-8")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u2028\u2029]", text)
    assert "nul ␀ escape ␛ half \N{REPLACEMENT CHARACTER} separators ␤" in Page(text).text


def test_a_long_text_is_cut_with_the_number_of_characters_left_out() -> None:
    page = page_of(run_record(2, query_text="x" * 100_000))
    assert "x" * 2_000 in page.text
    assert "x" * 2_001 not in page.text
    assert "… 98,000 more characters" in page.text


def test_the_content_policy_allows_only_our_style_sheet_and_script(usual: Page) -> None:
    (policy,) = [
        attributes["content"]
        for tag, attributes in usual.elements
        if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    for name, texts in (("style", usual.styles), ("script", usual.scripts)):
        digest = hashlib.sha256("".join(texts).encode()).digest()
        assert f"; {name}-src 'sha256-{base64.b64encode(digest).decode()}';" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert [tag for tag, _ in usual.elements].count("style") == 1


def test_every_link_is_an_anchor_in_the_page(usual: Page) -> None:
    ids = usual.having("id")
    assert len(ids) == len(set(ids))
    assert usual.having("href")
    assert {address.removeprefix("#") for address in usual.having("href")} <= set(ids)
    assert set(usual.having("aria-labelledby")) <= set(ids)
    assert "url(" not in "".join(usual.styles)
    assert "@import" not in "".join(usual.styles)


def test_headings_skip_no_level() -> None:
    page = page_of(run_record(), changed(run_record(3, (0.5,)), name="other"))
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(low - high <= 1 for high, low in pairwise(levels))


def test_every_chart_has_a_text_alternative(usual: Page) -> None:
    drawings = [attributes for tag, attributes in usual.elements if tag == "svg"]
    assert len(drawings) == 8
    for attributes in drawings:
        assert attributes["role"] == "img"
        assert len(attributes["aria-label"]) > 60


@pytest.mark.parametrize("passage", [SENTENCE * 5, "😀" * 400, '"&<' * 140])
def test_a_page_of_fifty_queries_and_four_providers_stays_small(passage: str) -> None:
    """Below 2.5 MB even if a character takes many bytes."""
    run = run_record(50, hits=20, passage=passage, query_text=passage)
    assert len(render(Report.of([run])).encode()) < MOST_BYTES


def test_the_same_record_gives_the_same_bytes() -> None:
    run = run_record()
    again = RunRecord.from_json(run.to_json())
    assert render(Report.of([run])) == render(Report.of([again]))


def test_a_significant_lead_is_called_significant() -> None:
    page = page_of(run_record(40, (0.15, 0.8)))
    assert (
        "system-1 is the best provider by nDCG@10; its lead is statistically significant."
        in page.text
    )
    assert re.search(r"Its lead over system-0 is \+0\.\d+ \(95 % confidence interval \+", page.text)
    assert "p < 0.001" in page.text


def test_uncorrected_intervals_are_distinguished_from_corrected_p() -> None:
    """With one rival there is nothing to correct."""
    words = "Each interval is for its pair alone; p is corrected for 3 comparisons."
    several, alone = page_of(run_record(40, (0.15, 0.5, 0.8))), page_of(run_record(40, (0.15, 0.8)))
    assert words in several.text
    assert "Student's t, each for its pair alone; p: rando" in several.text
    assert "for its pair alone" not in alone.text


def test_an_insignificant_lead_comes_with_the_power_of_the_test() -> None:
    page = page_of(run_record(10, (0.4, 0.42)))
    assert re.search(
        r"has the best nDCG@10, but its lead over system-\d is not significant\.", page.text
    )
    assert "the test has 80 % power for a difference of" in page.text


def test_equal_providers_are_called_tied() -> None:
    run = run_record(6, (0.4,))
    one = run.benchmarks[0].providers[0]
    page = page_of(changed(run, providers=(one, replace(one, name="twin"))))
    assert "system-0 and twin are tied by nDCG@10." in page.text


def test_a_single_provider_has_no_comparison() -> None:
    page = page_of(run_record(5, (0.5,)))
    assert "How good is system-0 ?" in page.text
    assert re.search(
        r"system-0 reaches nDCG@10 0\.\d{3}\. nDCG@10 0\.\d{3} over 5 queries", page.text
    )
    assert "Which provider is best" not in page.text
    assert "Its lead over" not in page.text


def test_a_page_without_scores_gives_the_reasons() -> None:
    run = run_record(3, (0.5,))
    failed = ProviderRecord("broken", "http", failure="the server refused: 403")
    page = page_of(changed(run, providers=(failed,)))
    assert "No provider has scores." in page.text
    assert "the server refused: 403" in page.text
    assert "No latency was recorded." in page.text


def test_one_query_is_not_significant() -> None:
    page = page_of(run_record(1))
    assert "is not significant." in page.text
    assert "One query is not enough for a test. Add more queries." in page.text


def test_a_report_without_benchmarks_is_a_page() -> None:
    assert "This report has no benchmark." in page_of().text


def test_queries_without_categories_have_no_breakdown() -> None:
    run = run_record(6)
    bare = tuple(Query(one.id, one.text) for one in run.benchmarks[0].queries)
    assert "by kind of query" not in page_of(changed(run, queries=bare)).text
    assert "by kind of query" in page_of(run).text


def test_several_runs_and_benchmarks_have_distinct_labels_and_parts() -> None:
    first, second = run_record(4, (0.4,)), run_record(4, (0.6,), seed=1)
    second = replace(second, id="later")
    other = changed(run_record(4, (0.4, 0.5)), name="other")
    page = page_of(first, second, other)
    assert "system-0 (later)" in page.text
    assert "2 benchmarks" in page.text
    assert {"#s0", "#s1"} <= set(page.having("href"))
    assert "3 runs" in page.text


def test_a_page_of_many_queries_shows_the_worst() -> None:
    """The others are counted."""
    run = run_record(300, (0.3, 0.5))
    page = page_of(run)
    shown = sum(tag == "details" and "query" in a.get("class", "") for tag, a in page.elements)
    assert shown == 200
    assert "200 of 300 queries are shown" in page.text
    assert "The other 100 are in the JSON record" in page.text
    scores = run.benchmarks[0].providers[0].scores
    assert scores is not None
    values = scores.per_query("nDCG@10")
    number = int(min(values, key=lambda query: values[query])[2:])
    assert f"#s0-q{number}" in page.having("href")


def test_rankings_show_grades_repeats_and_missed_targets() -> None:
    page = page_of(run_record(3, (0.5,), hits=20))
    classes = page.having("class")
    assert {"g0 unjudged", "g1", "g2", "g3"} <= set(classes)
    assert "repeat" in page.text
    assert "guide-q-001 > Tokens > Renewal" in page.text
    assert re.search(r"\d+ more hits?, none of them relevant", page.text)


def test_gate_verdicts_are_on_top() -> None:
    verdicts = [Verdict("fail", "nDCG@10 >= 0.9", "too low"), Verdict("pass", "RR >= 0", "fine")]
    text = Page(render(Report.of([run_record(3)], verdicts=verdicts))).text
    assert "✗ fail too low nDCG@10 >= 0.9" in text
    assert "✓ pass fine" in text
    assert text.index("Gates") < text.index("Which provider is best")


def test_gate_verdicts_name_provider_benchmark_and_group() -> None:
    verdicts = [
        Verdict("pass", "RR >= 0.1", "fine", "docs", "bm25"),
        Verdict("inconclusive", "latency p95 <= 500 ms", "none was answered", "docs", "dense"),
        Verdict("fail", "RR >= 0.9", "too low", "docs", "bm25", group="category=factual"),
    ]
    text = Page(render(Report.of([run_record(3)], verdicts=verdicts))).text
    assert "bm25 on docs ✓ pass fine RR >= 0.1 ✗ fail category=factual : too low RR >= 0.9" in text
    assert "dense on docs ? inconclusive none was answered latency p95 <= 500 ms" in text


def test_a_page_without_the_drawing_library_has_all_numbers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    page = page_of(run_record())
    assert not [tag for tag, _ in page.elements if tag == "svg"]
    assert 'pip install "vl-convert-python>=1.7"' in page.text
    assert "nDCG@10 by category, with confidence intervals" in page.text
    assert "is not significant" in page.text or "statistically significant" in page.text


def test_the_questions_come_in_their_order(usual: Page) -> None:
    text = usual.text
    questions = [
        "Which provider is best, and is its lead significant?",
        "How do they compare by kind of query?",
        "Where does each provider fail?", "How fast is each provider?", "Query by query",
        "Provenance",
    ]  # fmt: skip
    places = [text.rindex(question) for question in questions]
    assert places == sorted(places)


def test_the_end_of_the_page_has_the_provenance(usual: Page) -> None:
    text = usual.text
    end = text[text.index("Provenance") :]
    for fact in (
        "2026-01-02-run",
        "2026-01-02 03:04 UTC",
        "sha256:1111",
        "k = 10",
        "berryeval 0.1.0",
    ):
        assert fact in end


def test_the_share_of_unjudged_hits_is_in_the_verdict_box() -> None:
    run = run_record(4, (0.5,))
    one = run.benchmarks[0].providers[0]
    scores = one.scores
    assert scores is not None
    half = scores.counts.copy()
    half[:, 1] = half[:, 0] // 2
    page = page_of(changed(run, providers=(replace(one, scores=replace(scores, counts=half)),)))
    verdict = page.text[: page.text.index("Each value with its")]
    assert "Unjudged hits count as not relevant: system-0 50.0%." in verdict


def test_a_lead_on_other_queries_is_no_lead() -> None:
    """Higher on its own queries, lower on the shared ones."""
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
    """Return the run with its values scaled and its metric renamed."""
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


def test_lower_values_may_be_better() -> None:
    page = page_of(renamed(run_record(30, (0.15, 0.8)), "TokensToHit", 1000))
    assert "system-0 is the best provider by TokensToHit; its lead is" in page.text
    assert re.search(
        r"Its lead over system-1 is \+\d+\.\d \(95 % confidence interval \+", page.text
    )
    assert "lower is better" in page.text


def test_a_metric_without_direction_ranks_no_system() -> None:
    page = page_of(renamed(run_record(5, (0.2, 0.5)), "NumRet"))
    assert "NumRet does not rank providers." in page.text
    assert "★" not in page.text
    assert not [one for one in page.having("class") if one == "star"]


def test_the_page_has_the_p_values_of_all_other_formats() -> None:
    report = Report.of([run_record(30, (0.2, 0.3, 0.4, 0.5))])
    (section,) = report.sections
    assert section.comparison is not None
    contrasts = build_contrasts(section, "nDCG@10")
    rows = [row for row in section.comparison.rows if row.metric == "nDCG@10"]
    for one in contrasts:
        (row,) = [row for row in rows if {row.baseline, row.system} == {one.best, one.other}]
        assert row.comparisons == 6
        assert one.p == row.p_corrected
        assert one.difference == pytest.approx(abs(row.difference))
        assert one.certain == row.significant
        assert sum(one.counts) == 30
        assert one.counts[0] > one.counts[2]
        assert one.interval is not None
        assert one.difference is not None
        assert one.interval.low < one.difference < one.interval.high
    assert "corrected (holm) for 6 comparisons" in Page(render(report)).text


def test_the_page_names_the_test_of_each_row() -> None:
    """One pair differs on few queries and has an exact p, the other on many."""
    run = run_record(45, (0.2, 0.8))
    weak, best = run.benchmarks[0].providers
    assert best.scores is not None
    values = best.scores.values.copy()
    values[:, :5] = 0.0
    near = replace(best, name="near", scores=replace(best.scores, values=values))
    text = page_of(changed(run, providers=(weak, best, near))).text
    words = "randomization test, 100,000 random samples, and exact in 1 of 2 rows"
    assert f"p: {words}, corrected (holm) for 3 comparisons" in text


def test_a_metric_of_some_systems_is_compared_among_them() -> None:
    run = run_record(30, (0.15, 0.8, 0.5))
    first, second, third = run.benchmarks[0].providers
    assert third.scores is not None
    other = replace(third, scores=third.scores.only(["RR"]))
    (section,) = Report.of([changed(run, providers=(first, second, other))]).sections
    (contrast,) = build_contrasts(section, "nDCG@10")
    assert contrast.best == "system-1"
    assert contrast.certain
    assert contrast.row is not None
    assert contrast.row.comparisons == 1


def test_one_query_has_no_interval() -> None:
    page = page_of(run_record(1))
    assert "95 % confidence interval 0" not in page.text
    assert "ci" not in page.having("class")
    assert "ci" in page_of(run_record(6)).having("class")


def test_the_page_keeps_the_reading_direction() -> None:
    text = render(Report.of([nasty_run()]))
    assert "\u202e" not in text
    assert "override [U+202E] end" in text


def test_several_runs_of_one_provider_differ_in_charts() -> None:
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
    names = shorten_names(labels)
    shown = [names.get(label, label)[:ROOM] for label in labels]
    assert len(set(shown)) == len(shown)
    assert all(len(name) <= ROOM for name in names.values())


def test_the_status_of_a_verdict_stays_on_one_line() -> None:
    page = render(Report.of([run_record()], verdicts=[Verdict("inconclusive", "RR >= 1", "?")]))
    (rule,) = re.findall(r"\.gate \.status ?\{([^}]*)\}", page)
    assert "nowrap" in rule


def test_wanted_targets_stand_above_the_rankings_with_text_and_ranks() -> None:
    run = run_record(1, (0.3, 0.6))
    part = run.benchmarks[0]
    name, text = "guide > Tokens > Part 1", "Tokens are renewed every hour. " * 12
    passages = tuple(replace(one, text=text) if one.name == name else one for one in part.passages)
    found = AnswerRecord(
        "q-000", "ok", (HitRecord("a", 2.0, 0.0), HitRecord("b", 1.0, 3.0, passage=1))
    )
    missed = AnswerRecord("q-000", "ok", (), (MissedTarget(name, 3.0), MissedTarget("other", 1.0)))
    first, second = part.providers
    providers = (replace(first, answers=(found,)), replace(second, answers=(missed,)))
    page = render(Report.of([changed(run, providers=providers, passages=passages)]))
    inside = page[page.index('class="inside"') :]
    wanted = inside[inside.index("Wanted") : inside.index('class="rankings"')]
    assert wanted.index(name.replace(">", "&gt;")) < wanted.index("other")
    assert wanted.count("<li ") == 2
    assert wanted.count("rank 2") == 1
    assert wanted.count("not found") == 2
    words = " ".join(Page(wanted).text.split())
    assert " ".join(text[:300].split())[:120] in words
    assert "…" in words


def test_a_target_found_by_one_and_missed_by_another_stands_once() -> None:
    run = run_record(1, (0.3, 0.6, 0.1))
    part = run.benchmarks[0]
    name = "'guide', section 'Tokens > Part 1'"  # its passages are called guide > Tokens > Part 1
    hits = (HitRecord("a", 2.0, 0.0), HitRecord("b", 1.0, 3.0, passage=1))
    found = AnswerRecord("q-000", "ok", hits, found=(FoundTarget(name, 3.0, 2),))
    missed = AnswerRecord("q-000", "ok", (), (MissedTarget(name, 3.0),))
    providers = tuple(
        replace(one, answers=(answer,))
        for one, answer in zip(part.providers, (found, missed, found), strict=True)
    )
    page = render(Report.of([changed(run, providers=providers)]))
    wanted = page[page.index('class="inside"') :].partition('class="rankings"')[0]
    assert wanted.count("<li ") == 1
    assert (wanted.count("rank 2"), wanted.count("not found")) == (2, 1)
    assert part.passages[1].text[:40] in Page(wanted).text


def test_passages_unfold() -> None:
    long = " ".join(f"word{number}" for number in range(60))
    text = Page(render(Report.of([run_record(1, (0.5,), passage=long)]))).text
    assert "word15" in text
    assert "word36" in text
    assert "word59" not in text


def test_the_contents_link_to_every_part() -> None:
    verdicts = [Verdict("pass", "RR >= 0", "fine")]
    page = Page(render(Report.of([run_record(3)], verdicts=verdicts)))
    names = ("best", "groups", "fails", "speed", "queries")
    assert {f"#s0-{name}" for name in names} | {"#gates", "#provenance"} <= set(page.having("href"))


def test_p_values_are_shown_raw_and_corrected() -> None:
    page = page_of(run_record(30, (0.2, 0.4, 0.5)))
    assert "Significant? Difference p corrected 95 % CI" in page.text
    (section,) = Report.of([run_record(30, (0.2, 0.4, 0.5))]).sections
    one = build_contrasts(section, "nDCG@10")[0]
    assert one.row is not None
    assert (one.raw, one.p) == (one.row.p, one.row.p_corrected)
    assert "Difference p 95 % CI" in page_of(run_record(30, (0.2, 0.5))).text


@given(st.lists(st.text(max_size=9), min_size=1, max_size=56, unique=True))
def test_a_provider_keeps_its_color_and_shape(labels: list[str]) -> None:
    places = assign_places(labels)
    assert len(set(places.values())) == len(labels)
    few = [places[label] for label in labels[:7]]
    assert len({place % 8 for place in few}) == len({place % 7 for place in few}) == len(few)
    assert assign_places(labels[:1])[labels[0]] == places[labels[0]]


def test_a_provider_has_one_color_in_all_sections() -> None:
    other = changed(run_record(3, (0.5, 0.4, 0.3)), name="other")
    providers = other.benchmarks[0].providers[::-1]
    report = Report.of([run_record(3, (0.5, 0.4, 0.3)), changed(other, providers=providers)])
    first, second = ({one.label: one.place for one in part.systems} for part in report.sections)
    assert first == second
