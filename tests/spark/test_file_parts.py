"""Parquet files that executors read themselves: the bytes of the local engine, no shuffle."""

from __future__ import annotations

import itertools
import math
import random
from pathlib import Path
from typing import Any

import pytest

import berryeval as be
from berryeval.data import ParquetPart, read_part
from berryeval.errors import DataError, RepeatedDocumentError
from berryeval.spark import evaluate
from berryeval.spark.file_parts import divide_files, find_local_path
from tests.spark.test_dataframes import METRICS, QRELS, as_dicts, frame, judged, make_rows

pa = pytest.importorskip("pyarrow")
Rows = list[tuple[Any, ...]]
NAMES = ["query", "document", "score"]
TYPES = [("query", "string"), ("document", "string"), ("score", "double")]


def write(path: Path, rows: Rows, group: int = 50, **types: Any) -> None:
    import pyarrow.parquet

    columns = zip(*rows, strict=True) if rows else ([], [], [])
    kinds = [types.get(name, pa.float64() if name == "score" else pa.string()) for name in NAMES]
    arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    pyarrow.parquet.write_table(pa.table(arrays, NAMES), path, row_group_size=group)


def group_by_query(rows: Rows) -> Rows:
    """Put the rows of each query together, the queries in the order in which they appear."""
    place = {query: number for number, (query, *_) in enumerate(reversed(rows))}
    return sorted(rows, key=lambda row: -place[row[0]])


@pytest.mark.parametrize("coded", [(), ("query",)])
def test_parts_divide_the_queries_of_a_file_among_them(
    tmp_path: Path, coded: tuple[str, ...]
) -> None:
    """Whatever the edges, row groups and lengths, and with a query over several row groups."""
    chance = random.Random(18)
    path = tmp_path / "run.parquet"
    for _ in range(40):
        names = chance.sample([None, "", "é", *map(str, range(9))], chance.randrange(1, 9))
        sizes = [(name, chance.choice([1, 2, 30])) for name in names]
        rows = [(name, f"d{place}", place / 7) for name, size in sizes for place in range(size)]
        write(path, rows, chance.choice([1, 3, 10, 1000]))
        size = path.stat().st_size
        edges = [0, *sorted(chance.choices(range(size), k=chance.randrange(4))), size]
        parts = [
            [row for batch in read_part(ParquetPart(str(path), *ends), TYPES, coded)
             for row in map(tuple, zip(*batch.to_pydict().values(), strict=True))]
            for ends in itertools.pairwise(edges)
        ]  # fmt: skip
        assert [row for part in parts for row in part] == rows
        queries = [query for part in parts for query in {row[0] for row in part}]
        assert len(queries) == len(set(queries)) == len(names)


def test_files_are_divided_into_tasks_of_about_one_size(tmp_path: Path) -> None:
    sizes = [200, 1, 1, 9, 30]
    for place, size in enumerate(sizes):
        write(tmp_path / f"part {place}.parquet", [("q", "d", 1.0)])
        with (tmp_path / f"part {place}.parquet").open("ab") as stream:
            stream.truncate(size << 20)
    with (tmp_path / "part 0.parquet").open("wb"):
        pass
    write(tmp_path / "part 0.parquet", [("q", "d", 1.0)])
    addresses = [path.as_uri() for path in tmp_path.iterdir()]
    found = divide_files(addresses, NAMES, cores=2)
    assert found is not None
    taken = [sum(part.end - part.start for part in task) for task in found.tasks]
    assert len(taken) > 3
    assert max(taken) < 12 << 20
    for path in map(str, tmp_path.iterdir()):
        edges = [part[1:] for task in found.tasks for part in task if part.path == path]
        assert edges[0][0] == 0
        assert edges[-1][1] == Path(path).stat().st_size
        assert all(one[1] == other[0] for one, other in itertools.pairwise(edges))


def test_only_local_addresses_have_a_path(tmp_path: Path) -> None:
    assert find_local_path("file:///run/part%200%25.parquet") == "/run/part 0%.parquet"
    assert find_local_path("file:/run/a#b?c") == "/run/a#b?c"
    assert find_local_path("s3a://bucket/run") is None
    assert find_local_path("hdfs://host:9000/run") is None
    assert find_local_path("file://host/run") is None
    write(tmp_path / "run.parquet", [("q", "d", 1.0)])
    addresses = [(tmp_path / "run.parquet").as_uri()]
    assert divide_files(addresses, NAMES, 1) is not None
    assert divide_files([*addresses, "s3a://bucket/run"], NAMES, 1) is None
    assert divide_files([(tmp_path / "other.parquet").as_uri()], NAMES, 1) is None
    assert divide_files(addresses, ["day", "document", "score"], 1) is None


