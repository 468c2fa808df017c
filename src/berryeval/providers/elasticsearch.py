"""`elasticsearch` and `opensearch`: words (BM25), vectors, or both, in an index made for the run.

Over plain HTTP, without a package of theirs. The parts of their API that are used: `_bulk`,
`_refresh`, `_search` with `match`, `knn` of a `dense_vector` (Elasticsearch) or of a `knn_vector`
(OpenSearch), making and deleting an index. The tests speak real HTTP with a small server of these
parts that keeps a real index; they do not run against a cluster.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import quote

from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.base import (
    check_choice,
    check_counts,
    ranked_hits,
    searched_text,
    writable,
)
from berryeval.providers.embedders.base import TextAndVectorProvider
from berryeval.providers.web import JsonServer, check_texts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from berryeval.data import Chunk, Hit, Query


# What Elasticsearch and OpenSearch are sent: the index to make, and the queries.

_MOST_CANDIDATES: Final = 10_000  # Elasticsearch refuses more


def made_index(flavour: str, analyzer: str, dimensions: int) -> dict[str, Any]:
    """Settings and mapping; without dimensions it holds no vectors.

    One shard: with more, each would count how rare a term is for itself, and the scores would
    depend on which chunk came to lie where.
    """
    settings: dict[str, Any] = {"number_of_shards": 1, "number_of_replicas": 0}
    fields: dict[str, Any] = {
        "body": {"type": "text", "analyzer": analyzer},
        "order": {"type": "integer"},
    }
    if dimensions and flavour == "opensearch":
        settings["knn"] = True
        fields["embedding"] = {
            "type": "knn_vector",
            "dimension": dimensions,
            "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
        }
    elif dimensions:
        fields["embedding"] = {
            "type": "dense_vector",
            "dims": dimensions,
            "index": True,
            "similarity": "cosine",
            # said in full: what is left to the server is rounded to bytes or bits
            "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100},
        }
    mappings = {"dynamic": False, "properties": fields}
    return {"settings": {"index": settings}, "mappings": mappings}


def match_query(text: str, k: int) -> dict[str, Any]:
    """The chunks with any of the words, by BM25; ties by `order`, the place of the id in bytes."""
    return {
        "size": k,
        "_source": False,
        "track_total_hits": False,
        "track_scores": True,
        "query": {"match": {"body": {"query": text}}},
        "sort": [{"_score": "desc"}, {"order": "desc"}],
    }


def knn_query(flavour: str, vector: list[float], k: int, candidates: int) -> dict[str, Any]:
    """The nearest vectors."""
    asked: dict[str, Any] = {"size": k, "_source": False, "track_total_hits": False}
    if flavour == "opensearch":
        return {**asked, "query": {"knn": {"embedding": {"vector": vector, "k": k}}}}
    wide = min(max(candidates, k), _MOST_CANDIDATES)
    knn = {"field": "embedding", "query_vector": vector, "k": k, "num_candidates": wide}
    return {**asked, "knn": knn}


_MODES: Final = ("text", "vector", "hybrid")
_FLAVOURS: Final = ("", "elasticsearch", "opensearch")
_PREFIX: Final = re.compile("[a-z][a-z0-9_-]{0,99}")
_BATCH_BYTES: Final = 4_000_000  # of one _bulk; servers refuse what is much larger
_BATCH_CHUNKS: Final = 1000
_ATTEMPTS: Final = 5  # while indexing; searches are asked again by the harness


@dataclass
class Elasticsearch(TextAndVectorProvider):
    """Search in an index of Elasticsearch or OpenSearch, made for the run and deleted at its end.

    Attributes:
        url: where the server is.
        mode: "text" ranks by BM25, "vector" by the cosine of embeddings, "hybrid" by both, fused by
            reciprocal rank.
        flavour: "elasticsearch" or "opensearch"; asked of the server unless given.
        api_key: of Elasticsearch, in its encoded form; sent as `Authorization: ApiKey ...`.
        user: for basic authentication, with `password`.
        password: of the user.
        headers: sent with every request.
        prefix: how the name of the index begins.
        analyzer: one that the server has; "standard" neither stems nor leaves words out.
        embedder: who makes vectors of texts.
        embedder_options: what the embedder is made with.
        candidates: how many vectors the approximate search of Elasticsearch looks at, at least as
            many as are asked for; at most 10,000.
        k: how fast a rank loses worth in the fusion.
        depth: how many hits of each kind are fused, at least as many as are asked for.
        timeout: seconds without a byte after which a request is given up.
        verify: whether the certificate of the server is checked.
    """

    url: str = field(default="http://localhost:9200", repr=False)
    mode: str = "text"
    flavour: str = ""
    api_key: str = field(default="", repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    prefix: str = "berryeval"
    analyzer: str = "english"
    embedder: str = "wordllama"
    embedder_options: Mapping[str, Any] = field(default_factory=dict, repr=False)
    candidates: int = 1000
    k: int = 60
    depth: int = 100
    timeout: float = 60.0
    verify: bool = True
    extra: ClassVar[str] = "http"
    modules: ClassVar[Sequence[str]] = ("httpx",)
    _server: JsonServer = field(init=False, repr=False)
    _chunks: Sequence[Chunk] = field(default=(), init=False, repr=False)
    _index: str = field(default="", init=False, repr=False)
    _has_vectors: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        """Refuse what the server could not take."""
        check_choice("elasticsearch", "mode", self.mode, _MODES)
        check_choice("elasticsearch", "flavour", self.flavour, _FLAVOURS)
        check_counts("elasticsearch", candidates=self.candidates, k=self.k, depth=self.depth)
        if not isinstance(self.prefix, str) or not _PREFIX.fullmatch(self.prefix):
            msg = f"prefix of elasticsearch must be a to z and 0 to 9, found {self.prefix!r}"
            raise ConfigurationError(msg)
        check_texts("elasticsearch", api_key=self.api_key, analyzer=self.analyzer)
        headers = dict(self.headers) if isinstance(self.headers, Mapping) else self.headers
        if self.api_key and isinstance(headers, dict):
            headers["Authorization"] = f"ApiKey {self.api_key}"
        self._server = JsonServer(
            "elasticsearch", self.url, headers, self.user, self.password, self.timeout, self.verify
        )

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Make the index and load it in bulk."""
        self._delete()
        self._chunks = chunks
        texts = [searched_text(chunk) for chunk in chunks]
        vectors = self.embed(texts) if self.mode != "text" and texts else None
        self._has_vectors = vectors is not None and bool(vectors.any())
        dimensions = vectors.shape[1] if vectors is not None and self._has_vectors else 0
        name = f"{self.prefix}-{secrets.token_hex(8)}"
        body = made_index(self._spoken, self.analyzer, dimensions)
        self._server.ask("PUT", f"/{quote(name)}", body=body, attempts=_ATTEMPTS)
        self._index = name
        for batch in _batches(self._lines(texts, vectors)):
            self._load(batch)
        self._server.ask("POST", f"/{name}/_refresh", attempts=_ATTEMPTS)

    @property
    def _spoken(self) -> str:
        """The flavour of the server."""
        if not self.flavour:
            about = self._server.ask("GET", "/", attempts=_ATTEMPTS)
            version = about.get("version") if isinstance(about, dict) else None
            if not isinstance(version, dict):
                found = self._server.shown_url
                msg = f"elasticsearch: {found} does not say its version; is it another server?"
                raise ProviderError(msg)
            named = version.get("distribution") == "opensearch"
            self.flavour = "opensearch" if named else "elasticsearch"
        return self.flavour

    def _lines(self, texts: list[str], vectors: npt.NDArray[np.float32] | None) -> Iterator[str]:
        """What `_bulk` takes for each chunk; the id is its place, as long ids are refused."""
        ids = [chunk.id.encode(errors="surrogatepass") for chunk in self._chunks]
        order = {
            place: rank for rank, place in enumerate(sorted(range(len(ids)), key=ids.__getitem__))
        }
        for place, text in enumerate(texts):
            document: dict[str, Any] = {"body": writable(text), "order": order[place]}
            if vectors is not None and vectors[place].any():
                document["embedding"] = vectors[place].tolist()
            action = json.dumps({"index": {"_id": str(place)}})
            yield f"{action}\n{json.dumps(document)}\n"

    def _load(self, batch: str) -> None:
        answer = self._server.ask(
            "POST",
            f"/{self._index}/_bulk",
            attempts=_ATTEMPTS,
            content=batch,
            headers={"Content-Type": "application/x-ndjson"},
        )
        if not isinstance(answer, dict) or answer.get("errors") is not False:
            raise ProviderError(self._server.masked(f"elasticsearch: _bulk: {_faults(answer)}"))

    def search(self, query: Query, k: int) -> list[Hit]:
        """One request, or two that are fused."""
        return self.by_mode(query, k) if self._index else []

    def _by_text(self, query: Query, k: int) -> list[Hit]:
        return self._found(match_query(writable(query.text), k), k)

    def _by_vector(self, query: Query, k: int) -> list[Hit]:
        vector = self.embed_query(query.text) if self._has_vectors else None
        if vector is None or not vector.any():
            return []
        body = knn_query(self._spoken, vector.tolist(), k, self.candidates)
        return self._found(body, k, cosine=True)

    def _found(self, body: dict[str, Any], k: int, *, cosine: bool = False) -> list[Hit]:
        answer = self._server.ask("POST", f"/{self._index}/_search", body=body)
        try:
            rows = answer["hits"]["hits"]
            found = [self._chunks[int(row["_id"])] for row in rows]
            # both give (1 + cosine) / 2, as no score of theirs may be negative
            scores = [2 * float(r["_score"]) - 1 if cosine else float(r["_score"]) for r in rows]
        except (TypeError, KeyError, ValueError, IndexError) as error:
            words = f"{type(error).__name__}: {error} in {answer!r:.200}"
            msg = (
                f"elasticsearch: {self._server.shown_url}: _search answered without hits ({words})"
            )
            raise ProviderError(self._server.masked(msg)) from None
        return ranked_hits(found, scores, k)

    def _delete(self) -> None:
        if self._index:
            name, self._index = self._index, ""
            self._server.ask("DELETE", f"/{name}")

    def close(self) -> None:
        """Delete the index and close the connections."""
        with suppress(ProviderError):  # a server that is gone cannot be asked
            self._delete()
        self._server.close()
        super().close()


def _batches(lines: Iterator[str]) -> Iterator[str]:
    """Lines together, as many as a server takes at once."""
    batch: list[str] = []
    size = 0
    for line in lines:
        if batch and (size + len(line) > _BATCH_BYTES or len(batch) == _BATCH_CHUNKS):
            yield "".join(batch)
            batch, size = [], 0
        batch.append(line)
        size += len(line)
    if batch:
        yield "".join(batch)


def _faults(answer: Any) -> str:
    """What went wrong with which chunks, in the words of the server."""
    items = answer.get("items") if isinstance(answer, dict) else None
    if not isinstance(items, list):
        return f"expected an object with 'errors' and 'items', found {answer!r:.200}"
    results = [result for item in items if isinstance(item, dict) for result in item.values()]
    faults = [r["error"] for r in results if isinstance(r, dict) and r.get("error")]
    first = faults[0] if faults else "no reason given"
    reason = first.get("reason", first) if isinstance(first, dict) else first
    return f"{len(faults)} of {len(items)} chunks were refused; the first: {reason!s:.200}"
