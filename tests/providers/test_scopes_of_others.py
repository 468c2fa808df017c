"""Scopes for systems outside of this program: functions, endpoints, retrievers and run files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data import Query
from berryeval.errors import ConfigurationError
from berryeval.providers.catalogue import build_provider
from tests.providers.loopback import loopback
from tests.providers.test_llamaindex import Node, Scored
from tests.providers.test_scopes import ANN, BEN, CHUNKS, TEXT, owners

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from berryeval.data import Chunk

FREE = Query("q3", TEXT)


def rank(scope: Any, k: int) -> list[str]:
    """Return the ids of the first chunks in a scope, as the search of a user would."""
    inside = [
        chunk.id
        for chunk in reversed(CHUNKS)
        if not scope or chunk.metadata["conversation"] in scope["conversation"]
    ]
    return inside[:k]


def test_a_function_gets_the_scope_if_it_has_such_a_parameter() -> None:
    def search(_: str, k: int, scope: Any) -> list[str]:
        return rank(scope, k)

    def with_default(_: str, k: int, *, scope: Any = None) -> list[str]:
        return rank(scope, k)

    def plain(_: str, k: int) -> list[str]:
        return rank({}, k)

    for function, expected in ((search, "ann"), (with_default, "ann"), (plain, "ben")):
        with build_provider(function) as provider:
            provider.index(CHUNKS)
            assert owners(provider.search(ANN, 5)) == {expected}
            assert owners(provider.search(FREE, 5)) == {"ben"}


def test_a_function_of_a_batch_gets_a_scope_for_each_text() -> None:
    def search(texts: list[str], k: int, scope: list[Any]) -> list[list[str]]:
        assert texts == [TEXT] * len(scope)
        return [rank(one, k) for one in scope]

    provider: Any
    with build_provider("callable", {"function": search, "batch": True}) as provider:
        provider.index(CHUNKS)
        assert owners(provider.search(ANN, 5)) == {"ann"}
        found = provider.search_many([ANN, BEN, FREE], 5)
        assert [owners(hits) for hits in found] == [{"ann"}, {"ben"}, {"ben"}]


def test_an_object_gets_the_scope_with_the_query() -> None:
    class Search:
        def search(self, query: Query, k: int) -> list[str]:
            return rank(query.scope, k)

    with build_provider(Search()) as provider:
        assert owners(provider.search(ANN, 5)) == {"ann"}


def test_an_endpoint_gets_the_scope_in_its_templates() -> None:
    options: dict[str, Any] = {
        "params": {"tenant": "{scope.conversation}"},
        "headers": {"X-Scope": "{scope.conversation}"},
        "body": {
            "query": "{query}", "filter": {"conversation": "{scope.conversation}"},
            "all": "{scope}", "text": "in {scope.conversation}!", "{scope}": "{scope.other}",
        },
    }  # fmt: skip
    both = Query("q", "{scope}", scope={"conversation": ["ann", "ben"]})
    with (
        loopback(lambda _: {"hits": []}) as server,
        build_provider(
            "http", {"url": f"{server.url}/s/{{scope.conversation}}", **options}
        ) as provider,
    ):
        for query in (ANN, both, FREE):
            provider.search(query, 5)
    one, several, free = server.asked
    assert (one.path, one.params, one.headers["x-scope"]) == ("/s/ann", {"tenant": ["ann"]}, "ann")
    assert one.body == {
        "query": TEXT, "filter": {"conversation": "ann"}, "all": {"conversation": "ann"},
        "text": "in ann!", "{scope}": None,
    }  # fmt: skip
    assert (several.path, several.params["tenant"]) == ("/s/ann%2Cben", ["ann", "ben"])
    assert several.body["filter"] == {"conversation": ["ann", "ben"]}
    assert (several.body["query"], several.body["text"]) == ("{scope}", "in ann,ben!")
    assert (free.path, free.params, free.body["all"]) == ("/s/", {}, {})
    assert free.body["filter"] == {"conversation": None}


def test_the_scope_alone_does_not_tell_queries_apart() -> None:
    with pytest.raises(ConfigurationError, match=r"put \{query\} into"):
        build_provider("http", {"url": "http://localhost", "body": {"x": "{scope.conversation}"}})


def test_a_run_file_is_taken_as_it_is_unless_told_otherwise(tmp_path: Path) -> None:
    lines = (
        f"{query} Q0 {who}-{n} {place} {100 - place} other\n"
        for query in ("q1", "q3")
        for place, (who, n) in enumerate([*(("ben", n) for n in range(8)), ("ann", 1), ("ann", 2)])
    )
    (tmp_path / "run.trec").write_text("".join(lines), "utf-8")
    file = {"path": str(tmp_path / "run.trec")}
    with (
        build_provider("run-file", file) as whole,
        build_provider("run-file", {**file, "in_scope": True}) as limited,
    ):
        for provider in (whole, limited):
            provider.index(CHUNKS)
            assert len(provider.search(FREE, 5)) == 5
        assert owners(whole.search(ANN, 5)) == {"ben"}
        assert [hit.id for hit in limited.search(ANN, 5)] == ["ann-1", "ann-2"]


class Documents:
    """A LangChain retriever that takes a filter with the query."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks

    def invoke(self, _: str, **options: Any) -> list[Any]:
        from langchain_core.documents import Document

        wanted = options.get("filter") or {}
        self.last = wanted
        allowed = wanted.get("conversation", ("ann", "ben"))
        if isinstance(allowed, dict):
            allowed = allowed["$in"]
        return [
            Document(id=chunk.id, page_content=chunk.text, metadata=dict(chunk.metadata))
            for chunk in reversed(self.chunks)
            if chunk.metadata["conversation"] in allowed
        ][: options.get("k", 5)]

    ainvoke = invoke


