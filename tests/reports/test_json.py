"""JSON export: schema, precision and reading back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from berryeval.errors import DataError
from berryeval.reports.exporters.json import format_schema, read_report, render, report_schema
from berryeval.scoring.scores import Scores
from tests.reports.world import hard_report, hard_run, provider

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def data() -> dict[str, Any]:
    """Return the hard report as JSON."""
    found: dict[str, Any] = json.loads(render(hard_report()))
    return found


def valid(data: Any) -> bool:
    """Whether the schema accepts the data."""
    validator = jsonschema.Draft202012Validator(report_schema())
    return bool(validator.is_valid(data))


def test_the_published_schema_is_up_to_date() -> None:
    """docs/report.schema.json is what `make docs` writes."""
    assert (DOCS / "report.schema.json").read_text(encoding="utf-8") == format_schema()
    jsonschema.Draft202012Validator.check_schema(report_schema())


def test_an_exported_report_is_valid(data: dict[str, Any]) -> None:
    assert valid(data)
    assert data["comparisons"][0]["systems"] == ["bm25", "our|search_v2 <b>"]
    assert [one["status"] for one in data["verdicts"]] == ["pass", "fail", "inconclusive"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema_version",), 2),
        (("runs",), []),
        (("runs", 0, "created"), 5),
        (("runs", 0, "benchmarks", 0, "providers", 0, "answers", 0, "hits", 0, "score"), "high"),
        (("runs", 0, "benchmarks", 0, "providers", 0, "scores", "values"), [1]),
        (("runs", 0, "benchmarks", 0, "queries", 0), {"text": "no id"}),
        (("verdicts", 0, "status"), "perhaps"),
        (("comparisons", 0, "rows", 0, "interval"), [1]),
    ],
)
def test_a_wrong_value_at_any_depth_is_invalid(
    data: dict[str, Any], path: tuple[str | int, ...], value: Any
) -> None:
    place: Any = data
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    assert not valid(data)


def test_the_schema_lists_every_property_of_scores() -> None:
    scores = provider("bm25").scores
    assert scores is not None
    assert list(report_schema()["$defs"]["Scores"]["properties"]) == list(scores.to_dict())


def test_a_report_survives_a_round_trip(data: dict[str, Any]) -> None:
    """Numbers to the last bit; written again it is the same text."""
    again = read_report(data, "report.json")
    assert again.runs == (hard_run(),)
    assert again.verdicts == hard_report().verdicts
    assert render(again) == render(hard_report())
    standard = again.runs[0].benchmarks[0].providers[0].standard
    expected = provider("bm25").standard
    assert isinstance(standard, Scores)
    assert expected is not None
    assert standard.values.tobytes() == expected.values.tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"schema_version": 9},
            r"x.json: expected a report of schema version 1, found 9; .*upgrade",
        ),
        ({"runs": []}, "x.json: the report contains no run"),
        ({"runs": 5}, "x.json: runs: expected an array, found number 5"),
        ({"runs": [{"schema_version": 1}]}, r"x.json: runs\[0\]: has no 'id'"),
        ({"title": 5}, "x.json: title: expected a string"),
        ({"verdicts": [{"status": "so", "rule": "", "sentence": ""}]}, r"verdicts\[0\].status"),
    ],
)
def test_a_faulty_file_is_rejected_with_the_place_of_the_fault(
    data: dict[str, Any], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_report(data | change, "x.json")
