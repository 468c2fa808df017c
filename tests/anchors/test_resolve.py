"""Judgments resolved against chunks: as a loop over everything would."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.coverage import anchor_of
from berryeval.anchors.resolution import resolve
from berryeval.anchors.targets import Targets
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment
from berryeval.errors import DataError
from tests.anchors.worlds import chunkings, corpora, judged, slow_covers


@given(st.data())
def test_the_index_finds_what_a_loop_over_everything_finds(data: st.DataObject) -> None:
    """Each chunk that covers a target of a query, with the best grade of what it covers."""
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
def test_the_order_of_judgments_and_chunks_changes_nothing(data: st.DataObject) -> None:
    """The same qrels, and the same ranking for metrics."""
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
def test_chunks_that_hold_all_text_are_as_good_as_documents(data: st.DataObject) -> None:
    """Without documents, the text is put together from chunks."""
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
    """Whatever a chunk covers by its place, it covers by its text; it may stand elsewhere too."""
    documents = data.draw(corpora())
    chunks = data.draw(chunkings(documents))
    judgments = data.draw(judged(documents, chunks))
    targets = Targets.located(judgments, documents)
    chunks = [chunk for chunk in chunks if chunk.text.strip()]
    bare = [Hit(chunk.id, text=chunk.text, doc_id=chunk.doc_id) for chunk in chunks]
    for query in targets.queries:
        placed, found = targets.join(query, chunks), targets.join(query, bare)
        for one, other in zip(placed.covering, found.covering, strict=True):
            for hits, more in zip(one, other, strict=True):
                assert set(hits) <= set(more)


def test_a_hit_that_says_only_its_id_is_the_chunk_of_that_id() -> None:
    """Offsets, text and document come from the chunks that were given."""
    chunks = [Chunk("c1", "d", "One fish.", 0, 9), Chunk("c2", "d", " Two fish.", 9, 19)]
    judgments = [Judgment("q", Anchor(document="d", quote="Two"), 1)]
    targets = Targets.located(judgments, chunks=chunks)
    ranking = targets.judge("q", [Hit("c1"), Hit("c2"), Hit("c3")])
    assert ranking.hits == ((2, 1),)
    assert ranking.retrieved == 3


@pytest.mark.parametrize("documents", [None, [Document("d", "One fish.")]])
def test_a_hit_may_be_a_document_itself(documents: list[Document] | None) -> None:
    """A search of whole documents: the id is that of the document, and nothing else is said."""
    targets = Targets.located([Judgment("q", Anchor(document="d"), 1)], documents)
    assert targets.judge("q", [Hit("e"), Hit("d"), Hit("d", doc_id="e")]).hits == ((2, 1),)


def test_sections_are_compared_by_their_paths_where_the_text_is_not_known() -> None:
    """A chunk is in a section if its path is the section's or goes on below it."""
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


def test_quotes_are_looked_for_in_chunks_where_the_text_is_not_known() -> None:
    """A chunk without a place covers a quote that it holds, but for case and white space."""
    chunks = [
        Chunk("c1", "d", "Cats  PURR, dogs bark."),
        Chunk("c2", "e", "cats purr"),
        Chunk("c3", "", "When cats purr."),
        Chunk("c4", "d", "cats"),
    ]
    in_d = Judgment("q1", Anchor(document="d", quote="cats purr"), 1)
    anywhere = Judgment("q2", Anchor(quote="cats purr"), 1)
    targets = Targets.located([in_d, anywhere])
    assert targets.join("q1", chunks).covering == (((0, 2),),)
    assert targets.join("q2", chunks).covering == (((0, 1, 2),),)


def test_judgments_that_do_not_resolve_are_all_listed() -> None:
    """Lost targets, unknown ids, quotes and sections of no chunk; and places no chunk has."""
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
        (judgments[2], "'d' does not hold the quote 'Red fish and blue fish'"),
        (judgments[1], "there is no chunk 'gone'"),
        (judgments[4], "no chunk of 'e' holds the quote"),
        (judgments[5], "no chunk of 'e' says that it is in section 'B'"),
    ]
    assert found.uncovered == (judgments[3],)
    assert found.unplaced == ("loose",)
    assert found.qrels.to_dict() == {"q": {"c1": 1.0, "gone": 2.0}}


