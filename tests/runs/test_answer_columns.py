"""Compact columns of answers."""

from __future__ import annotations

import json
import pickle
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.serial import iter_json, to_plain
from berryeval.runs.answers import (
    AnswerColumns,
    AnswerRecord,
    AnswerTally,
    FoundTarget,
    HitRecord,
    MissedTarget,
)
from berryeval.runs.record import ProviderRecord
from berryeval.runs.stages import StageAnswer

# Some of these numbers are equal but differ in JSON.
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
    st.lists(
        st.builds(FoundTarget, WORDS, NUMBERS, st.integers(1, 2**33), extra=EXTRA), max_size=3
    ).map(tuple),
    WORDS,
    st.just(()) | st.just((StageAnswer("bm25", ("a", "b"), (1.0, 0.5), 0.1), StageAnswer("own"))),
    EXTRA,
)


def text_of(value: Any) -> str:
    """Return a value as JSON."""
    return json.dumps(to_plain(value))


@given(st.lists(ANSWERS, max_size=6).map(tuple))
def test_answers_survive_the_columns_to_the_byte(answers: tuple[AnswerRecord, ...]) -> None:
    columns = AnswerColumns(answers)
    assert text_of(columns) == text_of(answers) == text_of(tuple(columns))
    assert text_of(columns[1:-1]) == text_of(answers[1:-1])
    assert list(reversed(columns)) == list(reversed(answers))
    assert columns == answers
    assert answers == columns
    assert hash(columns) == hash(answers)
    assert columns == AnswerColumns(answers)
    assert columns.tally() == [AnswerTally.of(one) for one in answers]


@given(st.lists(ANSWERS, min_size=1, max_size=3).map(tuple))
def test_changed_answers_are_not_equal(answers: tuple[AnswerRecord, ...]) -> None:
    other = (*answers[:-1], AnswerRecord("another", "ok"))
    assert AnswerColumns(answers) != AnswerColumns(other)
    assert AnswerColumns(answers) != answers[:-1]
    assert AnswerColumns(answers) != list(answers)


def test_columns_differ_from_tuples_of_other_objects() -> None:
    columns = AnswerColumns([AnswerRecord("q1", "ok")])
    for other in ((5,), (None,), ("q1",)):
        assert columns != other
        assert other != columns


@given(st.lists(ANSWERS, max_size=3).map(tuple), st.lists(ANSWERS, max_size=3).map(tuple))
def test_adding_answers_gives_a_tuple(
    first: tuple[AnswerRecord, ...], more: tuple[AnswerRecord, ...]
) -> None:
    whole = first + more
    sums = (AnswerColumns(first) + more, first + AnswerColumns(more))
    for found in (*sums, AnswerColumns(first) + AnswerColumns(more)):
        assert isinstance(found, tuple)
        assert found == whole
    with pytest.raises(TypeError):
        AnswerColumns(first) + list(more)  # type: ignore[operator]


@given(st.lists(ANSWERS, max_size=3), st.sampled_from([tuple, list, AnswerColumns]))
def test_record_converts_every_sequence_to_columns(answers: list[AnswerRecord], kind: Any) -> None:
    record = ProviderRecord("bm25", "bm25", answers=kind(answers))
    again = ProviderRecord.from_json(json.loads(json.dumps(record.to_json())))
    pickled = pickle.loads(pickle.dumps(record))  # noqa: S301 - it is ours
    for one in (record, again, pickled):
        assert type(one.answers) is AnswerColumns
        assert one == record
        assert hash(one) == hash(record)
        assert text_of(one.answers) == text_of(answers)


@given(st.lists(ANSWERS, max_size=3))
def test_lists_of_records_convert_to_json(answers: list[AnswerRecord]) -> None:
    assert to_plain(answers) == to_plain(tuple(answers))
    assert "".join(iter_json(answers)) == json.dumps(to_plain(answers), ensure_ascii=False)
    assert to_plain([1, "a"]) == [1, "a"]


@given(st.lists(ANSWERS, max_size=3).map(tuple), st.booleans())
def test_json_pieces_equal_the_whole_text(
    answers: tuple[AnswerRecord, ...], ascii_only: bool
) -> None:
    record = ProviderRecord("bm25", "bm25", answers=answers, extra={"more": {"ä": (1, None)}})
    whole = json.dumps(record.to_json(), ensure_ascii=ascii_only, allow_nan=False)
    assert "".join(iter_json(record, ascii_only=ascii_only)) == whole
    columns = ProviderRecord("bm25", "bm25", answers=AnswerColumns(answers), extra=record.extra)
    assert "".join(iter_json(columns, ascii_only=ascii_only)) == whole


def test_hit_takes_a_few_bytes() -> None:
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
