"""Runs that are read block by block: the same scores and the same errors as of the whole run."""

from __future__ import annotations

import gzip
import math
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import berryeval as be
from berryeval.data import Qrels
from berryeval.data.row_sources import ArrowRows, RowSource, TextRows
from berryeval.errors import BerryEvalError, RepeatedDocumentError
from berryeval.metrics import request_metrics
from berryeval.scoring import score_request
from berryeval.scoring.blocks import score_source

REQUEST = request_metrics(["nDCG@3", "AP", "Judged@2", "alpha_nDCG@3"], "berryeval")
NATIVE = request_metrics(["nDCG@3", "AP", "Judged@2"], "trec_eval")
GIVEN = request_metrics(["nDCG@3", "RR"], "ranx")
QRELS = Qrels.from_dict({"q1": {"a": 2, "b": 1}, "q2": {"c": 1}, "zz": {"a": 0}, "é": {"d": 3}})
Row = tuple[str, str, float]
# Of the coded forms, queries are read as codes of a dictionary, as those of large files are.
FORMS = [
    "parquet",
    "parts",
    "parquet coded",
    "parts coded",
    "csv",
    "csv.gz",
    "trec",
    "trec.gz",
    "trec.zst",
    "tsv",
    "ranks",
]
FAULTY = ["parquet", "parts", "parquet coded", "parts coded", "csv", "trec", "trec.gz", "tsv"]

rows_of_run = st.lists(
    st.tuples(
        st.sampled_from(["q1", "q2", "q9", "zz", "é"]),
        st.sampled_from(["a", "b", "c", "d", "e", "f"]),
        st.sampled_from([0.5, 1.0, 1.0, 2.0, -math.inf, 7.25]),
    ),
    min_size=1,
    max_size=30,
)
sizes = st.integers(1, 5)


def unique(rows: list[Row]) -> list[Row]:
    return list({row[:2]: row for row in rows}.values())


def grouped(rows: list[Row]) -> list[Row]:
    return sorted(rows, key=lambda row: row[0])


def write(folder: Path, form: str, rows: list[Row], size: int = 3) -> Path:
    """Write a run in one of the forms; Parquet in row groups and parts of `size` rows."""
    path = folder / f"run.{form}"
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    table = pa.table(dict(zip(("query_id", "doc_id", "score"), columns, strict=True)))
    if form == "parquet":
        pa.parquet.write_table(table, path, row_group_size=size)
    elif form == "parts":
        path.mkdir()
        (path / "_SUCCESS").touch()
        for place in range(0, len(rows), size):
            part = path / f"part-{place:05}.parquet"
            pa.parquet.write_table(table.slice(place, size), part)
    elif form.startswith("csv"):
        text = "query,doc_id,score\n" + "".join(f"{q},{d},{s!r}\n" for q, d, s in rows)
        pack(path, text)
    elif form == "tsv":
        path.write_text("query\tdoc\tscore\n" + "".join(f"{q}\t{d}\t{s!r}\n" for q, d, s in rows))
    elif form == "ranks":
        count: dict[str, int] = {}
        lines = []
        for query, document, _ in rows:
            count[query] = count.get(query, 0) + 1
            lines.append(f"{query}\t{document}\t{count[query]}\n")
        path.write_text("".join(lines))
    else:
        pack(path, "".join(f"{q} Q0 {d} 1 {s!r} tag{i}\n" for i, (q, d, s) in enumerate(rows)))
    return path


def pack(path: Path, text: str) -> None:
    data = text.encode()
    if path.suffix == ".gz":
        data = gzip.compress(data)
    elif path.suffix == ".zst":
        data = zstandard.ZstdCompressor().compress(data)
    path.write_bytes(data)


def open_source(path: Path, *, lenient: bool) -> RowSource:
    if path.name in {"run.parquet", "run.parts"} or ".csv" in path.name:
        return ArrowRows(path, "run", {}, lenient=lenient)
    return TextRows(path, "run", lenient=lenient)


def outcome(score: Callable[[], be.Scores]) -> Any:
    """Return the scores with all that a table of scores does not compare, or the error."""
    try:
        scores = score()
    except BerryEvalError as error:
        return type(error), str(error)
    return scores, scores.dropped, scores.extra_queries, scores.notes, scores.run_name


def score_both(
    form: str, rows: list[Row], size: int, request: Any = REQUEST, *, lenient: bool = False
) -> tuple[Any, Any]:
    form, _, coded = form.partition(" ")
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        if coded:
            patch.setattr("berryeval.data.formats.batches._PLAIN", math.inf)
        path = write(Path(folder), form, rows, size)
        whole = outcome(lambda: score_request(QRELS, path, request, lenient=lenient))
        source = open_source(path, lenient=lenient)
        blocks = outcome(lambda: score_source(QRELS, source, request, lenient=lenient, least=size))
    return blocks, whole


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("request_", [REQUEST, NATIVE, GIVEN], ids=["all", "trec_eval", "given"])
@settings(max_examples=8)
@given(rows=rows_of_run.map(unique).map(grouped), size=sizes)
def test_grouped_rows_have_the_scores_of_the_whole_run(
    form: str, request_: Any, rows: list[Row], size: int
) -> None:
    blocks, whole = score_both(form, rows, size, request_)
    assert isinstance(whole[0], be.Scores)
    assert blocks == whole


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=8)
@given(rows=rows_of_run.map(unique), size=sizes)
def test_rows_in_any_order_are_sorted_on_disk_and_keep_their_order_in_a_query(
    form: str, rows: list[Row], size: int
) -> None:
    blocks, whole = score_both(form, rows, size, GIVEN)
    assert isinstance(whole[0], be.Scores)
    assert blocks == whole


@pytest.mark.parametrize("form", FAULTY)
@settings(max_examples=10)
@given(rows=rows_of_run, size=sizes)
def test_repeated_documents_are_the_same_error_or_counted(
    form: str, rows: list[Row], size: int
) -> None:
    blocks, whole = score_both(form, grouped(rows), size)
    assert blocks == whole
    assert (whole[0] is RepeatedDocumentError) == (len(unique(rows)) < len(rows))
    blocks, whole = score_both(form, rows, size, GIVEN, lenient=True)
    assert blocks == whole
    assert whole[1] == len(rows) - len(unique(rows))


@pytest.mark.parametrize("form", ["parquet", "parquet coded", "trec"])
def test_the_first_repeated_document_of_rows_in_any_order_is_named(form: str) -> None:
    """Sorting may find another one first, in the same block or in one before."""
    for query in ("q1", "q2", "é", "zz"):
        others = [one for one in ("q1", "q2", "é", "zz") if one != query]
        rows = [(one, "a", 1.0) for one in [query, *others, query, *others]]
        blocks, whole = score_both(form, rows, 2)
        assert blocks == whole
        assert f"document 'a' appears twice in query {query!r}" in whole[1]


@pytest.mark.parametrize("form", FAULTY)
@settings(max_examples=10)
@given(rows=rows_of_run.map(unique), place=st.integers(0, 29), size=sizes)
def test_one_faulty_row_is_the_same_error_or_counted(
    form: str, rows: list[Row], place: int, size: int
) -> None:
    place %= len(rows)
    rows[place] = (*rows[place][:2], math.nan)
    blocks, whole = score_both(form, rows, size)
    assert blocks == whole
    assert "the score must not be NaN" in whole[1]
    blocks, whole = score_both(form, rows, size, lenient=True)
    assert blocks == whole
