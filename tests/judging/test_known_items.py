"""Known-item queries: words drawn from passages."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.anchors import Corpus, locate
from berryeval.data import Document
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging.drafts import build_benchmark, split_passages, spread_passages
from berryeval.judging.known_items import KnownItems, TermSelection, draw_known_items
from berryeval.providers import Bm25

TEA = (
    "# Tea\n\nTea leaves are steeped in water, and water extracts tannin from tea leaves.\n\n"
    "## Green tea\n\nGreen leaves stay unoxidised: steep gently, eighty degrees, two minutes.\n\n"
    "## Black tea\n\nBlack leaves oxidise fully, tolerate boiling kettles, become malty.\n"
)
COFFEE = (
    "# Coffee\n\nRoasted beans are ground, brewed and filtered through paper or metal.\n\n"
    "## Espresso\n\nNine bar press kettles of water through finely tamped espresso grounds.\n"
)
SOIL = "Volcanic soil drains quickly, holds minerals, suits terraced plantations in the highlands."
DRINKS = [Document("tea", TEA), Document("coffee", COFFEE), Document("soil", SOIL)]
TERMS = Bm25().tokenize
STOP = {"the", "are", "in", "and", "from", "through", "or", "of", "is"}


def test_a_query_has_distinct_words_of_its_passage_and_no_stop_words() -> None:
    drafts = draw_known_items(DRINKS, 12, KnownItems(noise=0.0))
    assert len(drafts.kept) == 12
    for draft in drafts.kept:
        words = draft.text.split()
        assert len(words) == len(set(words)) >= 2
        assert not STOP & set(words)
        assert set(TERMS(draft.text)) <= set(TERMS(draft.passage.text))


def test_the_same_seed_draws_the_same_queries_and_another_seed_others() -> None:
    one, again, other = (
        [draft.text for draft in draw_known_items(DRINKS, 8, KnownItems(seed=seed)).kept]
        for seed in (1, 1, 2)
    )
    assert one == again
    assert one != other


def test_the_target_is_the_passage_that_the_query_was_drawn_from() -> None:
    """A document of one passage is its own target; else it is the section without subsections."""
    drafts = draw_known_items(DRINKS, 6)
    corpus = Corpus(DRINKS)
    texts = {document.id: document.text for document in DRINKS}
    kinds = set()
    for draft in drafts.kept:
        (target,) = draft.targets
        kinds.add("section" if target.section else "document")
        assert target.document_hash.startswith("sha256:")
        spans = locate(target, corpus).spans
        found = [texts[one.document][one.start : one.end].strip() for one in spans]
        assert (found or [texts[target.document]]) == [draft.passage.text]
    assert kinds == {"section", "document"}


def test_a_piece_of_a_long_text_is_a_span_with_its_quote() -> None:
    words = [f"{a}{b}{c}" for a in "bdfg" for b in "aeiou" for c in "mnprst"]
    text = "".join(f"The {word} ledger mentions {word}s and more.\n" for word in words)
    drafts = draw_known_items([Document("long", text)], 3)
    for draft in drafts.kept:
        (target,) = draft.targets
        assert (target.start, target.end) == (draft.passage.start, draft.passage.end)
        assert target.quote == text[target.start : target.end]


def test_repeated_headings_get_spans() -> None:
    """A section path that occurs twice names no single place."""
    text = (
        "# Tea\n\n## Notes\n\nJasmine blossoms perfume delicate white leaves overnight.\n\n"
        "## Notes\n\nBergamot oil flavours robust breakfast blends considerably.\n"
    )
    drafts = draw_known_items([Document("tea", text)], 2)
    assert [bool(draft.targets[0].quote) for draft in drafts.kept] == [True, True]


def test_queries_are_spread_over_documents() -> None:
    drafts = draw_known_items(DRINKS, 3)
    assert Counter(draft.passage.doc_id for draft in drafts.kept) == {
        "tea": 1, "coffee": 1, "soil": 1
    }  # fmt: skip
    passages = split_passages(DRINKS)
    order = list(spread_passages(passages, 0))
    assert sorted(order) == list(range(len(passages)))
    assert len({passages[place].doc_id for place in order[:3]}) == 3


def test_a_query_that_fits_many_passages_is_rejected() -> None:
    copies = [Document(f"copy{number}", SOIL) for number in range(3)]
    how = KnownItems(noise=0.0, rivals=1)
    drafts = draw_known_items([*copies, Document("tea", TEA)], 50, how)
    assert {draft.passage.doc_id for draft in drafts.kept} == {"tea"}
    assert drafts.exhausted
    ambiguous = [one for one in drafts.rejected if one.reason == "ambiguous"]
    assert {(one.passage, one.detail) for one in ambiguous} >= {
        ("copy0", "2 other passages have as many of its words, such as copy1"),
        ("copy2", "2 other passages have as many of its words, such as copy0"),
    }
    kept = draw_known_items([*copies, Document("tea", TEA)], 50, replace(how, rivals=2)).kept
    assert {draft.passage.doc_id for draft in kept} == {"tea", "copy0", "copy1", "copy2"}


def test_a_query_that_fits_another_passage_better_is_rejected() -> None:
    """Noise can turn a query into one for another passage."""
    drafts = draw_known_items(DRINKS, 50, KnownItems(noise=0.8, rivals=100))
    found = [one.detail for one in drafts.rejected if one.reason == "ambiguous"]
    assert any(detail == "soil has more of its words" for detail in found)


def test_words_are_written_in_any_form_of_the_corpus() -> None:
    one = "Brew kettle water filter paper grinder."
    others = "Brewing and brewed, brewing and brewed: hops, malt, yeast, barley, foam, barrels."
    words = {
        word
        for seed in range(10)
        for draft in draw_known_items(
            [Document("one", one), Document("others", others)], 8, KnownItems(seed=seed)
        ).kept
        if draft.passage.doc_id == "one"
        for word in draft.text.split()
        if word.startswith("brew")
    }
    assert words > {"brewing"}


def test_no_query_repeats_the_words_of_another_of_its_passage() -> None:
    drafts = draw_known_items([*DRINKS[2:], Document("tea", TEA)], 50, KnownItems(length=2))
    assert len({(draft.passage.id, frozenset(draft.text.split())) for draft in drafts.kept}) == len(
        drafts.kept
    )
    assert drafts.reasons["duplicate"] > 0


def test_passages_with_few_words_are_named_once() -> None:
    drafts = draw_known_items([*DRINKS, Document("stub", "To do: 17.")], 6)
    assert [
        (one.passage, one.detail) for one in drafts.rejected if one.reason == "too few words"
    ] == [("stub", "0 different words, expected 5")]


def test_forms_of_a_word_are_one_term() -> None:
    text = "Brew brews brewing brewed kettle water filter paper grinder."
    drafts = draw_known_items([Document("brew", text), *DRINKS[2:]], 20, KnownItems(noise=0.0))
    own = [draft.text.split() for draft in drafts.kept if draft.passage.doc_id == "brew"]
    assert own
    assert all(sum(word.startswith("brew") for word in words) <= 1 for words in own)


def _write_beds(sentence: str, count: int = 24) -> list[Document]:
    """Return documents of one passage, which share all words but the names."""
    names = [f"{a}{b}{c}" for a in "bdfgklmn" for b in "aeiou" for c in "rst"]
    beds = (names[place * 5 : place * 5 + 5] for place in range(count))
    return [Document(f"d{n}", sentence.format(*own)) for n, own in enumerate(beds)]


def _drawn_words(documents: list[Document]) -> set[str]:
    kept = draw_known_items(documents, 40, KnownItems(length=3, rivals=30)).kept
    return {word for draft in kept for word in draft.text.split()}


GERMAN = (
    "Der {0} wird mit dem {1} gegossen, und die {2} steht nicht neben der {3}, wenn das {4} blüht."
)
STOP_GERMAN = {"der", "wird", "mit", "dem", "und", "die", "nicht", "neben", "wenn", "das"}


def test_words_of_many_passages_are_stop_words_in_other_languages() -> None:
    """The list of stop words is English; what a third of the passages say is like one."""
    assert not STOP_GERMAN & _drawn_words(_write_beds(GERMAN))
    assert STOP_GERMAN & _drawn_words(_write_beds(GERMAN, 19))  # too few to tell


def test_frequent_words_of_an_english_corpus_count() -> None:
    """English stop words are known, so what is frequent besides them is the subject."""
    text = "The {0} of the garden is watered with the {1}, and the {2} by the {3} is in the {4}."
    assert {"garden", "watered"} & _drawn_words(_write_beds(text))


CHINESE = "罗勒每三天浇水一次、最好在日出之前。土壤由泥炭、沙子和堆肥混合而成、园丁用手除草。"
JAPANESE = "バジルは三日に一度、日の出前に水をやります。土は泥炭と砂と堆肥を混ぜて作ります。"
THAI = "รดน้ำโหระพาทุกสามวันก่อนพระอาทิตย์ขึ้น ดินผสมจากพีท ทราย และปุ๋ยหมัก"


@pytest.mark.parametrize("text", [CHINESE, JAPANESE, THAI], ids=["zh", "ja", "th"])
def test_words_without_spaces_between_them_need_a_model(text: str) -> None:
    """A clause is no word, also beside names in Latin letters."""
    names = "Docker, Kubernetes, Postgres, Nginx, Redis, Ubuntu"
    documents = [Document(f"d{n}", f"{text} {names}") for n in range(3)]
    with pytest.raises(DataError, match=r"words of this corpus are not separated.*--model NAME"):
        draw_known_items(documents, 3)


def test_passages_without_spaces_are_left_out_of_a_mixed_corpus() -> None:
    drafts = draw_known_items([*DRINKS, Document("zh", CHINESE)], 6)
    assert len(drafts.kept) == 6
    assert drafts.reasons["no spaces between words"] == 1
    some = draw_known_items(
        [*DRINKS, Document("note", f"{SOIL.replace('soil', 'loam')} {SOIL} 罗勒每三天浇水一次")],
        20,
        KnownItems(noise=0.5),
    )
    assert all(draft.text.isascii() for draft in some.kept)


def _count_words(method: TermSelection) -> Counter[str]:
    """Draw from a passage that says one word often, and one that others say too."""
    text = "zebra zebra zebra zebra zebra zebra common lonely quartz basalt"
    others = [Document(f"o{n}", f"common pebble{n} gravel{n} shale{n} flint{n}") for n in range(9)]
    how = KnownItems(method=method, noise=0.0, length=2)
    found: Counter[str] = Counter()
    for seed in range(40):
        drafts = draw_known_items([Document("d", text), *others], 10, replace(how, seed=seed))
        found.update(
            word for one in drafts.kept if one.passage.doc_id == "d" for word in one.text.split()
        )
    return found


def test_methods_prefer_their_words() -> None:
    popular, uniform = _count_words("popular"), _count_words("uniform")
    discriminative, both = _count_words("discriminative"), _count_words("tf-idf")
    assert popular["zebra"] > 1.5 * uniform["zebra"]
    assert discriminative["common"] < 0.5 * uniform["common"]
    assert discriminative["lonely"] > 3 * discriminative["zebra"]
    assert both["zebra"] > uniform["zebra"]
    assert both["common"] < 0.5 * popular["common"]


def test_noise_brings_in_words_from_elsewhere() -> None:
    drafts = draw_known_items(DRINKS, 12, KnownItems(noise=0.5, length=6))
    foreign = [
        word
        for draft in drafts.kept
        for word in draft.text.split()
        if word not in draft.passage.text.lower()
    ]
    assert foreign


def test_the_mean_length_is_as_asked() -> None:
    words = [f"{a}{b}{c}x" for a in "bcdfghjk" for b in "aeiou" for c in "lmnprstv"]
    documents = [Document(f"d{n}", " ".join(words[n * 40 : n * 40 + 40])) for n in range(8)]
    drafts = draw_known_items(documents, 80, KnownItems(noise=0.0, length=5))
    mean = sum(len(draft.text.split()) for draft in drafts.kept) / 80
    assert 4.4 < mean < 5.6


def test_the_benchmark_is_marked_as_generated() -> None:
    drafts = draw_known_items(DRINKS, 4)
    benchmark = build_benchmark("drinks", DRINKS, drafts.kept, {"kind": "known-item", "seed": 0})
    assert benchmark.metadata["generated"] == {"kind": "known-item", "seed": 0, "reviewed": False}
    assert {query.metadata["generated"] for query in benchmark.queries} == {"known-item"}
    assert {judgment.grade for judgment in benchmark.judgments} == {3.0}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "best"}, "method must be one of popular, uniform, discriminative, tf-idf"),
        ({"noise": 1.0}, "noise must be a number from 0 to below 1, found 1.0"),
        ({"length": 1}, "length must be a number from 2 to 50, found 1"),
        ({"seed": -1}, "seed must be a whole number of at least 0, found -1"),
    ],
)
def test_bad_options_are_rejected(options: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        KnownItems(**options)  # type: ignore[arg-type]


def test_a_corpus_without_enough_words_is_rejected() -> None:
    with pytest.raises(DataError, match="no passage has 5 different words besides stop words"):
        draw_known_items([Document("a", "17 of 18"), Document("b", "it is")], 3)


def test_a_single_passage_is_rejected() -> None:
    with pytest.raises(DataError, match="only one passage has enough words, which every search"):
        draw_known_items([Document("soil", SOIL)], 3)


@given(
    st.lists(st.text("aeoßİΣé中bcS #\n`-_1  ", min_size=40, max_size=200), min_size=2, max_size=5),
    st.sampled_from(["popular", "uniform", "discriminative", "tf-idf"]),
)
@settings(max_examples=60, deadline=None)
def test_any_text_gives_queries_or_a_reason(texts: list[str], method: TermSelection) -> None:
    documents = [Document(f"d{place}", text) for place, text in enumerate(texts)]
    try:
        drafts = draw_known_items(documents, 3, KnownItems(method=method))
    except DataError:
        return
    assert drafts.kept or drafts.rejected
    corpus = Corpus(documents)
    assert all(locate(one.targets[0], corpus).resolves for one in drafts.kept)
