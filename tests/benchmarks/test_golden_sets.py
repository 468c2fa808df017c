"""Golden sets on sections, their chunk ids, and questions with contexts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import uuid
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.benchmarks import check_benchmark, load_benchmark
from berryeval.benchmarks.loaders.technical_docs import fill_chunk_ids, section_chunk_id
from berryeval.data.records import Anchor
from berryeval.errors import DataError
from tests.benchmarks.samples import (
    COFFEE,
    GOLDEN_SET,
    RAG_TEMPLATE,
    TECHNICAL_DOCS,
    Sample,
    as_json,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_chunk_ids_of_a_golden_set_are_sections(tmp_path: Path) -> None:
    benchmark = load_benchmark(GOLDEN_SET.write(tmp_path))
    assert [query.id for query in benchmark.queries] == ["001", "002"]
    assert benchmark.queries[0].category == "FACTUAL"
    assert [document.id for document in benchmark.documents] == ["drinks/tea"]
    assert [(judgment.target, judgment.grade) for judgment in benchmark.judgments] == [
        (Anchor(document="drinks/tea", section=("green-tea",), subsections=False), 2),
        (Anchor(document="drinks/tea", section=("black",), subsections=False), 1),
        (Anchor(document="drinks/tea"), 1),
    ]
    assert benchmark.judgments[0].extra == {"chunk_id": "drinks/tea#green-tea"}
    assert benchmark.where("judgments", 1).endswith("golden-set.json: [0].judgments[1]")


def test_a_golden_set_file_loads_without_its_corpus(tmp_path: Path) -> None:
    GOLDEN_SET.write(tmp_path)
    assert load_benchmark(tmp_path / "golden-set.json").documents == ()
    (tmp_path / "corpus").rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match="corpus: no such folder"):
        load_benchmark(tmp_path)


def test_technical_docs_load(tmp_path: Path) -> None:
    benchmark = load_benchmark(TECHNICAL_DOCS.write(tmp_path))
    assert (benchmark.name, benchmark.thresholds) == ("hot-drinks", {"P@5": 0.7})
    query = benchmark.queries[0]
    assert (query.id, query.category, query.difficulty) == ("t1", "factual", "easy")
    assert query.description == "The temperature of the water."
    assert [judgment.grade for judgment in benchmark.judgments] == [1, 3, 0]
    section = Anchor(document="tea", section=("green-tea",), subsections=False)
    assert benchmark.judgments[1].target == section
    chunk = section_chunk_id("hot-drinks", "tea", "green-tea")
    assert benchmark.judgments[1].extra == {"chunk_id": chunk}
    assert benchmark.judgments[1].note == "says so"


def _changed(change: dict[str, Any]) -> Sample:
    judged = json.loads(TECHNICAL_DOCS.files["relevance-judgments.json"])
    judged["judgments"][0] |= change
    files = {**TECHNICAL_DOCS.files, "relevance-judgments.json": as_json(judged)}
    return replace(TECHNICAL_DOCS, files=files)


TEA = {"document": "tea", "section": "green-tea", "grade": 3}
BAD: list[tuple[dict[str, Any], str]] = [
    ({"relevant": [{**TEA, "chunk_id": "1"}]}, "[0].relevant[0].chunk_id: expected"),
    ({"relevant": [{**TEA, "grade": "3"}]}, "[0].relevant[0].grade: expected a number"),
    ({"relevant": [{"document": "tea", "grade": 3}]}, "[0].relevant[0]: has no 'section'"),
    ({"relevant": {}}, "[0].relevant: expected an array"),
    (
        {"relevant_chunk_ids": []},
        "[0].relevant_chunk_ids: expected the chunks with a positive",
    ),
    (
        {"primary": {"document": "tea", "section": "tea"}},
        "[0].primary: expected a section of the highest grade, found grade 1",
    ),
    ({"query_id": None}, "[0].query_id: expected an id"),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_inconsistent_chunk_ids_are_rejected(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        load_benchmark(_changed(change).write(tmp_path))
    assert message in str(caught.value)


def test_a_section_id_is_made_from_names_alone() -> None:
    expected = uuid.uuid5(uuid.NAMESPACE_URL, "berryeval:technical-docs/faq#limits")
    assert section_chunk_id("technical-docs", "faq", "limits") == str(expected)


def test_filling_chunk_ids_is_idempotent(tmp_path: Path) -> None:
    entries = [{**TEA, "section": "tea", "grade": 1}, TEA, {**TEA, "section": "black", "grade": 0}]
    primary = {"document": "tea", "section": "green-tea"}
    judged = {"query_id": "t1", "primary": primary, "relevant": entries}
    content = as_json({"schema_version": 1, "judgments": [judged]})
    files = {**TECHNICAL_DOCS.files, "relevance-judgments.json": content}
    folder = replace(TECHNICAL_DOCS, files=files).write(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "berryeval.benchmarks.loaders.technical_docs", str(folder)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "3 judgments\n"
    written = (folder / "relevance-judgments.json").read_bytes()
    filled = json.loads(written)["judgments"][0]
    green = section_chunk_id("hot-drinks", "tea", "green-tea")
    assert filled["primary"] == {**primary, "chunk_id": green}
    assert filled["relevant"][1] == {**TEA, "chunk_id": green}
    assert filled["relevant_chunk_ids"] == [green, section_chunk_id("hot-drinks", "tea", "tea")]
    assert load_benchmark(folder).judgments[1].extra["chunk_id"] == green
    assert fill_chunk_ids(folder) == 3
    assert (folder / "relevance-judgments.json").read_bytes() == written


def test_the_command_reports_errors_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "berryeval.benchmarks.loaders.technical_docs"]
    for arguments, said in (([], "usage: "), ([str(tmp_path)], "error: ")):
        done = subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert done.stderr.startswith(said)


def test_contexts_become_documents(tmp_path: Path) -> None:
    benchmark = load_benchmark(RAG_TEMPLATE.write(tmp_path))
    assert benchmark.judgments == ()
    first, second = benchmark.queries
    assert (first.id, first.category) == ("r1", "fact")
    assert first.metadata["expected_answer"] == "80 degrees"
    assert (second.id, second.difficulty) == ("2", "easy")
    assert second.metadata == {
        "asked": 3, "expected_answer": "Brewed beans.", "contexts": ["c"]
    }  # fmt: skip
    assert len(benchmark.documents) == 3
    assert [benchmark.documents[-1].title, benchmark.documents[-1].text] == ["Coffee", COFFEE]


def test_rejected_pairs_are_judged_not_relevant(tmp_path: Path) -> None:
    folder = GOLDEN_SET.write(tmp_path)
    text = load_benchmark(folder).queries[0].text
    rejected = [{"query": text, "chunkIds": ["drinks/tea#steeping", "drinks/coffee"]}]
    (folder / "not-relevant.json").write_text(json.dumps(rejected), encoding="utf-8")
    added = load_benchmark(folder).judgments[-2:]
    assert [(one.target.document, one.target.section, one.grade) for one in added] == [
        ("drinks/tea", ("steeping",), 0),
        ("drinks/coffee", (), 0),
    ]
    rejected[0]["query"] = "nobody asked this"
    (folder / "not-relevant.json").write_text(json.dumps(rejected), encoding="utf-8")
    with pytest.raises(DataError, match=r"not-relevant.json: \[0\]: there is no query 'nobody a"):
        load_benchmark(folder)


GREEN, TEA_ID = (section_chunk_id("hot-drinks", "tea", name) for name in ("green-tea", "tea"))


@pytest.mark.parametrize(
    "judged",
    [
        [{"QueryId": "t1", "RelevantChunkIds": [GREEN, TEA_ID, "c9"], "PrimaryRelevant": GREEN}],
        [{"queryId": "t1", "relevantChunkIds": [GREEN, TEA_ID, "c9"], "primaryRelevant": GREEN}],
        {"judgments": [{"query_id": "t1", "relevant_chunk_ids": [GREEN, TEA_ID, "c9"],
                        "primary_relevant": GREEN}]},
        {"t1": {"RelevantChunkIds": [GREEN, TEA_ID, "c9"], "PrimaryRelevant": GREEN}},
    ],
)  # fmt: skip
def test_judgments_may_be_lists_of_chunk_ids(judged: Any, tmp_path: Path) -> None:
    queries = {"queries": [{"Id": "t1", "Query": "How hot?", "Category": "factual"}]}
    files = {
        **TECHNICAL_DOCS.files,
        "relevance-judgments.json": as_json(judged),
        "test-queries.json": as_json(queries),
    }
    benchmark = load_benchmark(replace(TECHNICAL_DOCS, files=files).write(tmp_path))
    assert (benchmark.queries[0].text, benchmark.queries[0].category) == ("How hot?", "factual")
    assert [(one.target, one.grade) for one in benchmark.judgments] == [
        (Anchor(document="tea", section=("green-tea",), subsections=False), 2),
        (Anchor(document="tea", section=("tea",), subsections=False), 1),
        (Anchor(chunk="c9"), 1),
    ]
    assert benchmark.judgments[0].extra == {"chunk_id": GREEN}


def test_a_plain_list_of_chunk_ids_is_enough(tmp_path: Path) -> None:
    files = {**TECHNICAL_DOCS.files, "relevance-judgments.json": as_json({"t1": [TEA_ID]})}
    (judgment,) = load_benchmark(replace(TECHNICAL_DOCS, files=files).write(tmp_path)).judgments
    assert judgment.grade == 1
    files["relevance-judgments.json"] = as_json([{"QueryId": "t1", "RelevantChunkIds": ["a"],
                                                  "PrimaryRelevant": "b"}])  # fmt: skip
    said = r"\[0\]\.primary_relevant: expected one of the relevant chunk ids, found 'b'"
    with pytest.raises(DataError, match=said):
        load_benchmark(replace(TECHNICAL_DOCS, files=files).write(tmp_path / "other"))


ENTRY = {"query": "How hot?", "queryType": "FACTUAL", "judgments": [{"chunkId": "a", "grade": 1}]}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({**ENTRY, "queryType": "FACTAUL"},
         "[1].queryType: unknown type 'FACTAUL'; did you mean 'FACTUAL'?"),
        ({"query": "How hot?", "judgments": ENTRY["judgments"]}, "[1]: has no 'queryType'"),
        ({**ENTRY, "judgments": [{"chunkId": "a", "grade": 4}]},
         "[1].judgments[0].grade: 4 is outside of the scale 1 to 3"),
        ({**ENTRY, "judgments": [{"chunkId": "b", "grade": -1}]},
         "[1].judgments[0].grade: -1 is outside of the scale 1 to 3"),
        ({**ENTRY, "judgments": [{"chunkId": "a", "grade": 0}, {"chunkId": "b", "grade": 2}]},
         "[1].judgments[0].grade: 0 is written out; a chunk without a judgment has grade 0"),
        ({**ENTRY, "judgments": []}, "[1].judgments: is empty"),
    ],
)  # fmt: skip
def test_oddities_of_a_golden_set_are_named_with_their_entry(
    entry: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "golden-set.json"
    path.write_bytes(as_json([ENTRY, entry]))
    (remark,) = load_benchmark(path).remarks
    assert said in remark
    found = check_benchmark(load_benchmark(path)).findings
    assert [one.message for one in found if one.check == "remark"] or said in str(found)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"query": "How hot?", "queryType": "FACTUAL"}, "[1]: has no 'judgments'; found 'query'"),
        ({"queryType": "FACTUAL", "judgments": []}, "[1]: has no 'query'"),
        ({**ENTRY, "judgments": [{"chunkId": "a"}]}, "[1].judgments[0]: has no 'grade'"),
        ({**ENTRY, "judgments": [{"grade": 1}]}, "[1].judgments[0]: has no 'chunkId'"),
    ],
)  # fmt: skip
def test_missing_keys_of_a_golden_set_are_named_with_their_entry(
    entry: dict[str, Any], said: str, tmp_path: Path
) -> None:
    path = tmp_path / "golden-set.json"
    path.write_bytes(as_json([ENTRY, entry]))
    with pytest.raises(DataError, match=re.escape(said)):
        load_benchmark(path)


def test_bundled_golden_sets_have_no_oddities() -> None:
    assert load_benchmark("spring-boot").remarks == ()
