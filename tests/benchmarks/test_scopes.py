"""Scopes of queries: read, written, set from a field, and set by the loaders of conversations."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.benchmarks import load_benchmark, write_benchmark
from berryeval.data import Document, Query
from berryeval.errors import ConfigurationError, DataError
from berryeval.workflows.plan import Plan
from berryeval.workflows.selection import select_queries
from tests.benchmarks.samples import LONGMEMEVAL, as_json, as_lines

if TYPE_CHECKING:
    from pathlib import Path


def _talk(name: str, drink: str) -> dict[str, Any]:
    """Build a conversation in the shape of the published `locomo10.json`."""
    return {
        "sample_id": name,
        "conversation": {
            "speaker_a": "Ann",
            "speaker_b": "Ben",
            "session_1_date_time": "9:00 am on 1 May, 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": f"I drink {drink} every day."},
                {"speaker": "Ben", "dia_id": "D1:2", "text": "Good morning!"},
            ],
        },
        "qa": [
            {"question": f"Who drinks {drink}?", "answer": "Ann", "evidence": ["D1:1"],
             "category": 4},
            {"question": "What does Ben drink?", "adversarial_answer": drink, "evidence": ["D1:1"],
             "category": 5},
        ],
        "event_summary": {}, "observation": {}, "session_summary": {},
    }  # fmt: skip


def test_the_scope_of_a_locomo_question_is_its_conversation(tmp_path: Path) -> None:
    (tmp_path / "locomo10.json").write_bytes(
        as_json([_talk("conv-26", "tea"), _talk("conv-30", "coffee")])
    )
    benchmark = load_benchmark(tmp_path / "locomo10.json")
    assert [query.scope["conversation"] for query in benchmark.queries] == [
        "conv-26", "conv-26", "conv-30", "conv-30",
    ]  # fmt: skip
    first, *_ = be.run_benchmark(benchmark, "bm25:whole", k=2).providers[0].record.answers
    assert {hit.id.partition("/")[0] for hit in first.hits} == {"conv-26"}
    pool = load_benchmark(tmp_path / "locomo10.json", scope="none")
    assert all(not query.scope for query in pool.queries)
    assert pool.content_hash != benchmark.content_hash


@pytest.mark.parametrize("granularity", ["session", "turn"])
def test_the_scope_of_a_longmemeval_question_is_its_haystack(
    granularity: str, tmp_path: Path
) -> None:
    benchmark = load_benchmark(LONGMEMEVAL.write(tmp_path), granularity=granularity)
    for query in benchmark.queries:
        assert query.scope == {"doc_id": tuple(query.metadata["haystack"])}
    (one,) = be.run_benchmark(benchmark, "bm25:whole", k=5).providers
    for query, answer in zip(benchmark.queries, one.record.answers, strict=True):
        assert {hit.id.partition("#")[0] for hit in answer.hits} <= set(query.scope["doc_id"])


@pytest.mark.parametrize("wanted", [False, "false", "False"])
def test_abstention_questions_can_be_left_out(wanted: Any, tmp_path: Path) -> None:
    benchmark = load_benchmark(LONGMEMEVAL.write(tmp_path))
    plan = Plan.model_validate(
        {"benchmarks": ["x"], "providers": ["bm25"], "filter": {"abstention": wanted}}
    )
    assert [query.id for query in select_queries(benchmark, plan)] == ["e1"]


LINES: list[dict[str, Any]] = [
    {"_type": "metadata", "name": "tenants"},
    {"_type": "document", "id": "a", "text": "Tea", "tenant": "x", "metadata": {"language": "en"}},
    {"_type": "document", "id": "b", "text": "Tee", "tenant": "y",
     "metadata": {"language": ["de", "en"]}},
    {"_type": "query", "id": "1", "text": "tea", "tenant": "x", "metadata": {"language": "en"}},
    {"_type": "query", "id": "2", "text": "tee", "tenant": "y"},
]  # fmt: skip


def _write(folder: Path, *lines: dict[str, Any]) -> Path:
    (folder / "tenants.jsonl").write_bytes(as_lines(*lines))
    return folder / "tenants.jsonl"


def test_a_field_becomes_the_scope(tmp_path: Path) -> None:
    path = _write(tmp_path, *LINES)
    assert all(not query.scope for query in load_benchmark(path).queries)
    one = load_benchmark(path, scope="tenant")
    assert [query.scope for query in one.queries] == [{"tenant": "x"}, {"tenant": "y"}]
    for given in ("tenant,language", ["tenant", "language"]):
        both = load_benchmark(path, scope=given)
        assert both.queries[0].scope == {"tenant": "x", "language": "en"}
        assert both.queries[1].scope == {"tenant": "y"}
        assert "1 query lacks a value of tenant, language" in both.remarks[-1]


def test_the_files_may_name_the_field(tmp_path: Path) -> None:
    path = _write(tmp_path, {**LINES[0], "scope": "tenant"}, *LINES[1:])
    benchmark = load_benchmark(path)
    assert [query.scope for query in benchmark.queries] == [{"tenant": "x"}, {"tenant": "y"}]
    write_benchmark(benchmark, tmp_path / "folder")
    assert load_benchmark(tmp_path / "folder") == benchmark


OWN = [*LINES[:3], {**LINES[3], "scope": {"language": "en"}}, LINES[4]]


def test_the_option_replaces_scopes_in_the_file_with_a_remark(tmp_path: Path) -> None:
    benchmark = load_benchmark(_write(tmp_path, *OWN), scope="tenant")
    assert [query.scope for query in benchmark.queries] == [{"tenant": "x"}, {"tenant": "y"}]
    assert benchmark.remarks == ("scope=tenant replaces the scope of 1 query, such as '1'",)
    assert not load_benchmark(_write(tmp_path, *OWN), scope="none").remarks


def test_two_scopes_in_the_files_are_an_error(tmp_path: Path) -> None:
    path = _write(tmp_path, {**LINES[0], "scope": "tenant"}, *OWN[1:])
    words = (
        r"tenants.jsonl:4: the scope of the query is language 'en', and the benchmark says "
        r'"scope": "tenant"; remove one of them, or choose \(scope=tenant, scope=none\)'
    )
    with pytest.raises(DataError, match=words):
        load_benchmark(path)
    assert load_benchmark(path, scope="tenant").queries[0].scope == {"tenant": "x"}


@pytest.mark.parametrize("scope", ["language", "none"])
def test_the_scope_of_the_option_is_written(scope: str, tmp_path: Path) -> None:
    path = _write(tmp_path, {**LINES[0], "scope": "tenant"}, *LINES[1:])
    benchmark = load_benchmark(path, scope=scope)
    write_benchmark(benchmark, tmp_path / "folder")
    assert load_benchmark(tmp_path / "folder").queries == benchmark.queries


def test_scopes_are_written_and_read(tmp_path: Path) -> None:
    documents = tuple(Document(name, name, metadata={"year": 2020}) for name in "abc")
    scope: dict[str, Any] = {"doc_id": ["a", "b"], "year": 2020}
    queries = (Query("1", "a", scope=scope), Query("2", "b"))
    made = be.Benchmark("own", documents, queries)
    for place in ("folder", "file.jsonl"):
        write_benchmark(made, tmp_path / place)
        assert load_benchmark(tmp_path / place) == made
    line = json.loads((tmp_path / "folder" / "queries.jsonl").read_text("utf-8").splitlines()[0])
    assert line["scope"] == {"doc_id": ["a", "b"], "year": "2020"}


def test_a_column_of_a_table_becomes_the_scope(tmp_path: Path) -> None:
    (tmp_path / "corpus.jsonl").write_bytes(as_lines({"id": "d1", "text": "Tea", "tenant": "x"}))
    (tmp_path / "judged.csv").write_text(
        "query,document,grade,tenant\ntea,d1,1,x\n", encoding="utf-8"
    )
    benchmark = load_benchmark(
        tmp_path / "judged.csv", corpus=tmp_path / "corpus.jsonl", scope="tenant"
    )
    assert benchmark.queries[0].scope == {"tenant": "x"}


UNKNOWN = "the scope names 'tenent', a field that no document has; did you mean 'tenant'?"
WRONG: list[tuple[Any, str]] = [
    ({"tenent": "x"}, f"tenants.jsonl:4: {UNKNOWN}"),
    ({"tenant": []}, "scope.tenant: expected a text, a number, or an array of them"),
    ({"tenant": {"a": 1}}, "scope.tenant: expected a text, a number"),
    ("x", "scope: expected an object, found string 'x'"),
]


@pytest.mark.parametrize(("scope", "words"), WRONG)
def test_a_wrong_scope_is_named(scope: Any, words: str, tmp_path: Path) -> None:
    path = _write(tmp_path, *LINES[:3], {**LINES[3], "scope": scope})
    with pytest.raises(DataError) as caught:
        load_benchmark(path)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("scope", "words"),
    [
        ("tennant", "scope: no query of tenants has a 'tennant'; did you mean 'tenant'?"),
        (7, "scope of tenants must be names of fields, such as [conversation], found 7"),
    ],
)
def test_a_wrong_option_is_named(scope: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_benchmark(_write(tmp_path, *LINES), scope=scope)
    assert words in str(caught.value)


FIELDS = "title: Tea\nlanguage: de\nversion: 1.10\ntags: [hot, green]\nmore: {a: 1}\n"
FRONT = f"---\r\n{FIELDS}---\n# Tee\n"
FAULTY = (
    "---\na: b: c\n---\nTea\n", "---\n- a\n---\nTea\n", "---\nlanguage: de\n",
    "Tea\n---\na: b\n---\n",
)  # fmt: skip


@pytest.mark.parametrize("start", ["", "\ufeff"])
def test_the_front_matter_of_a_text_has_fields(start: str, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "tea.md").write_text(start + FRONT, encoding="utf-8", newline="")
    (tmp_path / "docs" / "te.md").write_text("---\nlanguage: sv\n---\n# Te\n", encoding="utf-8")
    (tmp_path / "judged.csv").write_text(
        "question,doc_id,language\ntee?,tea,de\nte?,te,sv\n", encoding="utf-8"
    )
    benchmark = load_benchmark(tmp_path / "judged.csv", corpus=tmp_path / "docs", scope="language")
    tea = benchmark.document_of["tea"]
    assert tea.metadata == {
        "title": "Tea", "language": "de", "version": "1.10", "tags": ["hot", "green"],
    }  # fmt: skip
    assert tea.title == "Tee"
    (one,) = be.run_benchmark(benchmark, "bm25", ["Success@1"]).providers
    hits = [hit for answer in one.record.answers for hit in answer.hits]
    assert [hit.id.partition("#")[0] for hit in hits] == ["tea", "te"]


@pytest.mark.parametrize("text", FAULTY)
def test_other_lines_between_rules_are_text(text: str, tmp_path: Path) -> None:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "tea.md").write_text(text, encoding="utf-8")
    (tmp_path / "benchmark.json").write_text('{"name": "tea"}', encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text('{"id": "1", "text": "tea"}\n', encoding="utf-8")
    (document,) = load_benchmark(tmp_path).documents
    assert (document.text, document.metadata) == (text, {})
