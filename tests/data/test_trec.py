"""TREC and TSV files, and their error messages."""

from __future__ import annotations

import io
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import pytest

from berryeval.data.qrels import Qrels
from berryeval.data.run import Run
from berryeval.errors import DataError
from berryeval.scoring.engine import evaluate

if TYPE_CHECKING:
    from pathlib import Path

RUN = b"q1 Q0 d1 1 9.5 mine\nq1 Q0 d2 2 8 mine\nq2 Q0 d1 1 1e-3 mine\n"
FOUR = "expected 4 columns (query group document grade)"
SIX = "expected 6 columns (query Q0 document rank score tag)"
QRELS = b"q1 0 d1 2\nq1 0 d3 0\nq2 0 d1 1\n"


def written(folder: Path, content: bytes, name: str = "some.txt") -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(content)
    return path


def test_a_run_is_read(tmp_path: Path) -> None:
    run = Run.from_trec(written(tmp_path, RUN))
    assert run.to_dict() == {"q1": {"d1": 9.5, "d2": 8.0}, "q2": {"d1": 0.001}}
    assert run.name == "mine"
    assert Run.from_trec(written(tmp_path, RUN), name="other").name == "other"


def test_judgments_are_read(tmp_path: Path) -> None:
    qrels = Qrels.from_trec(written(tmp_path, b"q1 7 d1 2\nq1 0 d2 -1\n"))
    assert qrels.to_dict() == {"q1": {"d1": 2.0, "d2": -1.0}}
    assert list(qrels.table.labels["group"]) == ["7", "0"]


def test_rows_of_a_query_need_not_be_adjacent(tmp_path: Path) -> None:
    text = b"# a comment\nb 0 d1 1\n\na 0 d1 1\r\n \t \nb\t0\td2\t2"
    table = Qrels.from_trec(written(tmp_path, text)).table
    assert list(table.queries) == ["b", "a"]
    assert list(table.documents) == ["d1", "d2", "d1"]
    assert table.labels["line"].tolist() == [2, 6, 4]


