"""The provider `langchain`, with retrievers of the real package."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.retrievers import BaseRetriever
from langchain_core.vectorstores import InMemoryVectorStore

from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.dense import Dense
from berryeval.providers.embedders.base import build_embedder, embed_query, embed_texts
from berryeval.providers.retrievers import LangChain
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.data.records import Chunk

ODD = ["", "a\x00b", "ünï", "{k} %s 'quoted'"]


class ByWord(BaseRetriever):
    """A retriever of the documents that contain a word of the query."""

    documents: list[Document]

    def _get_relevant_documents(
        self, query: str, *, run_manager: Any, k: int = 9
    ) -> list[Document]:
        assert run_manager
        words = query.lower().split()
        found = [d for d in self.documents if any(w in d.page_content.lower() for w in words)]
        return found[:k]

    async def _aget_relevant_documents(self, query: str, *, run_manager: Any) -> list[Document]:
        assert run_manager
        return self._get_relevant_documents(query, run_manager=run_manager)[::-1]


class Vectors(Embeddings):
    """Our embeddings with LangChain's interface."""

    def __init__(self) -> None:
        self.embedder = build_embedder("wordllama")

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        rows: list[list[float]] = embed_texts(self.embedder, texts).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        row: list[float] = embed_query(self.embedder, text).tolist()
        return row


def documents(chunks: Sequence[Chunk] = CHUNKS) -> list[Document]:
    return [Document(id=c.id, page_content=c.text, metadata={"source": c.doc_id}) for c in chunks]


def by_word(chunks: Sequence[Chunk]) -> ByWord:
    return ByWord(documents=documents(chunks))


def test_documents_become_hits() -> None:
    with build_provider(ByWord(documents=documents())) as provider:
        provider.index(CHUNKS)
        hits = provider.search(query("thirty days"), 5)
    assert [hit.id for hit in hits] == ["tokens", "backup"]
    assert (hits[0].text, hits[0].doc_id, hits[0].section) == (
        CHUNKS[0].text, "handbook", CHUNKS[0].section,
    )  # fmt: skip


def test_a_vector_store_finds_the_same_as_dense() -> None:
    def made(chunks: Sequence[Chunk]) -> Any:
        store = InMemoryVectorStore(Vectors())
        store.add_documents(documents(chunks))
        return store.as_retriever()

    chunks = [chunk for chunk in CHUNKS if chunk.text]
    plain = [type(chunk)(chunk.id, chunk.doc_id, chunk.text) for chunk in chunks]
    dense = Dense()
    dense.index(plain)
    with LangChain(made, k_argument="k") as provider:
        provider.index(plain)
        for text in ("restoring lost data from a copy", "rate limit"):
            expected = [hit.id for hit in dense.search(query(text), 5)]
            assert [hit.id for hit in provider.search(query(text), 5)] == expected


def test_ainvoke_is_called_on_request() -> None:
    with (
        LangChain(by_word, asynchronous=True) as provider,
        ThreadPoolExecutor(4) as threads,
    ):
        provider.index(CHUNKS)
        jobs = [threads.submit(provider.search, query("thirty"), 5) for _ in range(20)]
        found = [[hit.id for hit in job.result()] for job in jobs]
    assert found == [["backup", "tokens"]] * 20


def test_id_score_and_position_are_read_from_metadata() -> None:
    metadata = {"key": 7, "relevance": 0.25, "file": "f", "start_index": 10}
    retriever = ByWord(documents=[Document(page_content="some words", metadata=metadata)])
    provider = LangChain(retriever, id="key", score="relevance", doc_id="file")
    hit = provider.search(query("words"), 1)[0]
    assert (hit.id, hit.score, hit.doc_id, hit.start, hit.end) == ("7", 0.25, "f", 10, 20)
    assert hit.metadata == metadata


@pytest.mark.parametrize("text", ODD)
def test_unusual_texts_are_passed_on_unchanged(text: str) -> None:
    assert len(LangChain(ByWord(documents=documents())).search(query(text), 3)) <= 6


def test_a_document_without_an_id_is_reported() -> None:
    retriever = ByWord(documents=[Document(page_content="words", metadata={"name": "n"})])
    with pytest.raises(
        ProviderError, match=r"hit 1 has no id at metadata\['id'\]; the metadata has 'name'"
    ):
        LangChain(retriever).search(query("words"), 1)


class Odd:
    """A retriever that returns anything."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def invoke(self, _: str) -> Any:
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "langchain: expected a list, found NoneType"),
        ("text", "langchain: expected a list, found str"),
        ([3], "langchain: hit 1: expected a Document, found int 3"),
        (
            [Document(id="a", page_content="t", metadata={"score": "x"})],
            "a finite number, found str",
        ),
    ],
)
def test_an_answer_that_is_not_a_document_is_reported(answer: Any, message: str) -> None:
    with pytest.raises(ProviderError, match=message):
        LangChain(Odd(answer)).search(query("x"), 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "retriever of langchain is missing; set it to 'module:object'"),
        ({"retriever": 3}, "expected an object with 'invoke', or a function that builds one"),
        ({"retriever": "no_such_module:r"}, "retriever of langchain: there is no module"),
    ],
)
def test_an_object_that_is_not_a_retriever_is_rejected(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build_provider("langchain", options)


def test_a_function_must_return_a_retriever() -> None:
    provider = LangChain(len)
    with pytest.raises(ProviderError, match="there is no retriever yet"):
        provider.search(query("x"), 1)
    with pytest.raises(ProviderError, match="must return an object with 'invoke', found int"):
        provider.index(CHUNKS)


def test_a_document_without_a_score_among_scored_ones_is_rejected() -> None:
    found = [Document("x", id="a", metadata={"score": 0.5}), Document("y", id="b")]
    with pytest.raises(ProviderError, match=r"langchain: hit 2 \('b'\) has no score but others"):
        LangChain(Odd(found)).search(query("x"), 3)


def test_a_text_in_several_documents_is_an_error_that_says_how() -> None:
    """Documents with a text alone are matched by it, if it is in one document only."""
    text = CHUNKS[0].text
    provider = LangChain(ByWord(documents=[Document(page_content=text)]))
    provider.index(CHUNKS)
    word = text.split()[0]
    assert provider.search(query(word), 5)[0].id == CHUNKS[0].id
    provider.index([*CHUNKS, type(CHUNKS[0])("copy", "other", text)])
    with pytest.raises(ProviderError, match=r"2 documents contain it .*; return documents with an"):
        provider.search(query(word), 5)
