"""Tests of the strategies: judgments, pack, expected answer."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import berryeval as be
from berryeval.data.records import Anchor, Document, Hit, Judgment, Query
from berryeval.errors import ConfigurationError, DataError
from berryeval.metrics.grammar import parse_metric
from berryeval.relevance.strategies import Relevance, RelevanceOptions, overlap, split_words

ANSWER = "The capital of France is Paris"


def benchmark(
    *queries: Query,
    judgments: tuple[Judgment, ...] = (),
    documents: tuple[Document, ...] = (),
    pack: str = "",
) -> be.Benchmark:
    """Create a benchmark of these queries."""
    return be.Benchmark("test", documents, queries, judgments, pack)


def query(identity: str = "q", /, **metadata: Any) -> Query:
    """Create a query with metadata."""
    return Query(identity, "What is the capital of France?", metadata=metadata)


def texts(*pieces: str) -> list[Hit]:
    """Create hits with these texts."""
    return [Hit(f"h{place}", rank=place + 1, text=text) for place, text in enumerate(pieces)]


def value(name: str, of: be.Benchmark, hits: Any, **options: Any) -> float:
    """Return the value of a metric for the only query."""
    return be.evaluate_hits(of, {"q": hits}, [name], **options).mean[name]


def test_judgments_of_the_benchmark_come_first() -> None:
    asked = query(relevant_ids=["other"], evidence=["D1:1"], answer="D1:1")
    judged = benchmark(asked, judgments=(Judgment("q", Anchor(chunk="c"), 2),), pack="locomo")
    scores = be.evaluate_hits(judged, {"q": ["D1:1", "other", "c"]}, ["RR"])
    assert scores.mean["RR"] == 1 / 3
    assert scores.details("RR").strategy_used == "qrels"


@pytest.mark.parametrize(
    "field",
    [
        "relevant_ids",
        "relevant_chunk_ids",
        "ground_truth_ids",
        "qrels",
        "relevantIds",
        "relevantChunkIds",
        "groundTruthIds",
        "RelevantChunkIds",
    ],
)
@pytest.mark.parametrize("ids", [["a", "b"], {"a": 1, "b": 1.0}, ("a", "b", "a")])
def test_ids_in_metadata_are_judgments(field: str, ids: Any) -> None:
    judge = Relevance(benchmark(query(**{field: ids}), pack="locomo"))
    judged = judge.judge("q", [Hit("x"), Hit("b")])
    assert judged.strategy == "qrels"
    assert judged.ranking.grades == (1.0, 1.0)
    assert judged.ranking.hits == ((2, 1.0),)


def test_grades_in_metadata_are_used() -> None:
    asked = benchmark(query(qrels={"a": 3, "b": 1, "c": 0}))
    dcg = 1 + 3 / math.log2(3)
    assert value("nDCG@5", asked, ["b", "a"]) == pytest.approx(dcg / (3 + 1 / math.log2(3)))


def test_empty_list_of_ids_means_that_nothing_is_relevant() -> None:
    """Null means that there are no judgments."""
    said = benchmark(query(relevant_ids=[], answer="Paris"))
    scores = be.evaluate_hits(said, {"q": texts("Paris")}, ["nDCG@5"])
    assert scores.strategies == ("qrels",)
    assert scores.outcomes == ("no relevant documents",)
    assert scores.mean["nDCG@5"] == 0.0
    silent = benchmark(query(relevant_ids=None, answer="Paris"))
    assert be.evaluate_hits(silent, {"q": texts("Paris")}, ["RR"]).strategies == ("token-fallback",)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("d1", r"metadata.relevant_ids of query 'q': expected an array of ids .*string 'd1'"),
        ([1], r"relevant_ids of query 'q', place 0: expected an id, .* number 1"),
        ([""], r"place 0: expected an id"),
        ({"d1": "high"}, r"'d1': expected a grade, a finite number, found string 'high'"),
        ({"d1": float("nan")}, r"'d1': expected a grade"),
        ({"d1": True}, r"'d1': expected a grade"),
    ],
)
def test_malformed_ids_are_rejected(ids: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        Relevance(benchmark(query(relevant_ids=ids)))


def test_document_id_matches_every_chunk_and_counts_once() -> None:
    document = Document("guide", "Paris is the capital. It has two million people.")
    asked = benchmark(query(relevant_ids=["guide"]), documents=(document,))
    chunks = [Hit("guide#1", doc_id="guide", start=0, end=21, rank=1), Hit("x", rank=2)]
    assert value("P@2", asked, chunks) == 0.5
    both = [*chunks, Hit("guide#2", doc_id="guide", start=22, end=48, rank=3)]
    assert value("R@3", asked, both) == 1.0
    assert value("NumRelRet", asked, both) == 1.0
    assert value("RR", asked, ["guide"]) == 1.0


def test_document_missing_from_the_corpus_matches_by_its_id() -> None:
    judged = benchmark(query(), judgments=(Judgment("q", Anchor(document="d"), 1),))
    assert value("RR", judged, ["x", "d"]) == 0.5


def test_ideal_counts_all_relevant_documents() -> None:
    """Three relevant, k = 5: the ideal is 2.1309, however few were found."""
    asked = benchmark(query(relevant_ids=["a", "b", "c"]))
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert ideal == pytest.approx(2.1309, abs=1e-4)
    for found, gained in ((["a"], 1.0), (["a", "b"], 1 + 1 / math.log2(3)), (["x", "y"], 0.0)):
        assert value("nDCG@5", asked, found) == pytest.approx(gained / ideal)
    assert value("nDCG@5", asked, ["a", "x", "b", "y", "c"]) == pytest.approx(0.8855, abs=1e-4)
    assert value("nDCG@2", asked, ["a", "b"]) == 1.0  # min(k, relevant) = 2
    assert value("R@5", asked, ["a"]) == pytest.approx(1 / 3)


def test_words_decide_last_and_only_found_hits_count() -> None:
    asked = benchmark(query(expected_answer=ANSWER))
    hits = texts("Berlin", "The capital of France is Paris, on the Seine", "Rome")
    scores = be.evaluate_hits(asked, {"q": hits}, ["nDCG@5", "R@5", "RR"])
    assert scores.mean["R@5"] == 1.0
    assert scores.mean["nDCG@5"] == pytest.approx(1 / math.log2(3))
    assert scores.mean["RR"] == 0.5
    details = scores.details("nDCG@5")
    assert details.strategy_used == "token-fallback"
    assert (details.k, details.threshold, details.queries_with_relevant) == (5, 0.3, 1)


@pytest.mark.parametrize("field", ["expected_answer", "answer", "ground_truth", "reference"])
def test_expected_answer_has_four_field_names(field: str) -> None:
    assert value("RR", benchmark(query(**{field: "Paris"})), texts("paris!")) == 1.0
    assert value("RR", benchmark(query(**{field: ["Lutetia", "Paris"]})), texts("paris!")) == 1.0
    assert value("RR", benchmark(query(**{field: 2022})), texts("in 2022")) == 1.0


def test_overlap_equal_to_the_threshold_is_relevant() -> None:
    asked = benchmark(query(answer=" ".join(f"w{n}" for n in range(10))))
    ten = texts(" ".join(["w0", "w1", "w2", *(f"x{n}" for n in range(7))]))
    assert (
        overlap(split_words(asked.queries[0].metadata["answer"]), split_words(ten[0].text)) == 0.3
    )
    assert value("RR", asked, ten) == 1.0
    assert value("RR", asked, texts(ten[0].text + " more")) == 0.0
    assert value("RR", asked, texts(ten[0].text + " more"), relevance={"threshold": 0.2}) == 1.0


@given(st.text(max_size=30), st.text(max_size=30))
def test_overlap_is_the_harmonic_mean_of_precision_and_recall(one: str, other: str) -> None:
    first, second = split_words(one), split_words(other)
    shared = len(first & second)
    expected = 0.0
    if shared:
        precision, recall = shared / len(second), shared / len(first)
        expected = 2 * precision * recall / (precision + recall)
    assert overlap(first, second) == pytest.approx(expected)
    assert overlap(first, second) == overlap(second, first) <= 1.0


def test_text_of_hits_is_looked_up_in_the_corpus() -> None:
    document = Document("d", "Paris")
    asked = benchmark(query(answer="Paris"), documents=(document,))
    assert value("RR", asked, [Hit("h", doc_id="d", start=0, end=5)]) == 1.0
    scores = be.evaluate_hits(asked, {"q": ["nowhere", "d"]}, ["RR"])
    assert scores.mean["RR"] == 0.5
    assert scores.notes == ("query 'q': hits without text to compare with the expected answer: 1",)


def test_malformed_answer_is_rejected() -> None:
    with pytest.raises(DataError, match=r"metadata.answer of query 'q': expected a string"):
        Relevance(benchmark(query(answer={"text": "Paris"})))


@pytest.mark.parametrize("metadata", [{}, {"answer": ""}, {"answer": "?!"}, {"answer": None}])
def test_query_without_a_strategy_counts_as_0(metadata: dict[str, Any]) -> None:
    asked = benchmark(query(**metadata), query("p", relevant_ids=["a"]))
    scores = be.evaluate_hits(asked, {"q": ["a"], "p": ["a"]}, ["nDCG@5", "AP"])
    assert scores.per_query("AP") == {"p": 1.0, "q": 0.0}
    assert scores.mean["nDCG@5"] == 0.5
    assert scores.with_outcome("no relevant documents") == ["q"]
    details = scores.details("AP")
    assert details.strategies == {"qrels": 1, "pack": 0, "token-fallback": 0, "none": 1}
    assert (details.strategy_used, details.total, details.queries_with_relevant) == ("qrels", 2, 1)


def test_different_strategies_are_mixed() -> None:
    asked = benchmark(query("a", relevant_ids=["c"]), query("b", evidence=["D1:1"]), pack="locomo")
    hits = {"a": ["c"], "b": [Hit("D1:1")]}
    scores = be.evaluate_hits(asked, hits, ["RR@3"])
    assert scores.strategies == ("qrels", "pack")
    assert scores.details("RR@3").to_dict() == {
        "average": 1.0, "queries_with_relevant": 2, "total": 2, "k": 3, "threshold": 0.3,
        "strategy_used": "mixed",
        "strategies": {"qrels": 1, "pack": 1, "token-fallback": 0, "none": 0},
    }  # fmt: skip


def test_plain_evaluate_has_details() -> None:
    details = be.evaluate({"q": {"a": 1}, "p": {"a": 0}}, {"q": {"a": 1.0}}, ["map"]).details("map")
    assert (details.strategy_used, details.k, details.total) == ("qrels", None, 2)
    assert details.queries_with_relevant == 1
    assert details.average == 0.5


def test_options_are_checked() -> None:
    asked = benchmark(query(answer="x"))
    with pytest.raises(
        ConfigurationError, match=r"relevance has no option 'treshold'; did you mean"
    ):
        Relevance(asked, {"treshold": 0.5})
    with pytest.raises(ConfigurationError, match=r"relevance\.threshold must be a number above 0"):
        Relevance(asked, {"threshold": 0})
    with pytest.raises(ConfigurationError, match=r"relevance\.coverage must be a number"):
        RelevanceOptions(coverage=True)


def test_coverage_share_is_an_option() -> None:
    document = Document("d", "0123456789" * 4)
    judged = benchmark(
        query(),
        documents=(document,),
        judgments=(Judgment("q", Anchor(document="d", start=0, end=10), 1),),
    )
    hits = [Hit("h", doc_id="d", start=5, end=25)]
    assert value("RR", judged, hits) == 1.0
    assert value("RR", judged, hits, relevance={"coverage": 0.6}) == 0.0


def test_unresolved_targets_count_and_are_noted() -> None:
    judged = benchmark(
        query(),
        documents=(Document("d", "Something else entirely."),),
        judgments=(
            Judgment("q", Anchor(document="d", quote="words that were here"), 1),
            Judgment("q", Anchor(document="d"), 1),
        ),
    )
    scores = be.evaluate_hits(judged, {"q": ["d"]}, ["R@1"])
    assert scores.mean["R@1"] == 0.5
    (note,) = scores.notes
    assert note.startswith("1 of 2 targets is not in the documents: query 'q': ")


def test_metrics_use_the_ranking_of_judge() -> None:
    asked = benchmark(query(relevant_ids=["a", "b"]))
    judged = Relevance(asked).judge("q", [Hit("b"), Hit("x"), Hit("a")])
    assert parse_metric("AP")(judged.ranking) == value("AP", asked, ["b", "x", "a"])


@pytest.mark.parametrize(
    "lost",
    [
        Anchor(document="gone"),
        Anchor(document="d", section=("Gone",)),
        Anchor(document="d", start=900, end=950),
        Anchor(document="d", section=("Twice",)),
    ],
)
def test_unresolved_targets_have_no_characters(lost: Anchor) -> None:
    text = "# A\n\n## Twice\n\none\n\n# B\n\n## Twice\n\ntwo\n"
    targets = (Anchor(document="d", start=0, end=10), lost)
    benchmark = be.Benchmark(
        "t", (Document("d", text),), (Query("q", "?"),),
        tuple(Judgment("q", target, 1) for target in targets),
    )  # fmt: skip
    hits = {"q": [Hit("h", doc_id="d", start=0, end=10)]}
    scores = be.evaluate_hits(benchmark, hits, ["CharIoU", "TokenR", "TokenP", "R@1"])
    assert dict(scores.mean) == {"CharIoU": 1.0, "TokenR": 1.0, "TokenP": 1.0, "R@1": 0.5}
    (note,) = scores.notes
    assert note.startswith(("1 of 2 targets is not in", "targets that match several sections"))
