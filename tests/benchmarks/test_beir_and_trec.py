"""BEIR folders, and TREC topics in three forms with qrels and collections."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from berryeval.benchmarks import load_benchmark
from berryeval.benchmarks.loaders.trec import read_topics
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from tests.benchmarks.samples import BEIR, COFFEE, TEA, TREC, TREC_TSV, TREC_XML, as_lines

if TYPE_CHECKING:
    from pathlib import Path


def test_beir_loads_documents_queries_and_judgments(tmp_path: Path) -> None:
    benchmark = load_benchmark(BEIR.write(tmp_path))
    assert benchmark.documents == (
        Document("d1", f"Tea {TEA}".strip(), title="Tea", metadata={"lang": "en"}),
        Document("d2", COFFEE, extra={"url": "https://coffee.example"}),
    )
    assert benchmark.queries == (Query("1", "green tea temperature"), Query("2", "coffee"))
    assert benchmark.judgments == (
        Judgment("1", Anchor(document="d1"), 2),
        Judgment("1", Anchor(document="d2"), 0),
        Judgment("2", Anchor(document="d2"), 1),
    )
    assert benchmark.metadata == {"split": "test"}
    assert benchmark.where("judgments", 0) == f"{tmp_path / 'qrels' / 'test.tsv'}:2"
    file = tmp_path / "queries.jsonl"
    said = f"{file}: a query is skipped, without judgments in test.tsv"
    assert benchmark.remarks == (said,)
    assert load_benchmark(tmp_path, split="dev").remarks == (
        f"{file}: 2 queries are skipped, without judgments in dev.tsv",
    )


def test_beir_options_select_split_and_queries(tmp_path: Path) -> None:
    folder = BEIR.write(tmp_path)
    assert [query.id for query in load_benchmark(folder, split="dev").queries] == ["3"]
    assert len(load_benchmark(folder, queries="all").queries) == 3
    assert load_benchmark(folder, queries="all").remarks == ()
    with pytest.raises(DataError, match=r"qrels/train\.tsv; found dev\.tsv, test\.tsv"):
        load_benchmark(folder, split="train")
    with pytest.raises(ConfigurationError, match="queries must be one of judged, all"):
        load_benchmark(folder, queries="some")


def test_beir_files_may_be_compressed(tmp_path: Path) -> None:
    files = {f"{name}.gz": gzip.compress(content) for name, content in BEIR.files.items()}
    plain = load_benchmark(BEIR.write(tmp_path / "beir"))
    packed = load_benchmark(replace(BEIR, files=files).write(tmp_path / "packed" / "beir"))
    assert packed == plain


def test_judged_beir_queries_that_are_missing_are_remarked(tmp_path: Path) -> None:
    files = {**BEIR.files, "queries.jsonl": as_lines({"_id": 1, "text": "tea"})}
    benchmark = load_benchmark(replace(BEIR, files=files).write(tmp_path))
    assert len(benchmark.judgments) == 3
    assert benchmark.remarks == (
        f"{tmp_path / 'qrels' / 'test.tsv'}: a judged query is not in queries.jsonl: '2'",
    )


BAD_BEIR = [
    ("corpus.jsonl", b'{"_id": "d1"}', "corpus.jsonl:1: has no 'text'"),
    ("corpus.jsonl", b'{"_id": null, "text": ""}', "corpus.jsonl:1: _id: expected an id"),
    ("corpus.jsonl", b'{"_id": "d", "text": ["a"]}', ":1: text: expected a string, found array"),
    ("corpus.jsonl", b'{"_id": "d", "text": "", "metadata": 1}', ":1: metadata: expected an obj"),
    ("qrels/test.tsv", b"query-id\tcorpus-id\tscore\n1\td1\n", "test.tsv:2: expected 3 columns"),
    ("qrels/test.tsv", b"query-id\tcorpus-id\tscore\n1\td\thigh\n", ":2: the grade must be a num"),
    ("queries.jsonl", b'{"_id": "1", "text": "a"}\n{"_id": "1", "text": "b"}', "'1' occurs twice"),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD_BEIR)
def test_a_beir_error_names_file_and_line(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    folder = replace(BEIR, files={**BEIR.files, name: content}).write(tmp_path)
    with pytest.raises(DataError) as caught:
        load_benchmark(folder)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            "d1\t1\t1\n",
            "'d1' judged; queries.jsonl has '1', '2', '3'; are query and document swapped?",
        ),
        ("Q-1\t1\t1\n", "'Q-1' judged; queries.jsonl has '1'; the ids have 'Q-'"),
    ],
)
def test_beir_judgments_of_no_query_are_named(rows: str, said: str, tmp_path: Path) -> None:
    file = BEIR.write(tmp_path) / "qrels" / "test.tsv"
    file.write_text(f"query-id\tcorpus-id\tscore\n{rows}", encoding="utf-8")
    with pytest.raises(DataError) as caught:
        load_benchmark(tmp_path)
    assert str(caught.value) == f"{file}: judges none of 3 queries: {said}"


@pytest.mark.parametrize("name", ["corpus.jsonl", "qrels/test.tsv"])
def test_utf_16_is_named(name: str, tmp_path: Path) -> None:
    file = BEIR.write(tmp_path) / name
    file.write_text(file.read_text("utf-8"), encoding="utf-16")
    with pytest.raises(DataError, match=f"{name}:1: not UTF-8 text but UTF-16; save it as UTF-8"):
        load_benchmark(tmp_path)


def test_beir_needs_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("question,doc_id\nx,a\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"q\.csv: is a file, expected a BEIR folder with corpus"):
        load_benchmark(path, format="beir")


def test_trec_topics_load_from_sgml(tmp_path: Path) -> None:
    benchmark = load_benchmark(TREC.write(tmp_path))
    assert benchmark.queries == (
        Query(
            "51",
            "green tea",
            description="How hot must the water be for green tea?",
            metadata={"narrative": "A relevant document names a temperature & a time."},
        ),
        Query("302", "coffee"),
    )
    assert benchmark.documents == (
        Document("FT-1", "Leaves & water.", title="Tea at home"),
        Document("FT-2", "Beans."),
    )
    assert benchmark.judgments[2] == Judgment("302", Anchor(document="FT-2"), 1)
    assert benchmark.where("queries", 1).endswith("topics.51-302.txt:13")
    assert benchmark.where("documents", 1).endswith("part-1.sgml:9")


def test_trec_topics_load_from_xml(tmp_path: Path) -> None:
    benchmark = load_benchmark(TREC_XML.write(tmp_path))
    assert [(query.id, query.text) for query in benchmark.queries] == [
        ("51", "green tea"),
        ("302", "coffee"),
    ]
    assert benchmark.queries[0].metadata == {"question": "How hot?"}
    assert benchmark.queries[1].description == "About coffee <not tea>"
    assert benchmark.documents[1] == Document("FT-2", "Coffee", title="C")


def test_trec_topics_load_from_lines(tmp_path: Path) -> None:
    path = TREC_TSV.write(tmp_path)
    with pytest.raises(ConfigurationError, match="name the judgments with qrels="):
        load_benchmark(path, format="trec")
    benchmark = load_benchmark(path, format="trec", qrels=tmp_path / "qrels.txt")
    assert benchmark.queries == (Query("51", "green tea"), Query("302", "coffee"))
    assert benchmark.documents == ()
    assert load_benchmark(tmp_path).queries == benchmark.queries


@pytest.mark.parametrize("header", ["qid\tquery", "query_id\ttext", "ID\tTitle", "topic-id\tquery"])
def test_the_header_of_trec_topics_is_no_query(header: str) -> None:
    topics = list(read_topics(f"\n{header}\r\n51\tgreen tea\nqid\tquery\n", "x"))
    assert [(topic.id, topic.line) for topic in topics] == [("51", 3), ("qid", 4)]


@pytest.mark.parametrize("line", ["qid\twhat is a qid", "51\tquery", "id\ttea"])
def test_a_first_query_is_no_header(line: str) -> None:
    assert len(list(read_topics(f"{line}\n52\tcoffee\n", "x"))) == 2


def test_trec_fields_form_the_query_text(tmp_path: Path) -> None:
    folder = TREC.write(tmp_path)
    with pytest.raises(DataError, match="topic 302 has no 'description'; its fields: title"):
        load_benchmark(folder, field="title+description")
    xml = TREC_XML.write(tmp_path / "xml")
    benchmark = load_benchmark(xml, field="query")
    assert [query.text for query in benchmark.queries] == ["green tea", "coffee"]


def test_trec_collections_may_have_old_encodings(tmp_path: Path) -> None:
    text = "<DOC><DOCNO>FT-1</DOCNO><TEXT>Caf\xe9</TEXT></DOC>"
    files = {**TREC.files, "docs/part-1.sgml": text.encode("latin-1")}
    folder = replace(TREC, files=files).write(tmp_path)
    with pytest.raises(DataError, match=r"part-1\.sgml:1: not utf-8 text; save it as UTF-8"):
        load_benchmark(folder)
    assert load_benchmark(folder, encoding="latin-1").documents[0].text == "Café"
    with pytest.raises(ConfigurationError, match="encoding must be a Python encoding"):
        load_benchmark(folder, encoding="klingon")


BAD_TREC = [
    ("topics.51-302.txt", b"<top>\n<num> Number: 1\n<title> x\n", ":1: topic without an end tag"),
    ("topics.51-302.txt", b"<top><title> x </top>", ":1: topic without a number"),
    ("topics.51-302.txt", b"just words", ":1: expected <top> or <topic> elements, or lines"),
    ("topics.51-302.txt", b"", "has no queries"),
    ("docs/part-1.sgml", b"<DOC><DOCNO>1</DOCNO>", ":1: <DOC> has no </DOC>"),
    ("docs/part-1.sgml", b"<DOC>x</DOC>", ":1: <DOC> has no <DOCNO> with an id"),
    ("docs/part-1.sgml", b"x", "or a TREC collection; found part-1.sgml"),
    ("docs/more.jsonl", b'{"id": 1}', "more.jsonl:1: has no 'text'"),
    ("qrels.51-302.txt", b"1 0 d", "qrels.51-302.txt:1: expected 4 columns"),
    ("qrels.more", b"", "expected one file qrels*, found qrels.51-302.txt, qrels.more; choose"),
    ("corpus.jsonl", b"", "found corpus.jsonl, docs; choose the collection with corpus="),
]


@pytest.mark.parametrize(("name", "content", "message"), BAD_TREC)
def test_a_trec_error_names_file_and_line(
    name: str, content: bytes, message: str, tmp_path: Path
) -> None:
    folder = replace(TREC, files={**TREC.files, name: content}).write(tmp_path)
    with pytest.raises(BerryEvalError) as caught:
        load_benchmark(folder)
    assert message in str(caught.value)


MARKUP = [
    ("<title>use <b>bold</b> text</title>", "use bold text"),
    ("<title><b>bold</b> text</title>", "bold text"),
    ("<title>what does <desc> mean in HTML</title>", "what does <desc> mean in HTML"),
    ("<title>H<sub>2</sub>O <i>and <b>more</b></i><br/>of it</title>", "H2O and more of it"),
    ("<title> use <b>bold</b> text\n<desc> Description:\nlong", "use bold text"),
    ("<title> what is <b> for\n<desc> Description:\nlong", "what is <b> for"),
    ("<title><p>a</p><p>b</p></title>", "a b"),
    ("<title>tea<desc>long", "tea"),
    ("<title>tea</title><mood/><q>x</q>", "tea"),
    ("<title>tea</title><title-2></title-2><q>x</q>", "tea"),
    ("<mood></mood><all><title>tea</title><q>x</q></all>", "tea"),
    ("<all><title>tea</title><q>x</q></all>", "tea"),
]


@pytest.mark.parametrize(("fields", "words"), MARKUP)
def test_markup_does_not_cut_a_question(fields: str, words: str) -> None:
    (topic,) = read_topics(f"<top><num> Number: 7 {fields}</top>", "x")
    assert (topic.id, topic.fields["title"]) == ("7", [words])


def test_two_titles_are_an_error(tmp_path: Path) -> None:
    topics = b"<top>\n<num> 51\n<title> tea\n<title> coffee\n</top>\n"
    folder = replace(TREC, files={**TREC.files, "topics.51-302.txt": topics}).write(tmp_path)
    with pytest.raises(DataError, match=r"txt:1: topic 51 has 2 titles, 'tea' and 'coffee'; keep"):
        load_benchmark(folder)


def test_topics_may_have_end_tags_and_no_labels() -> None:
    text = "<top>\n<num> MB01 </num>\n<query> tea </query>\n<querytime> noon </querytime>\n</top>"
    (topic,) = read_topics(text, "x")
    assert (topic.id, topic.fields) == ("MB01", {"query": ["tea"], "querytime": ["noon"]})


@pytest.mark.parametrize(
    "words", ["what is a <topic> element", "close <top> and </top>", "<topic/>"]
)
def test_lines_with_tags_in_a_question_stay_lines(words: str) -> None:
    topics = list(read_topics(f"1\tgreen tea\n2\t{words}\n3\tcoffee\n", "x"))
    assert [topic.id for topic in topics] == ["1", "2", "3"]
    assert topics[1].fields == {"title": [words]}


def test_topics_of_fire_have_a_language() -> None:
    text = """<topics>
