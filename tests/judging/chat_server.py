"""A scripted server on this machine that speaks the chat protocol."""

from __future__ import annotations

import json
import threading
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.providers.loopback import Asked, Reply, loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SCHEMA = {
    "type": "object",
    "properties": {
        "grade": {"type": "integer", "enum": [0, 1, 2, 3]},
        "reason": {"type": "string"},
    },
    "required": ["grade", "reason"],
    "additionalProperties": False,
}
GOOD = json.dumps({"grade": 2, "reason": "Names the limit."})


def ask_about(text: str) -> list[dict[str, str]]:
    """Build the messages of a question."""
    return [
        {"role": "system", "content": "Grade the passage."},
        {"role": "user", "content": text},
    ]


def say(text: str | None = GOOD, end: str = "stop", **more: Any) -> dict[str, Any]:
    """Build the answer of the protocol; `usage` and `refusal` replace the usual ones."""
    message = {"role": "assistant", "content": text, "refusal": more.pop("refusal", None)}
    choice = {"index": 0, "message": message, "finish_reason": end}
    usage = {"prompt_tokens": 50, "completion_tokens": 20, "total_tokens": 70}
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "model": "tiny-2026-01",
        "choices": [choice], "usage": usage, **more,
    }  # fmt: skip


def fail(status: int, message: str, code: str = "", **headers: str) -> Reply:
    """Build an error of the protocol."""
    error = {"message": message, "type": "error", "param": None, "code": code or None}
    return Reply({"error": error}, status, {**headers})


@dataclass
class ChatServer:
    """The address of the server, and what was asked."""

    url: str
    key: str
    models: tuple[str, ...]
    asked: list[dict[str, Any]] = field(default_factory=list)  # bodies of chat requests
    headers: list[dict[str, str]] = field(default_factory=list)
    times: Counter[str] = field(default_factory=Counter)  # by text of the last user message
    lock: threading.Lock = field(default_factory=threading.Lock)


def _find_text(body: dict[str, Any]) -> str:
    texts = [str(one["content"]) for one in body["messages"] if one["role"] == "user"]
    return texts[-1]


@contextmanager
def chat_server(
    script: Callable[[str, int], Any] = lambda _text, _time: say(),
    *,
    key: str = "",
    models: tuple[str, ...] = ("tiny", "small"),
    forms: tuple[str, ...] = ("json_schema", "json_object", "text"),
) -> Iterator[ChatServer]:
    """Serve what `script` returns for a question that is asked for the n-th time."""

    def answer(request: Asked) -> Any:
        if key and request.headers.get("authorization") != f"Bearer {key}":
            given = request.headers.get("authorization", "").removeprefix("Bearer ")
            return fail(401, f"Incorrect API key provided: {given}", "invalid_api_key")
        if request.path == "/v1/models" and models:
            return {"object": "list", "data": [{"id": name} for name in models]}
        if request.path != "/v1/chat/completions":
            return fail(404, "no such page")
        body = request.body
        if models and body["model"] not in models:
            return fail(404, f"The model `{body['model']}` does not exist", "model_not_found")
        form = body.get("response_format", {"type": "text"})["type"]
        text = _find_text(body)
        with place.lock:
            place.asked.append(body)
            place.headers.append(request.headers)
            if form not in forms:
                return fail(400, f"unknown response_format {form}")
            place.times[text] += 1
            time = place.times[text]
        return script(text, time)

    with loopback(answer) as server:
        place = ChatServer(f"{server.url}/v1", key, models)
        yield place
