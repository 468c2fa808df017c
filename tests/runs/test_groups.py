"""Groups of queries by their properties."""

from __future__ import annotations

from typing import Any

import pytest

from berryeval.data.records import Query
from berryeval.runs.record import get_property, group_queries


@pytest.mark.parametrize(
    ("fields", "name", "expected"),
    [
        ({"category": "a"}, "category", "a"),
        ({"metadata": {"category": "b"}}, "category", "b"),
        ({"category": "a", "metadata": {"category": "b"}}, "category", "a"),
        ({"metadata": {"category": None}}, "category", ""),
        ({"metadata": {"difficulty": 3}}, "difficulty", "3"),
        ({"metadata": {"level": 0}}, "level", "0"),
        ({"metadata": {"text": "other"}}, "text", "other"),
        ({}, "category", ""),
        ({"metadata": {"id": "other"}}, "id", "q"),
    ],
)
def test_empty_field_falls_back_to_the_metadata(
    fields: dict[str, Any], name: str, expected: str
) -> None:
    query = Query("q", "what?", **fields)
    assert get_property(query, name) == expected
    assert group_queries([query], name) == ({"q": expected} if expected else {})
