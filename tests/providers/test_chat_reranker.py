"""The reranker `chat`, against a scripted server with the chat protocol."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from berryeval.data.records import Chunk
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.rerank import Rerank
from tests.judging.chat_server import chat_server, fail, say
from tests.providers.corpus import query

LETTERS = [Chunk(name, "d", f"text of {name}") for name in "abcdefgh"]


def build(url: str, **options: Any) -> Rerank:
    given = {"model": "tiny", "base_url": url, "attempts": 2, **options}
    made = Rerank(
        lambda _text, _k: [chunk.id for chunk in LETTERS],
        {"type": "chat", "options": given},
        depth=8,
    )
    made.index(LETTERS)
    return made


def read_passages(text: str) -> list[str]:
    """Return the last letter of each passage that the model is shown."""
    data = json.loads(re.search(r"BEGIN DATA \w+\n(.*)\nEND DATA", text, re.DOTALL)[1])  # type: ignore[index]
    assert data.pop("query") == "letters"
    return [one[-1] for one in data.values()]


def best_last(text: str, _time: int) -> Any:
    """Answer as a model that likes late letters."""
    seen = read_passages(text)
    order = sorted(range(len(seen)), key=lambda place: seen[place], reverse=True)
    return say(json.dumps({"ranking": [place + 1 for place in order]}))


def test_the_window_moves_from_the_end_to_the_start() -> None:
    with chat_server(best_last) as server, build(server.url, window=4, step=2) as made:
        found = made.search(query("letters"), 8)
    shown = ["".join(read_passages(one["messages"][1]["content"])) for one in server.asked]
    assert shown == ["efgh", "cdhg", "abhg"]
    assert "".join(hit.id for hit in found) == "hgbadcfe"
    assert found.stages[-1].unplaced == 0


def test_one_window_orders_everything_and_tells_its_cost() -> None:
    prices = {"price_in": 1.0, "price_out": 10.0}
    with (
        chat_server(best_last, key="k3y-of-mine") as server,
        build(server.url, api_key="k3y-of-mine", **prices) as made,
    ):
        found = made.search(query("letters"), 8)
    assert "".join(hit.id for hit in found) == "hgfedcba"
    assert len(server.asked) == 1
    assert found.cost == {"tokens_in": 50, "tokens_out": 20, "usd": 0.00025}


def test_passages_that_an_answer_leaves_out_keep_their_order_and_are_counted() -> None:
    with (
        chat_server(lambda *_: say('{"ranking": [3, 1]}')) as server,
        build(server.url) as made,
    ):
        found = made.search(query("letters"), 8)
    assert "".join(hit.id for hit in found) == "cabdefgh"
    assert found.stages[-1].unplaced == 6


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (say('{"ranking": [9]}'), "numbers from 1 to 8, each once, found the number 9"),
        (say('{"ranking": [0, 1]}'), "found the number 0"),
        (say('{"ranking": [1, 2, 1]}'), "found the number 1 twice"),
        (say('{"ranking": []}'), "found no number"),
        (say('{"ranking": ["1"]}'), "invalid: the answer.ranking.0.: expected integer"),
        (say('{"order": [1]}'), "invalid: the answer: has no 'ranking'"),
        (say("[3] > [1]"), "invalid"),
        (say(json.dumps({"ranking": [*range(1, 200_000)]})), "found the number 9: "),
        (say(None, refusal="I cannot help"), "refused: I cannot help"),
        (say('{"ranking": [1,', end="length"), "cut off: .*longer than 400 tokens"),
        (fail(400, "bad request"), "error: .*status 400"),
        (fail(503, "busy"), "error: .*status 503"),
    ],
)
def test_a_bad_answer_is_the_error_of_the_query(answer: Any, words: str) -> None:
    with (
        chat_server(lambda *_: answer) as server,
        build(server.url, attempts=1) as made,
        pytest.raises(ProviderError, match=words),
    ):
        made.search(query("letters"), 8)


def test_a_wrong_key_is_explained_and_never_shown() -> None:
    with (
        chat_server(best_last, key="right") as server,
        build(server.url, api_key="wr0ng-key-of-mine") as made,
        pytest.raises(ConfigurationError, match="set api_key of the reranker chat to") as caught,
    ):
        made.search(query("letters"), 8)
    assert "wr0ng-key" not in str(caught.value)
    with (
        chat_server(best_last, key="right") as server,
        build(server.url) as made,
        pytest.raises(ConfigurationError, match="it wants a key; set api_key of the reranker c"),
    ):
        made.search(query("letters"), 8)


def test_long_passages_are_cut() -> None:
    with chat_server(best_last) as server, build(server.url, characters=6) as made:
        made.search(query("letters"), 8)
    assert "text o" in server.asked[0]["messages"][1]["content"]
    assert "text of" not in server.asked[0]["messages"][1]["content"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"model": ""}, "model of the reranker chat must be the name of a model"),
        ({"window": 2, "step": 3}, "step of the reranker chat must be at most the window"),
        ({"price_in": 1.0}, "give both price_in and price_out, or neither"),
        ({"characters": 0}, "characters of the reranker chat"),
    ],
)
def test_wrong_options_are_explained(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        build("http://127.0.0.1:1/v1", **options)
