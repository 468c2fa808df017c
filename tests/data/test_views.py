"""Columns of Arrow string views, as in polars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval._internal import backend as _backend
from berryeval.data.columns import as_views
from berryeval.data.run import Run
from berryeval.errors import DataError

NEEDS_NATIVE = pytest.mark.skipif(_backend.native is None, reason="only native code reads views")

# A view holds up to twelve bytes; longer strings share some of the bytes that it shows.
IDS = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=5),
    st.sampled_from(["", "a" * 12, "a" * 13, "a" * 12 + "b", "aaaa" + "é" * 20, "a" * 300]),
)


@pytest.mark.parametrize("cut", [slice(None), slice(1, None), slice(2, 5)])
@given(rows=st.lists(st.tuples(IDS, IDS), max_size=30, unique=True), chunks=st.integers(1, 3))
@settings(max_examples=60)
def test_views_give_the_same_table_as_contiguous_strings(
    cut: slice, rows: list[tuple[str, str]], chunks: int
) -> None:
    columns: dict[str, list[Any]] = {
        "query": [query for query, _ in rows],
        "document": [document for _, document in rows],
        "score": [float(row) for row in range(len(rows))],
    }
    kinds = {"query": pl.String, "document": pl.String, "score": pl.Float64}
    size = max(1, -(-len(rows) // chunks))
    frame = pl.concat(
        [
            pl.DataFrame(columns, schema=kinds)[start : start + size]
            for start in range(0, max(1, len(rows)), size)
        ],
        rechunk=False,
    )[cut]
    plain = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
    assert "string_view" in {str(kind) for kind in pa.table(frame).schema.types}
    assert "string_view" not in {str(kind) for kind in plain.schema.types}
    assert Run.from_frame(frame).to_dict() == Run.from_frame(plain).to_dict()


def test_repeated_document_in_views_is_an_error_with_its_ids() -> None:
    query, document = "a query beyond twelve bytes", "d1"
    frame = pl.DataFrame(
        {"query": [query] * 3, "document": [document, "d2", document], "score": [1.0, 2.0, 3.0]}
    )
    with pytest.raises(DataError, match=f"row 2: document '{document}' appears twice in .*{query}"):
        Run.from_frame(frame)
    lenient = Run.from_frame(frame, lenient=True)
    assert lenient.to_dict() == {query: {document: 1.0, "d2": 2.0}}
    assert lenient.table.dropped == 1


def test_lenient_reading_of_views_drops_incomplete_rows() -> None:
    frame = pl.DataFrame(
        {
            "query": ["a query beyond twelve bytes", None, "q", "q"],
            "document": ["d1", "d2", "a document beyond twelve bytes", "d4"],
            "score": [1.0, 2.0, 3.0, float("nan")],
        }
    )
    lenient = Run.from_frame(frame, lenient=True)
    assert lenient.to_dict() == {
        "a query beyond twelve bytes": {"d1": 1.0},
        "q": {"a document beyond twelve bytes": 3.0},
    }
    assert lenient.table.dropped == 2
    only_nan = frame.filter(pl.col("query").is_not_null())
    assert Run.from_frame(only_nan, lenient=True).to_dict() == lenient.to_dict()


@NEEDS_NATIVE
def test_view_beyond_its_buffer_is_an_error() -> None:
    views = as_views(pa.array(["beyond twelve bytes", "q"], pa.string_view()))
    assert views is not None
    for place, wrong in ((0, 20), (8, 1), (12, 1), (3, 0x7F)):
        broken = views.views.copy()
        broken[place] = wrong
        views_of = (broken, views.buffers)
        native: Any = _backend.native
        with pytest.raises(ValueError, match="beyond its buffer"):
            native.copy_views(views_of, 1)
        documents = (np.frombuffer(b"ab", np.uint8), np.arange(3, dtype=np.int64))
        with pytest.raises(ValueError, match="beyond its buffer"):
            native.group_view_rows(views_of, documents, 1)


@NEEDS_NATIVE
def test_many_views_are_copied_by_several_threads() -> None:
    strings = [f"{'document ' * (row % 3)}{row}" for row in range(200_000)]
    views = as_views(pa.array(strings, pa.string_view()))
    assert views is not None
    assert list(views.copy()) == strings
    assert views[199_999] == strings[-1]


@NEEDS_NATIVE
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
@given(
    strings=st.lists(IDS, min_size=1, max_size=6),
    codes=st.lists(st.integers(0, 5), max_size=30),
    cut=st.integers(0, 5),
)
def test_codes_of_a_dictionary_become_views(
    kind: pa.DataType, strings: list[str], codes: list[int], cut: int
) -> None:
    """A dictionary may hold a string twice, and strings that no row has."""
    codes = [code % len(strings) for code in codes]
    array = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(strings, kind))
    views = as_views(array.slice(cut))
    assert views is not None
    assert list(views.copy()) == [strings[code] for code in codes[cut:]]


def test_missing_strings_and_wrong_codes_of_a_dictionary_are_errors() -> None:
    def run_of(queries: pa.Array) -> Run:
        rows = len(queries)
        documents, scores = [f"d{row}" for row in range(rows)], [1.0] * rows
        return Run.from_frame(pa.table({"query": queries, "document": documents, "score": scores}))

    def coded(codes: Sequence[int | None], strings: Sequence[str | None]) -> pa.Array:
        return pa.DictionaryArray.from_arrays(
            pa.array(codes, pa.int32()), pa.array(strings, pa.string()), safe=False
        )

    assert run_of(coded([0, 1, 0], ["q", "r"])).to_dict() == {
        "q": {"d0": 1.0, "d2": 1.0},
        "r": {"d1": 1.0},
    }
    for codes, strings in (([0, None], ["q"]), ([0, 1], ["q", None])):
        with pytest.raises(DataError, match=r"row 1.*query"):
            run_of(coded(codes, strings))
    for codes, strings in (([0, 1], ["q"]), ([0, -1], ["q"]), ([0, 9], ["q", None])):
        with pytest.raises(DataError, match="query"):
            run_of(coded(codes, strings))
