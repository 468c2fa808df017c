"""The charts of the report, drawn for notebooks."""

from __future__ import annotations

import sys
from xml.etree import ElementTree as ET

import pytest

import berryeval as be
from berryeval.errors import ConfigurationError, MissingDependencyError
from berryeval.reports.html.page import render
from berryeval.reports.sections import Report

QRELS = {f"q{place}": {"a": 1.0, "b": 2.0} for place in range(9)}
RUN = {query: {"x": 3.0, "a": 2.0, "b": place % 4} for place, query in enumerate(QRELS)}


@pytest.fixture(scope="module")
def result() -> be.BenchmarkResult:
    return be.run_benchmark("technical-docs", ["bm25", "bm25:fixed-400"], ["nDCG@10", "R@10"])


def test_scores_are_drawn_with_their_intervals() -> None:
    scores = be.evaluate(QRELS, RUN, ["nDCG@5", "RR", "NumRet"])
    charts = scores.plot()
    assert charts.names == ("metrics",)
    texts = "".join(ET.fromstring(charts.charts[0].svg).itertext())  # noqa: S314 - our drawing
    assert "nDCG@5" in texts
    assert "NumRet" not in texts  # not between 0 and 1


def test_scores_without_a_metric_between_0_and_1_have_no_chart() -> None:
    assert len(be.evaluate(QRELS, RUN, ["NumRet"]).plot()) == 0


def test_a_benchmark_has_the_charts_of_its_report(result: be.BenchmarkResult) -> None:
    charts = result.plot()
    assert charts.names == (
        "metrics", "lead", "differences", "precision-recall", "latency", "trade-off",
        "by category", "by difficulty",
    )  # fmt: skip
    page = render(Report.of([result.whole_run]))
    for chart in charts.charts:
        assert chart.svg in page, chart.name
    assert result.plot("latency", "metrics").names == ("latency", "metrics")
    with pytest.raises(ConfigurationError, match="there is no chart 'latncy'; did you mean"):
        result.plot("latncy")


def test_the_name_of_a_run_cannot_inject_markup() -> None:
    run = be.Run.from_dict(RUN, name="<script>alert(1)</script>")
    charts = be.evaluate(QRELS, run, ["RR"]).plot()
    assert "<script" not in charts._repr_html_()


def test_missing_drawing_library_error_has_the_install_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    with pytest.raises(MissingDependencyError, match='pip install "vl-convert-python'):
        be.evaluate(QRELS, RUN, ["RR"]).plot()
