"""`audit` finds, names and counts everything that makes a score doubtful."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import pytest

from berryeval import Qrels, Run, audit
from berryeval.errors import DataError, MetricError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = """\
q1 0 a 2
q1 0 b 1
q1 0 a 0
q2 0 x 1
q3 0 z 0
q4 0 m 1
q4 0 n one
"""
RUN = """\
q1 Q0 a 1 3.5 bm25
q1 Q0 d 2 2.5 bm25
q1 Q0 b 3 2.5 bm25
q1 Q0 b 4 1.5 bm25
q2 Q0 y 1 1 bm25
q2 Q0 x 2 9 bm25
q2 Q0 w 3 nan bm25

q3 Q0 z 1 1
q3 Q0 z - 1 bm25
q9 Q0 z 1 1 bm25
"""
TEXT = """\
audit of {run}: 4 judged queries, top 2
  faulty lines: 2: qrels line 7: 'q4 0 n one', run line 9: 'q3 Q0 z 1 1'
  repeated documents: 2: qrels line 3: a of q1, run line 4: b of q1
  NaN instead of a number: 1: run line 7: w of q2
  judged queries missing from the run: 1: q4
  queries of the run without judgments: 1: q9
  judged queries without relevant documents: 1: q3
  queries with unjudged documents in the top 2 (40.0% of the top): 2: q1 (1), q2 (1)
  queries whose rank column contradicts the scores: 1: \
q2 x1 (y at rank 1 scores 1, x at rank 2 scores 9)
  ties across rank 2: 1: q1 ranks 2-3 (score 2.5, 1 relevant)
  P@2 0.2500: ties could make it 0.2500 to 0.3750, 0.3125 on average
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Write judgments and a run with every kind of fault."""
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text(QRELS)
    run.write_text(RUN)
    return qrels, run


def test_the_report_as_text(files: tuple[Path, Path]) -> None:
    report = audit(*files, ["P@2"], k=2)
    assert report.text() + "\n" == TEXT.format(run=files[1])
    assert not report.clean


def test_the_report_as_data(files: tuple[Path, Path]) -> None:
    data = json.loads(json.dumps(audit(*files, ["P@2"], k=2).to_dict(), allow_nan=False))
    assert data["clean"] is False
    assert [(fault["kind"], fault["source"], fault["line"]) for fault in data["faults"]] == [
        ("repeated document", "qrels", 3),
        ("faulty line", "qrels", 7),
        ("repeated document", "run", 4),
        ("NaN", "run", 7),
        ("faulty line", "run", 9),
    ]
    assert data["unjudged"] == {"q1": 1, "q2": 1}
    assert data["top"] == 5
    assert data["rank_conflicts"] == [
        {"query": "q2", "count": 1, "upper": ["y", 1, 1.0], "lower": ["x", 2, 9.0]}
    ]
    assert data["tie_effects"] == [
        {
            "query": "q1", "metric": "P@2", "value": 0.5, "worst": 0.5, "best": 1.0,
            "expected": 0.75, "exact": True,
        }
    ]  # fmt: skip


def test_nan_and_empty_rankings_are_reported() -> None:
    report = audit({"q": {"a": 1}, "e": {"b": 1}}, {"q": {"a": math.nan, "b": 1.0}, "e": {}})
    (fault,) = report.faults
    assert (fault.kind, fault.source, fault.query, fault.document) == ("NaN", "run", "q", "a")
    assert report.empty_queries == ("e",)
    assert "queries with an empty ranking: 1: e" in report.text()


def test_tables_are_audited_with_their_lines(files: tuple[Path, Path]) -> None:
    report = audit(Qrels.from_trec(files[0], lenient=True), Run.from_trec(files[1], lenient=True))
    repeated = {(fault.source, fault.line) for fault in report.faults}
    assert repeated <= {("qrels", 3), ("run", 4)}
    assert report.run == "bm25"


def test_a_clean_run_has_nothing_to_report() -> None:
    report = audit({"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}})
    assert report.clean
    assert report.text() == (
        "audit of run: 1 judged query, top 10\n"
        "  nothing to report\n"
        "  nDCG@10 1.0000: ties change nothing"
    )


def test_equal_scores_and_repeated_ranks_are_not_conflicts(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.write_text("q Q0 a 1 2 t\nq Q0 b 2 2 t\nq Q0 c 2 1 t\nq Q0 d last 9 t\n")
    assert not audit({"q": {"a": 1}}, run).rank_conflicts


def test_long_lists_are_truncated() -> None:
    report = audit({f"q{place}": {"a": 1} for place in range(8)}, {})
    assert "missing from the run: 8: q0, q1, q2, q3, q4, and 3 more" in report.text()


def test_invalid_arguments_are_rejected() -> None:
    with pytest.raises(ValueError, match="k must be at least 1, found 0"):
        audit({}, {}, k=0)
    with pytest.raises(MetricError, match="unknown metric"):
        audit({}, {}, ["nonsense"])
    with pytest.raises(DataError, match="must be a number, found str 'high'"):
        audit({"q": {"a": 1}}, {"q": {"a": "high"}})  # type: ignore[dict-item]


def test_grouped_judgments_use_the_highest_grade() -> None:
    qrels = Qrels.from_records([("q", "a", 0, "x"), ("q", "a", 1, "y"), ("q", "b", 1, "x")])
    report = audit(qrels, {"q": {"a": 2.0, "b": 1.0}}, ["P@1"])
    assert report.clean
    assert report.tie_ranges["P@1"].value == 1.0
    with pytest.raises(MetricError, match="is a diversity metric and cannot be audited"):
        audit(qrels, {"q": {"a": 2.0}}, ["StRecall@10"])


def test_infinite_scores_are_text_in_json() -> None:
    run = {"q": {"a": math.inf, "b": math.inf, "c": -math.inf}}
    data = audit({"q": {"a": 1}}, run).to_dict()
    assert json.loads(json.dumps(data, allow_nan=False))["ties"][0]["score"] == "inf"
