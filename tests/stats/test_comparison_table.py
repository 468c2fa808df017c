"""A comparison in a notebook: a compact text, an HTML table and a frame."""

from __future__ import annotations

from typing import Literal

import pytest

import berryeval as be
from tests._internal.test_notebook import Reader

QRELS = {f"q{place}": {"a": 1.0, "b": 2.0} for place in range(12)}
OLD = {query: {"x": 3.0, "a": 2.0, "b": 1.0} for query in QRELS}
NEW = {query: {"b": 3.0, "a": 2.0 - (place % 3), "x": 1.0} for place, query in enumerate(QRELS)}
GROUPS = {query: "even" if int(query[1:]) % 2 == 0 else "odd" for query in QRELS}


def compared(*names: str, groups: bool = False) -> be.Comparison:
    runs = {"old": OLD, "new": NEW, "<b>": NEW}
    tables = {name: be.evaluate(QRELS, runs[name], ["nDCG@5", "RR"]) for name in names}
    return be.compare(tables, baseline=names[0], groups=GROUPS if groups else None)


def test_the_text_counts_the_findings() -> None:
    found = compared("old", "new")
    assert repr(found) == "Comparison('old', 'new'; against 'old'; 2 metrics; 2 better)"
    assert repr(found.row("RR")) == f"PairedDifference({found.row('RR').sentence})"


def test_the_text_names_the_first_of_many_systems() -> None:
    names = [*(f"s{place}" for place in range(8)), "s" * 300]
    scores = be.evaluate(QRELS, {}, ["RR"])
    found = be.compare(dict.fromkeys(names, scores), baseline="s0")
    assert repr(found).startswith(
        "Comparison('s0', 's1', 's2', 's3', 's4', and 4 more; against 's0'"
    )
    long = be.Run.from_dict({"q1": {"d": 1.0}}, name="s" * 300)
    for one in (long, be.evaluate(QRELS, long, ["RR"]), be.audit(QRELS, long)):
        assert "sss…'" in repr(one)
        assert len(repr(one)) < 300


def test_the_table_has_a_row_per_metric() -> None:
    found = compared("old", "new")
    shown = Reader(found._repr_html_()).texts
    assert shown[:2] == ["Comparison", " · against old · randomization test · correction: holm"]
    assert shown[2] == "new (system) against old (baseline), 12 queries"
    start = shown.index("RR")
    assert shown[start : start + 4] == ["RR", "0.500", "1.000", "+0.500"]
    assert shown[start + 4].strip() in {"", "<0.001"}
    assert "12 / 0 / 0" in shown
    assert shown.count("better") == 2


def test_several_pairs_are_named_and_groups_are_mentioned() -> None:
    shown = Reader(compared("old", "new", "<b>", groups=True)._repr_html_()).texts
    assert "<b> against old" in shown
    assert any(text.startswith("2 groups of queries (even, odd)") for text in shown)


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_frame_has_a_row_per_metric_pair_and_group(library: Literal["pandas", "polars"]) -> None:
    found = compared("old", "new", groups=True)
    frame = found.to_frame(library)
    assert list(frame["group"]) == ["", "", "even", "even", "odd", "odd"]
    assert list(frame["metric"]) == ["nDCG@5", "RR"] * 3
    row = found.row("RR")
    assert frame["difference"][1] == row.difference
    assert frame["finding"][1] == row.finding == "better"
    ends = frame["low"][1], frame["high"][1]
    assert row.interval is None  # all differences are equal
    assert all(end is None or end != end for end in ends)  # noqa: PLR0124 - NaN


def test_the_charts_are_those_of_the_report() -> None:
    charts = compared("old", "new", groups=True).plot()
    assert charts.names == ("new against old", "new against old by group")
    assert "Difference of new to old, with 95 % confidence intervals" in charts._repr_html_()
    assert compared("old", "new").plot("new against old").names == ("new against old",)