def test_a_document_may_be_judged_in_several_groups(tmp_path: Path) -> None:
    path = written(tmp_path, b"q1 1 d1 1\nq1 2 d1 3\nq1 1 d2 1\n")
    qrels = Qrels.load(path)
    assert qrels.to_dict() == {"q1": {"d1": 3.0, "d2": 1.0}}
    qrels.to_trec(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == path.read_bytes()
    qrels.to_json(tmp_path / "again.json")
    assert Qrels.load(tmp_path / "again.json").to_dict() == qrels.to_dict()
    assert Qrels.load(qrels.to_frame("arrow")).to_dict() == qrels.to_dict()
    text = b"q1 1 d1 1\nq1 2 d1 3\nq1 1 d2 1\nq1 3 d2 1\nq1 1 d2 0\n"
    path = written(tmp_path, text)
    with pytest.raises(DataError, match=":5: document 'd2' appears twice in query 'q1'"):
        Qrels.load(path)
    assert Qrels.load(path, lenient=True).table.dropped == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"q1 0 d1 1\nq1 0 d1\n", f":2: {FOUR}, found 3: 'q1 0 d1'"),
        (b"q1 0 d1 1 x\n", f":1: {FOUR}, found 5: 'q1 0 d1 1 x'"),
        (b"q1 0 d1 high\n", ":1: the grade must be a number, found 'high'"),
        (b"q1 0 d1 +-1\n", ":1: the grade must be a number, found '+-1'"),
        (b"q1 0 d1 0x1\n", ":1: the grade must be a number, found '0x1'"),
        (b"q1 0 d1 1_0\n", ":1: the grade must be a number, found '1_0'"),
        (b"q1 0 d1 NaN\n", ":1: the grade must not be NaN"),
        (b"q1 0 d1 -inf\n", ":1: the grade must be finite, found '-inf'"),
        (b"q1 0 d1 1e999\n", ":1: the grade must be finite, found '1e999'"),
        (b"q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 2\n", ":3: document 'd1' appears twice in query 'q1'"),
        (b"q1 0 d1 1\nq1 0 d1 1\nbad\n", ":2: document 'd1' appears twice in query 'q1'"),
        (b"bad\nq1 0 d1 1\nq1 0 d1 1\n", f":1: {FOUR}, found 1: 'bad'"),
        (b"q1 0 d\xff 1\n", ":1: not UTF-8 text; save it as UTF-8: 'q1 0 d\\\\xff 1'"),
        (b"q1 0 d1 1\nq1 0 d\0 1\n", ":2: not UTF-8 text (a binary file?): 'q1 0 d\\x00 1'"),
        (b"", ": holds no rows"),
        (b"# nothing\n\n", ": holds no rows"),
        (b"query-id\tcorpus-id\tscore\n", ": holds no rows"),
        (
            b"query-id\tcorpus-id\tscore\nq1\td1\n",
            ":2: expected 3 columns separated by tabs (query document grade), found 2: 'q1\\td1'",
        ),
        (
            b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td1\t1\n",
            ":3: document 'd1' appears twice in query 'q1'",
        ),
    ],
)
def test_invalid_judgments_are_an_error(tmp_path: Path, text: bytes, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError) as caught:
        Qrels.load(path)
    assert str(caught.value) == f"{path}{message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"q1 Q0 d1 1 9\n", f":1: {SIX}, found 5: 'q1 Q0 d1 1 9'"),
        (b"q1 Q0 d1 1 x me\n", ":1: the score must be a number, found 'x'"),
        (b"q1 Q0 d1 1 nan(7) me\n", ":1: the score must not be NaN"),
        (b"q1 Q0 d1 1 1 me\nq1 Q0 d1 2 1 me\n", ":2: document 'd1' appears twice in query 'q1'"),
        (b"zz Q0 d1 1 1 me\nzz Q0 d1 2 1 me\n", ":2: document 'd1' appears twice in query 'zz'"),
        (
            b"zz Q0 d1 1 1 me\nq1 Q0 d1 1 1 me\nzz Q0 d1 2 1 me\n",
            ":3: document 'd1' appears twice in query 'zz'",
        ),
        (
            b"q1 Q0 d1 1 1 me\nq1 Q0 d1 2 1 me\nbad\n",
            ":2: document 'd1' appears twice in query 'q1'",
        ),
        (
            b"q1 Q0 d\xc0\xaf 1 1 me\n",
            ":1: not UTF-8 text; save it as UTF-8: 'q1 Q0 d\\\\xc0\\\\xaf 1 1 me'",
        ),
        (b"\n", ": holds no rows"),
    ],
)
def test_invalid_runs_are_an_error(tmp_path: Path, text: bytes, message: str) -> None:
    path = written(tmp_path, text)
    for act in (lambda: Run.load(path), lambda: evaluate({"q1": {"d1": 1}}, path, ["P@5"])):
        with pytest.raises(DataError) as caught:
            act()
        assert str(caught.value) == f"{path}{message}"


def test_lenient_reading_keeps_first_rows_and_counts_the_rest(tmp_path: Path) -> None:
    text = b"q1 0 d1 2\nbad\nq1 0 d1 3\nq1 0 d2 nan\nq1 0 d3 inf\nq1 0 \xff 1\nq2 0 d1 1\n"
    table = Qrels.load(written(tmp_path, text), lenient=True).table
    assert table.to_dict() == {"q1": {"d1": 2.0}, "q2": {"d1": 1.0}}
    assert table.dropped == 5
    assert table.labels["line"].tolist() == [1, 7]


