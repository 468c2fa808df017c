"""A client of language models on any server that speaks the chat protocol of OpenAI.

It is built on our own `JsonServer` and not on the package `openai`, because there keys are masked,
answers bounded and every attempt can be paid from a budget before it is sent, without a further
dependency.
"""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple, Protocol, TypeAlias

from berryeval._internal.aio import limit_time
from berryeval._internal.json import find_mismatch, parse_json
from berryeval._internal.masking import cut
from berryeval._internal.optional import import_optional
from berryeval._internal.plain import show
from berryeval._internal.serial import describe_json
from berryeval._internal.validate import is_number, is_whole, nearest, require, require_whole
from berryeval.errors import ConfigurationError, DataError, ProviderError, RunFailedError
from berryeval.providers.web import JsonServer, choose_wait

ChatOutcome: TypeAlias = Literal["ok", "refused", "cut off", "invalid", "error", "timeout"]
Message: TypeAlias = Mapping[str, str]  # with "role" and "content"
OPENAI: Final = "https://api.openai.com/v1"
KEY_NAME: Final = "OPENAI_API_KEY"
_ZERO: Final = Decimal(0)
_MILLION: Final = 1_000_000
_FORMS: Final = ("json_schema", "json_object", "text")  # of answers; the first that a server takes
_BY_SCHEMA: Final = "Answer with one JSON object and nothing else. It follows this JSON Schema: "
_LENGTHS: Final = ("max_tokens", "max_completion_tokens")  # newer models know only the second
_AROUND_PROMPT: Final = 200  # tokens that a server may add to a prompt
_AROUND_MESSAGE: Final = 20
_MOST_TOKENS: Final = 100_000_000  # no model reads as many; a server that counts more miscounts
_LONGEST_ANSWER: Final = 20_000  # characters of an answer that are kept
_BAD_REQUEST: Final = (400, 422)
_NO_ACCESS: Final = (401, 403)
_NOT_FOUND: Final = 404
_REQUEST_TIMEOUT: Final = 408
_SERVER_ERROR: Final = 500
_PROBE_TOKENS: Final = 16
_LISTED: Final = 5  # models in a message
log = logging.getLogger("berryeval")


class Reply(NamedTuple):
    """What came of a question; only "ok" has data.

    Attributes:
        outcome: "ok", "refused", "cut off" (at `max_tokens`), "invalid" (not what was asked for),
            "error" or "timeout" (no answer after all attempts).
        data: The answer, which follows the schema; empty unless the outcome is "ok".
        text: The raw answer, or the reason why there is no answer.
        tokens_in: Tokens of the prompt, as the server counts them; None if it does not say.
        tokens_out: Tokens of the answer.
        cost: US dollars of all attempts; None without prices. An attempt whose tokens the server
            does not tell counts with the most that it can have cost.
        model: The model, as the server names it.
    """

    outcome: ChatOutcome
    data: Mapping[str, Any] = {}
    text: str = ""
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: Decimal | None = None
    model: str = ""


class Meter(Protocol):
    """An account that approves each request before it is sent, and records its cost."""

    def reserve(self, most: Decimal) -> None:
        """Allow a request that costs at most this, or raise."""

    def settle(self, most: Decimal, cost: Decimal) -> None:
        """Take note of the cost of a request for which `most` was reserved."""


