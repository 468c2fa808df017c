"""A report of a comparison says one thing: what was asked for decides, in every part of it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.reports.differences import format_interval
from berryeval.reports.exports import EXPORTERS
from berryeval.reports.report import Report
from tests.stats.worlds import drawn, table
from tests.workflows.compare_world import BEST, POOR, mixed, run_of

if TYPE_CHECKING:
    from berryeval.runs.record import RunRecord

CERTAIN = (
    "statistically significant",
    "significantly better",
    "Told apart?",
    "cannot be told apart",
)
LETTERS = "a letter after a value"


def text_of(report: Report, name: str) -> str:
    """The report in one format."""
    return "\n".join(file.text for file in EXPORTERS.get(name).files(report, ""))


def two_runs() -> list[RunRecord]:
    """Runs of which the second is better by any common standard."""
    return [run_of("old", {"bm25": mixed(0)}), run_of("new", {"bm25": mixed(*range(16))})]


@pytest.mark.parametrize("options", [{"test": "sign"}, {"level": 0.999999}, {}])
def test_one_page_has_one_verdict(options: dict[str, Any]) -> None:
    """Beside a comparison that was asked for there is none by another test or level."""
    report = be.compare_runs(two_runs(), metrics=["RR"], **options)
    page, paper = text_of(report, "html"), text_of(report, "latex")
    assert [words for words in CERTAIN if words in page] == []
    assert ">Which is best?</h3>" in page
    assert "</bdi></strong> has the best nDCG@3.</p>" in page
    assert "What of this is significant, the comparison above says." in page
    assert LETTERS not in paper
    assert "<summary>Differences" not in text_of(report, "markdown")


def test_without_a_comparison_the_verdict_stays() -> None:
    """The same runs, only reported, say what is significant, and have letters."""
    report = Report.of(two_runs())
    assert "is best, and that is statistically significant." in text_of(report, "html")
    assert LETTERS in text_of(report, "latex")


def test_equal_leaders_are_called_so_beside_a_comparison() -> None:
    """Neither has the better value, and the page says not that one has."""
    runs = [run_of(name, {"bm25": mixed(1, 2)}) for name in ("old", "new")]
    page = text_of(be.compare_runs(runs), "html")
    assert "score the same.</p>" in page
    assert "has the best" not in page


def test_what_was_not_compared_keeps_its_verdict() -> None:
    """A benchmark that the comparison is not of is reported as ever."""
    runs = [
        replace(one, benchmarks=(*one.benchmarks, replace(one.benchmarks[0], name="other")))
        for one in two_runs()
    ]
    report = be.compare_runs(runs, benchmark="drinks", level=0.999999)
    assert [report.compares(section) for section in report.sections] == [True, False]
    page = text_of(report, "html")
    assert (
        page.count("is best, and that is statistically significant.")
        == page.count("Told apart?")
        == 1
    )
    assert text_of(report, "latex").count(LETTERS) == 1
    assert text_of(report, "markdown").count("<summary>Differences") == 1


def test_a_finding_that_failures_made_says_so() -> None:
    """The row keeps its numbers, with a note on what it is of, by group too, and in the formats."""
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


def test_only_the_lower_value_is_excused() -> None:
    """A baseline that failed makes the other better; who is better although it failed is better."""
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


def test_no_note_where_nothing_was_found_or_nothing_failed() -> None:
    """Rankings that are poor are worse as ranked; a failure that shows nothing is a warning."""
    best = run_of("old", {"bm25": [BEST] * 20})
    poor = be.compare_runs([best, run_of("new", {"bm25": [POOR] * 20})], metrics=["RR"])
    once = be.compare_runs([best, run_of("new", {"bm25": [BEST] * 19 + [()]})], metrics=["RR"])
    notes = [note for one in (poor, once) for note in one.compared[0].comparison.rows[0].notes]
    assert poor.compared[0].comparison.rows[0].worse
    assert not any("as answered" in note for note in notes)
    assert once.compared[0].warnings


def test_an_interval_needs_no_test() -> None:
    """Student's interval of 12 queries is shown, though the bootstrap test says nothing."""
    a, b = (table(name, values) for name, values in zip("ab", drawn(3, 12, shift=0.1), strict=True))
    (row,) = be.compare({"a": a, "b": b}, metrics=["AP"], test="bootstrap").rows
    assert row.p is None
    assert format_interval(row).startswith("[")
    (none,) = be.compare({"a": a, "b": b}, metrics=["AP"], interval="bca").rows
    assert format_interval(none) == "-"


def test_files_of_rankings_have_no_date() -> None:
    """What is not known leaves no comma."""
    runs = [replace(one, created="", versions={}) for one in two_runs()]
    assert text_of(Report.of(runs), "markdown").endswith("<sub>run old; run new</sub>\n")


def test_a_comparison_has_room_on_the_page() -> None:
    """The style sheet speaks of what the template writes."""
    page = text_of(be.compare_runs(two_runs()), "html")
    assert '<section class="compared"' in page
    assert ".compared { margin-top:" in page


def three_runs() -> list[RunRecord]:
    """Runs of two providers each, so that a comparison has several tables and pairs."""
    steps = {"old": (0,), "new": tuple(range(8)), "newest": tuple(range(16))}
    return [
        run_of(name, {"bm25": mixed(*better), "dense": mixed(1, *better)})
        for name, better in steps.items()
    ]


@pytest.mark.parametrize("name", ["html", "latex", "markdown"])
def test_groups_that_were_asked_for_are_in_every_report(name: str) -> None:
    """Each group has a row per pair, not only the note about groups."""
    runs = three_runs()
    report = be.compare_runs(runs, metrics=["RR"], by="category")
    found = report.compared[0].comparison
    text = text_of(report, name)
    whole = text_of(be.compare_runs(runs, metrics=["RR"]), name)
    assert found.groups
    for label, group in found.groups.items():
        for row in group.rows:
            assert text.count(format_interval(row)) > whole.count(format_interval(row)), label


def test_a_page_says_which_pairs_are_compared() -> None:
    """Two comparisons on one benchmark have two headings, and so has every pair of them."""
    page = text_of(be.compare_runs(three_runs(), metrics=["RR"]), "html")
    for name in ("bm25", "dense"):
        assert f"comparison against {name} (old)</bdi></h2>" in page
        for later in ("new", "newest"):
            assert f"<bdi>{name} ({later})</bdi> against <bdi>{name} (old)</bdi></h3>" in page
