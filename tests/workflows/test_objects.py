"""Custom objects as providers of a run: passed directly, entered and left, registered."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import pytest

import berryeval as be
from berryeval.data.records import Query
from berryeval.errors import ConfigurationError
from berryeval.providers.base import Provider
from berryeval.providers.catalogue import INTRODUCTION, PROVIDERS, build_provider, describe_provider

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from typing_extensions import Self

    from berryeval.data.records import Chunk, Hit


class Duck:
    """An object with `index` and `search` only."""

    def __init__(self) -> None:
        self.chunks: Sequence[Chunk] = ()

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Keep the chunks."""
        self.chunks = chunks

    def search(self, query: Any, k: int) -> list[str]:
        """Return the first chunks."""
        assert query.text
        return [chunk.id for chunk in self.chunks[:k]]


class OfTexts(Duck):
    """An object that searches for texts."""

    def search(self, text: Any, k: int) -> list[str]:
        """Return the first chunks."""
        assert text.lower()
        return [chunk.id for chunk in self.chunks[:k]]


class Later(Duck):
    """An object with asynchronous methods."""

    async def index(self, chunks: Sequence[Chunk]) -> None:  # type: ignore[override]
        """Keep the chunks."""
        self.chunks = chunks

    async def search(self, query: Query, k: int) -> list[str]:  # type: ignore[override]
        """Return the first chunks."""
        return super().search(query, k)


class Together(Duck):
    """A named object that answers several queries at once."""

    name = "in batches"

    def search_many(self, queries: Sequence[Query], k: int) -> list[list[str]]:
        """Return the first chunks for each query."""
        return [super(Together, self).search(query, k) for query in queries]


class Whole(Provider):
    """A subclass of the package's provider."""

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the first chunks."""
        assert query.text
        return [][:k]


class Retriever:
    """A retriever like those of LangChain."""

    def invoke(self, text: str) -> list[Any]:
        """Return nothing."""
        return [text][:0]

    async def ainvoke(self, text: str) -> list[Any]:
        """Return nothing."""
        return self.invoke(text)


@pytest.mark.parametrize(
    ("made", "name"),
    [
        (Duck, "Duck"),
        (OfTexts, "OfTexts"),
        (Later, "Later"),
        (Together, "in batches"),
        (Whole, "Whole"),
        (Retriever, "Retriever"),
        (lambda: build_provider("bm25"), "Bm25"),
    ],
)
def test_an_object_is_a_provider(made: Any, name: str, tmp_path: Path) -> None:
    """The same folder resumes the run of the same object."""
    result = be.run_benchmark("rag-template", [made()], ["RR"], folder=tmp_path / "run", batch=4)
    (one,) = result.providers
    assert one.name == name
    assert sum(one.outcomes.get(outcome, 0) for outcome in ("ok", "empty")) == 10
    again = be.run_benchmark("rag-template", made(), ["RR"], folder=tmp_path / "run", batch=4)
    assert again[name].scores == one.scores
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    (spec,) = manifest["plan"]["providers"]
    assert list(spec["options"].values()) == [f"<{type(made()).__name__}>"]


def test_an_object_scores_like_the_provider_it_wraps() -> None:
    inner = build_provider("bm25")

    class Handing:
        index = staticmethod(inner.index)

        def search(self, query: Query, k: int) -> list[str]:
            return [hit.id for hit in inner.search(query, k)]

    providers = {"mine": Handing(), "theirs": "bm25", "given": {"type": "bm25"}}
    result = be.run_benchmark("rag-template", providers, ["nDCG@10", "RR"])
    assert [one.name for one in result.providers] == ["mine", "theirs", "given"]
    means = [dict(one.scores.mean) for one in result.providers if one.scores]
    assert means[0] == means[1] == means[2]
    assert means[0]["RR"] > 0


def test_a_class_in_place_of_an_object_is_rejected() -> None:
    for given in (Duck, [Whole], {"mine": Duck}):
        with pytest.raises(ConfigurationError, match=r"found the class \w+; call it: \w+\(\)"):
            be.run_benchmark("rag-template", given, ["RR"])


@pytest.mark.parametrize("given", [object(), 5, None, [5], {"mine": 5}])
def test_an_object_without_search_is_rejected(given: Any) -> None:
    kind = "object|int|NoneType"
    with pytest.raises(ConfigurationError, match=rf"with search\(query, k\); found ({kind})"):
        be.run_benchmark("rag-template", given, ["RR"])


class Entered(Duck):
    """A context manager that logs its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def __enter__(self) -> Self:
        self.calls.append("enter")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.calls.append("leave" if kind is None else f"leave {kind.__name__}")

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Keep the chunks."""
        self.calls.append("index")
        super().index(chunks)


class EnteredLater(Entered):
    """An asynchronous context manager that logs its calls."""

    __enter__: Any = None
    __exit__: Any = None

    async def __aenter__(self) -> Self:
        self.calls.append("enter")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.calls.append("leave")


@pytest.mark.parametrize("kind", [Entered, EnteredLater, Duck])
def test_a_context_manager_is_entered_and_left(
    kind: type[Duck], caplog: pytest.LogCaptureFixture
) -> None:
    thing = kind()
    with caplog.at_level(logging.WARNING, "berryeval"):
        be.run_benchmark("rag-template", thing, ["RR"])
    assert not [one for one in caplog.messages if "closed" in one]
    if isinstance(thing, Entered):
        assert thing.calls == ["enter", "index", "leave"]


def test_registered_providers_work_like_passed_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PROVIDERS, "_homes", dict(PROVIDERS._homes))  # they go again

    @PROVIDERS.register("test-function")
    def found(text: str, k: int) -> list[str]:
        assert text
        return ["nothing of this benchmark"][:k]

    @PROVIDERS.register("test-class")
    class Own(Duck):
        """A custom provider."""

        def __init__(self, depth: int = 3) -> None:
            super().__init__()
            self.depth = depth

    @PROVIDERS.register("test-maker")
    def made(depth: int = 3) -> Duck:
        return Own(depth)

    names = ["test-function", "test-class", "test-maker"]
    result = be.run_benchmark("rag-template", names, ["RR"])
    assert [one.outcomes for one in result.providers] == [{"ok": 10}] * 3
    for name in names[1:]:
        with pytest.raises(ConfigurationError, match=r"has no option 'dept'; did you mean 'depth'"):
            build_provider(name, {"dept": 3})
    assert callable(found)
    assert callable(made)


@pytest.fixture
def _own_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove registered providers after the test."""
    monkeypatch.setattr(PROVIDERS, "_homes", dict(PROVIDERS._homes))


