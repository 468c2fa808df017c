"""Random documents, chunks and judgments, and a slow reference resolver."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from berryeval.anchors.markdown import parse_sections
from berryeval.anchors.quotes import normalise
from berryeval.data.records import Anchor, Chunk, Document, Judgment

if TYPE_CHECKING:
    from collections.abc import Sequence

LETTERS = "aAbB c\n"
GRADES = (0, 1, 2, 3)


@st.composite
def corpora(draw: st.DrawFn) -> list[Document]:
    """Draw one to three documents of a few letters and headings."""
    documents = []
    for number in range(draw(st.integers(1, 3))):
        parts = draw(
            st.lists(
                st.one_of(
                    st.text(alphabet=LETTERS, max_size=12),
                    st.sampled_from(["\n# One\n", "\n## Two\n", "\n# Three\n", "\n## Four\n"]),
                ),
                min_size=1,
                max_size=6,
            )
        )
        documents.append(Document(f"d{number}", "".join(parts) or "a"))
    return documents


@st.composite
def chunkings(draw: st.DrawFn, documents: Sequence[Document]) -> list[Chunk]:
    """Draw chunks of the documents, with or without overlaps and gaps."""
    chunks: list[Chunk] = []
    for document in documents:
        for _ in range(draw(st.integers(0, 6))):
            start = draw(st.integers(0, len(document.text) - 1))
            end = draw(st.integers(start + 1, len(document.text)))
            number = len(chunks)
            chunks.append(Chunk(f"c{number}", document.id, document.text[start:end], start, end))
    return chunks


@st.composite
def anchors(draw: st.DrawFn, documents: Sequence[Document], chunks: Sequence[Chunk]) -> Anchor:
    """Draw an anchor of any kind, which usually resolves."""
    document = draw(st.sampled_from(documents))
    text = document.text
    kind = draw(st.sampled_from(["chunk", "document", "section", "span", "lines", "quote"]))
    start = draw(st.integers(0, len(text) - 1))
    end = draw(st.integers(start + 1, len(text)))
    if kind == "chunk" and chunks:
        return Anchor(chunk=draw(st.sampled_from(chunks)).id)
    if kind == "section":
        return Anchor(
            document=document.id, section=(draw(st.sampled_from(["One", "two", "Four"])),)
        )
    if kind == "span":
        return Anchor(document=document.id, start=start, end=end)
    if kind == "lines":
        line = draw(st.integers(1, 4))
        return Anchor(document=document.id, start=line, end=line, unit="lines")
    if kind == "quote":
        quote = text[start:end].upper() if draw(st.booleans()) else text[start:end]
        # Long quotes would be found approximately, which the slow resolver does not do.
        return Anchor(document=draw(st.sampled_from([document.id, ""])), quote=quote[:6])
    return Anchor(document=document.id)


@st.composite
def judged(
    draw: st.DrawFn, documents: Sequence[Document], chunks: Sequence[Chunk]
) -> list[Judgment]:
    """Draw judgments of two queries, in groups or not, without repetition."""
    found: dict[tuple[str, str, Anchor], Judgment] = {}
    needs = {"g1": "any", "g2": "all", "": "any"}
    for _ in range(draw(st.integers(1, 8))):
        query = draw(st.sampled_from(["q1", "q2"]))
        group = draw(st.sampled_from(["", "", "g1", "g2"]))
        anchor = draw(anchors(documents, chunks))
        grade = draw(st.sampled_from(GRADES))
        judgment = Judgment(query, anchor, grade, group, needs[group])  # type: ignore[arg-type]
        found.setdefault((query, group, anchor), judgment)
    return list(found.values())


def slow_places(anchor: Anchor, documents: Sequence[Document]) -> list[tuple[str, int, int]]:
    """Locate an anchor by searching everywhere, without fuzzy quotes."""
    found = []
    for document in documents:
        text = document.text
        if anchor.document not in {"", document.id}:
            continue
        if anchor.section:
            sections = parse_sections(text)
            name = anchor.section[0]
            named = [one for one in sections if one.id == name]
            path = [one for one in sections if one.path == (name,)]
            last = [one for one in sections if one.path and one.path[-1].lower() == name.lower()]
            chosen = named or path or last
            found += [(document.id, one.start, one.end) for one in chosen if len(chosen) == 1]
        elif anchor.unit == "lines":
            lines = text.splitlines(keepends=True)
            first = anchor.start or 0
            if first <= len(lines):
                start = sum(map(len, lines[: first - 1]))
                found.append((document.id, start, start + len(lines[first - 1])))
        elif anchor.start is not None:
            found.append((document.id, anchor.start, anchor.end or 0))
        elif anchor.quote:
            found += [(document.id, *span) for span in slow_quotes(anchor.quote, text)]
    texts = {document.id: document.text for document in documents}
    exact = [place for place in found if texts[place[0]][place[1] : place[2]] == anchor.quote]
    return exact or found


def slow_quotes(quote: str, text: str) -> list[tuple[int, int]]:
    """Return all exact passages, or else all that are equal up to case and white space."""
    every = [(start, end) for start in range(len(text)) for end in range(start + 1, len(text) + 1)]
    wanted = normalise(quote)
    same = [span for span in every if wanted and text[span[0] : span[1]] == quote]
    return same or [
        (start, end)
        for start, end in every
        if wanted
        and normalise(text[start:end]) == wanted
        and not text[start].isspace()
        and not text[end - 1].isspace()
    ]


def slow_covers(chunk: Chunk, anchor: Anchor, documents: Sequence[Document]) -> bool:
    """Return whether a chunk with offsets covers an anchor's target."""
    if anchor.chunk:
        return chunk.id == anchor.chunk
    if anchor == Anchor(document=anchor.document or "?"):
        return chunk.doc_id == anchor.document
    here = set(range(chunk.start or 0, chunk.end or 0))
    for document, start, end in slow_places(anchor, documents):
        there = set(range(start, end))
        shared = len(here & there)
        shorter = min(len(here), len(there))
        if document == chunk.doc_id and shared and 2 * shared >= shorter:
            return True
    return False
