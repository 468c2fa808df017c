"""A server with the part of Qdrant's REST API that the provider uses.

Collections are those of the Python client's local mode; only the HTTP layer is ours.
"""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

KEY = "hunter2secret"


class Server(ThreadingHTTPServer):
    """Records requests, and fails on demand."""

    request_queue_size = 64  # with 5, a busy machine resets some of many connections at once
    daemon_threads = True

    def __init__(self) -> None:
        from qdrant_client import QdrantClient, models

        super().__init__(("127.0.0.1", 0), Handler)
        self.models = models
        self.client = QdrantClient(":memory:")
        self.asked: list[tuple[str, str, Any]] = []
        self.answer: tuple[int, dict[str, str], bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Handles one request."""

    server: Server

    def do_PUT(self) -> None:
        body, models = self.body(), self.server.models
        name, rest = self.collection()
        if self.refused("PUT", body):
            return
        if rest == "points":
            self.server.client.upsert(name, [models.PointStruct(**p) for p in body["points"]])
            self.reply({"operation_id": 0, "status": "completed"})
        elif rest == "index":
            self.reply({"operation_id": 1, "status": "completed"})
        else:
            # As a server, a search changes no vectors; those of the provider have length 1.
            assert body["vectors"]["distance"] == "Cosine"
            shape = models.VectorParams(**{**body["vectors"], "distance": models.Distance.DOT})
            self.reply(self.server.client.create_collection(name, vectors_config=shape))

    def do_GET(self) -> None:
        if self.refused("GET", None):
            return
        path, client = self.path.partition("?")[0], self.server.client
        if path == "/aliases":
            self.reply({"aliases": []})
        elif path == "/collections":
            self.reply(client.get_collections().model_dump(mode="json"))
        else:
            name = self.collection()[0]
            if not client.collection_exists(name):
                self.send(404, {}, b"Not found")
                return
            self.reply(client.get_collection(name).model_dump(mode="json"))

    def do_POST(self) -> None:
        body = self.body()
        if self.refused("POST", body):
            return
        name, rest = self.collection()
        inside = self.server.models.Filter(**body["filter"]) if body.get("filter") else None
        client = self.server.client
        if rest == "points/count":
            self.reply({"count": client.count(name, count_filter=inside).count})
        elif rest == "points/scroll":
            some, _ = client.scroll(name, scroll_filter=inside, limit=body["limit"])
            self.reply({"points": [{"id": p.id, "payload": p.payload} for p in some]})
        else:
            found = client.query_points(
                name, query=body["query"]["nearest"], limit=body["limit"],
                with_payload=body["with_payload"], query_filter=inside,
            )  # fmt: skip
            points = [
                {"id": p.id, "version": 0, "score": p.score, "payload": p.payload}
                for p in found.points
            ]
            self.reply({"points": points})

    def do_DELETE(self) -> None:
        if not self.refused("DELETE", None):
            self.reply(self.server.client.delete_collection(self.collection()[0]))

    def collection(self) -> tuple[str, str]:
        parts = self.path.partition("?")[0].split("/")
        return parts[2], "/".join(parts[3:])

    def body(self) -> Any:
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or "null")

    def refused(self, method: str, body: Any) -> bool:
        self.server.asked.append((method, self.path, body))
        if self.server.answer is not None:
            self.send(*self.server.answer)
        elif self.headers.get("api-key") != KEY:
            self.send(401, {}, b"Must provide an API key")
        else:
            return False
        return True

    def reply(self, result: Any) -> None:
        self.send(200, {}, json.dumps({"result": result, "status": "ok", "time": 0.0}).encode())

    def send(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name is theirs
        """Say nothing."""


@contextmanager
def qdrant_server() -> Iterator[Server]:
    """Run the server until the end of the block."""
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
            server.client.close()
