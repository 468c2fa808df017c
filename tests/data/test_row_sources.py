"""Runs and judgments in folders, patterns and CSV files, and what can be wrong with them."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import berryeval as be
from berryeval.data import Qrels, QueryTable, Run
from berryeval.data.row_sources import ArrowRows, TextRows, open_rows
from berryeval.data.sorting import sort_blocks
from berryeval.errors import BerryEvalError, DataError, MissingDependencyError

QRELS = {"q1": {"a": 1}, "q2": {"b": 2}}
GOOD: dict[str, list[Any]] = {"query": ["q1", "q1"], "document": ["b", "a"], "score": [2.0, 1.0]}
SAME = "all files of a run have the same columns"
TABLES = "expected a folder or pattern of Parquet files, or of CSV files; found"


def write(path: Path, **columns: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pa.parquet.write_table(pa.table(columns or GOOD), path)
    return path


def said(path: Path | str, *, whole: bool) -> str:
    """Return the error of a run, read as a whole or block by block."""
    try:
        if whole:
            be.evaluate(QRELS, path, ["RR"])
        else:
            list(ArrowRows(path, "run", {}).read_blocks(least=1))
    except DataError as error:
        return str(error)
    return "no error"


FAULTS: list[tuple[dict[str, Any], str]] = [
    ({"q": ["q1"], "document": ["a"], "score": [1.0]}, "no column with the query (any of query, "),
    (
        {"query": ["q1"], "document": [True], "score": [1.0]},
        "column 'document' must hold ids (strings or whole numbers), found bool",
    ),
    (
        {"query": ["q1"], "document": ["a"], "score": ["x"]},
        "column 'score' must hold numbers, found string",
    ),
    ({"query": ["q1", None], "document": ["a", "b"], "score": [1, 2]}, "row 1: the query is miss"),
    ({"query": ["q1"], "document": ["a"], "score": [float("nan")]}, "row 0: the score must not be"),
]


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(("columns", "fault"), FAULTS)
def test_a_fault_of_a_part_names_the_part(
    tmp_path: Path, columns: dict[str, Any], fault: str, whole: bool
) -> None:
    path = write(tmp_path / "run" / "part-0.parquet", **columns)
    name = path.parent if "column '" in fault else path
    assert said(tmp_path / "run", whole=whole).startswith(f"{name}: {fault}")


@pytest.mark.parametrize("whole", [True, False])
def test_the_parts_of_a_run_have_the_same_columns(tmp_path: Path, whole: bool) -> None:
    first = write(tmp_path / "a.parquet")
    second = write(tmp_path / "b.parquet", query=["q2"], doc_id=["a"], score=[1.0])
    found = f"{second}: column 'doc_id' (string) differs from 'document' (string) in {first}"
    assert said(tmp_path, whole=whole) == f"{found}; {SAME}"
    write(second, query=["q2"], document=["a"], score=[1])
    found = f"{second}: column 'score' (int64) differs from 'score' (double) in {first}"
    assert said(tmp_path, whole=whole) == f"{found}; {SAME}"


@pytest.mark.parametrize("whole", [True, False])
def test_folders_and_patterns_without_tables_are_errors(tmp_path: Path, whole: bool) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    assert said(folder, whole=whole) == f"{folder}: {TABLES} nothing in it"
    (folder / "run.trec").write_text("q1 Q0 a 1 1 t\n")
    assert said(folder, whole=whole) == f"{folder}: {TABLES} 'run.trec'"
    assert said(folder / "*.trec", whole=whole) == f"{folder}/*.trec: {TABLES} 'run.trec'"
    pattern = folder / "*.parquet"
    assert said(pattern, whole=whole) == f"{pattern}: no file matches this pattern"
    write(folder / "a.parquet")
    (folder / "b.csv").write_text("query,document,score\n")
    assert said(folder, whole=whole) == f"{folder}: {TABLES} both CSV and Parquet files"
    assert said(tmp_path / "no.csv", whole=whole) == f"{tmp_path}/no.csv: no such file"


@pytest.mark.parametrize("whole", [True, False])
def test_a_pattern_that_matches_files_and_folders_reads_both(tmp_path: Path, whole: bool) -> None:
    """A folder that Spark wrote may have a name like that of a file beside it."""
    write(tmp_path / "day-1.parquet")
    write(tmp_path / "day-2.parquet" / "part-0.parquet", query=["q2"], document=["b"], score=[1.0])
    (tmp_path / "day-2.parquet" / "_SUCCESS").touch()
    write(tmp_path / "_temporary" / "0.parquet")
    for pattern in ("day-*.parquet", "**/*-*.parquet", "*"):
        place = tmp_path / pattern
        if whole:
            assert be.evaluate(QRELS, place, ["RR"]).per_query("RR") == {"q1": 0.5, "q2": 1.0}
        else:
            source = ArrowRows(place, "run", {})
            queries = [list(block.queries) for block in source.read_blocks(least=1)]
            assert (queries, source.rows, source.size) == ([["q1"], ["q2"]], 3, 3)


@pytest.mark.parametrize("whole", [True, False])
def test_a_column_that_appears_twice_is_an_error(tmp_path: Path, whole: bool) -> None:
    names = ["query", "document", "document", "score"]
    twice = pa.table([["q1"], ["a"], ["b"], [1.0]], names=names)
    pa.parquet.write_table(twice, tmp_path / "run.parquet")
    (tmp_path / "run.csv").write_text(",".join(names) + "\nq1,a,b,1\n")
    for form in ("parquet", "csv"):
        path = tmp_path / f"run.{form}"
        found = f"{path}: the column 'document' appears twice; rename or remove one of them"
        assert said(path, whole=whole) == found
    with pytest.raises(DataError, match="the column 'document' appears twice"):
        Run.load(twice)


@pytest.mark.parametrize("whole", [True, False])
def test_files_that_end_too_early_are_errors(tmp_path: Path, whole: bool) -> None:
    write(tmp_path / "run" / "a.parquet")
    cut = write(tmp_path / "run" / "b.parquet")
    cut.write_bytes(cut.read_bytes()[:-20])
    assert said(cut.parent, whole=whole).startswith(f"{cut}: cannot be read as Parquet: ")
    packed = tmp_path / "run.csv.gz"
    packed.write_bytes(gzip.compress(b"query,document,score\nq1,a,1\n")[:-9])
    expected = f"{packed}: ends in the middle of its compressed data"
    assert said(packed, whole=whole) == expected


ROWS = [
    ("q1,a", "expected 4 columns, found 3: ',q1,a'"),
    ("q1,a,x", "row 1: the score must be a number, found 'x'"),
    ('q1,a,""', "row 1: the score must be a number, found ''"),
    ("q1,,1", "row 1: the document is missing"),
    ("q1,a,nan", "row 1: the score must not be NaN"),
    ("q1,b,3", "row 1: document 'b' appears twice in query 'q1'"),
]


@pytest.mark.parametrize(("row", "fault"), ROWS)
def test_a_faulty_row_of_csv_is_an_error_or_left_out(tmp_path: Path, row: str, fault: str) -> None:
    path = tmp_path / "run.csv"
    path.write_text(f"score_,query,document,score\n,q1,b,2\n,{row}\n,q2,b,2\n")
    for whole in (True, False):
        assert said(path, whole=whole) == f"{path}: {fault}"
    scores = be.evaluate(QRELS, path, ["RR"], lenient=True)
    assert (scores.dropped, scores.mean["RR"]) == (1, 0.5)


def test_quoted_cells_of_csv_may_have_line_feeds_in_files_of_any_size(tmp_path: Path) -> None:
    """A reader in blocks must not take them for the ends of rows; an open quote has no end."""
    path = tmp_path / "run.csv"
    rows = [f'q{row},"d\n{row % 9},\nx\n",1,"{"text" * 9}\n"\n' for row in range(40_000)]
    path.write_text("query,document,score,text\n" + "".join(rows))
    table = Run.load(path).table
    assert len(table.values) == len(rows)
    assert set(table.documents) == {f"d\n{place},\nx\n" for place in range(9)}
    path.write_text('query,document,score,text\nq,"d,1,a\n' + "q,d,1,text\n" * 400_000)
    with pytest.raises(DataError, match="a row is longer than 1 MB; is a quotation mark not clos"):
        Run.load(path)


def test_csv_needs_a_header(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("q1,a,1\n")
    assert "no column with the query" in said(path, whole=True)
    path.write_text("")
    expected = f"{path}: is empty, expected a header line with column names"
    assert said(path, whole=True) == expected


def test_numbers_of_csv_may_stand_between_spaces(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("query,document,score\nq1,a, 2\nq1,b,1 \nq2,b,\t1\n")
    for lenient in (False, True):
        assert be.evaluate(QRELS, path, ["RR"], lenient=lenient).mean["RR"] == 1


@pytest.mark.parametrize("text", ["query,document,score\rq1,a,1\r", f"query,{'x' * 200_000}\n"])
def test_a_header_that_cannot_be_read_is_an_error(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.csv"
    path.write_text(text, newline="")
    assert said(path, whole=True).startswith(f"{path}:1: the header line cannot be read (")


def test_judgments_may_be_folders_patterns_and_csv(tmp_path: Path) -> None:
    expected = Qrels.from_dict(QRELS).to_dict()
    columns = {"query": ["q1", "q2"], "document": ["a", "b"], "grade": [1, 2]}
    write(tmp_path / "qrels-parts" / "part-0.parquet", **columns)
    (tmp_path / "qrels.csv").write_text('"query";"document";"grade"\n"q1";"a";1\nq2;b;2\n')
    for source in ("qrels-parts", "qrels-parts/*.parquet", "qrels.csv"):
        assert Qrels.load(tmp_path / source).to_dict() == expected


def test_a_folder_of_judgments_without_tables_is_still_one_of_beir(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected a file, or a BEIR folder with qrels/test.tsv"):
        Qrels.load(tmp_path)


def test_ids_of_csv_are_text_and_columns_may_be_named(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("user,item,score\n007,1.0,3\n")
    run = Run.load(path, query="user", document="item")
    assert run.to_dict() == {"007": {"1.0": 3.0}}


def test_small_files_json_and_pipes_are_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERRYEVAL_MAX_WHOLE_MB", "1")
    row = "q1 Q0 a 1 1.0 t\n"
    for name, is_large in {"run.trec": True, "run.json": False, "run.parquet.gz": False}.items():
        path = tmp_path / name
        path.write_text(row)
        assert open_rows(path) is None
        path.write_text(row * 100_000)
        assert (open_rows(path) is not None) == is_large
    assert open_rows("-") is None


def test_without_the_engine_an_error_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    source = ArrowRows(write(tmp_path / "run.parquet"), "run", {})
    with pytest.raises(MissingDependencyError) as caught:
        next(sort_blocks(source, "run"))
    assert str(caught.value) == (
        f"{tmp_path}/run.parquet: sorting rows by query on disk needs duckdb: "
        'pip install "duckdb>=1.4" "pyarrow>=15"'
    )


def test_without_a_temporary_folder_sorting_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = ArrowRows(write(tmp_path / "run.parquet"), "run", {})
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(DataError) as caught:
        next(sort_blocks(source, "run"))
    start = f"rows cannot be sorted on disk in {tmp_path}/gone: "
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith("make room there, or name another folder with TMPDIR")


@pytest.mark.parametrize("limit", ["folder", "size"])
def test_a_large_pipe_that_cannot_be_kept_is_an_error(
    tmp_path: Path, limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, folder = tmp_path / "pipe", tmp_path / "temporary"
    os.mkfifo(path)
    folder.mkdir()
    monkeypatch.setenv("BERRYEVAL_MAX_WHOLE_MB", "1")
    if limit == "size":
        monkeypatch.setenv("BERRYEVAL_MAX_PIPE_MB", "3")
    monkeypatch.setattr(tempfile, "tempdir", str(folder if limit == "size" else folder / "gone"))

    def write() -> None:
        with suppress(BrokenPipeError), path.open("wb") as stream:
            stream.write(b"q1 Q0 a 1 1.0 t\n" * 500_000)

    writer = threading.Thread(target=write)
    writer.start()
    with pytest.raises(DataError) as caught:
        be.evaluate(QRELS, path, ["RR"])
    writer.join()
    expected = {
        "folder": f"{path}: cannot be kept in {folder}/gone (No such file or directory); make room",
        "size": f"{path}: more than 3 MB, from a pipe or device; set BERRYEVAL_MAX_PIPE_MB",
    }
    assert str(caught.value).startswith(expected[limit])
    assert list(folder.iterdir()) == []


FULL = """
import resource, sys, tempfile
sys.dont_write_bytecode = True  # Python would keep the first part of what it compiles
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
import berryeval as be
try:
    be.evaluate({"q1": {"d1": 1}}, sys.argv[1], ["RR"])
