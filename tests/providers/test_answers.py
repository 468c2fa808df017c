"""Answers of other libraries: read if certain, otherwise refused with how to adapt them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import pytest

import berryeval as be
from berryeval.data.records import Hit, Query
from berryeval.errors import ProviderError
from berryeval.providers.answers import Answer, as_hits
from berryeval.providers.callable import Function
from tests.providers.corpus import CHUNKS


class Prediction:
    """Of the shape of dspy's: fields as attributes, iterable by field name, not a mapping."""

    def __init__(self, **fields: Any) -> None:
        self.__dict__["_store"] = fields

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__["_store"]:
            return self.__dict__["_store"][name]
        raise AttributeError(name)

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["_store"][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.__dict__["_store"])

    def __len__(self) -> int:
        return len(self.__dict__["_store"])

    def keys(self) -> list[str]:
        return list(self.__dict__["_store"])


@dataclass
class LangChainDocument:
    """A document without an id of its own."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class Node:
    """A node of LlamaIndex."""

    node_id: str


@dataclass
class NodeWithScore:
    """A hit of LlamaIndex."""

    node: Node
    score: float


@dataclass
class Response:
    """An answer of LlamaIndex."""

    source_nodes: list[Any]


class Frame:
    """Of the shape of a table: iterable by column name."""

    columns = ("id", "score")

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


@pytest.mark.parametrize(
    ("answer", "remedy"),
    [
        (Prediction(passages=["one", "two"]), r"Prediction.*answer\.passages"),
        (Prediction(answer="7", reasoning="because"), r"Prediction.*return a list of ids"),
        ({"documents": [LangChainDocument("text")]}, r"dict.*answer\['documents'\]"),
        ({"retriever": {"documents": []}}, r"dict.*'retriever'.*return a list of ids"),
        ({"query": "a", "result": "b", "source_documents": []}, r"answer\['source_documents'\]"),
        ({"id": "d1", "score": 0.5}, r"one hit.*list"),
        ({"d1": True}, r"\{id: score\}"),
        (Response([]), r"Response.*answer\.source_nodes"),
        (Frame(), r"Frame.*return a list of ids"),
        ([LangChainDocument("text")], r"hit 1: .*LangChainDocument.*metadata"),
        ([NodeWithScore(Node("n"), 0.5)], r"hit 1: .*NodeWithScore.*node\.node_id"),
        (
            [{"content": "text", "meta": {}}],
            r"hit 1 is not valid: has no 'id', only 'content', 'meta'",
        ),
        ("d1", r"expected a list of hits, found str"),
        (None, r"expected a list of hits, found NoneType"),
    ],
)
def test_an_answer_of_another_library_is_refused_with_a_remedy(answer: Any, remedy: str) -> None:
    with pytest.raises(ProviderError, match=remedy):
        as_hits(answer)


@pytest.mark.parametrize(
    "answer",
    [{"a": 2.0, "b": 1}, [("a", 2), ("b", 1)], ["a", "b"], (x for x in "ab"), {"a": 1}.keys()],
)
def test_an_answer_that_is_certain_is_read(answer: Any) -> None:
    assert as_hits(answer)[0].id == "a"


def test_no_hits_is_an_answer() -> None:
    assert as_hits([]) == as_hits({}) == []


def test_passages_are_not_ids() -> None:
    """A list of texts is refused; the same list of known ids, spaces or not, is read."""
    texts = [chunk.text for chunk in CHUNKS[:2]]
    answers: list[list[Any]] = [texts]
    provider = Function(lambda text, k: answers[0])  # noqa: ARG005
    with provider:
        provider.index(CHUNKS)
        with pytest.raises(ProviderError, match=r"hit 1.*looks like a text.*return ids"):
            provider.search(Query("q", "a"), 2)
        answers[0] = [CHUNKS[0].id, texts[1]]
        with pytest.raises(ProviderError, match=r"hit 2.*looks like a text"):
            provider.search(Query("q", "a"), 2)
        answers[0] = [Hit(CHUNKS[0].id), Hit("unknown id")]
        assert len(provider.search(Query("q", "a"), 2)) == 2


def test_an_id_with_spaces_that_the_benchmark_has_is_an_id() -> None:
    name = "How to set up a new server for the first time"
    provider = Function(lambda text, k: [name])  # noqa: ARG005
    with provider:
        provider.index([replace(CHUNKS[0], id=name)])
        assert provider.search(Query("q", "a"), 2)[0].text == CHUNKS[0].text


def test_a_prediction_fails_its_query_and_scores_nothing() -> None:
    """The outcome is "error" and says what to return, as in `eval`."""

    def retrieve(text: str, k: int = 3) -> Prediction:
        return Prediction(passages=[text] * k)

    result = be.run_benchmark("rag-template", [retrieve], ["RR"], error_budget=1.0)
    one = result.providers[0]
    assert one.outcomes == {"error": 10}
    assert "answer.passages" in one.record.answers[0].error


@pytest.mark.parametrize("answer", [{"a", "b"}, frozenset(), {("a", 1.0), ("b", 0.5)}])
def test_a_set_has_no_order_and_is_rejected(answer: Any) -> None:
    for read in (as_hits, Answer):
        with pytest.raises(ProviderError, match=r"found (frozen)?set, which has no order; return"):
            read(answer)
    with pytest.raises(ProviderError, match="which has no order"):
        as_hits(SimpleNamespace(hits=answer))
