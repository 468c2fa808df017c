"""Splitters of others: their pieces get offsets that are true, also in texts that repeat."""

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

from berryeval.chunkers.alignment import NotInTextError, align
from berryeval.chunkers.catalogue import parse_chunker
from berryeval.chunkers.external import ChonkieChunker, LangChainChunker
from berryeval.data.records import Document
from berryeval.errors import ConfigurationError, DataError
from tests.chunkers.promises import chunked, missing, prose, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

# Words of one letter, and what stands between them: texts in which nearly everything repeats.
shapes = st.lists(
    st.tuples(st.sampled_from([4, 5, 7]), st.sampled_from([" ", " ", " ", "\n", "\n\n", ", "])),
    min_size=1,
    max_size=60,
)


def repeating(shape: Sequence[tuple[int, str]]) -> str:
    """A text of that shape in which words of the same length are the same."""
    return "".join("a" * length + space for length, space in shape)


def numbered(shape: Sequence[tuple[int, str]]) -> str:
    """A text of that shape in which every word is another."""
    return "".join(f"{place:x>{length}}" + space for place, (length, space) in enumerate(shape))


@given(shape=shapes, size=st.integers(8, 40), share=st.integers(0, 10))
def test_langchain_in_texts_that_repeat(
    shape: list[tuple[int, str]], size: int, share: int
) -> None:
    """The offsets are those of a text of the same shape in which nothing repeats."""
    splitter = langchain.RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=size * share // 20
    )
    plain = numbered(shape)
    pieces = splitter.split_text(plain)
    assume(all(plain.count(piece) == 1 for piece in pieces))
    chunks = chunked(LangChainChunker(splitter=splitter), repeating(shape))
    assert [chunk.start for chunk in chunks] == [plain.index(piece) for piece in pieces]


@given(shape=shapes, size=st.integers(8, 40), share=st.integers(0, 10))
def test_repeating_texts_that_a_splitter_changes(
    shape: list[tuple[int, str]], size: int, share: int
) -> None:
    """White space that a splitter makes its own does not lead astray."""
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


def test_langchain_itself_is_wrong() -> None:
    """The case that needs us: it takes the first place at which a piece is found."""
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
    """The pieces without white space, which splitters may change, and without repetitions."""
    return [text for text, _ in groupby("".join(piece.split()) for piece in pieces)]


