"""Charts and numbers of trends."""

from __future__ import annotations

import csv
import html
import io
import re
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from berryeval.reports.html.svg import assign_lanes
from berryeval.reports.html.trend_lines import view_lines
from berryeval.reports.trend import build_trend_lines, build_trend_spec, write_trend
from berryeval.runs import StoredValue
from berryeval.runs.store.trends import TrendPoint

if TYPE_CHECKING:
    from pathlib import Path

NAME = "=cmd|' /C calc'!A0 \u202e"


def points(provider: str = "bm25") -> list[TrendPoint]:
    """Return three runs of an afternoon; the data changed before the last."""
    return [
        TrendPoint(
            f"run-{place}",
            f"2026-11-15T15:{minute}:00",
            datetime(2026, 11, 15, 15, minute).timestamp(),  # noqa: DTZ001 - local time
            "drinks",
            provider,
            StoredValue("RR", 0.5 + place / 10, 0.3, 0.9, 8),
            "sha256:1" if place < 2 else "sha256:2",
            "same",
            20,
        )
        for place, minute in enumerate((16, 31, 46))
    ]


def written(folder: Path, ending: str, provider: str = "bm25") -> str:
    """Write the file of a trend and return its text."""
    path = folder / f"trend{ending}"
    write_trend(build_trend_lines(points(provider)), path)
    return path.read_bytes().decode()


def test_a_chart_has_24_hours_and_marks_breaks(tmp_path: Path) -> None:
    text = written(tmp_path, ".svg")
    assert "15:20" in text
    assert "03:20" not in text
    assert "the benchmark changed" in text


def test_a_single_point_has_its_interval() -> None:
    """A rule is drawn for every point: an area of one point has no width."""
    spec = build_trend_spec(build_trend_lines(points()))
    marks = [layer["mark"]["type"] for layer in spec["layer"]]
    assert marks == ["area", "rule", "line", "rule", "text"]
    assert {(row["low"], row["high"]) for row in spec["data"]["values"]} == {(0.3, 0.9)}
    assert spec["layer"][1]["encoding"]["y2"] == {"field": "high"}


def test_csv_is_safe_for_spreadsheets_and_in_full_precision(tmp_path: Path) -> None:
    text = written(tmp_path, ".csv", NAME)
    assert text.count("\r\n") == text.count("\n") == 4
    _, first, *_ = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert first[1] == f"'{NAME}"
    assert first[5:8] == ["0.5", "0.3", "0.9"]


@pytest.mark.parametrize("ending", [".html", ".svg"])
def test_untrusted_names_stay_text(tmp_path: Path, ending: str) -> None:
    text = written(tmp_path, ending, f"<script>x</script>{NAME}")
    assert "<script" not in text
    assert "\u202e" not in text
    assert "U+202E" in text


def many(count: int) -> list[TrendPoint]:
    """Return `count` providers with three runs each."""
    return [point for place in range(count) for point in points(f"provider-{place:02}")]


def page_of(folder: Path, found: list[TrendPoint]) -> str:
    """Return the page of these points."""
    path = folder / "trend.html"
    write_trend(build_trend_lines(found), path)
    return path.read_text(encoding="utf-8")


def test_times_are_readable_and_breaks_numbered(tmp_path: Path) -> None:
    text = written(tmp_path, ".html")
    assert "2026-11-15T15" not in text
    assert re.search(r"2026-11-1[456] \d\d:\d\d UTC", text)
    assert ">1</text>" in text
    assert re.search(r'<li value="1">[^<]*UTC: <bdi>the benchmark changed', text)


def test_many_lines_make_several_charts(tmp_path: Path) -> None:
    text = page_of(tmp_path, many(18))
    charts = re.findall("<svg.*?</svg>", text, flags=re.DOTALL)
    named = [set(re.findall(r">(provider-\d\d)</text>", chart)) for chart in charts]
    assert [len(names) for names in named] == [8, 8, 2]
    assert len(set().union(*named)) == 18
    assert "providers 9 to 16 of 18, best first" in text


def test_providers_look_alike_in_any_order_of_their_values() -> None:
    """Lines are shown best first, so their order changes with every run."""
    names = ("hybrid", "bm25", "postgres", "dense")
    lines = build_trend_lines([point for name in names for point in points(name)])
    seen = [
        {row["provider"]: row["place"] for row in view_lines(one)} for one in (lines, lines[::-1])
    ]
    assert seen[0] == seen[1]


def test_one_run_has_no_chart(tmp_path: Path) -> None:
    text = page_of(tmp_path, points()[:1])
    assert "<svg" not in text
    assert "Only one run so far" in text


def test_one_moment_is_shown_within_its_day() -> None:
    of_one, of_three = (
        build_trend_spec(build_trend_lines(found)) for found in (points()[:1], points())
    )
    moment = 1000 * points()[0].moment
    first, last = of_one["layer"][-1]["encoding"]["x"]["scale"]["domain"]
    assert first < moment < last
    assert last - first == 24 * 3600 * 1000
    assert of_three["layer"][-1]["encoding"]["x"]["scale"] == {}


def test_numbers_of_breaks_do_not_overlap() -> None:
    assert assign_lanes([0.0, 3.0, 6.0, 100.0, 104.0], 16) == [0, 1, 2, 0, 1]


def test_the_trend_page_loads_nothing(tmp_path: Path) -> None:
    text = html.unescape(written(tmp_path, ".html"))
    assert re.search(r"default-src 'none'; style-src 'sha256-[\w+/=]+'", text)
    assert " style=" not in text
    assert "0.300 to 0.900" in text


def test_files_have_the_intervals_of_tables() -> None:
    for queries, ends in ((9, (None, None)), (10, (1.0, 1.0))):
        alike = [replace(one, value=StoredValue("RR", 1.0, 1.0, 1.0, queries)) for one in points()]
        (line,) = build_trend_lines(alike)
        assert {(one["low"], one["high"]) for one in line.to_dict()["points"]} == {ends}


def test_a_line_follows_the_runs_comparable_with_the_newest() -> None:
    first, second, third = points()
    other = replace(third, value=StoredValue("RR", 0.0, 0.0, 0.0, 8))
    (line,) = build_trend_lines([first, other, second])
    assert line.values == [first.value.value, second.value.value]
    assert line.change == second.value.value - first.value.value
    assert line.before is first
    assert line.apart == {1: "the benchmark changed"}
    assert line.parts == [[first, second], [other]]
    assert line.breaks == {1: "the benchmark changed"}
    (line,) = build_trend_lines([first, second, third])
    assert (line.values, line.change, line.before) == ([third.value.value], None, None)


def test_the_trend_page_counts_failed_queries(tmp_path: Path) -> None:
    first, second, third = points()
    write_trend(build_trend_lines([replace(first, failed=8), second, third]), tmp_path / "t.html")
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert "the benchmark changed; 8 of 8 queries failed" in page
    write_trend(
        build_trend_lines([first, replace(first, moment=first.moment + 1, failed=3)]),
        tmp_path / "u.html",
    )
    latest = (tmp_path / "u.html").read_text(encoding="utf-8").partition("<details")[0]
    assert "3 of 8 queries failed" in latest
