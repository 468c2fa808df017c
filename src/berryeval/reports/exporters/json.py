"""JSON: the whole report in full precision, its JSON Schema, and reading it back.

Running the module prints the schema.
"""

from __future__ import annotations

import dataclasses
import json
import re
import sys
from collections.abc import Mapping
from inspect import cleandoc
from typing import Any, Final, get_args

from berryeval._internal.serial import JsonRecord, array_reader, strip_schema_version, type_mismatch
from berryeval.errors import DataError
from berryeval.gates import About, Status, Verdict
from berryeval.reports.differences import ComparedBenchmark
from berryeval.reports.exports import Exporter, single_file
from berryeval.reports.sections import Report
from berryeval.runs import SCHEMA_VERSION, RunRecord
from berryeval.stats import Comparison, EffectSizes, PairedDifference

REPORT_SCHEMA_VERSION: Final = 1


def to_json(report: Report) -> dict[str, Any]:
    """Return the report as a JSON object."""
    data = {
        "schema_version": REPORT_SCHEMA_VERSION,
        "title": report.title,
        "runs": [run.to_json() for run in report.runs],
        "verdicts": [verdict.to_json() for verdict in report.verdicts],
        "comparisons": [
            {
                "benchmark": section.name,
                "content_hash": section.asked.content_hash,
                "queries_asked": len(section.queries),
                "k": section.asked.k,
                **section.comparison.to_dict(),
            }
            for section in report.sections
            if section.comparison is not None
        ],
    }
    compared = [one.to_json() for one in report.compared]
    return {**data, "compared": compared} if compared else data


def render(report: Report) -> str:
    """Render the report."""
    return json.dumps(to_json(report), ensure_ascii=False, allow_nan=False) + "\n"


JSON: Final = Exporter(
    "the whole report in full precision, with a published schema", (".json",),
    single_file("report.json", render),
)  # fmt: skip


def is_report(data: Any) -> bool:
    """Whether a JSON object is a report rather than the record of one run."""
    return isinstance(data, Mapping) and "runs" in data


def read_runs(data: Any, where: str) -> Report:
    """Read a report, or the record of one run as a report."""
    if is_report(data):
        return read_report(data, where)
    return Report.of([RunRecord.from_json(data, where)])


def read_report(data: Any, where: str) -> Report:
    """Read a report that `render` wrote."""
    data = strip_schema_version(data, where, "a report", REPORT_SCHEMA_VERSION)
    runs = array_reader(RunRecord)(data.get("runs"), f"{where}: runs")
    verdicts = array_reader(Verdict)(data.get("verdicts", []), f"{where}: verdicts")
    compared = array_reader(ComparedBenchmark)(data.get("compared", []), f"{where}: compared")
    title = data.get("title", "")
    if not isinstance(title, str):
        place = f"{where}: title"
        raise type_mismatch(place, "a string", title)
    if not runs:
        raise DataError(f"{where}: the report contains no run")
    return Report.of(runs, title=title, verdicts=verdicts, compared=compared)


# The JSON Schema, generated from the records and their docstrings.

SCHEMA_FILE: Final = "report.schema.json"
_TEXTS: Final = {"type": "array", "items": {"type": "string"}}
_NUMBERS: Final = {"type": "array", "items": {"type": "number"}}
_KINDS: Final[dict[str, dict[str, Any]]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "Mapping[str, Any]": {"type": "object"},
    "Mapping[str, float]": {"type": "object", "additionalProperties": {"type": "number"}},
    "Mapping[str, int]": {"type": "object", "additionalProperties": {"type": "integer"}},
    "Scope": {
        "type": "object",
        "additionalProperties": {"anyOf": [{"type": "string"}, _TEXTS]},
    },
    "tuple[str, ...]": _TEXTS,
    "tuple[float, ...]": _NUMBERS,
    "Status": {"enum": list(get_args(Status))},
    "About": {"enum": list(get_args(About))},
    "Scores": {"$ref": "#/$defs/Scores"},
    "Magnitude": {"type": "string"},
    "Interval": {**_NUMBERS, "minItems": 2, "maxItems": 2},
    "tuple[tuple[str, float], ...]": {
        "type": "array",
        "items": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}]},
    },
    "Mapping[str, Comparison]": {
        "type": "object",
        "additionalProperties": {"$ref": "#/$defs/Comparison"},
    },
}
_DERIVED: Final[dict[str, dict[str, Any]]] = {
    "significant": {"type": "boolean", "description": "Whether the test is significant."},
    "mixed": {
        "type": "boolean",
        "description": "Whether the test and the difference disagree in direction.",
    },
    "better": {"type": "boolean", "description": "Whether the system is significantly better."},
    "worse": {"type": "boolean", "description": "Whether the system is significantly worse."},
    "needed": {
        "anyOf": [{"type": "integer"}, {"type": "null"}],
        "description": "Queries needed to detect a difference of this size with 80 % power.",
    },
    "sentence": {"type": "string", "description": "The finding in a sentence."},
}
_COMPARED: Final = (Comparison, PairedDifference, EffectSizes)
_ARRAY: Final = re.compile(r"(?:tuple\[(\w+), \.\.\.|Sequence\[(\w+))\]")
_ATTRIBUTE: Final = re.compile(r"^    (\w+): (.+(?:\n {8}.+)*)", re.MULTILINE)
_SCORES: Final[dict[str, Any]] = {
    "description": "Values of the metrics for every query, in full precision.",
    "type": "object",
    "properties": {
        "run": {"type": "string"},
        "metrics": _TEXTS,
        "aggregates": _TEXTS,
        "queries": _TEXTS,
        "outcomes": _TEXTS,
        "counts": {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}},
        "values": {
            "description": "Values by metric, in the order of the queries.",
            "type": "object",
            "additionalProperties": _NUMBERS,
        },
        "spellings": {"type": "object", "additionalProperties": {"type": "string"}},
        "extra_queries": _TEXTS,
        "left_out_queries": _TEXTS,
        "dropped_rows": {"type": "integer"},
        "strategies": _TEXTS,
        "token_threshold": {"type": "number"},
        "pack": {"type": "string"},
        "notes": _TEXTS,
    },
}


