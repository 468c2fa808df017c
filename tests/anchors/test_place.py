"""Tests of the places of chunks and hits, and of texts rebuilt from chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.corpus import Corpus, rebuild_text
from berryeval.anchors.coverage import Placement, place_piece
from berryeval.data.records import Chunk, Document, Hit

TEXT = "One fish. Two fish.\n\nRed fish. One fish."
CORPUS = Corpus([Document("d", TEXT), Document("empty", "")])


@pytest.mark.parametrize(
    ("hit", "document", "spans"),
    [
        (Hit("h", doc_id="d", start=10, end=19), "d", [(10, 19)]),
        (Hit("h", doc_id="d", start=10, end=19, text="Two fish."), "d", [(10, 19)]),
        (Hit("h", doc_id="d", start=9, end=21, text="Two fish."), "d", [(9, 21)]),
        (Hit("h", doc_id="d", start=10, end=19, text="# Fish\n\nTwo fish."), "d", [(10, 19)]),
        (Hit("h", doc_id="d", text="Two fish."), "d", [(10, 19)]),
        (Hit("h", doc_id="d", text="two FISH. Red"), "d", [(10, 24)]),
        (Hit("h", doc_id="d", text="One fish."), "d", [(0, 9), (31, 40)]),
        # Offsets of another version: the text of the hit counts.
        (Hit("h", doc_id="d", start=0, end=9, text="Red fish."), "d", [(21, 30)]),
        (Hit("h", doc_id="d", start=900, end=909, text="Red fish."), "d", [(21, 30)]),
        # Text that is not in the document: the hit has no place.
        (Hit("h", doc_id="d", start=0, end=9, text="A summary."), "d", []),
        (Hit("h", doc_id="d", start=900, end=909, text="A summary."), "d", []),
        (Hit("h", doc_id="d", start=900, end=909), "d", []),
        (Hit("h", doc_id="d", text="A summary."), "d", []),
        (Hit("h", doc_id="d"), "d", []),
        # A hit that is a whole document.
        (Hit("d"), "d", [(0, 40)]),
        (Hit("d", doc_id="d"), "d", [(0, 40)]),
        (Hit("d", text="Two fish."), "d", [(10, 19)]),
        (Hit("empty"), "empty", []),
        # An unknown document, and no document.
        (Hit("h", doc_id="x", start=3, end=5), "x", [(3, 5)]),
        (Hit("h", doc_id="x", text="Two fish."), "x", []),
        (Hit("h", text="Two fish."), "", []),
        (Hit("h", start=3, end=5), "", []),
    ],
)
def test_hit_is_placed_by_its_offsets_or_its_text(
    hit: Hit, document: str, spans: list[tuple[int, int]]
) -> None:
    assert place_piece(hit, CORPUS) == Placement(document, tuple(spans))


def pieces(text: str, cuts: list[tuple[int, int]]) -> list[Chunk]:
    """Create chunks at these spans."""
    return [
        Chunk(f"c{number}", "d", text[start:end], start, end)
        for number, (start, end) in enumerate(cuts)
    ]


@given(
    st.text(alphabet="ab \n", min_size=1, max_size=30),
    st.lists(st.tuples(st.integers(0, 29), st.integers(1, 30)), max_size=8),
)
def test_rebuilt_text_has_every_chunk_at_its_place(text: str, cuts: list[tuple[int, int]]) -> None:
    inside = [(start, min(start + length, len(text))) for start, length in cuts]
    chunks = pieces(text, [cut for cut in inside if cut[0] < cut[1]])
    found = rebuild_text(chunks)
    if not chunks:
        assert found is None
        return
    if found is None:  # a few letters far away from all others
        known = sum(len(chunk.text) for chunk in chunks)
        assert max(chunk.end or 0 for chunk in chunks) > 4 * known
        return
    for chunk in chunks:
        assert found.text[chunk.start : chunk.end] == chunk.text
    covered = {at for chunk in chunks for at in range(chunk.start or 0, chunk.end or 0)}
    assert found.complete == (covered == set(range(len(found.text))))


def test_contradictory_chunks_are_not_rebuilt() -> None:
    assert rebuild_text([Chunk("a", "d", "abc", 0, 3), Chunk("b", "d", "xyz", 1, 4)]) is None


def test_chunks_longer_than_their_span_are_ignored() -> None:
    title = Chunk("a", "d", "Title: abc", 0, 3)
    assert rebuild_text([title]) is None
    found = rebuild_text([title, Chunk("b", "d", "defghij", 3, 10)])
    assert found == ("\n\n\ndefghij", False)


def test_chunk_at_a_huge_offset_is_not_rebuilt() -> None:
    assert rebuild_text([Chunk("a", "d", "abc", 10**15, 10**15 + 3)]) is None