@pytest.mark.parametrize("kind", ["recursive", "character", "markdown", "python", "latex"])
@given(text=texts | prose, size=st.integers(5, 60), share=st.integers(0, 9))
def test_langchain_on_any_text(kind: str, text: str, size: int, share: int) -> None:
    """Every piece gets a place at which it stands, and little but separators is left out."""
    chunker = LangChainChunker(kind, size, size * share // 10)
    chunks = chunked(chunker, text)
    splitter = chunker._made
    pieces = [piece for piece in splitter.split_text(text) if piece.strip()]
    assert letters(chunk.text for chunk in chunks) == letters(pieces)
    if kind == "recursive":
        assert not missing(text, chunks)


@pytest.mark.parametrize("kind", ["recursive", "sentence", "token"])
@given(text=texts | prose, size=st.integers(30, 80))
def test_chonkie_on_any_text(kind: str, text: str, size: int) -> None:
    """Offsets are exact, whatever Chonkie says, and nothing is left out."""
    overlap = size // 4 if kind in {"sentence", "token"} else 0
    chunks = chunked(ChonkieChunker(kind, size, overlap), text)
    assert not missing(text, chunks)


def test_splitters_that_were_made_elsewhere() -> None:
    """Any splitter can be wrapped: with `chunk`, with `split_text`, or one to be called."""
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
class Said:
    """A piece as Chonkie has them."""

    text: str
    start_index: int
    end_index: int


@pytest.mark.parametrize(
    ("starts", "expected"),
    [
        ([0, 3, 6], [0, 3, 6]),  # right
        ([0, 0, 0], [0, 3, 6]),  # the first place found, three times
        ([0, 3, 3], [0, 3, 6]),
        ([0, 4, 8], [0, 3, 6]),  # counted in bytes, say
        ([-1, 3, 6], [0, 3, 6]),
        ([0, 6, 3], [0, 3, 6]),  # the order says otherwise
        ([0, 3, 900], [0, 3, 6]),
    ],
)
def test_wrong_offsets_are_not_believed(starts: list[int], expected: list[int]) -> None:
    """Offsets are taken only if the text stands there, and no two pieces are the same."""

    def splitter(_: str) -> list[Said]:
        return [Said("ab", start, start + 2) for start in starts]

    chunks = ChonkieChunker(splitter=splitter).chunk(Document("d", "ab ab ab"))
    assert [chunk.start for chunk in chunks] == expected


@pytest.mark.parametrize(
    "spans",
    [
        [(3, 5)],  # not the first place at which it is
        [(6, 8), (12, 14)],  # text is left out
        [(0, 8), (0, 2), (3, 5), (6, 8), (3, 11)],  # parents and their children
        [(9, 11), (3, 5)],
    ],
)
def test_true_offsets_are_believed(spans: list[tuple[int, int]]) -> None:
    """Whatever a splitter leaves out, repeats or puts in another order."""
    text = "ab ab ab ab ab"

    def splitter(_: str) -> list[Said]:
        return [Said(text[start:end], start, end) for start, end in spans]

    chunks = ChonkieChunker(splitter=splitter).chunk(Document("d", text))
    assert [chunk.start for chunk in chunks] == sorted(start for start, _ in spans)
    assert {(chunk.start, chunk.end) for chunk in chunks} == set(spans)


def test_pieces_that_were_changed_are_found_by_their_letters() -> None:
    """White space and case may differ; the chunk then has the text of the document."""

    def shouted(text: str) -> list[str]:
        return [" ".join(part.split()).upper() for part in text.split(".")]

    chunks = chunked(LangChainChunker(splitter=shouted), "die  Straße\nist. Die\tStraße\n\nist. \n")
    assert [chunk.text for chunk in chunks] == ["die  Straße\nist", "Die\tStraße\n\nist"]


@pytest.mark.parametrize(
    ("splitter", "said"),
    [
        (lambda _: ["one", "three"], "in the text behind the one before it: 'three'; a splitter"),
        (lambda _: ["two", "one"], "d: piece 2 of 2 that the splitter made is not in the text beh"),
        (lambda _: [3], "expected pieces that are strings or have a text, found 3"),
    ],
)  # fmt: skip
def test_pieces_that_are_not_there(splitter: Callable[[str], Any], said: str) -> None:
    """A piece that is not in the text, or not in its place, is named."""
    with pytest.raises(DataError, match=re.escape(said)):
        LangChainChunker(splitter=splitter).chunk(Document("d", "one two"))


def test_what_the_packages_refuse_is_said_in_our_words() -> None:
    """Options that a splitter does not take, and things that are no splitter."""
    with pytest.raises(ConfigurationError, match=r"langchain-3-overlap-9: .*refuses its options"):
        parse_chunker("langchain-3-overlap-9").chunk(Document("d", "x"))
    with pytest.raises(ConfigurationError, match="expected a splitter with chunk, split_text"):
        ChonkieChunker(splitter=3).chunk(Document("d", "x"))


def test_a_splitter_that_fails_is_named() -> None:
    """What a splitter cannot do is said in one line; here one that cuts inside a character."""
    fast = ChonkieChunker(splitter=chonkie.FastChunker(chunk_size=31))
    with pytest.raises(DataError, match="d: the splitter FastChunker failed: 'utf-8' codec"):
        fast.chunk(Document("d", "é漢字。é漢字。é漢字。"))


def fails(_: str) -> list[str]:
    """A splitter that does not work."""
    raise KeyError


@pytest.mark.parametrize(
    ("splitter", "said"),
    [
        (fails, "d: the splitter fails failed: KeyError"),
        (lambda _: None, "d: the splitter <lambda> should give a list of pieces, found None"),
        (lambda _: 3, "should give a list of pieces, found 3"),
        (lambda text: text, "should give a list of pieces, found 'one two'"),
    ],
)
def test_what_is_wrong_with_a_splitter_is_said(splitter: Callable[[str], Any], said: str) -> None:
    """One that raises anything, or gives something other than pieces."""
    with pytest.raises(DataError, match=re.escape(said)):
        LangChainChunker(splitter=splitter).chunk(Document("d", "one two"))


def test_align_says_which_piece_is_not_there() -> None:
    """The first piece that has no place."""
    with pytest.raises(NotInTextError) as caught:
        align("a b", ["a", "b", "a"])
    assert caught.value.place == 2


@given(text=st.text("ab ", min_size=1, max_size=80), cuts=st.data())
def test_align_finds_an_order_where_there_is_one(text: str, cuts: st.DataObject) -> None:
    """Pieces taken from a text in order are always placed, where they stand, in order."""
    spans = cuts.draw(
        st.lists(st.tuples(st.integers(0, len(text) - 1), st.integers(1, 9)), max_size=12)
    )
    spans = sorted({(start, min(start + length, len(text))) for start, length in spans})
    pieces = [text[start:end] for start, end in spans]
    starts = align(text, pieces)
    placed = [(start, start + len(piece)) for start, piece in zip(starts, pieces, strict=True)]
    assert [text[start:end] for start, end in placed] == pieces
    assert placed == sorted(placed)


def test_align_in_periodic_texts_is_quick() -> None:
    """Hundreds of equal pieces in a text of one letter: no search of all placings."""
    text = "a" * 20_000
    pieces = [text[start : start + 100] for start in range(0, 19_950, 100)]
    starts = align(text, pieces)
    assert starts[0] == 0
    assert starts[-1] + len(pieces[-1]) == len(text)
