"""Canary keys, a server that echoes requests in many forms, and a search for what leaked."""

from __future__ import annotations

import base64
import html
import json
import random
import re
import sqlite3
import string
import zlib
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote_plus

from tests.providers.loopback import Asked, Reply

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = 'Zk9&q"W+x7=<Tz-4NrYcVb2XsD1fGh3JqL8mPw5'
PATH = quote(KEY, safe="")
WINDOW = 8  # characters of the key in a row that count as a leak
CUT = 190  # the key begins here in a text that is cut after 200 characters
KEYS: list[str] = []
PARTS: dict[str, str] = {}  # each part of a key in lower case, and whose key it is


def _find_windows(text: str) -> set[str]:
    return {text[place : place + WINDOW] for place in range(len(text) - WINDOW + 1)}


def _add_key(key: str, name: str) -> str:
    parts = _find_windows(key.lower())
    assert not parts & PARTS.keys()
    KEYS.append(key)
    PARTS.update(dict.fromkeys(parts, name))
    return key


def make_key(name: str) -> str:
    """Return a key that shares no part with another, so that a leak of it names its place."""
    drawn = random.Random(name)
    kinds = (string.ascii_lowercase, string.ascii_uppercase, string.digits)
    signs = (next((drawn.choice(kind) for kind in kinds if sign in kind), sign) for sign in KEY)
    return _add_key("".join(signs), name)


_add_key(KEY, "the key")


def echo(asked: Asked) -> str:
    """Return all parts of a request, with the pair of basic authentication also decoded."""
    scheme, _, value = asked.headers.get("authorization", "").partition(" ")
    pair = base64.b64decode(value).decode() if scheme == "Basic" else ""
    sent = [asked.path, unquote_plus(asked.path), asked.params, asked.headers, pair]
    return f"{find_key(asked, pair)} {sent} {asked.content.decode()}"


def find_key(asked: Asked, pair: str) -> str:
    """Return the key of a request as the server knows it, else its whole authorization."""
    sent = f"{unquote_plus(asked.path)} {asked.params} {asked.headers} {pair} "
    sent += asked.content.decode()
    found = (key for key in KEYS if key in sent)
    return next(found, asked.headers.get("authorization", ""))


def _page(text: str) -> Reply:
    return Reply(text.encode(), 400)


def _pad(text: str, place: int = CUT) -> str:
    return f"{'x' * place}{text}{'y' * 300}"


MODES: dict[str, Any] = {
    "error": lambda text: _page(_pad(text)),
    "early": _page,
    "escaped": lambda text: _page(html.escape(text)),
    "numbered": lambda text: _page("".join(f"&#x{ord(sign):X};" for sign in text)),
    "base64": lambda text: _page(base64.b64encode(f"Bearer {text}".encode()).decode()),
    "urlsafe": lambda text: _page(base64.urlsafe_b64encode(f"me:{text}".encode()).decode()),
    "wrapped": lambda text: _page(base64.encodebytes(text.encode()).decode()),
    "percent": lambda text: _page(quote(text, safe="").lower()),
    "twice": lambda text: _page(quote(quote(text, safe=""))),
    "json": lambda text: Reply({"error": json.dumps(_pad(text, 170))}, 403),
    "unicode": lambda text: _page("".join(f"\\u{ord(sign):04x}" for sign in text)),
    "shouted": lambda text: _page(text.upper()),
    "hex": lambda text: _page(text.encode().hex()),
    "no-json": lambda text: Reply(_pad(text).encode()),
    "chunked": lambda text: Reply(text.encode(), 400, pieces=7),
    "moved": lambda text: Reply({}, 302, {"Location": f"http://h/{quote(text, safe='')}"}),
    "shape": lambda text: Reply({_pad(text, 70): 1}),
    "score": lambda text: Reply({"hits": [{"id": "tea", "score": _pad(text, 70)}]}),
    "hits": lambda text: Reply(
        {
            "hits": [
                {"id": "tea", "score": 3.0, "text": html.escape(text), "title": text},
                {"id": f"a-{text.split()[0]}", "score": 2.0, "doc_id": text.split()[0]},
                {"id": f"a-{quote(text.split()[0])}", "score": 1.0, "text": f"{text} {text}"},
            ]
        }
    ),
}  # fmt: skip


def answer(asked: Asked) -> Reply:
    """Answer by the mode that a query names, as a search endpoint or a search engine would."""
    text = echo(asked)
    if "_search" in asked.path or not re.search(
        r"/berryeval|/_bulk|embeddings|collections", asked.path
    ):
        sent = f"{asked.path} {asked.params} {asked.content.decode()}"
        found = re.search(r"mode (\S+?)[\"'\s]", unquote_plus(sent) + " ")
        if found:
            reply: Reply = MODES[found[1]](text)
            return reply
        return Reply({"version": {"number": "8"}})
    if "embeddings" in asked.path or "collections" in asked.path:
        return _page(_pad(text))
    return Reply({"errors": False, "items": []})


def find_leak(text: str) -> str:
    """Return where a part of a key stands in a text, in any of its forms; "" if nowhere."""
    views = {"as it is": text, "decoded": html.unescape(unquote_plus(unquote_plus(text)))}
    views["unescaped"] = re.sub(r"\\u00([0-9a-f]{2})", lambda one: chr(int(one[1], 16)), text)
    views["unescaped"] = re.sub(r"\\+(.)", r"\1", views["unescaped"])
    hexes = {found[0] for found in re.finditer(r"[0-9A-Fa-f]{16,}", text)}
    views["in hexadecimal"] = "\n".join(_decode_hex(hexes))
    words = {found[0] for found in re.finditer(r"[A-Za-z0-9+/_-]{16,}", text)}
    views["in Base64"] = b"\n".join(_decode_base64(words)).decode("latin-1")
    for view, name in {view: name for name, view in reversed(views.items())}.items():
        lower = view.lower()
        for part in PARTS.keys() & _find_windows(lower):
            place = lower.find(part)
            return f"{PARTS[part]}, {name}: ...{view[max(0, place - 60) : place + 60]!r}..."
    return ""


def _decode_hex(words: set[str]) -> Iterator[str]:
    for word in words:
        for start in range(2):
            digits = word[start:]
            yield bytes.fromhex(digits[: len(digits) // 2 * 2]).decode("latin-1")


def _decode_base64(words: set[str]) -> Iterator[bytes]:
    for word in words:
        digits = word.replace("-", "+").replace("_", "/")
        for start in range(4):
            yield base64.b64decode(digits[start:][: (len(digits) - start) // 4 * 4])


def read_all(folder: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file, and of every table of a SQLite store."""
    for file in folder.rglob("*"):
        yield f"the name of {file}", str(file)
        if file.suffix == ".db":
            with closing(sqlite3.connect(file)) as store:
                yield from ((f"the store {file}", one) for one in _read_store(store))
        elif file.is_file():
            yield str(file), file.read_text(encoding="utf-8", errors="replace")


def _read_store(store: sqlite3.Connection) -> Iterator[str]:
    tables = store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    assert tables
    for (table,) in tables:
        texts = []
        for row in store.execute(f'SELECT * FROM "{table}"'):  # noqa: S608 - our own tables
            for value in row:
                data = value
                with suppress(TypeError, zlib.error):
                    data = zlib.decompress(value).decode()
                texts.append(str(data))
        yield "\n".join(texts)  # no part of the key and no escape goes over the end of a line