def test_grouped_files_give_the_bytes_of_the_local_engine_without_a_shuffle(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files and row groups of any size, ties, a large query, profiles, other types and names."""
    monkeypatch.setattr("berryeval.spark.file_parts._LEAST", 1 << 12)
    chance = random.Random(18)
    for trial, profile in enumerate(("berryeval", "trec_eval", "ranx", "berryeval")):
        if trial == 1:  # queries as codes of a dictionary, as in large files
            monkeypatch.setattr("berryeval.data.formats.batches._PLAIN", math.inf)
        judgments, run = make_rows(trial)
        run = group_by_query(run)
        folder = tmp_path / f"run {trial}"
        folder.mkdir()
        queries = list(dict.fromkeys(query for query, *_ in run))
        parts = [queries[place::3] for place in range(3)]
        for place, names in enumerate(parts):
            rows = [row for row in run if row[0] in names]
            kinds = {} if trial < 3 else {"query": pa.binary(), "score": pa.float64()}
            write(folder / f"part {place}.parquet", rows, chance.choice([7, 100, 5000]), **kinds)
        found = evaluate(judged(spark, judgments), str(folder), METRICS, profile=profile)
        expected = be.evaluate(as_dicts(judgments), as_dicts(run), METRICS, profile=profile)
        assert found.collect() == expected
        assert dict(found.mean) == dict(expected.mean)
        plan = found.table._jdf.queryExecution().toString()
        assert "Exchange" not in plan
        found.unpersist()


def test_rows_that_are_not_grouped_are_shuffled_and_the_log_says_so(
    spark: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a task, and over two of them; queries without judgments count too."""
    monkeypatch.setattr("berryeval.spark.file_parts._LEAST", 1)
    run = [("q1", "a", 1.0), ("q2", "b", 2.0), ("x", "a", 1.0)]
    for number, query in enumerate(("q1", "x")):
        folder = tmp_path / str(number)
        folder.mkdir()
        write(folder / "0.parquet", run)
        write(folder / "1.parquet", [(query, "new", 3.0)])
        found = evaluate(judged(spark), str(folder), ["AP"]).collect()
        assert found == be.evaluate(as_dicts(QRELS),
                                    as_dicts([*run, (query, "new", 3.0)]), ["AP"])  # fmt: skip
        assert f"the rows of query {query!r} are not together" in caplog.text
        with pytest.raises(DataError, match=f"the rows of query {query!r} are in several"):
            evaluate(judged(spark), str(folder), ["AP"], grouped=True)
    many = [(f"q{place % 7}", f"d{place}", float(place)) for place in range(300_000)]
    write(tmp_path / "many.parquet", many, 100_000)
    found = evaluate(judged(spark), str(tmp_path / "many.parquet"), ["AP"]).collect()
    assert found == be.evaluate(as_dicts(QRELS), as_dicts(many), ["AP"])  # fmt: skip


@pytest.mark.parametrize("coded", [False, True])
def test_faults_and_lenient_are_those_of_dataframes(
    spark: Any, tmp_path: Path, coded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`coded` queries are read as codes of a dictionary, as those of large files are."""
    if coded:
        monkeypatch.setattr("berryeval.data.formats.batches._PLAIN", math.inf)
    path = tmp_path / "run.parquet"
    rows: Rows = [("q1", "a", 1.0), ("q1", "a", 2.0), ("q3", "x", None), (None, "y", 1.0)]
    write(path, rows)
    lenient = evaluate(judged(spark), str(path), ["AP", "num_ret"], lenient=True).collect()
    assert lenient == be.evaluate(
        be.Qrels.from_dict(as_dicts(QRELS)),
        path,
        ["AP", "num_ret"],
        lenient=True,
    )
    assert lenient.dropped == 3
    for some, kind, message in (
        (rows[:2], RepeatedDocumentError, "document 'a' appears twice in query 'q1'"),
        (rows[2:3], DataError, "the score of document 'x' for query 'q3' is missing"),
        (rows[3:], DataError, "the query of a row with document 'y' is missing"),
        ([], DataError, "holds no rows"),
    ):
        write(path, some)
        with pytest.raises(kind, match=f"^{path}: {message}"):
            evaluate(judged(spark), str(path), ["AP"])


def test_files_with_other_columns_are_an_error(spark: Any, tmp_path: Path) -> None:
    write(tmp_path / "0.parquet", [("q1", "a", 1.0)])
    write(tmp_path / "1.parquet", [("2", "a", 1)], score=pa.int64())
    with pytest.raises(DataError, match=r"^\S*1.parquet: column 'score' must be double as in the"):
        evaluate(judged(spark), str(tmp_path), ["AP"])


def test_files_may_have_other_column_names_and_an_order(spark: Any, tmp_path: Path) -> None:
    frame(spark, [("q1", "a", 1.0, 2), ("q1", "x", 1.0, 1)], "qid string, d string, s double, n int"
          ).write.parquet(str(tmp_path / "run"))  # fmt: skip
    options: dict[str, Any] = {"query": "qid", "document": "d", "score": "s"}
    found = evaluate(judged(spark), tmp_path / "run", ["RR"], **options)
    assert found.collect().per_query("RR")["q1"] == 0.5
    for order, expected in ((None, {1.0, 0.5}), ("n", {0.5})):
        found = evaluate(
            judged(spark), tmp_path / "run", ["RR"], profile="ranx", order=order, **options
        )
        assert found.collect().per_query("RR")["q1"] in expected


def test_csv_files_are_read_by_spark(spark: Any, tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("query,document,score\nq1,a,2\nq1,b,1\n")
    found = evaluate(judged(spark), str(tmp_path / "run.csv"), ["RR"]).collect()
    assert found.per_query("RR")["q1"] == 1
