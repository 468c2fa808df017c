"""What a notebook shows of judgments and runs."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from berryeval import Qrels, Run
from tests._internal.test_notebook import Reader

QRELS = Qrels.from_dict({
    "q1": {"a": 2, "b": 0, "c": 1}, "q2": {"d": 0}, "q3": {"e": 1}, "q4": {"f": 1}
})  # fmt: skip


def texts(page: str) -> list[str]:
    return Reader(page).texts


def test_judgments_are_counted_by_grade() -> None:
    shown = texts(QRELS._repr_html_())
    facts = " · 4 queries · 6 judgments · 1-3 per query, median 1 · "
    assert shown[:2] == ["Judgments", f"{facts}1 query without a relevant document"]
    assert shown[2:10] == ["grade", "judgments", "2", "1", "1", "3", "0", "2"]
    assert shown[14:20] == ["q1", "a", "2", "c", "1", "b"]
    assert shown[-1] == "1 more query: to_frame() has all"
    assert repr(QRELS) == "Qrels(4 queries, 6 judgments)"


def test_a_run_shows_the_first_ranks_of_the_first_queries() -> None:
    run = Run.from_dict({"q1": {"a": 1, "b": 3, "c": 2, "d": 0}, "<i>": {"x": 0.123456789}}, "new")
    shown = texts(run._repr_html_())
    assert shown[:2] == ["Run new", " · 2 queries · 5 documents · 1-4 per query, median 2.5"]
    assert shown[6:] == [
        "q1", "1", "b", "3", "2", "c", "2", "3", "a", "1", "<i>", "1", "x", "0.123457",
    ]  # fmt: skip
    assert repr(run) == "Run('new', 2 queries, 5 documents)"


@pytest.mark.parametrize("table", [Qrels.from_dict({}), Run.from_dict({}), Run({"q": {}})])
def test_empty_tables_are_shown(table: Qrels | Run) -> None:
    assert "0 " in texts(table._repr_html_())[1]


def test_large_tables_stay_small() -> None:
    ids = np.arange(1_000_000, dtype=np.int64).reshape(100_000, 10)
    for table in (Run.from_arrays(ids), Qrels.from_arrays(ids)):
        assert len(table._repr_html_()) < 6_000


def test_a_long_or_strange_id_is_cut_and_escaped() -> None:
    page = Run.from_dict({"q" * 10_000: {"<script>": 1.0}})._repr_html_()
    assert "<script>" not in page
    assert len(page) < 3_000


@pytest.mark.parametrize("library", [None, "polars"])
def test_frames_need_no_pyarrow(library: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run.from_dict({"q": {"a": 1, "b": 2}, "é": {"c": 1}})
    expected = run.to_frame("polars").rows()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    frame = run.to_frame(library)  # type: ignore[arg-type]
    assert type(frame) is (pl.DataFrame if library else pd.DataFrame)
    columns = [list(frame[name]) for name in frame.columns]
    assert list(zip(*columns, strict=True)) == expected
    assert list(QRELS.to_frame(library).columns) == ["query", "document", "grade"]  # type: ignore[arg-type]
