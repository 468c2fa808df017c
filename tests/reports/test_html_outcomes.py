"""The HTML report of systems that failed, are tied or are perfect."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from berryeval.reports.html.failures import collect_failures
from berryeval.reports.html.page import render
from berryeval.reports.html.rankings import view_queries
from berryeval.reports.sections import Report
from tests.reports.html_records import changed, run_record
from tests.reports.test_html import Page, page_of

if TYPE_CHECKING:
    from berryeval.runs.answers import HitRecord
    from berryeval.runs.record import ProviderRecord, RunRecord

LONG = "quota exceeded: " + "x" * 400


def failed(provider: ProviderRecord, count: int, error: str = "refused") -> ProviderRecord:
    """Return the provider with its first answers failed; they score 0."""
    assert provider.scores is not None
    values = provider.scores.values.copy()
    values[:, :count] = 0.0
    answers = tuple(
        replace(one, outcome="error", error=error, hits=(), latency=None) if place < count else one
        for place, one in enumerate(provider.answers)
    )
    latency = provider.latency if count < len(answers) else None
    scores = replace(provider.scores, values=values)
    return replace(provider, answers=answers, scores=scores, latency=latency)


def failing_run(*counts: int, strengths: tuple[float, ...] = (0.8, 0.3, 0.2)) -> RunRecord:
    """Return a run of 10 queries in which each provider failed on `counts` of them."""
    run = run_record(10, strengths)
    pairs = zip(run.benchmarks[0].providers, counts, strict=True)
    return changed(run, providers=tuple(failed(one, count) for one, count in pairs))


def valued(provider: ProviderRecord, name: str, values: list[float]) -> ProviderRecord:
    """Return the provider with these values for every metric."""
    assert provider.scores is not None
    table = np.tile(np.array(values), (len(provider.scores.metrics), 1))
    return replace(provider, name=name, scores=replace(provider.scores, values=table))


def test_a_provider_that_never_answered_does_not_count_as_beaten() -> None:
    page = page_of(failing_run(0, 10, 9))
    assert "system-0 is the only provider that answered every query." in page.text
    assert "system-1 failed on all 10 queries; its scores mean nothing." in page.text
    assert "system-2 failed on 9 of 10 queries; its scores mean little." in page.text
    assert "significant." not in page.text
    assert "no: failed on 10" in page.text
    assert "Answered" in page.text
    assert "0 of 10 10 failed" in page.text


def test_a_page_without_answers_draws_no_conclusion() -> None:
    """Two providers that never answered are not called tied."""
    text = page_of(failing_run(10, 10, strengths=(0.8, 0.3))).text
    assert "No conclusion: no query was answered." in text
    assert "are tied" not in text
    assert "against every other" not in text
    assert "by kind of query" not in text
    assert text.count("0 of 10") == 4  # in the standings, and where times are


def test_a_lead_over_providers_that_answered_stays_significant() -> None:
    run = run_record(40, (0.8, 0.15, 0.2))
    first, second, third = run.benchmarks[0].providers
    text = page_of(changed(run, providers=(first, second, failed(third, 3)))).text
    words = (
        "is the best provider by nDCG@10 of those that answered every query; its lead is "
        "statistically significant."
    )
    assert f"system-0 {words}" in text
    assert "system-2 failed on 3 of 40 queries; they count as unanswered." in text
    assert "Its lead over system-1 is" in text


def test_the_column_of_answers_needs_a_failed_query() -> None:
    usual = page_of(run_record(4))
    assert usual.text.count("Answered") == 1  # of the times


def test_a_provider_that_answered_nothing_has_a_latency_row() -> None:
    text = page_of(failing_run(0, 10, 0)).text
    times = text[text.index("How fast") : text.index("Query by query")]
    assert "system-1" + " \N{EN DASH}" * 4 + " 0 of 10" in times
    assert "No latency was" not in page_of(failing_run(10, 10, 10)).text


def test_tied_leaders_are_called_tied() -> None:
    run = run_record(30, (0.8, 0.15))
    one, weak = run.benchmarks[0].providers
    page = page_of(changed(run, providers=(weak, one, replace(one, name="twin"))))
    words = "system-0 and twin are tied by nDCG@10, and significantly better than the others."
    assert words.replace("system-0", one.name) in page.text
    assert "It equals twin on all 30 queries." in page.text
    assert f"Its lead over {weak.name} is +" in page.text
    assert "no: tied" in page.text
    assert "is not significant" not in page.text


def test_tied_providers_have_no_chart_of_differences() -> None:
    run = run_record(6, (0.4,))
    one = run.benchmarks[0].providers[0]
    for found in (page_of(changed(run, providers=(one, replace(one, name="twin")))),
                  page_of(run_record(1))):  # fmt: skip
        words = found.having("aria-label")
        assert not [one for one in words if one.startswith(("Sorted bars", "Lead of"))]
        assert "0.000 to 0.000" not in found.text


def test_captions_mention_intervals_only_if_there_are_any() -> None:
    page = page_of(run_record(1))
    assert "Each value with its 95 %" not in page.text
    assert "Every metric with its 95 %" not in page.text
    assert "1 queries" not in page.text


def test_perfect_queries_are_no_failures() -> None:
    run = run_record(4, (0.5, 0.5))
    one, other = run.benchmarks[0].providers
    run = changed(
        run, providers=(valued(one, "full", [1.0] * 4), valued(other, "part", [1, 0.5, 1, 0.2]))
    )
    report = Report.of([run])
    full, part = collect_failures(report.sections[0])
    assert full.perfect
    assert [query.id for query, _ in part.worst] == ["q-003", "q-001"]
    assert Page(render(report)).text.count("No query below 1.") == 1


def test_every_query_that_the_page_names_is_shown() -> None:
    """Even with 300 queries and ties."""
    run = run_record(300, (0.3, 0.5))
    one, other = run.benchmarks[0].providers
    ties = [0.0] * 150 + [0.5] * 150
    run = changed(
        run, providers=(valued(one, "a", ties), valued(other, "b", ties[::-1])),
        queries=tuple(reversed(run.benchmarks[0].queries)),
    )  # fmt: skip
    (section,) = Report.of([run]).sections
    shown = view_queries(section).numbers
    places = {query.id: place for place, query in enumerate(section.queries)}
    named = [query.id for found in collect_failures(section) for query, _ in found.worst]
    assert len(named) == 10
    assert {places[query] for query in named} <= shown


def _only_one(hit: HitRecord) -> HitRecord:
    """Return the hit with a grade of 1 or 0, and no repeat."""
    return replace(hit, grade=1.0 if hit.grade else 0.0, again=False)


def test_the_legend_lists_only_grades_that_occur() -> None:
    run = run_record(3, (0.6,))
    one = run.benchmarks[0].providers[0]
    answers = tuple(
        replace(answer, missed=(), hits=tuple(_only_one(hit) for hit in answer.hits))
        for answer in one.answers
    )
    text = render(Report.of([changed(run, providers=(replace(one, answers=answers),))]))
    (key,) = re.findall(r'<p class="key grades">.*?</p>', text)
    assert re.findall(r'<span class="(g\d)"><b>(\d)</b>', key) == [("g3", "1"), ("g0", "0")]
    assert "repeat" not in key
    assert "not judged" not in key


def test_the_header_counts_each_benchmark_and_query_once() -> None:
    run = run_record(4, (0.4,))
    part = run.benchmarks[0]
    fewer = changed(run, queries=part.queries[:2])
    page = page_of(run, replace(fewer, id="fewer"))
    assert "1 benchmark 4 queries" in page.text
    assert {"#s0", "#s1"} <= set(page.having("href"))


def test_a_long_error_is_in_full_in_one_place_only() -> None:
    run = run_record(4, (0.4, 0.5))
    one, other = run.benchmarks[0].providers
    broken = replace(failed(one, 2, LONG), warnings=(f"2 queries failed; the last: {LONG}",))
    page = page_of(changed(run, providers=(broken, other)))
    assert page.text.count(LONG) == 1
    assert f"2 \N{MULTIPLICATION SIGN} {LONG}" in page.text
    assert page.text.count("quota exceeded: xxx") == 4


def test_systems_have_the_same_order_everywhere() -> None:
    run = run_record(8, (0.2, 0.8, 0.5))
    text = render(Report.of([run]))
    body = re.sub(r"<style.*?</style>|<svg.*?</svg>", "", text, flags=re.DOTALL)
    after = body[body.index("-t-best") :]
    cards = re.findall(r"<h4><span[^>]*><i[^>]*></i><bdi>(system-\d)", after)
    assert cards[:3] == ["system-1", "system-2", "system-0"]
    assert cards == cards[:3] * (len(cards) // 3)
    times = after[after.index("-t-speed") : after.index("Query by query")]
    assert re.findall(r"<bdi>(system-\d)", times) == cards[:3]


@pytest.mark.parametrize("count", [9, 18])
def test_no_two_systems_look_alike(count: int) -> None:
    """Where colors repeat, shapes differ."""
    page = page_of(run_record(2, tuple(0.2 + place / 40 for place in range(count))))
    looks: dict[str, set[str]] = {}
    marks = iter(page.elements)
    for tag, attributes in marks:
        if tag == "span" and "sys-" in attributes.get("class", ""):
            _, mark = next(marks)
            looks.setdefault(f"{attributes['class']} {mark['class']}", set())
    assert len(looks) == count


def test_a_heat_map_says_how_many_groups_it_leaves_out() -> None:
    run = run_record(80, (0.4, 0.6))
    queries = tuple(
        replace(one, category=f"a category of a very long name, number {place % 40}")
        for place, one in enumerate(run.benchmarks[0].queries)
    )
    text = render(Report.of([changed(run, queries=queries)]))
    assert text.count("Only the 24 largest of 40 groups are drawn; the table has all.") == 2
    names = re.findall(r">([^<>]*\(2\))</text>", text)
    assert len(set(names)) == 24
