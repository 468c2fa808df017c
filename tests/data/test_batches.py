"""Blocks of whole queries from Arrow batches."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data.formats.batches import cut_blocks, find_coded


@pytest.mark.parametrize("coded", [False, True])
@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", None, "c"]), st.integers(1, 5)), max_size=8),
    st.lists(st.integers(0, 4), max_size=12),
    st.integers(1, 9),
)
def test_blocks_hold_all_rows_in_order_and_never_divide_equal_keys(
    coded: bool, runs: list[tuple[str | None, int]], sizes: list[int], least: int
) -> None:
    """`coded` keys are codes of a dictionary, which is another one in every batch."""
    keys = [key for key, count in runs for _ in range(count)]
    rows = pa.table({"query": pa.array(keys, pa.string()), "row": list(range(len(keys)))})
    batches, start = [], 0
    for size in [*sizes, len(keys)]:
        part = rows.slice(start, size).combine_chunks()
        if coded:
            part = part.set_column(0, "query", part.column(0).dictionary_encode())
        batches += part.to_batches()
        start += size
    blocks = [block.to_pydict() for block in cut_blocks(batches, "query", least)]
    assert [row for block in blocks for row in block["row"]] == list(range(len(keys)))
    ends = [block["query"][-1] for block in blocks[:-1]]
    starts = [block["query"][0] for block in blocks[1:]]
    assert all(end != begin for end, begin in zip(ends, starts, strict=True))
    assert all(len(block["row"]) > 0 for block in blocks)


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("last", [1, 5_000, 16_384, 16_385, 40_000, 70_000])
def test_the_last_key_may_begin_anywhere(last: int, coded: bool) -> None:
    keys = pa.array(["a"] * (70_000 - last) + ["b"] * last)
    batch = pa.record_batch({"query": keys.dictionary_encode() if coded else keys})
    sizes = [block.num_rows for block in cut_blocks([batch], "query", 70_000)]
    assert sizes == [size for size in (70_000 - last, last) if size]


def test_repeated_text_is_read_as_codes_of_a_dictionary(tmp_path: Path) -> None:
    repeated, unique = (
        [f"q{row // 100}" for row in range(5_000)],
        [f"q{row}" for row in range(5_000)],
    )
    table = pa.table(
        {
            "repeated": repeated,
            "large": pa.array(repeated, pa.large_string()),
            "unique": unique,
            "bytes": pa.array(repeated, pa.binary()),
            "number": [row // 100 for row in range(5_000)],
            "dictionary": pa.array(repeated).dictionary_encode(),
        }
    )
    path = tmp_path / "run.parquet"
    pa.parquet.write_table(table, path)
    with pa.parquet.ParquetFile(path) as opened:
        assert [name for name in table.column_names if find_coded(opened, name)] == [
            "repeated",
            "large",
        ]
    pa.parquet.write_table(table.slice(0, 0), path)
    with pa.parquet.ParquetFile(path) as opened:
        assert find_coded(opened, "repeated") == []
