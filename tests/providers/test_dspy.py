"""The provider `dspy`, with retrievers and modules of the real package, if it is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.errors import ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.dspy import Dspy
from tests.providers.corpus import CHUNKS, TEXTS, query
from tests.providers.handbook import TEXTS as PAGES
from tests.providers.handbook import failure, score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from berryeval.data.records import Chunk

dspy = pytest.importorskip(
    "dspy", reason="dspy is 220 MB and conflicts with chromadb: pip install --group adapters"
)

PASSAGES = [text for text in TEXTS.values() if text]


def rank(text: str, passages: Sequence[str]) -> list[str]:
    words = set(text.lower().split())
    return sorted(passages, key=lambda one: -len(words & set(one.lower().split())))


class Manager:
    """A retrieval model as `dspy.configure(rm=...)` takes it."""

    def __init__(self, passages: Sequence[str], **fields: Any) -> None:
        self.passages, self.fields = passages, fields

    def __call__(self, text: str, k: int = 3) -> list[Any]:
        return [
            dspy.Prediction(long_text=one, **self.fields) for one in rank(text, self.passages)[:k]
        ]


@pytest.fixture
def retrieve() -> Iterator[Any]:
    """A `dspy.Retrieve` over the texts of the chunks."""
    dspy.settings.configure(rm=Manager(PASSAGES))
    yield dspy.Retrieve(k=2)
    dspy.settings.configure(rm=None)


def embed(texts: list[str]) -> Any:
    words = sorted({word for text in PASSAGES for word in text.lower().split()})
    rows = [[float(word in text.lower().split()) for word in words] for text in texts]
    return np.array(rows)


def test_retrieve_finds_chunks_by_their_texts(retrieve: Any) -> None:
    with build_provider(retrieve) as provider:
        provider.index(CHUNKS)
        hits = provider.search(query("rate limit requests"), 4)
    assert len(hits) == 4  # the evaluated depth, not the retriever's own
    assert (hits[0].id, hits[0].doc_id) == ("limits", "handbook")


def test_retrieve_over_the_documents_of_a_benchmark_scores(tmp_path: Path) -> None:
    """Parts of documents are matched as quotes; nothing scores 0 because ids are missing."""
    parts = [part for text in PAGES.values() for part in text.split("\n\n") if len(part) > 20]
    dspy.settings.configure(rm=Manager(parts))
    try:
        assert score(dspy.Retrieve(), tmp_path / "a") == 1.0
        assert score(dspy.Retrieve(), tmp_path / "b", quotes=True) == 1.0
    finally:
        dspy.settings.configure(rm=None)


def test_embeddings_are_a_retriever() -> None:
    with build_provider(dspy.retrievers.Embeddings(PASSAGES, embed, k=2)) as provider:
        provider.index(CHUNKS)
        hits = provider.search(query("rate limit requests"), 5)
    assert hits[0].id == "limits"
    assert len(hits) == 2


class Module(dspy.Module):  # type: ignore[misc,name-defined]
    """A module that returns passages with fields."""

    def __init__(self, **fields: Any) -> None:
        super().__init__()
        self.fields = fields

    def forward(self, question: str) -> Any:
        assert question
        return dspy.Prediction(**self.fields)


def test_a_module_is_a_retriever() -> None:
    provider = build_provider(Module(context=[TEXTS["retry"], TEXTS["pool"]], answer="So."))
    provider.index(CHUNKS)
    assert [hit.id for hit in provider.search(query("x"), 5)] == ["retry", "pool"]


def test_modules_are_called_asynchronously_and_by_argument() -> None:
    with Dspy(Module(passages=["a"], ids=["n"]), argument="question") as provider:
        assert [hit.id for hit in provider.search(query("x"), 5)] == ["n"]

    class Later(Module):
        async def aforward(self, question: str) -> Any:
            return self.forward(question)

    with Dspy(Later(passages=["a"], ids=[7]), asynchronous=True) as provider:
        assert [hit.id for hit in provider.search(query("x"), 5)] == ["7"]


def test_ids_and_scores_beside_the_passages_are_used() -> None:
    module = Module(passages=["a", "b"], pids=[4, 9], scores=[0.5, 0.25])
    hits = Dspy(module).search(query("x"), 5)
    assert [(hit.id, hit.score) for hit in hits] == [("4", 0.5), ("9", 0.25)]
    with pytest.raises(ProviderError, match="found 2 passages and 1 ids; expected one for each"):
        Dspy(Module(passages=["a", "b"], ids=["1"])).search(query("x"), 5)


class Colbert:
    """A callable that answers as `dspy.ColBERTv2` does."""

    def __call__(self, query: str, k: int = 10) -> list[dict[str, Any]]:
        assert query
        return [{"long_text": "a", "text": "a", "pid": 3, "score": 21.5}][:k]


def test_dicts_with_passages_are_read() -> None:
    hit = Dspy(Colbert()).search(query("x"), 5)[0]
    assert (hit.id, hit.score, hit.text) == ("3", 21.5, "a")


def test_a_function_builds_the_retriever_from_the_chunks() -> None:
    def build(chunks: Sequence[Chunk]) -> Any:
        return dspy.retrievers.Embeddings([chunk.text for chunk in chunks if chunk.text], embed)

    with Dspy(build) as provider:
        provider.index(CHUNKS)
        assert provider.search(query("rate limit requests"), 5)[0].id == "limits"


def test_a_text_in_several_documents_is_an_error_that_says_how() -> None:
    chunks = [*CHUNKS, type(CHUNKS[0])("copy", "other", TEXTS["retry"])]
    provider = Dspy(Module(passages=[TEXTS["retry"]]))
    provider.index(chunks)
    with pytest.raises(ProviderError, match=r"2 documents contain it .* return ids beside"):
        provider.search(query("x"), 5)


def test_texts_of_other_documents_are_never_a_silent_zero(tmp_path: Path) -> None:
    found = failure(Module(passages=["Something else entirely, from another corpus."]), tmp_path)
    assert "so there is no score: the hits have texts and no ids" in found
    assert "build the retriever from its chunks" in found


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"answer": "x"}, "expected passages in the answer, found 'answer'; name their field"),
        ({"passages": "x"}, "expected passages in the answer"),
        ({"passages": [3]}, "hit 1: expected a passage with a text"),
    ],
)
def test_an_answer_without_passages_is_reported(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ProviderError, match=message):
        Dspy(Module(**fields)).search(query("x"), 5)
