"""The native text reader against the Python one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from berryeval.data.formats import trec
from berryeval.data.qrels import Qrels
from berryeval.data.run import Run
from berryeval.errors import DataError
from berryeval.scoring.engine import evaluate

if TYPE_CHECKING:
    from berryeval.data.table import Kind

native = pytest.importorskip(
    "berryeval._native", reason="this installation was built without a C++ compiler"
)

LAYOUTS = ["run", "qrels", "run tsv", "qrels tsv", "run ranks tsv"]

numbers = st.sampled_from(
    [b"1", b"-2.5", b"+3", b"+-1", b"1e400", b"1e-400", b"inf", b"-INF", b"nan", b"nan(a)", b"nan(",
     b"2", b"0", b"1_0", b"0x1p3", b".", b"1e", b"infinit", b"", b"1,5", b"\xd9\xa1"]
)  # fmt: skip
words = st.sampled_from([b"q1", b"q2", b"d1", b"d2", b"#c", b"\xc3\xa9", b"\xff", b"a\0b", b"Q0"])
separators = st.sampled_from([b" ", b"\t", b"  ", b"\r", b"\x0b", b"\x1c", b"\xc2\xa0"])
lines = st.lists(st.tuples(words | numbers, separators), max_size=7).map(
    lambda parts: b"".join(word + separator for word, separator in parts)
)
valid = st.tuples(
    words, st.sampled_from([b" Q0 ", b"\t", b" 0 "]), words, st.sampled_from([b" ", b"\t", b" 1 "]),
    numbers, st.sampled_from([b"", b" t", b" t u"]),
).map(b"".join)  # fmt: skip
texts = st.binary(max_size=80) | st.lists(lines | valid, max_size=8).map(b"\n".join)


def outcome(found: Any, layout: str) -> object:
    """Return the columns or the message of a reader, in comparable form."""
    if not isinstance(found, dict):
        with pytest.raises(DataError) as caught:
            trec.raise_line_error("file", layout, *found)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
        return str(caught.value)
    plain = {}
    for name, value in found.items():
        arrays = value if isinstance(value, tuple) else (value,)
        plain[name] = [item.tobytes() if isinstance(item, np.ndarray) else item for item in arrays]
    return plain


@settings(max_examples=600)
@given(texts, st.sampled_from(LAYOUTS), st.booleans())
@example(b"q 0 d 1\nq 0 d 1", "qrels", True)
@example(b"q\td\t\n", "qrels tsv", False)
@example(b"q\td\t1\nq\te\t2.0\nq\tf\t0.5\nq\tg\t0", "run ranks tsv", True)
def test_native_and_python_readers_agree(text: bytes, layout: Any, lenient: bool) -> None:
    """Both give the same columns or the same message, for any bytes."""
    array = np.frombuffer(text, dtype=np.uint8)
    ours = native.read_table(layout, array, lenient)
    theirs = trec._read_python(text, layout, lenient=lenient)
    assert outcome(ours, layout) == outcome(theirs, layout)


@settings(max_examples=200)
@given(texts, st.sampled_from(["run", "qrels"]), st.booleans())
def test_reading_gives_a_table_or_a_data_error(text: bytes, kind: Kind, lenient: bool) -> None:
    array = np.frombuffer(text, dtype=np.uint8)
    try:
        table = trec.table_from_text(array, kind, "file", lenient=lenient)
    except DataError:
        return
    assert all(table.to_dict().values())
    assert not np.isnan(table.values).any()


def scored(qrels: Qrels, source: object) -> object:
    """Return the values of scoring, or the message of its error."""
    try:
        scores = evaluate(qrels, source, ["nDCG@5", "AP"])
    except DataError as error:
        return str(error)
    extra = sorted(scores.extra_queries)
    return scores.values.tobytes(), scores.counts.tolist(), scores.run_name, extra


@settings(max_examples=300)
@given(texts | st.lists(valid, max_size=12).map(b"\n".join))
@example(b"q9 Q0 d1 1 1 t\nq1 Q0 d1 1 1 t\nq9 Q0 d1 1 1 t")
@example(b"q9 Q0 d1 1 1 t\nq1 Q0 d1 1 1 t\nq9 Q0 d2 1 1 t")
@example(b"q1 Q0 d2 1 1 t\n#c Q0 d1 1 1 t\nq1 Q0 d1 1 1 t u")
def test_scoring_while_reading_equals_reading_first(text: bytes) -> None:
    qrels = Qrels.from_dict({"q1": {"d1": 1, "d2": 2}, "q2": {"d1": 1}})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        path.write_bytes(text)
        try:
            expected = scored(qrels, Run.load(path))
        except DataError as error:
            expected = str(error)
        assert scored(qrels, path) == expected


def test_scoring_with_threads_equals_scoring_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"q{i // 100} Q0 doc{i % 100} 1 {i * 7919 % 97} tag\n" for i in range(50_000)]
    qrels = Qrels.from_dict({f"q{i}": {"doc7": 1, "doc9": 2} for i in range(0, 600, 2)})
    for text in (lines, [*lines[50:], *lines[:50]], [*lines, "bad\n"], [*lines, lines[-1]]):
        path = tmp_path / "run"
        path.write_text("".join(text), encoding="utf-8")
        monkeypatch.setenv("BERRYEVAL_THREADS", "1")
        expected = scored(qrels, path)
        monkeypatch.setenv("BERRYEVAL_THREADS", "5")
        assert scored(qrels, path) == expected
