"""The client of language models against a server that speaks their protocol."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import contextmanager, suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest

from berryeval._internal.json import find_mismatch
from berryeval.errors import ConfigurationError, RunFailedError
from berryeval.providers.chat import ChatModel, count_most_tokens
from tests.judging.chat_server import GOOD, SCHEMA, ask_about, chat_server, fail, say
from tests.providers.loopback import Reply as Raw
from tests.providers.loopback import loopback

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "sk-canary-0123456789"


OPENED: list[ChatModel] = []


@pytest.fixture(autouse=True)
def _close_models() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


def build(url: str, **options: Any) -> ChatModel:
    """Build a model that does not really wait."""
    model = ChatModel(**{"model": "tiny", "base_url": url, "sleep": lambda _: None, **options})
    OPENED.append(model)
    return model


def test_asks_for_the_schema_and_reads_the_answer() -> None:
    """A request names model, schema, temperature, seed and length; an answer has its tokens."""
    with chat_server(key=KEY) as server:
        model = build(server.url, api_key=KEY, price_in=0.15, price_out=0.6)
        reply = model.ask(ask_about("a"), SCHEMA)
    body = server.asked[0]
    assert body["response_format"]["json_schema"]["schema"] == SCHEMA
    assert (body["model"], body["temperature"], body["seed"]) == ("tiny", 0.0, 0)
    assert body["max_tokens"] == 400
    assert reply.outcome == "ok"
    assert reply.data == {"grade": 2, "reason": "Names the limit."}
    assert (reply.tokens_in, reply.tokens_out, reply.model) == (50, 20, "tiny-2026-01")
    assert reply.cost == Decimal("0.0000195")  # 50 * 0.15 + 20 * 0.60 per million, exactly


@pytest.mark.parametrize("forms", [("json_object", "text"), ("text",)])
def test_server_without_schemas_is_asked_for_less(forms: tuple[str, ...]) -> None:
    """A server that does not know schemas gets the schema in words, and is asked so at once."""
    with chat_server(forms=forms) as server:
        model = build(server.url)
        assert model.ask(ask_about("a"), SCHEMA).outcome == "ok"
        first = len(server.asked)
        assert model.ask(ask_about("b"), SCHEMA).outcome == "ok"
    assert first == 4 - len(forms)
    assert len(server.asked) == first + 1
    assert json.dumps(SCHEMA) in server.asked[-1]["messages"][-1]["content"]


def test_bad_request_in_every_form_keeps_the_schema() -> None:
    """A request that is wrong in itself does not make later ones give up the schema."""

    def script(text: str, _time: int) -> Any:
        return fail(400, "too long") if text == "long" else say()

    with chat_server(script) as server:
        model = build(server.url)
        assert model.ask(ask_about("long"), SCHEMA).outcome == "error"
        assert model.ask(ask_about("short"), SCHEMA).outcome == "ok"
    assert server.asked[-1]["response_format"]["type"] == "json_schema"


def test_newer_name_of_the_longest_answer_is_used() -> None:
    """Some models of OpenAI take `max_completion_tokens` only, and say so."""
    words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."

    def script(_text: str, _time: int) -> Any:
        return say() if "max_completion_tokens" in server.asked[-1] else fail(400, words)

    with chat_server(script, models=()) as server:
        model = build(server.url)
        model.check()
        assert [model.ask(ask_about(one), SCHEMA).outcome for one in "ab"] == ["ok", "ok"]
    assert ["max_tokens" in body for body in server.asked] == [True, True, False, False]
    assert server.asked[-1]["response_format"]["type"] == "json_schema"


OUTCOMES = {
    "refusal": (say(None, refusal="I cannot help."), "refused"),
    "content filter": (say("", "content_filter"), "refused"),
    "filtered prompt": (fail(400, "blocked", "content_filter"), "refused"),
    "cut off": (say('{"grade": 3, "rea', "length"), "cut off"),
    "cut off before the first word": (say(None, "length"), "cut off"),
    "cut off after a whole object": (say(GOOD, "length"), "cut off"),
    "no JSON": (say("The grade is 3."), "invalid"),
    "prose around": (say(f"Here it is: {GOOD}"), "invalid"),
    "half an object": (say('{"grade": 3, "rea'), "invalid"),
    "wrong schema": (say('{"score": 3}'), "invalid"),
    "further field": (say('{"grade": 3, "reason": "", "more": 1}'), "invalid"),
    "outside the scale": (say('{"grade": 4, "reason": ""}'), "invalid"),
    "negative": (say('{"grade": -1, "reason": ""}'), "invalid"),
    "grade as text": (say('{"grade": "3", "reason": ""}'), "invalid"),
    "grade as truth": (say('{"grade": true, "reason": ""}'), "invalid"),
    "half a grade": (say('{"grade": 2.5, "reason": ""}'), "invalid"),
    "no grade": (say('{"grade": null, "reason": ""}'), "invalid"),
    "two objects": (say(f"{GOOD}\n{GOOD}"), "invalid"),
    "a list of objects": (say(f"[{GOOD}]"), "invalid"),
    "two grades": (say('{"grade": 0, "grade": 3, "reason": ""}'), "invalid"),
    "not a number": (say('{"grade": NaN, "reason": ""}'), "invalid"),
    "nothing": (say(""), "invalid"),
    "no text": (say(None), "invalid"),
    "no choice": (say(choices=[]), "invalid"),
    "odd choice": (say(choices=[None]), "invalid"),
    "no object": ([1], "invalid"),
    "error with status 200": ({"error": {"message": "overloaded"}}, "error"),
    "not JSON": (Raw(b"<html>"), "error"),
    "JSON that ends early": (Raw(json.dumps(say()).encode()[:-9]), "error"),
    "always busy": (fail(503, "busy"), "error"),
    "connection lost": (None, "error"),
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_only_a_valid_answer_is_ok(name: str) -> None:
    """Everything but a valid answer is an outcome without data, and says why."""
    answer, outcome = OUTCOMES[name]
    with chat_server(lambda _text, _time: answer) as server:
        reply = build(server.url, attempts=2).ask(ask_about("a"), SCHEMA)
    assert reply.outcome == outcome
    assert reply.data == {}
    assert reply.text


def test_fence_of_markdown_is_no_part_of_an_answer() -> None:
    """Many models put their JSON into a fence."""
    with chat_server(lambda _text, _time: say(f"```json\n{GOOD}\n```")) as server:
        assert build(server.url).ask(ask_about("a"), SCHEMA).outcome == "ok"


def test_waits_as_long_as_the_server_asks() -> None:
    """Status 429 is tried again after its Retry-After, other errors after longer waits."""
    waits: list[float] = []
    answers = [fail(429, "slow down", **{"Retry-After": "7"}), fail(500, "x"), fail(500, "x")]

    def script(_text: str, time_: int) -> Any:
        return answers[time_ - 1] if time_ <= len(answers) else say()

    with chat_server(script) as server:
        reply = build(server.url, sleep=waits.append).ask(ask_about("a"), SCHEMA)
    assert reply.outcome == "ok"
    assert waits == [7.0, 1.0, 2.0]


def test_slow_answer_is_a_timeout() -> None:
    """A server that says nothing is a timeout after all attempts."""
    end = threading.Event()

    def script(_text: str, _time: int) -> Any:
        end.wait(60)
        return say()

    with chat_server(script) as server:
        reply = build(server.url, timeout=1.0, attempts=2).ask(ask_about("a"), SCHEMA)
        end.set()
    assert reply.outcome == "timeout"
    assert len(server.asked) == 2


@contextmanager
def trickling() -> Iterator[str]:
    """Serve an answer that never ends: a byte now and then."""
    server = socket.create_server(("127.0.0.1", 0))
    done = threading.Event()

    def serve() -> None:
        connection, _ = server.accept()
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        with suppress(OSError):
            while not done.wait(0.02):
                connection.sendall(b" ")
        connection.close()

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.getsockname()[1]}/v1"
    finally:
        done.set()
        thread.join()
        server.close()


def test_endless_answer_is_a_timeout() -> None:
    """The timeout is for the whole answer, not for each byte."""
    with trickling() as url:
        reply = build(url, timeout=0.2, attempts=1).ask(ask_about("a"), SCHEMA)
    assert reply.outcome == "timeout"


@pytest.mark.parametrize("given", ["", "sk-wrong-9876543210"])
def test_wrong_key_ends_the_job(given: str) -> None:
    """No question would succeed, so it is an error, which does not show the key."""
    with chat_server(key=KEY) as server:
        model = build(server.url, api_key=given, key_name="MY_KEY")
        for call in (model.check, lambda: model.ask(ask_about("a"), SCHEMA)):
            with pytest.raises(ConfigurationError, match="MY_KEY") as caught:
                call()
            assert "sk-" not in str(caught.value)
            assert "401" in str(caught.value)


def test_unknown_model_lists_what_the_server_has() -> None:
    """The message names the models that the server offers."""
    with chat_server() as server:
        model = build(server.url, model="tyni")
        for call in (model.check, lambda: model.ask(ask_about("a"), SCHEMA)):
            with pytest.raises(ConfigurationError, match=r"does not know the model 'tyni'; .*tiny"):
                call()


def test_wrong_address_is_explained() -> None:
    """A server that has no such page gets the advice about its address."""
    with chat_server() as server:
        model = build(server.url.removesuffix("/v1"))
        with pytest.raises(ConfigurationError, match="usually ends with /v1"):
            model.check()


def test_known_model_is_not_asked_to_check_it() -> None:
    """A model in the list of the server costs nothing to check; an unlisted one a few tokens."""
    with chat_server() as server:
        build(server.url).check()
        assert not server.asked
    with chat_server(models=()) as server:
        build(server.url).check()
        assert [body["max_tokens"] for body in server.asked] == [16]


def test_no_server_is_one_clear_line() -> None:
    """A server that cannot be reached ends the job before anything is asked."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    with pytest.raises(RunFailedError, match="the model 'tiny'"):
        build(f"http://127.0.0.1:{port}/v1").check()


