"""The provider `callable`, and what `build_provider` accepts instead of a name."""

from __future__ import annotations

import asyncio
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.data.records import Hit, Query
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.answers import as_hits
from berryeval.providers.base import Provider
from berryeval.providers.bm25 import Bm25
from berryeval.providers.callable import Function
from berryeval.providers.catalogue import build_provider
from berryeval.providers.hybrid import Hybrid
from berryeval.runner.asking import ask_all
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from berryeval.data.records import Chunk
    from berryeval.runner.outcome import Ranking


def ids(text: str, k: int) -> list[str]:
    return text.split()[:k]


async def later(text: str, k: int) -> list[str]:
    await asyncio.sleep(0)
    return ids(text, k)


def of_query(asked: Query, _: int) -> list[str]:
    return [asked.id]


class Searcher:
    """An object that indexes the chunks first."""

    def __init__(self) -> None:
        self.chunks: Sequence[Chunk] = ()
        self.closed = False

    async def index(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks

    def __call__(self, text: str, k: int) -> list[tuple[str, float]]:
        return [(chunk.id, 1.0) for chunk in self.chunks if text in chunk.text][:k]

    def close(self) -> None:
        self.closed = True


@pytest.mark.parametrize(
    "answer",
    [
        ["a", "b"],
        [("a", 2.0), ("b", 1)],
        [["a", 2.0], ["b", 1.0]],
        {"a": 2.0, "b": 1.0},
        [{"id": "a", "score": 2.0}, {"id": "b", "score": 1.0, "text": "t"}],
        [Hit("a", 2.0), Hit("b", 1.0)],
        iter(["a", "b"]),
    ],
)
def test_every_form_of_answer_is_accepted(answer: Any) -> None:
    hits = build_provider(lambda _text, _k: answer).search(query("x"), 2)
    assert [hit.id for hit in hits] == ["a", "b"]
    assert all(isinstance(hit, Hit) for hit in hits)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (None, "expected a list of hits, found NoneType"),
        ("abc", "expected a list of hits, found str 'abc'"),
        ([1.5], "hit 1: expected a hit with an id, found float 1.5"),
        ([True], "hit 1: expected a hit with an id"),
        ([(None, 1.0)], "hit 1: expected a hit with an id"),
        (["a", ""], "hit 2: expected a hit with an id, found the id ''; return no hit, or its id"),
        ([" "], "hit 1: expected a hit with an id, found the id ' '; return no hit, or its id"),
        ([Hit("", text="Tea")], "hit 1: expected a hit with an id, found the id ''; return no"),
        ([{"id": ""}], "hit 1: expected a hit with an id, found the id ''; return no hit, or"),
        ({"": 1.0}, "hit 1: expected a hit with an id, found the id ''; return no hit, or its id"),
        ([("a", "b")], "hit 1 is not valid: could not convert"),
        ([("a", float("nan"))], "the score must be finite, found nan"),
        ([{"score": 1}], "hit 1 is not valid: has no 'id'"),
    ],
)
def test_an_invalid_answer_is_described(answer: Any, message: str) -> None:
    with pytest.raises(ProviderError, match=message):
        build_provider(lambda _text, _k: answer).search(query("x"), 2)


def test_the_cost_of_an_answer_is_kept() -> None:
    class Answer:
        hits = ("a",)
        cost = {"tokens": 3}  # noqa: RUF012 - never changed

    rankings: list[Ranking] = []
    ask_all(build_provider(lambda _text, _k: Answer()), [query("x")], 3, rankings.append)
    assert [hit.id for hit in rankings[0].hits] == ["a"]
    assert rankings[0].cost == {"tokens": 3}


def test_a_known_chunk_completes_its_hit() -> None:
    provider = build_provider(ids)
    provider.index(CHUNKS)
    hits = provider.search(query("pool handbook other"), 3)
    assert [(hit.id, hit.doc_id) for hit in hits] == [
        ("pool", "handbook"), ("handbook", "handbook"), ("other", ""),
    ]  # fmt: skip
    assert hits[0].text == CHUNKS[-1].text


@pytest.mark.parametrize(
    ("function", "argument", "found"),
    [(ids, "", "words"), (of_query, "", "q"), (lambda asked, _: [asked.id], "query", "q")],
)
def test_annotation_or_option_selects_text_or_query(
    function: Callable[..., Any], argument: str, found: str
) -> None:
    assert Function(function, argument).search(query("words"), 1)[0].id == found


def test_an_object_is_indexed_and_closed() -> None:
    searcher = Searcher()
    with build_provider(searcher) as provider:
        provider.index(CHUNKS)
        assert [hit.id for hit in provider.search(query("thirty"), 9)] == ["tokens", "backup"]
    assert searcher.closed


def test_asynchronous_functions_share_one_loop() -> None:
    loops: set[int] = set()

    async def noting(text: str, k: int) -> list[str]:
        loops.add(id(asyncio.get_running_loop()))
        return await later(text, k)

    with build_provider(noting) as provider, ThreadPoolExecutor(4) as threads:
        texts = [f"text{number}" for number in range(40)]
        found = list(threads.map(lambda text: provider.search(query(text), 1)[0].id, texts))
        assert found == texts
        fused = Hybrid([provider, build_provider(ids)])
        assert fused.search(query("a b"), 2)[0].id == "a"

        async def inside() -> list[Hit]:
            return list(provider.search(query("a b"), 2))

        assert [hit.id for hit in asyncio.run(inside())] == ["a", "b"]
    assert len(loops) == 1


