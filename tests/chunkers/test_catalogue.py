"""Tests of the textual form, the options and the table of chunkers."""

from __future__ import annotations

import contextlib
from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval import chunkers
from berryeval.chunkers.base import Chunker, options_of
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
def test_chunker_prints_its_textual_form(text: str, expected: str) -> None:
    assert str(parse_chunker(text)) == expected


@given(data=st.data(), name=st.sampled_from(list(CHUNKERS)))
def test_textual_form_round_trips(data: st.DataObject, name: str) -> None:
    options: dict[str, Any] = {}
    for option in options_of(CHUNKERS.get(name)).values():
        if option.least is not None:
            options[option.name] = data.draw(st.integers(option.least, 500))
        elif option.choices:
            options[option.name] = data.draw(st.sampled_from(option.choices))
    try:
        chunker = make_chunker(name, **options)
    except ConfigurationError:  # the size or the kind does not allow this overlap
        return
    assert parse_chunker(str(chunker)) == chunker


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fixd-400", "unknown chunker 'fixd'; did you mean 'fixed'?"),
        ("", "unknown chunker ''; there are fixed, sentence, section, whole, code,"),
        ("fixed-overlaps-50",
         "the chunker 'fixed-overlaps-50' has no option 'overlaps'; did you mean 'overlap'?"),
        ("sentence-x",
         "the chunker 'sentence-x' has no option 'x'; it has size, overlap"),
        ("fixed-token",
         "the chunker 'fixed-token' has no option 'token'; did you mean 'tokens'?"),
        ("fixed-size", "the chunker 'fixed-size' has no value after 'size'"),
        ("fixed-400-500", "the chunker 'fixed-400-500' sets 'size' twice"),
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
def test_malformed_text_is_rejected_with_a_suggestion(text: str, message: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        parse_chunker(text)
    assert str(caught.value).startswith(message)


@given(st.text(st.sampled_from("fixedcode-0123456789overlap_x é"), max_size=20))
def test_any_text_is_parsed_or_rejected_with_our_error(text: str) -> None:
    with contextlib.suppress(BerryEvalError):
        parse_chunker(text)


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True, None])
def test_wrong_option_value_is_rejected(value: Any) -> None:
    with pytest.raises(ConfigurationError, match="size of the chunker 'fixed' must be a whole"):
        FixedChunker(value)
    with pytest.raises(ConfigurationError, match="size of the chunker 'fixed' must be a whole"):
        make_chunker("fixed", size=value)


def test_unknown_option_suggests_the_closest() -> None:
    with pytest.raises(ConfigurationError, match=r"has no option 'sise'; did you mean 'size'\?"):
        make_chunker("fixed", sise=3)


def test_class_with_a_chunk_method_can_be_registered() -> None:
    class Halves:
        """Two halves."""

        def chunk(self, document: Document) -> list[Chunk]:
            middle = len(document.text) // 2
            return [
                Chunk(f"{document.id}{place}", document.id, document.text[start:end], start, end)
                for place, (start, end) in enumerate([(0, middle), (middle, len(document.text))])
            ]

    CHUNKERS.register("halves")(Halves)
    try:
        chunker: Chunker = parse_chunker("halves")
        assert [chunk.text for chunk in chunker.chunk(Document("d", "abcd"))] == ["ab", "cd"]
        with pytest.raises(ConfigurationError, match="the chunker 'halves-3' has no option '3'"):
            parse_chunker("halves-3")
    finally:
        del CHUNKERS._homes["halves"]


def test_public_names_exist_and_are_documented() -> None:
    public = import_module("berryeval.chunkers").__all__
    assert "Chunker" in public
    for name in public:
        assert getattr(chunkers, name).__doc__, name
