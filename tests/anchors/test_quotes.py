"""Tests of approximate search against a comparison with every passage."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.anchors.quotes import best_windows, positions

WORDS = ["river", "stone", "window", "garden", "letter", "morning", "paper", "winter", "silver"]


def fewest_edits(needle: str, text: str) -> int:
    """Compute the edits of the best passage by dynamic programming."""
    row = list(range(len(needle) + 1))
    best = row[-1]
    for letter in text:
        above, row = row, [0]
        for place, wanted in enumerate(needle):
            row.append(min(above[place] + (letter != wanted), above[place + 1] + 1, row[place] + 1))
        best = min(best, row[-1])
    return best


def edits_between(one: str, other: str) -> int:
    """Compute the edit distance of two texts."""
    row = list(range(len(one) + 1))
    for count, letter in enumerate(other, start=1):
        above, row = row, [count]
        for place, wanted in enumerate(one):
            row.append(min(above[place] + (letter != wanted), above[place + 1] + 1, row[place] + 1))
    return row[-1]


def changed(text: str, edits: int, chance: random.Random) -> str:
    """Apply insertions, deletions and substitutions to a text."""
    letters = list(text)
    for _ in range(edits):
        at = chance.randrange(len(letters))
        letters[at : at + chance.choice([0, 1])] = chance.choice(["", "q", "zx"])
    return "".join(letters)


@settings(deadline=None)
@given(st.integers(0, 2**32), st.integers(7, 120), st.integers(0, 400), st.integers(0, 400))
def test_best_passage_is_found(seed: int, length: int, before: int, after: int) -> None:
    """Up to 15 edits in 100 characters the search is exact."""
    chance = random.Random(seed)
    prose = " ".join(chance.choice(WORDS) for _ in range(200))
    needle = prose[300 : 300 + length]
    most = length * 15 // 100
    passage = changed(needle, chance.randint(0, most + 1), chance)
    text = prose[-before:] * bool(before) + passage + prose[:after]
    found = best_windows(needle, text, most)
    fewest = fewest_edits(needle, text)
    assert bool(found) == (fewest <= most)
    for start, end, edits in found:
        assert edits == fewest == edits_between(needle, text[start:end])


def test_equally_good_passages_are_all_found() -> None:
    text = "the quick brow fox " + "x" * 100 + " the quick brwn fox"
    windows = best_windows("the quick brown fox", text, 2)
    assert [text[start:end] for start, end, _ in windows] == [
        "the quick brow fox",
        "the quick brwn fox",
    ]


@pytest.mark.parametrize("letter", ["a", "ab"])
def test_search_in_repetitive_text_is_fast(letter: str) -> None:
    text = letter * 200_000
    assert best_windows("x" * 300 + letter * 10, text, 45) == []


def test_long_needle_is_found_in_a_long_text() -> None:
    chance = random.Random(5)
    book = " ".join("".join(chance.choices("abcdefghij", k=6)) for _ in range(150_000))
    page = book[600_000:603_000]
    text = book[:600_000] + changed(page, 150, chance) + book[603_000:]
    (window,) = best_windows(page, text, 450)
    assert window.edits <= 300
    assert abs(window.start - 600_000) < 10


def test_positions_may_overlap() -> None:
    assert list(positions("aba", "ababa")) == [0, 2]
    assert list(positions("a", "")) == []
