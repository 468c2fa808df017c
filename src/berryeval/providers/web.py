"""Servers that are asked over HTTP and answer in JSON: one client, and errors that say enough.

Whether asking again may help is told from the answer: 408, 425, 429 and 5xx pass, and so does a
connection that fails; any other status stays. Secrets are masked in every message.
"""

from __future__ import annotations

import json
import re
import threading
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from berryeval._internal.optional import imported
from berryeval._internal.secrets import holds_secret, name_inside
from berryeval.errors import ConfigurationError, ProviderError

_PASSING: Final = {408, 425, 429}
_OK: Final = 200
_REDIRECT: Final = 300
_FAULT_OF_SERVER: Final = 500
_CONNECT_SECONDS: Final = 10.0
_FIRST_WAIT: Final = 0.5  # seconds; each wait is twice the last
_LONGEST_WAIT: Final = 60.0
_SHOWN: Final = 200  # characters of an answer that are repeated in a message
_SHORTEST_SECRET: Final = 4  # a shorter one would be found in every other word
_NUMBER: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_PLACE_WITH_PORT: Final = re.compile(r"(?:[^:\[\]]*|\[[^\[\]]*\]):[0-9]*")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass
class JsonServer:
    """A server that speaks JSON; may be used by many threads at once.

    Attributes:
        what: how messages call it, as "the embedder openai".
        url: what paths are added to.
        headers: sent with every request.
        user: for basic authentication, with `password`.
        timeout: seconds without a byte after which a request is given up.
        verify: whether the certificate of the server is checked.
        secrets: more values that must not be shown.
    """

    what: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    timeout: float = 60.0
    verify: bool = True
    secrets: Sequence[str] = field(default=(), repr=False)
    _client: Any = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse an address that is none, and find out what to hide."""
        check_url(self.what, self.url)
        check_texts(self.what, user=self.user, password=self.password)
        check_headers(self.what, self.headers)
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, int | float):
            msg = f"timeout of {self.what} must be a number of seconds, found {self.timeout!r}"
            raise ConfigurationError(msg)
        if not self.timeout > 0:
            msg = f"timeout of {self.what} must be more than 0 seconds, found {self.timeout!r}"
            raise ConfigurationError(msg)
        hidden = {self.password, *self.secrets, *secrets_in(self.headers, "headers")}
        parts = urlsplit(self.url)
        named = (unquote(parts.username or ""), unquote(parts.password or ""))
        for user, password in ((self.user, self.password), named):
            hidden.add(b64encode(f"{user}:{password}".encode(errors="replace")).decode())
        hidden |= {parts.password or "", unquote(parts.password or "")}
        hidden |= set(secrets_in(dict(parse_qsl(parts.query)), "params"))
        self._hidden = sorted(
            (value for value in hidden if len(value) >= _SHORTEST_SECRET), key=len, reverse=True
        )

    def ask(self, method: str, path: str = "", *, attempts: int = 1, **request: Any) -> Any:
        """The JSON of the answer; asked up to so many times while errors come that can pass.

        Args:
            method: as "POST".
            path: added to the address.
            attempts: how often to ask; 1 where the harness does the asking again.
            request: `body` is sent as JSON, `content` as it is; `params` and `headers` are added;
                `url` stands in for the address.
        """
        attempt = 1
        while True:
            try:
                return self._answer(method, path, **request)
            except ProviderError as error:
                if not error.passing or attempt >= attempts:
                    raise
                wait = _FIRST_WAIT * 2 ** (attempt - 1)
                if error.retry_after is not None:
                    wait = error.retry_after
            time.sleep(min(wait, _LONGEST_WAIT))
            attempt += 1

    def _answer(self, method: str, path: str, **request: Any) -> Any:
        httpx = imported("httpx", self.what, extra="http")
        body = request.pop("body", None)
        headers = dict(request.pop("headers", {}))
        if body is not None:
            request["content"] = json.dumps(body)  # in ASCII: whatever the text, it is valid
            headers.setdefault("Content-Type", "application/json")
        url = request.pop("url", "") or (self.url.rstrip("/") + path if path else self.url)
        try:
            address = url
            if params := request.pop("params", {}):  # given to httpx, they would replace the others
                address = httpx.URL(url).copy_merge_params(params)
            answer = self._opened(httpx).request(method, address, headers=headers, **request)
        except httpx.TimeoutException as error:
            words = f"no answer in time ({type(error).__name__})"
            raise self._error(method, url, words, passing=True) from None
        except (httpx.HTTPError, httpx.InvalidURL, ImportError, ValueError) as error:
            words = str(error) or type(error).__name__
            passing = isinstance(error, httpx.TransportError) and not isinstance(
                error, httpx.LocalProtocolError
            )
            raise self._error(method, url, words, passing=passing) from None
        return self._read(answer, method, url)

    def _read(self, answer: Any, method: str, url: str) -> Any:
        status = answer.status_code
        if _OK <= status < _REDIRECT:
            try:
                return answer.json() if answer.content else None
            except (ValueError, RecursionError):
                words = f"expected JSON, found {answer.text[:_SHOWN]!r}"
                raise self._error(method, url, words) from None
        words = f"status {status} {answer.reason_phrase}".rstrip()
        if status < _FAULT_OF_SERVER and status >= _REDIRECT and "location" in answer.headers:
            words += f", moved to {_shown(answer.headers['location'])}; give that address"
        elif answer.text.strip():
            words += f": {' '.join(answer.text.split())[:_SHOWN]}"
        passing = status >= _FAULT_OF_SERVER or status in _PASSING
        wait = _seconds(answer.headers.get("retry-after", "")) if passing else None
        raise self._error(method, url, words, passing=passing, retry_after=wait)

    def _error(
        self,
        method: str,
        url: str,
        words: str,
        *,
        passing: bool = False,
        retry_after: float | None = None,
    ) -> ProviderError:
        msg = self.masked(f"{self.what}: {method} {_shown(url)}: {words}")
        return ProviderError(msg, passing=passing, retry_after=retry_after)

    @property
    def shown_url(self) -> str:
        """The address without user, password and query."""
        return _shown(self.url)

    def masked(self, text: str) -> str:
        """The text without secrets."""
        for value in self._hidden:
            text = text.replace(value, "***")
        return text

    def _opened(self, httpx: Any) -> Any:
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(
                    headers=self.headers,
                    auth=(self.user, self.password) if self.user else None,
                    timeout=httpx.Timeout(self.timeout, connect=_CONNECT_SECONDS),
                    verify=_trusted(httpx) if self.verify else False,
                )
            return self._client

    def close(self) -> None:
        """Close its connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