def test_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says which variable to set; own servers need no key."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="OPENAI_API_KEY is not set"):
        ChatModel.from_environment("gpt")
    with pytest.raises(ConfigurationError, match="OTHER_KEY is not set"):
        ChatModel.from_environment("gpt", "http://127.0.0.1:1/v1", "OTHER_KEY")
    assert ChatModel.from_environment("own", "http://127.0.0.1:1/v1").api_key == ""
    monkeypatch.setenv("OTHER_KEY", KEY)
    model = ChatModel.from_environment("gpt", key_name="OTHER_KEY")
    assert model.api_key == KEY
    assert KEY not in repr(model)


def test_echoed_key_is_masked() -> None:
    """A server that repeats the key does not put it into what is kept."""
    echo = say(json.dumps({"grade": 1, "reason": f"key {KEY}"}))
    answers = [echo, say(f"no JSON but {KEY}"), say(None, refusal=KEY), fail(403, KEY)]
    with chat_server(lambda text, _time: answers[int(text)]) as server:
        model = build(server.url, api_key=KEY)
        for place in range(3):
            reply = model.ask(ask_about(str(place)), SCHEMA)
            assert "***" in repr(reply)
            assert KEY not in repr(reply)
        with pytest.raises(ConfigurationError) as caught:
            model.ask(ask_about("3"), SCHEMA)
        assert KEY not in str(caught.value)


