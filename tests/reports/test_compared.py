"""Reports of comparisons: one decision on significance in every format."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval._internal.aggregates import Interval
from berryeval.reports.differences import format_interval
from berryeval.reports.exports import EXPORTERS
from berryeval.reports.html.contrasts import draw_differences_of
from berryeval.reports.sections import Report
from tests.stats.worlds import drawn, table
from tests.workflows.compare_world import BEST, POOR, mixed, run_of

if TYPE_CHECKING:
    from berryeval.runs.record import RunRecord

CERTAIN = (
    "statistically significant",
    "significantly better",
    "Significant?",
    "is not significant",
)
LETTERS = "a letter after a value"


def text_of(report: Report, name: str) -> str:
    """Render the report in one format."""
    return "\n".join(file.text for file in EXPORTERS.get(name).files(report, ""))


def two_runs() -> list[RunRecord]:
    """Return two runs, the second clearly better."""
    return [run_of("old", {"bm25": mixed(0)}), run_of("new", {"bm25": mixed(*range(16))})]


@pytest.mark.parametrize("options", [{"test": "sign"}, {"level": 0.999999}, {}])
def test_a_compared_report_judges_significance_once(options: dict[str, Any]) -> None:
    """The requested comparison decides; no part of the report uses another test or level."""
    report = be.compare_runs(two_runs(), metrics=["RR"], **options)
    page, paper = text_of(report, "html"), text_of(report, "latex")
    assert [words for words in CERTAIN if words in page] == []
    assert ">Which provider is best?</h3>" in page
    assert "</bdi></strong> has the best nDCG@3.</p>" in page
    assert "The comparison above says which differences are significant." in page
    assert LETTERS not in paper
    assert "<summary>Differences" not in text_of(report, "markdown")


def test_a_report_without_comparison_judges_significance() -> None:
    report = Report.of(two_runs())
    assert "its lead is statistically significant." in text_of(report, "html")
    assert LETTERS in text_of(report, "latex")


def test_tied_leaders_are_called_tied_beside_a_comparison() -> None:
    runs = [run_of(name, {"bm25": mixed(1, 2)}) for name in ("old", "new")]
    page = text_of(be.compare_runs(runs), "html")
    assert "are tied by nDCG@3.</p>" in page
    assert "has the best" not in page


def test_a_benchmark_outside_the_comparison_keeps_its_verdict() -> None:
    runs = [
        replace(one, benchmarks=(*one.benchmarks, replace(one.benchmarks[0], name="other")))
        for one in two_runs()
    ]
    report = be.compare_runs(runs, benchmark="drinks", level=0.999999)
    assert [report.compares(section) for section in report.sections] == [True, False]
    page = text_of(report, "html")
    assert page.count("its lead is statistically significant.") == page.count("Significant?") == 1
    assert text_of(report, "latex").count(LETTERS) == 1
    assert text_of(report, "markdown").count("<summary>Differences") == 1


def test_a_finding_caused_by_failures_has_a_note() -> None:
    """By group and in every format."""
    old = run_of("old", {"bm25": [BEST] * 20})
    new = run_of("new", {"bm25": [BEST] * 6 + [()] * 14})
    report = be.compare_runs([old, new], metrics=["RR"], by="category")
    found = report.compared[0].comparison
    rows = [*found.rows, *(group.rows[0] for group in found.groups.values())]
    said = "which count as 0: bm25 (new) is worse as answered, not as ranked"
    assert [row.worse for row in rows] == [True] * 3
    assert [row.notes[-1] for row in rows] == [
        f"bm25 (new) has no answer to {failed} of {asked} queries, {said}"
        for failed, asked in ((14, 20), (7, 10), (7, 10))
    ]
    for name in ("html", "markdown"):
        assert said in text_of(report, name)


def test_failures_excuse_only_the_lower_value() -> None:
    """A system that is better despite failures is better."""
    failing = run_of("old", {"bm25": [BEST] * 6 + [()] * 14})
    report = be.compare_runs([failing, run_of("new", {"bm25": [BEST] * 20})], metrics=["RR"])
    (found,) = report.compared[0].comparison.rows
    assert found.notes[-1] == (
        "bm25 (old) has no answer to 14 of 20 queries, which count as 0: bm25 (new) is better as "
        "answered, not as ranked"
    )
    brave = run_of("new", {"bm25": [BEST] * 19 + [()]})
    report = be.compare_runs([run_of("old", {"bm25": [POOR] * 20}), brave], metrics=["RR"])
    (found,) = report.compared[0].comparison.rows
    assert (found.better, [note for note in found.notes if "answered" in note]) == (True, [])


def test_poor_rankings_and_single_failures_have_no_note() -> None:
    best = run_of("old", {"bm25": [BEST] * 20})
    poor = be.compare_runs([best, run_of("new", {"bm25": [POOR] * 20})], metrics=["RR"])
    once = be.compare_runs([best, run_of("new", {"bm25": [BEST] * 19 + [()]})], metrics=["RR"])
    notes = [note for one in (poor, once) for note in one.compared[0].comparison.rows[0].notes]
    assert poor.compared[0].comparison.rows[0].worse
    assert not any("as answered" in note for note in notes)
    assert once.compared[0].warnings


def test_an_interval_is_shown_without_a_test() -> None:
    """Student's interval of 12 queries is shown although the bootstrap test needs more."""
    a, b = (table(name, values) for name, values in zip("ab", drawn(3, 12, shift=0.1), strict=True))
    (row,) = be.compare({"a": a, "b": b}, metrics=["AP"], test="bootstrap").rows
    assert row.p is None
    assert format_interval(row).startswith("[")
    (none,) = be.compare({"a": a, "b": b}, metrics=["AP"], interval="bca").rows
    assert format_interval(none) == "-"


