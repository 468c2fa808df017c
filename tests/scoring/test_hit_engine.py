"""`evaluate_hits` agrees with `evaluate` where both apply."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berryeval as be
from berryeval.data.records import Anchor, Chunk, Document, Hit, Judgment, Query
from berryeval.errors import DataError, MetricError, RepeatedDocumentError
from berryeval.metrics.catalogue import definitions
from berryeval.metrics.profiles import PROFILES
from berryeval.relevance.strategies import Relevance
from berryeval.scoring.engine import value_of
from berryeval.scoring.scores import Scores
from tests.metrics.rankings import Rows, judged_runs, metrics_of

if TYPE_CHECKING:
    from pathlib import Path

IDS = [name for name, definition in definitions().items() if definition.kind != "spans"]
SPANS = [name for name, definition in definitions().items() if definition.kind == "spans"]


def golden(qrels: Rows) -> be.Benchmark:
    judgments = [
        Judgment(query, Anchor(chunk=document), grade)
        for query, row in qrels.items()
        for document, grade in row.items()
    ]
    return be.Benchmark("test", (), tuple(Query(query, "?") for query in qrels), tuple(judgments))


@pytest.mark.parametrize("name", IDS)
@given(data=st.data(), tables=judged_runs(), profile=st.sampled_from(sorted(PROFILES)))
@settings(max_examples=6)
def test_hits_of_ids_score_as_in_evaluate(
    name: str, data: st.DataObject, tables: tuple[Rows, Rows], profile: str
) -> None:
    qrels, run = tables
    metric = data.draw(metrics_of(definitions()[name]))
    try:
        expected = be.evaluate(qrels, run, [metric], profile=profile)
    except MetricError as error:  # gains so small that a ratio of them is infinite
        with pytest.raises(MetricError, match=re.escape(str(error))):
            be.evaluate_hits(golden(qrels), run, [metric], profile=profile)
        return
    found = be.evaluate_hits(golden(qrels), run, [metric], profile=profile)
    judged = [query for query in found.queries if qrels[query]]
    assert found.select(judged).values.tobytes() == expected.select(judged).values.tobytes()
    assert found.outcomes == expected.outcomes
    assert found.counts.tobytes() == expected.counts.tobytes()
    assert (found.extra_queries, found.left_out) == (expected.extra_queries, expected.left_out)


TEXT = "".join(chr(97 + n % 26) for n in range(60))
spans = st.tuples(st.integers(0, 59), st.integers(1, 30)).map(lambda s: (s[0], min(60, sum(s))))


@st.composite
def worlds(draw: st.DrawFn) -> tuple[be.Benchmark, list[Hit]]:
    """Draw a document with overlapping targets and hits."""
    judgments = [
        Judgment(
            "q", Anchor(document="d", start=start, end=end), draw(st.sampled_from([0, 1, 2, 3])),
            group=draw(st.sampled_from(["", "", "g"])),
        )
        for start, end in draw(st.lists(spans, max_size=5, unique=True))
    ]  # fmt: skip
    hits = [
        Hit(f"h{place}", rank=place + 1, doc_id="d", start=start, end=end)
        for place, (start, end) in enumerate(draw(st.lists(spans, max_size=6)))
    ]
    benchmark = be.Benchmark("t", (Document("d", TEXT),), (Query("q", "?"),), tuple(judgments))
    return benchmark, hits


NAMES = [
    "P@3", "R@3", "nDCG", "nDCG@2", "AP", "RR", "Bpref", "infAP", "Success@1", "SetF", "Rprec",
    "AllFound@3", "IPrec@0.5", "RBP", "ERR@5", "alpha_nDCG@5", "Judged@5", "nDCG(judged_only=True)",
]  # fmt: skip


@given(worlds())
@settings(max_examples=200)
def test_native_and_reference_agree_on_passages(world: tuple[be.Benchmark, list[Hit]]) -> None:
    benchmark, hits = world
    scores = be.evaluate_hits(benchmark, {"q": hits}, NAMES)
    judge = Relevance(benchmark)
    ranking = judge.judge("q", hits).ranking
    for name in NAMES:
        if name != "alpha_nDCG@5":
            metric = be.parse_metric(name)
            assert scores.mean[name].hex() == value_of(metric, ranking, "q").hex(), name
        assert 0.0 <= scores.mean[name] <= 1.0, name


@given(worlds())
def test_a_relevance_can_be_reused(
    world: tuple[be.Benchmark, list[Hit]],
) -> None:
    benchmark, hits = world
    judge = Relevance(benchmark)
    once = be.evaluate_hits(judge, {"q": hits}, NAMES)
    assert once == be.evaluate_hits(judge, {"q": hits}, NAMES)
    assert once == be.evaluate_hits(benchmark, {"q": hits}, NAMES)


@pytest.mark.parametrize(
    "hits",
    [
        {"q": [Hit("x", 2.0), Hit("a", 1.0)]},
        {"q": [Hit("a", 1.0), Hit("x", 2.0)]},
        {"q": [Hit("a", 9.0, rank=2), Hit("x", 2.0, rank=1)]},
        {"q": ["x", "a"]},
        {"q": ("x", "a")},
        {"q": {"a": 1, "x": 2}},
        {"q": [{"id": "a", "score": 1.5}, {"id": "x", "score": 2}]},
        be.Run.from_dict({"q": {"a": 1.0, "x": 2.0}}),
    ],
)
def test_hits_come_in_many_forms(hits: Any) -> None:
    assert be.evaluate_hits(golden({"q": {"a": 1}}), hits, ["RR"]).mean["RR"] == 0.5


def test_a_run_may_be_a_file(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q Q0 x 1 2.0 bm25\nq Q0 a 2 1.0 bm25\n", encoding="utf-8")
    scores = be.evaluate_hits(golden({"q": {"a": 1}}), path, ["RR"])
    assert (scores.run_name, scores.mean["RR"]) == ("bm25", 0.5)


def test_ties_follow_the_ranking_rule() -> None:
    hits = [Hit("a", 1.0), Hit("b", 1.0, rank=1), Hit("c", 1.0)]
    asked = golden({"q": {"a": 1}})
    assert be.evaluate_hits(asked, {"q": hits}, ["RR"]).mean["RR"] == 1 / 3
    assert be.evaluate_hits(asked, {"q": hits}, ["RR"], profile="msmarco").mean["RR"] == 1.0
    assert be.evaluate_hits(asked, {"q": hits}, ["RR"], profile="ranx").mean["RR"] == 1.0


@pytest.mark.parametrize(
    "hits", [[Hit("a"), Hit("b")], [{"id": "a"}, {"id": "b"}], ["a", "b"], [Hit("a"), {"id": "b"}]]
)
def test_a_list_without_ranks_and_scores_keeps_its_order(hits: list[Any]) -> None:
    scores = be.evaluate_hits(golden({"q": {"a": 1}}), {"q": hits}, ["RR"])
    assert (scores.mean["RR"], scores.notes) == (1.0, ())


def test_incomplete_ranks_are_noted() -> None:
    asked = golden({"q": {"a": 1}})
    hits = [Hit("a", 2.0), Hit("b", 1.0, rank=1)]
    scores = be.evaluate_hits(asked, {"q": hits}, ["RR"])
    assert scores.mean["RR"] == 1.0
    assert scores.notes == ("query 'q': not all hits have a rank, so they are ordered by score",)
    with pytest.raises(DataError, match=r"hits of query 'q': only 1 of 2 have a rank"):
        be.evaluate_hits(asked, {"q": [Hit("a"), Hit("b", rank=1)]}, ["RR"])


@pytest.mark.parametrize(
    ("hits", "message"),
    [
        ({"q": "a"}, "hits of query 'q': expected a list of hits or a dict of scores, found"),
        ({"q": None}, "hits of query 'q': expected a list of hits .* null"),
        ({"q": [1]}, "hits of query 'q', place 0: expected a Hit, a JSON object or an id"),
        ({"q": [{"score": 1}]}, "hits of query 'q', place 0: has no 'id'"),
        ({"q": {"a": "high"}}, "hits of query 'q': the score of 'a' must be a number, found"),
        ({"q": [Hit("a", float("nan"))]}, "place 0: the score of 'a' must be a number"),
        ({"q": {1: 1.0}}, "hits of query 'q': an id must be a string"),
        ({"q": {"a": 10**400}}, "the score of 'a' must be a number"),
        ({"q": ["\ud800"]}, "place 0: an id must be a string of valid Unicode"),
        ({"q": [Hit("a", rank=1.5)]}, "the rank of 'a' must be a whole number"),  # type: ignore[arg-type]
        ({"q": [Hit("a", rank=0)]}, "the rank of 'a' must be a whole number from 1"),
        ({1: {"a": 1.0}}, "the id of a query with hits must be a string"),
        ({"\ud800": ["a"]}, "the id of a query with hits must be a string"),
        ({"q": [Hit("a", rank=1), Hit("b", rank=1)]}, "hits of query 'q': rank 1 is not unique"),
        (7, "a run must be a dict"),
    ],
)
def test_invalid_hits_are_rejected(hits: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        be.evaluate_hits(golden({"q": {"a": 1}}), hits, ["RR"])


def test_a_repeated_id_is_rejected_or_counted() -> None:
    hits = {"q": [Hit("x", 3.0), Hit("x", 2.0), Hit("a", 1.0)]}
    asked = golden({"q": {"a": 1}})
    with pytest.raises(RepeatedDocumentError, match="document 'x' appears twice in query 'q'"):
        be.evaluate_hits(asked, hits, ["RR"])
    scores = be.evaluate_hits(asked, hits, ["RR"], lenient=True)
    assert (scores.mean["RR"], scores.dropped) == (0.5, 1)


def test_dropped_rows_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "run.txt"
    path.write_text("q Q0 x 1 2.0 r\nq Q0 x 2 1.5 r\nq Q0 a 3 1.0 r\n", encoding="utf-8")
    asked = golden({"q": {"a": 1}})
    with pytest.raises(RepeatedDocumentError):
        be.evaluate_hits(asked, path, ["RR"])
    path.write_text(path.read_text(encoding="utf-8") + "q Q0 b 4 high r\n", encoding="utf-8")
    expected = be.evaluate({"q": {"a": 1}}, path, ["RR"], lenient=True)
    scores = be.evaluate_hits(asked, path, ["RR"], lenient=True)
    assert (scores.mean["RR"], scores.dropped) == (0.5, 2)
    assert scores.dropped == expected.dropped


def test_a_repeated_chunk_id_is_rejected() -> None:
    chunks = [Chunk("c", "d", TEXT[:30], 0, 30), Chunk("c", "d", TEXT[30:], 30, 60)]
    benchmark = replace(golden({"q": {"a": 1}}), documents=(Document("d", TEXT),))
    with pytest.raises(DataError, match="the chunk id 'c' is not unique"):
        be.evaluate_hits(benchmark, {"q": ["c"]}, ["RR"], chunks=chunks)


def test_the_offsets_of_a_stale_hit_do_not_count() -> None:
    benchmark = be.Benchmark(
        "t", (Document("d", TEXT),), (Query("q", "?"),),
        (Judgment("q", Anchor(document="d", start=0, end=20), 1),),
    )  # fmt: skip
    stale = Hit("h", doc_id="d", start=0, end=20, text="What stood there before.")
    scores = be.evaluate_hits(benchmark, {"q": [stale]}, ["RR"])
    assert scores.mean["RR"] == 0.0
    (note,) = scores.notes
    assert note.startswith("query 'q': hits with offsets that do not match the text")
    fresh = replace(stale, text=TEXT[:20])
    assert be.evaluate_hits(benchmark, {"q": [fresh]}, ["RR"]).mean["RR"] == 1.0


def test_k_cuts_every_ranking() -> None:
    asked = golden({"q": {"a": 1}})
    assert be.evaluate_hits(asked, {"q": ["x", "a"]}, ["RR"], k=2).mean["RR"] == 0.5
    scores = be.evaluate_hits(asked, {"q": ["x", "a"]}, ["RR"], k=1)
    assert (scores.mean["RR"], scores.retrieved) == (0.0, 1)


def test_every_query_has_an_outcome() -> None:
    asked = golden({"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 0}, "d": {"x": 1}})
    scores = be.evaluate_hits(asked, {"b": [], "c": ["x"], "d": ["x"], "e": ["x"]}, ["RR"])
    assert scores.outcomes == ("missing", "empty", "no relevant documents", "ok")
    assert scores.extra_queries == ("e",)
    both = be.evaluate_hits(asked, {"d": ["x"]}, ["RR"], profile="trec_eval")
    assert (both.queries, both.left_out) == (("d",), ("a", "b", "c"))


def test_a_judged_query_without_a_question_counts() -> None:
    asked = replace(golden({"q": {"a": 1}, "p": {"a": 1}}), queries=(Query("q", "?"),))
    assert be.evaluate_hits(asked, {"q": ["a"]}, ["RR"]).per_query("RR") == {"p": 0.0, "q": 1.0}


def test_scores_go_to_json_and_back() -> None:
    asked = be.Benchmark("t", (), (Query("q", "?", metadata={"answer": "x"}),))
    scores = be.evaluate_hits(asked, {"q": ["h"]}, ["RR"], relevance={"threshold": 0.4})
    again = Scores.from_dict(scores.to_dict())
    assert again == scores
    assert again.to_json() == scores.to_json()
    assert again.details("RR") == scores.details("RR")
    assert again.notes
    assert scores != replace(scores, strategies=("qrels",))
    assert scores != replace(scores, notes=())
    old = {name: value for name, value in scores.to_dict().items() if name != "strategies"}
    assert Scores.from_dict(old).details("RR").strategy_used == "qrels"
    assert scores.select(["q"]).strategies == ("token-fallback",)
    assert scores.select([]).strategies == ()
    assert scores.summary()["strategies"]["token-fallback"] == 1


def test_notes_are_limited() -> None:
    asked = be.Benchmark(
        "t", (), tuple(Query(f"q{n}", "?", metadata={"answer": "x"}) for n in range(150))
    )
    scores = be.evaluate_hits(asked, {query.id: ["h"] for query in asked.queries}, ["RR"])
    assert len(scores.notes) == 101
    assert scores.notes[-1] == "and 50 more"


@pytest.mark.parametrize("name", SPANS)
def test_passage_metrics_reject_ids(name: str) -> None:
    text = f"{name}@5" if name == "FileR" else name
    with pytest.raises(MetricError, match=r"and ids have none; .* evaluate_hits\(benchmark, hits"):
        be.evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, [text])
    with pytest.raises(MetricError, match="is a passage metric and cannot be audited"):
        be.audit({"q": {"a": 1}}, {"q": {"a": 1}}, [text])


def test_chunks_locate_ids() -> None:
    chunks = [Chunk("c1", "d", TEXT[:30], 0, 30), Chunk("c2", "d", TEXT[30:], 30, 60)]
    benchmark = be.Benchmark(
        "t", (Document("d", TEXT),), (Query("q", "?"),),
        (Judgment("q", Anchor(document="d", start=40, end=50), 1),),
    )  # fmt: skip
    scores = be.evaluate_hits(benchmark, {"q": ["c1", "c2"]}, ["RR", "CharIoU"], chunks=chunks)
    assert scores.mean["RR"] == 0.5
    assert scores.mean["CharIoU"] == 10 / 60
    assert be.evaluate_hits(benchmark, {"q": ["c1", "c2"]}, ["RR"]).mean["RR"] == 0.0


def test_options_of_an_existing_relevance_are_rejected() -> None:
    judge = Relevance(golden({"q": {"a": 1}}))
    with pytest.raises(TypeError, match=r"pass options and chunks to Relevance\("):
        be.evaluate_hits(judge, {}, ["RR"], relevance={"threshold": 0.5})


def test_judgments_instead_of_a_benchmark_are_rejected() -> None:
    with pytest.raises(TypeError, match="expected a Benchmark or a Relevance, found dict"):
        be.evaluate_hits({"q": {"a": 1}}, {}, ["RR"])  # type: ignore[arg-type]


def test_a_query_id_must_be_text() -> None:
    asked = be.Benchmark("t", (), (Query("\ud800", "?"),))
    with pytest.raises(DataError, match="the id of a query must be a string of valid Unicode"):
        be.evaluate_hits(asked, {}, ["RR"])


def test_a_failing_metric_is_named() -> None:
    with pytest.raises(MetricError, match=r"CharIoU of query 'q': hit 'a' has neither text"):
        be.evaluate_hits(golden({"q": {"a": 1}}), {"q": ["a"]}, ["CharIoU"])
