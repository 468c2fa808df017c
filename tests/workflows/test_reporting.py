"""`write_report`: results, records and reports in any format, from Python."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.reports.sections import Report
from berryeval.runs import STANDARD
from tests.reports.world import hard_report, hard_run, plain_run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def result() -> be.BenchmarkResult:
    """Return a result of two queries."""
    return be.run_benchmark("rag-template", ["bm25"], ["RR"], limit=2)


def test_results_records_reports_and_files_can_be_reported(
    tmp_path: Path, result: be.BenchmarkResult
) -> None:
    """Each run counts once."""
    (first,) = be.write_report(result, tmp_path / "first.json")
    assert result.run is not None
    sources: list[Any] = [result, first, str(first), result.run, Report.of([result.run])]
    for source in sources:
        (again,) = be.write_report(source, tmp_path / "again.json")
        assert again.read_bytes() == first.read_bytes()
    (both,) = be.write_report([*sources, plain_run()], tmp_path / "both.json")
    assert len(json.loads(both.read_text(encoding="utf-8"))["runs"]) == 2


def test_a_report_keeps_its_title_and_verdicts(tmp_path: Path) -> None:
    (path,) = be.write_report(hard_report(), tmp_path / "a.md")
    assert path.read_text(encoding="utf-8").startswith("## Drinks")
    assert "inconclusive" in path.read_text(encoding="utf-8")
    (path,) = be.write_report(hard_report(), tmp_path / "a.md", title="Else")
    assert path.read_text(encoding="utf-8").startswith("## Else\n")


def test_a_folder_needs_a_format(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="no ending, expected one of"):
        be.write_report(plain_run(), tmp_path)
    assert be.write_report(plain_run(), tmp_path, "latex") == [tmp_path / "report.tex"]
    assert be.write_report(plain_run(), tmp_path, "latex", label="a b") == [tmp_path / "a-b.tex"]


def test_a_packed_suffix_compresses(tmp_path: Path) -> None:
    import gzip

    paths = be.write_report(plain_run(), tmp_path / "v1.2.csv.gz")
    assert [path.name for path in paths] == ["v1.2-aggregate.csv.gz", "v1.2-detailed.csv.gz"]
    assert gzip.decompress(paths[0].read_bytes()).startswith(b"query_type,count,")


def test_files_of_several_systems_have_their_names(tmp_path: Path) -> None:
    paths = be.write_report(hard_run(), tmp_path / "out.trec")
    assert [path.name for path in paths] == [
        "out-drinks-bm25.trec",
        "out-drinks-our-search_v2-b.trec",
    ]


@pytest.mark.parametrize("source", [[], 5, [5], "no such run"])
def test_anything_but_runs_is_rejected(tmp_path: Path, source: Any) -> None:
    with pytest.raises(BerryEvalError, match=r"expected|no run"):
        be.write_report(source, tmp_path / "x.md")
    assert not list(tmp_path.iterdir())


def test_scores_alone_are_a_report(tmp_path: Path) -> None:
    scores = be.evaluate({"q": {"a": 1}}, {"q": {"b": 2.0, "a": 1.0}}, ["RR", "P@5"])
    (page,) = be.write_report(scores, tmp_path / "quality.md")
    text = page.read_text(encoding="utf-8")
    assert "## Retrieval quality: scores" in text
    assert "0.500" in text
    for name in ("quality.html", "quality.json", "quality.tex"):
        assert be.write_report(scores, tmp_path / name)[0].exists()
    with pytest.raises(DataError, match="not the standard metrics"):
        be.write_report(scores, tmp_path / "quality.csv")
    standard = be.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, list(STANDARD))
    aggregate, _ = be.write_report(standard, tmp_path / "quality.csv")
    assert aggregate.read_text().splitlines()[-1].startswith("GLOBAL,1,1.0000")
