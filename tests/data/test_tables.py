"""Tables from dicts, on both backends."""

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
from berryeval.data.run import RankingRule, Run
from berryeval.data.table import Kind, QueryTable, StringColumn
from berryeval.errors import ConfigurationError, DataError
from berryeval.scoring.engine import evaluate
from tests.data.rows import bits, ids, rows, same_tables, scores


def reference(table: Any, kind: Kind = "run") -> QueryTable:
    """Convert a dict with the Python implementation."""
    queries, offsets, documents, values = tables._convert_dict(table, kind)
    return QueryTable(StringColumn(*queries), offsets, StringColumn(*documents), values)


@given(rows(ids, scores | st.integers(-(2**70), 2**70), least=0))
def test_dict_survives_a_round_trip(table: dict[str, dict[str, float]]) -> None:
    found = QueryTable.from_dict(table, kind="run")
    as_floats = {query: {d: float(v) for d, v in row.items()} for query, row in table.items()}
    assert bits(found.to_dict()) == bits(as_floats)
    assert same_tables(found, reference(table))


class Doubling(dict[str, float]):
    """A dict whose items differ from its stored values."""

    def items(self) -> Any:
        """Return the items with every number doubled."""
        return {key: 2 * value for key, value in super().items()}.items()


@pytest.mark.parametrize(
    "make", [dict, OrderedDict, UserDict, MappingProxyType, Counter, lambda d: defaultdict(dict, d)]
)
def test_any_mapping_is_accepted(make: Any) -> None:
    found = QueryTable.from_dict(make({"q": make({"d": 1, "e": 2}), "p": make({})}), kind="qrels")
    assert found.to_dict() == {"q": {"d": 1.0, "e": 2.0}, "p": {}}


def test_items_of_a_dict_subclass_are_used() -> None:
    assert QueryTable.from_dict({"q": Doubling({"d": 1})}, kind="run").to_dict() == {"q": {"d": 2}}
    moved = OrderedDict([("a", 1.0), ("b", 2.0)])
    moved.move_to_end("a")
    assert list(QueryTable.from_dict({"q": moved}, kind="run").documents) == ["b", "a"]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int8, np.uint64])
def test_numpy_scalars_are_accepted(kind: Any) -> None:
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
def test_invalid_dict_is_an_error(table: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        Qrels.from_dict(table)
    assert str(caught.value) == message


def test_infinite_scores_are_accepted() -> None:
    run = Run.from_dict({"q": {"d": float("inf"), "e": float("-inf")}})
    assert run.to_dict() == {"q": {"d": float("inf"), "e": float("-inf")}}


def test_tables_are_read_only() -> None:
    table = QueryTable.from_dict({"q": {"d": 1}}, kind="run")
    for column in (table.values, table.offsets, table.documents.data, table.queries.offsets):
        assert not column.flags.writeable


@given(st.lists(ids, max_size=8), st.data())
def test_column_take_returns_strings_in_any_order(strings: list[str], data: st.DataObject) -> None:
    column = StringColumn.from_strings(strings)
    assert list(column) == strings
    assert len(column) == len(strings)
    places = data.draw(st.lists(st.integers(0, len(strings) - 1))) if strings else []
    for wanted in (places, np.array(places, dtype=np.int64)):
        assert list(column.take(wanted)) == [strings[place] for place in places]


def test_repr_has_name_and_sizes() -> None:
    run = Run.from_dict({"q": {"d": 1, "e": 2}}, "mine")
    assert repr(run) == "Run('mine', 1 query, 2 documents)"
    assert repr(Qrels.from_dict({"q": {"d": 1}})) == "Qrels(1 query, 1 judgment)"
    assert Run.load(run) is run
    assert run.named("other").name == "other"


@pytest.mark.parametrize("size", [1, 2, 5])
def test_joined_tables_equal_the_whole_table(size: int) -> None:
    rows = {f"q{n}": {f"d{m}ä": float(m) for m in range(n)} for n in range(5)}
    parts = [dict(list(rows.items())[at : at + size]) for at in range(0, 5, size)]
    joined = QueryTable.joined([QueryTable.from_dict(part, kind="run") for part in parts])
    assert joined.to_dict() == rows
    assert list(joined.to_dict()) == list(rows)
    assert QueryTable.joined([]).to_dict() == {}


@pytest.mark.parametrize("kind", [Qrels, Run])
def test_the_constructor_takes_a_dict_and_refuses_the_rest(kind: Any) -> None:
    """A value that could be built is also one that can be shown, counted and scored."""
    built = kind({"q1": {"d1": 2, "d2": 1}})
    assert built.to_dict() == {"q1": {"d1": 2.0, "d2": 1.0}}
    assert "1 queries" in repr(built) or "1 query" in repr(built)
    assert len(built) == 1
    scores = evaluate(Qrels({"q1": {"d1": 1}}), Run({"q1": {"d1": 1}}), ["RR"])
    assert scores.mean["RR"] == 1.0
    for other in (None, [("q1", "d1", 1)], "qrels.txt", {"q1": ["d1"]}):
        with pytest.raises(DataError, match=r"found|must map"):
            kind(other)


def test_a_depth_is_a_number() -> None:
    for depth in (True, 0, -1, 2.0, "3"):
        with pytest.raises(ConfigurationError, match="depth must be an integer from 1 up"):
            RankingRule(depth=depth)  # type: ignore[arg-type]
