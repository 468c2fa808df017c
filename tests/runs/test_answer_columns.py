"""Answers as columns: what goes in comes out, and it is small."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.serial import iter_json, to_plain
from berryeval.runs.answers import AnswerColumns, AnswerRecord, HitRecord, MissedTarget
from berryeval.runs.record import ProviderRecord

# Numbers that are equal, and not the same in JSON, are among them.
NUMBERS = st.sampled_from([0, 0.0, -0.0, 1, 1.0, 2**70]) | st.floats(
    allow_nan=False, allow_infinity=False
)
WORDS = st.sampled_from(["a", "b", "", "c\ud800", "\u2028"])
EXTRA: st.SearchStrategy[dict[str, Any]] = st.sampled_from([{}, {"more": [1]}])
HITS = st.builds(
    HitRecord, WORDS, NUMBERS, st.none() | NUMBERS, again=st.booleans(),
    passage=st.none() | st.integers(0, 2**33), extra=EXTRA,
)  # fmt: skip
ANSWERS = st.builds(
    AnswerRecord,
    WORDS,
    st.sampled_from(["ok", "error", "missing"]),
    st.lists(HITS, max_size=4).map(tuple),
    st.lists(st.builds(MissedTarget, WORDS, NUMBERS, extra=EXTRA), max_size=3).map(tuple),
    st.none() | NUMBERS,
    WORDS,
    WORDS,
    st.just({}) | st.just({"tokens": 3}),
    EXTRA,
)


def text_of(value: Any) -> str:
    """A value as JSON."""
    return json.dumps(to_plain(value))


@given(st.lists(ANSWERS, max_size=6).map(tuple))
def test_what_goes_in_comes_out(answers: tuple[AnswerRecord, ...]) -> None:
    """Equal, and the same in JSON to the byte; whole, by place, backwards and in slices."""
    columns = AnswerColumns(answers)
    assert text_of(columns) == text_of(answers) == text_of(tuple(columns))
    assert text_of(columns[1:-1]) == text_of(answers[1:-1])
    assert list(reversed(columns)) == list(reversed(answers))
    assert columns == answers
    assert answers == columns
    assert hash(columns) == hash(answers)
    assert columns == AnswerColumns(answers)


@given(st.lists(ANSWERS, min_size=1, max_size=3).map(tuple))
def test_a_changed_answer_is_another(answers: tuple[AnswerRecord, ...]) -> None:
    """Columns are equal only to the same answers."""
    other = (*answers[:-1], AnswerRecord("another", "ok"))
    assert AnswerColumns(answers) != AnswerColumns(other)
    assert AnswerColumns(answers) != answers[:-1]
    assert AnswerColumns(answers) != list(answers)


def test_other_things_are_not_equal() -> None:
    """A tuple of the same length that holds something else is another, on either side."""
    columns = AnswerColumns([AnswerRecord("q1", "ok")])
    for other in ((5,), (None,), ("q1",)):
        assert columns != other
        assert other != columns


@given(st.lists(ANSWERS, max_size=3).map(tuple), st.lists(ANSWERS, max_size=3).map(tuple))
def test_more_answers_can_be_added(
    first: tuple[AnswerRecord, ...], more: tuple[AnswerRecord, ...]
) -> None:
    """Tuples and columns, in any order, give a tuple; a list is refused, as by a tuple."""
    whole = first + more
    sums = (AnswerColumns(first) + more, first + AnswerColumns(more))
    for found in (*sums, AnswerColumns(first) + AnswerColumns(more)):
        assert isinstance(found, tuple)
        assert found == whole
    with pytest.raises(TypeError):
        AnswerColumns(first) + list(more)  # type: ignore[operator]


@given(st.lists(ANSWERS, max_size=3), st.sampled_from([tuple, list, AnswerColumns]))
def test_a_record_holds_answers_in_one_way(answers: list[AnswerRecord], kind: Any) -> None:
    """From any sequence, read back or pickled: the same kind, equal, with the same hash."""
    record = ProviderRecord("bm25", "bm25", answers=kind(answers))
    again = ProviderRecord.from_json(json.loads(json.dumps(record.to_json())))
    pickled = pickle.loads(pickle.dumps(record))  # noqa: S301 - it is ours
    for one in (record, again, pickled):
        assert type(one.answers) is AnswerColumns
        assert one == record
        assert hash(one) == hash(record)
        assert text_of(one.answers) == text_of(answers)


@given(st.lists(ANSWERS, max_size=3))
def test_lists_of_records_go_to_json(answers: list[AnswerRecord]) -> None:
    """As tuples of them do, at once and in pieces; a list of plain values is as it is."""
    assert to_plain(answers) == to_plain(tuple(answers))
    assert "".join(iter_json(answers)) == json.dumps(to_plain(answers), ensure_ascii=False)
    assert to_plain([1, "a"]) == [1, "a"]


@given(st.lists(ANSWERS, max_size=3).map(tuple), st.booleans())
def test_pieces_are_the_whole(answers: tuple[AnswerRecord, ...], ascii_only: bool) -> None:
    """A record in pieces is the same text as at once, whether it holds columns or records."""
    record = ProviderRecord("bm25", "bm25", answers=answers, extra={"more": {"ä": (1, None)}})
    whole = json.dumps(record.to_json(), ensure_ascii=ascii_only, allow_nan=False)
    assert "".join(iter_json(record, ascii_only=ascii_only)) == whole
    columns = ProviderRecord("bm25", "bm25", answers=AnswerColumns(answers), extra=record.extra)
    assert "".join(iter_json(columns, ascii_only=ascii_only)) == whole


def test_a_hit_takes_a_few_bytes() -> None:
    """Numbers alone: an object for each would take several times as much."""
    made = (
        AnswerRecord(f"q{n}", "ok", tuple(HitRecord(f"d{r}", 0.1 * r, 1.0) for r in range(10)))
        for n in range(2000)
    )
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        columns = AnswerColumns(made)
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert len(columns) == 2000
    assert held / 20_000 < 80
