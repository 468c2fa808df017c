"""Tests of chunks that are definitions of programs."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval import chunkers
from berryeval.chunkers.base import ChunkingWarning
from berryeval.chunkers.code import LANGUAGES, CodeChunker
from berryeval.data.records import Document
from tests.chunkers.programs import PROGRAMS
from tests.chunkers.promises import chunked, missing, prose, texts


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_language_is_split_at_its_definitions(language: str) -> None:
    program, expected = PROGRAMS[language]
    chunks = chunked(CodeChunker(8, language), program)
    assert not missing(program, chunks)
    paths = dict.fromkeys(chunk.section for chunk in chunks)
    assert [path for path in paths if path in expected] == expected


@given(language=st.sampled_from(list(LANGUAGES)), size=st.integers(1, 200))
def test_chunks_of_limited_size_contain_all_text(language: str, size: int) -> None:
    program = PROGRAMS[language][0]
    chunks = chunked(CodeChunker(size, language), program)
    assert not missing(program, chunks)
    assert all(len(chunk.text) <= size for chunk in chunks)


@given(text=texts | prose, language=st.sampled_from(["python", "php", "bash"]))
def test_text_that_is_not_a_program_is_fully_contained_in_chunks(text: str, language: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChunkingWarning)
        chunks = chunked(CodeChunker(20, language), text)
    assert not missing(text, chunks)


PROGRAM = """\
# é: the licence, 漢字.

import os
import sys


# What it is.
@decorated
class Shape:
    \"\"\"A shape.\"\"\"

    sides = 4

    def area(self):
        return 1

    def draw(self):
        for side in range(self.sides):
            print(side)


def small():
    pass


def tiny():
    pass
"""


def test_small_neighbours_share_a_chunk() -> None:
    chunks = chunked(CodeChunker(130, "python"), PROGRAM)
    assert [(chunk.section, chunk.metadata.get("symbols")) for chunk in chunks] == [
        ((), None),
        (("class Shape",), ["def area"]),
        (("class Shape", "def draw"), ["def draw"]),
        ((), ["def small", "def tiny"]),
    ]
    assert chunks[0].text == "# é: the licence, 漢字.\n\nimport os\nimport sys"
    assert chunks[1].text.startswith("# What it is.\n@decorated\nclass Shape:\n")
    assert chunks[2].text.startswith("def draw(self):")
    whole = chunked(CodeChunker(300, "python"), PROGRAM)
    assert [chunk.metadata["symbols"] for chunk in whole] == [
        ["class Shape", "def small", "def tiny"]
    ]


def test_long_function_is_split_between_lines() -> None:
    """All parts keep the path of the function."""
    program = "def long():\n" + "".join(f"    step({place})\n" for place in range(20))
    chunks = chunked(CodeChunker(60, "python"), program)
    assert len(chunks) > 4
    assert {chunk.section for chunk in chunks} == {("def long",)}
    lines = {line.strip() for line in program.splitlines()}
    assert {line.strip() for chunk in chunks for line in chunk.text.splitlines()} == lines


@pytest.mark.parametrize(
    ("document", "cut"),
    [
        (Document("src/a.py", PROGRAM), True),
        (Document("1", PROGRAM, source="https://host/src/a.PY"), True),
        (Document("a.txt", PROGRAM), False),
        (Document("py", "x = 1"), True),
    ],
)
def test_language_follows_from_the_file_extension(document: Document, cut: bool) -> None:
    """The source comes before the id."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CodeChunker(130).chunk(document)
    assert bool(caught) != cut


def test_unparsable_documents_cause_one_warning_per_reason() -> None:
    chunker = CodeChunker(20)
    broken = "def f(:\n    pass\n" * 3
    names = ["a.py", "b.py", "a.txt", "b.txt"]
    with pytest.warns(ChunkingWarning) as caught:
        chunks, *_ = [chunker.chunk(Document(name, broken)) for name in names]
    suffix = "; splitting it, and similar documents, between lines"
    assert [str(one.message) for one in caught] == [
        f"a.py: the python code has syntax errors{suffix}",
        f"a.txt: the file extension is not that of a supported language{suffix}",
    ]
    assert [chunk.text for chunk in chunks] == ["def f(:\n    pass"] * 3


def test_deep_nesting_is_split_between_lines() -> None:
    program = "".join("  " * depth + f"class C{depth}:\n" for depth in range(60))
    program += "  " * 60 + "pass\n"
    chunks = chunked(CodeChunker(30, "python"), program)
    assert not missing(program, chunks)
    assert max(len(chunk.section) for chunk in chunks) < 40


def test_own_source_files_are_split_without_a_warning() -> None:
    chunker = CodeChunker(800)
    for path in sorted(Path(chunkers.__file__).parent.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        chunks = chunker.chunk(Document(path.name, text))
        assert not missing(text, chunks)
        assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
