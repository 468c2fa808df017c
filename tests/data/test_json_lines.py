"""JSON lines of judgments and runs."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval import audit
from berryeval.data.formats.layouts import DOCUMENT, QUERY, VALUE
from berryeval.data.qrels import Qrels
from berryeval.data.run import Run
from berryeval.errors import DataError
from berryeval.scoring.engine import evaluate
from tests.data.rows import bits, ids, rows, scores

if TYPE_CHECKING:
    from random import Random

RUN = b'{"query_id": "q1", "doc_id": "d1", "score": 2}\n\n{"score": 1.5, "qid": 1, "docid": 7}\r\n'


def written(folder: Path, text: bytes, name: str = "a.jsonl") -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(text)
    return path


def test_json_lines_are_read(tmp_path: Path) -> None:
    wanted = {"q1": {"d1": 2.0}, "1": {"7": 1.5}}
    for path in (
        written(tmp_path, RUN),
        written(tmp_path, RUN, "a.ndjson"),
        written(tmp_path, gzip.compress(RUN), "a.jsonl.gz"),
    ):
        assert Run.load(path).to_dict() == wanted
        assert evaluate({"q1": {"d1": 1}}, path, ["AP"]).mean["AP"] == 1.0
    assert Run.from_json_lines(path).table.labels["line"].tolist() == [1, 3]


@pytest.mark.parametrize("kind", [Run, Qrels])
def test_keys_may_have_any_common_column_name(tmp_path: Path, kind: type[Run | Qrels]) -> None:
    for query, document, value in [
        *((name, "doc_id", VALUE[kind.kind][0]) for name in QUERY),
        *(("query-id", name.upper().replace("_", "-"), VALUE[kind.kind][0]) for name in DOCUMENT),
        *(("qid", "corpus-id", name) for name in VALUE[kind.kind]),
    ]:
        text = json.dumps({query: "q", document: "d", value: 3, "iteration": "0"}).encode()
        assert kind.load(written(tmp_path, text)).to_dict() == {"q": {"d": 3.0}}


def test_keys_can_be_chosen(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a": "q", "b": "d", "c": 4, "score": 5}')
    run = Run.from_json_lines(path, query="a", document="b", score="c")
    assert run.to_dict() == {"q": {"d": 4.0}}


GOOD = b'{"query": "q", "doc": "d", "grade": 1}\n'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", "2: not valid JSON (Expecting property name enclosed in double quotes, column 2)"),
        (b"[1]", "2: expected an object with a query, a document and a number, found list [1]"),
        (b"q 0 d 1", "2: not valid JSON (Expecting value, column 1)"),
        (
            b'{"query": "q", "doc": "e"}',
            "2: no column with the grade (any of grade, rel, relevance, relevance_label, label",
        ),
        (
            b'{"query": null, "doc": "e", "rel": 1}',
            "2: a query id must be a str or a whole number, found NoneType None",
        ),
        (
            b'{"query": "q", "doc": 1.5, "rel": 1}',
            "2: a document id must be a str or a whole number, found float 1.5",
        ),
        (
            b'{"query": "q", "doc": "\\ud800", "rel": 1}',
            "2: a document id must be valid Unicode text, found str '\\ud800'",
        ),
        (b'{"query": "q", "doc": "e", "rel": "1"}', "2: the grade must be a number, found str '1'"),
        (
            b'{"query": "q", "doc": "e", "rel": true}',
            "2: the grade must be a number, found bool True",
        ),
        (b'{"query": "q", "doc": "e", "rel": NaN}', "2: the grade must not be NaN"),
        (b'{"query": "q", "doc": "e", "rel": 1e999}', "2: the grade must be finite, found inf"),
        (
            b'{"query": "q", "doc": "e", "rel": 1' + b"0" * 400 + b"}",
            "2: the grade is too large for a number",
        ),
        (b'{"query": "q", "doc": "d", "rel": 1}', "2: document 'd' appears twice in query 'q'"),
        (b'{"query": "q", "rel": 1, "rel": 2}', "2: 'rel' appears twice in one object"),
        (b'{"query": "\xff"}', "2: not UTF-8 text; save it as UTF-8"),
        (b'{"a":' * 100_000, "2: not an object with a query, a document and a number, but nested"),
    ],
    ids=range(16),
)
def test_invalid_line_is_an_error_with_its_number(
    tmp_path: Path, text: bytes, message: str
) -> None:
    path = written(tmp_path, GOOD + text + b"\n" + GOOD.replace(b'"d"', b'"z"'))
    with pytest.raises(DataError) as caught:
        Qrels.load(path)
    assert str(caught.value).startswith(f"{path}:{message}")
    table = Qrels.load(path, lenient=True).table
    assert (table.to_dict(), table.dropped) == ({"q": {"d": 1.0, "z": 1.0}}, 1)


def test_file_without_valid_lines_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a\.jsonl: holds no rows$"):
        Qrels.load(written(tmp_path, b"\n"))
    with pytest.raises(DataError, match=r"holds no rows that can be used \(1 left out\)$"):
        Qrels.load(written(tmp_path, b"x\n"), lenient=True)


@settings(max_examples=40)
@given(rows(ids, scores), st.randoms())
def test_json_lines_hold_any_id(run: dict[str, dict[str, float]], random: Random) -> None:
    lines = [
        json.dumps({"query": query, "document": document, "score": score})
        for query, row in run.items()
        for document, score in row.items()
    ]
    random.shuffle(lines)
    with tempfile.TemporaryDirectory() as folder:
        found = Run.load(written(Path(folder), "\n".join(lines).encode()))
    assert bits(found.to_dict()) == bits(run)


def test_audit_reads_every_format(tmp_path: Path) -> None:
    run = written(tmp_path, RUN + b"bad\n" + RUN)
    report = audit({"q1": {"d1": 1}}, run)
    assert [(fault.kind, fault.line) for fault in report.faults] == [
        ("faulty line", 4),
        ("repeated document", 5),
        ("repeated document", 7),
    ]
    as_json = written(tmp_path, b'{"q1": {"d1": 2, "d1": 3}}', "a.json")
    (fault,) = audit({"q1": {"d1": 1}}, as_json).faults
    assert str(fault) == "run: '1 rows, repeated or without a number'"
    qrels = written(tmp_path, b"query-id\tcorpus-id\tscore\nq1\td 1\t1\n", "qrels.tsv")
    report = audit(qrels, {"q1": {"d 1": 1.0}})
    assert not report.faults
    assert not report.missing_queries
