"""Documents as they are."""

from __future__ import annotations

from hypothesis import given

from berryeval.chunkers.whole import WholeChunker
from tests.chunkers.promises import chunked, prose, texts


@given(text=texts | prose)
def test_a_document_is_its_own_chunk(text: str) -> None:
    """One chunk with the text and the id of the document; none of a blank one."""
    chunks = chunked(WholeChunker(), text)
    assert [(chunk.id, chunk.text) for chunk in chunks] == ([("doc", text)] if text.strip() else [])