@pytest.mark.usefixtures("_own_table")
def test_a_factory_differs_from_a_search_function_by_its_parameters() -> None:
    @PROVIDERS.register("test-maker")
    def made(host: str, port: int = 3) -> Duck:
        assert (host, port) == ("here", 4)
        return Duck()

    @PROVIDERS.register("test-search")
    def found(text: str = "", k: int = 10) -> list[str]:
        return [text][:k]

    slip = r"provider 'test-maker' has no option 'prt'; did you mean 'port'"
    with pytest.raises(ConfigurationError, match=slip):
        build_provider("test-maker", {"prt": 4})
    assert [one.name for one in describe_provider("test-maker").options] == ["host", "port"]
    assert callable(build_provider("test-maker", {"host": "here", "port": 4}).search)
    assert describe_provider("test-search").options == ()
    assert build_provider("test-search").search(Query("q", "word"), 5)[0].id == "word"
    assert callable(made)
    assert callable(found)


@pytest.mark.usefixtures("_own_table")
def test_a_class_without_a_signature_is_accepted() -> None:
    @PROVIDERS.register("test-dict")
    class Words(dict[str, Any]):
        def search(self, query: Query, k: int) -> list[str]:
            return [self[query.text]][:k]

    made = build_provider("test-dict", {"word": "a"})
    assert made.search(Query("q", "word"), 5)[0].id == "a"
    assert describe_provider("test-dict").options == ()
    assert issubclass(Words, dict)


@pytest.mark.parametrize("name", ["my-search", "name", "options", "chunker", "type"])
def test_a_mapping_names_its_providers(name: str) -> None:
    """A mapping with a type is one provider."""
    if name == "my-search":
        assert 'providers={"my-search": mine}' in INTRODUCTION
    result = be.run_benchmark("rag-template", providers={name: Duck()}, metrics=["RR"], limit=1)
    assert [one.name for one in result.providers] == [name]