def test_runs_from_ranking_files_have_no_date() -> None:
    runs = [replace(one, created="", versions={}) for one in two_runs()]
    assert text_of(Report.of(runs), "markdown").endswith("<sub>run old; run new</sub>\n")


def compared_part(report: Report) -> str:
    """Return the part of the page that shows the comparison."""
    page = text_of(report, "html")
    return page[page.index('<section class="compared"') :].partition("</section>")[0]


def test_the_page_draws_the_differences_of_each_pair() -> None:
    part = compared_part(be.compare_runs(three_runs(), by="category"))
    assert part.count('<figure class="chart">') == 6  # metrics, queries and categories of two pairs
    first = part[part.index('aria-label="') :].split('"')[1]
    assert first.startswith("Difference of bm25 (new) to bm25 (old) with 95 % confidence interval")
    row = be.compare_runs(three_runs()).compared[0].comparison.rows[0]
    assert row.interval is not None
    ends = (f"{one:+.3f}" for one in (row.difference, *row.interval))
    assert "{}: {} ({} to {})".format(row.metric, *ends) in first
    captions = [one.partition("<")[0] for one in part.split("<figcaption>")[1:]]
    assert "by category" not in captions[0]
    assert "one bar per query (20)" in captions[1]
    assert "nDCG@3 by category" in captions[2]


def test_a_page_draws_no_difference_without_an_interval() -> None:
    same = [run_of(name, {"bm25": mixed(0, 1)}) for name in ("old", "new")]
    assert "<figure" not in compared_part(be.compare_runs(same))
    counted = be.compare_runs(two_runs(), metrics=["RR", "P@5"]).compared[0].comparison
    large = replace(counted.rows[1], metric="NumRet", interval=Interval(3.0, 9.0))
    drawn = draw_differences_of([(row.metric, row) for row in (counted.rows[0], large)], {})
    assert drawn is not None
    assert "NumRet" not in drawn.alternative
    assert "NumRet is not drawn" in drawn.caption


def test_the_style_sheet_covers_comparisons() -> None:
    page = text_of(be.compare_runs(two_runs()), "html")
    assert '<section class="compared"' in page
    assert ".compared { margin-top:" in page


def three_runs() -> list[RunRecord]:
    """Return three runs of two providers, for several tables and pairs."""
    steps = {"old": (0,), "new": tuple(range(8)), "newest": tuple(range(16))}
    return [
        run_of(name, {"bm25": mixed(*better), "dense": mixed(1, *better)})
        for name, better in steps.items()
    ]


@pytest.mark.parametrize("name", ["html", "latex", "markdown"])
def test_requested_groups_are_in_every_report(name: str) -> None:
    """Each group has a row per pair."""
    runs = three_runs()
    report = be.compare_runs(runs, metrics=["RR"], by="category")
    found = report.compared[0].comparison
    text = text_of(report, name)
    whole = text_of(be.compare_runs(runs, metrics=["RR"]), name)
    assert found.groups
    for label, group in found.groups.items():
        for row in group.rows:
            assert text.count(format_interval(row)) > whole.count(format_interval(row)), label


def test_a_page_names_the_pairs_it_compares() -> None:
    page = text_of(be.compare_runs(three_runs(), metrics=["RR"]), "html")
    for name in ("bm25", "dense"):
        assert f"comparison against {name} (old)</bdi></h2>" in page
        for later in ("new", "newest"):
            assert f"<bdi>{name} ({later})</bdi> against <bdi>{name} (old)</bdi></h3>" in page


def test_the_page_of_a_comparison_links_the_queries_that_changed() -> None:
    report = be.compare_runs(two_runs(), metrics=["RR"], moved=3)
    page = text_of(report, "html")
    assert compared_part(report).count('<a href="#s0-q') == 3
    assert '<div class="verdict certain drawn">' in page
    assert 'href="#compared-1">Comparison' in page
