"""Batches in a whole run: faster, with the same results."""

from __future__ import annotations

import threading
import time
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.data import Hit
from berryeval.providers import Provider, build_provider
from berryeval.runner import Answers
from tests.workflows.worlds import benchmark, plan_of, results_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from berryeval.data import Query


@cache
def technical_docs() -> be.Benchmark:
    """Load a bundled benchmark once."""
    return be.load_benchmark("technical-docs")


def first_words(texts: Sequence[str], k: int) -> list[list[str]]:
    """Search for several texts at once and return ids of documents."""
    documents = [document.id for document in technical_docs().documents]
    starts = [len(text) % len(documents) for text in texts]
    return [[*documents[start:], *documents[:start]][:k] for start in starts]


FUNCTION = {"type": "callable", "options": {"function": first_words, "batch": True}}


def written(folder: Path) -> list[bytes]:
    """Return the scores and rankings of every provider."""
    files = sorted([*folder.rglob("scores.json"), *folder.rglob("run.trec")])
    return [file.read_bytes() for file in files]


def sizes(folder: Path, queries: Sequence[Query]) -> set[int]:
    """Return the batch size of each query."""
    (journal,) = folder.rglob("results.jsonl")
    with Answers.open(journal, queries, []) as answers:
        return {answers.ranking(query).batch for query in answers}


@pytest.mark.parametrize(
    "provider",
    ["bm25", {"type": "bm25", "options": {"feedback": 3}}, "dense", "hybrid", FUNCTION],
    ids=["bm25", "feedback", "dense", "hybrid", "callable"],
)
def test_a_batch_changes_no_byte_of_the_results(provider: Any, tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    result = be.run_benchmark(technical_docs(), [provider], folder=alone, limit=22)
    be.run_benchmark(technical_docs(), [provider], folder=together, limit=22, batch=7)
    assert written(alone) == written(together)
    assert len(written(alone)) == 2
    assert sizes(alone, result.queries) == {1}
    assert sizes(together, result.queries) == {7, 1}  # 22 queries: one is left


def test_a_run_resumes_with_another_batch_size(tmp_path: Path) -> None:
    source = benchmark(tmp_path, 30)
    whole = plan_of(source, {"type": "bm25"}, run={"batch": 8})
    results_of(whole, tmp_path / "whole")
    results_of(whole, tmp_path / "torn")
    (journal,) = (tmp_path / "torn").rglob("results.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:12]) + lines[12][:20])
    again = plan_of(source, {"type": "bm25"}, run={"batch": 5})
    assert results_of(again, tmp_path / "torn")["bm25:whole"].outcomes == {"ok": 30}
    assert written(tmp_path / "torn") == written(tmp_path / "whole")
    assert journal.read_bytes().startswith(b"".join(lines[:12]))


class Counting(Provider):
    """A provider that counts how many searches run at once."""

    def __init__(self, *, in_process: bool) -> None:
        self.in_process = in_process  # type: ignore[misc]
        self.lock, self.now, self.most = threading.Lock(), 0, 0

    def search(self, query: Query, k: int) -> list[Hit]:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self.lock:
            self.now -= 1
        return [Hit(query.id)][:k]


@pytest.mark.parametrize(
    ("in_process", "settings", "expected"),
    [(True, {}, 1), (False, {}, 4), (True, {"concurrency": 3}, 3), (False, {"concurrency": 1}, 1)],
)
def test_searches_in_this_process_are_timed_one_at_a_time(
    in_process: bool, settings: dict[str, Any], expected: int
) -> None:
    provider = Counting(in_process=in_process)
    be.run_benchmark("technical-docs", provider, ["RR"], limit=20, **settings)
    assert provider.most == expected


@pytest.mark.parametrize(
    ("source", "options", "expected"),
    [
        ("bm25", {}, True),
        ("qdrant", {}, True),
        ("qdrant", {"url": "http://host"}, False),
        ("dense", {"embedder": "openai"}, False),
        ("sqlite", {"mode": "text", "embedder": "openai"}, True),
        ("postgres", {}, False),
        ("hybrid", {}, True),
        ("hybrid", {"options": {"dense": {"embedder": "openai"}}}, False),
        (
            "hybrid",
            {"providers": ["bm25", {"type": "http", "options": {"url": "http://host"}}]},
            False,
        ),
        ("hybrid", {"providers": ["bm25", Counting(in_process=True)]}, True),
        ("callable", {"function": first_words}, False),
        ("callable", {"function": Counting(in_process=True)}, True),
    ],
)
def test_options_decide_whether_searches_are_in_this_process(
    source: str, options: dict[str, Any], expected: bool
) -> None:
    assert build_provider(source, options).searches_in_process() is expected


def test_rewriting_ids_does_not_change_where_a_provider_searches() -> None:
    provider = Counting(in_process=True)
    spec = {"type": "callable", "options": {"function": provider}, "strip": ["case"]}
    be.run_benchmark("technical-docs", spec, ["RR"], limit=5)
    assert provider.most == 1
