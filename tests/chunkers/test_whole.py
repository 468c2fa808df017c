"""Tests of whole documents as chunks."""

from __future__ import annotations

from hypothesis import given

from berryeval.chunkers.whole import WholeChunker
from tests.chunkers.promises import chunked, prose, texts


@given(text=texts | prose)
def test_document_is_one_chunk_unless_blank(text: str) -> None:
    chunks = chunked(WholeChunker(), text)
    assert [(chunk.id, chunk.text) for chunk in chunks] == ([("doc", text)] if text.strip() else [])
