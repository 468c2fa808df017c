"""Chunks that are definitions of programs."""

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
def test_definitions(language: str) -> None:
    """In every language: the paths of the definitions, and nothing lost."""
    program, expected = PROGRAMS[language]
    chunks = chunked(CodeChunker(8, language), program)
    assert not missing(program, chunks)
    paths = dict.fromkeys(chunk.section for chunk in chunks)
    assert [path for path in paths if path in expected] == expected


@given(language=st.sampled_from(list(LANGUAGES)), size=st.integers(1, 200))
def test_everything_is_held_in_chunks_of_the_size(language: str, size: int) -> None:
    """Whatever the size, no chunk is longer, and nothing is lost."""
    program = PROGRAMS[language][0]
    chunks = chunked(CodeChunker(size, language), program)
    assert not missing(program, chunks)
    assert all(len(chunk.text) <= size for chunk in chunks)


@given(text=texts | prose, language=st.sampled_from(["python", "php", "bash"]))
def test_texts_that_are_no_programs(text: str, language: str) -> None:
    """Any text is cut into chunks that hold all of it."""
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
    """A class that fits is one chunk; one that does not is cut between its methods."""
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


def test_long_functions_are_cut_between_lines() -> None:
    """The parts keep the path of the function."""
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
def test_the_language_is_known_by_the_ending(document: Document, cut: bool) -> None:
    """Of the source, then of the id."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        CodeChunker(130).chunk(document)
    assert bool(said) != cut


def test_what_cannot_be_parsed_is_said_once() -> None:
    """A warning for the first text of each kind of trouble; the text is cut between lines."""
    chunker = CodeChunker(20)
    broken = "def f(:\n    pass\n" * 3
    names = ["a.py", "b.py", "a.txt", "b.txt"]
    with pytest.warns(ChunkingWarning) as said:
        chunks, *_ = [chunker.chunk(Document(name, broken)) for name in names]
    then = "; it is cut between lines, and so are others like it"
    assert [str(one.message) for one in said] == [
        f"a.py: this is no python without errors in its syntax{then}",
        f"a.txt: the ending names no language that can be cut as code{then}",
    ]
    assert [chunk.text for chunk in chunks] == ["def f(:\n    pass"] * 3


def test_deep_nesting_is_no_trouble() -> None:
    """Classes in classes in classes: what is very deep is cut between lines."""
    program = "".join("  " * depth + f"class C{depth}:\n" for depth in range(60))
    program += "  " * 60 + "pass\n"
    chunks = chunked(CodeChunker(30, "python"), program)
    assert not missing(program, chunks)
    assert max(len(chunk.section) for chunk in chunks) < 40


def test_our_own_sources() -> None:
    """Real files: this package, cut into methods and functions without a warning."""
    chunker = CodeChunker(800)
    for path in sorted(Path(chunkers.__file__).parent.glob("*.py")):
        text = path.read_text(encoding="utf-8")
        chunks = chunker.chunk(Document(path.name, text))
        assert not missing(text, chunks)
        assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)
