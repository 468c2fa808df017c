"""The record of a run and its JSON form."""

from __future__ import annotations

import json

import pytest

import berryeval as be
from berryeval.errors import DataError
from berryeval.reports.exporters import junit, latex, markdown
from berryeval.reports.html.page import render
from berryeval.reports.sections import Report
from berryeval.runs.record import (
    CURVE,
    STANDARD,
    RunRecord,
    describe_depth,
    find_deeper,
    standard_metrics,
)


@pytest.fixture(scope="module")
def record() -> RunRecord:
    """Run two providers on a bundled benchmark."""
    found = be.run_benchmark("rag-template", ["bm25", "bm25:fixed-400"], ["nDCG@5", "RR"])
    assert found.run is not None
    return found.run


def test_record_survives_json_to_the_bit(record: RunRecord) -> None:
    again = RunRecord.from_json(json.loads(record.dumps()))
    assert again == record
    assert again.dumps() == record.dumps()


def test_the_pieces_of_a_record_are_small(record: RunRecord) -> None:
    pieces = list(record.pieces())
    text = "".join(pieces)
    assert text == json.dumps(record.to_json(), ensure_ascii=False, allow_nan=False)
    assert max(map(len, pieces)) < len(text) / 20


def test_every_run_has_the_standard_metrics(record: RunRecord) -> None:
    one = record["rag-template"]["bm25"]
    assert one.scores is not None
    assert one.standard is not None
    assert one.scores.metrics == ("nDCG@5", "RR")
    assert [one.standard.mean[name] for name in STANDARD] == list(one.standard.mean.values())
    assert one.standard.mean["mrr"] == one.scores.mean["RR"]
    assert len(one.curve) == len(CURVE) == 11
    assert list(one.curve) == sorted(one.curve, reverse=True)


def test_hits_refer_to_shortened_passages(record: RunRecord) -> None:
    part = record["rag-template"]
    assert len(set(part.passages)) == len(part.passages)
    assert max(len(passage.text) for passage in part.passages) <= 400
    hit = part["bm25"].answers[0].hits[0]
    assert hit.passage is not None
    assert part.passages[hit.passage].text


def test_record_of_a_newer_schema_is_an_error(record: RunRecord) -> None:
    data = {**record.to_json(), "schema_version": 99}
    with pytest.raises(DataError, match=r"schema version 1, found 99.*upgrade"):
        RunRecord.from_json(data, "run.json")


def test_invalid_record_is_an_error_with_its_place(record: RunRecord) -> None:
    data = json.loads(record.dumps())
    data["benchmarks"][0]["providers"][1]["answers"][2]["hits"][0]["score"] = "high"
    place = r"benchmarks\[0\].providers\[1\].answers\[2\].hits\[0\].score: expected a number"
    with pytest.raises(DataError, match=place):
        RunRecord.from_json(data)


@pytest.mark.parametrize("value", ["NaN", "1e400", "null", '"0.5"'])
def test_score_that_is_not_a_number_is_an_error(record: RunRecord, value: str) -> None:
    data = json.loads(record.dumps())
    provider = data["benchmarks"][0]["providers"][1]
    query = provider["scores"]["queries"][2]
    provider["scores"]["values"]["RR"][2] = json.loads(value)
    place = rf"benchmarks\[0\].providers\[1\].scores.values: RR of query '{query}': expected a fin"
    with pytest.raises(DataError, match=place):
        RunRecord.from_json(data)
    data = json.loads(record.dumps())
    data["benchmarks"][0]["providers"][0]["curve"][3] = json.loads(value)
    with pytest.raises(
        DataError, match=r"providers\[0\].curve: expected an array of finite numbers"
    ):
        RunRecord.from_json(data)


def test_metrics_deeper_than_the_hits_are_left_out_or_warned_about() -> None:
    found = be.run_benchmark("rag-template", ["bm25"], ["R@20", "nDCG@10"], k=10)
    (one,) = found.providers
    assert one.record.standard is not None
    assert [name for name in one.record.standard.metrics if name.endswith("@20")] == []
    assert "R@10" in one.record.standard.metrics
    assert one.scores is not None
    assert one.scores.metrics == ("R@20", "nDCG@10")
    note = "R@20 needs more than the 10 hits requested: only those count"
    assert found.run is not None
    assert note in found.run.benchmarks[0].notes
    report = Report.of([found.run])
    for text in (
        markdown.render(report),
        latex.render(report),
        junit.render(report),
        render(report),
    ):
        assert "more than the 10 hits requested" in text


def test_twenty_hits_allow_all_standard_metrics(record: RunRecord) -> None:
    assert find_deeper(20, STANDARD) == ()
    assert standard_metrics(20) == STANDARD
    assert find_deeper(10, ["P.5,20", "RR", "P@10"]) == ("P.5,20",)
    assert not describe_depth(20, STANDARD)
    assert not any("deeper" in note for note in record.benchmarks[0]["bm25"].warnings)