def test_lenient_reading_of_nothing_useful_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, b"bad\nworse\n")
    with pytest.raises(DataError) as caught:
        Qrels.load(path, lenient=True)
    assert str(caught.value) == f"{path}: holds no rows that can be used (2 left out)"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (b"1e-400", 0.0),
        (b"-1e-400", -0.0),
        (b"0e999", 0.0),
        (b"5e-324", 5e-324),
        (b"+.5", 0.5),
        (b"7.", 7.0),
        (b"1e400", np.inf),
        (b"-1e400", -np.inf),
        (b"Infinity", np.inf),
        (b"0.1", 0.1),
        (b"1e99999999999999999999", np.inf),
        (b"1e-99999999999999999999", 0.0),
        (b"0." + b"0" * 400 + b"1e400", 0.1),
        (b"1" + b"0" * 400 + b"e-400", 1.0),
        (b"9007199254740993", 9007199254740992.0),
        (b"2.2250738585072011e-308", 2.2250738585072011e-308),
    ],
)
def test_numbers_are_read_to_the_bit(tmp_path: Path, text: bytes, number: float) -> None:
    table = Run.load(written(tmp_path, b"q Q0 d 1 " + text + b" me\n")).table
    assert table.values.tobytes() == np.array([number]).tobytes()


def test_byte_order_mark_is_removed(tmp_path: Path) -> None:
    assert list(Qrels.load(written(tmp_path, b"\xef\xbb\xbfq1 0 d1 1\n")).table.queries) == ["q1"]


def test_beir_judgments_are_read(tmp_path: Path) -> None:
    text = b"query-id\tcorpus-id\tscore\nq 1\td 1\t2\r\n#2\td1\t1\n"
    assert Qrels.load(written(tmp_path, text, "test.tsv")).to_dict() == {
        "q 1": {"d 1": 2.0},
        "#2": {"d1": 1.0},
    }


def test_a_run_with_a_header_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, b"qid\tdocid\tscore\nq1\td2\t1\nq1\td1\t2\n", "run.tsv")
    assert Run.load(path).to_dict() == {"q1": {"d2": 1.0, "d1": 2.0}}
    assert evaluate({"q1": {"d1": 1}}, path, ["P@1"]).mean["P@1"] == 1.0


def test_a_beir_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    written(tmp_path / "qrels", b"query-id\tcorpus-id\tscore\nq1\td1\t1\n", "dev.tsv")
    assert Qrels.load(tmp_path).to_dict() == {"q1": {"d1": 1.0}}
    written(tmp_path / "qrels", b"query-id\tcorpus-id\tscore\nq2\td2\t1\n", "test.tsv")
    assert Qrels.load(tmp_path).to_dict() == {"q2": {"d2": 1.0}}
    assert Qrels.load(str(tmp_path), split="dev").to_dict() == {"q1": {"d1": 1.0}}
    with pytest.raises(DataError) as caught:
        Qrels.load(tmp_path, split="train")
    assert str(caught.value) == (
        f"{tmp_path}: is a directory, expected a file, or a BEIR folder with qrels/train.tsv; "
        "found dev.tsv, test.tsv"
    )


def test_stdin_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(QRELS)))
    assert len(Qrels.load("-")) == 2
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"bad\n")))
    with pytest.raises(DataError, match=r"^<stdin>:1: expected 4 columns"):
        Qrels.load("-")


def test_scoring_a_file_equals_scoring_its_table(tmp_path: Path) -> None:
    lines = [
        f"q{query} Q0 d{document} 1 {(document * 7919) % 101} me\n"
        for query in range(30)
        for document in range(50)
    ]
    judged = {f"q{query}": {f"d{query + 1}": 1, "d3": 2} for query in range(5, 40)}
    for order in (lines, lines[::7] + [line for i, line in enumerate(lines) if i % 7]):
        path = written(tmp_path, "".join(order).encode())
        one = evaluate(judged, path, ["nDCG@10", "AP"])
        other = evaluate(judged, Run.load(path).to_dict(), ["nDCG@10", "AP"])
        assert one.values.tobytes() == other.values.tobytes()
        assert one.counts.tolist() == other.counts.tolist()
        assert set(one.extra_queries) == set(other.extra_queries)
        assert one.run_name == "me"
