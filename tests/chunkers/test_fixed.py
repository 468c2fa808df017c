"""Tests of chunks of a fixed size."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.chunkers.fixed import FixedChunker
from tests.chunkers.promises import chunked, missing, prose, texts

sizes = st.integers(1, 30).flatmap(lambda size: st.tuples(st.just(size), st.integers(0, size - 1)))


@given(
    text=texts | prose,
    size=sizes,
    unit=st.sampled_from(["characters", "tokens"]),
    boundary=st.sampled_from(["word", "line", "none"]),
)
def test_size_and_overlap_are_kept_and_no_text_is_lost(
    text: str, size: tuple[int, int], unit: str, boundary: str
) -> None:
    chunker = FixedChunker(size[0], size[1], unit, boundary)
    chunks = chunked(chunker, text)
    assert not missing(text, chunks)

    def length(part: str) -> int:
        return len(part) if unit == "characters" else len(re.findall(r"\w+|[^\w\s]", part))

    for chunk in chunks:
        assert length(chunk.text) <= size[0]
        assert chunk.text == chunk.text.strip()
    for one, other in pairwise(chunks):
        assert one.end is not None
        assert other.end is not None
        assert other.end > one.end
        assert length(text[other.start : one.end]) <= size[1]


@given(words=st.lists(st.text("abé", min_size=1, max_size=6), max_size=40), size=sizes)
def test_words_that_fit_are_not_split(words: list[str], size: tuple[int, int]) -> None:
    chunker = FixedChunker(size[0] + 6, size[1])
    chunks = chunked(chunker, " ".join(words))
    assert {word for chunk in chunks for word in chunk.text.split()} == set(words)


@pytest.mark.parametrize(
    ("chunker", "expected"),
    [
        (FixedChunker(12), ["one two", "three four.", "five", "extraordinar", "y six"]),
        (FixedChunker(12, 5), ["one two", "two three", "three four.", "four.\nfive",
                               "extraordinar", "dinary six"]),
        (FixedChunker(12, boundary="none"), ["one two thre", "e four.\nfive", "extraordinar",
                                             "y six"]),
        (FixedChunker(4, unit="tokens"), ["one two three", "four.\nfive extraordinary", "six"]),
        (FixedChunker(4, 1, "tokens"), ["one two three", "three four.\nfive",
                                        "five extraordinary six"]),
        (FixedChunker(26, boundary="line"), ["one two three four.", "five extraordinary six"]),
    ],
)  # fmt: skip
def test_boundaries_follow_unit_overlap_and_boundary(
    chunker: FixedChunker, expected: list[str]
) -> None:
    text = "one two three four.\nfive extraordinary six"
    assert [chunk.text for chunk in chunked(chunker, text)] == expected


def test_chunk_id_has_the_span() -> None:
    assert [chunk.id for chunk in chunked(FixedChunker(3), "abc def")] == ["doc@0-3", "doc@4-7"]


def test_long_texts_take_linear_time() -> None:
    assert len(chunked(FixedChunker(400, 399), "a" * 5_000)) == 4_601
    assert len(chunked(FixedChunker(400, 50), "a" * 1_000_000)) == 2_857
    assert len(chunked(FixedChunker(400, 50), "a" + " " * 1_000_000 + "b")) == 2
