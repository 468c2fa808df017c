"""`lancedb`: vectors, full text, or both fused, in a LanceDB folder.

Vectors are searched exactly unless `approximate` selects an HNSW index. Full text is LanceDB's own
BM25; any word of the query may match.
"""

from __future__ import annotations

import re
import secrets
import shutil
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final

from berryeval._internal.optional import import_optional
from berryeval.errors import BerryEvalError, ProviderError
from berryeval.providers.base import clean_text, first_line, searchable_text
from berryeval.providers.engine import FusingProvider
from berryeval.providers.ranking import fetch_hits

if TYPE_CHECKING:
    from berryeval.data import Chunk, Hit, Query
    from berryeval.providers.existing import ExistingIndex, IndexReader


_SOURCE: Final = re.compile(r", \S+\.rs:\d+.*")  # the source location in LanceDB's messages


@dataclass
class LanceDb(FusingProvider):
    """Vectors, full text or both in LanceDB, in a temporary table.

    Attributes:
        path: Folder or LanceDB address of the database; a temporary folder by default.
        language: Language of stemming and stop words.
        approximate: Whether to search vectors with an HNSW index rather than exactly.
    """

    path: str = ""
    language: str = "English"
    approximate: bool = False
    extra: ClassVar[str] = "lancedb"
    modules: ClassVar[Sequence[str]] = ("lancedb", "pyarrow", "wordllama")
    in_process: ClassVar[bool] = True
    existing_parts: ClassVar[Collection[str]] = ("distance",)
    temporary_options: ClassVar[Collection[str]] = ("language",)
    _folder: str = field(default="", init=False, repr=False)
    _table: Any = field(default=None, init=False, repr=False)

    def _build_reader(self, existing: ExistingIndex) -> IndexReader:
        from berryeval.providers.readers.lancedb_table import LanceTable

        return LanceTable(existing, self.path, approximate=self.approximate)

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Create the table and its indexes."""
        if self.existing:
            self.open_existing(chunks)
            return
        self._drop()
        if not len(chunks):
            return
        columns = self._build_columns(
            [searchable_text(chunk) for chunk in chunks], self.label(chunks)
        )
        with self._convert_errors():
            name = f"berryeval_{secrets.token_hex(6)}"
            self._table = self._database.create_table(name, columns, on_bad_vectors="null")
            index = import_lance("lancedb.index")
            if self.mode != "vector":
                self._table.create_index("text", config=index.FTS(language=self.language))
            if "scope" in columns.column_names:
                self._table.create_index("scope", config=index.LabelList())
            vectors = self.mode != "text" and self.approximate
            if vectors and columns["vector"].null_count < len(chunks):
                self._table.create_index("vector", config=index.HnswFlat(distance_type="cosine"))
        self._chunks = chunks

    def _build_columns(self, texts: list[str], labels: Sequence[list[str]] | None) -> Any:
        arrow = import_lance("pyarrow")
        columns = {"place": arrow.array(range(len(texts)), arrow.int64())}
        if labels is not None:
            rows = [list(map(clean_text, row)) for row in labels]
            columns["scope"] = arrow.array(rows, arrow.list_(arrow.string()))
        if self.mode != "vector":
            columns["text"] = arrow.array(map(clean_text, texts), arrow.string())
        if self.mode != "text":
            vectors = self.embed(texts)
            columns["vector"] = arrow.FixedSizeListArray.from_arrays(
                arrow.array(vectors.reshape(-1)), vectors.shape[1],
                mask=arrow.array(~vectors.any(axis=1)),
            )  # fmt: skip
        return arrow.table(columns)

    def search(self, query: Query, k: int) -> list[Hit]:
        """Search full text, vectors, or both."""
        if self.existing:
            return self.search_existing(query, k)
        if self._table is None:
            return []
        with self._convert_errors():
            return self.search_by_mode(query, k)

    def _search_text(self, query: Query, k: int) -> list[Hit]:
        # A MatchQuery takes the text literally; a string would be parsed for operators.
        asked = import_lance("lancedb.query").MatchQuery(clean_text(query.text), "text")

        def fetch(count: int) -> list[tuple[int, float]]:
            found = self._table.search(asked, query_type="fts").limit(count)
            return _pairs(self._limit(found, query), "_score")

        return fetch_hits(self._chunks, k, fetch)

    def _search_vectors(self, query: Query, k: int) -> list[Hit]:
        vector = self.embed_query(query.text)
        if not vector.any():
            return []

        def fetch(count: int) -> list[tuple[int, float]]:
            found = self._table.search(vector, query_type="vector", vector_column_name="vector")
            found = found.distance_type("cosine").limit(count)
            if not self.approximate:
                found = found.bypass_vector_index()
            pairs = _pairs(self._limit(found, query), "_distance")
            return [(place, 1.0 - distance) for place, distance in pairs]

        return fetch_hits(self._chunks, k, fetch)

    def _limit(self, found: Any, query: Query) -> Any:
        """Limit a search to the scope of its query, before the ranking is cut."""
        conditions = [f"array_has_any(scope, [{quote_texts(few)}])" for few in self.filters(query)]
        return found.where(" AND ".join(conditions), prefilter=True) if conditions else found

    @cached_property
    def _database(self) -> Any:
        package = import_lance("lancedb")
        if not self.path:
            self._folder = tempfile.mkdtemp(prefix="berryeval-lancedb-")
        return package.connect(self.path or self._folder)

    @contextmanager
    def _convert_errors(self) -> Iterator[None]:
        with convert_errors(self.path or self._folder):
            yield

    def _drop(self) -> None:
        if self._table is not None:
            table, self._table = self._table, None
            with self._convert_errors():
                self._database.drop_table(table.name)

    def close(self) -> None:
        """Drop the table and remove a temporary folder."""
        try:
            self._drop()
        finally:
            super().close()
            vars(self).pop("_database", None)
            if self._folder:
                shutil.rmtree(self._folder, ignore_errors=True)
                self._folder = ""


def import_lance(module: str) -> Any:
    """Import LanceDB or one of its modules."""
    return import_optional(module, "the provider lancedb", extra="lancedb")


@contextmanager
def convert_errors(where: str) -> Iterator[None]:
    """Convert LanceDB's errors, which have no class of their own."""
    try:
        yield
    except BerryEvalError:
        raise
    except (RuntimeError, ValueError, OSError) as error:
        raise ProviderError(f"LanceDB at {where}: {_SOURCE.sub('', first_line(error))}") from None


def quote_texts(texts: Sequence[str]) -> str:
    """Return texts as literals of SQL, separated by commas."""
    return ", ".join("'" + clean_text(text).replace("'", "''") + "'" for text in texts)


def _pairs(found: Any, score: str) -> list[tuple[int, float]]:
    """Return (position, score) pairs in the order of the engine."""
    rows = found.select(["place", score]).to_arrow()
    return list(zip(rows["place"].to_pylist(), rows[score].to_pylist(), strict=True))
