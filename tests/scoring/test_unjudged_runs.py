"""Runs and judgments that do not belong together never look like a result."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval._internal import backend
from berryeval.cli.app import build_app, run
from berryeval.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path

JUDGED = {"q1": {"argparse": 1, "csv": 0}, "q2": {"json": 2}}
WRONG = {"q1": {"argparse.md": 2.0, "csv.md": 1.0}, "q2": {"json.md": 1.0}}


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("as_file", [True, False])
def test_a_run_without_any_judged_document_is_explained(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    *,
    native: bool,
    as_file: bool,
) -> None:
    if not native:
        monkeypatch.setattr(backend, "native", None)
    ranked: Any = WRONG
    if as_file:
        ranked = str(tmp_path / "run.trec")
        be.Run.from_dict(WRONG).to_trec(ranked)
    scores = be.evaluate(JUDGED, ranked, ["RR"])
    (note,) = scores.notes
    assert note == (
        "none of 3 retrieved documents is judged for its query, so the scores say nothing about "
        "the run: 'argparse.md' in the run; the judgments have 'argparse'; the ids have a file "
        "extension"
    )
    assert note in caplog.text
    assert scores.mean["RR"] == 0


def test_one_judged_document_is_enough() -> None:
    assert be.evaluate(JUDGED, {"q1": {"csv": 1.0, "x": 2.0}}, ["RR"]).notes == ()
    assert be.evaluate(JUDGED, {"q1": {}}, ["RR"]).notes == ()


def test_documents_of_other_queries_are_named() -> None:
    (note,) = be.evaluate(JUDGED, {"q1": {"json": 1.0}, "q2": {"csv": 1.0}}, ["RR"]).notes
    assert note.endswith("but they are judged for other queries: do the query ids fit?")


SHARED_NONE = [
    ("q1 0 d1 1\n", "q9 Q0 d1 1 1 t\n", "'q9' in the run; the judgments have 'q1'; is it a run of"),
    ("q1 0 d1 1\n", "d1 Q0 q1 1 1 t\n", "'d1' in the run; the judgments have 'q1'; query and doc"),
    ("d1 0 q1 1\n", "q1 Q0 d1 1 1 t\n", "query and document seem to be swapped in the run or in"),
    ("0 q1 d1 1\n0 q2 d2 1\n", "q1 Q0 d1 1 1 t\n", "the first and second column of the judgments"),
]


@pytest.mark.parametrize(("judged", "ranked", "said"), SHARED_NONE)
@pytest.mark.parametrize("native", [True, False])
def test_a_run_without_any_judged_query_is_explained(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    judged: str,
    ranked: str,
    said: str,
    *,
    native: bool,
) -> None:
    if not native:
        monkeypatch.setattr(backend, "native", None)
    files = [str(tmp_path / "qrels.txt"), str(tmp_path / "run.txt")]
    (tmp_path / "qrels.txt").write_text(judged, encoding="utf-8")
    (tmp_path / "run.txt").write_text(ranked, encoding="utf-8")
    for profile in ("berryeval", "trec_eval"):
        (note,) = be.evaluate(files[0], files[1], ["AP"], profile=profile).notes
        assert note.startswith("no query of the run is judged: ")
        assert said in note
        assert note in caplog.text
        for more in ([], ["--lenient"]):
            asked = ["score", *files, "-m", "AP", "--profile", profile, *more]
            assert run(build_app(), asked) == 2
            shown = capfd.readouterr()
            assert not shown.out
            assert f"error: {files[1]}: {note}" in shown.err


def test_an_empty_run_is_no_mistake_of_ids() -> None:
    assert be.evaluate(JUDGED, {}, ["RR"]).notes == ()
    (note,) = be.evaluate({}, WRONG, ["RR"]).notes
    assert note == "there are no judgments, so nothing is scored"


def test_judgments_that_were_all_dropped_are_an_error() -> None:
    """A lenient reader that drops every judgment leaves nothing to score, as with Spark."""
    pa = pytest.importorskip("pyarrow")
    frame = pa.table({"query_id": ["q1", None], "doc_id": ["a", "b"], "relevance": [None, 1]})
    message = r"no row can be used \(2 rows dropped\), so there is nothing to score"
    with pytest.raises(DataError, match=message):
        be.evaluate(frame, {"q1": {"a": 1.0}}, ["RR"], lenient=True)


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"], ["--trec-format"]])
def test_the_command_prints_the_explanation(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], form: list[str]
) -> None:
    qrels, ranked = tmp_path / "qrels.txt", tmp_path / "run.txt"
    be.Qrels.from_dict(JUDGED).to_trec(qrels)
    be.Run.from_dict(WRONG).to_trec(ranked)
    assert run(build_app(), ["score", str(qrels), str(ranked), "-m", "RR", *form]) == 0
    shown = capfd.readouterr()
    assert "none of 3 retrieved documents is judged" in shown.err
    if form == ["--json"]:
        assert "'argparse.md' in the run" in json.loads(shown.out)["data"]["notes"][0]


@pytest.mark.parametrize(
    "lines",
    [
        "q1 d1 0 1\nq1 d2 0 0\nq2 d3 0 1\n",
        "q1 d1 0 1\nq2 d1 0 1\n",
        "q1 d1 Q0 1\n",
        "1\t101\t0\t1\n1\t102\t0\t1\n",
    ],
)
@pytest.mark.parametrize("native", [True, False])
def test_swapped_columns_are_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lines: str, *, native: bool
) -> None:
    """Every document would be "0"."""
    if not native:
        monkeypatch.setattr(backend, "native", None)
    path = tmp_path / "qrels.txt"
    path.write_text(lines, encoding="utf-8")
    for lenient in (False, True):
        with pytest.raises(DataError, match=r"second and third column seem to be swapped"):
            be.Qrels.load(path, lenient=lenient)


@pytest.mark.parametrize("lines", ["q1 0 0 1\nq2 0 0 1\n", "q1 3 0 1\n", "q1 1 d1 1\nq1 2 d1 0\n"])
def test_a_document_called_0_is_a_document(tmp_path: Path, lines: str) -> None:
    path = tmp_path / "qrels.txt"
    path.write_text(lines, encoding="utf-8")
    assert len(be.Qrels.load(path)) >= 1


def test_swapped_columns_in_a_benchmark_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv").write_text("q1\tone\nq2\ttwo\n", encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("q1 d1 0 1\nq2 d2 0 1\n", encoding="utf-8")
    with pytest.raises(DataError, match="seem to be swapped"):
        be.load_benchmark(tmp_path, format="trec")
