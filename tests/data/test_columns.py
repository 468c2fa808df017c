"""Tables from columns and from arrays of ids."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data import columns
from berryeval.data.qrels import Qrels
from berryeval.data.run import Run
from berryeval.data.table import StringColumn
from berryeval.errors import DataError
from berryeval.scoring.engine import evaluate


def test_columns_in_any_order_become_a_table() -> None:
    expected = {"1": {"10": 0.5, "11": 0.25}, "2": {"10": 1.0}}
    for queries in (
        ["1", "2", "1"],
        [1, 2, 1],
        np.array([1, 2, 1], np.int32),
        np.array(["1", "2", "1"]),
    ):
        for documents in ([10, 10, 11], np.array([10, 10, 11], np.uint64)):
            assert Run.from_columns(queries, documents, [0.5, 1, 0.25]).to_dict() == expected


@pytest.mark.parametrize(
    ("given_columns", "message"),
    [
        (
            (["q"], ["d"], [1, 2]),
            "found 1 query, 1 document and 2 numbers; expected equal lengths",
        ),
        (
            (["q", 1.5], ["d", "e"], [1, 2]),
            "row 1: a query id must be a str or a whole number, found float 1.5",
        ),
        (
            (["q"], [True], [1]),
            "row 0: a document id must be a str or a whole number, found bool True",
        ),
        ((["q"], ["d"], ["1"]), "a grade must be a number, found an array of <U1"),
        ((["q"], ["d"], [float("nan")]), "row 0: the grade must not be NaN"),
        ((["q", "q"], ["d", "d"], [1, 2]), "row 1: document 'd' appears twice in query 'q'"),
        ((["\ud800"], ["d"], [1]), "a query id must be valid Unicode text, found '\\ud800'"),
    ],
)
def test_invalid_columns_are_an_error(given_columns: Any, message: str) -> None:
    with pytest.raises(DataError) as caught:
        Qrels.from_columns(*given_columns)
    assert str(caught.value) == message


def test_arrays_of_ids_become_a_table() -> None:
    ids = np.array([[5, 3, -1], [-1, 7, -1], [-1, -1, -1]], dtype=np.int32)
    assert Run.from_arrays(ids).to_dict() == {"0": {"5": 3.0, "3": 2.0}, "1": {"7": 2.0}}
    values = np.array([[0.5, 1.5, 9], [9, 2.5, 9], [9, 9, 9]], dtype=np.float32)
    run = Run.from_arrays(ids, values, queries=["a", "b", "c"])
    assert run.to_dict() == {"a": {"5": 0.5, "3": 1.5}, "b": {"7": 2.5}}
    assert Qrels.load(ids).to_dict() == {"0": {"5": 1.0, "3": 1.0}, "1": {"7": 1.0}}
    relevant = np.array([[3], [9], [1]])
    assert evaluate(relevant, ids, ["P@1", "P@2"]).per_query("P@2") == {
        "0": 0.5,
        "1": 0.0,
        "2": 0.0,
    }


@pytest.mark.parametrize(
    ("ids", "options", "message"),
    [
        ([[1]], {}, "document ids must be a 2-D NumPy array of whole numbers, found list"),
        (
            np.array([1]),
            {},
            "document ids must be a 2-D NumPy array of whole numbers, found int64 (1,)",
        ),
        (
            np.array([[1.0]]),
            {},
            "document ids must be a 2-D NumPy array of whole numbers, found float64 (1, 1)",
        ),
        (
            np.array([[1]]),
            {"values": np.array([1.0])},
            "a score per id is needed: found (1,) for (1, 1)",
        ),
        (np.array([[1]]), {"queries": ["a", "b"]}, "found 2 query ids for 1 rows"),
        (np.array([[1, 1]]), {}, "row 1: document '1' appears twice in query '0'"),
    ],
)
def test_invalid_arrays_are_an_error(ids: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError) as caught:
        Run.from_arrays(ids, **options)
    assert str(caught.value) == message
    if "twice" in message:
        assert Run.from_arrays(ids, lenient=True).table.dropped == 1


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "", "c"]), st.sampled_from("xyz")), max_size=12)
)
def test_native_and_python_grouping_agree(rows: list[tuple[str, str]]) -> None:
    queries = StringColumn.from_strings([query for query, _ in rows])
    documents = StringColumn.from_strings([document for _, document in rows])
    found = columns.group_rows(queries, documents)
    expected = columns._group_rows(queries, documents)
    assert list(found[0]) == list(expected[0]) == list(dict.fromkeys(query for query, _ in rows))
    assert found[1].tolist() == expected[1].tolist()
    assert (found[2] is None) == (expected[2] is None)
    if found[2] is not None and expected[2] is not None:
        assert found[2].tolist() == expected[2].tolist()
    assert found[3].tolist() == expected[3].tolist()
    assert len(rows) - len(found[3]) == len(set(rows)) == found[1][-1]


def test_many_rows_are_grouped_by_several_threads() -> None:
    count = 1 << 16
    queries = np.arange(count) // 100
    documents = np.arange(count) % 100
    documents[-1] = documents[-2]
    with pytest.raises(
        DataError, match=f"row {count - 1}: document '34' appears twice in query '655'"
    ):
        Run.from_columns(queries, documents, np.ones(count))
    run = Run.from_columns(queries, documents, np.ones(count), lenient=True)
    assert (len(run), len(run.table.values), run.table.dropped) == (656, count - 1, 1)


def test_integers_become_decimal_strings() -> None:
    for dtype in (np.int8, np.int64, np.uint64):
        info = np.iinfo(dtype)
        column = StringColumn.from_integers(np.array([info.min, 0, info.max], dtype))
        assert list(column) == [str(info.min), "0", str(info.max)]


def test_offsets_changed_by_another_thread_cause_no_invalid_read() -> None:
    """The result is undefined, but nothing outside of the strings is read."""
    pytest.importorskip(
        "berryeval._native", reason="this installation was built without a C++ compiler"
    )
    done = subprocess.run(
        [sys.executable, "-c", RACE], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


RACE = """
import threading, time
import numpy as np
from berryeval import _native

count = 50_000
data = np.full(4 * count, 97, np.uint8)
good = np.arange(0, 4 * count + 1, 4, dtype=np.int64)
offsets = good.copy()
text = (data, offsets)
end = time.monotonic() + 0.7
places = np.arange(count, dtype=np.int64)

def rewrite():
    while time.monotonic() < end:
        offsets[1:-1] = 1 << 60
        offsets[:] = good

writer = threading.Thread(target=rewrite)
writer.start()
while time.monotonic() < end:
    try:
        _native.group_rows(text, text, 2)
        _native.take_strings(text, places)
    except ValueError:
        pass  # caught before the work began
writer.join()
print("alive")
"""
