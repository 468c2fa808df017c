"""Search a collection of Qdrant that exists, without writing.

A server is only asked for its collections, their configuration and points. A folder of the local
mode belongs to one process at a time, so a temporary copy of it is opened.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from berryeval._internal.optional import import_optional
from berryeval.errors import ConfigurationError
from berryeval.providers.existing import (
    ExistingIndex,
    IndexFacts,
    IndexReader,
    copy_folder,
    fetch_ranked,
    remove_copy,
    require_path,
)
from berryeval.providers.http import JsonPath

if TYPE_CHECKING:
    from berryeval.data import Hit, Query
    from berryeval.providers.existing import Vector
    from berryeval.providers.qdrant import Qdrant


_META: Final = "meta.json"
_SAMPLE: Final = 100  # points whose payload is looked at; not every point has every field
_FARTHER: Final = ("Euclid", "Manhattan")  # distances that are higher for farther points


class QdrantCollection(IndexReader):
    """A collection of Qdrant; fields are paths in the payload of its points."""

    def __init__(self, existing: ExistingIndex, provider: Qdrant) -> None:
        super().__init__(existing)
        self._provider = provider
        self._path: Path | None = None
        if not provider.url:
            self._path = require_path("qdrant", provider.path)
            if not (self._path / _META).is_file():
                raise ConfigurationError(
                    f"existing of qdrant: {str(self._path)!r} is no folder of Qdrant's local mode; "
                    f"it has no {_META}"
                )
        if existing.where is not None and not isinstance(existing.where, Mapping):
            raise existing.error("where must be a mapping, as Qdrant's own filter")
        self._paths = {
            name: JsonPath.parse(name, "a field in existing of qdrant")
            for name in existing.read_columns()
        }
        self._copy: Path | None = None
        self._client: Any = None
        self._farther = False

    def open(self, mode: str) -> IndexFacts:  # noqa: ARG002 - it searches vectors only
        """Check the collection, its vectors and the fields of its payload."""
        self.close()
        existing = self.existing
        if self._path is not None:
            self._copy = copy_folder(self._path, "qdrant")
        with self._provider.convert_errors(), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Local mode is not recommended")  # documented
            self._client = self._provider.connect(str(self._copy or ""))
            names = [one.name for one in self._client.get_collections().collections]
            names += [one.alias_name for one in self._client.get_aliases().aliases]
            existing.require_known("collection", existing.name, names)
            about = self._client.get_collection(existing.name)
            shape = self._find_vectors(about.config.params.vectors)
            self._farther = str(getattr(shape.distance, "value", shape.distance)) in _FARTHER
            inside = self._build_filter(())
            counted = self._client.count(existing.name, count_filter=inside, exact=False)
            sample, _ = self._client.scroll(
                existing.name, scroll_filter=inside, limit=_SAMPLE, with_payload=True
            )
        if not sample:
            return IndexFacts(0)
        known = {name for point in sample for name in _list_paths(point.payload or {})}
        for name, path in self._paths.items():
            if all(path.find(point.payload or {}) is None for point in sample):
                existing.require_column(name, known, "field")
        return IndexFacts(counted.count, shape.size)

    def _find_vectors(self, vectors: Any) -> Any:
        """Return the configuration of the vectors to search: the unnamed ones, or those named."""
        existing = self.existing
        if not isinstance(vectors, Mapping):
            if existing.vector or vectors is None:
                found = "no dense vectors" if vectors is None else "vectors without a name"
                raise existing.error(f"the collection {existing.name!r} has {found}")
            return vectors
        if existing.vector not in vectors:
            raise existing.error(
                f"the vectors of the collection {existing.name!r} have names; set vector to one "
                f"of {', '.join(sorted(vectors))}"
            )
        return vectors[existing.vector]

    def search_vector(self, query: Query, vector: Vector, k: int) -> list[Hit]:
        """Return the nearest points, by the distance of the collection."""
        inside = self._build_filter(self.existing.filters(query))

        def fetch(count: int) -> list[Hit]:
            found = self._client.query_points(
                self.existing.name, query=vector.tolist(), using=self.existing.vector or None,
                limit=count, search_params=self._provider.search_parameters(),
                with_payload=list(self._paths) or False, query_filter=inside,
            )  # fmt: skip
            return [self._read(point) for point in found.points]

        with self._provider.convert_errors(), self._provider.take_turns():
            return fetch_ranked(k, fetch)

    def _read(self, point: Any) -> Hit:
        # Rounded to the server's precision; otherwise equal vectors would not tie.
        score = float(np.float32(point.score))
        payload = point.payload or {}

        def get(name: str) -> Any:
            return self._paths[name].find(payload) if name else point.id

        return self.existing.read_hit(get, -score if self._farther else score)

    def _build_filter(self, scope: Any) -> Any:
        models = import_optional("qdrant_client", "the provider qdrant", extra="qdrant").models
        parts = []
        if self.existing.where:
            try:
                parts = [models.Filter(**self.existing.where)]
            except ValueError as error:  # of pydantic
                words = f"where is not a filter of Qdrant: {' '.join(str(error).split())[:200]}"
                raise self.existing.error(words) from None
        parts += [
            models.FieldCondition(key=name, match=models.MatchAny(any=list(few)))
            for name, few in scope
        ]
        return models.Filter(must=parts) if parts else None

    def close(self) -> None:
        """Close the client, and remove the copy of a folder."""
        if self._client is not None:
            client, self._client = self._client, None
            client.close()
        folder, self._copy = self._copy, None
        remove_copy(folder)


def _list_paths(payload: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of the fields of a payload, with those inside as `metadata.source`."""
    for name, value in payload.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{inner}" for inner in _list_paths(value))
        else:
            yield name
