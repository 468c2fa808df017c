"""Escaping of control characters."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval._internal.text import escape_controls, escape_direction

_DIRECTIONS = [chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))]


@given(st.text())
def test_escaped_text_has_no_control_characters(text: str) -> None:
    """Tabs and line feeds are the only control characters left."""
    shown = escape_controls(text)
    assert not {one for one in shown if unicodedata.category(one) in {"Cc", "Cs", "Zl", "Zp"}} - {
        "\t",
        "\n",
    }
    assert not set(shown) & set(_DIRECTIONS)
    assert escape_controls(shown) == shown
    shown.encode()


@pytest.mark.parametrize("character", _DIRECTIONS)
def test_direction_characters_are_escaped_by_name(character: str) -> None:
    named = f"a[U+{ord(character):04X}]b"
    assert escape_controls(f"a{character}b") == escape_direction(f"a{character}b") == named


def test_harmless_unicode_stays_unchanged() -> None:
    text = "سلام\u200f! 👩\u200d💻 café\tline\nnext"
    assert escape_controls(text) == escape_direction(text) == text


def test_controls_become_symbols() -> None:
    assert escape_controls("\x1b[2J\x7f\x00") == "␛[2J␡␀"
    assert escape_controls("a\r\nb\x07") == "a\nb␇"
