"""Judgments of other tools: CSV, RAGAS, DeepEval, Quepid, RRE, rank_eval, AutoRAG."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.benchmarks import load_benchmark
from berryeval.benchmarks.build import context_id
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.errors import BerryEvalError, DataError, RepeatedDocumentError
from tests.benchmarks.samples import (
    AUTORAG,
    CSV,
    DEEPEVAL,
    QUEPID,
    QUEPID_BOOK,
    QUEPID_CASE,
    QUEPID_PAIRS,
    RAGAS,
    RAGAS_CSV,
    RAGAS_PARQUET,
    RANK_EVAL,
    RRE,
    RRE_FLAT,
    Sample,
    as_json,
    as_lines,
    as_parquet,
)

if TYPE_CHECKING:
    from pathlib import Path

    from berryeval.benchmarks import Benchmark


def _grades(benchmark: Benchmark) -> list[tuple[str, str, float]]:
    return [
        (judgment.query_id, judgment.target.document, judgment.grade)
        for judgment in benchmark.judgments
    ]


def test_csv_columns_are_recognized(tmp_path: Path) -> None:
    benchmark = load_benchmark(CSV.write(tmp_path))
    assert benchmark.queries == (Query("q1", "tea, green"), Query("q2", "coffee"))
    assert _grades(benchmark) == [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d2", 1.5)]
    assert benchmark.judgments[0].extra == {"judge": "ann"}
    assert benchmark.where("judgments", 2).endswith("judged.csv:4")


def test_csv_columns_may_have_any_name(tmp_path: Path) -> None:
    path = tmp_path / "x.tsv"
    path.write_bytes(b"frage\tseite\tnote\twer\ntee?\tp1\t3\tann\n")
    (tmp_path / "pages.jsonl").write_bytes(as_lines({"id": "p1", "text": "Tee"}))
    options = {"format": "csv", "query": "frage", "document": "seite", "grade": "note"}
    benchmark = load_benchmark(path, **options, corpus=tmp_path / "pages.jsonl")
    assert benchmark.queries == (Query("tee?", "tee?", metadata={"wer": "ann"}),)
    assert benchmark.documents == (Document("p1", "Tee"),)
    with pytest.raises(DataError, match="no column 'words' with the text of the query; found"):
        load_benchmark(path, **options, text="words")
    with pytest.raises(DataError, match=r"no column with the grade \('mark'\); found 'frage'"):
        load_benchmark(path, **{**options, "grade": "mark"})


BAD_CSV = [
    (b"query,doc,grade\nq,d,high\n", ":2: grade: expected a number, found 'high'"),
    (b"query,doc,grade\nq,d,1_0\n", ":2: grade: expected a number, found '1_0'"),
    (b"query,doc,grade\nq,d,inf\n", ":2: grade: expected a number, found 'inf'"),
    (b"query,doc,grade\n\nq,d\n", ":3: expected 3 columns (query, doc, grade), found 2: 'q,d'"),
    (b"query,doc,grade\nq,,1\n", ":2: doc: is empty, expected an id"),
    (b"query,doc,grade\nq,d,1\nq,d,2\n", ":3: document 'd' occurs twice in query 'q'; first in"),
    (b'query,doc,grade\nq,"d,1\n', ":2: cannot be read as CSV"),
    (b"query,doc,doc,grade\nq,d,d,1\n", ":1: the column 'doc' appears twice"),
    (b"query,doc,grade\n", "has no queries"),
    (b"query,query_text,doc,grade\nq,a,d,1\nq,b,e,1\n", ":3: query 'q' has a different text than"),
    (b"", "is empty, expected a header line with column names"),
    (b"query,doc,grade\nq\xff,d,1\n", ":2: not UTF-8 text"),
]


@pytest.mark.parametrize(("content", "message"), BAD_CSV)
def test_a_csv_error_names_its_line(content: bytes, message: str, tmp_path: Path) -> None:
    path = replace(CSV, files={"judged.csv": content}).write(tmp_path)
    with pytest.raises(DataError) as caught:
        load_benchmark(path, format="csv")
    assert message in str(caught.value)


def test_a_row_is_located_by_its_first_line(tmp_path: Path) -> None:
    content = b'query,query_text,doc,grade\nq,"two\nlines",d,1\nr,one,d,2\n'
    benchmark = load_benchmark(replace(CSV, files={"judged.csv": content}).write(tmp_path))
    assert benchmark.queries[0].text == "two\nlines"
    assert benchmark.where("queries", 1).endswith("judged.csv:4")


def test_ragas_contexts_become_documents(tmp_path: Path) -> None:
    benchmark = load_benchmark(RAGAS.write(tmp_path))
    first, second, third = benchmark.queries
    assert (first.id, first.category) == ("1", "single_hop")
    assert first.metadata == {"expected_answer": "80 degrees"}
    assert second.metadata == {"retrieved_contexts": ["Tea."], "response": "Tea?"}
    assert third.text == "Which cup?"
    assert benchmark.documents[2] == Document("7", "Beans, brewed.")
    assert [judgment.target for judgment in benchmark.judgments] == [
        Anchor(document=context_id("Steep green tea at 80.")),
        Anchor(document=context_id("Steep black tea at 95.")),
        Anchor(document="7"),
        Anchor(chunk="c1"),
        Anchor(chunk="c2"),
    ]
    assert benchmark.where("judgments", 1).endswith("testset.jsonl:1: reference_contexts[1]")


def test_ragas_contexts_quote_a_given_corpus(tmp_path: Path) -> None:
    path = RAGAS.write(tmp_path)
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "tea.md").write_text("Steep green tea at 80.", encoding="utf-8")
    benchmark = load_benchmark(path, corpus=tmp_path / "pages")
    assert [document.id for document in benchmark.documents] == ["tea"]
    assert benchmark.judgments[0].target == Anchor(quote="Steep green tea at 80.")


def test_ragas_lists_in_csv_are_parsed(tmp_path: Path) -> None:
    benchmark = load_benchmark(RAGAS_CSV.write(tmp_path))
    texts = ["It's 80", 'No "hot" water', "three", "minutes"]
    assert [document.text for document in benchmark.documents] == texts
    assert benchmark.queries[1].metadata == {"expected_answer": "3"}


def test_old_ragas_names_load_from_parquet(tmp_path: Path) -> None:
    benchmark = load_benchmark(RAGAS_PARQUET.write(tmp_path))
    assert benchmark.queries == (Query("1", "How hot?", metadata={"expected_answer": "80"}),)
    assert benchmark.documents[0].text == "80 degrees"
    assert benchmark.where("queries", 0).endswith("testset.parquet: row 0")


BAD_RAGAS: list[tuple[dict[str, Any], str]] = [
    ({"user_input": [{"content": "Hi"}]}, ":1: user_input: expected a string, found array"),
    ({"user_input": "?", "reference_contexts": "a"}, "reference_contexts: expected an array"),
    ({"user_input": "?", "reference_contexts": [1]}, "reference_contexts[0]: expected a string"),
    (
        {"user_input": "?", "reference_contexts": ["a"], "reference_context_ids": [1, 2]},
        "reference_contexts[0]: found 1 contexts but 2 context ids",
    ),
    ({"user_input": "?", "reference_context_ids": [None]}, "reference_context_ids[0]: expected an"),
]


@pytest.mark.parametrize(("row", "message"), BAD_RAGAS)
def test_a_ragas_error_names_its_line(row: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = replace(RAGAS, files={"testset.jsonl": as_lines(row)}).write(tmp_path)
    with pytest.raises(DataError) as caught:
        load_benchmark(path)
    assert message in str(caught.value)


@pytest.mark.parametrize("cell", ["a, b", "['a', 5]", "['a'", "['a' ... 'b']", "[b'a']", "{'a'}"])
def test_a_cell_without_a_list_of_strings_is_rejected(cell: str, tmp_path: Path) -> None:
    content = f'user_input,reference_contexts\n?,"{cell}"\n'.encode()
    path = replace(RAGAS_CSV, files={"testset.csv": content}).write(tmp_path)
    with pytest.raises(DataError, match=":2: reference_contexts: expected a list of strings"):
        load_benchmark(path)


def test_empty_contexts_are_skipped_with_a_remark(tmp_path: Path) -> None:
    row = {"user_input": "?", "reference_contexts": [" ", "a", "a"]}
    path = replace(RAGAS, files={"testset.jsonl": as_lines(row)}).write(tmp_path)
    benchmark = load_benchmark(path)
    assert len(benchmark.judgments) == 1
    assert benchmark.remarks[0].endswith("reference_contexts[0]: empty context, skipped")


def test_deepeval_goldens_load_in_both_styles(tmp_path: Path) -> None:
    benchmark = load_benchmark(DEEPEVAL.write(tmp_path))
    first, second = benchmark.queries
    assert first.metadata == {"source_file": "tea.md", "expected_answer": "80 degrees"}
    assert second.metadata == {"asked": 2, "expected_answer": "Yes"}
    assert [document.text for document in benchmark.documents] == ["Steep at 80.", "Steep at 95."]
    assert len(benchmark.judgments) == 2
    assert benchmark.remarks[0].endswith("goldens.json: [2]: conversational golden, skipped")


def test_deepeval_goldens_load_as_lines_and_under_a_name(tmp_path: Path) -> None:
    golden = {"input": "Tea?", "context": ["Tea."], "expected_output": "Yes"}
    (tmp_path / "a.jsonl").write_bytes(as_lines(golden))
    (tmp_path / "b.json").write_bytes(as_json({"goldens": [golden]}))
    lines, named = (load_benchmark(tmp_path / name) for name in ("a.jsonl", "b.json"))
    assert lines.judgments == named.judgments
    assert lines.queries == named.queries


def test_quepid_ratings_load(tmp_path: Path) -> None:
    benchmark = load_benchmark(QUEPID.write(tmp_path))
    assert [query.id for query in benchmark.queries] == ["tea, green", "coffee"]
    assert _grades(benchmark) == [("tea, green", "d1", 3), ("tea, green", "d2", 0)]


def test_quepid_books_average_their_judges(tmp_path: Path) -> None:
    benchmark = load_benchmark(QUEPID_BOOK.write(tmp_path))
    assert _grades(benchmark) == [("tea", "d1", 2.5), ("tea", "d2", 1)]
    assert benchmark.judgments[0].extra == {"ratings": {"ann@example.org": 3, "Ben": 2}}
    pairs = load_benchmark(QUEPID_PAIRS.write(tmp_path))
    assert pairs.name == "Drinks book"
    assert _grades(pairs) == [("tea", "d1", 2.5)]
    assert pairs.documents == (Document("d1", "Tea\nhot green"),)


def test_quepid_cases_load_with_notes(tmp_path: Path) -> None:
    benchmark = load_benchmark(QUEPID_CASE.write(tmp_path))
    assert (benchmark.name, benchmark.metadata) == ("Hot drinks", {"scorer": {"name": "AP@10"}})
    assert benchmark.queries[0].description == "temperature of tea"
    assert benchmark.queries[0].extra == {"notes": "often asked"}
    assert _grades(benchmark) == [("tea", "d1", 3), ("tea", "d2", 0), ("coffee", "d2", 2)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"query,docid,rating\ntea,d1,good\n", ":2: rating: expected a number, found 'good'"),
        (b"query,docid,rating\ntea,,3\n", ":2: docid: is empty, but the row has a rating"),
        (b"query,docid,rating\ntea,d,1\ntea,d,1\n", ":3: document 'd' occurs twice in query 'tea'"),
        (b"query,docid,rating\ntea,d,1,2\n", ":2: expected 3 columns"),
        (b"query,docid,rating\n,d,1\n", ":2: query: is empty, expected an id"),
    ],
)
def test_a_quepid_error_names_its_line(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load_benchmark(replace(QUEPID, files={"case.csv": content}).write(tmp_path))
    assert message in str(caught.value)


def test_rre_groups_share_their_documents(tmp_path: Path) -> None:
    benchmark = load_benchmark(RRE.write(tmp_path))
    assert [query.id for query in benchmark.queries] == ["tea", "tea (2)", "black tea"]
    assert benchmark.queries[1].metadata == {
        "topic": "Tea", "group": "Green", "template": "lang.json",
        "placeholders": {"$query": "tea", "$lang": "en"},
    }  # fmt: skip
    assert _grades(benchmark) == [
        ("tea", "1", 3), ("tea", "2", 2), ("tea (2)", "1", 3), ("tea (2)", "2", 2),
        ("black tea", "2", 3), ("black tea", "4", 3),
    ]  # fmt: skip
    assert benchmark.metadata == {"index": "drinks", "id_field": "id"}


def test_rre_loads_without_topics(tmp_path: Path) -> None:
    benchmark = load_benchmark(RRE_FLAT.write(tmp_path))
    assert _grades(benchmark) == [("coffee", "d2", 1)]


BAD_RRE: list[tuple[dict[str, Any], str]] = [
    (
        {"relevant_documents": {"1": {"gain": "x"}}},
        "relevant_documents.1.gain: expected a number as",
    ),
    ({"relevant_documents": {"x": ["1"]}}, "relevant_documents.x: expected a number as the gain"),
    ({"relevant_documents": {"1": {}}}, "relevant_documents.1: has no 'gain'"),
    ({"relevant_documents": 3}, "relevant_documents: expected an object, found number"),
    ({"queries": [{"placeholders": {"$a": "1", "$b": "2"}}]}, "expected a placeholder '$query'"),
    ({"queries": [{}]}, "query_groups[0].queries[0]: has no 'placeholders'"),
    ({"queries": [3]}, "query_groups[0].queries[0]: expected an object, found number 3"),
]


@pytest.mark.parametrize(("change", "message"), BAD_RRE)
def test_an_rre_error_names_its_json_path(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    group = {"queries": [{"placeholders": {"$query": "tea"}}], **change}
    content = as_json({"query_groups": [group]})
    with pytest.raises(DataError) as caught:
        load_benchmark(replace(RRE, files={"ratings.json": content}).write(tmp_path))
    assert message in str(caught.value)


def test_rank_eval_requests_load(tmp_path: Path) -> None:
    benchmark = load_benchmark(RANK_EVAL.write(tmp_path))
    assert [(query.id, query.text) for query in benchmark.queries] == [
        ("tea_query", "green tea"),
        ("coffee_query", "coffee"),
    ]
    assert benchmark.judgments[0] == Judgment(
        "tea_query", Anchor(document="d1"), 3, extra={"_index": "drinks"}
    )
    assert benchmark.metadata == {"metric": {"dcg": {"k": 10}}}


def _rank_eval(*ratings: Any) -> Sample:
    request = {"id": "r", "request": {}, "ratings": list(ratings)}
    return replace(RANK_EVAL, files={"rank_eval.json": as_json({"requests": [request]})})


def test_rank_eval_ids_include_the_index_if_there_are_several(tmp_path: Path) -> None:
    one = {"_index": "a", "_id": "1", "rating": 1}
    benchmark = load_benchmark(_rank_eval(one, {**one, "_index": "b"}).write(tmp_path))
    assert [judgment.target.document for judgment in benchmark.judgments] == ["a/1", "b/1"]
    assert "2 indices, so document ids are _index/_id" in benchmark.remarks[0]
    assert benchmark.queries[0].text == "r"
    with pytest.raises(RepeatedDocumentError, match="document '1' occurs twice in query 'r'"):
        load_benchmark(_rank_eval(one, one).write(tmp_path))
    with pytest.raises(DataError, match=r"ratings\[0\].rating: expected a number, found null"):
        load_benchmark(_rank_eval({**one, "rating": None}).write(tmp_path))


def test_autorag_questions_and_passages_load(tmp_path: Path) -> None:
    benchmark = load_benchmark(AUTORAG.write(tmp_path))
    assert benchmark.documents[0] == Document("g1", "Text g1", metadata={"page": 1})
    assert benchmark.queries[0].metadata == {"expected_answer": ["black tea", "the black one"]}
    assert [(judgment.target.document, judgment.group) for judgment in benchmark.judgments] == [
        ("g1", "1"),
        ("g2", "1"),
        ("b1", ""),
    ]
    assert {judgment.need for judgment in benchmark.judgments} == {"any"}


@pytest.mark.parametrize("truth", [["g1", "b1"], "g1"])
def test_autorag_truth_may_have_other_shapes(truth: Any, tmp_path: Path) -> None:
    rows = [{"qid": "a", "query": "?", "retrieval_gt": truth, "generation_gt": "yes"}]
    when = dt.datetime(2024, 5, 1, 12, tzinfo=dt.timezone.utc)
    corpus = [{"doc_id": "g1", "contents": "x", "metadata": {"last_modified_datetime": when}}]
    files = {"qa.parquet": as_parquet(rows), "corpus.parquet": as_parquet(corpus)}
    benchmark = load_benchmark(replace(AUTORAG, files=files).write(tmp_path))
    assert {judgment.group for judgment in benchmark.judgments} == {""}
    assert benchmark.queries[0].metadata == {"expected_answer": "yes"}
    kept = benchmark.documents[0].metadata["last_modified_datetime"]
    assert dt.datetime.fromisoformat(kept) == when


def test_an_autorag_error_names_its_row(tmp_path: Path) -> None:
    files = {**AUTORAG.files, "qa.parquet": as_parquet([{"qid": "a", "query": "?"}])}
    with pytest.raises(DataError, match=r"qa\.parquet: row 0: has no 'retrieval_gt'"):
        load_benchmark(replace(AUTORAG, files=files).write(tmp_path))
    files = {**AUTORAG.files, "corpus.parquet": b"PAR1 and nothing else"}
    with pytest.raises(BerryEvalError, match=r"corpus\.parquet: cannot be read as Parquet"):
        load_benchmark(replace(AUTORAG, files=files).write(tmp_path))
