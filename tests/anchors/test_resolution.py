"""Tests of `resolve` against a loop over all chunks."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.coverage import make_anchor
from berryeval.anchors.targets import Targets, resolve
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment
from berryeval.errors import DataError
from tests.anchors.worlds import chunkings, corpora, judged, slow_covers


@given(st.data())
def test_resolution_agrees_with_a_loop_over_all_chunks(data: st.DataObject) -> None:
    documents = data.draw(corpora())
    chunks = data.draw(chunkings(documents))
    judgments = data.draw(judged(documents, chunks))
    expected: dict[str, dict[str, float]] = {judgment.query_id: {} for judgment in judgments}
    for judgment in judgments:
        for chunk in chunks:
            if slow_covers(chunk, judgment.target, documents):
                known = expected[judgment.query_id]
                known[chunk.id] = max(known.get(chunk.id, 0), judgment.grade)
    assert resolve(judgments, chunks, documents).qrels.to_dict() == expected


@given(st.data())
def test_order_of_judgments_and_chunks_does_not_matter(data: st.DataObject) -> None:
    documents = data.draw(corpora())
    chunks = data.draw(chunkings(documents))
    judgments = data.draw(judged(documents, chunks))
    mixed = data.draw(st.permutations(judgments))
    one = resolve(judgments, chunks, documents)
    other = resolve(mixed, chunks[::-1], documents[::-1])
    assert one.qrels.to_dict() == other.qrels.to_dict()
    for query in one.targets.queries:
        assert one.targets.judge(query, chunks) == other.targets.judge(query, chunks)


@given(st.data())
def test_chunks_with_all_text_replace_documents(data: st.DataObject) -> None:
    documents = data.draw(corpora())
    chunks = data.draw(chunkings(documents))
    whole = [
        Chunk(document.id, document.id, document.text, 0, len(document.text))
        for document in documents
    ]
    judgments = data.draw(judged(documents, chunks))
    with_documents = resolve(judgments, chunks + whole, documents)
    assert resolve(judgments, chunks + whole).qrels.to_dict() == with_documents.qrels.to_dict()


@given(st.data())
def test_hits_without_offsets_are_placed_by_their_text(data: st.DataObject) -> None:
    documents = data.draw(corpora())
    chunks = data.draw(chunkings(documents))
    judgments = data.draw(judged(documents, chunks))
    targets = Targets.locate(judgments, documents)
    chunks = [chunk for chunk in chunks if chunk.text.strip()]
    bare = [Hit(chunk.id, text=chunk.text, doc_id=chunk.doc_id) for chunk in chunks]
    for query in targets.queries:
        placed, found = targets.join(query, chunks), targets.join(query, bare)
        for one, other in zip(placed.covering, found.covering, strict=True):
            for hits, more in zip(one, other, strict=True):
                assert set(hits) <= set(more)


def test_hit_with_only_an_id_is_the_chunk_with_that_id() -> None:
    chunks = [Chunk("c1", "d", "One fish.", 0, 9), Chunk("c2", "d", " Two fish.", 9, 19)]
    judgments = [Judgment("q", Anchor(document="d", quote="Two"), 1)]
    targets = Targets.locate(judgments, chunks=chunks)
    ranking = targets.judge("q", [Hit("c1"), Hit("c2"), Hit("c3")])
    assert ranking.hits == ((2, 1),)
    assert ranking.retrieved == 3


@pytest.mark.parametrize("documents", [None, [Document("d", "One fish.")]])
def test_hit_may_be_a_document(documents: list[Document] | None) -> None:
    targets = Targets.locate([Judgment("q", Anchor(document="d"), 1)], documents)
    assert targets.judge("q", [Hit("e"), Hit("d"), Hit("d", doc_id="e")]).hits == ((2, 1),)


def test_sections_are_compared_by_path_if_the_text_is_unknown() -> None:
    judgments = [Judgment("q", Anchor(document="d", section=("Guide", "Install")), 1)]
    chunks = [
        Chunk("above", "d", "a", section=("Guide",)),
        Chunk("same", "d", "b", section=("guide", "install")),
        Chunk("below", "d", "c", section=("Guide", "Install", "Linux")),
        Chunk("beside", "d", "d", section=("Guide", "Use")),
        Chunk("other", "e", "e", section=("Guide", "Install")),
    ]
    found = resolve(judgments, chunks)
    assert found.qrels.to_dict() == {"q": {"same": 1.0, "below": 1.0}}
    assert found.unplaced == ("above", "same", "below", "beside", "other")


def test_quotes_are_searched_in_chunks_if_the_text_is_unknown() -> None:
    chunks = [
        Chunk("c1", "d", "Cats  PURR, dogs bark."),
        Chunk("c2", "e", "cats purr"),
        Chunk("c3", "", "When cats purr."),
        Chunk("c4", "d", "cats"),
    ]
    in_d = Judgment("q1", Anchor(document="d", quote="cats purr"), 1)
    anywhere = Judgment("q2", Anchor(quote="cats purr"), 1)
    targets = Targets.locate([in_d, anywhere])
    assert targets.join("q1", chunks).covering == (((0, 2),),)
    assert targets.join("q2", chunks).covering == (((0, 1, 2),),)


def test_all_unresolved_judgments_are_listed() -> None:
    documents = [Document("d", "One fish. Two fish.")]
    chunks = [Chunk("c1", "d", "One fish.", 0, 9), Chunk("loose", "e", "text", section=("A",))]
    judgments = [
        Judgment("q", Anchor(chunk="c1"), 1),
        Judgment("q", Anchor(chunk="gone"), 2),
        Judgment("q", Anchor(document="d", quote="Red fish and blue fish"), 1),
        Judgment("q", Anchor(document="d", quote="Two fish"), 1),
        Judgment("q", Anchor(document="e", quote="words"), 1),
        Judgment("q", Anchor(document="e", section=("B",)), 1),
    ]
    found = resolve(judgments, chunks, documents)
    assert [(one.judgment, one.reason) for one in found.drift] == [
        (judgments[2], "'d' does not contain the quote 'Red fish and blue fish'"),
        (judgments[1], "there is no chunk 'gone'"),
        (judgments[4], "no chunk of 'e' contains the quote"),
        (judgments[5], "no chunk of 'e' has the section 'B'"),
    ]
    assert found.uncovered == (judgments[3],)
    assert found.unplaced == ("loose",)
    assert found.qrels.to_dict() == {"q": {"c1": 1.0, "gone": 2.0}}


def test_query_with_only_unresolved_targets_is_still_judged() -> None:
    judgments = [Judgment("q", Anchor(document="gone"), 1)]
    found = resolve(judgments, [Chunk("c", "d", "text", 0, 4)])
    assert found.qrels.to_dict() == {"q": {}}
    assert found.targets.judge("q", [Hit("c")]).grades == (1,)
    assert "q" in found.targets
    assert "other" not in found.targets
    assert found.targets.judge("other", [Hit("c")]).grades == ()


def test_repeated_texts_and_ambiguous_targets_are_reported() -> None:
    documents = [Document("d", "fish fish\n# A\n# A\n"), Document("e", "fish")]
    chunks = [Chunk("c", "d", "fish")]
    judgments = [
        Judgment("q1", Anchor(quote="fish"), 1),
        Judgment("q2", Anchor(document="d", section=("A",)), 1),
    ]
    found = resolve(judgments, chunks, documents)
    assert [one.to_json() for one in found.ambiguous] == [
        {"what": "quote", "name": "fish", "choices": ["d", "e"], "query_id": "q1"},
        {"what": "section", "name": "d: A", "choices": ["A (#a)", "A (#a-1)"], "query_id": "q2"},
        {"what": "chunk", "name": "c", "choices": ["d, characters 0 to 4", "d, characters 5 to 9"]},
    ]
    assert found.qrels.to_dict() == {"q1": {"c": 1.0}, "q2": {}}
    assert found.targets.join("q1", chunks).ambiguous == found.ambiguous[2:]


@pytest.mark.parametrize(
    ("judgments", "message"),
    [
        (
            [Judgment("q", Anchor(chunk="c"), 1), Judgment("q", Anchor(chunk="c"), 2)],
            "query 'q': {'chunk': 'c'} is judged 1 and 2; expected one grade",
        ),
        (
            [Judgment("q", Anchor(chunk="c"), float("nan"))],
            "query 'q': expected a finite grade, found nan",
        ),
        (
            [
                Judgment("q", Anchor(chunk="c"), 1, group="g", need="all"),
                Judgment("q", Anchor(chunk="d"), 1, group="g"),
            ],
            (
                "query 'q': the judgments of group 'g' need 'any' and 'all'; expected the same "
                "need for all"
            ),
        ),
    ],
)
def test_contradictory_judgments_are_rejected(judgments: list[Judgment], message: str) -> None:
    with pytest.raises(DataError) as error:
        resolve(judgments, [])
    assert str(error.value) == message


def test_target_judged_twice_alike_counts_once() -> None:
    one = Judgment("q", Anchor(document="d", document_hash="x"), 1)
    two = Judgment("q", Anchor(document="d", document_hash="y"), 1)
    assert len(Targets.locate([one, two]).of("q")) == 1


def test_repeated_ids_are_rejected() -> None:
    chunk, document = Chunk("c", "d", "x"), Document("d", "x")
    with pytest.raises(DataError, match="chunk id 'c' is not unique"):
        resolve([], [chunk, chunk])
    with pytest.raises(DataError, match="document id 'd' is not unique"):
        resolve([], [chunk], [document, document])


def test_anchor_of_a_chunk_has_its_text() -> None:
    document = Document("d", "One fish. Two fish.")
    anchor = make_anchor(Chunk("c", "d", "Two fish.", 10, 19), document)
    assert anchor == Anchor(
        document="d", start=10, end=19, quote="Two fish.", document_hash=document.content_hash
    )
    assert make_anchor(Chunk("c", "d", "Two fish.")) == Anchor(document="d", quote="Two fish.")
    with pytest.raises(DataError, match="'c' has neither text nor offsets"):
        make_anchor(Chunk("c", "d", ""))


def test_exact_quote_in_one_document_precedes_similar_ones_in_others() -> None:
    documents = [Document("d", "the cat"), Document("e", "The  Cat"), Document("f", "The Cat")]
    for quote, homes in (("The Cat", {"f"}), ("THE CAT", {"d", "e", "f"})):
        target = Judgment("q", Anchor(quote=quote), 1)
        found = Targets.locate([target], documents)
        assert {span.document for span in found.location_of(target.target).spans} == homes
        assert bool(found.ambiguous) == (len(homes) > 1)


def test_quotes_without_documents_are_found_among_many() -> None:
    chance = random.Random(7)
    words = [f"w{number}" for number in range(500)]
    documents = [
        Document(f"d{number}", " ".join(chance.choices(words, k=60))) for number in range(200)
    ]
    documents.append(Document("cat", "Der Kater schläft auf dem Sofa, und niemand stört ihn dort."))
    documents.append(Document("寺", "古い寺の庭に猫が眠っている。"))
    for quote, expected in [
        ("Kater schläft", "cat"),
        ("ater", "cat"),
        ("SOFA,  und niemand", "cat"),
        ("Der Kater schlief auf dem Sofa, und niemand stört ihn dort.", "cat"),
        ("寺の庭に", "寺"),
        ("猫", "寺"),
    ]:
        target = Judgment("q", Anchor(quote=quote), 1)
        found = Targets.locate([target], documents)
        assert not found.drift, quote
        assert {span.document for span in found.location_of(target.target).spans} == {expected}


words = st.text(alphabet="aAß \n#\u00a0", max_size=12)
places = st.one_of(st.none(), st.integers(0, 20), st.just(10**20))


@st.composite
def anything(draw: st.DrawFn) -> tuple[dict[str, object], bool]:
    """Draw fields of an anchor, chunk or hit with any valid span."""
    start = draw(places)
    end = None if start is None else start + draw(st.integers(1, 10))
    name = draw(st.sampled_from(["", "d", "e"]))
    return {"start": start, "end": end, "document": name}, draw(st.booleans())


@given(st.data())
def test_any_input_has_a_result(data: st.DataObject) -> None:
    """Absurd spans, empty texts and unknown documents give a place, drift or ambiguity."""
    documents = [Document(name, data.draw(words)) for name in ("d", "e")]
    chunks = []
    for number in range(data.draw(st.integers(0, 4))):
        fields, _ = data.draw(anything())
        name = str(fields.pop("document"))
        chunks.append(Chunk(f"c{number}", name, data.draw(words), **fields))  # type: ignore[arg-type]
    judgments = []
    for number in range(data.draw(st.integers(1, 4))):
        fields, lines = data.draw(anything())
        quote = data.draw(words)
        if not fields["document"]:
            fields = {"quote": quote or "a"}
        elif fields["start"] is None:
            fields = {"document": fields["document"], "quote": quote}
            fields["section"] = data.draw(st.sampled_from([(), ("a",), ("a", "ß")]))
        elif lines:
            fields |= {"start": 1 + int(str(fields["start"])), "unit": "lines"}
            fields["end"] = 1 + int(str(fields["end"]))
        anchor = Anchor(**fields)  # type: ignore[arg-type]
        judgments.append(Judgment(f"q{number}", anchor, 1))
    given_documents = data.draw(st.sampled_from([None, documents]))
    found = resolve(judgments, chunks, given_documents)
    hits: list[Hit | Chunk] = [
        *chunks,
        Hit("d"),
        Hit("x"),
        Hit("y", text="a"),
        Hit("z", section=("a",), doc_id="d"),
    ]
    lost = {one.judgment.query_id for one in found.targets.drift}
    for judgment in judgments:
        place = found.targets.location_of(judgment.target)
        assert place.resolves or judgment.query_id in lost or place.choices
        ranking = found.targets.judge(judgment.query_id, hits)
        assert ranking.grades == (1,)
        assert len(ranking.hits) <= len(hits)
        if given_documents is not None:
            for name, start, end in place.spans:
                text = {document.id: document.text for document in documents}[name]
                assert 0 <= start < end <= len(text)
