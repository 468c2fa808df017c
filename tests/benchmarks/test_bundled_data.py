"""The bundled golden sets are what their documentation says."""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from typing import Any

import pytest

from berryeval.anchors.markdown import parse_sections
from berryeval.anchors.targets import Targets
from berryeval.benchmarks.loading import bundled_folder, load_benchmark
from berryeval.benchmarks.writing import section_chunk_id
from berryeval.metrics.lists import QueryType


def read(name: str, file: str) -> Any:
    """A JSON file of a bundled set."""
    return json.loads((bundled_folder(name) / file).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["technical-docs", "spring-boot"])
def test_every_target_is_in_the_corpus(name: str) -> None:
    """No drift, nothing ambiguous, no section judged twice for a query."""
    benchmark = load_benchmark(name)
    targets = Targets.locate(benchmark.judgments, benchmark.documents)
    assert targets.drift == ()
    assert targets.ambiguous == ()
    pairs = Counter((one.query_id, one.target) for one in benchmark.judgments)
    assert max(pairs.values()) == 1


def test_the_queries_of_technical_docs_are_distributed_as_promised() -> None:
    """50 queries: five categories, three difficulties."""
    queries = read("technical-docs", "test-queries.json")
    assert Counter(query["category"] for query in queries) == {
        "factual": 15, "conceptual": 12, "procedural": 10, "comparative": 8, "troubleshoot": 5
    }  # fmt: skip
    assert Counter(q["difficulty"] for q in queries) == {"easy": 20, "medium": 20, "hard": 10}
    assert len({query["id"] for query in queries}) == len({q["query"] for q in queries}) == 50
    assert all(query["description"] for query in queries)


def test_the_documents_of_technical_docs_are_long_enough() -> None:
    """At least 24 of 900 words and more."""
    documents = load_benchmark("technical-docs").documents
    assert len(documents) >= 24
    assert all(len(document.text.split()) >= 900 for document in documents)


def test_the_judgments_of_technical_docs_are_in_order() -> None:
    """Graded 0 to 3, most relevant first, with the primary section and ids made from names."""
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


def test_the_golden_set_of_spring_boot_is_as_promised() -> None:
    """100 queries of four types, 2 to 5 judgments each, grades 1 and 2."""
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
    """At least as many as answer one: finding them is not trivial. All are of a readable length."""
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


def test_no_pair_of_spring_boot_is_both_relevant_and_not() -> None:
    """What was rejected is not in the golden set."""
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
    """By the rule of the token tier, one context each answers, and no other question's does."""
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
    """With what a user needs to know before trusting it."""
    text = (bundled_folder(name) / "datasheet.md").read_text(encoding="utf-8")
    for heading in ("Purpose", "How it was made", "Agreement", "Known limits", "Licence"):
        assert f"## {heading}" in text
    assert "not measured yet" not in text


@pytest.mark.parametrize("name", ["technical-docs", "spring-boot"])
def test_no_retriever_leaves_holes_in_the_judgments(name: str) -> None:
    """Everything that bm25, dense and hybrid return in their top ten has been judged."""
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
def test_validate_finds_nothing_wrong(name: str) -> None:
    """No error and no warning in our own sets."""
    from berryeval.benchmarks.checks.catalogue import check_benchmark

    findings = check_benchmark(load_benchmark(name)).findings
    assert [one for one in findings if one.severity != "info"] == []
