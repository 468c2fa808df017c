"""A server with the part of the Elasticsearch and OpenSearch API that the provider uses.

It searches with BM25 as in Lucene or by cosine, and rejects what the real servers reject: unknown
fields, vectors of another length or of zeros, ids that are too long. Documents that were not
refreshed are not found.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from operator import mul
from typing import TYPE_CHECKING, Any

from tests.providers.loopback import Asked, Reply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STOPWORDS = {"a", "an", "and", "are", "be", "for", "is", "of", "the", "to"}
SEARCH_KEYS = {
    "size", "_source", "track_total_hits", "track_scores", "query", "sort", "knn",
}  # fmt: skip
K1, B = 1.2, 0.75


class RejectedError(Exception):
    """A request that the real servers reject."""

    def __init__(self, status: int, kind: str, reason: str) -> None:
        super().__init__(reason)
        self.reply = Reply({"error": {"type": kind, "reason": reason}, "status": status}, status)


@dataclass
class Index:
    """The documents of an index; `seen` are those that a search sees."""

    fields: dict[str, Any]
    settings: dict[str, Any]
    documents: dict[str, dict[str, Any]] = field(default_factory=dict)
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def vector_length(self) -> int:
        found = self.fields.get("embedding", {})
        return int(found.get("dims") or found.get("dimension") or 0)


@dataclass
class Cluster:
    """The server; `answers` overrides the answers to paths with these endings."""

    flavour: str = "elasticsearch"
    indices: dict[str, Index] = field(default_factory=dict)
    answers: dict[str, list[Any]] = field(default_factory=dict)

    def __call__(self, asked: Asked) -> Any:
        for ending, waiting in self.answers.items():
            if asked.path.endswith(ending) and waiting:
                return waiting.pop(0)
        try:
            return self._answer(asked)
        except RejectedError as error:
            return error.reply

    def _answer(self, asked: Asked) -> Any:
        name, _, action = asked.path.strip("/").partition("/")
        if not name:
            named = {"distribution": "opensearch"} if self.flavour == "opensearch" else {}
            return {"name": "node", "version": {"number": "9.9.9", **named}}
        if (asked.method, action) == ("PUT", ""):
            return self._make(name, asked.body)
        if (asked.method, name) == ("GET", "_mapping"):
            return {one: {"mappings": {"properties": i.fields}} for one, i in self.indices.items()}
        if name not in self.indices:
            raise RejectedError(404, "index_not_found_exception", f"no such index [{name}]")
        index = self.indices[name]
        if (asked.method, action) == ("DELETE", ""):
            del self.indices[name]
            return {"acknowledged": True}
        handlers: dict[tuple[str, str], Callable[[], Any]] = {
            ("POST", "_bulk"): lambda: self._bulk(index, asked),
            ("POST", "_refresh"): lambda: _refresh(index),
            ("POST", "_search"): lambda: self._search(index, asked.body),
            ("POST", "_count"): lambda: _count(index, asked.body),
            ("GET", "_mapping"): lambda: {name: {"mappings": {"properties": index.fields}}},
        }
        if (asked.method, action) not in handlers:
            raise RejectedError(400, "illegal_argument_exception", f"no handler for {asked.path}")
        return handlers[asked.method, action]()

    def _make(self, name: str, body: Any) -> Any:
        if name in self.indices or not re.fullmatch(r"[a-z][a-z0-9_-]*", name):
            raise RejectedError(400, "invalid_index_name_exception", name)
        fields = body["mappings"]["properties"]
        settings = body["settings"]["index"]
        vectors = {"elasticsearch": "dense_vector", "opensearch": "knn_vector"}[self.flavour]
        for mapping in fields.values():
            if mapping["type"] not in {"text", "integer", "keyword", vectors}:
                kind = mapping["type"]
                raise RejectedError(
                    400, "mapper_parsing_exception", f"No handler for type [{kind}]"
                )
            if mapping.get("analyzer", "english") not in {"english", "standard"}:
                reason = f"analyzer [{mapping['analyzer']}] has not been configured in mappings"
                raise RejectedError(400, "mapper_parsing_exception", reason)
        self.indices[name] = Index(fields, settings)
        return {"acknowledged": True, "index": name}

    def _bulk(self, index: Index, asked: Asked) -> Any:
        if asked.headers["content-type"] != "application/x-ndjson":
            raise RejectedError(406, "media_type_header_exception", "expected application/x-ndjson")
        if not asked.content.endswith(b"\n"):
            raise RejectedError(400, "illegal_argument_exception", "must end with a newline")
        lines = [json.loads(line) for line in asked.content.decode().splitlines()]
        items = []
        for action, document in zip(lines[::2], lines[1::2], strict=True):
            name = action["index"]["_id"]
            fault = _fault(index, name, document)
            if fault is None:
                index.documents[name] = document
            error = {"error": {"type": "mapper_parsing_exception", "reason": fault}}
            items.append({"index": {"_id": name, **(error if fault else {})}})
        return {"errors": any("error" in item["index"] for item in items), "items": items}

    def _search(self, index: Index, body: dict[str, Any]) -> Any:
        unknown = set(body) - SEARCH_KEYS
        if unknown:
            raise RejectedError(400, "parsing_exception", f"unknown key {sorted(unknown)}")
        query = body.get("query", {})
        inside: Any = None
        if "bool" in query:
            (inside, (query,)) = query["bool"]["filter"], query["bool"]["must"]
            inside = {"bool": {"filter": inside}}
        if "match_all" in query:
            scores = dict.fromkeys(index.seen, 1.0)
        elif "match" in query:
            ((name, match),) = query["match"].items()
            if index.fields.get(name, {}).get("type") != "text":
                raise RejectedError(400, "query_shard_exception", f"no text field [{name}]")
            found = _by_terms(index, match["query"])
            scores = {name: score for name, score in found.items() if _matches(index, name, inside)}
        elif self.flavour == "opensearch":
            asked = query["knn"]["embedding"]
            scores = _by_vector(index, asked["vector"], asked["k"], asked.get("filter"))
        else:
            knn = body["knn"]
            if not knn["k"] <= knn["num_candidates"] <= 10_000:
                raise RejectedError(400, "illegal_argument_exception", "[num_candidates] is wrong")
            inside = knn.get("filter")
            inside = {"bool": {"filter": inside}} if isinstance(inside, list) else inside
            scores = _by_vector(index, knn["query_vector"], knn["k"], inside)
        places = {name: place for place, name in enumerate(index.seen)}
        rows = sorted(scores, key=lambda name: (-scores[name], places[name]))
        if "sort" in body:
            assert body["sort"] == [{"_score": "desc"}, {"order": "desc"}]
            rows.sort(key=lambda name: (-scores[name], -index.seen[name]["order"]))
        hits = [
            {"_id": name, "_score": scores[name], **_source(index.seen[name], body.get("_source"))}
            for name in rows[: body["size"]]
        ]
        return {"timed_out": False, "hits": {"hits": hits}}


def _refresh(index: Index) -> Any:
    index.seen = dict(index.documents)
    return {"_shards": {"failed": 0}}


def _count(index: Index, body: Any) -> Any:
    inside = {"bool": {"filter": [body["query"]]}} if body else None
    return {"count": sum(_matches(index, one, inside) for one in index.seen)}


def _source(document: dict[str, Any], wanted: Any) -> dict[str, Any]:
    if wanted is False:
        return {}
    tops = document if wanted is None else {name.partition(".")[0] for name in wanted}
    kept = {name: value for name, value in document.items() if name in tops}
    return {"_source": {name: value for name, value in kept.items() if name != "embedding"}}


def terms(text: str, analyzer: str) -> list[str]:
    """Return the terms of a text; "english" drops stop words and endings."""
    words = re.findall(r"\w+", text.lower())
    if analyzer == "standard":
        return words
    return [re.sub(r"(ions?|ing|s)$", "", word) for word in words if word not in STOPWORDS]


@lru_cache(maxsize=1000)
def _count_terms(text: str, analyzer: str) -> Counter[str]:
    return Counter(terms(text, analyzer))


def _fault(index: Index, name: str, document: dict[str, Any]) -> str | None:
    if len(name.encode()) > 512:
        return f"id [{name}] is too long"
    if set(document) - set(index.fields):
        return f"unknown fields {sorted(set(document) - set(index.fields))}"
    vector = document.get("embedding")
    if vector is None:
        return None
    if len(vector) != index.vector_length:
        return f"has {len(vector)} dimensions, expected {index.vector_length}"
    return None if any(vector) else "The [cosine] similarity does not support zero magnitude"


def _by_terms(index: Index, text: str) -> dict[str, float]:
    analyzer = index.fields["body"]["analyzer"]
    counts = {name: _count_terms(d["body"], analyzer) for name, d in index.seen.items()}
    mean = sum(c.total() for c in counts.values()) / (len(counts) or 1)
    scores: dict[str, float] = {}
    for term in terms(text, analyzer):
        having = [name for name, count in counts.items() if count[term]]
        idf = math.log(1 + (len(counts) - len(having) + 0.5) / (len(having) + 0.5))
        for name in having:
            times, length = counts[name][term], counts[name].total()
            part = idf * times / (times + K1 * (1 - B + B * length / mean))
            scores[name] = scores.get(name, 0.0) + part
    return scores


def _matches(index: Index, name: str, inside: Any) -> bool:
    """Whether a document passes a `bool` filter of `terms`, before anything is ranked."""
    if inside is None:
        return True
    clauses = inside["bool"]["filter"]
    if any(
        index.fields.get(key, {}).get("type") != "keyword"
        for c in clauses
        for key in c.get("terms") or c["term"]
    ):
        raise RejectedError(400, "query_shard_exception", "terms need a keyword field")
    return all(
        _as_set(wanted) & _as_set(index.seen[name].get(key, ()))
        for clause in clauses
        for key, wanted in (clause.get("terms") or clause["term"]).items()
    )


def _as_set(value: Any) -> set[Any]:
    return {value} if isinstance(value, str) else set(value)


def _by_vector(index: Index, vector: list[float], k: int, inside: Any) -> dict[str, float]:
    if len(vector) != index.vector_length or not any(vector):
        raise RejectedError(400, "query_shard_exception", "the query vector has a wrong length")
    scores = {}
    length = _length(tuple(vector)) or 1.0
    for name, document in index.seen.items():
        if "embedding" in document and _matches(index, name, inside):
            cosine = _dot(vector, document["embedding"]) / length
            scores[name] = (1 + cosine / _length(tuple(document["embedding"]))) / 2
    best = sorted(scores, key=lambda name: -scores[name])[:k]
    return {name: scores[name] for name in best}


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(map(mul, left, right))


@lru_cache(maxsize=1000)
def _length(vector: tuple[float, ...]) -> float:
    return math.sqrt(_dot(vector, vector))
