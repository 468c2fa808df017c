"""A few chunks to search."""

from __future__ import annotations

from berryeval.data.records import Chunk, Query

TEXTS = {
    "tokens": "Access tokens expire after one hour; refresh tokens after thirty days.",
    "limits": "The rate limit is one hundred requests per minute and key.",
    "backup": "Backups run every night and are kept for thirty days.",
    "retry": "Retries wait twice as long each time; a request that failed may be sent again.",
    "empty": "",
    "pool": "The connection pool holds twenty connections to the database.",
}
CHUNKS = [
    Chunk(name, "handbook", text, section=("Handbook", name.title()))
    for name, text in TEXTS.items()
]


def query(text: str) -> Query:
    return Query("q", text)
