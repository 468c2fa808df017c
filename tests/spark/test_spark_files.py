"""`berryeval score --engine spark` on Parquet and CSV files."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from berryeval.cli.app import build_app
from berryeval.cli.app import run as run_command
from tests.spark.test_dataframes import COLUMNS, make_rows

pa = pytest.importorskip("pyarrow")
pytestmark = pytest.mark.usefixtures("spark")
OPTIONS = ["-m", "nDCG@10", "AP", "--json", "--per-query"]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Write judgments and a run as Parquet, a folder of Parquet, CSV and TREC."""
    import pyarrow.csv
    import pyarrow.parquet

    folder = tmp_path_factory.mktemp("files")
    (folder / "parts").mkdir()
    judgments, run = make_rows(4)
    tables = {
        "qrels": pa.table(list(zip(*judgments, strict=True)), ["query_id", "doc_id", "relevance"]),
        "run": pa.table(list(zip(*run, strict=True)), COLUMNS.split(", ")),
    }
    tables["run"] = tables["run"].rename_columns(["query", "document", "score"])
    names = {}
    for name, table in tables.items():
        names[name] = str(folder / f"{name}.parquet")
        pyarrow.parquet.write_table(table, names[name])
        pyarrow.csv.write_csv(table, folder / f"{name}.csv")
        names[f"{name} csv"] = str(folder / f"{name}.csv")
    pyarrow.parquet.write_table(tables["run"].slice(0, 900), folder / "parts" / "0.parquet")
    pyarrow.parquet.write_table(tables["run"].slice(900), folder / "parts" / "1.parquet")
    names |= {"run parts": str(folder / "parts"), "run glob": str(folder / "parts" / "*.parquet")}
    names["qrels trec"] = str(folder / "qrels.txt")
    lines = [
        f"{query.replace(' ', '_')} 0 {document} {grade}" for query, document, grade in judgments
    ]
    Path(names["qrels trec"]).write_text("\n".join(lines) + "\n", "utf-8")
    names["empty"] = str(folder / "nothing.parquet")
    return names


