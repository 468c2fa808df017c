"""A run with scopes: chunks carry their fields, hits outside are reported, and scopes are data."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import berryeval as be
from berryeval.data import Anchor, Document, Judgment, Query
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.workflows.reporting import score_random
from berryeval.workflows.selection import chunk_documents, load_benchmarks
from berryeval.workflows.settings import build_plan
from tests.workflows.worlds import plan_of, results_of

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = tuple(
    Document(f"{who}-{n}", f"{words} number {n}.\n\nMore of it.", metadata={"conversation": who})
    for who, words in (("ann", "A grey boat"), ("ben", "The red boat sails"))
    for n in range(12)
)
QUERIES = (
    Query("q1", "where does the red boat sail", scope={"conversation": "ann"}),
    Query("q2", "grey boat", scope={"conversation": "ben"}),
    Query("q3", "grey boat", metadata={"abstention": True}),
)
BOATS = be.Benchmark(
    "boats",
    DOCUMENTS,
    QUERIES,
    tuple(
        Judgment(query, Anchor(document=document), 1)
        for query, document in (("q1", "ann-3"), ("q2", "ben-3"), ("q3", "ann-3"))
    ),
)


@pytest.mark.parametrize("chunker", ["whole", "section", "fixed-10"])
@pytest.mark.parametrize("provider", ["bm25", "hybrid", "sqlite"])
def test_chunks_of_every_chunker_keep_the_fields_of_scopes(provider: str, chunker: str) -> None:
    result = be.run_benchmark(BOATS, f"{provider}:{chunker}", k=10)
    (one,) = result.providers
    first, second, free = one.record.answers
    assert {hit.id[:3] for hit in first.hits} == {"ann"}
    assert {hit.id[:3] for hit in second.hits} == {"ben"}
    assert len(first.hits) == len(second.hits) == len(free.hits) == 10
    assert (one.record.out_of_scope, one.warnings) == (0.0, ())


def test_a_provider_that_ignores_the_scope_is_reported() -> None:
    def ignore(_: str, k: int) -> list[str]:
        return ["ann-1", *(f"ben-{n}" for n in range(k - 1))]

    result = be.run_benchmark(BOATS, {"pool": ignore}, k=10)
    (one,) = result.providers
    assert one.record.out_of_scope == 10 / 20  # 9 of the first query, 1 of the second
    (words,) = one.warnings
    assert words.startswith(
        "50.0% of the hits are outside the scope of their query, in 2 of 2 queries with a scope, "
        "such as 'ben-0' for query 'q1'"
    )
    assert type(one.record).from_json(json.loads(json.dumps(one.record.to_json()))) == one.record


def test_hits_that_the_scope_does_not_have_are_not_missing() -> None:
    small = replace(QUERIES[0], scope={"doc_id": ["ann-1", "ann-3"]})
    (one,) = be.run_benchmark(replace(BOATS, queries=(small,)), "bm25:whole", k=10).providers
    assert [hit.id[:5] for hit in one.record.answers[0].hits] == ["ann-3", "ann-1"]
    assert one.warnings == ()


def test_scopes_without_documents_are_named() -> None:
    wrong = tuple(replace(one, scope={"conversation": "ANN"}) for one in QUERIES[:2])
    (one,) = be.run_benchmark(replace(BOATS, queries=(*wrong, QUERIES[2])), "bm25", k=10).providers
    (warning,) = (warning for warning in one.warnings if "scope" in warning)
    assert warning == (
        "2 queries cannot find anything relevant, because no document is in the scope: 'q1' "
        "(conversation 'ANN'), 'q2' (conversation 'ANN')"
    )
    with pytest.raises(DataError, match=r"boats: no document is in the scope of any .*'q1' \(conv"):
        be.run_benchmark(replace(BOATS, queries=wrong), "bm25")
    gone = tuple(replace(one, scope={"doc_id": "zz"}) for one in QUERIES)
    with pytest.raises(DataError, match=r"'q1' \(doc_id 'zz'\); correct the scopes"):
        be.run_benchmark(replace(BOATS, queries=gone), "bm25")


def test_a_scope_without_its_own_target_is_named() -> None:
    astray = replace(QUERIES[0], scope={"conversation": ["ben"]})
    queries = (astray, *QUERIES[1:])
    (one,) = be.run_benchmark(replace(BOATS, queries=queries), "bm25:whole", k=10).providers
    (warning,) = one.warnings
    assert warning == (
        "1 query cannot find anything relevant, because every target is outside the scope: 'q1' "
        "(conversation 'ben')"
    )


def test_without_scopes_there_is_no_share() -> None:
    free = tuple(replace(query, scope={}) for query in QUERIES)
    (one,) = be.run_benchmark(replace(BOATS, queries=free), "bm25:whole", k=10).providers
    assert one.record.out_of_scope is None
    assert "out_of_scope" not in one.record.to_json()


def test_a_changed_scope_is_another_benchmark(tmp_path: Path) -> None:
    be.write_benchmark(BOATS, tmp_path / "boats")
    plan = plan_of(str(tmp_path / "boats"), {"type": "bm25"})
    results_of(plan, tmp_path / "run")
    other = replace(QUERIES[0], scope={"conversation": "ben"})
    be.write_benchmark(replace(BOATS, queries=(other, *QUERIES[1:])), tmp_path / "boats")
    with pytest.raises(ConfigurationError, match="benchmark_hash differ"):
        results_of(plan, tmp_path / "run")


def test_the_configuration_may_name_the_field(tmp_path: Path) -> None:
    be.write_benchmark(BOATS, tmp_path / "boats")
    pool = {"source": str(tmp_path / "boats"), "options": {"scope": "none"}}
    plan = plan_of("", {"type": "bm25"}, benchmarks=[pool])
    assert results_of(plan, tmp_path / "run")["bm25:whole"].record.out_of_scope is None
    (tmp_path / "berryeval.yaml").write_text(
        f"benchmarks: [{{source: {pool['source']}, options: {{scope: abstention}}}}]\n"
        "providers: [bm25]\n",
        "utf-8",
    )
    with pytest.raises(BerryEvalError, match="the scope names 'abstention'"):
        load_benchmarks(build_plan({}, tmp_path / "berryeval.yaml"))


def test_a_random_ranking_stays_in_the_scope() -> None:
    """Of two documents in the scope, one is relevant: a random first hit is right half the time."""
    pair = tuple(replace(one, scope={"doc_id": ["ann-3", "ben-3"]}) for one in QUERIES)
    result = be.run_benchmark(replace(BOATS, queries=pair), "bm25:whole", ["P@1"])
    plan = plan_of("", {"type": "bm25"}, metrics=["P@1", "R@5"])
    scores = score_random(plan, result, chunk_documents(result.benchmark, "whole"))
    assert 0.25 < scores["P@1"] < 0.75
    assert scores["R@5"] == pytest.approx(1.0)