except be.errors.DataError as error:
    print(error)
"""


def test_a_full_disk_is_an_error_that_leaves_nothing_behind(tmp_path: Path) -> None:
    path, folder = tmp_path / "run.trec", tmp_path / "temporary"
    folder.mkdir()
    with path.open("w") as stream:
        for row in range(300_000):
            stream.write(f"q{row % 997:09} Q0 d{row:019} 1 {row % 7} t\n")
    command = [sys.executable, "-c", FULL, str(path)]
    limits = {"BERRYEVAL_MAX_WHOLE_MB": "1", "BERRYEVAL_MAX_SORT_MB": "20"}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={"TMPDIR": str(folder), "BERRYEVAL_THREADS": "1", **limits},
        check=False,
    )
    assert done.stdout.startswith(f"rows cannot be sorted on disk in {folder}: "), done.stderr
    assert done.stdout.count("\n") == 1
    assert list(folder.iterdir()) == []


def test_a_fault_found_while_sorting_is_reported_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q1 Q0 a 1 1 t\nq2 Q0 a 1 1 t\nq1 Q0 a 1\n")
    with pytest.raises(BerryEvalError, match=r"run.trec:3: expected 6 columns"):
        list(sort_blocks(TextRows(path, "run"), "run", least=1))


class Interrupted(TextRows):
    """A run whose reader is interrupted, at its first block or a moment after its last."""

    late = False

    def read_blocks(self, **options: Any) -> Iterator[QueryTable]:
        yield from super().read_blocks(**options)
        if not self.late:
            raise KeyboardInterrupt
        signal.setitimer(signal.ITIMER_REAL, 0.001)  # while DuckDB sorts


@pytest.mark.parametrize("late", [False, True])
def test_an_interrupt_while_sorting_is_an_interrupt(tmp_path: Path, late: bool) -> None:
    """Ctrl-C must not be reported as a full disk or as a bug."""
    path = tmp_path / "run.trec"
    path.write_text("".join(f"q{row % 997} Q0 d{row} 1 1 t\n" for row in range(300_000)))
    source = Interrupted(path, "run")
    source.late = late
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(sort_blocks(source, "run"))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
