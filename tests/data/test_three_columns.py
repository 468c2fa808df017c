"""Files with three columns, which hold ranks, scores or grades."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval import audit
from berryeval.data.formats.layouts import detect_layout
from berryeval.data.formats.trec import table_from_text
from berryeval.data.qrels import Qrels
from berryeval.data.run import Run
from berryeval.errors import DataError
from berryeval.scoring.engine import evaluate

if TYPE_CHECKING:
    from pathlib import Path

RANKS = b"q1\td2\t1\nq1\td1\t2\nq2\td 9\t1\n"
TELL = "add a header line: query<TAB>document<TAB>score (or rank)"
CANNOT = "cannot tell whether the third column holds ranks or scores"


def written(folder: Path, text: bytes, name: str = "run.tsv") -> Path:
    """Write a file and return its path."""
    path = folder / name
    path.write_bytes(text)
    return path


@pytest.mark.parametrize("text", [RANKS, RANKS.replace(b"\n", b"\r\n"), b"\n \n" + RANKS])
def test_ms_marco_run_is_read_without_a_header(tmp_path: Path, text: bytes) -> None:
    path = written(tmp_path, text)
    run = {"q1": {"d2": -1.0, "d1": -2.0}, "q2": {"d 9": -1.0}}
    assert Run.load(path).to_dict() == run
    assert evaluate({"q1": {"d1": 1}}, path, ["RR"]).mean["RR"] == 0.5
    assert not audit({"q1": {"d1": 1}}, path).faults


def test_ms_marco_run_may_have_gaps_and_mixed_queries(tmp_path: Path) -> None:
    path = written(tmp_path, b"q1\ta\t1\nq2\tb\t1\nq1\tc\t7\n")
    assert Run.load(path).to_dict() == {"q1": {"a": -1.0, "c": -7.0}, "q2": {"b": -1.0}}


def test_ranks_with_a_header_come_in_any_order(tmp_path: Path) -> None:
    path = written(tmp_path, b"qid\tpid\tRank\nq\ta\t3\nq\tb\t2\n")
    assert Run.load(path).to_dict() == {"q": {"a": -3.0, "b": -2.0}}
    for bad in (b"0", b"-1", b"1.5", b"inf", b"9007199254740992"):
        path = written(tmp_path, b"qid\tpid\trank\nq\ta\t1\nq\tb\t" + bad + b"\n")
        with pytest.raises(DataError) as caught:
            Run.load(path)
        said = f"{path}:3: the rank must be a whole number from 1 up, found {bad.decode()!r}"
        assert str(caught.value) == said
        assert Run.load(path, lenient=True).table.dropped == 1


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        (b"q\ta\t0.9\nq\tb\t0.8\n", 1, "query 'q' starts with 0.9, but ranks start with 1"),
        (b"q\ta\t12\nq\tb\t11\n", 1, "query 'q' starts with 12, but ranks start with 1"),
        (b"q\ta\t1\nq\tb\t1\n", 2, "1 follows 1 in query 'q', but ranks rise"),
        (b"q\ta\t1\nq\tb\t2\n\nq\tc\t2.5\n", 4, "2.5 is not a rank"),
        (b"q\ta\t1\np\ta\t2\n", 2, "query 'p' starts with 2, but ranks start with 1"),
        (b"q\ta\t3\nq\tb\t2\nq\tc\t1\n", 1, "query 'q' starts with 3, but ranks start with 1"),
        (b"q\ta\t1\nq\tb\t-inf\n", 2, "-inf follows 1 in query 'q', but ranks rise"),
    ],
)
@pytest.mark.parametrize("lenient", [False, True])
def test_ambiguous_third_column_is_an_error(
    tmp_path: Path, text: bytes, line: int, why: str, *, lenient: bool
) -> None:
    path = written(tmp_path, text)
    for read in (
        lambda: Run.load(path, lenient=lenient),
        lambda: evaluate({"q": {"a": 1}}, path, ["RR"], lenient=lenient),
        lambda: audit({"q": {"a": 1}}, path),
    ):
        with pytest.raises(DataError) as caught:
            read()
        assert str(caught.value) == f"{path}:{line}: {CANNOT}: {why}; {TELL}"


def test_third_column_that_is_not_a_number_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, b"q\ta\t1\nq\tb\tx\nq\tc\tnan\n")
    with pytest.raises(DataError) as caught:
        Run.load(path)
    assert str(caught.value) == f"{path}:2: {CANNOT}: 'x' is not a rank; {TELL}"
    table = Run.load(path, lenient=True).table
    assert (table.to_dict(), table.dropped) == ({"q": {"a": -1.0}}, 2)


def test_line_with_other_columns_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, RANKS + b"q3\td1\n")
    with pytest.raises(DataError) as caught:
        Run.load(path)
    assert str(caught.value) == (
        f"{path}:4: expected 6 columns (query Q0 document rank score tag), or 3 columns separated "
        "by tabs (query document rank), found 2: 'q3\\td1'"
    )
    path = written(tmp_path, RANKS + b"q1\td1\t3\n")
    with pytest.raises(DataError, match=r":4: document 'd1' appears twice in query 'q1'"):
        Run.load(path)
    assert Run.load(path, lenient=True).table.dropped == 1


@pytest.mark.parametrize(
    ("kind", "text", "names"),
    [
        (Run, b"q d 1\n", "query<TAB>document<TAB>score (or rank)"),
        (Qrels, b"q\td\t1\n", "query<TAB>document<TAB>grade"),
        (Qrels, b"q 0 d\n", "query<TAB>document<TAB>grade"),
    ],
)
def test_other_files_of_three_columns_need_a_header(
    tmp_path: Path, kind: type[Run | Qrels], text: bytes, names: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(DataError) as caught:
        kind.load(path)
    assert f", or 3 separated by tabs with a header line, {names}, found 3: " in str(caught.value)


def test_short_first_line_does_not_change_the_layout(tmp_path: Path) -> None:
    text = b"q1\td1\t1\nq1 Q0 d1 1 5 me\nq1 Q0 d2 2 4 me\n"
    table = Run.load(written(tmp_path, text), lenient=True).table
    assert (table.to_dict(), table.dropped) == ({"q1": {"d1": 5.0, "d2": 4.0}}, 1)
    text = b"q1 Q0\td1 1\t5 me\nq1 Q0\td2 2\t4 me\n"
    assert Run.load(written(tmp_path, text)).to_dict() == {"q1": {"d1": 5.0, "d2": 4.0}}


numbers = st.integers(1, 6).map(float) | st.sampled_from([0.0, -1.0, 1.5, 2.5])


@given(st.lists(st.tuples(st.sampled_from("ab"), numbers), min_size=1, max_size=6), st.booleans())
def test_only_rising_ranks_are_read(rows: list[tuple[str, float]], lenient: bool) -> None:
    lines = [f"{query}\td{place}\t{number:g}" for place, (query, number) in enumerate(rows)]
    text = "\n".join(lines).encode()
    by_query = {query: [number for name, number in rows if name == query] for query, _ in rows}
    rising = all(
        found[0] == 1 and found == sorted(set(found)) and all(map(float.is_integer, found))
        for found in by_query.values()
    )
    array = np.frombuffer(text, dtype=np.uint8)
    assert not detect_layout(array, "run").named
    try:
        table = table_from_text(array, "run", "file", lenient=lenient)
    except DataError:
        assert not rising
        return
    assert rising
    assert len(table.values) == len(rows)
