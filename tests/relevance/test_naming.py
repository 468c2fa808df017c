"""Tests of hits that know judged sections and documents only by address."""

from __future__ import annotations

import berryeval as be
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment, Query

GUIDE = (
    "# REST\n\nIntro.\n\n## Creating a controller {#creating}\n\nWrite it.\n\n## Errors\n\nOops.\n"
)
DOCUMENT = Document("boot/web/rest", GUIDE)
OTHER = Document("boot/data", "# Data\n\n## Errors\n\nNo rows.\n")


def benchmark(
    *judgments: Judgment, documents: tuple[Document, ...] = (DOCUMENT, OTHER)
) -> be.Benchmark:
    """Create a benchmark with section anchors."""
    return be.Benchmark("test", documents, (Query("q", "?"),), judgments)


CREATING = Judgment(
    "q", Anchor(document="boot/web/rest", section=("creating",)), 2, extra={"chunk_id": "uuid-1"}
)
ERRORS = Judgment("q", Anchor(document="boot/web/rest", section=("errors",)), 1)


def recall(of: be.Benchmark, *hits: Hit | str) -> float:
    """Return the recall of these hits, best first."""
    ranked = [
        Hit(hit, rank=rank) if isinstance(hit, str) else
        Hit(hit.id, rank=rank, text=hit.text, doc_id=hit.doc_id, section=hit.section,
            start=hit.start, end=hit.end, metadata=hit.metadata)
        for rank, hit in enumerate(hits, start=1)
    ]  # fmt: skip
    return be.evaluate_hits(of, {"q": ranked}, ["R@9"]).mean["R@9"]


def test_ids_of_sections_match_section_anchors() -> None:
    golden = benchmark(CREATING, ERRORS)
    assert recall(golden, "boot/web/rest#creating") == 0.5
    assert recall(golden, "boot/web/rest#creating", "boot/web/rest#errors") == 1.0
    assert recall(golden, "boot/data#errors", "boot/web/rest#intro") == 0.0


def test_published_chunk_id_of_a_judgment_matches() -> None:
    assert recall(benchmark(CREATING, ERRORS), "uuid-1") == 0.5


def test_addresses_of_documentation_match_sections() -> None:
    golden = benchmark(CREATING, ERRORS)
    url = {"url": "https://docs.example.org/boot/web/rest.html#creating"}
    found = Hit("7", text="Quite another text.", start=4000, end=4019, metadata=url)
    assert recall(golden, found) == 0.5
    by_heading = Hit("8", section=("REST", "Errors"), metadata={"source": "x/boot/web/rest.md"})
    assert recall(golden, found, by_heading) == 1.0


def test_hits_of_the_corpus_are_not_renamed() -> None:
    golden = benchmark(ERRORS)
    start = GUIDE.index("## Errors")
    misled = Hit(
        "c", doc_id="boot/web/rest", start=0, end=15,
        metadata={"url": "https://host/boot/web/rest#errors"},
    )  # fmt: skip
    assert recall(golden, misled) == 0.0
    assert recall(golden, Hit("d", doc_id="boot/web/rest", start=start, end=len(GUIDE))) == 1.0


def test_documents_match_by_address() -> None:
    judged = Judgment("q", Anchor(document="boot/web/rest"), 1)
    hit = Hit("7", metadata={"url": "https://docs.example.org/3/boot/web/rest.html"})
    for documents in ((DOCUMENT, OTHER), ()):
        golden = benchmark(judged, documents=documents)
        assert recall(golden, hit) == 1.0
        assert recall(golden, "boot/web/rest") == 1.0
        assert recall(golden, Hit("7", metadata={"url": "https://host/web/rest"})) == 0.0


def test_ambiguous_sections_do_not_match_and_are_noted() -> None:
    twice = Document("d/e", "# A\n\n## Set up\n\none\n\n# B\n\n## Set up\n\ntwo\n")
    judgments = [
        Judgment("q", Anchor(document="d/e", section=(part, "Set up")), 1) for part in "AB"
    ]
    golden = benchmark(*judgments, documents=(twice,))
    scores = be.evaluate_hits(golden, {"q": ["d/e#set-up"]}, ["R@1"])
    assert scores.mean["R@1"] == 0.0
    (note,) = scores.notes
    assert "hit 'd/e#set-up' is ambiguous: d/e > A > Set up or d/e > B > Set up; it counts" in note


def test_sections_match_only_by_equal_names() -> None:
    text = "# Guide\n\n## Use\n\nType.\n\n## Use of force\n\nPush.\n"
    judged = Judgment("q", Anchor(document="guide", section=("Use",)), 1)
    for documents in ((Document("guide", text),), ()):
        golden = benchmark(judged, documents=documents)
        assert recall(golden, "guide#use-of-force") == 0.0
        assert recall(golden, "guide#use") == 1.0


def test_a_document_missing_from_the_corpus_cannot_be_found() -> None:
    judged = Judgment("q", Anchor(document="dX"), 1)
    golden = benchmark(judged)
    piece = Hit("c1", doc_id="dX", text="Some of it.")
    assert recall(golden, "dX", piece, "dX#part", "boot/data") == 0.0
    scores = be.evaluate_hits(golden, {"q": ["dX"]}, ["R@1"])
    (note,) = scores.notes
    assert note.startswith("1 of 1 target is not in the documents: 'dX' judged; there is")
    unlisted = benchmark(judged, documents=())
    assert recall(unlisted, "dX") == recall(unlisted, piece) == 1.0
    chunks = [Chunk("c1", "d1", "Some.", 0, 5)]  # of a system, not of the benchmark
    found = be.evaluate_hits(unlisted, {"q": [piece]}, ["R@1"], chunks=chunks)
    assert found.mean["R@1"] == 1.0
    named = benchmark(Judgment("q", Anchor(chunk="dX"), 1))  # a chunk of the provider
    assert recall(named, "dX") == 1.0


def test_any_section_of_a_judged_document_matches() -> None:
    judged = Judgment("q", Anchor(document="boot/web/rest"), 1)
    for documents in ((DOCUMENT, OTHER), ()):
        golden = benchmark(judged, documents=documents)
        assert recall(golden, "boot/web/rest#creating") == 1.0
        assert recall(golden, "boot/data#errors", "x/boot/web/rest#creating") == 0.0
