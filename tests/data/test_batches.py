"""Blocks of whole queries from Arrow batches."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from berryeval.data.formats.batches import cut_blocks


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", None, "c"]), st.integers(1, 5)), max_size=8),
    st.lists(st.integers(0, 4), max_size=12),
    st.integers(1, 9),
)
def test_blocks_hold_all_rows_in_order_and_never_divide_equal_keys(
    runs: list[tuple[str | None, int]], sizes: list[int], least: int
) -> None:
    keys = [key for key, count in runs for _ in range(count)]
    rows = pa.table({"query": pa.array(keys, pa.string()), "row": list(range(len(keys)))})
    batches, start = [], 0
    for size in [*sizes, len(keys)]:
        batches += rows.slice(start, size).combine_chunks().to_batches()
        start += size
    blocks = [block.to_pydict() for block in cut_blocks(batches, "query", least)]
    assert [row for block in blocks for row in block["row"]] == list(range(len(keys)))
    ends = [block["query"][-1] for block in blocks[:-1]]
    starts = [block["query"][0] for block in blocks[1:]]
    assert all(end != begin for end, begin in zip(ends, starts, strict=True))
    assert all(len(block["row"]) > 0 for block in blocks)
