"""`berryeval score` on large runs: folders, patterns, pipes, progress."""

from __future__ import annotations

import gzip
import json
import os
import pty
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest

import berryeval as be
from berryeval.errors import DataError

ROWS = 160_000
PER_QUERY = 400


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write one run of more than a megabyte in every form, and judgments."""
    folder = tmp_path_factory.mktemp("large")
    queries = [f"q{row // PER_QUERY:06}" for row in range(ROWS)]
    documents = [f"d{row % PER_QUERY:06}" for row in range(ROWS)]
    scores = [float(-(row * 7 % PER_QUERY)) for row in range(ROWS)]
    table = pa.table({"query": queries, "document": documents, "score": scores})
    pa.parquet.write_table(table, folder / "run.parquet", compression="none")
    (folder / "parts").mkdir()
    for place in range(0, ROWS, 77_777):
        part = folder / "parts" / f"part-{place:06}.csv"
        pa.csv.write_csv(table.slice(place, 77_777), part)
    lines = [
        f"{query} Q0 {document} 1 {score} run\n"
        for query, document, score in zip(queries, documents, scores, strict=True)
    ]
    (folder / "run.trec").write_text("".join(lines))
    (folder / "run.trec.gz").write_bytes(gzip.compress("".join(lines).encode(), 1))
    (folder / "shuffled.trec").write_text("".join(lines[::2] + lines[1::2]))
    judged = {query: {"d000000": 1, "d000007": 2} for query in set(queries)}
    (folder / "qrels.json").write_text(json.dumps(judged))
    return folder


def run_score(*arguments: object, **options: Any) -> Any:
    command = [sys.executable, "-m", "berryeval", "score", *map(str, arguments)]
    environment = {**os.environ, "BERRYEVAL_MAX_WHOLE_MB": "1"}
    return subprocess.run(
        command, capture_output=True, env=environment, check=False, timeout=120, **options
    )


@pytest.fixture(scope="module")
def expected(files: Path) -> be.Scores:
    """Score the whole run in memory."""
    return be.evaluate(files / "qrels.json", be.Run.load(files / "run.parquet"), ["nDCG@10", "AP"])


@pytest.mark.parametrize(
    "name", ["run.parquet", "parts", "parts/*.csv", "run.trec", "run.trec.gz", "shuffled.trec"]
)
def test_every_form_of_a_large_run_has_the_same_scores(
    files: Path,
    name: str,
    expected: be.Scores,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("BERRYEVAL_MAX_WHOLE_MB", "1")
    for lenient in (False, True):
        found = be.evaluate(files / "qrels.json", files / name, ["nDCG@10", "AP"], lenient=lenient)
        assert found == expected
    assert ("are not together, so the run is sorted" in caplog.text) == (name == "shuffled.trec")


@pytest.mark.parametrize("name", ["run.trec.gz", "shuffled.trec"])
def test_a_large_pipe_is_kept_in_a_file_that_goes_again(
    files: Path, name: str, expected: be.Scores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    text = (files / name).read_bytes()
    done = run_score(files / "qrels.json", "-", "-m", "nDCG@10", "--json", input=text)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["data"]
    assert found["metrics"]["nDCG@10"]["value"] == expected.mean["nDCG@10"]
    told = b"are not together, so the run is sorted by query on disk (DuckDB)" in done.stderr
    assert told == (name == "shuffled.trec")
    assert done.stderr.count(b"\n") == (name == "shuffled.trec")
    assert list(tmp_path.iterdir()) == []


def test_a_faulty_line_of_a_large_pipe_is_named(
    files: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    text = (files / "run.trec").read_bytes() + b"q1 x"
    done = run_score(files / "qrels.json", "-", "-m", "RR", input=text)
    assert done.stderr.startswith(f"error: <stdin>:{ROWS + 1}: expected 6 columns".encode())
    assert list(tmp_path.iterdir()) == []


def test_quiet_says_nothing_of_the_sorting(files: Path) -> None:
    done = run_score(files / "qrels.json", files / "shuffled.trec", "-m", "RR", "--quiet")
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize(
    ("more", "fault"),
    [
        ("q1 Q0 d 1 x t\n", "the score must be a number, found 'x'"),
        ("q1 Q0 d 1\n", "expected 6 columns"),
        ("q000399 Q0 d000003 1 7 t\n", "document 'd000003' appears twice in query 'q000399'"),
    ],
)
def test_a_large_run_with_a_faulty_line_is_the_error_of_that_line(
    files: Path, tmp_path: Path, more: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERRYEVAL_MAX_WHOLE_MB", "1")
    path = tmp_path / "run.trec"
    path.write_text((files / "run.trec").read_text() + more)
    with pytest.raises(DataError) as caught:
        be.evaluate(files / "qrels.json", path, ["RR"])
    assert str(caught.value).startswith(f"{path}:{ROWS + 1}: {fault}")


SLOW = """
import sys, time
from berryeval.cli.logs import error_screen, rows_on
with rows_on(error_screen(), hidden=sys.argv[1] == "hidden") as follower:
    for step in range(8):
        time.sleep(0.2)
        follower.advance(step * 1_000_000, step / 8)
    follower.say("told")
"""


def show_progress(how: str, size: int = 8) -> str:
    """Return what a terminal shows of a job with progress."""
    ours, theirs = pty.openpty()
    code = SLOW.replace("range(8)", f"range({size})")
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "120", "NO_COLOR": "1"}
    process = subprocess.Popen([sys.executable, "-c", code, how], stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while select.select([ours], [], [], 20)[0]:
        try:
            piece = os.read(ours, 1 << 16)
        except OSError:  # the terminal is closed
            break
        if not piece:
            break
        shown += piece
    process.wait(timeout=20)
    os.close(ours)
    return shown.decode()


def test_a_terminal_shows_the_progress_of_long_jobs_only() -> None:
    shown = show_progress("shown")
    assert "million rows, " in shown
    assert "rows/s" in shown
    assert "s left" in shown
    assert "warning: told" in shown
    assert "rows/s" not in show_progress("shown", 3)
    assert "rows/s" not in show_progress("hidden")
