"""Search a collection of Chroma that exists, without writing.

Chroma writes to a folder when it opens it, so a temporary copy of the folder is opened instead.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from berryeval.errors import ConfigurationError
from berryeval.providers.chroma import combine, convert_errors, open_chroma
from berryeval.providers.existing import (
    ExistingIndex,
    IndexFacts,
    IndexReader,
    copy_folder,
    fetch_ranked,
    remove_copy,
    require_path,
)

if TYPE_CHECKING:
    from berryeval.data import Hit, Query
    from berryeval.providers.existing import Vector


_DATABASE: Final = "chroma.sqlite3"
_SAMPLE: Final = 100  # entries whose fields are looked at; not every entry has every field
_DOCUMENT: Final = "#document"  # as Chroma calls the text of an entry


class ChromaCollection(IndexReader):
    """A collection of Chroma; fields are those of the metadata of its entries."""

    def __init__(self, existing: ExistingIndex, path: str) -> None:
        super().__init__(replace(existing, columns={"text": _DOCUMENT, **existing.columns}))
        self._path = require_path("chroma", path)
        if not (self._path / _DATABASE).is_file():
            raise ConfigurationError(
                f"existing of chroma: {str(self._path)!r} is no folder of Chroma; it has no "
                f"{_DATABASE}"
            )
        if existing.where is not None and not isinstance(existing.where, Mapping):
            raise existing.error("where must be a mapping, as Chroma's own where")
        if existing.vector:
            raise existing.error(
                "a collection of Chroma has one vector per entry; leave out vector"
            )
        self._copy: Path | None = None
        self._client: Any = None
        self._collection: Any = None
        self._squared = False

    def open(self, mode: str) -> IndexFacts:  # noqa: ARG002 - Chroma searches vectors only
        """Copy the folder, and check the collection and its fields."""
        self.close()
        existing = self.existing
        self._copy = copy_folder(self._path, "chroma")
        with convert_errors(str(self._path)):
            self._client = open_chroma(str(self._copy))
            names = [one.name for one in self._client.list_collections()]
            existing.require_known("collection", existing.name, names)
            self._collection = self._client.get_collection(existing.name, embedding_function=None)
            hnsw = self._collection.configuration_json.get("hnsw") or {}
            self._squared = hnsw.get("space", "l2") == "l2"
            rows = self._collection.count()
            found = self._collection.get(
                limit=_SAMPLE, include=["embeddings", "metadatas"], where=existing.where
            )
        if not found["ids"]:
            return IndexFacts(0)
        existing.require_columns({_DOCUMENT}.union(*filter(None, found["metadatas"])), "field")
        return IndexFacts(None if existing.where else rows, len(found["embeddings"][0]))

    def search_vector(self, query: Query, vector: Vector, k: int) -> list[Hit]:
        """Return the entries that the collection's index finds, by its own distance."""
        inside = [self.existing.where] if self.existing.where else []
        inside += [{name: {"$in": list(few)}} for name, few in self.existing.filters(query)]
        where = combine("$and", inside) if inside else None

        def fetch(count: int) -> list[Hit]:
            found = self._collection.query(
                query_embeddings=[vector], n_results=count, where=where,
                include=["distances", "metadatas", "documents"],
            )  # fmt: skip
            columns = (found[name][0] for name in ("ids", "distances", "metadatas", "documents"))
            return [self._read(*row) for row in zip(*columns, strict=True)]

        with convert_errors(str(self._path)):
            return fetch_ranked(k, fetch)

    def _read(self, name: str, distance: float, fields: Any, text: str | None) -> Hit:
        values = {**(fields or {}), "": name, _DOCUMENT: text}
        return self.existing.read_hit(values.get, -distance if self._squared else 1.0 - distance)

    def close(self) -> None:
        """Close the copy and remove it."""
        self._collection = None
        if self._client is not None:
            client, self._client = self._client, None
            client.close()
        folder, self._copy = self._copy, None
        remove_copy(folder)
