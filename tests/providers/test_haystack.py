"""The provider `haystack`, with components, stores and pipelines of the real package."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from haystack import Document, Pipeline, SuperComponent, component
from haystack.components.builders import PromptBuilder
from haystack.components.joiners import DocumentJoiner
from haystack.components.preprocessors import DocumentSplitter
from haystack.components.retrievers.in_memory import (
    InMemoryBM25Retriever,
    InMemoryEmbeddingRetriever,
)
from haystack.document_stores.in_memory import InMemoryDocumentStore

from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.haystack import Haystack
from tests.providers.corpus import CHUNKS, query
from tests.providers.handbook import TEXTS, score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from berryeval.data.records import Chunk


def fill(documents: Sequence[Document]) -> InMemoryDocumentStore:
    store = InMemoryDocumentStore()
    store.write_documents(list(documents))
    return store


def from_files() -> list[Document]:
    """Return documents as converters make them: ids are hashes, `file_path` is the source."""
    return [
        Document(content=text, meta={"file_path": f"/data/docs/{name}.md"})
        for name, text in TEXTS.items()
    ]


def of_chunks(chunks: Sequence[Chunk] = CHUNKS) -> list[Document]:
    return [Document(id=chunk.id, content=chunk.text) for chunk in chunks]


@component
class Embedder:
    """A text embedder without a model: the lengths of the words."""

    @component.output_types(embedding=list[float])
    def run(self, text: str) -> dict[str, Any]:
        return {"embedding": [float(len(text)), 1.0]}


@component
class Newest:
    """A ranker that needs more than a query and documents."""

    @component.output_types(documents=list[Document])
    def run(self, query: str, documents: list[Document], year: int) -> dict[str, Any]:
        assert query
        assert year
        return {"documents": documents[::-1]}


def test_a_retriever_over_files_needs_no_options(tmp_path: Path) -> None:
    """Documents with hashes as ids are matched by the ends of their file paths."""
    assert score(InMemoryBM25Retriever(fill(from_files())), tmp_path) == 1.0


def test_split_documents_are_matched_with_their_positions(tmp_path: Path) -> None:
    """A quote is found in the piece that `split_idx_start` places over it."""
    pieces = DocumentSplitter(split_by="passage", split_length=1).run(from_files())["documents"]
    provider = Haystack(InMemoryBM25Retriever(fill(pieces)))
    assert score(provider, tmp_path, quotes=True) == 1.0
    hit = provider.search(query("refresh tokens revoked"), 1)[0]
    assert hit.start is not None
    assert TEXTS["guides/tokens"][hit.start : hit.end] == hit.text


def test_pieces_of_documents_with_the_ids_of_the_benchmark_name_their_parent() -> None:
    whole = [Document(id="handbook", content="\n\n".join(chunk.text for chunk in CHUNKS))]
    pieces = DocumentSplitter(split_by="passage", split_length=1).run(whole)["documents"]
    with build_provider(InMemoryBM25Retriever(fill(pieces))) as provider:
        provider.index(CHUNKS)
        hit = provider.search(query("rate limit"), 1)[0]
    assert (hit.doc_id, hit.id) == ("handbook", "limits")  # it has exactly the text of this chunk


def test_documents_become_hits() -> None:
    with build_provider("haystack", {"retriever": InMemoryBM25Retriever(fill(of_chunks()))}) as one:
        one.index(CHUNKS)
        hits = one.search(query("thirty days"), 2)
    assert {hit.id for hit in hits} == {"tokens", "backup"}
    assert hits[0].score > 0
    assert hits[0].section[0] == "Handbook"


def test_top_k_is_the_evaluated_depth() -> None:
    text = "tokens limit backups retries"
    provider = Haystack(InMemoryBM25Retriever(fill(of_chunks()), top_k=1))
    assert len(provider.search(query(text), 4)) == 4
    fixed = Haystack(InMemoryBM25Retriever(fill(of_chunks())), inputs={"top_k": 2})
    assert len(fixed.search(query(text), 4)) == 2


def test_run_async_is_called_on_request() -> None:
    with Haystack(InMemoryBM25Retriever(fill(of_chunks())), asynchronous=True) as provider:
        assert provider.search(query("rate limit"), 1)[0].id == "limits"


def test_a_function_builds_the_retriever_from_the_chunks() -> None:
    with Haystack(lambda chunks: InMemoryBM25Retriever(fill(of_chunks(chunks)))) as provider:
        provider.index(CHUNKS)
        assert provider.search(query("rate limit"), 1)[0].id == "limits"


def hybrid(*, with_answer: bool = False) -> Pipeline:
    """Return two retrievers, joined, and perhaps a prompt made of their documents."""
    store = fill([Document(id=d.id, content=d.content, embedding=[9.0, 1.0]) for d in of_chunks()])
    pipeline = Pipeline()
    pipeline.add_component("embedder", Embedder())
    pipeline.add_component("dense", InMemoryEmbeddingRetriever(store))
    pipeline.add_component("words", InMemoryBM25Retriever(store))
    pipeline.add_component("joined", DocumentJoiner(join_mode="reciprocal_rank_fusion"))
    pipeline.connect("embedder.embedding", "dense.query_embedding")
    pipeline.connect("dense", "joined")
    pipeline.connect("words", "joined")
    if with_answer:
        pipeline.add_component("prompt", PromptBuilder("{{ question }}: {{ documents }}"))
        pipeline.connect("joined.documents", "prompt.documents")
    return pipeline


@pytest.mark.parametrize("with_answer", [False, True])
def test_a_pipeline_needs_no_options(with_answer: bool) -> None:
    """The query goes to all open inputs for it; documents are those of the last component."""
    with build_provider(hybrid(with_answer=with_answer)) as provider:
        provider.index(CHUNKS)
        assert len(provider.search(query("rate limit"), 3)) == 3
        assert provider.search(query("rate limit"), 3)[0].id == "limits"


def test_a_component_of_a_pipeline_can_be_named() -> None:
    """Only the named retriever gives documents."""
    provider = Haystack(hybrid(), documents="words")
    assert [hit.id for hit in provider.search(query("rate limit"), 1)] == ["limits"]


def test_a_super_component_is_a_component() -> None:
    with build_provider(SuperComponent(hybrid())) as provider:
        assert len(provider.search(query("rate limit"), 3)) == 3


def test_two_last_components_are_ambiguous() -> None:
    pipeline = Pipeline()
    pipeline.add_component("a", InMemoryBM25Retriever(InMemoryDocumentStore()))
    pipeline.add_component("b", InMemoryBM25Retriever(InMemoryDocumentStore()))
    message = "expected one last component with documents, there are a, b; name the output with"
    with pytest.raises(ConfigurationError, match=message):
        build_provider(pipeline)


def test_other_inputs_are_required_and_given() -> None:
    pipeline = Pipeline()
    pipeline.add_component("words", InMemoryBM25Retriever(fill(of_chunks())))
    pipeline.add_component("newest", Newest())
    pipeline.connect("words", "newest.documents")
    with pytest.raises(ConfigurationError, match=r"the pipeline needs the input 'newest\.year'"):
        Haystack(pipeline)
    provider = Haystack(pipeline, inputs={"newest": {"year": 2026}, "words": {"top_k": 2}})
    assert {hit.id for hit in provider.search(query("thirty days"), 5)} == {"tokens", "backup"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"query": "word.query"}, r"no open input 'word\.query'; did you mean 'words\.query'"),
        ({"documents": "word"}, r"no output word\.documents; did you mean 'words\.documents'"),
        ({"documents": "embedder.embeddings"}, r"did you mean 'embedder\.embedding'"),
    ],
)
def test_unknown_names_are_rejected_before_anything_runs(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        Haystack(hybrid(), **options)


def test_a_retriever_of_embeddings_alone_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match="needs a Pipeline with a text embedder before it"):
        build_provider(InMemoryEmbeddingRetriever(InMemoryDocumentStore()))


class Odd:
    """A component without declared outputs."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def run(self, query: str, top_k: int) -> Any:  # noqa: ARG002 - as retrievers are
        return self.answer


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "expected documents at 'documents'"),
        ({"documents": None}, "expected documents at 'documents'"),
        ({"documents": [3]}, "haystack: hit 1: expected a Document, found int 3"),
    ],
)
def test_an_answer_without_documents_is_reported(answer: Any, message: str) -> None:
    with pytest.raises(ProviderError, match=message):
        Haystack(Odd(answer)).search(query("x"), 1)


def test_any_component_with_run_is_called() -> None:
    provider = Haystack(Odd({"documents": [Document(id="a", content="b")]}))
    assert [hit.id for hit in provider.search(query("x"), 1)] == ["a"]
