"""Tests of Markdown sections as chunks."""

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
def test_chunks_contain_all_text_and_have_section_paths(text: str, size: int | None) -> None:
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


def test_section_chunks_have_own_text_path_and_link_id() -> None:
    chunks = chunked(SectionChunker(), GUIDE)
    assert [(chunk.id, chunk.section, chunk.text) for chunk in chunks] == [
        ("doc#", (), "Before everything."),
        ("doc#guide", ("Guide",), "# Guide"),
        ("doc#setup", ("Guide", "Set up"),
         "## Set up {#setup}\n\nGet it. Then run it.\nThen look at it."),
        ("doc#old-style", ("Old style",), "Old style\n========="),
        ("doc#set-up", ("Old style", "Set up"), "## Set up\n\nAgain."),
    ]  # fmt: skip


def test_sections_that_are_only_a_heading_can_be_dropped() -> None:
    """Text before the first heading is kept."""
    chunks = chunked(SectionChunker(empty="drop"), GUIDE)
    assert [chunk.id for chunk in chunks] == ["doc#", "doc#setup", "doc#set-up"]


def test_long_section_is_split_between_lines() -> None:
    chunks = chunked(SectionChunker(max_size=42), GUIDE)
    assert [(chunk.id, chunk.text) for chunk in chunks[2:4]] == [
        ("doc#setup@29-69", "## Set up {#setup}\n\nGet it. Then run it."),
        ("doc#setup@70-86", "Then look at it."),
    ]
    assert chunks[2].section == chunks[3].section == ("Guide", "Set up")


def test_sections_with_the_same_id_get_distinct_chunk_ids() -> None:
    text = "# A {#x}\n\n# B {#x}\n\n# a\n\n# a\n\n# a-1\n\n# C {#a}\n"
    ids = [chunk.id for chunk in chunked(SectionChunker(), text)]
    assert ids[:3] == ["doc#x", "doc#x@10-18", "doc#a"]