def test_closing_cancels_a_running_search() -> None:
    begun = threading.Event()

    async def endless(_text: str, _k: int) -> list[str]:
        begun.set()
        await asyncio.sleep(3600)
        return []

    provider = build_provider(endless)
    with ThreadPoolExecutor(1) as threads:
        job = threads.submit(provider.search, query("x"), 1)
        assert begun.wait(20)
        provider.close()
        with pytest.raises(BaseException) as caught:  # noqa: PT011 - which one depends on Python
            job.result(20)
    assert "Cancelled" in type(caught.value).__name__


def test_a_function_is_loaded_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_search_module.py").write_text(
        "class Box:\n    @staticmethod\n    def find(text, k):\n        return [text] * k\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    provider = build_provider("callable", {"function": "own_search_module:Box.find"})
    assert [hit.id for hit in provider.search(query("w"), 2)] == ["w", "w"]


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("", "find", "must look like 'module:object', found 'find'"),
        (
            "",
            "no_such_module:find",
            "there is no module 'no_such_module', neither",
        ),
        ("def find(t, k): ...", "MODULE:fnd", "has no 'fnd'; did you mean 'find'"),
        (
            "import no_such_package",
            "MODULE:find",
            "needs 'no_such_package', which is not",
        ),
        ("def find(:", "MODULE:find", r"cannot be imported \(SyntaxError"),
        ("find = 3", "MODULE:find", "is a int, which cannot be called"),
        (
            "def find(text): ...",
            "MODULE:find",
            r"a function \(text, k\), found find\(text",
        ),
    ],
)
def test_an_unusable_function_is_described(
    text: str, name: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = f"own_{abs(hash((text, name)))}"
    (tmp_path / f"{module}.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(ConfigurationError, match=message):
        build_provider("callable", {"function": name.replace("MODULE", module)})


def test_bound_arguments_are_not_shown() -> None:
    secret = "canary-0c11d2"  # noqa: S105 - made up
    provider = Function(partial(lambda text, _k, key: [text, key], key=secret))
    assert secret not in repr(provider)
    with pytest.raises(ConfigurationError, match=r"found partial\(text, key\)") as caught:
        Function(partial(lambda text, *, key: [text, key], key=secret))
    assert secret not in str(caught.value)


def test_build_provider_accepts_providers_and_classes() -> None:
    provider = Bm25()
    assert build_provider(provider) is provider
    made = build_provider(Bm25, {"k1": 0.9})
    assert isinstance(made, Provider)
    assert made == Bm25(k1=0.9)


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        (Bm25(), {"k1": 1.0}, "a provider that is already built has no option 'k1'; it has none"),
        (Bm25, {"k2": 1.0}, "provider 'Bm25' has no option 'k2'; it has k1, b, stemmer"),
        (3, {}, r"a function \(text, k\), .* found int"),
        (None, {}, "found NoneType"),
        (ids, {"arguments": "text"}, "no option 'arguments'; did you mean 'argument'"),
        ("callable", {}, "function of callable is missing"),
        (ids, {"argument": "both"}, "argument of callable must be one of"),
    ],
)
def test_other_objects_are_rejected(source: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        build_provider(source, options)


def in_lists(texts: Sequence[str], k: int) -> list[list[str]]:
    return [ids(text, k) for text in texts]


async def in_lists_of_queries(asked: Sequence[Query], _: int) -> list[list[str]]:
    return [[one.id] for one in asked]


def test_a_batch_function_is_called_once_for_several_queries() -> None:
    with Function(in_lists, batch=True) as provider:
        assert [hit.id for hit in provider.search(query("a b c"), 2)] == ["a", "b"]
        assert provider.search_many is not None
        found = provider.search_many([query("a b"), query("c")], 5)
    assert [[hit.id for hit in hits] for hits in found] == [["a", "b"], ["c"]]
    with Function(in_lists_of_queries, argument="query", batch=True) as provider:
        assert [hit.id for hit in provider.search(Query("q7", "x"), 2)] == ["q7"]
    assert Function(ids).search_many is None


@pytest.mark.parametrize(
    ("answer", "found"), [([], "0"), ([[], []], "2"), (None, "NoneType None"), ("ab", "str 'ab'")]
)
def test_a_batch_function_must_answer_every_query(answer: Any, found: str) -> None:
    said = f"expected 1 list of hits, one per query, found {found}"
    with (
        Function(lambda texts, k: answer, batch=True) as provider,  # noqa: ARG005
        pytest.raises(ProviderError, match=said),
    ):
        provider.search(query("a"), 2)


@pytest.mark.parametrize("number", [7, np.int64(7)])
def test_integers_are_ids(number: Any) -> None:
    for answer in ([number], [(number, 1.0)], {number: 1.0}, [{"id": number}], [Hit(number)]):
        assert [hit.id for hit in as_hits(answer)] == ["7"]


def test_a_dict_is_ordered_by_its_scores() -> None:
    assert [hit.id for hit in as_hits({"a": 0.1, "b": 0.3, "c": 0.2})] == ["b", "c", "a"]
