"""The provider `rerank`: a first stage, and a reranker of its hits."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from berryeval.data.records import Chunk, Hit, Query
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers import Answer, Reranking, Stage, build_provider
from berryeval.providers.rerank import Rerank
from tests.providers.corpus import CHUNKS, query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LETTERS = [Chunk(name, "d", f"text of {name}", section=("Letters",)) for name in "abcdef"]


def first(text: str, k: int) -> Answer:
    """Find a, b, c and so on, with a cost."""
    hits = [(chunk.id, 9.0 - place) for place, chunk in enumerate(LETTERS)]
    return Answer(hits[:k], {"usd": 0.25, "tokens": len(text)})


def build(reranker: Any, provider: Any = first, **options: Any) -> Rerank:
    made = Rerank(provider, reranker, **options)
    made.index(LETTERS)
    return made


def ids(hits: Sequence[Hit]) -> str:
    return "".join(hit.id for hit in hits)


def last_first(text: str, texts: list[str]) -> list[float]:
    assert text == "letters"
    return [float(place) for place, _ in enumerate(texts)]


ASKED = query("letters")


def test_hits_get_the_order_and_the_scores_of_the_reranker() -> None:
    found = build(last_first).search(ASKED, 3)
    assert ids(found) == "fed"
    assert [hit.score for hit in found] == [5.0, 4.0, 3.0]
    assert [hit.rank for hit in found] == [1, 2, 3]


def test_a_function_of_texts_reads_headings_and_texts_and_one_of_hits_gets_hits() -> None:
    seen: list[Any] = []

    def by_text(text: str, texts: list[str]) -> list[float]:
        seen.append((text, texts))
        return [1.0] * len(texts)

    def by_hit(query: Query, hits: list[Hit]) -> list[float]:
        seen.append((query.id, [hit.id for hit in hits]))
        return [1.0] * len(hits)

    build(by_text, depth=2).search(ASKED, 3)
    build(by_hit, depth=2).search(ASKED, 3)
    texts = ["Letters\ntext of a", "Letters\ntext of b"]
    assert seen == [("letters", texts), ("q", ["a", "b"])]


def test_hits_below_the_depth_follow_in_their_order_or_are_dropped() -> None:
    kept = build(last_first, depth=3).search(ASKED, 6)
    assert ids(kept) == "cbadef"
    scores = [hit.score for hit in kept]
    assert scores == sorted(set(scores), reverse=True)
    assert ids(build(last_first, depth=3, below="drop").search(ASKED, 6)) == "cba"
    assert ids(build(last_first, depth=3).search(ASKED, 2)) == "cb"


@pytest.mark.parametrize("score", [0.0, -3.5, 1e15, -1e15])
def test_equal_scores_are_ordered_by_id_as_everywhere(score: float) -> None:
    found = build(lambda _text, texts: [score] * len(texts), depth=4).search(ASKED, 6)
    assert ids(found) == "dcbaef"


@pytest.mark.parametrize(
    ("given", "returns"),
    [
        (["c", "a"], "scores"),
        ([2, 0], "order"),
        (np.array([2, 0]), "order"),
        ([2.0, 1.0, 3.0], "scores"),
        (np.array([2.0, 1.0, 3.0], dtype=np.float32), "scores"),
        (Reranking([2.0, 1.0, 3.0]), "scores"),
    ],
)
def test_scores_positions_and_ids_say_the_same(given: Any, returns: str) -> None:
    options = {"function": lambda _text, _texts: given, "returns": returns}
    made = build({"type": "function", "options": options}, depth=3)
    found = made.search(ASKED, 6)
    assert ids(found) == "cabdef"
    assert found.stages[-1].unplaced == (len(given) == 2)


async def _later(text: str, texts: list[str]) -> list[float]:
    return last_first(text, texts)


class Own:
    """An object with a method `rerank`."""

    closed = False

    async def rerank(self, _query: Query, hits: Sequence[Hit]) -> list[float]:
        return [float(place) for place, _ in enumerate(hits)]

    def close(self) -> None:
        self.closed = True


def test_async_functions_and_objects_are_accepted() -> None:
    own = Own()
    for reranker in (_later, own, f"{__name__}:last_first"):
        with build(reranker) as made:
            assert ids(made.search(ASKED, 6)) == "fedcba"
    assert own.closed


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([1.0, 2.0], "expected 6 scores, one per hit, found 2"),
        ([1.0] * 7, "expected 6 scores, one per hit, found 7"),
        ([1.0] * 5 + [math.nan], "expected a finite number as the score of hit 6, found nan"),
        ([1.0] * 5 + [math.inf], "expected a finite number as the score of hit 6, found inf"),
        ([1.0] * 5 + [None], "expected a finite number as the score of hit 6, found None"),
        ([True] * 6, "expected a finite number as the score of hit 1, found True"),
        (None, "expected 6 scores, found NoneType None"),
        ({"a": 1.0}, "expected 6 scores, found dict"),
        (itertools.count(), "expected 6 scores, one per hit, found more"),
        (["z"], "expected ids of the 6 hits it was given, found 'z'"),
        (["a", "a"], "names the position 0 twice"),
    ],
)
def test_an_answer_that_does_not_fit_fails_the_query(given: Any, words: str) -> None:
    with pytest.raises(ProviderError, match=words):
        build(lambda _text, _texts: given).search(ASKED, 6)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([0, 6], "expected positions from 0 to 5, found 6"),
        ([0, -1], "expected positions from 0 to 5, found -1"),
        ([0, 0], "names the position 0 twice"),
        ([], "expected an order of 6 hits, found an empty one"),
    ],
)
def test_a_wrong_order_fails_the_query(given: list[int], words: str) -> None:
    options = {"function": lambda _text, _texts: given, "returns": "order"}
    with pytest.raises(ProviderError, match=words):
        build({"type": "function", "options": options}).search(ASKED, 6)


def test_stages_tell_ranking_time_and_cost_of_each() -> None:
    def paid(_text: str, texts: list[str]) -> Reranking:
        return Reranking([float(len(texts))] * len(texts), {"usd": 0.5})

    found = build(paid, depth=4).search(ASKED, 5)
    search, rerank = found.stages
    assert (search.name, ids(search.hits), search.reranked) == ("first", "abcde", 0)
    assert [hit.score for hit in search.hits] == [9.0, 8.0, 7.0, 6.0, 5.0]
    assert (rerank.name, rerank.hits, rerank.reranked) == ("paid", (), 4)
    assert search.cost == {"usd": 0.25, "tokens": 7}
    assert rerank.cost == {"usd": 0.5}
    assert found.cost == {"usd": 0.75, "tokens": 7}
    assert search.seconds > 0
    assert rerank.seconds > 0


def test_the_first_stage_is_ranked_as_if_it_were_alone() -> None:
    def mixed(_text: str, _k: int) -> list[tuple[str, float]]:
        return [("a", 1.0), ("b", 3.0), ("c", 3.0), ("b", 2.0), ("d", 0.5)]

    found = build(lambda _text, texts: [1.0] * len(texts), mixed, depth=3).search(ASKED, 9)
    assert ids(found.stages[0].hits) == "cbad"
    assert ids(found) == "cbad"


def test_rerankers_can_be_nested_and_fuse() -> None:
    inner = {"type": "rerank", "options": {"provider": first, "reranker": last_first, "depth": 4}}
    made = build(lambda _text, texts: range(len(texts)), inner, depth=2)
    found = made.search(ASKED, 6)
    assert ids(found) == "cdbaef"
    assert [(one.name, ids(one.hits)) for one in found.stages] == [
        ("first", "abcdef"), ("last_first", "dcbaef"), ("<lambda>", ""),
    ]  # fmt: skip
    with Rerank({"type": "hybrid", "options": {"providers": ["bm25"]}}, Own(), depth=2) as fused:
        fused.index(CHUNKS)
        hits = fused.search(query("thirty days"), 3)
    assert {hit.id for hit in hits[:2]} == {"tokens", "backup"}
    assert hits.stages[0].name == "hybrid"


def test_the_error_of_a_reranker_keeps_the_first_stage() -> None:
    def fail(_text: str, _texts: list[str]) -> list[float]:
        raise RuntimeError("no memory")

    with pytest.raises(RuntimeError, match="no memory") as caught:
        build(fail).search(ASKED, 3)
    (stage,) = caught.value.stages  # type: ignore[attr-defined]
    assert isinstance(stage, Stage)
    assert ids(stage.hits) == "abcdef"


def test_an_empty_first_stage_is_not_reranked() -> None:
    found = build(last_first, lambda _text, _k: []).search(ASKED, 3)
    assert list(found) == []
    assert found.stages[-1].reranked == 0


def test_a_hit_without_text_fails_the_query() -> None:
    with pytest.raises(ProviderError, match=r"hit 1 .'z'. of <lambda> has no text to rerank"):
        build(last_first, lambda _text, _k: ["z"]).search(ASKED, 3)
    own = build(lambda _text, texts: [len(texts)], lambda _text, _k: [Hit("z", text="own text")])
    assert ids(own.search(ASKED, 3)) == "z"


def test_results_are_the_same_one_by_one_in_batches_and_at_once() -> None:
    def by_length(text: str, texts: list[str]) -> list[float]:
        return [float((len(one) * len(text)) % 7) for one in texts]

    made = Rerank("bm25", by_length, depth=3)
    made.index(CHUNKS)
    queries = [query(text) for text in ("thirty days", "request", "connection pool", "xyz")] * 5
    alone = [made.search(one, 5) for one in queries]
    assert made.search_many is not None
    assert made.search_many(queries, 5) == alone
    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(lambda one: made.search(one, 5), queries)) == alone


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"depth": 0}, "depth of rerank must be a whole number of at least 1, found 0"),
        ({"below": "hide"}, "below of rerank must be one of keep, drop, found 'hide'"),
        ({"reranker": "cross-encodre"}, "unknown reranker 'cross-encodre'; did you mean 'cross-"),
        ({"reranker": 5}, r"expected a function \(text, texts\) or an object with rerank"),
        ({"reranker": Own}, r"expected an object, found the class Own; use Own\(\)"),
        ({"reranker": len}, r"expected a function \(text, texts\) or \(query, hits\)"),
        ({"reranker": {"type": "function"}}, "function of the reranker is missing"),
        ({"reranker": {"kind": "http"}}, "a reranker of rerank has no option 'kind'"),
        ({"reranker": {"type": "http", "options": {"ulr": ""}}}, "did you mean 'url'"),
        ({"provider": "bm52"}, "unknown provider 'bm52'"),
        ({"provider": {"type": "bm25", "chunker": "whole"}}, "set the chunker of rerank itself"),
    ],
)
def test_wrong_options_are_explained(options: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"reranker": last_first, **options}
    with pytest.raises(ConfigurationError, match=words):
        build_provider("rerank", given)


def test_the_modules_of_both_stages_are_required() -> None:
    found = build_provider("rerank", {"provider": "dense"}).required()
    assert found == {
        "wordllama": "dense", "sentence_transformers": "sentence-transformers"
    }  # fmt: skip
    own: Callable[..., Any] = last_first
    assert build_provider("rerank", {"reranker": own}).required() == {}


def test_a_reranker_in_this_process_is_asked_one_query_at_a_time() -> None:
    assert Rerank("bm25", "cross-encoder").searches_in_process()
    assert not Rerank("bm25", last_first).searches_in_process()  # it may ask a server
    url = {"type": "http", "options": {"shape": "tei", "url": "http://127.0.0.1:1/rerank"}}
    remote = Rerank("bm25", url)
    assert not remote.searches_in_process()
    assert remote.search_many is None
