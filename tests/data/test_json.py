"""JSON files of judgments and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from berryeval.data.qrels import Qrels
from berryeval.data.run import Run
from berryeval.errors import DataError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_json_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    path.write_text('{"q1": {"d1": 1, "d2": 2.5}, "é": {"d1": -Infinity}}', encoding="utf-8")
    assert Run.load(path).to_dict() == {"q1": {"d1": 1.0, "d2": 2.5}, "é": {"d1": -float("inf")}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"{", ":1: not valid JSON (Expecting property name enclosed in double quotes, column 2)"),
        (b'{"q":\n\n x}', ":3: not valid JSON (Expecting value, column 2)"),
        (b"[1]", ": expected {query: {document: grade}}, found list [1]"),
        (b'{"q": 1}', ": query 'q' must map documents to grades, found int 1"),
        (
            b'{"q": {"d": "1"}}',
            ": the grade of document 'd' for query 'q' must be a number, found str '1'",
        ),
        (b'{"q": {"d": NaN}}', ": the grade of document 'd' for query 'q' must not be NaN"),
        (b'{"q": {"d": 1, "d": 2}}', ": q: 'd' appears twice in one object"),
        (b'{"q": {"d": 1}, "q": {"e": 1}}', ": 'q' appears twice in one object"),
        (b'\n{"q\xff": {"d": 1}}', ":2: not UTF-8 text; save it as UTF-8"),
        (b"{}", ": holds no rows"),
        (b'{"q": {}}', ": holds no rows"),
        (b'{"a":' * 100_000, ": not {query: {document: number}}, but nested too deep to read"),
        (
            b'{"q": {"d": 1' + b"0" * 400 + b"}}",
            ": the grade of document 'd' for query 'q' is too large for a number",
        ),
        (b'{"q": {"\\ud800": 1}}', ": a document id must be valid Unicode text, found '\\ud800'"),
    ],
    ids=range(14),
)
def test_invalid_json_table_is_an_error(tmp_path: Path, text: bytes, message: str) -> None:
    path = tmp_path / "qrels.json"
    path.write_bytes(text)
    with pytest.raises(DataError) as caught:
        Qrels.load(path)
    assert str(caught.value).replace(str(path), "") == message


def test_lenient_reading_keeps_the_first_of_a_document(tmp_path: Path) -> None:
    """A repeated query stays an error."""
    path = tmp_path / "qrels.json"
    path.write_text('{"q": {"d": 1, "e": 3, "d": 2, "d": 4}}', encoding="utf-8")
    qrels = Qrels.load(path, lenient=True)
    assert qrels.to_dict() == {"q": {"d": 1.0, "e": 3.0}}
    assert qrels.table.dropped == 2
    path.write_text('{"q": {"d": 1}, "q": {"d": 2}}', encoding="utf-8")
    with pytest.raises(DataError, match="'q' appears twice"):
        Qrels.load(path, lenient=True)
