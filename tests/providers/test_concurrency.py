"""Every bundled provider finds the same hits with many searches at once as with one at a time.

Threads switch as often as possible and compete with a busy one. `BERRYEVAL_STRESS_RUNS` sets the
number of runs of each provider.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from haystack import Pipeline
from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
from llama_index.core.schema import TextNode
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace

from berryeval.benchmarks import load_benchmark
from berryeval.chunkers import parse_chunker
from berryeval.data import Run
from berryeval.providers.bm25 import Bm25
from berryeval.providers.catalogue import PROVIDERS, build_provider
from berryeval.runner.asking import index_and_ask
from berryeval.runner.attempts import Policy
from tests.providers import foreign
from tests.providers.loopback import Asked, loopback
from tests.providers.qdrant_server import KEY, qdrant_server
from tests.providers.search_cluster import Cluster
from tests.providers.test_embedders import embeddings
from tests.providers.test_haystack import fill, of_chunks
from tests.providers.test_langchain import by_word
from tests.providers.test_origins import retriever

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from berryeval.data import Chunk, Hit, Query
    from berryeval.runner.outcome import Ranking

RUNS = int(os.environ.get("BERRYEVAL_STRESS_RUNS", "1"))
AT_ONCE = 16
K = 10
CHUNKS, QUERIES = 100, 32

World = tuple[str, "Callable[[Place], dict[str, Any]]"]


class Place(ExitStack):
    """What a provider needs: a folder, a database and servers that end with the test."""

    def __init__(self, folder: Path, dsn: str) -> None:
        super().__init__()
        self.folder = folder
        self.dsn = dsn

    def serve(self, answer: Callable[[Asked], Any]) -> str:
        return self.enter_context(loopback(answer)).url

    def model(self) -> dict[str, Any]:
        """A model2vec model of the words of the corpus."""
        from model2vec import StaticModel

        words = {word: None for chunk in corpus()[0] for word in chunk.text.split()}
        names = {word: place for place, word in enumerate(["[UNK]", "[PAD]", *words])}
        tokenizer = Tokenizer(WordLevel(names, unk_token="[UNK]"))  # noqa: S106 - no secret
        tokenizer.pre_tokenizer = Whitespace()
        vectors = np.random.default_rng(0).normal(size=(len(names), 16)).astype(np.float32)
        StaticModel(vectors, tokenizer).save_pretrained(str(self.folder))
        return {"embedder": "model2vec", "embedder_options": {"model": str(self.folder)}}

    def open_ai(self) -> dict[str, Any]:
        options = {"base_url": f"{self.serve(embeddings)}/v1", "cache": str(self.folder)}
        return {"embedder": "openai", "embedder_options": options}

    def existing_qdrant(self) -> dict[str, Any]:
        server = self.enter_context(qdrant_server())
        foreign.fill_qdrant(server.client, rows(), "Dot")
        return {"url": server.url, "api_key": KEY, "existing": foreign.QDRANT}

    def existing_cluster(self, flavour: str = "elasticsearch") -> dict[str, Any]:
        cluster, existing = foreign.cluster(flavour, rows())
        return {"url": self.serve(cluster), "mode": "hybrid", "existing": existing}

    def run_file(self) -> dict[str, Any]:
        found = {
            query.id: {chunk.id: float(len(chunk.text)) for chunk in corpus()[0][:50]}
            for query in corpus()[1]
        }
        Run.from_dict(found).to_trec(self.folder / "run.trec")
        return {"path": str(self.folder / "run.trec")}


def lexical() -> Bm25:
    provider = Bm25()
    provider.index(corpus()[0])
    return provider


def answer_http(asked: Asked) -> Any:
    terms = set(asked.body["query"].split())
    scored = {chunk.id: len(terms & set(chunk.text.split())) for chunk in corpus()[0]}
    best = sorted(scored, key=lambda name: (-scored[name], name))[:K]
    return {"hits": [{"id": name, "score": scored[name]} for name in best]}


async def search_later(text: str, k: int) -> list[str]:
    await asyncio.sleep(0)
    return [chunk.id for chunk in corpus()[0] if text.rsplit(maxsplit=1)[-1] in chunk.text][:k]


def shared(text: str, texts: list[str]) -> list[int]:
    """Count the words that a text shares with the query."""
    terms = set(text.split())
    return [len(terms & set(one.split())) for one in texts]


@cache
def corpus() -> tuple[list[Chunk], list[Query]]:
    benchmark = load_benchmark("technical-docs")
    chunker = parse_chunker("section")
    chunks = [chunk for one in benchmark.documents for chunk in chunker.chunk(one)]
    return chunks[:CHUNKS], list(benchmark.queries[:QUERIES])


@cache
def rows() -> list[dict[str, Any]]:
    return foreign.rows(corpus()[0])


WORLDS: dict[str, World] = {
    "bm25": ("bm25", lambda _: {}),
    "bm25 feedback": ("bm25", lambda _: {"feedback": 3}),
    "dense": ("dense", lambda _: {}),
    "dense feedback": ("dense", lambda _: {"feedback": 3}),
    "dense model2vec": ("dense", Place.model),
    "dense openai": ("dense", Place.open_ai),
    "hybrid": ("hybrid", lambda _: {}),
    "hybrid scores": ("hybrid", lambda _: {"fusion": "scores"}),
    "rerank": (
        "rerank",
        lambda _: {"reranker": {"type": "function", "options": {"function": shared}}},
    ),
    "postgres": ("postgres", lambda place: {"dsn": place.dsn}),
    "postgres text": ("postgres", lambda place: {"dsn": place.dsn, "mode": "text"}),
    "sqlite": ("sqlite", lambda _: {}),
    "sqlite file": ("sqlite", lambda place: {"path": str(place.folder / "file")}),
    "lancedb": ("lancedb", lambda _: {}),
    "chroma": ("chroma", lambda _: {}),
    "chroma file": ("chroma", lambda place: {"path": str(place.folder)}),
    "qdrant": ("qdrant", lambda _: {}),
    "qdrant file": ("qdrant", lambda place: {"path": str(place.folder)}),
    "qdrant server": (
        "qdrant",
        lambda place: {"url": place.enter_context(qdrant_server()).url, "api_key": KEY},
    ),
    "elasticsearch": ("elasticsearch", lambda place: {"url": place.serve(Cluster())}),
    "opensearch": (
        "elasticsearch",
        lambda place: {"url": place.serve(Cluster("opensearch")), "mode": "hybrid"},
    ),
    "postgres existing": ("postgres", lambda place: foreign.postgres(place.dsn, rows())),
    "sqlite existing": ("sqlite", lambda place: foreign.sqlite(place.folder, rows())),
    "lancedb existing": ("lancedb", lambda place: foreign.lancedb(place.folder, rows())),
    "chroma existing": ("chroma", lambda place: foreign.chroma(place.folder, rows())),
    "qdrant existing": ("qdrant", lambda place: foreign.qdrant(place.folder, rows())),
    "qdrant server existing": ("qdrant", lambda place: place.existing_qdrant()),
    "elasticsearch existing": ("elasticsearch", lambda place: place.existing_cluster()),
    "opensearch existing": (
        "elasticsearch",
        lambda place: place.existing_cluster("opensearch"),
    ),
    "http": ("http", lambda place: {"url": place.serve(answer_http)}),
    "callable": ("callable", lambda _: {"function": lexical()}),
    "callable async": ("callable", lambda _: {"function": search_later}),
    "langchain": ("langchain", lambda _: {"retriever": by_word}),
    "langchain async": ("langchain", lambda _: {"retriever": by_word, "asynchronous": True}),
    "llamaindex": ("llamaindex", lambda _: {"retriever": by_node}),
    "haystack": ("haystack", lambda _: {"retriever": by_component}),
    "haystack pipeline": ("haystack", lambda _: {"retriever": by_pipeline}),
    "run-file": ("run-file", Place.run_file),
}


def by_node(chunks: Sequence[Chunk]) -> Any:
    return retriever([TextNode(id_=chunk.id, text=chunk.text) for chunk in chunks])


def by_component(chunks: Sequence[Chunk]) -> Any:
    return InMemoryBM25Retriever(fill(of_chunks(chunks)))


def by_pipeline(chunks: Sequence[Chunk]) -> Any:
    pipeline = Pipeline()
    pipeline.add_component("words", by_component(chunks))
    return pipeline


@contextmanager
def busy_machine() -> Iterator[None]:
    """Switch threads every microsecond, while one of them only computes."""
    done, before = threading.Event(), sys.getswitchinterval()

    def compute() -> None:
        while not done.is_set():
            sum(range(1000))

    thread = threading.Thread(target=compute, daemon=True)
    sys.setswitchinterval(1e-6)
    try:
        thread.start()
        yield
    finally:
        done.set()
        sys.setswitchinterval(before)
        thread.join()


def answers(name: str, options: dict[str, Any], concurrency: int) -> list[str]:
    """Return what a new provider finds, as one line of JSON per query."""
    rankings: list[Ranking] = []
    policy = Policy(concurrency=concurrency, warm_up=0, timeout=120.0, attempts=1)
    index_and_ask(build_provider(name, options), *corpus(), K, rankings.append, policy)
    return sorted(
        json.dumps([one.query_id, one.outcome, one.error, [describe(hit) for hit in one.hits]])
        for one in rankings
    )


def describe(hit: Hit) -> list[Any]:
    return [hit.id, hit.score, hit.rank, hit.doc_id, hit.start, hit.end]


def test_every_thread_gets_the_same_terms() -> None:
    """A stemmer keeps the word it is working on: shared, it mixes the words of the threads."""
    texts = [chunk.text for chunk in corpus()[0]] * RUNS
    expected = [Bm25().tokenize(text) for text in texts[:CHUNKS]] * RUNS
    with ThreadPoolExecutor(AT_ONCE) as threads, busy_machine():
        for _ in range(3):
            assert list(threads.map(Bm25().tokenize, texts)) == expected


def test_every_provider_is_here_or_needs_an_absent_package() -> None:
    ours = {one for one in PROVIDERS if PROVIDERS.get(one).__module__.startswith("berryeval.")}
    assert {name for name, _ in WORLDS.values()} == ours - {"dspy"}


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
@pytest.mark.parametrize("world", WORLDS)
def test_searches_at_once_change_no_byte(world: str, tmp_path: Path, dsn: str) -> None:
    name, build_options = WORLDS[world]
    with Place(tmp_path, dsn) as place:
        options = build_options(place)
        alone = answers(name, options, concurrency=1)
        assert len(alone) == QUERIES
        assert all(json.loads(line)[1] in {"ok", "empty"} for line in alone), alone
        with busy_machine():
            for _ in range(RUNS):
                assert answers(name, options, concurrency=AT_ONCE) == alone
