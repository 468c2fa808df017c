"""Arrays that another thread writes to while native code reads them, and arrays that do not fit."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from berryeval._internal import backend as _backend
from berryeval.data.qrels import Qrels
from berryeval.data.run import Run

pytestmark = pytest.mark.skipif(_backend.native is None, reason="only native code can crash")

START = """
import threading, time
import numpy as np
from berryeval import _native

end = time.monotonic() + 1.0

def race(changed, good, bad, call):
    def rewrite():
        while time.monotonic() < end:
            changed[...] = bad
            changed[...] = good
    writer = threading.Thread(target=rewrite)
    writer.start()
    while time.monotonic() < end:
        try:
            call()
        except (ValueError, MemoryError):
            pass  # noticed
    writer.join()
    print("alive")

def text_of(names):
    offsets = np.cumsum([0, *map(len, names)], dtype=np.int64)
    return np.frombuffer(b"".join(names), np.uint8).copy(), offsets

count = 20_000
names = [b"document%d" % i for i in range(count)]
queries = [b"q%d" % i for i in range(count // 10)]
table = [text_of(queries), np.arange(0, count + 1, 10), text_of(names), np.ones(count), True]
spec = ("P", {"cutoff": 5.0}, {}, {}, [])
matches = np.arange(len(queries))
out, counts = np.zeros((1, len(queries))), np.zeros((len(queries), 4), np.int64)

def evaluate(ties="document descending"):
    _native.evaluate(tuple(table), tuple(table), matches, [spec], ties, False, 0, out, counts, 2)
"""

VIEWS = """
long = b"a name beyond twelve bytes"
small, large = np.zeros((count, 4), np.int32), np.zeros((count, 4), np.int32)
small[:, 0], large[:, 0] = 1, len(long)
changed = small.copy()
views = (changed.view(np.uint8).reshape(-1), [np.frombuffer(long, np.uint8)])
documents = text_of(names)
"""

RACES = {
    "copied views": VIEWS + "race(changed, small, large, lambda: _native.copy_views(views, 2))",
    "grouped views": VIEWS
    + "race(changed, small, large, lambda: _native.group_view_rows(views, documents, 2))",
    "offsets of a table": (
        "race(table[1], table[1].copy(), np.arange(len(queries) + 1) % 2 << 20, evaluate)"
    ),
    "offsets of documents": "race(table[2][1], table[2][1].copy(), 1 << 40, evaluate)",
    "matches of queries": "race(matches, matches.copy(), 1 << 40, evaluate)",
    "scores": "race(table[3], np.arange(count, dtype=float), np.nan, evaluate)",
    "ids with equal scores": (
        "table[3][:] = np.arange(count) % 2\n"
        "race(table[2][0], table[2][0].copy(), table[2][0][::-1].copy(), evaluate)"
    ),
    "values to resample": (
        "values = np.ones(1000, np.int64)\n"
        "race(values, 1, 1 << 62, lambda: _native.count_sign_flips(values, 10, 1, 1000, 2))"
    ),
    "text of a run": (
        "text = np.frombuffer(b'q1 Q0 d1 1 0.5 tag\\n' * 50_000, np.uint8).copy()\n"
        "def score():\n"
        "    _native.score_run_text(\n"
        "        tuple(table), text, [spec], 'document descending', False, 0, out, counts, 2)\n"
        "    _native.read_table('run', text, True)\n"
        "race(text, text.copy(), 32, score)"
    ),
}


@pytest.mark.parametrize("name", RACES)
def test_array_changed_by_another_thread_never_ends_the_process(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START + RACES[name]],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (0, "alive\n"), done.stderr


def test_arrays_of_tables_cannot_be_made_writeable() -> None:
    qrels, run = Qrels.from_dict({"q": {"d": 1}}), Run.from_columns(["q"], ["d"], [1.0])
    for table in (qrels.table, run.table):
        columns = (table.queries, table.documents)
        arrays: list[Any] = [table.offsets, table.values]
        arrays += [array for column in columns for array in column.arrays]
        for array in arrays:
            with pytest.raises(ValueError, match="WRITEABLE"):
                array.flags.writeable = True


def unaligned(values: Any) -> Any:
    array = np.asarray(values)
    shifted = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype)
    shifted[:] = array
    return shifted


@pytest.mark.parametrize(
    "places",
    [
        unaligned(np.zeros(2, np.int64)),
        np.zeros(4, np.int64)[::2],
        np.zeros(2, ">i8"),
        np.zeros(2, np.int32),
        np.zeros(2, np.uint64),
        np.zeros((1, 2), np.int64),
        np.array([1]),
        np.array([-1]),
        np.array([1 << 62]),
    ],
    ids=["unaligned", "strided", "byte-swapped", "short", "unsigned", "2-D", "1", "-1", "huge"],
)
def test_array_that_does_not_fit_is_an_error(places: Any) -> None:
    native: Any = _backend.native
    text = (np.frombuffer(b"ab", np.uint8), np.array([0, 2]))
    with pytest.raises((TypeError, ValueError)):
        native.take_strings(text, places)
