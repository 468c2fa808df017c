"""Tests of splitters of other packages: pieces get correct offsets, even in repetitive texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

import chonkie
import langchain_text_splitters as langchain
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from berryeval.chunkers.catalogue import parse_chunker
from berryeval.chunkers.external import ChonkieChunker, LangChainChunker
from berryeval.chunkers.placement import NotInTextError, align
from berryeval.data.records import Document
from berryeval.errors import ConfigurationError, DataError
from tests.chunkers.promises import chunked, missing, prose, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Words of one letter and separators: texts in which nearly everything repeats.
shapes = st.lists(
    st.tuples(st.sampled_from([4, 5, 7]), st.sampled_from([" ", " ", " ", "\n", "\n\n", ", "])),
    min_size=1,
    max_size=60,
)


def repeating(shape: Sequence[tuple[int, str]]) -> str:
    """Build a text in which words of the same length are equal."""
    return "".join("a" * length + space for length, space in shape)


def numbered(shape: Sequence[tuple[int, str]]) -> str:
    """Build a text of the same shape in which all words differ."""
    return "".join(f"{place:x>{length}}" + space for place, (length, space) in enumerate(shape))


@given(shape=shapes, size=st.integers(8, 40), share=st.integers(0, 10))
def test_langchain_offsets_are_correct_in_repetitive_texts(
    shape: list[tuple[int, str]], size: int, share: int
) -> None:
    splitter = langchain.RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=size * share // 20
    )
    plain = numbered(shape)
    pieces = splitter.split_text(plain)
    assume(all(plain.count(piece) == 1 for piece in pieces))
    chunks = chunked(LangChainChunker(splitter=splitter), repeating(shape))
    assert [chunk.start for chunk in chunks] == [plain.index(piece) for piece in pieces]


@given(shape=shapes, size=st.integers(8, 40), share=st.integers(0, 10))
def test_changed_white_space_does_not_mislead_in_repetitive_texts(
    shape: list[tuple[int, str]], size: int, share: int
) -> None:
    inner = langchain.RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=size * share // 20
    )

    def splitter(text: str) -> list[str]:
        return ["  ".join(piece.split()) for piece in inner.split_text(text)]

    plain = numbered(shape)
    pieces = inner.split_text(plain)
    assume(all(plain.count(piece) == 1 for piece in pieces))
    chunks = chunked(LangChainChunker(splitter=splitter), repeating(shape))
    assert [chunk.start for chunk in chunks] == [plain.index(piece) for piece in pieces]


def test_langchain_offsets_of_its_own_are_wrong() -> None:
    """LangChain returns the first position at which a piece occurs."""
    splitter = langchain.RecursiveCharacterTextSplitter(
        chunk_size=9, chunk_overlap=4, add_start_index=True
    )
    text = "aaaa aaaa, aaaa\n\naaaa aaaa"
    theirs = [one.metadata["start_index"] for one in splitter.create_documents([text])]
    ours = chunked(LangChainChunker(splitter=splitter), text)
    assert theirs != [chunk.start for chunk in ours]
    assert [(chunk.start, chunk.text) for chunk in ours] == [
        (0, "aaaa"), (5, "aaaa,"), (11, "aaaa"), (17, "aaaa"), (22, "aaaa"),
    ]  # fmt: skip


def letters(pieces: Iterable[str]) -> list[str]:
    """Remove white space, which splitters may change, and repetitions."""
    return [text for text, _ in groupby("".join(piece.split()) for piece in pieces)]


@pytest.mark.parametrize("kind", ["recursive", "character", "markdown", "python", "latex"])
@given(text=texts | prose, size=st.integers(5, 60), share=st.integers(0, 9))
def test_langchain_pieces_of_any_text_are_located(
    kind: str, text: str, size: int, share: int
) -> None:
    chunker = LangChainChunker(kind, size, size * share // 10)
    chunks = chunked(chunker, text)
    splitter = chunker._created
    pieces = [piece for piece in splitter.split_text(text) if piece.strip()]
    assert letters(chunk.text for chunk in chunks) == letters(pieces)
    if kind == "recursive":
        assert not missing(text, chunks)


@pytest.mark.parametrize("kind", ["recursive", "sentence", "token"])
@given(text=texts | prose, size=st.integers(30, 80))
def test_chonkie_pieces_of_any_text_have_exact_offsets(kind: str, text: str, size: int) -> None:
    overlap = size // 4 if kind in {"sentence", "token"} else 0
    chunks = chunked(ChonkieChunker(kind, size, overlap), text)
    assert not missing(text, chunks)


def test_object_with_chunk_or_split_text_or_function_is_a_splitter() -> None:
    text = "one two three. four five six. one two three."
    document = Document("d", text)
    sentences = ChonkieChunker(splitter=chonkie.SentenceChunker(chunk_size=15))
    assert [chunk.start for chunk in sentences.chunk(document)] == [0, 15, 30]
    called = LangChainChunker(splitter=lambda text: re.findall(r"\w+ \w+", text))
    assert [chunk.start for chunk in called.chunk(document)] == [0, 15, 30]
    headers = langchain.MarkdownHeaderTextSplitter([("#", "h1")], strip_headers=False)
    marked = Document("d", "# A\none  \ntwo\n# B\none\n\ntwo")
    chunks = LangChainChunker(splitter=headers).chunk(marked)
    assert [chunk.text for chunk in chunks] == ["# A\none  \ntwo", "# B\none\n\ntwo"]


@dataclass
class Answer:
    """A piece with offsets, as Chonkie returns it."""

    text: str
    start_index: int
    end_index: int


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ([0, 3, 6], [0, 3, 6]),  # correct
        ([0, 0, 0], [0, 3, 6]),  # the first occurrence, three times
        ([0, 3, 3], [0, 3, 6]),
        ([0, 4, 8], [0, 3, 6]),  # counted in bytes
        ([-1, 3, 6], [0, 3, 6]),
        ([0, 6, 3], [0, 3, 6]),  # not in order
        ([0, 3, 900], [0, 3, 6]),
    ],
)
def test_wrong_offsets_are_corrected(starts: list[int], expected: list[int]) -> None:
    def splitter(_: str) -> list[Answer]:
        return [Answer("ab", start, start + 2) for start in starts]

    chunks = ChonkieChunker(splitter=splitter).chunk(Document("d", "ab ab ab"))
    assert [chunk.start for chunk in chunks] == expected


@pytest.mark.parametrize(
    "spans",
    [
        [(3, 5)],  # not the first occurrence
        [(6, 8), (12, 14)],  # text is omitted
        [(0, 8), (0, 2), (3, 5), (6, 8), (3, 11)],  # parents and their children
        [(9, 11), (3, 5)],
    ],
)
def test_correct_offsets_are_kept(spans: list[tuple[int, int]]) -> None:
    text = "ab ab ab ab ab"

    def splitter(_: str) -> list[Answer]:
        return [Answer(text[start:end], start, end) for start, end in spans]

    chunks = ChonkieChunker(splitter=splitter).chunk(Document("d", text))
    assert [chunk.start for chunk in chunks] == sorted(start for start, _ in spans)
    assert {(chunk.start, chunk.end) for chunk in chunks} == set(spans)


def test_changed_pieces_are_found_by_their_letters() -> None:
    def shouted(text: str) -> list[str]:
        return [" ".join(part.split()).upper() for part in text.split(".")]

    chunks = chunked(LangChainChunker(splitter=shouted), "die  Straße\nist. Die\tStraße\n\nist. \n")
    assert [chunk.text for chunk in chunks] == ["die  Straße\nist", "Die\tStraße\n\nist"]


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (lambda _: ["one", "three"], "in the text after the previous piece: 'three'; a splitter"),
        (lambda _: ["two", "one"], "d: piece 2 of 2 from the splitter is not in the text after"),
        (lambda _: [3], "expected pieces that are strings or have a text, found 3"),
    ],
)  # fmt: skip
def test_piece_that_is_not_in_the_text_is_named(
    splitter: Callable[[str], Any], message: str
) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        LangChainChunker(splitter=splitter).chunk(Document("d", "one two"))


def test_rejected_options_and_objects_that_are_not_splitters_are_our_errors() -> None:
    with pytest.raises(ConfigurationError, match=r"langchain-3-overlap-9: .*rejects its options"):
        parse_chunker("langchain-3-overlap-9").chunk(Document("d", "x"))
    with pytest.raises(ConfigurationError, match="expected a splitter with chunk, split_text"):
        ChonkieChunker(splitter=3).chunk(Document("d", "x"))


def test_failing_splitter_is_named() -> None:
    fast = ChonkieChunker(splitter=chonkie.FastChunker(chunk_size=31))
    with pytest.raises(DataError, match="d: the splitter FastChunker failed: 'utf-8' codec"):
        fast.chunk(Document("d", "é漢字。é漢字。é漢字。"))


def fails(_: str) -> list[str]:
    raise KeyError


@pytest.mark.parametrize(
    ("splitter", "message"),
    [
        (fails, "d: the splitter fails failed: KeyError"),
        (lambda _: None, "d: the splitter <lambda> must return a list of pieces, found None"),
        (lambda _: 3, "must return a list of pieces, found 3"),
        (lambda text: text, "must return a list of pieces, found 'one two'"),
    ],
)
def test_wrong_return_value_of_a_splitter_is_an_error(
    splitter: Callable[[str], Any], message: str
) -> None:
    with pytest.raises(DataError, match=re.escape(message)):
        LangChainChunker(splitter=splitter).chunk(Document("d", "one two"))


def test_align_reports_the_first_piece_without_a_position() -> None:
    with pytest.raises(NotInTextError) as caught:
        align("a b", ["a", "b", "a"])
    assert caught.value.place == 2


@given(text=st.text("ab ", min_size=1, max_size=80), cuts=st.data())
def test_align_finds_an_existing_order(text: str, cuts: st.DataObject) -> None:
    spans = cuts.draw(
        st.lists(st.tuples(st.integers(0, len(text) - 1), st.integers(1, 9)), max_size=12)
    )
    spans = sorted({(start, min(start + length, len(text))) for start, length in spans})
    pieces = [text[start:end] for start, end in spans]
    starts = align(text, pieces)
    placed = [(start, start + len(piece)) for start, piece in zip(starts, pieces, strict=True)]
    assert [text[start:end] for start, end in placed] == pieces
    assert placed == sorted(placed)


def test_align_is_fast_in_periodic_texts() -> None:
    text = "a" * 20_000
    pieces = [text[start : start + 100] for start in range(0, 19_950, 100)]
    starts = align(text, pieces)
    assert starts[0] == 0
    assert starts[-1] + len(pieces[-1]) == len(text)
