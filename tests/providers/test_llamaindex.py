"""The provider `llamaindex`, with stand-ins for odd answers, and with the classes of the package.

The stand-ins have the attributes of `NodeWithScore`, `TextNode` and `BaseRetriever` that the
provider reads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.catalogue import build_provider
from berryeval.providers.retrievers import LlamaIndex
from tests.providers.corpus import CHUNKS, query


@dataclass
class Node:
    """The part of a `TextNode` that is read."""

    node_id: str
    text: str = ""
    ref_doc_id: str | None = None
    start_char_idx: int | None = None
    end_char_idx: int | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Scored:
    """The part of a `NodeWithScore` that is read."""

    node: Any
    score: float | None = None


class Retriever:
    """A retriever with a fixed answer; `aretrieve` reverses it."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def retrieve(self, _: str) -> Any:
        return self.answer

    async def aretrieve(self, _: str) -> Any:
        return self.answer[::-1]


NODES = [
    Scored(Node("tokens", "words", "d", 3, 8, {"key": "k1", "file": "f"}), 0.75),
    Scored(Node("other"), 0.0),
]


def test_nodes_become_hits() -> None:
    with build_provider(Retriever(NODES)) as provider:
        provider.index(CHUNKS)
        first, second = provider.search(query("x"), 5)
    assert (first.id, first.score, first.text, first.doc_id) == (
        "tokens", 0.75, "words", "handbook",
    )  # fmt: skip
    assert (first.start, first.end, first.section) == (3, 8, CHUNKS[0].section)
    assert (second.id, second.score, second.doc_id) == ("other", 0.0, "")


def test_id_and_document_are_read_from_metadata() -> None:
    hit = LlamaIndex(Retriever(NODES[:1]), id="key", doc_id="file").search(query("x"), 5)[0]
    assert (hit.id, hit.doc_id) == ("k1", "f")


def test_aretrieve_is_called_on_request() -> None:
    with LlamaIndex(lambda _: Retriever(NODES), asynchronous=True) as provider:
        provider.index(CHUNKS)
        assert [hit.id for hit in provider.search(query("x"), 5)] == ["other", "tokens"]


@pytest.mark.parametrize(
    ("answer", "options", "message"),
    [
        (None, {}, "llamaindex: expected a list, found NoneType"),
        ([3], {}, "llamaindex: hit 1: expected a NodeWithScore, found int 3"),
        ([Scored(None)], {}, "hit 1: expected a NodeWithScore"),
        ([Scored(Node("a"), float("nan"))], {}, "a finite number, found float nan"),
        (
            [Scored(Node("a"))],
            {"id": "key"},
            r"no id at metadata\['key'\]; the metadata has nothing",
        ),
    ],
)
def test_an_answer_that_is_not_a_node_is_reported(
    answer: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ProviderError, match=message):
        LlamaIndex(Retriever(answer), **options).search(query("x"), 1)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "retriever of llamaindex is missing"),
        ({"retriever": object()}, "expected an object with 'retrieve'"),
    ],
)
def test_an_object_that_is_not_a_retriever_is_rejected(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build_provider("llama-index", options)


def test_the_classes_of_the_package_are_read() -> None:
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import (
        NodeRelationship,
        NodeWithScore,
        QueryBundle,
        RelatedNodeInfo,
        TextNode,
    )

    class Fixed(BaseRetriever):
        def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
            node = TextNode(
                id_="n", text=query_bundle.query_str, start_char_idx=1, end_char_idx=4,
                relationships={NodeRelationship.SOURCE: RelatedNodeInfo(node_id="d")},
            )  # fmt: skip
            return [NodeWithScore(node=node, score=0.5)]

    for asynchronous in (False, True):
        with LlamaIndex(Fixed(), asynchronous=asynchronous) as provider:
            hit = provider.search(query("abc"), 1)[0]
        assert (hit.id, hit.score, hit.text, hit.doc_id) == ("n", 0.5, "abc", "d")
        assert (hit.start, hit.end) == (1, 4)


def test_a_node_without_a_score_among_scored_ones_is_rejected() -> None:
    some = LlamaIndex(Retriever([Scored(Node("a"), 0.5), Scored(Node("b"), None)]))
    with pytest.raises(ProviderError, match=r"llamaindex: hit 2 \('b'\) has no score but others"):
        some.search(query("x"), 3)
    none = LlamaIndex(Retriever([Scored(Node("a"), None), Scored(Node("b"), None)]))
    assert [hit.id for hit in none.search(query("x"), 3)] == ["a", "b"]