def test_a_query_whose_targets_are_all_lost_is_still_judged() -> None:
    """It stays in the qrels, and its targets are still to be found."""
    judgments = [Judgment("q", Anchor(document="gone"), 1)]
    found = resolve(judgments, [Chunk("c", "d", "text", 0, 4)])
    assert found.qrels.to_dict() == {"q": {}}
    assert found.targets.judge("q", [Hit("c")]).grades == (1,)
    assert "q" in found.targets
    assert "other" not in found.targets
    assert found.targets.judge("other", [Hit("c")]).grades == ()


def test_repeated_texts_and_ambiguous_targets_are_reported() -> None:
    """A chunk whose text stands twice, a quote of two documents, a section of two names."""
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
            "query 'q': the judgments of group 'g' need 'any' and 'all'; expected the same of each",
        ),
    ],
)
def test_judgments_that_contradict_each_other_are_refused(
    judgments: list[Judgment], message: str
) -> None:
    """Which query, and what was found."""
    with pytest.raises(DataError) as error:
        resolve(judgments, [])
    assert str(error.value) == message


def test_a_target_judged_twice_alike_counts_once() -> None:
    """Also if the judgments were made at different times."""
    one = Judgment("q", Anchor(document="d", document_hash="x"), 1)
    two = Judgment("q", Anchor(document="d", document_hash="y"), 1)
    assert len(Targets.located([one, two]).of("q")) == 1


def test_ids_that_stand_twice_are_refused() -> None:
    """Judgments could not say which chunk or document they mean."""
    chunk, document = Chunk("c", "d", "x"), Document("d", "x")
    with pytest.raises(DataError, match="chunk id 'c' stands twice"):
        resolve([], [chunk, chunk])
    with pytest.raises(DataError, match="document id 'd' stands twice"):
        resolve([], [chunk], [document, document])


def test_an_anchor_of_a_chunk_points_at_its_text() -> None:
    """It survives the chunk, and is refused of a chunk that is nowhere."""
    document = Document("d", "One fish. Two fish.")
    anchor = anchor_of(Chunk("c", "d", "Two fish.", 10, 19), document)
    assert anchor == Anchor(
        document="d", start=10, end=19, quote="Two fish.", document_hash=document.content_hash
    )
    assert anchor_of(Chunk("c", "d", "Two fish.")) == Anchor(document="d", quote="Two fish.")
    with pytest.raises(DataError, match="'c' has neither a text nor a place"):
        anchor_of(Chunk("c", "d", ""))


def test_the_best_way_that_finds_a_quote_in_any_document_is_taken() -> None:
    """An exact place in one document keeps out others that only look alike."""
    documents = [Document("d", "the cat"), Document("e", "The  Cat"), Document("f", "The Cat")]
    for quote, homes in (("The Cat", {"f"}), ("THE CAT", {"d", "e", "f"})):
        target = Judgment("q", Anchor(quote=quote), 1)
        found = Targets.located([target], documents)
        assert {span.document for span in found.where(target.target).spans} == homes
        assert bool(found.ambiguous) == (len(homes) > 1)


def test_quotes_without_documents_are_found_among_many() -> None:
    """In words of any script, in parts of words, and nearly."""
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
        found = Targets.located([target], documents)
        assert not found.drift, quote
        assert {span.document for span in found.where(target.target).spans} == {expected}


words = st.text(alphabet="aAß \n#\u00a0", max_size=12)
places = st.one_of(st.none(), st.integers(0, 20), st.just(10**20))


@st.composite
def anything(draw: st.DrawFn) -> tuple[dict[str, object], bool]:
    """Fields of an anchor, a chunk or a hit, with a span that may be absurd but is one."""
    start = draw(places)
    end = None if start is None else start + draw(st.integers(1, 10))
    name = draw(st.sampled_from(["", "d", "e"]))
    return {"start": start, "end": end, "document": name}, draw(st.booleans())


@given(st.data())
def test_whatever_is_pointed_at_there_is_an_answer(data: st.DataObject) -> None:
    """Absurd spans, empty texts, unknown documents: a place, drift or ambiguity, never a crash."""
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
        place = found.targets.where(judgment.target)
        assert place.resolves or judgment.query_id in lost or place.choices
        ranking = found.targets.judge(judgment.query_id, hits)
        assert ranking.grades == (1,)
        assert len(ranking.hits) <= len(hits)
        if given_documents is not None:
            for name, start, end in place.spans:
                text = {document.id: document.text for document in documents}[name]
                assert 0 <= start < end <= len(text)
