"""Compared pairs as pieces of HTML: verdict, tables, charts and queries that moved."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import berryeval as be
from berryeval.reports.html.pairs import (
    list_pairs,
    render_charts,
    render_moved,
    render_tables,
    render_verdict,
)
from tests.reports.html_records import nasty_run, run_record
from tests.workflows.compare_world import BEST, POOR, mixed, run_of

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.reports.html.pairs import SystemPair
    from berryeval.reports.sections import Report


def only_pair(report: Report) -> SystemPair:
    """Return the only pair of a comparison."""
    (pair,) = list_pairs(report, report.compared[0])
    return pair


def better_run() -> Report:
    """Compare two runs, the second better on 15 of 20 queries and worse on one."""
    old, new = mixed(0, 16), mixed(*range(16))
    return be.compare_runs([run_of("old", {"bm25": old}), run_of("new", {"bm25": new})])


def texts(html: str) -> str:
    """Return the texts of a piece without its tags, on one line."""
    return " ".join(re.sub(r"<[^>]+>", " ", html).split())


def test_the_verdict_comes_first_with_a_chart_of_all_metrics() -> None:
    pair = only_pair(better_run())
    html = render_verdict(pair)
    assert html.startswith('<div class="verdict certain drawn">')
    headline, _, rest = texts(html).partition(" nDCG@3 +")
    assert headline == "bm25 (new) is better than bm25 (old) ."
    assert "Better on 15, equal on 4, worse on 1 of 20 queries" in rest
    assert "All metrics: better: nDCG@3, RR ." in rest
    assert html.count("<svg") == 1


@pytest.mark.parametrize(
    ("new", "kind", "words"),
    [
        (mixed(0, 16), "open", "no query differs"),
        (mixed(0, 1, 2, 16), "open", "No significant difference between bm25 (new) and bm25 (old)"),
        (mixed(), "open", "Better on 0, equal on 18, worse on 2 of 20 queries"),
    ],
)
def test_an_open_verdict_is_marked_as_open(
    new: list[tuple[str, ...]], kind: str, words: str
) -> None:
    runs = [run_of("old", {"bm25": mixed(0, 16)}), run_of("new", {"bm25": new})]
    html = render_verdict(only_pair(be.compare_runs(runs)))
    assert f'<div class="verdict {kind}' in html
    assert words in texts(html)


def test_the_chart_has_a_bar_for_each_query() -> None:
    html = render_charts(only_pair(better_run()))
    label = html[html.index('aria-label="') :].split('"')[1]
    assert label.startswith("Sorted bars of the difference in nDCG@3 between bm25 (new) and")
    assert label.endswith("better on 15, equal on 4, worse on 1 of 20 queries.")
    assert "one bar per query (20), sorted." in html


def test_bars_are_not_drawn_from_other_queries_than_the_table_counts() -> None:
    """A comparison of other values, as with corrected judgments, has no bars of these records."""
    report = better_run()
    pair = only_pair(report)
    row = replace(pair.rows[0], n=19, ties=3)
    assert "Sorted bars" not in render_charts(replace(pair, rows=(row, *pair.rows[1:])))
    assert "Sorted bars" not in render_charts(replace(pair, systems={}))


def test_groups_have_a_table_and_a_chart() -> None:
    runs = [run_of("old", {"bm25": mixed(0)}), run_of("new", {"bm25": mixed(*range(16))})]
    pair = only_pair(be.compare_runs(runs, by="category"))
    found = render_tables(pair, "x")
    assert found.count("<table") == 2
    assert 'id="x"' in found
    assert 'id="x-groups"' in found
    assert "nDCG@3 by category" in render_charts(pair)


def test_moved_queries_show_what_was_wanted_and_what_was_found() -> None:
    pair = only_pair(better_run())
    html = render_moved(pair, {pair.moved[0].query_id: "#there"})
    assert html.count('<details class="query moved"') == len(pair.moved) == 3
    first = html.split('<details class="query moved"')[1]
    words = texts(first)
    moved = pair.moved[0]
    assert f"{moved.before:.3f}" in words
    assert f"{moved.after:.3f}" in words
    assert "+0." in words
    assert "Wanted" in words
    assert "guide &gt; Tea bm25 (new) rank 1 About tea." in words
    assert [one for one in (*BEST, *POOR) if one not in words] == []
    assert 'href="#there"' in first
    assert html.count("href=") == 1


def test_moved_queries_without_answers_are_explained_in_words() -> None:
    pair = replace(only_pair(better_run()), systems={})
    assert "entered the top 3: guide &gt; Tea (grade 2, not found → rank 1)" in texts(
        render_moved(pair)
    )


def test_known_ranks_are_not_repeated() -> None:
    report = be.compare_runs(run_record(8, (0.2, 0.8)))
    html = render_moved(only_pair(report))
    assert "entered the top" not in html
    assert "Wanted" in html


def test_pieces_need_nothing_but_the_pair() -> None:
    """Two renderings, in any order and without a page, give the same text."""
    pair = only_pair(better_run())
    before = [render_moved(pair), render_verdict(pair)]
    again = only_pair(better_run())
    assert [render_verdict(again), render_moved(again)] == before[::-1]


def test_untrusted_texts_stay_texts() -> None:
    report = be.compare_runs(nasty_run())
    for pair in list_pairs(report, report.compared[0]):
        for html in (render_verdict(pair), render_tables(pair, "x"), render_moved(pair)):
            assert "<script" not in html
            assert "<img" not in html


def test_a_run_with_several_systems_has_a_pair_for_each() -> None:
    report = be.compare_runs(run_record(8, (0.3, 0.6, 0.9)))
    pairs = list_pairs(report, report.compared[0])
    assert [(one.baseline, one.system) for one in pairs] == [
        ("system-0", "system-1"),
        ("system-0", "system-2"),
    ]
    assert all({query.system for query in one.moved} <= {one.system} for one in pairs)


def test_a_report_that_is_read_again_still_has_texts_and_bars(tmp_path: Path) -> None:
    """The systems of a comparison are those of the runs, also after the report was a file."""
    report = be.compare_runs(run_record(8, (0.2, 0.8)))
    [first] = be.write_report(report, tmp_path / "first.html")
    [data] = be.write_report(report, tmp_path / "report.json")
    [again] = be.write_report(str(data), tmp_path / "again.html")
    for path in (first, again):
        text = path.read_text(encoding="utf-8")
        part = text[text.index('<section class="compared"') :].partition("</section>")[0]
        assert "one bar per query (8), sorted." in part
        assert "Wanted" in part
