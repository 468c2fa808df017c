"""Tests of `locate` for every kind of anchor."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.corpus import Corpus
from berryeval.anchors.location import locate
from berryeval.anchors.quotes import normalise
from berryeval.anchors.targets import Targets
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment, content_hash

if TYPE_CHECKING:
    from berryeval.anchors.location import Location

LINUX = "### On Linux\n\nUse the package manager.\n\n"
INSTALL = f"## Install {{#setup}}\n\nRun the installer.\n\n{LINUX}"
USE = "## Use\n\nStart the service. Stop the service.\n\n"
MORE_USE = "## Use\n\nA second section of the same name.\n"
GUIDE = f"# Guide\n\nRead this first.\n\n{INSTALL}{USE}{MORE_USE}"
NOTES = "First line.\r\nSecond line.\n\nStart the service with care.\nLast"
DOCUMENTS = [Document("guide", GUIDE), Document("notes", NOTES)]


def found(anchor: Anchor, documents: list[Document] = DOCUMENTS) -> Location:
    """Locate the anchor in the documents."""
    return locate(anchor, Corpus(documents))


def texts(anchor: Anchor, documents: list[Document] = DOCUMENTS) -> list[str]:
    """Return the texts at the located spans."""
    by_id = {document.id: document.text for document in documents}
    return [by_id[name][start:end] for name, start, end in found(anchor, documents).spans]


@pytest.mark.parametrize(
    ("anchor", "expected"),
    [
        (Anchor(document="notes", start=0, end=5), "First"),
        (Anchor(document="notes", start=0, end=len(NOTES)), NOTES),
        (Anchor(document="notes", start=1, end=1, unit="lines"), "First line.\r\n"),
        (Anchor(document="notes", start=2, end=3, unit="lines"), "Second line.\n\n"),
        (Anchor(document="notes", start=5, end=5, unit="lines"), "Last"),
        (Anchor(document="notes", start=1, end=5, unit="lines"), NOTES),
        (Anchor(document="notes", quote="Second line."), "Second line."),
        (Anchor(document="notes", quote="second LINE.\nstart"), "Second line.\n\nStart"),
        (Anchor(document="guide", quote="Use the packet manager."), "Use the package manager."),
        (Anchor(quote="with care"), "with care"),
        (Anchor(quote="WITH  care"), "with care"),
        (Anchor(document="guide", section=("setup",)), INSTALL),
        (Anchor(document="guide", section=("#setup",)), INSTALL),
        (Anchor(document="guide", section=("Guide", "Install")), INSTALL),
        (Anchor(document="guide", section=("install",)), INSTALL),
        (Anchor(document="guide", section=("install", "on-linux")), LINUX),
        (Anchor(document="guide", section=("On Linux",)), LINUX),
        (Anchor(document="guide", section=("use-1",)), MORE_USE),
        (Anchor(document="guide", section=("Guide",)), GUIDE),
        (Anchor(document="guide", section=("setup",), quote="package"), "package"),
        (Anchor(document="guide", section=("gone",), quote="package"), "package"),
        (Anchor(document="guide", section=("setup",), quote="second section"), "second section"),
        (Anchor(document="guide", start=0, end=7, quote="guide"), "# Guide"),
        (Anchor(document="guide", start=0, end=7, quote="package"), "package"),
        (Anchor(document="guide", start=9000, end=9001, quote="package"), "package"),
    ],
)
def test_every_kind_of_anchor_is_found(anchor: Anchor, expected: str) -> None:
    assert texts(anchor) == [expected]
    assert found(anchor).resolves
    assert not found(anchor).lost


def test_quote_is_found_at_every_occurrence_in_its_document() -> None:
    assert texts(Anchor(document="guide", quote="the service")) == ["the service"] * 2
    assert len(texts(Anchor(document="guide", quote="Use"))) == 3


def test_exact_quote_precedes_normalized_and_fuzzy_ones() -> None:
    text = "The Cat sat here. the  cat sat here. the bat sat here."
    documents = [Document("d", text)]
    exact = found(Anchor(document="d", quote="The Cat sat"), documents)
    assert (exact.match, len(exact.spans)) == ("exact", 1)
    plain = found(Anchor(document="d", quote="the cat SAT"), documents)
    assert (plain.match, len(plain.spans)) == ("normalised", 2)
    near = found(Anchor(document="d", quote="the cap sat here."), documents)
    assert near.match == "fuzzy"
    assert near.ratio == 1 - 1 / 17


def test_quote_in_several_documents_is_ambiguous_and_counts_in_each() -> None:
    place = found(Anchor(quote="Start the service"))
    assert place.choices == ("guide", "notes")
    assert {span.document for span in place.spans} == {"guide", "notes"}
    assert place.resolves


def test_ambiguous_section_has_no_span_and_lists_the_choices() -> None:
    place = found(Anchor(document="guide", section=("Guide", "Use")))
    assert place.choices == ("Guide > Use (#use)", "Guide > Use (#use-1)")
    assert not place.spans
    assert not place.resolves


def test_end_of_two_paths_is_ambiguous() -> None:
    text = "# A\n## Set up\n# B\n## Set up\n### More\n"
    documents = [Document("d", text)]
    assert len(found(Anchor(document="d", section=("SET UP",)), documents).choices) == 2
    assert texts(Anchor(document="d", section=("b", "set up")), documents) == [text[18:]]
    assert texts(Anchor(document="d", section=("More",)), documents) == ["### More\n"]


@pytest.mark.parametrize(
    ("anchor", "reason"),
    [
        (Anchor(document="novel"), "there is no document 'novel'"),
        (
            Anchor(document="notes", start=0, end=9000),
            f"'notes' has {len(NOTES)} characters, but the span ends at 9000",
        ),
        (
            Anchor(document="notes", start=10**30, end=10**31),
            f"'notes' has {len(NOTES)} characters, but the span ends at {10**31}",
        ),
        (
            Anchor(document="notes", start=5, end=6, unit="lines"),
            "'notes' has 5 lines, but the span ends at 6",
        ),
        (
            Anchor(document="notes", section=("Chapter",)),
            "'notes' has no section 'Chapter'",
        ),
        (
            Anchor(document="notes", quote="Nothing of the kind was ever written."),
            "'notes' does not contain the quote 'Nothing of the kind was ever written.'",
        ),
        (Anchor(document="notes", quote="\u2003\u2003"), "'notes' does not contain the quote ''"),
        (Anchor(quote="xyzzy"), "no document contains the quote 'xyzzy'"),
        (
            Anchor(document="notes", start=0, end=5, document_hash=content_hash("old")),
            "'notes' has changed, and a span without a quote cannot be verified",
        ),
    ],
)
def test_unresolved_anchor_has_a_reason(anchor: Anchor, reason: str) -> None:
    place = found(anchor)
    assert place.lost
    assert place.lost.reason == reason
    assert not place.spans
    assert not place.resolves


def test_quotes_and_sections_are_found_in_a_changed_document() -> None:
    old = content_hash("something else")
    moved = Anchor(document="notes", start=0, end=9, quote="with care", document_hash=old)
    assert texts(moved) == ["with care"]
    assert texts(Anchor(document="guide", section=("On Linux",), document_hash=old))
    assert found(Anchor(document="guide", document_hash=old)).resolves


def test_span_that_still_has_its_quote_is_the_only_place() -> None:
    again = [Document("d", "Stop it. Stop it. Stop it.")]
    anchor = Anchor(document="d", start=9, end=17, quote="Stop it.", document_hash="sha256:0")
    assert [tuple(span)[1:] for span in found(anchor, again).spans] == [(9, 17)]
    moved = replace(anchor, start=8, end=16)
    assert [span.start for span in found(moved, again).spans] == [0, 9, 18]
    assert not found(replace(anchor, quote=" "), again).spans


def test_document_hash_prefix_is_optional() -> None:
    written = content_hash(NOTES)
    for spelling in (
        written,
        written.removeprefix("sha256:"),
        written.removeprefix("sha256:").upper(),
    ):
        assert texts(Anchor(document="notes", start=0, end=5, document_hash=spelling)) == ["First"]


def test_anchors_resolve_without_any_text_except_lines() -> None:
    corpus = Corpus(None)
    assert locate(Anchor(document="d", start=3, end=5), corpus).spans == (("d", 3, 5),)
    for anchor in (
        Anchor(document="d"),
        Anchor(document="d", section=("A",)),
        Anchor(document="d", quote="q"),
        Anchor(quote="q"),
        Anchor(chunk="c"),
    ):
        assert locate(anchor, corpus).resolves
    lines = locate(Anchor(document="d", start=3, end=5, unit="lines"), corpus)
    assert lines.lost
    assert lines.lost.reason == "the text of 'd' is unknown, so its lines cannot be counted"


def test_lines_are_not_counted_in_a_text_with_gaps() -> None:
    chunks = [Chunk("a", "d", "One two", 0, 7), Chunk("b", "d", "three four", 9, 19)]
    corpus = Corpus(None, chunks)
    lines = locate(Anchor(document="d", start=1, end=1, unit="lines"), corpus)
    assert lines.lost
    assert lines.lost.reason == "the chunks of 'd' leave gaps, so its lines cannot be counted"
    quote = locate(Anchor(document="d", quote="two three"), corpus)
    assert quote.spans == (("d", 4, 14),)


@given(
    st.text(alphabet="aAbB \n#", min_size=1, max_size=40),
    st.integers(0, 60),
    st.integers(1, 30),
    st.sampled_from(["characters", "lines", "quote", "loud quote"]),
)
def test_located_span_has_the_text_of_the_anchor_or_a_reason(
    text: str, start: int, length: int, kind: str
) -> None:
    quote = text[start : start + length]
    if kind == "characters":
        anchor = Anchor(document="d", start=start, end=start + length)
    elif kind == "lines":
        anchor = Anchor(document="d", start=start + 1, end=start + length, unit="lines")
    elif quote:
        loud = quote if kind == "quote" else quote.upper().replace(" ", "\n ")
        anchor = Anchor(document="d", quote=loud)
    else:
        return
    place = found(anchor, [Document("d", text)])
    assert bool(place.spans) != bool(place.lost)
    for _, first, last in place.spans:
        assert 0 <= first < last <= len(text)
        if anchor.quote and place.match != "fuzzy":
            assert normalise(text[first:last]) == normalise(anchor.quote)
        if kind == "lines":
            assert text[first:last] == "".join(
                text.splitlines(keepends=True)[start : start + length]
            )
    if kind == "quote" and quote.strip():
        assert ("d", start, start + len(quote)) in place.spans


def test_anchor_made_from_a_place_is_found_there() -> None:
    """Also after text was inserted before it."""
    start = GUIDE.index("Start the service.")
    anchor = Anchor(
        document="guide", start=start, end=start + 18, quote="Start the service.",
        document_hash=content_hash(GUIDE),
    )  # fmt: skip
    assert found(anchor).spans == (("guide", start, start + 18),)
    longer = [replace(DOCUMENTS[0], text="Preface.\n\n" + GUIDE)]
    assert found(anchor, longer).spans == (("guide", start + 10, start + 28),)


def test_section_without_subsections_ends_at_the_next_heading() -> None:
    text = "# Guide\n\nHello.\n\n## Install\n\nRun it.\n"
    for subsections, expected in ((True, text), (False, "# Guide\n\nHello.\n\n")):
        anchor = Anchor(document="d", section=("guide",), subsections=subsections)
        located = locate(anchor, Corpus([Document("d", text)]))
        ((_, start, end),) = located.spans
        assert text[start:end] == expected


def test_section_without_subsections_needs_the_exact_path_if_the_text_is_unknown() -> None:
    target = Anchor(document="d", section=("Guide",), subsections=False)
    hits = [
        Hit("below", doc_id="d", section=("Guide", "Install")),
        Hit("itself", doc_id="d", section=("Guide",)),
    ]
    ranking = Targets.locate([Judgment("q", target, 1)]).judge("q", hits)
    assert [tuple(hit) for hit in ranking.hits] == [(2, 1)]
