"""Objects of one's own as providers of a run: given as they are, entered and left, registered."""

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
    """An object with `index` and `search` and nothing else."""

    def __init__(self) -> None:
        self.chunks: Sequence[Chunk] = ()

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Keep them."""
        self.chunks = chunks

    def search(self, query: Any, k: int) -> list[str]:
        """The first chunks."""
        assert query.text
        return [chunk.id for chunk in self.chunks[:k]]


class OfTexts(Duck):
    """One that wants texts."""

    def search(self, text: Any, k: int) -> list[str]:
        """The first chunks."""
        assert text.lower()
        return [chunk.id for chunk in self.chunks[:k]]


class Later(Duck):
    """One whose methods are all asynchronous."""

    async def index(self, chunks: Sequence[Chunk]) -> None:  # type: ignore[override]
        """Keep them."""
        self.chunks = chunks

    async def search(self, query: Query, k: int) -> list[str]:  # type: ignore[override]
        """The first chunks."""
        return super().search(query, k)


class Together(Duck):
    """One that answers several at once, and has a name."""

    name = "in batches"

    def search_many(self, queries: Sequence[Query], k: int) -> list[list[str]]:
        """The same for each."""
        return [super(Together, self).search(query, k) for query in queries]


class Whole(Provider):
    """A provider of the package's kind."""

    def search(self, query: Query, k: int) -> list[Hit]:
        """Nothing."""
        assert query.text
        return [][:k]


class Retriever:
    """As the retrievers of LangChain."""

    def invoke(self, text: str) -> list[Any]:
        """Nothing."""
        return [text][:0]

    async def ainvoke(self, text: str) -> list[Any]:
        """Nothing."""
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
    """In a list or alone; it is called by its name, and the same folder goes on."""
    result = be.run_benchmark("rag-template", [made()], ["RR"], folder=tmp_path / "run", batch=4)
    (one,) = result.providers
    assert one.name == name
    assert sum(one.outcomes.get(outcome, 0) for outcome in ("ok", "empty")) == 10
    again = be.run_benchmark("rag-template", made(), ["RR"], folder=tmp_path / "run", batch=4)
    assert again[name].scores == one.scores
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    (spec,) = manifest["plan"]["providers"]
    assert list(spec["options"].values()) == [f"<{type(made()).__name__}>"]


def test_an_object_finds_what_a_provider_finds() -> None:
    """One that hands all on to the bundled provider scores as it does, by query or by text."""
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


def test_a_class_is_to_be_called() -> None:
    """The message says how."""
    for given in (Duck, [Whole], {"mine": Duck}):
        with pytest.raises(ConfigurationError, match=r"found the class \w+; call it: \w+\(\)"):
            be.run_benchmark("rag-template", given, ["RR"])


@pytest.mark.parametrize("given", [object(), 5, None, [5], {"mine": 5}])
def test_what_cannot_be_searched_is_refused(given: Any) -> None:
    """With what was expected, and what was found."""
    kind = "object|int|NoneType"
    with pytest.raises(ConfigurationError, match=rf"with search\(query, k\); found ({kind})"):
        be.run_benchmark("rag-template", given, ["RR"])


class Entered(Duck):
    """A context manager that writes down what is done with it."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[str] = []

    def __enter__(self) -> Self:
        self.calls.append("enter")
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.calls.append("leave" if kind is None else f"leave {kind.__name__}")

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Write it down."""
        self.calls.append("index")
        super().index(chunks)


class EnteredLater(Entered):
    """The same, asynchronous."""

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
    """Before the index and after the last answer; one that is none, and has no end, is no fault."""
    thing = kind()
    with caplog.at_level(logging.WARNING, "berryeval"):
        be.run_benchmark("rag-template", thing, ["RR"])
    assert not [one for one in caplog.messages if "closed" in one]
    if isinstance(thing, Entered):
        assert thing.calls == ["enter", "index", "leave"]


def test_registered_things_work_as_given_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """A function, a class of one's own and a function that makes one; options are checked."""
    monkeypatch.setattr(PROVIDERS, "_homes", dict(PROVIDERS._homes))  # they go again

    @PROVIDERS.register("test-function")
    def found(text: str, k: int) -> list[str]:
        assert text
        return ["nothing of this benchmark"][:k]

    @PROVIDERS.register("test-class")
    class Own(Duck):
        """Of one's own."""

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
    """What is registered goes again."""
    monkeypatch.setattr(PROVIDERS, "_homes", dict(PROVIDERS._homes))


@pytest.mark.usefixtures("_own_table")
def test_a_function_that_makes_a_provider_is_told_from_one_that_searches() -> None:
    """By its parameters: the second of a search says how many hits are wanted."""

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
def test_a_class_that_does_not_say_its_options_is_taken() -> None:
    """As one that inherits from a type written in C."""

    @PROVIDERS.register("test-dict")
    class Words(dict[str, Any]):
        def search(self, query: Query, k: int) -> list[str]:
            return [self[query.text]][:k]

    made = build_provider("test-dict", {"word": "a"})
    assert made.search(Query("q", "word"), 5)[0].id == "a"
    assert describe_provider("test-dict").options == ()
    assert issubclass(Words, dict)


@pytest.mark.parametrize("name", ["my-search", "name", "options", "chunker", "type"])
def test_any_name_may_be_given_to_an_object(name: str) -> None:
    """A mapping is a provider itself only if it says its type; the page shows such a line."""
    if name == "my-search":
        assert 'providers={"my-search": mine}' in INTRODUCTION
    result = be.run_benchmark("rag-template", providers={name: Duck()}, metrics=["RR"], limit=1)
    assert [one.name for one in result.providers] == [name]
