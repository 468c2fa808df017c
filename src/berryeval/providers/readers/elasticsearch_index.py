"""Search an index of Elasticsearch or OpenSearch that exists, without writing.

Only `_mapping`, `_count` and `_search` of the index are requested, and the server's version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from berryeval._internal.limits import most_hits
from berryeval._internal.plain import show
from berryeval.errors import ConfigurationError, ProviderError
from berryeval.providers.base import clean_text
from berryeval.providers.elasticsearch import MAX_CANDIDATES
from berryeval.providers.existing import (
    ExistingIndex,
    IndexFacts,
    IndexReader,
    fetch_ranked,
    suggest_some,
)
from berryeval.providers.http import JsonPath, fill, find_placeholders

if TYPE_CHECKING:
    from berryeval.data import Hit, Query
    from berryeval.providers.existing import Vector
    from berryeval.providers.web import JsonServer


_TEXTS: Final = ("text", "match_only_text", "search_as_you_type", "semantic_text")
_VECTORS: Final = {"dense_vector": "dims", "knn_vector": "dimension"}
_VECTOR: Final = "{vector}"
_MISSING: Final = 404
_SAMPLE: Final = 100  # documents whose fields are looked at; not every document has every field


class SearchIndex(IndexReader):
    """An index, alias or pattern of names; fields are paths in the source of its documents."""

    def __init__(
        self,
        existing: ExistingIndex,
        server: JsonServer,
        flavour: Callable[[], str],
        *,
        candidates: int,
    ) -> None:
        super().__init__(existing)
        self._server = server
        self._flavour = flavour
        self._candidates = candidates
        self._url = f"/{quote(existing.name, safe='*,')}"
        self._paths = {
            name: JsonPath.parse(name, "a field in existing of elasticsearch")
            for name in existing.read_columns()
        }
        if existing.where is not None and not isinstance(existing.where, Mapping):
            raise existing.error("where must be a mapping, as a clause of the server's queries")
        if existing.query is not None:
            _check_template(existing.query)

    @property
    def asks_vectors(self) -> bool | None:
        """Whether the user's own query has the vector; None if the mode decides."""
        return None if self.existing.query is None else _has_vector(self.existing.query)

    def open(self, mode: str) -> IndexFacts:
        """Check the index and its fields by its mapping, and count the documents."""
        existing = self.existing
        fields = self._find_fields()
        self._require_fields(fields)
        body = {"query": existing.where} if existing.where else {}
        counted = self._server.ask("POST", f"{self._url}/_count", body=body)
        rows = counted.get("count") if isinstance(counted, dict) else None
        if existing.query is not None:
            return IndexFacts(rows)
        if mode != "vector":
            name = existing.columns.get("text", "")
            existing.require_mode(mode, text=bool(name))
            self._require_type(name, fields, _TEXTS)
        if mode == "text":
            return IndexFacts(rows)
        existing.require_mode(mode, vector=bool(existing.vector))
        existing.require_column(existing.vector, fields, "field")
        kind = self._require_type(existing.vector, fields, tuple(_VECTORS))
        return IndexFacts(rows, int(fields[existing.vector].get(_VECTORS[kind]) or 0))

    def _find_fields(self) -> dict[str, Mapping[str, Any]]:
        """Return the mapping of each field by its path."""
        try:
            answer = self._server.ask("GET", f"{self._url}/_mapping")
        except ProviderError as error:
            if getattr(error, "status", None) != _MISSING:
                raise
            answer = None
        if not isinstance(answer, dict) or not answer:
            raise self.existing.error(
                f"there is no index {self.existing.name!r} on {self._server.shown_url}; "
                f"{suggest_some(self.existing.name, self._list_indices())}"
            )
        return {
            name: mapping
            for one in answer.values()
            for name, mapping in _flatten(one.get("mappings", {}).get("properties", {}))
        }

    def _require_fields(self, fields: Mapping[str, Any]) -> None:
        """Reject fields that neither the mapping nor the first documents have."""
        unmapped = [name for name in self._paths if name not in fields]
        found: list[str] = []
        if unmapped:  # a mapping need not name what is only stored
            body = {"size": _SAMPLE, "_source": unmapped, "query": {"match_all": {}}}
            rows = self._server.ask("POST", f"{self._url}/_search", body=body)["hits"]["hits"]
            found = [
                name for name in unmapped if any(self._get(row, name) is not None for row in rows)
            ]
        self.existing.require_columns({*fields, *found}, "field")

    def _list_indices(self) -> list[str]:
        try:
            found = self._server.ask("GET", "/_mapping")
        except ProviderError:  # the user may not list them
            return []
        return [name for name in found or () if not name.startswith(".")]

    def _require_type(
        self, name: str, fields: Mapping[str, Mapping[str, Any]], wanted: Sequence[str]
    ) -> str:
        kind = str(fields[name].get("type", "object"))
        if kind not in wanted:
            raise self.existing.error(
                f"the field {name!r} must be of type {' or '.join(wanted)}, found {kind}"
            )
        return kind

    def search_text(self, query: Query, k: int) -> list[Hit]:
        """Rank by BM25; any word of the query may match."""
        match = {"match": {self.existing.columns["text"]: {"query": clean_text(query.text)}}}
        inside = self._build_filter(query)
        asked = {"bool": {"must": [match], "filter": inside}} if inside else match
        return fetch_ranked(k, lambda count: self._request({"size": count, "query": asked}, k))

    def search_vector(self, query: Query, vector: Vector, k: int) -> list[Hit]:
        """Return the nearest documents that the index of the vectors finds."""
        inside = self._build_filter(query)
        name, values = self.existing.vector, vector.tolist()

        def build(count: int) -> dict[str, Any]:
            if self._flavour() == "opensearch":
                chosen = {"filter": {"bool": {"filter": inside}}} if inside else {}
                knn = {"vector": values, "k": count, **chosen}
                return {"size": count, "query": {"knn": {name: knn}}}
            wide = min(max(self._candidates, count), MAX_CANDIDATES)
            knn = {"field": name, "query_vector": values, "k": count, "num_candidates": wide}
            return {"size": count, "knn": {**knn, "filter": inside} if inside else knn}

        return fetch_ranked(k, lambda count: self._request(build(count), k))

    def search_own(self, query: Query, vector: Vector | None, k: int) -> list[Hit]:
        """Send the user's own body."""
        template = self.existing.query
        if vector is not None:
            template = _fill_vector(template, vector.tolist())
        return self._request(fill(template, query, k), k)

    def _build_filter(self, query: Query) -> list[dict[str, Any]]:
        parts = [dict(self.existing.where)] if self.existing.where else []
        scopes = self.existing.filters(query)
        return parts + [{"terms": {name: list(map(clean_text, few))}} for name, few in scopes]

    def _request(self, body: dict[str, Any], k: int) -> list[Hit]:
        plain = {"_source": list(self._paths) or False, "track_total_hits": False}
        if self.existing.query is not None:
            plain = {}
        answer = self._server.ask("POST", f"{self._url}/_search", body={**plain, **body})
        try:
            rows = answer["hits"]["hits"][: max(most_hits(k), body.get("size", 0))]
            failed = bool(answer.get("timed_out")) or answer.get("_shards", {}).get("failed", 0)
            hits = [self._read(row) for row in rows]
        except (TypeError, KeyError, AttributeError) as error:
            words = f"{type(error).__name__}: {error} in {show(answer, 200)}"
            raise self._error(f"no hits in the answer ({words})") from None
        if failed:
            raise self._error("the answer is incomplete: shards failed or ran out of time", True)
        return hits

    def _error(self, words: str, passing: bool = False) -> ProviderError:  # noqa: FBT001, FBT002
        msg = f"elasticsearch: {self._server.shown_url}: {words}"
        return ProviderError(self._server.mask(msg), passing=passing)

    def _read(self, row: Mapping[str, Any]) -> Hit:
        return self.existing.read_hit(lambda name: self._get(row, name), row["_score"])

    def _get(self, row: Mapping[str, Any], name: str) -> Any:
        """Return a field of a hit, whose name may contain dots; "" is its id."""
        if not name:
            return row["_id"]
        source = row.get("_source") or {}
        return source[name] if name in source else self._paths[name].find(source)


