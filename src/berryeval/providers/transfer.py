"""Bounded transfer over HTTP: the size of an answer and the time of a request.

A request ends with the call of the runner that sent it, also if the server sends a byte now and
then: every read and write gets at most the time that is left.
"""

from __future__ import annotations

import json
import zlib
from typing import Any, Final

from berryeval._internal.aio import time_left
from berryeval._internal.limits import ANSWER_MB

ACCEPTED: Final = "gzip"  # an encoding whose decoder can be stopped
_ANY_DEFLATE: Final = 47  # the `wbits` of zlib for data with a header of gzip or zlib
_PIECE: Final = 1 << 16
_BYTES_PER_VALUE: Final = 32  # a smaller average is no text and no vector, and takes much memory


class UnwantedAnswerError(ValueError):
    """An answer that is too large, or encoded in a way that was not asked for."""


def read_body(answer: Any, most: int, *, whole: bool = True) -> bytearray:
    """Read and decompress the body of an answer of httpx, at most `most` bytes.

    A larger body is an error, or cut unless it is needed as a `whole`.
    """
    encoding = answer.headers.get("content-encoding", "").strip().lower()
    if encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
        raise UnwantedAnswerError(f"asked for {ACCEPTED}, found the encoding {encoding!r:.40}")
    unpacker = zlib.decompressobj(_ANY_DEFLATE) if encoding not in {"", "identity"} else None
    body = bytearray()
    try:
        for piece in answer.iter_raw():
            rest = piece
            while rest and len(body) <= most:
                body += unpacker.decompress(rest, _PIECE) if unpacker else rest
                rest = unpacker.unconsumed_tail if unpacker else b""
            if len(body) > most:
                break
    except zlib.error as error:
        raise UnwantedAnswerError(f"is not valid {encoding} data ({error})") from None
    if len(body) > most and whole:
        raise UnwantedAnswerError(f"larger than {most // 10**6:,} MB; {ANSWER_MB.advice}")
    del body[most:]
    return body


def parse_body(body: bytearray, most: int) -> Any:
    """Parse a JSON body; None if it is empty. Reject very many values, which take much memory."""
    values = sum(map(body.count, (b",", b"[", b"{")))
    if values > most // _BYTES_PER_VALUE:
        raise UnwantedAnswerError(
            f"more than {most // _BYTES_PER_VALUE:,} values; {ANSWER_MB.advice}"
        )
    try:
        return json.loads(body) if body else None
    except RecursionError:
        raise UnwantedAnswerError("nested too deep to read") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise
    except ValueError as error:  # an integer with thousands of digits
        raise UnwantedAnswerError(str(error)) from None


def bound_time(client: Any, httpcore: Any) -> None:
    """Make a client of httpx end its requests when the time of the runner's call is over."""
    for transport in (client._transport, *client._mounts.values()):  # noqa: SLF001 - no public way keeps proxies
        pool: Any = getattr(transport, "_pool", None)
        if hasattr(pool, "_network_backend"):
            pool._network_backend = _Network(pool._network_backend, httpcore)  # noqa: SLF001


class _Network:
    """A network of httpcore whose connections are bounded."""

    def __init__(self, network: Any, httpcore: Any) -> None:
        self._network = network
        self._httpcore = httpcore

    def connect_tcp(
        self, host: str, port: int, timeout: float | None = None, **options: Any
    ) -> _Connection:
        seconds = _shorten(timeout, self._httpcore.ConnectTimeout)
        found = self._network.connect_tcp(host, port, timeout=seconds, **options)
        return _Connection(found, self._httpcore)

    def sleep(self, seconds: float) -> None:
        self._network.sleep(seconds)


class _Connection:
    """A connection of httpcore that reads and writes no longer than its call may take."""

    def __init__(self, stream: Any, httpcore: Any) -> None:
        self._stream = stream
        self._httpcore = httpcore

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        found: bytes = self._stream.read(max_bytes, _shorten(timeout, self._httpcore.ReadTimeout))
        return found

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), _PIECE):
            seconds = _shorten(timeout, self._httpcore.WriteTimeout)
            self._stream.write(buffer[start : start + _PIECE], seconds)

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> _Connection:
        seconds = _shorten(timeout, self._httpcore.ConnectTimeout)
        found = self._stream.start_tls(ssl_context, server_hostname, seconds)
        return _Connection(found, self._httpcore)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def close(self) -> None:
        self._stream.close()


def _shorten(timeout: float | None, error: type[Exception]) -> float | None:
    left = time_left()
    if left <= 0:
        raise error("the time of the query is over")
    return left if timeout is None else min(timeout, left)
