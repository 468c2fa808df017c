"""Frames of pandas, polars and Arrow, and Parquet files."""

from __future__ import annotations

import decimal
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.data.qrels import Qrels
from berryeval.data.run import Run
from berryeval.errors import DataError
from berryeval.scoring.engine import evaluate
from tests.data.rows import bits, ids, rows, scores

if TYPE_CHECKING:
    from pathlib import Path

# Rows that are not grouped by query.
COLUMNS: dict[str, list[Any]] = {
    "query": ["q1", "q2", "q1"],
    "document": ["d1", "d1", "é"],
    "score": [1.5, 2.0, -3.0],
}
EXPECTED = {"q1": {"d1": 1.5, "é": -3.0}, "q2": {"d1": 2.0}}


class Producer:
    """An object with nothing but the Arrow PyCapsule interface."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


MAKERS: dict[str, Any] = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns).astype(
        {name: object for name, values in columns.items() if isinstance(values[0], str)}
    ),
    "pandas index": lambda columns: pd.DataFrame(columns, index=[7, 7, 9][: len(columns["score"])]),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "record batch": pa.RecordBatch.from_pydict,
    "reader": lambda columns: pa.table(columns).to_reader(max_chunksize=1),
    "capsule": lambda columns: Producer(pa.table(columns)),
    "chunks": lambda columns: pa.concat_tables(
        [pa.table(columns).slice(0, 1), pa.table(columns).slice(1)]
    ),
}


@pytest.mark.parametrize("maker", MAKERS.values(), ids=list(MAKERS))
def test_any_frame_is_read(maker: Any) -> None:
    run = Run.load(maker(COLUMNS))
    assert run.to_dict() == EXPECTED
    assert list(run.table.queries) == ["q1", "q2"]


STRINGS = {
    "string": pa.string(),
    "large_string": pa.large_string(),
    "string_view": pa.string_view(),
    "binary": pa.binary(),
    "large_binary": pa.large_binary(),
    "binary_view": pa.binary_view(),
    "dictionary": pa.dictionary(pa.int8(), pa.string()),
}


@pytest.mark.parametrize("kind", STRINGS.values(), ids=list(STRINGS))
@pytest.mark.parametrize("start", [0, 1])
def test_every_arrow_string_type_is_read(kind: Any, start: int) -> None:
    values = ["zero", "q1", "q2", "q1"][1 - start :]
    if "binary" in str(kind):
        column = pa.array([value.encode() for value in values], kind)
    elif pa.types.is_dictionary(kind):
        column = pa.array(values).dictionary_encode()
    else:
        column = pa.array(values, kind)
    numbers = pa.array([0.0, *COLUMNS["score"]][1 - start :])
    table = pa.table({"query": column, "document": column, "score": numbers}).slice(start)
    assert Run.load(table.slice(0, 2)).to_dict() == {"q1": {"q1": 1.5}, "q2": {"q2": 2.0}}
    assert Run.load(table, lenient=True).table.dropped == 1


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64"])
def test_integer_columns_are_ids(dtype: str) -> None:
    frame = pd.DataFrame({"qid": [1, 1], "docid": [3, 4], "score": [1, 2]}).astype(
        {"qid": dtype, "docid": dtype}
    )
    assert Run.load(frame).to_dict() == {"1": {"3": 1.0, "4": 2.0}}


@pytest.mark.parametrize(
    "names",
    [
        ("query", "document", "grade"),
        ("query_id", "doc_id", "relevance"),
        ("Query-ID", "Corpus-ID", "score"),
        ("qid", "docno", "label"),
        ("q_id", "doc", "rel"),
        ("topic", "docid", "relevance_label"),
    ],
)
def test_common_column_names_are_recognized(names: tuple[str, str, str]) -> None:
    query, document, grade = names
    frame = pl.DataFrame({"extra": ["x"], grade: [2], document: ["d"], query: ["q"]})
    assert Qrels.load(frame).to_dict() == {"q": {"d": 2.0}}


def test_column_names_can_be_given() -> None:
    frame = pl.DataFrame({"query": ["text"], "a": ["q"], "b": ["d"], "c": [2], "score": [9]})
    run = Run.load(frame, query="a", document="b", score="c")
    assert run.to_dict() == {"q": {"d": 2.0}}
    assert Qrels.from_frame(frame, query="a", document="b", grade="c").to_dict() == run.to_dict()
    with pytest.raises(TypeError, match="'grade'; there are query, document, score"):
        Run.load(frame, grade="c")


def test_a_missing_column_is_named_with_those_found() -> None:
    frame = pl.DataFrame({"a": ["q"], "document": ["d"], "score": [2]})
    with pytest.raises(DataError) as caught:
        Run.load(frame)
    assert str(caught.value) == (
        "no column with the query (any of query, query_id, qid, q_id, topic, topic_id); "
        "found 'a', 'document', 'score'"
    )
    with pytest.raises(DataError, match=r"no column with the query \('b'\); found 'a', 'doc"):
        Run.load(frame.to_pandas(), query="b")


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("query", None, "row 1: the query is missing"),
        ("document", None, "row 1: the document is missing"),
        ("score", None, "row 1: the score is missing"),
        ("score", float("nan"), "row 1: the score must not be NaN"),
        ("document", "d1", "row 1: document 'd1' appears twice in query 'q1'"),
    ],
)
def test_invalid_row_is_an_error_with_its_number(
    library: str, column: str, value: Any, message: str
) -> None:
    columns: dict[str, list[Any]] = {
        "query": ["q1", "q1"],
        "document": ["d1", "d2"],
        "score": [1.0, 2.0],
    }
    columns[column] = [columns[column][0], value]
    frame = MAKERS[library](columns)
    with pytest.raises(DataError) as caught:
        Run.load(frame)
    if library == "pandas" and "NaN" in message:  # pandas treats NaN as missing
        message = "row 1: the score is missing"
    assert str(caught.value) == message
    run = Run.load(frame, lenient=True)
    assert run.to_dict() == {"q1": {"d1": 1.0}}
    assert run.table.dropped == 1


def test_infinite_grade_is_an_error() -> None:
    columns = {"query": ["q1"], "document": ["d1"], "score": [float("-inf")]}
    assert Run.load(pa.table(columns)).to_dict() == {"q1": {"d1": float("-inf")}}
    with pytest.raises(DataError, match="row 0: the grade must be finite, found -inf"):
        Qrels.load(pa.table(columns))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"query": [1.5]}, "column 'query' must hold ids (strings or whole numbers), found double"),
        (
            {"document": [True]},
            "column 'document' must hold ids (strings or whole numbers), found bool",
        ),
        ({"score": ["1"]}, "column 'score' must hold numbers, found string"),
        ({"score": [True]}, "column 'score' must hold numbers, found bool"),
        ({"document": [b"\xff"]}, "column 'document': Invalid UTF8 payload"),
    ],
)
def test_column_of_the_wrong_type_is_an_error(columns: dict[str, Any], message: str) -> None:
    table = pa.table({"query": ["q"], "document": ["d"], "score": [1.0]} | columns)
    with pytest.raises(DataError) as caught:
        Run.load(table)
    assert str(caught.value) == message


def test_pandas_column_of_mixed_types_is_an_error() -> None:
    frame = pd.DataFrame({"query": ["q", 1], "document": ["d", "e"], "score": [1, 2]}, dtype=object)
    with pytest.raises(DataError, match="the frame cannot be read as Arrow: "):
        Run.load(frame)


def test_decimals_and_small_floats_are_numbers() -> None:
    for values in (
        pa.array([decimal.Decimal("1.5")]),
        pa.array([1.5], pa.float32()),
        pa.array(np.array([1.5], np.float16)),
    ):
        table = pa.table({"query": ["q"], "document": ["d"], "score": values})
        assert Run.load(table).to_dict() == {"q": {"d": 1.5}}
    table = pa.table({"query": ["q"], "document": ["d"], "score": [2**53 + 1]})
    assert Run.load(table).to_dict() == {"q": {"d": 2.0**53}}


def test_an_empty_frame_is_an_empty_run() -> None:
    """A frame without rows is an empty result; a file without rows is an error."""
    table = pl.DataFrame(schema={"query": pl.String, "document": pl.String, "score": pl.Float64})
    assert Run.load(table).to_dict() == {}
    scores = evaluate({"q": {"d": 1}}, table, ["P@5"])
    assert scores.outcomes == ("missing",)


def test_other_sources_are_an_error() -> None:
    with pytest.raises(DataError) as caught:
        Run.load(42)
    assert str(caught.value) == (
        "a run must be a dict {query: {document: score}}, a path, a frame (pandas, polars, Arrow) "
        "or a 2-D array of ids; found int 42"
    )


@settings(max_examples=50)
@given(rows(ids, scores, least=0), st.randoms(use_true_random=False))
def test_frames_round_trip(run: dict[str, dict[str, float]], random: Any) -> None:
    value = Run.from_dict(run)
    expected = bits({query: row for query, row in run.items() if row})
    for library in ("pandas", "polars", "arrow"):
        assert bits(Run.load(value.to_frame(library)).to_dict()) == expected
    table = value.to_frame("arrow")
    order = list(range(len(table)))
    random.shuffle(order)
    assert bits(Run.load(table.take(pa.array(order, pa.int64()))).to_dict()) == expected


def test_columns_without_a_type_are_empty_or_missing() -> None:
    nothing = pa.table({"query": pa.nulls(0), "document": pa.nulls(0), "score": pa.array([], "f8")})
    assert Run.load(nothing).to_dict() == {}
    missing = pa.table({"query": ["q"], "document": pa.nulls(1), "score": [1.0]})
    with pytest.raises(DataError, match=r"^row 0: the document is missing$"):
        Run.load(missing)


def test_a_frame_of_a_run_has_ranks() -> None:
    frame = Run.from_dict({"q": {"a": 1, "b": 2}, "p": {"c": 1}}).to_frame("polars")
    assert frame.rows() == [("q", "b", 2.0, 1), ("q", "a", 1.0, 2), ("p", "c", 1.0, 1)]
    assert frame.columns == ["query", "document", "score", "rank"]
    frame = Qrels.from_dict({"q": {"a": 1}}).to_frame()
    assert list(frame.columns) == ["query", "document", "grade"]
    with pytest.raises(ValueError, match="found 'numpy'"):
        Qrels.from_dict({"q": {"a": 1}}).to_frame("numpy")  # type: ignore[arg-type]


def test_parquet_files_are_read(tmp_path: Path) -> None:
    table = pa.table({**COLUMNS, "text": ["x"] * 3})
    pq.write_table(table, tmp_path / "run.parquet", row_group_size=1)
    assert Run.load(tmp_path / "run.parquet").to_dict() == EXPECTED
    Run.from_dict(EXPECTED).to_parquet(tmp_path / "run.parquet.gz")
    assert Run.load(tmp_path / "run.parquet.gz").to_dict() == EXPECTED
    assert Run.from_parquet(tmp_path / "run.parquet", query="text", lenient=True).to_dict() == {
        "x": {"d1": 1.5, "é": -3.0}
    }


def test_invalid_parquet_file_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "run.parquet"
    path.write_bytes(b"not a Parquet file")
    with pytest.raises(DataError) as caught:
        Run.load(path)
    assert str(caught.value).startswith(f"{path}: cannot be read as Parquet: ")
    assert "\n" not in str(caught.value)
    pq.write_table(pa.table({**COLUMNS, "score": [1.0, None, 2.0]}), path)
    with pytest.raises(DataError) as caught:
        Run.load(path)
    assert str(caught.value) == f"{path}: row 1: the score is missing"
    pq.write_table(pa.table(COLUMNS).slice(0, 0), path)
    with pytest.raises(DataError) as caught:
        Run.load(path)
    assert str(caught.value) == f"{path}: holds no rows"


def test_missing_pyarrow_error_has_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = pl.DataFrame(COLUMNS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    run = Run.from_dict(EXPECTED)
    for act in (
        lambda: Run.load(frame),
        lambda: run.to_frame("arrow"),
        lambda: run.to_parquet(tmp_path / "a.parquet"),
        lambda: Run.load(tmp_path / "a.parquet"),
    ):
        with pytest.raises(DataError, match=r'needs pyarrow: pip install "pyarrow>=15"$'):
            act()


def test_every_source_of_the_same_rows_scores_the_same(tmp_path: Path) -> None:
    qrels = {"q1": {"d1": 1.0, "é": 2.0}, "q2": {"d2": 1.0}}
    judgments, run = Qrels.from_dict(qrels), Run.from_dict(EXPECTED)
    for name in ("a.json", "a.parquet", "a.txt", "a.txt.zst"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        for value, kind in ((judgments, "qrels"), (run, "run")):
            write = {".j": value.to_json, ".p": value.to_parquet, ".t": value.to_trec}[name[1:3]]
            write(tmp_path / f"{kind}-{name}")
    pairs: list[tuple[Any, Any]] = [
        *((tmp_path / f"qrels-{name}", str(tmp_path / f"run-{name}"))
          for name in ("a.json", "a.parquet", "a.txt", "a.txt.zst")),
        *((judgments.to_frame(kind), run.to_frame(kind)) for kind in ("pandas", "polars", "arrow")),
        (judgments, run),
    ]  # fmt: skip
    expected = evaluate(qrels, EXPECTED, ["nDCG@10", "P@1"])
    for one, other in pairs:
        found = evaluate(one, other, ["nDCG@10", "P@1"])
        assert found.per_query("nDCG@10") == expected.per_query("nDCG@10")
        assert found.queries == expected.queries


def test_run_is_independent_of_later_changes_to_the_frame() -> None:
    scores = np.array([1.0, 2.0])
    run = Run.load(pl.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "score": scores}))
    scores[0] = 9.0
    assert run.to_dict() == {"q": {"a": 1.0, "b": 2.0}}