class Purse:
    """A meter that writes down what it is asked and told."""

    def __init__(self) -> None:
        self.reserved: list[Decimal] = []
        self.settled: list[Decimal] = []

    def reserve(self, most: Decimal) -> None:
        """Allow everything."""
        self.reserved.append(most)

    def settle(self, most: Decimal, cost: Decimal) -> None:
        """Note a cost."""
        assert most == self.reserved[len(self.settled)]
        self.settled.append(cost)


USAGES = {
    "no usage": None,
    "negative": {"prompt_tokens": -5, "completion_tokens": 2},
    "huge": {"prompt_tokens": 10**15, "completion_tokens": 2},
    "text": {"prompt_tokens": "5", "completion_tokens": 2},
    "half": {"prompt_tokens": 5},
    "nothing": {"prompt_tokens": 0, "completion_tokens": 0},
    "no prompt": {"prompt_tokens": 0, "completion_tokens": 20},
    "no answer": {"prompt_tokens": 50, "completion_tokens": 0},
}


@pytest.mark.parametrize("usage", USAGES.values(), ids=USAGES)
def test_unbelievable_usage_counts_as_the_most(usage: Any) -> None:
    """An answer without believable tokens counts with all that it can have cost."""
    purse = Purse()
    with chat_server(lambda _text, _time: say(usage=usage)) as server:
        reply = build(server.url, price_in=1, price_out=2).ask(ask_about("a"), SCHEMA, purse)
    assert (reply.tokens_in, reply.tokens_out) == (None, None)
    assert reply.cost == purse.settled[0] == purse.reserved[0] > 0


