"""Records and their JSON form."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment, Query, content_hash
from berryeval.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable

    from berryeval._internal.serial import JsonRecord

WORDS = st.text(max_size=8)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(WORDS, inner, max_size=2),
    max_leaves=4,
)
FREE = st.dictionaries(WORDS, JSON_VALUES, max_size=3)
SCOPES = st.dictionaries(
    WORDS, WORDS | st.lists(WORDS, min_size=1, max_size=2, unique=True), max_size=2
)
UNKNOWN = st.dictionaries(st.text("xyz", min_size=5, max_size=8), JSON_VALUES, max_size=2)
SECTIONS = st.lists(WORDS, max_size=3).map(tuple)
SPANS = st.tuples(st.integers(0, 5), st.integers(1, 5)).map(lambda ab: (ab[0], ab[0] + ab[1]))
NAMES = st.text(min_size=1, max_size=8)

ANCHORS = st.one_of(
    st.builds(Anchor, chunk=NAMES, extra=UNKNOWN),
    st.builds(Anchor, document=NAMES, section=SECTIONS, document_hash=WORDS, extra=UNKNOWN),
    st.builds(
        lambda document, span, quote: Anchor(
            document=document, start=span[0], end=span[1], quote=quote
        ),
        NAMES, SPANS, WORDS,
    ),
    st.builds(Anchor, quote=NAMES),
)  # fmt: skip
RECORDS = st.one_of(
    st.builds(Query, WORDS, WORDS, WORDS, WORDS, WORDS, FREE, SCOPES, UNKNOWN),
    st.builds(Document, WORDS, WORDS, WORDS, WORDS, FREE, UNKNOWN),
    st.builds(Chunk, WORDS, WORDS, WORDS, section=SECTIONS, metadata=FREE, extra=UNKNOWN),
    st.builds(Hit, WORDS, st.floats(-1, 1), st.none() | st.integers(1, 9), metadata=FREE),
    ANCHORS,
    st.builds(
        Judgment, WORDS, ANCHORS, st.floats(-1, 3), WORDS, st.sampled_from(["any", "all"]), WORDS
    ),
)


@given(RECORDS)
def test_record_survives_a_json_round_trip(record: JsonRecord) -> None:
    there = json.loads(json.dumps(record.to_json()))
    back = type(record).from_json(there)
    assert back == record
    assert json.loads(json.dumps(back.to_json())) == there
    assert hash(back) == hash(record)


def test_unknown_fields_are_kept() -> None:
    data = {"id": "q1", "text": "why?", "weight": 3, "tags": ["a"]}
    query = Query.from_json(data)
    assert query.extra == {"weight": 3, "tags": ["a"]}
    assert query.to_json() == data


def test_defaults_are_not_written() -> None:
    assert Chunk("c", "d", "text").to_json() == {"id": "c", "doc_id": "d", "text": "text"}


def test_section_may_be_a_string_with_separators() -> None:
    anchor = Anchor.from_json({"document": "d", "section": "Guide > Set up"})
    assert anchor.section == ("Guide", "Set up")


@pytest.mark.parametrize("section", ["Guide > Set up", ["Guide", "Set up"], ("Guide", "Set up")])
def test_section_is_converted_in_python_as_in_json(section: Any) -> None:
    records: list[Anchor | Hit | Chunk] = [
        Anchor(document="d", section=section),
        Hit("h", section=section),
        Chunk("c", "d", "text", section=section),
    ]
    assert [record.section for record in records] == [("Guide", "Set up")] * 3
    assert len({*records}) == 3


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: Anchor(document="d", section=3), "section: expected an array of strings"),  # type: ignore[arg-type]
        (lambda: Hit("h", section=("a", 1)), "section[1]: expected a string, found number 1"),  # type: ignore[arg-type]
        (lambda: Anchor(document="d", start="1", end=3), "start: expected a whole number"),  # type: ignore[arg-type]
        (lambda: Chunk("c", "d", "", 1, 2.5), "end: expected a whole number, found number 2.5"),  # type: ignore[arg-type]
        (lambda: Judgment("q", Anchor(chunk="c"), "1"), "grade: expected a number, found str"),  # type: ignore[arg-type]
        (lambda: Judgment("q", Anchor(chunk="c"), None), "grade: expected a number, found null"),  # type: ignore[arg-type]
    ],
)
def test_invalid_value_in_python_is_an_error(make: Callable[[], object], expected: str) -> None:
    with pytest.raises(DataError) as caught:
        make()
    assert str(caught.value).startswith(expected)


def test_string_target_is_a_chunk_id() -> None:
    judgment = Judgment.from_json({"query_id": "q", "target": "c7", "grade": 1})
    assert judgment.target == Anchor(chunk="c7")


def test_records_are_frozen() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        Query("q", "text").text = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("kind", "data", "expected"),
    [
        (Query, [], "queries[3]: expected an object, found array []"),
        (Query, {"id": "q"}, "queries[3]: has no 'text'; found 'id'"),
        (Query, {"id": 7, "text": ""}, "queries[3].id: expected a string, found number 7"),
        (Query, {"id": "q", "text": None}, "queries[3].text: expected a string, found null"),
        (Query, {"id": "q", "text": "", "metadata": []},
         "queries[3].metadata: expected an object, found array []"),
        (Chunk, {"id": "c", "doc_id": "d", "text": "", "start": True, "end": 2},
         "queries[3].start: expected a whole number, found true"),
        (Chunk, {"id": "c", "doc_id": "d", "text": "", "start": 5, "end": 2},
         "queries[3]: expected a span with 0 <= start < end, found start=5 and end=2"),
        (Chunk, {"id": "c", "doc_id": "d", "text": "", "section": ["a", 1]},
         "queries[3].section[1]: expected a string, found number 1"),
        (Hit, {"id": "c", "start": 5}, "queries[3]: a span needs start and end"),
        (Anchor, {}, "queries[3]: an anchor needs a chunk, a document or a quote"),
        (Anchor, {"quote": "x", "section": "A"},
         "queries[3]: an anchor with a section or a span needs its document"),
        (Anchor, {"document": "d", "start": 0, "end": 3, "unit": "lines"},
         "queries[3]: expected a span with 1 <= start <= end, found start=0 and end=3"),
        (Anchor, {"document": "d", "unit": "words"},
         "queries[3].unit: expected 'characters' or 'lines', found string 'words'"),
        (Anchor, {"document": "d", "section": "A", "start": 0, "end": 3},
         "queries[3]: an anchor has a section or a span, not both"),
        (Anchor, {"chunk": "c", "quote": "x"},
         "queries[3]: an anchor with a chunk has no section, span or quote"),
        (Judgment, {"query_id": "q", "target": {"quote": 1}, "grade": 1},
         "queries[3].target.quote: expected a string, found number 1"),
        (Judgment, {"query_id": "q", "target": "", "grade": 1},
         "queries[3].target: an anchor needs a chunk, a document or a quote"),
        (Judgment, {"query_id": "q", "target": "c", "grade": "high"},
         "queries[3].grade: expected a number, found string 'high'"),
        (Judgment, {"query_id": "q", "target": "c", "grade": float("nan")},
         "queries[3].grade: expected a number, found number nan"),
    ],
)  # fmt: skip
def test_invalid_record_error_has_place_and_value(
    kind: type[JsonRecord], data: Any, expected: str
) -> None:
    with pytest.raises(DataError) as caught:
        kind.from_json(data, "queries[3]")
    assert str(caught.value).startswith(expected)


def test_content_hash_depends_on_the_text() -> None:
    assert Document("d", "abc").content_hash == content_hash("abc")
    assert content_hash("abc").startswith("sha256:ba7816bf")


@pytest.mark.parametrize("name", ["section_path", "sectionPath"])
@pytest.mark.parametrize("path", ["Web > Set up", "Web/Set up", ["Web", "Set up"]])
def test_a_section_path_is_a_section(name: str, path: object) -> None:
    anchor = Anchor.from_json({"document": "guide", name: path})
    assert (anchor.section, anchor.extra) == (("Web", "Set up"), {})
    assert Hit.from_json({"id": "a", name: path}).section == ("Web", "Set up")
    both = Hit.from_json({"id": "a", "section": ["Web"], name: path})
    assert (both.section, both.extra) == (("Web",), {name: path})