<top lang='en'>
<num>26</num><title>Singur land dispute</title><desc>Plants.</desc></top>
<TOP lang="en"><num>27</num><title>Aarushi</title></TOP>
</topics>"""
    topics = list(read_topics(text, "x"))
    assert [(topic.id, topic.fields["title"], topic.line) for topic in topics] == [
        ("26", ["Singur land dispute"], 2), ("27", ["Aarushi"], 4),
    ]  # fmt: skip


def test_topics_of_clef_have_an_identifier() -> None:
    text = """<?xml version="1.0" encoding="UTF-8"?><!-- 2009 --><!DOCTYPE topics>
<topics><topic lang="en"><identifier>10.2452/451-AH</identifier><title>Tea</title></topic>
</topics>"""
    (topic,) = read_topics(text, "x")
    assert (topic.id, topic.fields) == ("10.2452/451-AH", {"title": ["Tea"]})


def test_a_topic_without_an_end_tag_takes_no_other_topic() -> None:
    text = "<xml><topic number='1'><q>a</q><topic number='2'><q>b</q></topic></xml>"
    assert [topic.id for topic in read_topics(text, "x")] == ["1", "2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("<top><num>1</num><title>a</title></top>\n2\tcoffee\n", "x:2: text outside of a topic"),
        ("<top><num>1</num><num>2</num></top>", "x:1: topic with two numbers, 1 and 2"),
        ("<query id='1'>tea</query>", "x:1: text outside of a topic: 'tea'"),
        ("<topics></topics>", "x:1: expected <top> or <topic> elements"),
        ("1\ttea\n<top><num>2</num><title>a</title></top>", "x:2: expected"),
    ],
)  # fmt: skip
def test_no_query_of_a_topics_file_is_lost(text: str, said: str) -> None:
    with pytest.raises(DataError, match=said):
        list(read_topics(text, "x"))


def test_every_subtopic_of_a_topic_is_kept(tmp_path: Path) -> None:
    topics = b"""<webtrack2012><topic number="51" type="faceted"><query>tea</query>
<description>All of tea.</description><subtopic number="1" type="inf">green tea</subtopic>
<subtopic number="2" type="nav">black tea</subtopic></topic></webtrack2012>"""
    files = {"topics.xml": topics, "qrels.txt": b"51 0 FT-1 1\n"}
    (query,) = load_benchmark(replace(TREC, files=files).write(tmp_path)).queries
    assert (query.text, query.description) == ("tea", "All of tea.")
    assert query.metadata == {"subtopic": ["green tea", "black tea"]}


def test_documents_judged_for_several_subtopics_get_the_highest_grade(tmp_path: Path) -> None:
    qrels = b"302 1 FT-1 0\n302 2 FT-1 2\n302 1 FT-2 1\n51 0 FT-1 1\n"
    files = {**TREC.files, "qrels.51-302.txt": qrels}
    benchmark = load_benchmark(replace(TREC, files=files).write(tmp_path))
    assert [(judgment.grade, dict(judgment.extra)) for judgment in benchmark.judgments] == [
        (2, {"subtopics": {"1": 0, "2": 2}}),
        (1, {"subtopics": {"1": 1}}),
        (1, {}),
    ]