def test_refusal_without_a_word_may_have_no_tokens() -> None:
    """A filter that lets nothing through reports 0 tokens for the answer, which is believable."""
    usage = {"prompt_tokens": 50, "completion_tokens": 0}
    with chat_server(lambda _text, _time: say("", "content_filter", usage=usage)) as server:
        reply = build(server.url, price_in=1, price_out=2).ask(ask_about("a"), SCHEMA)
    assert (reply.outcome, reply.cost) == ("refused", Decimal("0.00005"))


def test_query_of_the_address_stays_behind_the_path() -> None:
    """Some servers take their key or version in the address; it is sent, and shown nowhere."""
    with loopback(lambda _asked: say()) as server:
        model = build(f"{server.url}/v1/?api-key={KEY}&version=2")
        reply = model.ask(ask_about("a"), SCHEMA)
    assert reply.outcome == "ok"
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.params == {"api-key": [KEY], "version": ["2"]}
    assert KEY not in str(model.options)


def test_every_attempt_is_paid() -> None:
    """A refused request is free; one that failed on the way or in the server is not."""
    purse = Purse()
    answers = [fail(429, "x"), fail(500, "x"), None, say()]
    with chat_server(lambda _text, time_: answers[time_ - 1]) as server:
        model = build(server.url, price_in=1, price_out=2)
        reply = model.ask(ask_about("a"), SCHEMA, purse)
    most = purse.reserved[0]
    assert purse.settled == [0, most, most, model.count_cost(50, 20)]
    assert reply.cost == sum(purse.settled)


def test_most_tokens_are_at_least_the_bytes() -> None:
    """A token has at least one byte, so a prompt cannot have more tokens than this."""
    text = "Zwölf Boxkämpfer 😀"
    messages = ask_about(text)
    size = sum(len(one["content"].encode()) for one in messages) + len(json.dumps(SCHEMA))
    assert count_most_tokens(messages, SCHEMA) > size


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"price_in": 1.0}, "both prices"),
        ({"price_in": -1, "price_out": 1}, "price in"),
        ({"price_in": float("nan"), "price_out": 1}, "price in"),
        ({"max_tokens": 0}, "max tokens"),
        ({"attempts": 0}, "attempts"),
        ({"timeout": 0}, "timeout"),
        ({"temperature": "hot"}, "temperature"),
        ({"model": " "}, "model"),
        ({"base_url": "localhost:80"}, "url"),
    ],
)
def test_bad_options_are_rejected(options: dict[str, Any], words: str) -> None:
    """Each option is checked before anything is sent."""
    with pytest.raises(ConfigurationError, match=words):
        ChatModel(**{"model": "tiny", "base_url": "http://127.0.0.1:1/v1", **options})


def test_schema_reaches_into_arrays() -> None:
    """Items of arrays and optional fields are checked too."""
    item = {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}
    schema = {"type": "object", "properties": {"all": {"type": "array", "items": item}}}
    assert find_mismatch({"all": [{"q": "x"}]}, schema) == ""
    assert find_mismatch({}, schema) == ""
    assert "all[1]: has no 'q'" in find_mismatch({"all": [{"q": "x"}, {}]}, schema)
    assert "all[0].q: expected string" in find_mismatch({"all": [{"q": 1}]}, schema)