def score(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert run_command(build_app(), ["score", *arguments, *OPTIONS]) == 0
    return json.loads(capsys.readouterr().out)


def test_files_give_the_output_of_the_local_engine(
    capsys: pytest.CaptureFixture[str], files: dict[str, str]
) -> None:
    """Parquet, a folder, a glob and CSV; judgments may be a local TREC file."""
    expected = score(capsys, files["qrels"], files["run"])
    for qrels, run in (
        ("qrels", "run"), ("qrels csv", "run parts"), ("qrels", "run glob"), ("qrels", "run csv"),
    ):  # fmt: skip
        found = score(capsys, files[qrels], files[run], "--engine", "spark", "--master", "local[2]")
        assert found == expected
    found = score(capsys, files["qrels trec"], files["run"], "--engine", "spark")
    assert found == score(capsys, files["qrels trec"], files["run"])


def test_files_keep_their_order(capsys: pytest.CaptureFixture[str], files: dict[str, str]) -> None:
    """Ties stay in the order of the file for profiles that want it."""
    options = ["--profile", "ranx"]
    expected = score(capsys, files["qrels"], files["run"], *options)
    for run in ("run", "run parts", "run csv"):
        assert score(capsys, files["qrels"], files[run], "--engine", "spark", *options) == expected


def test_csv_is_read_as_by_the_local_engine(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Doubled quotes, backslashes, semicolons, folders, and rows with a wrong number of cells."""
    (tmp_path / "run").mkdir()
    qrels, run = tmp_path / "qrels.json", tmp_path / "run" / "part.csv"
    qrels.write_text(json.dumps({"q1": {'a"b': 1, "c\\d": 1}, "q2": {"x": 1}}))
    rows = 'rank;query;document;score\n1;q1;"a""b";3\n2;q1;c\\d;2\n1;q2;x;1\n'
    run.write_text(rows)
    found = score(capsys, str(qrels), str(run.parent), "--engine", "spark")
    assert found == score(capsys, str(qrels), str(run.parent))
    assert found["data"]["metrics"]["nDCG@10"]["value"] == 1
    run.write_text(rows + "3;q1;b;2;3\n4;q1;c\n")
    arguments = [str(qrels), str(run), "--engine", "spark"]
    assert run_command(build_app(), ["score", *arguments, "-m", "RR"]) == 2
    assert "the score of document 'b' for query 'q1' is missing or" in capsys.readouterr().err
    found = score(capsys, *arguments, "--lenient")
    assert found == score(capsys, *arguments[:2], "--lenient")
    assert found["data"]["dropped_rows"] == 2


def test_csv_numbers_are_those_of_the_local_engine(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Java reads 1d and 0x1p3 as numbers; they are errors, as in the local engine."""
    qrels, run = tmp_path / "qrels.json", tmp_path / "run.csv"
    qrels.write_text(json.dumps({"q": {"a": 1, "b": 1}}))
    run.write_text("query,document,score\nq,a,+1.\nq,b, -.5E-2 \n")
    arguments = [str(qrels), str(run)]
    assert score(capsys, *arguments, "--engine", "spark") == score(capsys, *arguments)
    for text in ("1d", "2F", "0x1p3", "1e", "1_0", ""):
        run.write_text(f"query,document,score\nq,a,1\nq,b,{text}\n")
        for engine in ("local", "spark"):
            command = ["score", *arguments, "-m", "RR", "--engine", engine]
            assert run_command(build_app(), command) == 2, (text, engine)
            assert "score" in capsys.readouterr().err


def score_with_a_spark_of_its_own(qrels: str, run: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "berryeval", "score", qrels, run, "-m", "AP"]
    return subprocess.run(
        [*command, "--engine", "spark", "--master", "local[1]"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


def test_no_warning_of_pyspark_reaches_the_user(files: dict[str, str]) -> None:
    """PySpark warns about the version of pandas, which its users cannot do anything about."""
    done = score_with_a_spark_of_its_own(files["qrels"], files["run"])
    assert done.returncode == 0, done.stderr[-3000:]
    assert "Warning:" not in done.stderr


def test_no_trace_of_java_or_python_stands_before_an_error(
    files: dict[str, str], tmp_path: Path
) -> None:
    """Spark logs each failed task with its stack; the user gets one line."""
    for name, score in (("a", 1.0), ("b", 1)):
        part = pa.table({"query": ["q1"], "document": ["d"], "score": [score]})
        pa.parquet.write_table(part, tmp_path / f"{name}.parquet")
    done = score_with_a_spark_of_its_own(files["qrels"], str(tmp_path))
    assert done.returncode == 2
    assert "\tat " not in done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"error: {tmp_path / 'b.parquet'}: ")
    assert last.endswith("all files of a run have the same columns")


def test_csv_files_with_different_headers_are_an_error(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Otherwise documents would be taken for queries."""
    (tmp_path / "a.csv").write_text("query,document,score\nq1,a,1\n")
    (tmp_path / "b.csv").write_text("document,query,score\na,q2,1\n")
    qrels = tmp_path / "qrels.json"
    qrels.write_text('{"q1": {"a": 1}}')
    arguments = ["score", str(qrels), str(tmp_path / "*.csv"), "-m", "RR", "--engine", "spark"]
    assert run_command(build_app(), arguments) != 0
    assert "header" in capsys.readouterr().err.casefold()


def test_a_file_that_spark_cannot_read_is_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    qrels, run = tmp_path / "qrels.json", tmp_path / "run.parquet"
    qrels.write_text('{"q1": {"a": 1}}')
    run.write_text("no Parquet file")
    for path, expected in ((run, "error: Spark: "), (qrels, f"error: {qrels}: Spark reads Parq")):
        arguments = ["score", str(qrels), str(path), "-m", "RR", "--engine", "spark"]
        assert run_command(build_app(), arguments) != 0
        said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error")]
        assert said[0].startswith(expected)
        assert "looks like a bug" not in said[0]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["qrels", "empty", "--engine", "spark"], 2, "nothing.parquet: [PATH_NOT_FOUND]"),
        (["qrels", "qrels trec", "--engine", "spark"], 2, "Spark reads Parquet and CSV"),
        (["qrels", "run", "--master", "local"], 2, "--master needs --engine spark"),
        (["qrels", "run", "--engine", "spark", "--audit"], 2, "cannot be done by Spark"),
        (["qrels", "-", "--engine", "spark"], 2, "Spark cannot read stdin"),
        (["run", "qrels", "--engine", "spark"], 2, "qrels.parquet: no column with the score"),
    ],
)
def test_wrong_arguments_are_one_line(
    capsys: pytest.CaptureFixture[str],
    files: dict[str, str],
    arguments: list[str],
    code: int,
    message: str,
) -> None:
    names = [files.get(one, one) for one in arguments]
    assert run_command(build_app(), ["score", *names, "-m", "AP"]) == code
    captured = capsys.readouterr()
    assert message in captured.err
    assert "Traceback" not in captured.err
    assert captured.out == ""
