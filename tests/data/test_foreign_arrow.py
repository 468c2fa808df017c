"""Arrow columns in every layout, and columns whose buffers are damaged."""

from __future__ import annotations

import struct
from typing import Any

import pyarrow as pa
import pytest

from berryeval.data.run import Run
from berryeval.errors import DataError

NAMES = ["d1", "a name beyond twelve bytes", "", "é"]


def run_of(documents: Any) -> dict[str, dict[str, float]]:
    count = len(documents)
    scores = pa.array([1.0] * count, pa.float64())
    return Run.from_frame(
        pa.table({"query": ["q"] * count, "document": documents, "score": scores})
    ).to_dict()


@pytest.mark.parametrize(
    "kind",
    [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())],
)
def test_every_layout_slice_and_chunking_gives_the_same_run(kind: Any) -> None:
    column = (
        pa.array(NAMES, pa.string()).cast(kind) if "dict" in str(kind) else pa.array(NAMES, kind)
    )
    assert run_of(column) == {"q": dict.fromkeys(NAMES, 1.0)}
    assert run_of(column[1:3]) == {"q": dict.fromkeys(NAMES[1:3], 1.0)}
    chunked = pa.chunked_array([column[:1], column[1:1], column[1:]])
    assert run_of(chunked) == {"q": dict.fromkeys(NAMES, 1.0)}
    assert run_of(column[:0]) == {}


def damaged(kind: Any, layout: str, offsets: list[int], data: bytes) -> Any:
    return pa.Array.from_buffers(
        kind,
        len(offsets) - 1,
        [None, pa.py_buffer(struct.pack(f"{len(offsets)}{layout}", *offsets)), pa.py_buffer(data)],
    )


@pytest.mark.parametrize(
    ("offsets", "data"),
    [
        ([0, 3, 2, 4], b"d1d2"),
        ([0, 1 << 20, 2, 4], b"d1d2"),
        ([0, 1, 2], b"\xff\xfe"),
    ],
    ids=["falling", "beyond", "not UTF-8"],
)
@pytest.mark.parametrize(("kind", "layout"), [(pa.string(), "i"), (pa.large_string(), "q")])
def test_damaged_column_is_an_error(
    kind: Any, layout: str, offsets: list[int], data: bytes
) -> None:
    with pytest.raises(DataError, match="document"):
        run_of(damaged(kind, layout, offsets, data))
