"""Chunks that are sections of Markdown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.markdown import parse_sections
from berryeval.chunkers.section import SectionChunker
from tests.chunkers.promises import chunked, missing, prose, texts

GUIDE = """\
Before everything.

# Guide

## Set up {#setup}

Get it. Then run it.
Then look at it.

Old style
=========

## Set up

Again.
"""


@given(text=texts | prose, size=st.none() | st.integers(1, 40))
def test_everything_is_in_a_chunk(text: str, size: int | None) -> None:
    """Nothing is lost, no chunk is longer than asked, and each has the path of its section."""
    chunks = chunked(SectionChunker(size), text)
    assert not missing(text, chunks)
    assert all(len(chunk.text) <= size for chunk in chunks if size)
    for chunk in chunks:
        inside = [
            section.path
            for section in parse_sections(text)
            if section.start <= (chunk.start or 0) < section.own_end
        ]
        assert inside == [chunk.section]


def test_sections() -> None:
    """Own texts, paths and ids as links name them."""
    chunks = chunked(SectionChunker(), GUIDE)
    assert [(chunk.id, chunk.section, chunk.text) for chunk in chunks] == [
        ("doc#", (), "Before everything."),
        ("doc#guide", ("Guide",), "# Guide"),
        ("doc#setup", ("Guide", "Set up"),
         "## Set up {#setup}\n\nGet it. Then run it.\nThen look at it."),
        ("doc#old-style", ("Old style",), "Old style\n========="),
        ("doc#set-up", ("Old style", "Set up"), "## Set up\n\nAgain."),
    ]  # fmt: skip


def test_headings_alone_can_be_dropped() -> None:
    """A section without text of its own is no chunk then; text before all headings stays one."""
    chunks = chunked(SectionChunker(empty="drop"), GUIDE)
    assert [chunk.id for chunk in chunks] == ["doc#", "doc#setup", "doc#set-up"]


def test_long_sections_are_cut_between_lines() -> None:
    """The parts keep the path, and say in their ids where they are."""
    chunks = chunked(SectionChunker(max_size=42), GUIDE)
    assert [(chunk.id, chunk.text) for chunk in chunks[2:4]] == [
        ("doc#setup@29-69", "## Set up {#setup}\n\nGet it. Then run it."),
        ("doc#setup@70-86", "Then look at it."),
    ]
    assert chunks[2].section == chunks[3].section == ("Guide", "Set up")


def test_ids_stay_apart() -> None:
    """Sections that give themselves the same id, and headings that look like one."""
    text = "# A {#x}\n\n# B {#x}\n\n# a\n\n# a\n\n# a-1\n\n# C {#a}\n"
    ids = [chunk.id for chunk in chunked(SectionChunker(), text)]
    assert ids[:3] == ["doc#x", "doc#x@10-18", "doc#a"]