@cache
def _trusted(httpx: Any) -> Any:
    """The certificates that are trusted; reading them takes longer than most requests."""
    return httpx.create_ssl_context()


def check_url(what: str, url: object) -> None:
    """Refuse what is no address of a web server."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        fine = parts and parts.scheme in {"http", "https"} and parts.hostname
        _ = parts.port if parts else None
    except ValueError:
        fine = False
    if isinstance(url, str) and _is_ambiguous(url):
        scheme = url.partition(":")[0]
        msg = (
            f"url of {what} can be read in two ways, found {scheme}://...; write the signs of "
            "user, password and path in it percent-encoded (@ as %40, # as %23, / as %2F)"
        )
        raise ConfigurationError(msg)
    if not fine:
        found = repr(_shown(url)) if isinstance(url, str) else type(url).__name__
        msg = f"url of {what} must be as http://host:port/path or https://..., found {found}"
        raise ConfigurationError(msg)


def _is_ambiguous(url: str) -> bool:
    """Whether nobody can tell where a password in the address ends.

    An `@` may stand anywhere behind a host; but behind `name:word` it may say as well that the word
    began a password, which was cut at a `/`, `?` or `#`. A word of digits only is a port.
    """
    rest = url.partition("://")[2]
    place = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in place:
        return place.count("@") > 1 or "[" in place.partition("@")[0]
    return ":" in place and "@" in rest and not _PLACE_WITH_PORT.fullmatch(place)


def check_texts(what: str, **options: object) -> None:
    """Refuse an option that is no text; its value is not shown."""
    for name, value in options.items():
        if not isinstance(value, str):
            msg = f"{name} of {what} must be a text, found {type(value).__name__}"
            raise ConfigurationError(msg)


def check_headers(what: str, headers: object) -> None:
    """Refuse headers that cannot be sent; their values are not shown."""
    if not isinstance(headers, Mapping):
        msg = f"headers of {what} must be names and values, found {type(headers).__name__}"
        raise ConfigurationError(msg)
    for name, value in headers.items():
        if not isinstance(value, str):
            msg = f"header {name!r} of {what} must be a text, found {type(value).__name__}"
            raise ConfigurationError(msg)
        if not value.isascii() or _CONTROL.search(value):
            msg = (
                f"header {name!r} of {what} must be ASCII without line ends; look for a stray "
                "end of line in it"
            )
            raise ConfigurationError(msg)


def secrets_in(options: Any, name: str) -> Iterator[str]:
    """The values that are secret, below an option of this name.

    Of "Bearer abc" the part after the blank is secret by itself, too.
    """
    if isinstance(options, Mapping):
        for key, value in options.items():
            yield from secrets_in(value, name_inside(name, key))
    elif isinstance(options, list | tuple):
        for value in options:
            yield from secrets_in(value, name)
    elif isinstance(options, str) and holds_secret(name, options):
        yield options
        yield options.rpartition(" ")[2]


def _shown(url: str) -> str:
    """An address without user, password and query."""
    try:
        parts = urlsplit(url)
        place = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an address that cannot be read"
    path = parts.path
    if "@" in path:  # before it may stand a password that was cut at a slash
        path = f"/***@{path.rpartition('@')[2]}"
    return f"{parts.scheme}://{place}{path}" if place else path


def _seconds(text: str) -> float | None:
    """How long `Retry-After` asks to wait: a number of seconds, or a date."""
    if _NUMBER.fullmatch(text.strip()):
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=timezone.utc)
    return max(0.0, (when - datetime.now(timezone.utc)).total_seconds())