def _flatten(
    properties: Mapping[str, Any], above: str = ""
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for name, mapping in properties.items():
        yield f"{above}{name}", mapping
        for inner in ("properties", "fields"):
            yield from _flatten(mapping.get(inner, {}), f"{above}{name}.")


def _check_template(template: Any) -> None:
    what = "query in existing of elasticsearch"
    if not isinstance(template, Mapping):
        raise ConfigurationError(
            f"{what} must be the body of a _search as a mapping, found {type(template).__name__}"
        )
    names = find_placeholders(template)
    if "query" not in names and not _has_vector(template):
        raise ConfigurationError(
            f"{what} must contain {{query}} or {{vector}}, which is filled in for each query"
        )
    if "k" not in names:
        raise ConfigurationError(f'{what} must contain {{k}}, such as size: "{{k}}"')


def _has_vector(template: Any) -> bool:
    if isinstance(template, Mapping):
        template = list(template.values())
    if isinstance(template, list | tuple):
        return any(map(_has_vector, template))
    return bool(template == _VECTOR)


def _fill_vector(template: Any, vector: list[float]) -> Any:
    """Put the vector in its place, before the text of a query is filled in."""
    if isinstance(template, Mapping):
        return {name: _fill_vector(value, vector) for name, value in template.items()}
    if isinstance(template, list | tuple):
        return [_fill_vector(value, vector) for value in template]
    return vector if template == _VECTOR else template
