"""`elasticsearch` and `opensearch`: full text (BM25), vectors or both, in a temporary index.

Requests go over plain HTTP, without a client package. These parts of the API are used: `_bulk`,
`_refresh`, `_search` with `match`, `knn` on a `dense_vector` (Elasticsearch) or a `knn_vector`
(OpenSearch), and creating and deleting an index. The tests use a small HTTP server that implements
these parts on a real index, not a cluster.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Final
from urllib.parse import quote

from berryeval._internal.limits import most_hits
from berryeval._internal.masking import cut
from berryeval._internal.plain import show
from berryeval._internal.validate import require, require_choice, require_text, require_whole
from berryeval.errors import ProviderError
from berryeval.providers.base import SearchableTexts, clean_text, encode_id, rank_hits
from berryeval.providers.engine import FusingProvider
from berryeval.providers.web import JsonServer

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit, Query
    from berryeval.providers.existing import ExistingIndex, IndexReader


MAX_CANDIDATES: Final = 10_000  # the limit of Elasticsearch


def build_index_body(
    flavour: str, analyzer: str, dimensions: int, *, scoped: bool = False
) -> dict[str, Any]:
    """Return settings and mappings of the index; 0 dimensions for no vectors."""
    # One shard: each shard computes its own term statistics, so scores would depend on the split.
    settings: dict[str, Any] = {"number_of_shards": 1, "number_of_replicas": 0}
    fields: dict[str, Any] = {
        "body": {"type": "text", "analyzer": analyzer},
        "order": {"type": "integer"},
    }
    if scoped:
        fields["scope"] = {"type": "keyword"}
    if dimensions and flavour == "opensearch":
        settings["knn"] = True
        fields["embedding"] = {
            "type": "knn_vector",
            "dimension": dimensions,
            "method": {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"},
        }
    elif dimensions:
        fields["embedding"] = {
            "type": "dense_vector", "dims": dimensions, "index": True, "similarity": "cosine",
            # explicit, because the server's default may quantize vectors
            "index_options": {"type": "hnsw", "m": 16, "ef_construction": 100},
        }  # fmt: skip
    mappings = {"dynamic": False, "properties": fields}
    return {"settings": {"index": settings}, "mappings": mappings}


def build_filter(labels: Sequence[Sequence[str]]) -> dict[str, Any]:
    """Return a query for chunks with at least one label of each list."""
    return {"bool": {"filter": [{"terms": {"scope": list(few)}} for few in labels]}}


def build_match_query(text: str, k: int, labels: Sequence[Sequence[str]] = ()) -> dict[str, Any]:
    """Return a BM25 query for any of the words; ties are broken by `order`, the order of ids.

    A filter leaves the scores unchanged: term statistics are those of the whole index.
    """
    query: dict[str, Any] = {"match": {"body": {"query": text}}}
    if labels:
        query = {"bool": {"must": [query], **build_filter(labels)["bool"]}}
    return {
        "size": k, "_source": False, "track_total_hits": False, "track_scores": True,
        "query": query,
        "sort": [{"_score": "desc"}, {"order": "desc"}],
    }  # fmt: skip


def build_knn_query(
    flavour: str,
    vector: list[float],
    k: int,
    candidates: int,
    labels: Sequence[Sequence[str]] = (),
) -> dict[str, Any]:
    """Return a query for the nearest vectors; a filter applies before they are chosen."""
    asked: dict[str, Any] = {"size": k, "_source": False, "track_total_hits": False}
    inside = {"filter": build_filter(labels)} if labels else {}
    if flavour == "opensearch":
        return {**asked, "query": {"knn": {"embedding": {"vector": vector, "k": k, **inside}}}}
    wide = min(max(candidates, k), MAX_CANDIDATES)
    knn = {"field": "embedding", "query_vector": vector, "k": k, "num_candidates": wide}
    return {**asked, "knn": {**knn, **inside}}


_PREFIX: Final = re.compile("[a-z][a-z0-9_-]{0,99}")
_BATCH_BYTES: Final = 4_000_000  # per _bulk request; servers reject much larger ones
_BATCH_CHUNKS: Final = 1000
_ATTEMPTS: Final = 5  # while indexing; searches are retried by the runner


@dataclass
class Elasticsearch(FusingProvider):
    """Full text, vectors or both in Elasticsearch or OpenSearch, in a temporary index.

    Attributes:
        url: Address of the server.
        flavour: "elasticsearch" or "opensearch"; detected by default.
        api_key: Encoded API key of Elasticsearch, sent as `Authorization: ApiKey ...`.
        user: User name for basic authentication.
        password: Password for basic authentication.
        headers: Headers of every request.
        prefix: Prefix of the index name.
        analyzer: Analyzer of the server; "standard" neither stems nor drops stop words.
        candidates: Vectors examined by the approximate search of Elasticsearch, at least as many as
            requested and at most 10,000.
        timeout: Seconds without data after which a request fails.
        verify: Whether to check the certificate of the server.
    """

    url: str = field(default="http://localhost:9200", repr=False)
    mode: str = field(default="text", kw_only=True)
    flavour: str = ""
    api_key: str = field(default="", repr=False)
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    prefix: str = "berryeval"
    analyzer: str = "english"
    candidates: int = 1000
    timeout: float = 60.0
    verify: bool = True
    extra: ClassVar[str] = "http"
    modules: ClassVar[Sequence[str]] = ("httpx",)
    index_word: ClassVar[str] = "index"
    existing_parts: ClassVar[Collection[str]] = ("query",)
    temporary_options: ClassVar[Collection[str]] = ("prefix", "analyzer")
    _server: JsonServer = field(init=False, repr=False)
    _index: str = field(default="", init=False, repr=False)
    _has_vectors: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        flavours = ("", "elasticsearch", "opensearch")
        require_choice("flavour of elasticsearch", self.flavour, flavours)
        require_whole("candidates of elasticsearch", self.candidates)
        valid = isinstance(self.prefix, str) and _PREFIX.fullmatch(self.prefix)
        require(valid, "prefix of elasticsearch", "a to z and 0 to 9", self.prefix)
        require_text("api_key of elasticsearch", self.api_key)
        require_text("analyzer of elasticsearch", self.analyzer)
        self._server = JsonServer.from_options(
            "elasticsearch", self, f"ApiKey {self.api_key}" if self.api_key else ""
        )
        super().__post_init__()

    def _build_reader(self, existing: ExistingIndex) -> IndexReader:
        from berryeval.providers.readers.elasticsearch_index import SearchIndex

        return SearchIndex(
            existing, self._server, lambda: self._detected_flavour, candidates=self.candidates
        )

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Create the index and load the chunks in bulk."""
        if self.existing:
            self.open_existing(chunks)
            return
        self._drop()
        self._chunks = chunks
        texts = SearchableTexts(chunks)
        vectors = self.embed(texts) if self.mode != "text" and texts else None
        self._has_vectors = vectors is not None and bool(vectors.any())
        dimensions = vectors.shape[1] if vectors is not None and self._has_vectors else 0
        name = f"{self.prefix}-{secrets.token_hex(8)}"
        labels = self.label(chunks)
        body = build_index_body(
            self._detected_flavour, self.analyzer, dimensions, scoped=labels is not None
        )
        self._server.ask("PUT", f"/{quote(name)}", body=body, attempts=_ATTEMPTS)
        self._index = name
        headers = {"Content-Type": "application/x-ndjson"}
        for batch in _batches(self._format_bulk(texts, vectors, labels)):
            answer = self._server.ask(
                "POST", f"/{name}/_bulk", attempts=_ATTEMPTS, content=batch, headers=headers
            )
            if not isinstance(answer, dict) or answer.get("errors") is not False:
                msg = f"elasticsearch: _bulk: {_describe_faults(answer)}"
                raise ProviderError(self._server.mask(msg))
        self._server.ask("POST", f"/{name}/_refresh", attempts=_ATTEMPTS)

    @property
    def _detected_flavour(self) -> str:
        """The flavour of the server, requested from it unless given."""
        if not self.flavour:
            about = self._server.ask("GET", "/", attempts=_ATTEMPTS)
            version = about.get("version") if isinstance(about, dict) else None
            if not isinstance(version, dict):
                found = self._server.shown_url
                raise ProviderError(
                    f"elasticsearch: {found} reports no version; is it another server?"
                )
            named = version.get("distribution") == "opensearch"
            self.flavour = "opensearch" if named else "elasticsearch"
        return self.flavour

    def _format_bulk(
        self, texts: Sequence[str], vectors: Any, labels: Sequence[list[str]] | None
    ) -> Iterator[str]:
        """Yield the `_bulk` lines of each chunk; long ids are rejected, so positions are ids."""
        ids = [encode_id(chunk.id) for chunk in self._chunks]
        ordered = sorted(range(len(ids)), key=ids.__getitem__)
        order = {place: rank for rank, place in enumerate(ordered)}
        for place, text in enumerate(texts):
            document: dict[str, Any] = {"body": clean_text(text), "order": order[place]}
            if vectors is not None and vectors[place].any():
                document["embedding"] = vectors[place].tolist()
            if labels is not None:
                document["scope"] = list(map(clean_text, labels[place]))
            action = json.dumps({"index": {"_id": str(place)}})
            yield f"{action}\n{json.dumps(document)}\n"

    def search(self, query: Query, k: int) -> list[Hit]:
        """Send one request, or two and fuse their hits."""
        if self.existing:
            return self.search_existing(query, k)
        return self.search_by_mode(query, k) if self._index else []

    def _search_text(self, query: Query, k: int) -> list[Hit]:
        body = build_match_query(clean_text(query.text), k, self._clean_filters(query))
        return self._request_hits(body, k)

    def _search_vectors(self, query: Query, k: int) -> list[Hit]:
        labels = self._clean_filters(query)
        vector = self.embed_query(query.text) if self._has_vectors else None
        if vector is None or not vector.any():
            return []
        flavour = self._detected_flavour
        body = build_knn_query(flavour, vector.tolist(), k, self.candidates, labels)
        return self._request_hits(body, k, cosine=True)

    def _clean_filters(self, query: Query) -> list[list[str]]:
        return [list(map(clean_text, few)) for few in self.filters(query)]

    def _request_hits(self, body: dict[str, Any], k: int, *, cosine: bool = False) -> list[Hit]:
        answer = self._server.ask("POST", f"/{self._index}/_search", body=body)
        try:
            rows = answer["hits"]["hits"][: most_hits(k)]
            found = [self._chunks[int(row["_id"])] for row in rows]
            # both servers return (1 + cosine) / 2, because scores may not be negative
            scores = [2 * float(r["_score"]) - 1 if cosine else float(r["_score"]) for r in rows]
        except (TypeError, KeyError, ValueError, IndexError) as error:
            words = f"{type(error).__name__}: {error} in {show(answer, 200)}"
            msg = f"elasticsearch: {self._server.shown_url}: no hits in the answer ({words})"
            raise ProviderError(self._server.mask(msg)) from None
        return rank_hits(found, scores, k)

    def _drop(self) -> None:
        if self._index:
            name, self._index = self._index, ""
            self._server.ask("DELETE", f"/{name}")

    def close(self) -> None:
        """Delete the index and close the connections."""
        super().close()
        self._server.close()


def _batches(lines: Iterator[str]) -> Iterator[str]:
    """Join lines into batches that a server accepts."""
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


def _describe_faults(answer: Any) -> str:
    items = answer.get("items") if isinstance(answer, dict) else None
    if not isinstance(items, list):
        return f"expected an object with 'errors' and 'items', found {show(answer, 200)}"
    results = [result for item in items if isinstance(item, dict) for result in item.values()]
    faults = [r["error"] for r in results if isinstance(r, dict) and r.get("error")]
    first = faults[0] if faults else "no reason given"
    reason = first.get("reason", first) if isinstance(first, dict) else first
    return f"{len(faults)} of {len(items)} chunks were rejected; the first: {cut(str(reason))}"
