"""The bundled golden sets match their documentation."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from typing import Any

import pytest

from berryeval.anchors.markdown import parse_sections
from berryeval.anchors.targets import Targets
from berryeval.benchmarks.loaders.technical_docs import section_chunk_id
from berryeval.benchmarks.loading import bundled_folder, load_benchmark
from berryeval.metrics.lists import QueryType


def read(name: str, file: str) -> Any:
    return json.loads((bundled_folder(name) / file).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["technical-docs", "spring-boot"])
def test_every_target_is_in_the_corpus(name: str) -> None:
    benchmark = load_benchmark(name)
    targets = Targets.locate(benchmark.judgments, benchmark.documents)
    assert targets.drift == ()
    assert targets.ambiguous == ()
    pairs = Counter((one.query_id, one.target) for one in benchmark.judgments)
    assert max(pairs.values()) == 1


def test_technical_docs_queries_have_the_documented_distribution() -> None:
    queries = read("technical-docs", "test-queries.json")
    assert Counter(query["category"] for query in queries) == {
        "factual": 15, "conceptual": 12, "procedural": 10, "comparative": 8, "troubleshoot": 5
    }  # fmt: skip
    assert Counter(q["difficulty"] for q in queries) == {"easy": 20, "medium": 20, "hard": 10}
    assert len({query["id"] for query in queries}) == len({q["query"] for q in queries}) == 50
    assert all(query["description"] for query in queries)


def test_the_documents_of_technical_docs_are_long_enough() -> None:
    documents = load_benchmark("technical-docs").documents
    assert len(documents) >= 24
    assert all(len(document.text.split()) >= 900 for document in documents)


def test_technical_docs_judgments_are_sorted_by_grade() -> None:
    judged = read("technical-docs", "relevance-judgments.json")["judgments"]
    assert len(judged) == 50
    for one in judged:
        entries = one["relevant"]
        grades = [entry["grade"] for entry in entries]
        assert grades == sorted(grades, reverse=True)
        assert set(grades) <= {0, 1, 2, 3}
        assert sum(grade >= 1 for grade in grades) >= 2
        assert one["primary"]["chunk_id"] == entries[0]["chunk_id"] == one["relevant_chunk_ids"][0]
        assert grades[0] == 3
        for entry in entries:
            expected = section_chunk_id("technical-docs", entry["document"], entry["section"])
            assert entry["chunk_id"] == expected


def test_technical_docs_datasheet_counts_the_judgments() -> None:
    judged = read("technical-docs", "relevance-judgments.json")["judgments"]
    grades = Counter(entry["grade"] for one in judged for entry in one["relevant"])
    text = (bundled_folder("technical-docs") / "datasheet.md").read_text(encoding="utf-8")
    counted = re.search(
        r"(\d+) pairs have grade 3, (\d+) grade 2 and (\d+)\s+grade 1; (\d+) were", text
    )
    assert counted
    assert [int(one) for one in counted.groups()] == [grades[grade] for grade in (3, 2, 1, 0)]


def test_the_spring_boot_golden_set_is_as_documented() -> None:
    entries = read("spring-boot", "golden-set.json")
    assert Counter(entry["queryType"] for entry in entries) == {
        "CODE_LOOKUP": 30, "FACTUAL": 30, "CONCEPTUAL": 25, "TROUBLESHOOTING": 15
    }  # fmt: skip
    for entry in entries:
        assert set(entry) == {"query", "queryType", "judgments"}
        assert entry["queryType"] in QueryType.__members__
        assert 2 <= len(entry["judgments"]) <= 5
        assert {judgment["grade"] for judgment in entry["judgments"]} <= {1, 2}
        for judgment in entry["judgments"]:
            assert re.fullmatch(r"spring-boot/[a-z0-9/-]+#[a-z0-9-]+", judgment["chunkId"])
    assert len({entry["query"] for entry in entries}) == 100


def test_most_sections_of_spring_boot_answer_no_query() -> None:
    judged = {
        judgment["chunkId"]
        for entry in read("spring-boot", "golden-set.json")
        for judgment in entry["judgments"]
    }
    sections = {
        f"{document.id}#{section.id}": document.text[section.start : section.own_end]
        for document in load_benchmark("spring-boot").documents
        for section in parse_sections(document.text)
    }
    assert judged <= sections.keys()
    assert len(sections) - len(judged) >= len(judged)
    for text in sections.values():
        assert 50 <= len(text.split()) <= 210


def test_no_spring_boot_pair_is_both_relevant_and_rejected() -> None:
    relevant = {
        (entry["query"], judgment["chunkId"])
        for entry in read("spring-boot", "golden-set.json")
        for judgment in entry["judgments"]
    }
    rejected = [
        (entry["query"], chunk)
        for entry in read("spring-boot", "not-relevant.json")
        for chunk in entry["chunkIds"]
    ]
    assert len(rejected) == len(set(rejected)) > 1000
    assert not relevant & set(rejected)


def test_rag_template_has_ten_questions_with_answers_in_their_contexts() -> None:
    benchmark = load_benchmark("rag-template")
    assert len(benchmark.queries) == 10
    words = {d.id: set(re.findall(r"\w+", d.text.lower())) for d in benchmark.documents}
    for query in benchmark.queries:
        expected = set(re.findall(r"\w+", query.metadata["expected_answer"].lower()))
        overlaps = [
            2 * len(expected & found) / (len(expected) + len(found)) for found in words.values()
        ]
        assert sum(overlap >= 0.3 for overlap in overlaps) == 1


@pytest.mark.parametrize("name", ["technical-docs", "spring-boot", "rag-template"])
def test_every_set_has_a_datasheet(name: str) -> None:
    text = (bundled_folder(name) / "datasheet.md").read_text(encoding="utf-8")
    for heading in ("Purpose", "How it was made", "Agreement", "Known limits", "Licence"):
        assert f"## {heading}" in text
    assert "not measured yet" not in text


@pytest.mark.parametrize("name", ["technical-docs", "spring-boot"])
def test_every_top_ten_hit_is_judged(name: str) -> None:
    from berryeval.chunkers.catalogue import parse_chunker
    from berryeval.providers.catalogue import build_provider
    from berryeval.scoring.hit_scoring import evaluate_hits

    benchmark = load_benchmark(name)
    chunker = parse_chunker("section")
    chunks = list(itertools.chain.from_iterable(map(chunker.chunk, benchmark.documents)))
    for provider in map(build_provider, ("bm25", "dense", "hybrid")):
        provider.index(chunks)
        hits = {query.id: provider.search(query, 10) for query in benchmark.queries}
        assert evaluate_hits(benchmark, hits, ["Judged@10"]).mean["Judged@10"] == 1.0


@pytest.mark.parametrize("name", ["technical-docs", "spring-boot", "rag-template"])
def test_bundled_benchmarks_have_no_errors_or_warnings(name: str) -> None:
    from berryeval.benchmarks import check_benchmark

    findings = check_benchmark(load_benchmark(name)).findings
    assert [one for one in findings if one.severity != "info"] == []
