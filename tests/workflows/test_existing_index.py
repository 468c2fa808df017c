"""Runs over indexes that exist: the record says so, and mistakes do not look like results."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.benchmarks import load_benchmark
from berryeval.chunkers import parse_chunker
from berryeval.errors import ConfigurationError
from tests.providers import foreign

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The sections of technical-docs in a database of SQLite that this project did not create."""
    documents = load_benchmark("technical-docs").documents
    chunks = [chunk for one in documents for chunk in parse_chunker("section").chunk(one)]
    return foreign.sqlite(tmp_path_factory.mktemp("notes"), foreign.rows(chunks))


def spec(notes: dict[str, Any], name: str = "mine", **changes: Any) -> dict[str, Any]:
    options = {**notes, "existing": notes["existing"] | changes}
    return {"type": "sqlite", "name": name, "options": options}


def test_an_index_with_the_same_rows_gets_the_same_scores(notes: dict[str, Any]) -> None:
    result = be.run_benchmark("technical-docs", ["sqlite", spec(notes)], ["nDCG@10"], limit=20)
    own, mine = (one.record for one in result.providers)
    assert own.scores is not None
    assert mine.scores is not None
    assert mine.scores.per_query("nDCG@10") == own.scores.per_query("nDCG@10")
    assert (dict(own.existing), dict(mine.existing)) == ({}, {"sqlite:notes": 217})
    assert not any("id" in warning for warning in mine.warnings)


def test_anchored_judgments_match_by_document_and_section(notes: dict[str, Any]) -> None:
    """Also if the ids of the rows are those of another system, and the benchmark has no texts."""
    numbered = spec(notes, id="number", metadata=[])
    whole = load_benchmark("technical-docs")
    result = be.run_benchmark(whole, [spec(notes, "same"), numbered], ["nDCG@10"], limit=20)
    same, mine = (one.record.scores for one in result.providers)
    assert same is not None
    assert mine is not None
    assert mine.mean["nDCG@10"] == pytest.approx(same.mean["nDCG@10"], abs=0.05)
    assert mine.mean["nDCG@10"] > 0.3


def test_a_benchmark_without_documents_can_be_asked(notes: dict[str, Any]) -> None:
    without = replace(load_benchmark("technical-docs"), documents=())
    result = be.run_benchmark(without, [spec(notes)], ["nDCG@10"], limit=5)
    assert result["mine"].record.scores is not None
    with pytest.raises(be.errors.DataError, match="so sqlite would search nothing"):
        be.run_benchmark(without, ["sqlite"], ["nDCG@10"], limit=5)


def test_ids_that_the_benchmark_does_not_have_are_a_failure(notes: dict[str, Any]) -> None:
    wrong = spec(notes, id="number", document="number", section="", text="", metadata=[])
    result = be.run_benchmark("technical-docs", [spec(notes), wrong | {"name": "wrong"}], limit=5)
    record = result["wrong"].record
    assert record.scores is None
    assert "ids" in record.failure
    assert record.unknown_ids["count"] > 0
    assert dict(record.existing) == {"sqlite:notes": 217}


def test_the_record_keeps_what_was_searched(notes: dict[str, Any], tmp_path: Path) -> None:
    """Also if a later call finds all answers in the folder."""
    for _ in range(2):
        result = be.run_benchmark(
            "technical-docs", [spec(notes)], ["RR"], limit=3, folder=tmp_path / "run"
        )
        assert dict(result["mine"].record.existing) == {"sqlite:notes": 217}
    written = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))
    assert written["benchmarks"][0]["providers"][0]["existing"] == {"sqlite:notes": 217}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"chunker": "fixed-400"}, "mine: a chunker splits the documents for a temporary index"),
        ({"table": "note"}, "there is no table 'note'; did you mean 'notes'"),
        ({"where": "lang = 'xx'"}, "no row of the table 'notes' passes the condition where"),
    ],
)
def test_a_wrong_set_up_ends_the_run(
    notes: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    chunker = change.get("chunker", "")
    wrong = spec(notes, **({} if chunker else change)) | {"chunker": chunker}
    with pytest.raises(ConfigurationError, match=message):
        be.run_benchmark("technical-docs", [wrong], limit=3)


def test_a_hybrid_of_existing_indexes_needs_no_documents(notes: dict[str, Any]) -> None:
    parts = [
        {"type": "sqlite", "options": {**notes, "mode": mode}} for mode in ("text", "vector")
    ]  # fmt: skip
    both = {"type": "hybrid", "name": "both", "options": {"providers": parts}}
    without = replace(load_benchmark("technical-docs"), documents=())
    result = be.run_benchmark(without, [both], ["RR"], limit=3)
    assert dict(result["both"].record.existing) == {"sqlite:notes": 217}
