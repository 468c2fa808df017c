"""Fragments: packed rows come back as they were, by query."""

from __future__ import annotations

import random
from typing import Any

import pytest

from berryeval.spark.fragments import build_packer, unpack_batches

pa = pytest.importorskip("pyarrow")

Rows = list[tuple[Any, ...]]


def pack(given: Rows, **limits: int) -> list[Any]:
    names = ["query", "document", "value"]
    kinds = [pa.string(), pa.string(), pa.float64()]
    columns = zip(*given, strict=True) if given else [[], [], []]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    table = pa.table(arrays, names=names)
    return list(build_packer(**limits)(iter(table.to_batches(max_chunksize=7))))


def unpack(packed: list[Any], **limits: int) -> Rows:
    batches = list(unpack_batches(packed, **limits))
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def make_rows(count: int) -> Rows:
    chance = random.Random(count)
    return [
        (
            chance.choice(["q1", "q2", "é", "", None]),
            chance.choice(["d", "é" * 40, "", None]),
            chance.choice([1.0, -0.0, float("inf"), None]),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 60, 500])
def test_rows_of_a_query_keep_their_order_and_what_they_lack(count: int) -> None:
    rows = make_rows(count)
    for limits in ({}, {"rows": 20}, {"size": 1}):
        found = unpack(pack(rows, **limits), most=9)
        for query in ("q1", "q2", "é", "", None):
            of_query = [row for row in rows if row[0] == query]
            assert [row for row in found if row[0] == query] == of_query
        assert len(found) == count


def test_blocks_without_faults_and_with_them_come_back_together() -> None:
    rows = [("q", "a", 1.0)] * 7 + [("q", None, 2.0), ("r", "b", None)]
    packed = pack(rows, rows=7)
    joined = pa.Table.from_batches(packed).combine_chunks().to_batches()
    assert len(packed) == 2
    assert unpack(joined) == rows


def test_a_block_has_one_fragment_per_query_however_rows_are_scattered() -> None:
    rows = [(f"q{place % 10}", f"d{place}", float(place)) for place in range(1000)]
    (packed,) = pack(rows)
    assert packed.num_rows == 10
    assert sorted(unpack([packed])) == sorted(rows)


def test_rows_come_back_in_bounded_batches_and_slices_are_read() -> None:
    rows = [(f"q{place // 10}", f"d{place}", float(place)) for place in range(100)]
    (packed,) = pack(rows)
    sizes = [batch.num_rows for batch in unpack_batches([packed], most=25)]
    assert sizes == [20] * 5
    assert [batch.num_rows for batch in unpack_batches([packed], most=1)] == [10] * 10
    assert unpack([packed.slice(3, 2)]) == rows[30:50]


def test_columns_with_wide_offsets_are_packed_and_unpacked() -> None:
    table = pa.table({"query": ["q", "q"], "document": ["a", "b"], "value": [1.0, 2.0]})
    wide = [pa.large_string(), pa.large_string(), pa.float64()]
    schema = pa.schema(list(zip(table.column_names, wide, strict=True)))
    (packed,) = build_packer()(iter(table.cast(schema).to_batches()))
    arrays = [packed.column(0), *(one.cast(pa.large_binary()) for one in packed.columns[1:])]
    again = pa.RecordBatch.from_arrays(arrays, names=packed.schema.names)
    assert unpack([again]) == [("q", "a", 1.0), ("q", "b", 2.0)]
