"""Tables from dicts, on the backend in use; both must say the same."""

from __future__ import annotations

from collections import Counter, OrderedDict, UserDict, defaultdict
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data import table as tables
from berryeval.data.qrels import Qrels
from berryeval.data.run import Run
from berryeval.data.table import Kind, QueryTable, StringColumn
from berryeval.errors import DataError
from tests.data.rows import bits, ids, rows, same_tables, scores


def reference(table: Any, kind: Kind = "run") -> QueryTable:
    """What the reference makes of a dict."""
    queries, offsets, documents, values = tables._convert_dict(table, kind)
    return QueryTable(StringColumn(*queries), offsets, StringColumn(*documents), values)


@given(rows(ids, scores | st.integers(-(2**70), 2**70), least=0))
def test_a_dict_goes_in_and_comes_out(table: dict[str, dict[str, float]]) -> None:
    """The same to the bit, whole numbers as floats, and the same as by the reference."""
    found = QueryTable.from_dict(table, kind="run")
    as_floats = {query: {d: float(v) for d, v in row.items()} for query, row in table.items()}
    assert bits(found.to_dict()) == bits(as_floats)
    assert same_tables(found, reference(table))


class Doubling(dict[str, float]):
    """A dict whose items are not what is stored in it."""

    def items(self) -> Any:
        """Every number doubled."""
        return {key: 2 * value for key, value in super().items()}.items()


@pytest.mark.parametrize(
    "make", [dict, OrderedDict, UserDict, MappingProxyType, Counter, lambda d: defaultdict(dict, d)]
)
def test_any_mapping_will_do(make: Any) -> None:
    """Inside as well as outside."""
    found = QueryTable.from_dict(make({"q": make({"d": 1, "e": 2}), "p": make({})}), kind="qrels")
    assert found.to_dict() == {"q": {"d": 1.0, "e": 2.0}, "p": {}}


def test_a_subclass_gives_its_own_items() -> None:
    """What it stores is its own business."""
    assert QueryTable.from_dict({"q": Doubling({"d": 1})}, kind="run").to_dict() == {"q": {"d": 2}}
    moved = OrderedDict([("a", 1.0), ("b", 2.0)])
    moved.move_to_end("a")
    assert list(QueryTable.from_dict({"q": moved}, kind="run").documents) == ["b", "a"]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.uint64])
def test_numbers_of_numpy_are_numbers(kind: Any) -> None:
    """With the value that they have."""
    assert QueryTable.from_dict({"q": {"d": kind(3)}}, kind="run").to_dict() == {"q": {"d": 3.0}}


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "expected {query: {document: grade}}, found list []"),
        ({1: {}}, "a query id must be a str, found int 1"),
        ({"q": {1: 1}}, "a document id must be a str, found int 1"),
        ({"q": {b"d": 1}}, "a document id must be a str, found bytes b'd'"),
        ({"q": ["d"]}, "query 'q' must map documents to grades, found list ['d']"),
        (
            {"q": {"d": "1"}},
            "the grade of document 'd' for query 'q' must be a number, found str '1'",
        ),
        (
            {"q": {"d": True}},
            "the grade of document 'd' for query 'q' must be a number, found bool True",
        ),
        (
            {"q": {"d": None}},
            "the grade of document 'd' for query 'q' must be a number, found NoneType None",
        ),
        ({"q": {"d": float("nan")}}, "the grade of document 'd' for query 'q' must not be NaN"),
        (
            {"q": {"d": np.float32("nan")}},
            "the grade of document 'd' for query 'q' must not be NaN",
        ),
        (
            {"q": {"d": float("-inf")}},
            "the grade of document 'd' for query 'q' must be finite, found -inf",
        ),
        (
            {"q": {"d": 10**400}},
            "the grade of document 'd' for query 'q' is too large for a number",
        ),
        ({"\ud800": {}}, "a query id must be valid Unicode text, found '\\ud800'"),
        ({"q": {"d": 1, "\udfff": 1}}, "a document id must be valid Unicode text, found '\\udfff'"),
    ],
)
def test_a_bad_dict_is_refused(table: Any, message: str) -> None:
    """In the same words on both backends."""
    with pytest.raises(DataError) as caught:
        Qrels.from_dict(table)
    assert str(caught.value) == message


def test_an_infinite_score_is_a_score() -> None:
    """It ranks first or last."""
    run = Run.from_dict({"q": {"d": float("inf"), "e": float("-inf")}})
    assert run.to_dict() == {"q": {"d": float("inf"), "e": float("-inf")}}


def test_tables_do_not_change() -> None:
    """Their columns cannot be written to."""
    table = QueryTable.from_dict({"q": {"d": 1}}, kind="run")
    for column in (table.values, table.offsets, table.documents.data, table.queries.offsets):
        assert not column.flags.writeable


@given(st.lists(ids, max_size=8), st.data())
def test_strings_can_be_taken_from_a_column(strings: list[str], data: st.DataObject) -> None:
    """In any order, any number of times."""
    column = StringColumn.from_strings(strings)
    assert list(column) == strings
    assert len(column) == len(strings)
    places = data.draw(st.lists(st.integers(0, len(strings) - 1))) if strings else []
    for wanted in (places, np.array(places, dtype=np.int64)):
        assert list(column.take(wanted)) == [strings[place] for place in places]


def test_short_names_of_what_there_is() -> None:
    """A run and judgments say how large they are, and what they are called."""
    run = Run.from_dict({"q": {"d": 1, "e": 2}}, "mine")
    assert repr(run) == "Run('mine', 1 queries, 2 documents)"
    assert repr(Qrels.from_dict({"q": {"d": 1}})) == "Qrels(1 queries, 1 judgments)"
    assert Run.load(run) is run
    assert run.named("other").name == "other"


@pytest.mark.parametrize("size", [1, 2, 5])
def test_joined_tables_are_the_table_of_all(size: int) -> None:
    """However the queries are shared out; of none, an empty table."""
    rows = {f"q{n}": {f"d{m}ä": float(m) for m in range(n)} for n in range(5)}
    parts = [dict(list(rows.items())[at : at + size]) for at in range(0, 5, size)]
    joined = QueryTable.joined([QueryTable.from_dict(part, kind="run") for part in parts])
    assert joined.to_dict() == rows
    assert list(joined.to_dict()) == list(rows)
    assert QueryTable.joined([]).to_dict() == {}
