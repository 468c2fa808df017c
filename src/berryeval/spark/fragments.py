"""Fragments: the rows of one query in a block, packed into one row before they are shuffled.

Spark's work to shuffle and sort grows with the number of rows, not with their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

import numpy as np

from berryeval._internal.optional import import_optional

# The bytes of each document (int32), the documents, the values (float64), and what each row lacks
# (a byte: 1 the document, 2 the value), or null if the block lacks nothing.
FRAGMENT: Final = "query string, sizes binary, documents binary, numbers binary, missing binary"
_PACKED: Final = ("sizes", "documents", "numbers", "missing")
_ROWS: Final = 130_000  # of a block
_BYTES: Final = 16_000_000


def build_packer(rows: int = _ROWS, size: int = _BYTES) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return the function that packs Arrow batches of query, document and value into fragments.

    A block is full with this many rows or bytes. The function is sent by value, so that it runs
    where BerryEval is not installed.
    """

    def pack(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        waiting: list[Any] = []
        for batch in batches:
            waiting.append(batch)
            full = sum(one.num_rows for one in waiting) >= rows
            if full or sum(one.nbytes for one in waiting) >= size:
                yield pack_block(pa.Table.from_batches(waiting))
                waiting = []
        if any(batch.num_rows for batch in waiting):
            yield pack_block(pa.Table.from_batches(waiting))

    def pack_block(block: Any) -> Any:
        import numpy as np
        import pyarrow as pa

        kinds = {"query": pa.string(), "document": pa.string(), "value": pa.float64()}
        columns = [block.column(name).cast(kind).combine_chunks() for name, kind in kinds.items()]
        codes = columns[0].dictionary_encode(null_encoding="encode")
        queries, of_row = codes.dictionary, codes.indices.to_numpy()
        if (of_row[1:] < of_row[:-1]).any():
            few = len(queries) <= 1 << 16  # NumPy sorts two bytes in linear time
            order = np.argsort(of_row.astype(np.uint16) if few else of_row, kind="stable")
            columns = [column.take(order) for column in columns]
        _, documents, values = columns
        starts = np.concatenate([[0], np.cumsum(np.bincount(of_row, minlength=len(queries)))])

        def cut(content: Any, edges: Any) -> Any:
            """Return a binary column of content between edges, without a copy."""
            buffers = [None, pa.py_buffer(edges.astype(np.int32)), pa.py_buffer(content)]
            return pa.Array.from_buffers(pa.binary(), len(queries), buffers)

        _, ends, text = documents.buffers()
        edges = np.frombuffer(ends, np.int32)[documents.offset :][: len(documents) + 1]
        numbers = np.frombuffer(values.buffers()[1], np.float64)[values.offset :][: len(values)]
        missing = pa.nulls(len(queries), pa.binary())
        if documents.null_count or values.null_count:
            lacks = [one.is_null().to_numpy(zero_copy_only=False) for one in (documents, values)]
            missing = cut(lacks[0].astype(np.uint8) + 2 * lacks[1].astype(np.uint8), starts)
        sizes = cut(np.diff(edges), starts * 4)
        packed = [queries, sizes, cut(text or b"", edges[starts]), cut(numbers, starts * 8)]
        names = ["query", "sizes", "documents", "numbers", "missing"]
        return pa.RecordBatch.from_arrays([*packed, missing], names=names)

    return pack


def unpack_batches(batches: Iterable[Any], most: int = _ROWS) -> Iterator[Any]:
    """Yield the rows of fragments, with their other columns, in batches of about `most` rows.

    A fragment is never divided.
    """
    compute = import_optional("pyarrow.compute", "a Spark task", extra="spark")
    for batch in batches:
        counts = compute.binary_length(batch.column("sizes")).to_numpy() // 4
        ends = np.cumsum(counts)
        start = 0
        while start < len(ends):
            least = ends[start] - counts[start] + most
            end = max(start + 1, int(np.searchsorted(ends, least, side="right")))
            yield _unpack(batch.slice(start, end - start), counts[start:end])
            start = end


def _unpack(batch: Any, counts: Any) -> Any:
    pa = import_optional("pyarrow", "a Spark task", extra="spark")
    rows = int(counts.sum())
    edges = np.zeros(rows + 1, dtype=np.int32)
    np.cumsum(_join(batch.column("sizes"), np.int32), out=edges[1:])
    text = _join(batch.column("documents"), np.uint8)
    lacks = np.zeros(rows, dtype=np.uint8)
    packed = batch.column("missing").is_valid().to_numpy(zero_copy_only=False)
    lacks[np.repeat(packed, counts)] = _join(batch.column("missing"), np.uint8)
    validity = pa.array(lacks & 1 == 0).buffers()[1] if lacks.any() else None
    buffers = [validity, pa.py_buffer(edges), pa.py_buffer(text)]
    documents = pa.Array.from_buffers(pa.string(), rows, buffers)
    values = pa.array(_join(batch.column("numbers"), np.float64), mask=lacks & 2 != 0)
    places = np.repeat(np.arange(batch.num_rows), counts)
    others = batch.drop_columns([*_PACKED]).take(pa.array(places))
    return others.append_column("document", documents).append_column("value", values)


def _join(column: Any, kind: Any) -> Any:
    """Return the values of a binary column as one array, without a copy."""
    pa = import_optional("pyarrow", "a Spark task", extra="spark")
    column = column.cast(pa.binary())
    _, ends, content = column.buffers()
    edges = np.frombuffer(ends, np.int32)[column.offset :][: len(column) + 1]
    inside = np.frombuffer(content or b"", np.uint8)[edges[0] : edges[-1]]
    return inside.view(kind)
