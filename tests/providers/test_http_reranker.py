"""The reranker `http`, against servers that speak the three protocols, well and badly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.rerank import Rerank
from tests.providers.corpus import query
from tests.providers.loopback import Asked, Reply, loopback

if TYPE_CHECKING:
    from collections.abc import Callable

LETTERS = [Chunk(name, "d", f"text of {name}") for name in "abcde"]
PATHS = {"cohere": "/v2/rerank", "jina": "/v1/rerank", "tei": "/rerank"}


def score(text: str) -> float:
    """The later the letter, the better."""
    return ord(text[-1]) / 100


def answer_as(shape: str) -> Callable[[Asked], Any]:
    def answer(asked: Asked) -> Any:
        assert (asked.method, asked.path) == ("POST", PATHS[shape])
        body = asked.body
        texts = body["texts" if shape == "tei" else "documents"]
        name = "score" if shape == "tei" else "relevance_score"
        found = [{"index": place, name: score(text)} for place, text in enumerate(texts)]
        found.sort(key=lambda one: -one[name])
        if shape == "tei":
            return found
        assert body["top_n"] == len(texts)
        if shape == "jina":
            return {"usage": {"total_tokens": 40}, "results": found}
        units = {"search_units": 1}
        return {"id": "1", "results": found, "meta": {"billed_units": units}}

    return answer


def build(url: str, shape: str, **options: Any) -> Rerank:
    given = {"shape": shape, "url": url + PATHS[shape], "timeout": 10.0, **options}
    made = Rerank(_first, {"type": "http", "options": given}, depth=5)
    made.index(LETTERS)
    return made


def _first(_text: str, _k: int) -> list[str]:
    return [chunk.id for chunk in LETTERS]


@pytest.mark.parametrize(
    ("shape", "cost"), [("cohere", {"search_units": 1}), ("jina", {"tokens": 40}), ("tei", {})]
)
def test_every_protocol_gives_the_order_of_the_server(shape: str, cost: dict[str, int]) -> None:
    with (
        loopback(answer_as(shape)) as server,
        build(server.url, shape, model="m", api_key="s3cret-key") as made,
    ):
        found = made.search(query("letters"), 5)
    assert [hit.id for hit in found] == list("edcba")
    assert found.cost == found.stages[-1].cost == cost
    (asked,) = server.asked
    assert asked.headers["authorization"] == "Bearer s3cret-key"
    assert asked.body["query"] == "letters"
    assert asked.body["model"] == "m"


def test_many_texts_are_sent_in_parts() -> None:
    with (
        loopback(answer_as("jina")) as server,
        build(server.url, "jina", batch_size=2) as made,
    ):
        found = made.search(query("letters"), 5)
    assert [hit.id for hit in found] == list("edcba")
    assert [len(one.body["documents"]) for one in server.asked] == [2, 2, 1]
    assert found.cost == {"tokens": 120}


def results(*pairs: tuple[Any, Any]) -> dict[str, Any]:
    return {"results": [{"index": one, "relevance_score": value} for one, value in pairs]}


GOOD = [(place, 0.5) for place in range(5)]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (results(*GOOD[:4]), "expected 5 results, one per text, found 4"),
        (results(*GOOD, (0, 0.5)), "expected 5 results, one per text, found 6"),
        (results(*GOOD[:4], (5, 0.5)), "an index from 0 to 4, found 5 in result 4"),
        (results(*GOOD[:4], (-1, 0.5)), "an index from 0 to 4, found -1 in result 4"),
        (results(*GOOD[:4], (None, 0.5)), "an index from 0 to 4, found None"),
        (results(*GOOD[:4], (True, 0.5)), "an index from 0 to 4, found True"),
        (results(*GOOD[:4], (0, 0.5)), "each index once, found 0 twice"),
        (results(*GOOD[:4], (4, None)), "a finite number as 'relevance_score', found None"),
        (results(*GOOD[:4], (4, "0.5")), "a finite number as 'relevance_score', found '0.5'"),
        (results(*GOOD[:4], (4, float("nan"))), "expected"),
        (results(*GOOD[:4], (4, 1e999)), "expected"),
        ({"results": [1, 2, 3, 4, 5]}, "an index from 0 to 4, found None"),
        ({"results": None}, "expected an object with an array 'results'"),
        ([{"index": 0, "score": 1.0}], "expected an object with an array 'results'"),
        ("no", "expected an object with an array 'results'"),
        (Reply(b"<html>"), "expected JSON, found '<html>'"),
        (Reply({"message": "bad key s3cret-key"}, 401), r"status 401 .*bad key \*\*\*"),
        (Reply({"message": "too long"}, 422), "status 422 .*too long"),
    ],
)
def test_a_wrong_answer_fails_the_query_and_never_the_ranking(answer: Any, words: str) -> None:
    with (
        loopback(lambda _: answer) as server,
        build(server.url, "cohere", api_key="s3cret-key") as made,
        pytest.raises(ProviderError, match=words) as caught,
    ):
        made.search(query("letters"), 5)
    assert not caught.value.passing
    assert "s3cret-key" not in str(caught.value)


@pytest.mark.parametrize("status", [429, 500, 503])
def test_temporary_errors_can_be_tried_again(status: int) -> None:
    with (
        loopback(lambda _: Reply({}, status, {"Retry-After": "2"})) as server,
        build(server.url, "tei") as made,
        pytest.raises(ProviderError, match=f"status {status}") as caught,
    ):
        made.search(query("letters"), 5)
    assert caught.value.passing
    assert caught.value.retry_after == 2


def test_an_object_from_a_server_of_arrays_is_rejected() -> None:
    with (
        loopback(answer_as("tei")) as server,
        build(server.url, "tei") as made,
    ):
        assert [hit.id for hit in made.search(query("letters"), 5)] == list("edcba")
    with (
        loopback(lambda _: results(*GOOD)) as server,
        build(server.url, "tei") as made,
        pytest.raises(ProviderError, match="expected an array, found"),
    ):
        made.search(query("letters"), 5)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shape": "tei"}, "url of the reranker http is missing"),
        ({"shape": "jina"}, "model of the reranker http is missing; set it to one that https://"),
        ({"shape": "vespa"}, "shape of the reranker http must be one of cohere, jina, tei"),
        ({"url": "ftp://x"}, "url of the reranker http must look like"),
        ({"batch_size": -1}, "batch_size of the reranker http"),
    ],
)
def test_wrong_options_are_explained(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        Rerank(_first, {"type": "http", "options": options})
