"""Compare two LangChain retrievers whose chunks differ in size, by one set of judgments.

The judgments name sections of documents, not chunks, so they stay true for any splitter. The
retrievers are ordinary LangChain code: documents with a `source`, a text splitter, a vector store.
Needs the extras dense and langchain, and langchain-text-splitters.
"""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import InMemoryVectorStore, VectorStoreRetriever
from langchain_text_splitters import RecursiveCharacterTextSplitter

import berryeval as be
from berryeval.providers import EMBEDDERS

BENCHMARK = be.load_benchmark("technical-docs")


class SmallModel(Embeddings):
    """A small embedding model that is inside its package: nothing is downloaded."""

    def __init__(self) -> None:
        self._model = EMBEDDERS.get("wordllama")()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Embed many texts."""
        rows: list[list[float]] = self._model.embed(texts).tolist()
        return rows

    def embed_query(self, text: str) -> list[float]:
        """Embed one text."""
        return self.embed_documents([text])[0]


def build_retriever(size: int) -> VectorStoreRetriever:
    """Split the documents into chunks of at most `size` characters, and index them."""
    documents = [Document(one.text, metadata={"source": one.id}) for one in BENCHMARK.documents]
    splitter = RecursiveCharacterTextSplitter(
        chunk_size=size, chunk_overlap=0, add_start_index=True
    )
    store = InMemoryVectorStore.from_documents(splitter.split_documents(documents), SmallModel())
    return store.as_retriever(search_kwargs={"k": 10})


def main() -> None:
    """Ask both retrievers every question, and say which is better and how sure that is."""
    retrievers = [
        {"type": "langchain", "name": name, "options": {"retriever": build_retriever(size)}}
        for name, size in (("chunks of 300", 300), ("chunks of 1200", 1200))
    ]
    result = be.run_benchmark(BENCHMARK, retrievers, ["nDCG@10", "R@10", "RR"], k=10)
    tables = {found.name: found.scores for found in result.providers}
    for name, scores in tables.items():
        print(name, {metric: round(mean, 3) for metric, mean in scores.mean.items()})
    for sentence in be.compare(tables, baseline="chunks of 300").sentences:
        print(sentence)


if __name__ == "__main__":
    main()
