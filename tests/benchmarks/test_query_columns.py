"""Further columns of a table of judgments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import berryeval as be
from berryeval.benchmarks import load_benchmark
from berryeval.errors import ConfigurationError, DataError

if TYPE_CHECKING:
    from pathlib import Path


def loaded(folder: Path, rows: str, name: str = "judged.csv") -> be.Benchmark:
    (folder / name).write_text(rows, encoding="utf-8")
    return be.load_benchmark(folder / name)


@pytest.mark.parametrize("separator", [",", "\t"])
def test_a_column_with_one_value_per_query_belongs_to_the_query(
    tmp_path: Path, separator: str
) -> None:
    rows = (
        "query_id,question,doc_id,grade,Category,difficulty,team,judge\n"
        "q1,tea,d1,2,hot,easy,blue,ann\n"
        "q1,tea,d2,1,,easy,blue,ben\n"
        "q2,ice,d3,1,cold,,,ann\n"
    )
    name = "judged.csv" if separator == "," else "judged.tsv"
    benchmark = loaded(tmp_path, rows.replace(",", separator), name)
    one, two = benchmark.queries
    assert (one.category, one.difficulty, one.metadata) == ("hot", "easy", {"team": "blue"})
    assert (two.category, two.difficulty, two.metadata) == ("cold", "", {})
    assert [one.extra for one in benchmark.judgments] == [
        {"judge": "ann"},
        {"judge": "ben"},
        {"judge": "ann"},
    ]


@pytest.mark.parametrize("name", ["category", "Description", "difficulty"])
def test_a_column_with_several_values_per_query_belongs_to_the_judgments(
    tmp_path: Path, name: str
) -> None:
    rows = f"query_id,question,doc_id,grade,{name}\nq1,tea,d1,2,x\nq1,tea,d2,1,y\nq2,ice,d3,1,z\n"
    benchmark = loaded(tmp_path, rows)
    for one in benchmark.queries:
        assert (one.category, one.description, one.difficulty, one.metadata) == ("", "", "", {})
    assert [one.extra for one in benchmark.judgments] == [{name: "x"}, {name: "y"}, {name: "z"}]


SIMPLE = "question,doc_id\nHow hot is green tea?,tea\n,water\nWhat is coffee?,beans\n"


def save(tmp_path: Path, content: str, name: str = "golden.csv", encoding: str = "utf-8") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode(encoding))
    return path


@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("name", ["golden.csv", "golden.tsv"])
def test_questions_and_documents_are_enough(separator: str, name: str, tmp_path: Path) -> None:
    benchmark = load_benchmark(save(tmp_path, SIMPLE.replace(",", separator), name))
    assert [query.text for query in benchmark.queries] == [
        "How hot is green tea?", "What is coffee?"
    ]  # fmt: skip
    assert [(one.query_id, one.target.document, one.grade) for one in benchmark.judgments] == [
        ("how-hot-is-green-tea", "tea", 1), ("how-hot-is-green-tea", "water", 1),
        ("what-is-coffee", "beans", 1),
    ]  # fmt: skip


def test_grades_and_a_spreadsheet_mark_are_read(tmp_path: Path) -> None:
    content = "\ufeffQuestion;Doc ID;Grade\nTea, green?;tea;2\n;water;1\n"
    benchmark = load_benchmark(save(tmp_path, content))
    assert [query.text for query in benchmark.queries] == ["Tea, green?"]
    assert [one.grade for one in benchmark.judgments] == [2, 1]


def test_ids_are_continued_with_the_question(tmp_path: Path) -> None:
    head = "query_id,question,doc_id,grade,category\n"
    content = f"{head}q1,Tea?,a,2,fact\n,,b,1,\nq2,Coffee?,c,1,how\n"
    benchmark = load_benchmark(save(tmp_path, content))
    assert [(one.query_id, one.target.document) for one in benchmark.judgments] == [
        ("q1", "a"), ("q1", "b"), ("q2", "c")
    ]  # fmt: skip
    assert [query.category for query in benchmark.queries] == ["fact", "how"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("question,doc_id\n,tea\n", ":2: question: is empty, and there is no question above it"),
        ("question,doc_id\nTea?,\n", ":2: doc_id: is empty, expected an id"),
        ("question,grade\nTea?,1\n",
         ": is no benchmark: no column with the document (any of document, "),
        ("doc_id,grade\ntea,1\n", ": is no benchmark: no column with the query (any of query, "),
        ("How hot is tea?,tea\n", "; the first line must name the columns, such as question,"),
        ("question|doc_id\nHow?|tea\n", "; separate the columns by commas, semicolons or tabs"),
    ],
)  # fmt: skip
def test_a_missing_cell_or_column_is_named(content: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        load_benchmark(save(tmp_path, content))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("encoding", "said"),
    [
        ("cp1252", "golden.csv:2: not UTF-8 text (byte 0xE9); save it as UTF-8, or name its "),
        ("utf-16", "golden.csv:1: not UTF-8 text (byte 0xFF); save it as UTF-8, or name its "),
    ],
)
def test_other_encodings_are_named_with_the_remedy(
    encoding: str, said: str, tmp_path: Path
) -> None:
    path = save(tmp_path, "question,doc_id\nCaf\u00e9?,tea\n", encoding=encoding)
    with pytest.raises(DataError) as caught:
        load_benchmark(path)
    assert f"{said}encoding: --options encoding={encoding}" in str(caught.value)
    assert load_benchmark(path, encoding=encoding).queries[0].text == "Caf\u00e9?"
    with pytest.raises(ConfigurationError, match="encoding must be a Python encoding"):
        load_benchmark(path, format="csv", encoding="klingon")


def test_ids_are_made_of_the_words_of_questions(tmp_path: Path) -> None:
    long = "x" * 90
    content = f"question,doc_id\nTea?,a\nTea!,b\n???,c\nTea?,d\n{long},e\n茶 は?,f\n"
    benchmark = load_benchmark(save(tmp_path, content))
    assert [query.id for query in benchmark.queries] == [
        "tea", "tea-2", "question", "x" * 60, "茶-は"
    ]  # fmt: skip
    assert [one.query_id for one in benchmark.judgments][3] == "tea"