@dataclass
class Nodes:
    """A LlamaIndex retriever, which takes nothing but the text."""

    chunks: Sequence[Chunk]

    def retrieve(self, _: str) -> list[Any]:
        return [Scored(Node(chunk.id, chunk.text), 0.5) for chunk in self.chunks[-5:]]

    aretrieve = retrieve


def test_langchain_passes_the_scope_as_a_filter() -> None:
    retriever = Documents(CHUNKS)
    options = {"retriever": retriever, "scope_argument": "filter"}
    with build_provider("langchain", options) as provider:
        provider.index(CHUNKS)
        assert owners(provider.search(ANN, 5)) == {"ann"}
        assert retriever.last == {"conversation": "ann"}
        both = Query("q", TEXT, scope={"conversation": ["ann", "other"]})
        assert owners(provider.search(both, 5)) == {"ann"}
        assert retriever.last == {"conversation": {"$in": ["ann", "other"]}}
        assert owners(provider.search(FREE, 5)) == {"ben"}
        assert retriever.last == {}


@pytest.mark.parametrize(("name", "kind"), [("langchain", Documents), ("llamaindex", Nodes)])
@pytest.mark.parametrize("told", [True, False])
def test_a_function_with_a_scope_builds_a_retriever_for_each(
    name: str, kind: Any, told: bool
) -> None:
    built: list[Any] = []

    def build(chunks: Sequence[Chunk], scope: Any) -> Any:
        built.append((len(chunks), dict(scope)))
        return kind(chunks)

    with build_provider(name, {"retriever": build}) as provider:
        if told:
            provider.expect([ANN, BEN, ANN, FREE])
        provider.index(CHUNKS)
        assert len(built) == (3 if told else 0)
        for _ in range(2):
            assert owners(provider.search(ANN, 5)) == {"ann"}
            assert owners(provider.search(BEN, 5)) == {"ben"}
            assert owners(provider.search(FREE, 5)) == {"ben"}
    assert sorted(built, key=str) == [
        (20, {"conversation": "ann"}), (60, {"conversation": "ben"}), (80, {}),
    ]  # fmt: skip
