"""Evaluate a RAG service over HTTP, as it is deployed: no code of it is imported.

The service of this example runs in a thread: it searches the pages of a fictional library by the
words that they share with the question, and fails for one question, as real services do.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import berryeval as be

BENCHMARK = be.load_benchmark("rag-template")  # 10 questions with expected answers, no judgments
PAGES = {page.id: page.text for page in BENCHMARK.documents}


def find_words(text: str) -> set[str]:
    """Return the words of a text that are worth a search."""
    return set(re.findall(r"[a-z]{4,}", text.lower()))


class Service(BaseHTTPRequestHandler):
    """Answers `POST /ask` with the contexts found, and the text written from them."""

    def do_POST(self) -> None:
        """Search, or fail if the question is about what is late."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        words = find_words(asked["question"])
        if "late" in words:
            self.send_error(500, "no price list")
            return
        ranked = sorted(PAGES, key=lambda page: -len(words & find_words(PAGES[page])))
        contexts = [{"page": page, "passage": PAGES[page]} for page in ranked[: asked["limit"]]]
        body = json.dumps({"contexts": contexts, "answer": PAGES[ranked[0]]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Write no log."""


@contextmanager
def serve() -> Iterator[str]:
    """Run the service on a free port of this machine, and yield its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/ask"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def main() -> None:
    """Ask every question, and print the scores and what went wrong."""
    with serve() as address:
        service = {
            "type": "http",
            "name": "our RAG service",
            "options": {
                "url": address,
                "body": {"question": "{query}", "limit": "{k}"},
                "hits": "contexts",
                "id": "page",
                "text": "passage",
                "answer": "answer",
            },
        }
        result = be.run_benchmark(BENCHMARK, [service, "bm25"], k=5, attempts=1)
    for found in result.providers:
        print(f"{found.name}: {found.outcomes}")
        for name, mean in found.scores.mean.items():
            low, high = found.scores.ci(name)
            print(f"  {name:8} {mean:.3f}  95 % interval {low:.3f} to {high:.3f}")
    print("A question that the service did not answer counts as 0, and is never left out.")


if __name__ == "__main__":
    main()
