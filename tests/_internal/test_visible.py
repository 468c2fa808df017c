"""Texts that act instead of being seen."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.text import escape_controls, escape_direction

_TURNING = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]


@given(st.text())
def test_nothing_that_acts_is_left(text: str) -> None:
    """No control but tabs and new lines, no turn of direction, no half a character is left."""
    shown = escape_controls(text)
    assert not {one for one in shown if unicodedata.category(one) in {"Cc", "Cs", "Zl", "Zp"}} - {
        "\t",
        "\n",
    }
    assert not set(shown) & set(_TURNING)
    assert escape_controls(shown) == shown
    shown.encode()


@pytest.mark.parametrize("turn", _TURNING)
def test_a_turn_of_direction_is_named(turn: str) -> None:
    """Whoever reads it sees which character is there, by both functions."""
    named = f"a[U+{ord(turn):04X}]b"
    assert escape_controls(f"a{turn}b") == escape_direction(f"a{turn}b") == named


def test_what_only_looks_strange_stays() -> None:
    """Arabic with its marks, joiners of emoji and plain texts come back as they are."""
    text = "سلام\u200f! 👩\u200d💻 café\tline\nnext"
    assert escape_controls(text) == escape_direction(text) == text


def test_controls_become_symbols() -> None:
    """An escape, a delete and a null can be seen; a new line of Windows is one."""
    assert escape_controls("\x1b[2J\x7f\x00") == "␛[2J␡␀"
    assert escape_controls("a\r\nb\x07") == "a\nb␇"
