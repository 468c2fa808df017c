"""Tests of sentence boundaries and chunks of sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.chunkers.sentence import SentenceChunker, sentences
from tests.chunkers.promises import chunked, missing, prose, texts


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@given(text=texts | prose, size=st.integers(1, 4), overlap=st.integers(0, 3))
def test_chunks_contain_all_text_and_the_requested_number_of_sentences(
    text: str, size: int, overlap: int
) -> None:
    chunker = SentenceChunker(size, min(overlap, size - 1))
    chunks = chunked(chunker, text)
    assert not missing(text, chunks)
    found = split(text)
    step = size - chunker.overlap
    assert len(chunks) == (1 + max(0, -(-(len(found) - size) // step)) if found else 0)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Dr. No met Mr. Bond vs. the U.S. Army, e.g. Lt. Kim.", None),
        ("See Fig. 3 and eq. 4. Next.", ["See Fig. 3 and eq. 4.", "Next."]),
        ("No. That is it. No. 5 lives.", ["No.", "That is it.", "No. 5 lives."]),
        ("J. R. R. Tolkien wrote it. I read.", ["J. R. R. Tolkien wrote it.", "I read."]),
        ("It is 3.14 or 1.000. v2.0.1 runs.", None),
        ("It is 3.14. Version 2.0.1 runs.", ["It is 3.14.", "Version 2.0.1 runs."]),
        ('"Stop!" he said. (He did.) Then', ['"Stop!" he said.', "(He did.)", "Then"]),
        ("Wait... what? Really?! Yes.", ["Wait... what?", "Really?!", "Yes."]),
        ("今日は。元気？「はい！」彼は。", ["今日は。", "元気？", "「はい！」", "彼は。"]),  # noqa: RUF001
        ("A line\nthat goes on. And\nends", ["A line\nthat goes on.", "And\nends"]),
        ("A paragraph\n\nand another", ["A paragraph", "and another"]),
        ("# Title\nText", ["# Title", "Text"]),
        ("List:\n- one\n- two. Three\n* four", ["List:", "- one", "- two.", "Three", "* four"]),
        ("1. One. Two\n2. Three", ["1. One.", "Two", "2. Three"]),
        ("See example.com/a.b for more.", None),
        ("Tabs.\tAnd\r\n\r\nlines.", ["Tabs.", "And", "lines."]),
        ("", []),
        (" \n ", []),
    ],
)
def test_sentence_boundaries(text: str, expected: list[str] | None) -> None:
    """None means that the text is one sentence."""
    assert split(text) == ([text] if expected is None else expected)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("." * 200_000 + "b", 1), ("a\n" + " " * 200_000 + "b", 1), ("?)" * 100_000 + "b", 1),
        ("a\n" + " \t" * 100_000 + "- b", 2), ("(" * 100_000 + "fig. 1 " * 20_000, 1),
        ("a.\n" + "\n " * 100_000 + "B.", 2),
    ],
)  # fmt: skip
def test_long_runs_take_linear_time(text: str, count: int) -> None:
    assert len(split(text)) == count


def test_overlap_is_in_sentences() -> None:
    chunks = chunked(SentenceChunker(3, 1), "A b. C d. E f. G h. I j. K l.")
    assert [chunk.text for chunk in chunks] == ["A b. C d. E f.", "E f. G h. I j.", "I j. K l."]
