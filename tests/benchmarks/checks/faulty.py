"""A benchmark with every problem that the checks find, as files."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from berryeval.data.records import content_hash

if TYPE_CHECKING:
    from pathlib import Path

GUIDE = """\
# Guide

Read this before you begin.

## Set up

Put the key into the file and start the server on port 8080.

## Questions

### Set up

Ask at the desk.
"""
LONG = (
    "The tea should steep for three minutes in water of eighty degrees, which is well below the "
    "point at which it boils, and must be poured slowly over the leaves in the pot."
)
DOCUMENTS = [
    {"id": "guide", "text": GUIDE},
    {"id": "tea", "text": LONG},
    {"id": "tea-copy", "text": LONG.upper()},
    {"id": "tea-nearly", "text": LONG.replace("pot", "cup")},
    {"id": "blank", "text": " \n", "title": "Blank"},
]
QUERIES = [
    {"id": "q1", "text": "Where does the key go?", "category": "FACTUAL", "difficulty": "easy"},
    {"id": "q2", "text": "put the key into the file and start the server, how?"},
    {"id": "q3", "text": "How long should green tea steep in hot water before it is poured?"},
    {"id": "q4", "text": "How long should green tea steep in hot water before it is poured out?"},
    {"id": "q5", "text": " "},
    {"id": "q6", "text": "Who answers questions?"},
]
JUDGMENTS: list[dict[str, Any]] = [
    {"query_id": "q1", "target": {"document": "guide", "section": ["Guide", "Set up"]}, "grade": 2},
    {"query_id": "q1", "grade": 1, "target": {
        "document": "guide", "section": ["Guide", "Set up"], "document_hash": content_hash(GUIDE)}},
    {"query_id": "q1", "target": {"document": "guide", "section": ["Set up"]}, "grade": 1},
    {"query_id": "q1", "target": {"document": "guide", "section": ["Guide", "Setup"]}, "grade": 1},
    {"query_id": "q2", "target": {"document": "guide"}, "grade": 1},
    {"query_id": "q2", "target": {"document": "guide"}, "grade": 1},
    {"query_id": "q3", "target": {"quote": "eighty degrees"}, "grade": 1},
    {"query_id": "q3", "grade": 1,
     "target": {"document": "tea", "quote": "steep for thre minutes in watter of eighty degrees"}},
    {"query_id": "q4", "target": {"document": "coffee"}, "grade": 1, "group": "g"},
    {"query_id": "q4", "target": {"document": "tea"}, "grade": 99, "group": "g", "need": "all"},
    {"query_id": "q4", "target": "chunk-7", "grade": 0.5},
    {"query_id": "q6", "target": {"document": "guide"}, "grade": -1},
    {"query_id": "q66", "target": {"document": "guide"}, "grade": 1},
    {"query_id": "q1", "grade": 1,
     "target": {"document": "guide", "start": 5, "end": 12, "document_hash": content_hash("old")}},
    {"query_id": "q1", "grade": 1,
     "target": {"document": "guide", "quote": "at the desk", "document_hash": content_hash("old")}},
]  # fmt: skip


def write_faulty(folder: Path) -> Path:
    """Write the files of the benchmark."""
    folder.mkdir(exist_ok=True)
    (folder / "benchmark.json").write_text(json.dumps({"name": "faulty"}))
    for name, records in (
        ("documents", DOCUMENTS), ("queries", QUERIES), ("judgments", JUDGMENTS)
    ):  # fmt: skip
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines)
    return folder
