"""Checks of the properties that every chunker has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from berryeval.data.records import Chunk, Document

if TYPE_CHECKING:
    from berryeval.chunkers.base import Chunker

# Few letters, so that texts repeat themselves; white space, marks and letters of several bytes.
texts = st.text(st.sampled_from("ab .\n\t#é漢。!\U0001f600-\u00a0"), max_size=120)
prose = st.lists(
    st.sampled_from([
        "the cat. ", "the dog! ", "The ", "\n\n", "\n# Part\n", "\n## Set up {#up}\n", "- item\n",
        "1. one. ", "e.g. this ", "é漢字。", "3.14 ", "\n", "```\n# no\n```\n", "\r\n", "\n---\n",
    ]), max_size=40,
).map("".join)  # fmt: skip


def chunked(chunker: Chunker, text: str) -> list[Chunk]:
    """Split a text and check offsets, order, unique ids and reproducibility."""
    document = Document("doc", text)
    chunks = chunker.chunk(document)
    for chunk in chunks:
        assert chunk.start is not None
        assert text[chunk.start : chunk.end] == chunk.text
        assert chunk.text.strip()
        assert chunk.doc_id == "doc"
        assert chunk.id.startswith("doc")
    spans = [(chunk.start, chunk.end) for chunk in chunks]
    assert spans == sorted(set(spans))
    assert len({chunk.id for chunk in chunks}) == len(chunks)
    assert chunker.chunk(document) == chunks
    return chunks


def missing(text: str, chunks: list[Chunk]) -> str:
    """Return the text that no chunk contains, except white space."""
    held = {place for chunk in chunks for place in range(chunk.start or 0, chunk.end or 0)}
    return "".join(
        letter for place, letter in enumerate(text) if place not in held and not letter.isspace()
    )
