"""Client for servers that answer over HTTP in JSON.

Status 408, 425, 429 and 5xx and failed connections are temporary errors; any other status is
permanent. Secrets are masked in every message.
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
from itertools import count
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from berryeval._internal.aio import time_left
from berryeval._internal.limits import ANSWER_MB
from berryeval._internal.masking import Masker, cut, mask_logs
from berryeval._internal.optional import import_optional
from berryeval._internal.plain import show
from berryeval._internal.secrets import (
    find_cookies,
    find_path_keys,
    holds_secret,
    nested_name,
)
from berryeval._internal.validate import is_number, require, require_text
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.transfer import (
    ACCEPTED,
    UnwantedAnswerError,
    bound_time,
    parse_body,
    read_body,
)

_TEMPORARY: Final = {408, 425, 429}
_OK: Final = 200
_REDIRECT: Final = 300
_SERVER_ERROR: Final = 500
_CONNECT_SECONDS: Final = 10.0
_CONNECTIONS: Final = 100
# httpx may close an idle connection while another thread takes it; with its 5 s a busy machine can
# meet that.
_IDLE_SECONDS: Final = 60
_FIRST_WAIT: Final = 0.5  # seconds; each wait is twice the previous one
_LONGEST_WAIT: Final = 60.0
_MOST_OF_ERROR: Final = 1_000_000  # bytes of the body that comes with an error
_SHOWN: Final = 200  # characters of an answer quoted in a message
_NUMBER: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")
_HOST_AND_PORT: Final = re.compile(r"(?:[^:\[\]]*|\[[^\[\]]*\]):[0-9]*")
# They log addresses and the headers of answers.
_LOGGERS: Final = ("httpx", *(f"httpcore.{name}" for name in ("connection", "http11", "proxy")))
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


@dataclass
class JsonServer:
    """A server that speaks JSON; safe to use from several threads."""

    what: str  # its name in messages, such as "the embedder openai"
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    timeout: float = 60.0
    verify: bool = True
    secrets: Sequence[str] = field(default=(), repr=False)  # further values to mask in messages
    authorization: str = field(default="", repr=False)
    _client: Any = field(default=None, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        check_url(self.what, self.url)
        require_text(f"user of {self.what}", self.user)
        require_text(f"password of {self.what}", self.password)
        if self.authorization and isinstance(self.headers, Mapping):
            self.headers = {**self.headers, "Authorization": self.authorization}
        check_headers(self.what, self.headers)
        positive = is_number(self.timeout) and self.timeout > 0
        require(positive, f"timeout of {self.what}", "more than 0 seconds", self.timeout)
        hidden = {self.password, *self.secrets, *find_secrets(self.headers, "headers")}
        parts = urlsplit(self.url)
        named = (unquote(parts.username or ""), unquote(parts.password or ""))
        for user, password in ((self.user, self.password), named):
            hidden.add(b64encode(f"{user}:{password}".encode(errors="replace")).decode())
        hidden |= {parts.password or "", unquote(parts.password or "")}
        hidden |= set(find_secrets(dict(parse_qsl(parts.query)), "params"))
        self._masker = Masker([*hidden, *find_path_keys(self.url)])

    @classmethod
    def from_options(
        cls, what: str, given: Any, authorization: str, secrets: Sequence[str] = ()
    ) -> JsonServer:
        """Build the server of a provider that has the options of a server."""
        names = ("url", "headers", "user", "password", "timeout", "verify")
        options = {name: getattr(given, name) for name in names}
        return cls(what, secrets=secrets, authorization=authorization, **options)

    def ask(self, method: str, path: str = "", *, attempts: int = 1, **request: Any) -> Any:
        """Send a request and return the JSON of the answer, with retries after temporary errors.

        Of the request, `body` is sent as JSON, `content` unchanged; `params` and `headers` are
        added; `url` replaces the address. An answer larger than `most` bytes, or else than
        `ANSWER_MB`, is an error.
        """
        for attempt in count(1):
            try:
                return self._send(method, path, **request)
            except ProviderError as error:
                if not error.passing or attempt >= attempts:
                    raise
                wait = error.retry_after
            time.sleep(max(0.0, min(choose_wait(attempt, wait), time_left())))
        return None

    def _send(self, method: str, path: str, **request: Any) -> Any:
        httpx = import_optional("httpx", self.what, extra="http")
        mask_logs(*_LOGGERS)
        body = request.pop("body", None)
        headers = {"Accept-Encoding": ACCEPTED, **request.pop("headers", {})}
        most = max(ANSWER_MB.size, request.pop("most", 0))
        if body is not None:
            request["content"] = json.dumps(body)  # ASCII, so that any text is valid
            headers.setdefault("Content-Type", "application/json")
        url = request.pop("url", "") or (_join(self.url, path) if path else self.url)
        try:
            address = url
            if params := request.pop("params", {}):  # httpx would replace those in the url
                address = httpx.URL(url).copy_merge_params(params)
            with self._open(httpx).stream(method, address, headers=headers, **request) as answer:
                good = _OK <= answer.status_code < _REDIRECT
                found = read_body(answer, most if good else _MOST_OF_ERROR, whole=good)
            return self._read(answer, found, method, url, most)
        except UnwantedAnswerError as error:
            raise self._error(method, url, f"the answer: {error}") from None
        except httpx.TimeoutException as error:
            words = f"no answer in time ({type(error).__name__})"
            sent = not isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout)
            raise self._error(method, url, words, passing=True, timed_out=True, sent=sent) from None
        except (httpx.HTTPError, httpx.InvalidURL, ImportError, ValueError) as error:
            words = str(error) or type(error).__name__
            passing = isinstance(error, httpx.TransportError) and not isinstance(
                error, httpx.LocalProtocolError
            )
            sent = not isinstance(error, httpx.ConnectError | httpx.InvalidURL)
            raise self._error(method, url, words, passing=passing, sent=sent) from None

    def _read(self, answer: Any, body: bytearray, method: str, url: str, most: int) -> Any:
        status = answer.status_code
        text = "" if _OK <= status < _REDIRECT else " ".join(body.decode(errors="replace").split())
        if _OK <= status < _REDIRECT:
            try:
                return parse_body(body, most)
            except UnwantedAnswerError:
                raise
            except ValueError:
                words = f"expected JSON, found {show(body.decode(errors='replace'), _SHOWN)}"
                raise self._error(method, url, words) from None
        words = f"status {status} {answer.reason_phrase}".rstrip()
        if status < _SERVER_ERROR and status >= _REDIRECT and "location" in answer.headers:
            words += f", moved to {_shown(answer.headers['location'])}; use that address"
        elif text:
            words += f": {cut(text, _SHOWN)}"
        passing = status >= _SERVER_ERROR or status in _TEMPORARY
        wait = _read_retry_after(answer.headers.get("retry-after", "")) if passing else None
        raise self._error(method, url, words, passing=passing, retry_after=wait, status=status)

    def _error(self, method: str, url: str, words: str, **kind: Any) -> ProviderError:
        return ProviderError(self.mask(f"{self.what}: {method} {_shown(url)}: {words}"), **kind)

    @property
    def shown_url(self) -> str:
        """The address without user, password and query."""
        return _shown(self.url)

    def mask(self, text: str) -> str:
        """Replace secrets in a text."""
        return self._masker.mask(text)

    def _open(self, httpx: Any) -> Any:
        with self._lock:
            if self._client is None:
                self._client = httpx.Client(
                    headers=self.headers,
                    auth=(self.user, self.password) if self.user else None,
                    timeout=httpx.Timeout(self.timeout, connect=_CONNECT_SECONDS),
                    verify=_ssl_context(httpx) if self.verify else False,
                    limits=httpx.Limits(
                        max_connections=_CONNECTIONS,
                        max_keepalive_connections=_CONNECTIONS,
                        keepalive_expiry=_IDLE_SECONDS,
                    ),
                )
                bound_time(self._client, import_optional("httpcore", self.what, extra="http"))
            return self._client

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


def choose_wait(attempt: int, asked: float | None) -> float:
    """Return the seconds to wait after an attempt: those that the server asked for, or usual."""
    usual: float = _FIRST_WAIT * 2 ** (attempt - 1)
    return min(usual if asked is None else asked, _LONGEST_WAIT)


def _join(url: str, path: str) -> str:
    """Return an address with a path behind its own, and before its query."""
    start, mark, query = url.partition("?")
    return f"{start.rstrip('/')}{path}{mark}{query}"


@cache
def _ssl_context(httpx: Any) -> Any:
    """Return the trusted certificates, cached because reading them is slow."""
    return httpx.create_ssl_context()


def check_url(what: str, url: object) -> None:
    """Reject anything but an http or https address."""
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
        fine = parts and parts.scheme in {"http", "https"} and parts.hostname
        _ = parts.port if parts else None
    except ValueError:
        fine = False
    if isinstance(url, str) and _is_ambiguous(url):
        scheme = url.partition(":")[0]
        raise ConfigurationError(
            f"url of {what} is ambiguous, found {scheme}://...; percent-encode special characters "
            "in its user, password and path (@ as %40, # as %23, / as %2F)"
        )
    if not fine:
        found = repr(_shown(url)) if isinstance(url, str) else type(url).__name__
        raise ConfigurationError(
            f"url of {what} must look like http://host:port/path or https://..., found {found}"
        )


def _is_ambiguous(url: str) -> bool:
    # An `@` may follow a host. After `name:word` it may also mean that the word is the start of a
    # password that contains `/`, `?` or `#`. A word of digits is a port.
    rest = url.partition("://")[2]
    place = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if "@" in place:
        return place.count("@") > 1 or "[" in place.partition("@")[0]
    return ":" in place and "@" in rest and not _HOST_AND_PORT.fullmatch(place)


def check_headers(what: str, headers: object) -> None:
    """Reject headers that cannot be sent."""
    if not isinstance(headers, Mapping):
        raise ConfigurationError(
            f"headers of {what} must map names to values, found {type(headers).__name__}"
        )
    for name, value in headers.items():
        require_text(f"header {name!r} of {what}", value)
        if not value.isascii() or _CONTROL.search(value):
            raise ConfigurationError(
                f"header {name!r} of {what} must be ASCII without control characters; look for a "
                "stray line break in it"
            )


def find_secrets(options: Any, name: str) -> Iterator[str]:
    """Yield the secret values below an option of this name; of "Bearer abc" also "abc" alone."""
    if isinstance(options, Mapping):
        for key, value in options.items():
            yield from find_secrets(value, nested_name(name, key))
    elif isinstance(options, list | tuple):
        for value in options:
            yield from find_secrets(value, name)
    elif isinstance(options, str) and holds_secret(name, options):
        yield options
        yield options.rpartition(" ")[2]
        yield from find_cookies(options)


def _shown(url: str) -> str:
    try:
        parts = urlsplit(url)
        place = parts.netloc.rpartition("@")[2]
    except ValueError:
        return "an invalid address"
    path = parts.path
    if "@" in path:  # before it may be a password that contains a slash
        path = f"/***@{path.rpartition('@')[2]}"
    return f"{parts.scheme}://{place}{path}" if place else path


def _read_retry_after(text: str) -> float | None:
    """Return the seconds to wait of a `Retry-After` header: a number or a date."""
    if _NUMBER.fullmatch(text.strip()):
        return float(text)
    try:
        when = parsedate_to_datetime(text)
    except (TypeError, ValueError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=timezone.utc)
    return max(0.0, (when - datetime.now(timezone.utc)).total_seconds())
