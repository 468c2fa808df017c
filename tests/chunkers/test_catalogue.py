"""Chunkers by name: the textual form, the options, the table."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval import chunkers
from berryeval.chunkers.base import Choice, Chunker, Whole, options_of
from berryeval.chunkers.catalogue import CHUNKERS, make_chunker, parse_chunker
from berryeval.chunkers.fixed import FixedChunker
from berryeval.data.records import Chunk, Document
from berryeval.errors import BerryEvalError, ConfigurationError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fixed", "fixed-400"),
        ("fixed-200", "fixed-200"),
        ("fixed-400-overlap-50", "fixed-400-overlap-50"),
        ("fixed-overlap-50-size-400", "fixed-400-overlap-50"),
        ("fixed-tokens-100-none", "fixed-100-tokens-none"),
        ("fixed-100-unit-tokens", "fixed-100-tokens"),
        ("sentence-5", "sentence-5"),
        ("sentence-3-overlap-1", "sentence-3-overlap-1"),
        ("section", "section"),
        ("section-800", "section-800"),
        ("section-max_size-800-drop", "section-800-drop"),
        ("code", "code-1500"),
        ("code-python-800", "code-800-python"),
        ("chonkie-sentence-300-overlap-40", "chonkie-sentence-300-overlap-40"),
        ("langchain-markdown-300", "langchain-markdown-300"),
    ],
)
def test_textual_form(text: str, expected: str) -> None:
    """What is read, and how it is written."""
    assert str(parse_chunker(text)) == expected


@given(data=st.data(), name=st.sampled_from(list(CHUNKERS)))
def test_the_textual_form_says_everything(data: st.DataObject, name: str) -> None:
    """A chunker read from its own form is equal."""
    options: dict[str, Any] = {}
    for option in options_of(CHUNKERS.get(name)).values():
        if isinstance(option.kind, Whole):
            options[option.name] = data.draw(st.integers(option.kind.least, 500))
        elif isinstance(option.kind, Choice):
            options[option.name] = data.draw(st.sampled_from(option.kind.words))
    try:
        chunker = make_chunker(name, **options)
    except ConfigurationError:  # an overlap that the size or the kind does not allow
        return
    assert parse_chunker(str(chunker)) == chunker


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fixd-400", "unknown chunker 'fixd'; did you mean 'fixed'?"),
        ("", "unknown chunker ''; there are fixed, sentence, section, whole, code,"),
        ("fixed-overlaps-50",
         "the chunker 'fixed' has no option 'overlaps' (in 'fixed-overlaps-50'); did you"),
        ("sentence-x",
         "the chunker 'sentence' has no option 'x' (in 'sentence-x'); there are size, overlap"),
        ("fixed-token",
         "the chunker 'fixed' has no option 'token' (in 'fixed-token'); did you mean tokens?"),
        ("fixed-size", "the chunker 'fixed-size' has no value behind 'size'"),
        ("fixed-400-500", "the chunker 'fixed-400-500' gives 'size' twice"),
        ("fixed-0", "size of the chunker 'fixed' must be a whole number of at least 1, found 0"),
        ("fixed-10-overlap-x",
         "overlap of the chunker 'fixed' must be a whole number of at least 0, found 'x'"),
        ("fixed-10-overlap-10",
         "overlap of the chunker 'fixed' must be less than its size 10, found 10"),
        ("sentence-2-overlap-2",
         "overlap of the chunker 'sentence' must be less than its size 2, found 2"),
        ("fixed-unit-words",
         "unit of the chunker 'fixed' must be 'characters' or 'tokens', found 'words'"),
        ("code-language-cobol", "language of the chunker 'code' must be 'auto' or 'python' or"),
        ("chonkie-recursive-overlap-5", "Chonkie's RecursiveChunker has no overlap"),
    ],
)  # fmt: skip
def test_refusals(text: str, said: str) -> None:
    """Wrong forms are refused with what would be right."""
    with pytest.raises(ConfigurationError) as caught:
        parse_chunker(text)
    assert str(caught.value).startswith(said)


@given(st.text(st.sampled_from("fixedcode-0123456789overlap_x é"), max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    """Nothing but our errors comes out."""
    with contextlib.suppress(BerryEvalError):
        parse_chunker(text)


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True, None])
def test_wrong_values_are_refused(value: Any) -> None:
    """Options are checked however a chunker is made."""
    with pytest.raises(ConfigurationError, match="size of the chunker 'fixed' must be a whole"):
        FixedChunker(value)
    with pytest.raises(ConfigurationError, match="size of the chunker 'fixed' must be a whole"):
        make_chunker("fixed", size=value)


def test_unknown_options_are_refused() -> None:
    """With the nearest one that exists."""
    with pytest.raises(ConfigurationError, match=r"has no option 'sise'; did you mean size\?"):
        make_chunker("fixed", sise=3)


def test_users_add_chunkers() -> None:
    """Any class with a method `chunk` can be registered, also without options of our kind."""

    class Halves:
        """Two halves."""

        def chunk(self, document: Document) -> list[Chunk]:
            """The halves."""
            middle = len(document.text) // 2
            return [
                Chunk(f"{document.id}{place}", document.id, document.text[start:end], start, end)
                for place, (start, end) in enumerate([(0, middle), (middle, len(document.text))])
            ]

    CHUNKERS.register("halves")(Halves)
    try:
        chunker: Chunker = parse_chunker("halves")
        assert [chunk.text for chunk in chunker.chunk(Document("d", "abcd"))] == ["ab", "cd"]
        with pytest.raises(ConfigurationError, match="the chunker 'halves' has no option '3'"):
            parse_chunker("halves-3")
    finally:
        del CHUNKERS._homes["halves"]


def test_public_names() -> None:
    """`__all__` names what is there, and each says what it is."""
    public = import_module("berryeval.chunkers").__all__
    assert "Chunker" in public
    for name in public:
        assert getattr(chunkers, name).__doc__, name