def report_schema() -> dict[str, Any]:
    """Build the JSON Schema of exported reports."""
    roots = (RunRecord, Verdict, Comparison, ComparedBenchmark)
    definitions = {kind.__name__: _record_schema(kind) for kind in _reachable(*roots)}
    definitions["PairedDifference"]["properties"].update(_DERIVED)
    run = definitions[RunRecord.__name__]
    run["properties"] = {"schema_version": {"const": SCHEMA_VERSION}, **run["properties"]}
    run["required"] = ["schema_version", *run["required"]]
    optional = {"strategies", "token_threshold", "pack", "notes"}  # added after the first version
    needed = [name for name in _SCORES["properties"] if name not in optional]
    definitions["Scores"] = {**_SCORES, "required": needed}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "BerryEval report",
        "description": "One or more runs, as `berryeval report --format json` writes them.",
        "type": "object",
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "title": {"type": "string"},
            "runs": {"type": "array", "minItems": 1, "items": _reference("RunRecord")},
            "verdicts": {"type": "array", "items": _reference("Verdict")},
            "comparisons": {
                "description": "Every pair of systems of a benchmark.",
                "type": "array",
                "items": {**_reference("Comparison"), "required": ["benchmark", "content_hash"]},
            },
            "compared": {
                "description": "Comparisons requested with `berryeval compare`.",
                "type": "array",
                "items": _reference("ComparedBenchmark"),
            },
        },
        "required": ["schema_version", "title", "runs", "verdicts", "comparisons"],
        "$defs": definitions,
    }


def _reachable(*roots: type[Any]) -> list[type[Any]]:
    """Return these records and all records they contain, in order of first appearance."""
    known = {kind.__name__: kind for kind in (*_subclasses(JsonRecord), *_COMPARED)}
    found = list(roots)
    for kind in found:  # it grows during the loop
        for field in _fields(kind):
            for name in re.findall(r"\w+", str(field.type)):
                if name in known and known[name] not in found:
                    found.append(known[name])
    return found


def _subclasses(kind: type[JsonRecord]) -> list[type[JsonRecord]]:
    direct = kind.__subclasses__()
    return [*direct, *(deeper for one in direct for deeper in _subclasses(one))]


def _fields(kind: type[Any]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(kind) if field.name != "extra"]


def _record_schema(kind: type[Any]) -> dict[str, Any]:
    """Build the schema of a record; other properties are allowed, as reading keeps them."""
    text = cleandoc(kind.__doc__ or "")
    about = dict(_ATTRIBUTE.findall(text))
    fields = _fields(kind)
    missing = dataclasses.MISSING
    return {
        "description": text.partition("\n\n")[0],
        "type": "object",
        "properties": {
            field.name: {
                **_type_schema(str(field.type)),
                **_description(about.get(field.name, "")),
            }
            for field in fields
        },
        "required": [
            field.name
            for field in fields
            if field.default is missing and field.default_factory is missing
        ],
    }


def _description(text: str) -> dict[str, str]:
    return {"description": " ".join(text.split())} if text else {}


def _type_schema(kind: str) -> dict[str, Any]:
    if kind.endswith(" | None"):
        return {"anyOf": [_type_schema(kind.removesuffix(" | None")), {"type": "null"}]}
    if kind in _KINDS:
        return dict(_KINDS[kind])
    array = _ARRAY.fullmatch(kind)
    return (
        {"type": "array", "items": _reference(array[1] or array[2])} if array else _reference(kind)
    )


def _reference(name: str) -> dict[str, str]:
    return {"$ref": f"#/$defs/{name}"}


def format_schema() -> str:
    """Format the schema as the published file."""
    return json.dumps(report_schema(), indent=2) + "\n"


if __name__ == "__main__":
    sys.stdout.write(format_schema())
