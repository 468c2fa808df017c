"""The embedder `wordllama`: long texts in little memory, and unchanged vectors."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from berryeval.benchmarks import load_benchmark
from berryeval.chunkers import parse_chunker
from berryeval.providers.dense import Dense
from berryeval.providers.embedders.wordllama import WordLlama

LONG = """
import resource
from berryeval.providers.embedders.wordllama import WordLlama
embedder = WordLlama()
embedder.embed(["warm"])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
embedder.embed(["many words " * 180_000, "x" * 500_000, *["short"] * 63])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_vectors_match_the_package_to_the_byte() -> None:
    benchmark = load_benchmark("technical-docs")
    texts = [document.text for document in benchmark.documents]
    texts += ["", *(query.text for query in benchmark.queries), "ünï\u20ac 😀"]
    embedder = WordLlama()
    made = embedder.embed(texts)
    assert made.dtype == np.float32
    for text, vector in zip(texts, made, strict=True):
        np.testing.assert_array_equal(vector, embedder._loaded.embed([text])[0])


def test_capitals_are_embedded_in_lower_case() -> None:
    texts = ["how do refresh tokens expire?", "grüsse"]
    embedder, cased = WordLlama(), WordLlama(lower_capitals=False)
    shouted = [text.upper() for text in texts]
    np.testing.assert_array_equal(embedder.embed(shouted), cased.embed(texts))
    mixed = ["How does the API expire?", "Grüsse"]
    np.testing.assert_array_equal(embedder.embed(mixed), cased.embed(mixed))
    assert not np.array_equal(cased.embed(shouted), cased.embed(texts))
    assert embedder.identity != cased.identity


def test_a_query_in_capitals_finds_as_much_as_in_lower_case() -> None:
    benchmark, chunker = load_benchmark("technical-docs"), parse_chunker("section")
    provider = Dense()
    provider.index([chunk for one in benchmark.documents for chunk in chunker.chunk(one)])
    shouted, plain = (
        [replace(query, text=change(query.text)) for query in benchmark.queries]
        for change in (str.upper, str.lower)
    )
    assert provider.search_many(shouted, 10) == provider.search_many(plain, 10)


@pytest.mark.parametrize("text", ["some words that repeat ", "OneLongWordWithoutBlanks", "ünï 😀 "])
def test_the_vector_of_a_long_text_is_the_mean_of_its_pieces(text: str) -> None:
    embedder = WordLlama()
    long = text * (100_000 // len(text.encode()))
    vector, expected = embedder.embed([long])[0], embedder._loaded.embed([long])[0]
    cosine = vector @ expected / np.linalg.norm(vector) / np.linalg.norm(expected)
    assert cosine == pytest.approx(1.0, abs=1e-4)
    assert np.linalg.norm(vector) == pytest.approx(np.linalg.norm(expected), rel=1e-2)


def test_empty_and_blank_texts_are_embedded() -> None:
    embedder = WordLlama()
    assert embedder.embed([]).shape == (0, 256)
    assert np.isfinite(embedder.embed([" " * 100_000])).all()


@pytest.mark.skipif(sys.platform == "win32", reason="memory is not told there")
def test_a_very_long_text_takes_little_memory() -> None:
    done = subprocess.run([sys.executable, "-c", LONG], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 200_000 * (1024 if sys.platform == "darwin" else 1)
