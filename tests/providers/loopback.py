"""A real HTTP server on this machine."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass
class Asked:
    """A request that the server received."""

    method: str
    path: str
    params: dict[str, list[str]]
    headers: dict[str, str]
    content: bytes

    @property
    def body(self) -> Any:
        """The JSON body."""
        return json.loads(self.content)


@dataclass
class Reply:
    """An answer of the server: JSON, or raw bytes."""

    content: Any = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    pieces: int = 0  # length of the chunks of a chunked answer

    @property
    def data(self) -> bytes:
        """The bytes to send."""
        if isinstance(self.content, bytes):
            return self.content
        return json.dumps(self.content).encode()


@dataclass
class Loopback:
    """The address of a server and the requests it received."""

    url: str
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def loopback(answer: Callable[[Asked], Any]) -> Iterator[Loopback]:
    """Serve what the function returns: JSON or a `Reply`; None closes the connection."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *args: object) -> None:
            """Say nothing."""

        def _handle(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            parts = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Asked(
                self.command, parts.path, parse_qs(parts.query, keep_blank_values=True), headers,
                self.rfile.read(length),
            )  # fmt: skip
            place.asked.append(request)
            made = answer(request)
            if made is None:
                self.close_connection = True
                return
            reply = made if isinstance(made, Reply) else Reply(made)
            self.send_response(reply.status)
            for name, value in reply.headers.items():
                self.send_header(name, value)
            if reply.pieces:
                self.send_header("Transfer-Encoding", "chunked")
                self.end_headers()
                for start in range(0, len(reply.data), reply.pieces):
                    piece = reply.data[start : start + reply.pieces]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")
                return
            self.send_header("Content-Length", str(len(reply.data)))
            self.end_headers()
            self.wfile.write(reply.data)

        do_GET = do_POST = do_PUT = do_DELETE = _handle  # noqa: N815 - so they are called

    class Server(ThreadingHTTPServer):
        request_queue_size = 64  # with 5, a busy machine resets some of many connections at once

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    place = Loopback(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield place
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