@dataclass
class ChatModel:
    """A language model on a server; safe to use from several threads.

    Attributes:
        model: Name of the model on the server.
        base_url: Address up to and including `/v1`.
        api_key: Key sent as `Authorization: Bearer ...`; "" for none.
        temperature: Temperature; None to send none.
        seed: Random seed of the server; None to send none.
        max_tokens: Longest answer.
        timeout: Seconds that one attempt may take.
        attempts: Attempts after temporary errors.
        price_in: US dollars for a million tokens of prompts; None if unknown.
        price_out: US dollars for a million tokens of answers.
    """

    model: str
    base_url: str = field(default=OPENAI, repr=False)
    api_key: str = field(default="", repr=False)
    temperature: float | None = 0.0
    seed: int | None = 0
    max_tokens: int = 400
    timeout: float = 60.0
    attempts: int = 5
    price_in: float | None = None
    price_out: float | None = None
    sleep: Callable[[float], object] = field(default=time.sleep, repr=False)
    key_name: str = field(default=KEY_NAME, repr=False)
    key_advice: str = field(default=", or name the variable with --api-key-env", repr=False)
    _server: JsonServer = field(init=False, repr=False)
    _form: int = field(default=0, init=False, repr=False)
    _overran: bool = field(default=False, init=False, repr=False)
    _length: str = field(default=_LENGTHS[0], init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        named = isinstance(self.model, str) and bool(self.model.strip())
        require(named, "model", "the name of a model", self.model)
        require_whole("max tokens", self.max_tokens)
        require_whole("attempts", self.attempts)
        warm = self.temperature is None or is_number(self.temperature)
        require(warm, "temperature", "a number", self.temperature)
        for name in ("price_in", "price_out"):
            price = getattr(self, name)
            fair = price is None or (is_number(price) and price >= 0)
            require(fair, name.replace("_", " "), "a number of dollars, 0 or more", price)
        if (self.price_in is None) != (self.price_out is None):
            raise ConfigurationError("give both prices, or none: --price-in and --price-out")
        self._server = JsonServer(
            f"the model {show(self.model)}", self.base_url, timeout=self.timeout,
            authorization=f"Bearer {self.api_key}" if self.api_key else "",
        )  # fmt: skip

    @classmethod
    def from_environment(
        cls, model: str, base_url: str = OPENAI, key_name: str = "", **options: Any
    ) -> ChatModel:
        """Build a model whose key is in an environment variable; own servers may need none."""
        name = key_name or KEY_NAME
        key = os.environ.get(name, "").strip()
        if not key and (key_name or base_url == OPENAI):
            raise ConfigurationError(
                f"{name} is not set; set it to the key of {base_url}, or name another "
                "variable with --api-key-env, or another server with --base-url"
            )
        return cls(model, base_url, key, key_name=name, **options)

    @property
    def options(self) -> dict[str, Any]:
        """What decides an answer besides the messages."""
        shown = {"temperature": self.temperature, "seed": self.seed, "max_tokens": self.max_tokens}
        return {"model": self.model, "server": self._server.shown_url, **shown}

    @property
    def has_prices(self) -> bool:
        """Whether the cost of a request is known."""
        return self.price_in is not None and self.price_out is not None

    def count_cost(self, tokens_in: int, tokens_out: int) -> Decimal:
        """Return the exact cost of a number of tokens."""
        # str: a price of 0.15 means fifteen cents, not the nearest binary fraction
        prices = Decimal(str(self.price_in or 0)), Decimal(str(self.price_out or 0))
        return (tokens_in * prices[0] + tokens_out * prices[1]) / _MILLION

    def most_cost(self, messages: Sequence[Message], schema: Mapping[str, Any]) -> Decimal:
        """Return the most that one attempt can cost."""
        return self.count_cost(count_most_tokens(messages, schema), self.max_tokens)

    def check(self, meter: Meter | None = None) -> None:
        """Raise unless the server accepts the key and knows the model.

        A model that the server does not list is asked for a single token.
        """
        import_optional("httpx", self._server.what, extra="http")
        known: list[str] = []
        try:
            known = self._list_models()
        except ProviderError as error:
            if error.status in _NO_ACCESS:
                raise self._explain(error) from None
            if not error.sent:
                raise RunFailedError(str(error)) from None
        if self.model in known or f"{self.model}:latest" in known:
            return
        messages, schema = ({"role": "user", "content": "Answer: 1"},), {"type": "object"}
        body = {**self._body(messages, schema, len(_FORMS) - 1), self._length: _PROBE_TOKENS}
        _, problem, _ = self._try(body, schema, self.most_cost(messages, schema), meter)
        if problem is not None and not problem.passing and _LENGTHS[1] not in str(problem):
            raise self._explain(problem, known)

    def ask(
        self, messages: Sequence[Message], schema: Mapping[str, Any], meter: Meter | None = None
    ) -> Reply:
        """Ask for an answer that follows a JSON Schema.

        Temporary errors are tried again. A server that does not take a schema is asked for any JSON
        object, and one that does not know that either for text; the answer is checked here in all
        cases. A wrong key and an unknown model are errors, since no question would succeed.
        """
        most = self.most_cost(messages, schema)
        spent, form, attempt = _ZERO, self._form, 1
        first: ProviderError | None = None
        while True:
            body = self._body(messages, schema, form)
            reply, error, cost = self._try(body, schema, most, meter)
            spent += cost
            if error is None:
                self._keep_form(form)
                break
            if error.status in _BAD_REQUEST and self._rename_length(body, error):
                continue
            if error.status in _BAD_REQUEST and form + 1 < len(_FORMS) and not _is_filter(error):
                first, form = first or error, form + 1
                continue
            if not error.passing or attempt >= self.attempts:
                reply = self._fail(first or error if error.status in _BAD_REQUEST else error)
                break
            self.sleep(choose_wait(attempt, error.retry_after))
            attempt += 1
        return reply._replace(cost=spent if self.has_prices else None)

    def _rename_length(self, body: Mapping[str, Any], error: ProviderError) -> bool:
        """Use the other name of the longest answer, if a server asks for it."""
        asked = _LENGTHS[1] in str(error) and _LENGTHS[1] not in body
        if asked:
            self._length = _LENGTHS[1]
        return asked

    def _keep_form(self, form: int) -> None:
        """Ask for answers in this form from now on, since the server takes it."""
        with self._lock:
            self._form = max(self._form, form)

    def _try(
        self, body: Mapping[str, Any], schema: Mapping[str, Any], most: Decimal, meter: Meter | None
    ) -> tuple[Reply, ProviderError | None, Decimal]:
        """Send one request; return what came, the error, and what it cost at most."""
        if meter:
            meter.reserve(most)
        cost = most
        try:
            with limit_time(self.timeout):
                reply = self._read(self._server.ask("POST", "/chat/completions", body=body), schema)
        except ProviderError as error:
            if not error.sent or _is_free(error.status):
                cost = _ZERO
            return Reply("error"), error, cost
        else:
            if reply.tokens_in is not None and reply.tokens_out is not None:
                cost = self.count_cost(reply.tokens_in, reply.tokens_out)
            if cost > most and not self._overran:
                self._overran = True  # the others cost as much
                text = "%s: a request cost $%s, not $%s at most; others may, too"
                log.warning(text, self._server.what, cost, most)
            return reply, None, cost
        finally:
            if meter:
                meter.settle(most, cost)

    def _body(
        self, messages: Sequence[Message], schema: Mapping[str, Any], form: int
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self.model,
            "messages": [dict(one) for one in messages],
            self._length: self.max_tokens,
        }
        given = {"temperature": self.temperature, "seed": self.seed}
        body |= {name: value for name, value in given.items() if value is not None}
        if _FORMS[form] == "json_schema":
            named = {"name": "answer", "strict": True, "schema": dict(schema)}
            return {**body, "response_format": {"type": "json_schema", "json_schema": named}}
        body["messages"].append({"role": "system", "content": _BY_SCHEMA + json.dumps(schema)})
        if _FORMS[form] == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def _read(self, answer: Any, schema: Mapping[str, Any]) -> Reply:
        """Read the answer of a server, of which every part may be missing or wrong."""
        given = answer if isinstance(answer, Mapping) else {}
        if "error" in given and "choices" not in given:
            return Reply("error", text=self._shown(f"the server says {show(given['error'], 200)}"))
        choices = given.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else {}
        choice = choice if isinstance(choice, Mapping) else {}
        message = choice.get("message")
        message = message if isinstance(message, Mapping) else {}
        content, refusal = message.get("content"), message.get("refusal")
        content = self._server.mask(content) if isinstance(content, str) else content
        text = self._shown(content or "")
        tokens = _read_usage(given.get("usage"), text)
        named = given.get("model")
        model = cut(named) if isinstance(named, str) and named else self.model
        reply = Reply("ok", {}, text, *tokens, None, model)
        end = choice.get("finish_reason")
        if end == "content_filter" or (isinstance(refusal, str) and refusal):
            return reply._replace(outcome="refused", text=self._shown(refusal or text or end))
        if end == "length":
            words = f"{text}... (longer than {self.max_tokens:,} tokens)".strip()
            return reply._replace(outcome="cut off", text=words)
        if not isinstance(content, str):
            found = f"no text in the answer, found {describe_json(content)}"
            return reply._replace(outcome="invalid", text=self._shown(found))
        data: Any = {}
        try:
            data = parse_json(_strip_fence(content), "the answer")
            problem = find_mismatch(data, schema)
        except DataError as error:
            problem = str(error)
        if problem:
            return reply._replace(outcome="invalid", text=self._shown(f"{problem}: {text}"))
        return reply._replace(data=data)

    def _shown(self, text: Any) -> str:
        return self._server.mask(str(text))[:_LONGEST_ANSWER]

    def _fail(self, error: ProviderError) -> Reply:
        """Return the outcome of an error, or raise it if every question would end with it."""
        if error.status in {*_NO_ACCESS, _NOT_FOUND}:
            raise self._explain(error)
        if _is_filter(error):
            return Reply("refused", text=str(error), model=self.model)
        outcome: ChatOutcome = "timeout" if error.timed_out else "error"
        return Reply(outcome, text=str(error), model=self.model)

    def _explain(
        self, error: ProviderError, known: Sequence[str] | None = None
    ) -> ConfigurationError:
        """Say what to change after an error that every question would end with."""
        if error.status in _NO_ACCESS:
            advice = (
                f"set {self.key_name} to a key that it accepts"
                if self.api_key
                else f"it wants a key; set {self.key_name}{self.key_advice}"
            )
            return ConfigurationError(f"{error}; {advice}")
        if known is None:
            with suppress(ProviderError):
                known = self._list_models()
        if known and self.model not in known:
            return self._unknown_model(known, str(error))
        return ConfigurationError(
            f"{error}; the server does not know the model {show(self.model)}, or "
            f"{self._server.shown_url} is not its address, which usually ends with /v1"
        )

    def _unknown_model(self, known: Sequence[str], reason: str) -> ConfigurationError:
        first = nearest(self.model, known) or sorted(known)[:_LISTED]
        more = f" and {len(known) - len(first):,} more" if len(known) > len(first) else ""
        return ConfigurationError(
            self._server.mask(
                f"{self._server.shown_url} does not know the model {show(self.model)}; it has "
                f"{', '.join(cut(name) for name in first)}{more} ({cut(reason)})"
            )
        )

    def _list_models(self) -> list[str]:
        with limit_time(self.timeout):
            answer = self._server.ask("GET", "/models")
        data = answer.get("data") if isinstance(answer, Mapping) else None
        models = data if isinstance(data, list) else []
        names = [one.get("id") for one in models if isinstance(one, Mapping)]
        return [name for name in names if isinstance(name, str)]

    def close(self) -> None:
        """Close the connections."""
        self._server.close()


def count_most_tokens(messages: Sequence[Message], schema: Mapping[str, Any]) -> int:
    """Return the most tokens that a prompt can have: one for each byte, and what servers add.

    English text has about four bytes in a token.
    """
    texts = [*(one["content"] for one in messages), _BY_SCHEMA, json.dumps(schema)]
    size = sum(len(text.encode(errors="surrogatepass")) for text in texts)
    return size + _AROUND_PROMPT + _AROUND_MESSAGE * len(texts)


def _strip_fence(text: str) -> str:
    """Return a text without the fence of Markdown around it, which many models add."""
    lines = text.strip().split("\n")
    fenced = (
        len(lines) > 1 and lines[0].strip() in {"```", "```json"} and lines[-1].strip() == "```"
    )
    return "\n".join(lines[1:-1]) if fenced else text


def _read_usage(usage: Any, text: str) -> tuple[int | None, int | None]:
    """Return the tokens that a server reports; None if it cannot be: every text has some."""
    given = usage if isinstance(usage, Mapping) else {}
    tokens = [given.get(name) for name in ("prompt_tokens", "completion_tokens")]
    least = (1, 1 if text else 0)
    if all(
        is_whole(one) and low <= one < _MOST_TOKENS for one, low in zip(tokens, least, strict=True)
    ):
        return int(tokens[0]), int(tokens[1])  # type: ignore[arg-type]
    return None, None


def _is_free(status: int | None) -> bool:
    """Whether a server that answers with this status did not do the work."""
    known = status is not None and status < _SERVER_ERROR
    return known and status != _REQUEST_TIMEOUT


def _is_filter(error: ProviderError) -> bool:
    """Whether a server refused a prompt for its content, which some do with status 400."""
    text = str(error)
    return error.status in _BAD_REQUEST and (
        "content_filter" in text or "content management policy" in text
    )
