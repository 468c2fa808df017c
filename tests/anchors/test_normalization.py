"""Tests of normalized texts and their offsets."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.quotes import Normalised, normalise

# Letters that casefolding expands, white space of all kinds, and ordinary letters.
texts = st.text(alphabet="aAbB.ßẞİŉﬃΣ \n\t\u00a0\u2003\x1c", max_size=30)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n\t ", ""),
        ("Hello  World", "hello world"),
        ("\u00a0Straße\u2003\r\nNo.\x1c7 ", "strasse no. 7"),
        ("ΟΔΟΣ", "οδοσ"),
    ],
)
def test_case_and_white_space_are_normalized(text: str, expected: str) -> None:
    assert normalise(text) == Normalised(text).text == expected


def test_casefolding_adds_no_white_space_and_removes_no_character() -> None:
    """`Normalised` relies on this for every character."""
    for code in range(sys.maxunicode + 1):
        letter = chr(code)
        folded = letter.casefold()
        assert len(folded) >= 1
        assert any(one.isspace() for one in folded) == letter.isspace()


@given(texts, st.data())
def test_span_maps_to_its_original(text: str, data: st.DataObject) -> None:
    plain = Normalised(text)
    if not plain.text:
        return
    start = data.draw(st.integers(0, len(plain.text) - 1))
    end = data.draw(st.integers(start + 1, len(plain.text)))
    first, last = plain.original(start, end)
    assert 0 <= first < last <= len(text)
    wanted = plain.text[start:end].strip()
    passage = normalise(text[first:last])
    assert wanted in passage
    widest = max(len(letter.casefold()) for letter in text)
    assert len(passage) <= len(wanted) + 2 * (widest - 1)


@given(st.text(alphabet="aAbB. \n\t", max_size=30), st.data())
def test_mapping_is_exact_unless_letters_expand(text: str, data: st.DataObject) -> None:
    plain = Normalised(text)
    if not plain.text:
        return
    start = data.draw(st.integers(0, len(plain.text) - 1))
    end = data.draw(st.integers(start + 1, len(plain.text)))
    first, last = plain.original(start, end)
    assert normalise(text[first:last]) == plain.text[start:end].strip()
    assert text[first].isspace() == plain.text[start].isspace()
    assert text[last - 1].isspace() == plain.text[end - 1].isspace()
